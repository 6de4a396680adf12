"""Gists that keep what matters in a kind of document, or for a task (Appendix G)."""

from __future__ import annotations

import pytest

from making import desk, document, prose
from reread.documents import load_bytes
from reread.errors import SettingsError
from reread.reading import kind_of, read
from reread.types import Document

PYTHON = 'def rise(hours):\n    """Height of the sea."""\n    return 2 * hours\n' * 3
MINUTES = "\n\n".join(
    f"{name}: {words}"
    for name, words in [
        ("Ann", "The sea has risen again."),
        ("Bo", "We should move the mark."),
        ("Ann", "Then let us do it on Monday."),
        ("Bo", "I promise to bring paint."),
    ]
    * 3
)
LEASE = " ".join(
    f"{k}. The Tenant shall pay the rent of month {k} hereunder, pursuant to section {k}, and "
    "notwithstanding any repair the Landlord shall keep the roof whole."
    for k in range(1, 20)
)
LOG = "\n".join(f"2031-04-0{k % 9 + 1} 10:{k:02}:07 pump {k} was started" for k in range(20))
CHAT = "\n".join(f"[{k}.03.2031, 14:05] it rains at station {k}" for k in range(1, 12))
DIARY = "\n\n".join(f"## Monday, {k} May 2031\n\nIt rained. Nobody came." for k in range(1, 12))
YEARS = "\n\n".join(f"{1900 + k} was a year in which the sea rose by a hand." for k in range(20))
RULES = "\n\n".join(f"5.6.{k} Of pumps\n\nThey run." for k in range(10, 40))
PAPER = (
    b"# Tides\n\n## Abstract\n\nThe sea rises twice.\n\n## Method\n\nA mark.\n\n"
    b"## References\n\nNone."
)


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (load_bytes(PYTHON.encode(), name="tide.py"), "code"),
        (document(MINUTES), "meeting"),
        (load_bytes(b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello.", name="a.vtt"), "meeting"),
        (document(LEASE), "contract"),
        (load_bytes(PAPER, name="paper.md"), "paper"),
        (document(LOG), "log"),
        (document(CHAT), "log"),
        (load_bytes(DIARY.encode(), name="diary.md"), "log"),
        (document(prose([100] * 5)), "general"),
        (document(YEARS), "general"),
        (document(RULES), "general"),
        (document("Note: this is no talk.\n\nNote: nor is this."), "general"),
    ],
)
def test_the_kind_is_told_by_rule(made: Document, kind: str) -> None:
    assert kind_of(made) == kind


@pytest.mark.parametrize("profile", ["default", "embedded"])
def test_a_gist_is_told_what_to_keep(profile: str) -> None:
    made, model = desk(
        {"gist": "Short.", "paginate": "1", "lookup": "[]"}, profile=profile, kind="contract"
    )
    read(made, document(prose([200, 200])))
    assert all("every defined term" in call.user for call in model.calls if call.phase == "gist")


def test_a_task_that_is_known_is_told_with_the_text_before_it() -> None:
    task = "List all colours."
    made, model = desk({"gist": "Short.", "paginate": "1"}, task=task)
    read(made, document(prose([200, 200])))
    gists = [call.user for call in model.calls if call.phase == "gist"]
    assert gists
    for user in gists:
        text, _, order = user.rpartition("\n----\n")
        assert task in order
        assert task not in text


def test_without_either_the_instruction_is_the_plain_one() -> None:
    made, model = desk({"gist": "Short.", "paginate": "1"})
    read(made, document(prose([200, 200])))
    gists = [call.user for call in model.calls if call.phase == "gist"]
    assert all("leave out the rest. Numbered marks" in user for user in gists)


def test_the_paper_knows_no_kinds() -> None:
    made, _ = desk(profile="paper")
    assert made.settings.kind == "general"


def test_an_unknown_kind_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match="poem") as failure:
        desk(kind="poem")
    assert "contract" in str(failure.value.hint)
