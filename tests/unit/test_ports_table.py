"""What the public ports of ReadAgent do wrong: one test a row of the table in reading.md.

Each fails on the behaviour that its row describes.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from making import by_phase, desk, document, memory, prose, said, sentence
from reread.errors import ContextExceeded, MalformedReply, ModelRefused, ModelUnavailable
from reread.llm.scripted import Scripted, reply_to
from reread.llm.wrappers import Cached, Meter, Metered, Retrying
from reread.reading import answer, read, replies
from reread.reading.gist import gist
from reread.reading.marks import Marks
from reread.reading.paginate import PageShown, chooser, paginate
from reread.store import Store
from reread.text import count_words, paragraph_spans
from reread.types import Call, Completion, Document, Settings

Reply = str | Callable[[Call], str]


def paged(
    source: Document, reply: Reply, low: int = 280, high: int = 600
) -> tuple[list[PageShown], Scripted]:
    made, model = desk({"paginate": reply}, min_words=low, max_words=high)
    return list(paginate(source, made.settings, chooser(made, source))), model


def by_rule(call: Call) -> str:
    return reply_to(call.phase, call.user)


# -- row: accept <0> or a label never shown, then loop or restart the document -------------------


@pytest.mark.parametrize("label", ["<0>", "<99>", "-1", "0"])
def test_a_label_never_shown_is_asked_again_once_then_the_windows_end_is_taken(label: str) -> None:
    """Ports accept `<0>` or a label never shown, then loop or restart the document."""
    source = document(prose([100] * 20))
    shown, model = paged(source, label)
    assert "".join(s.page.text for s in shown) == source.text
    assert [s.page.words for s in shown] == [600, 600, 600, 200]
    assert [s.page.fallback for s in shown] == [True, True, True, False]
    assert all("not offered" in str(s.fallback) for s in shown[:3])
    assert [call.sample for call in model.calls] == [0, 1] * 3


def test_a_label_offered_at_the_second_asking_is_no_fallback() -> None:
    """The same row: asking once more is enough for a model that slipped."""
    source = document(prose([100] * 8))
    shown, _ = paged(source, lambda call: "1" if call.sample else "<0>")
    assert [(s.page.words, s.fallback) for s in shown] == [(300, None), (500, None)]


# -- row: fixed 350-word tail rule --------------------------------------------------------------


def test_the_tail_rule_follows_the_settings() -> None:
    """Ports take a tail of 350 words whole, so `max_words=300` swallows the document uncalled."""
    source = document(prose([50] * 7))
    shown, model = paged(source, "1", low=100, high=300)
    assert [s.page.words for s in shown] == [100, 100, 150]
    assert len(model.calls) == 2
    whole, model = paged(source, "1", low=200, high=350)
    assert [s.page.words for s in whole] == [350]
    assert model.calls == []


def test_the_tail_rule_fires_only_at_the_documents_end() -> None:
    """The same row: a short tail joins the page before it only where it still fits."""
    source = document(prose([100, 100, 100, 30]))
    assert [s.page.words for s in paged(source, "1", low=90, high=200)[0]] == [100, 100, 130]
    assert [s.page.words for s in paged(source, "1", low=90, high=110)[0]] == [100, 100, 100, 30]


# -- row: the label test counts the paragraph after the label -----------------------------------


def test_labels_count_the_words_before_them() -> None:
    """Ports count the paragraph after the label, so pages fall below `min_words`."""
    source = document(prose([150, 140, 150, 100, 400, 400]))
    shown, model = paged(source, "1")
    assert shown[0].page.words == 290
    window = model.calls[0].user
    assert window.index("<1>") > window.index(source.text[source.paragraphs[1].start :][:40])
    assert all(s.page.words >= 280 for s in shown[:-1])


# -- row: paragraph styles ----------------------------------------------------------------------

LINES = [sentence(14, k) for k in range(40)]


@pytest.mark.parametrize(
    "text",
    ["\n\n".join(LINES), "\n".join(LINES), "\n \n".join(LINES), "Title\n\n" + "\n".join(LINES)],
)
def test_paragraph_styles_are_told_apart(text: str) -> None:
    """Ports know one style: one blank line is no break, or everything is one line."""
    found = [text[a:b] for a, b in paragraph_spans(text)]
    assert [p for p in found if p != "Title"] == LINES


def test_a_text_without_any_break_still_has_many_pages() -> None:
    """The same row: one giant line, of words or of none, is cut into pages of the usual size."""
    for text in (" ".join(LINES * 10), "山高水长，" * 2000, "x" * 400_000):
        shown, _ = paged(document(text), "1")
        assert len(shown) > 5
        assert all(280 <= s.page.words <= 600 for s in shown[:-1])


# -- row: strip a character set from the reply --------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "57",
        "<57>",
        "Label: <57>",
        "**<57>**",
        "label: 57.",
        "LABEL <57>",
        "mark 57",
        "The most natural pause is at <57>.",
        "`<57>`",
        "57\n\nThere the scene changes.",
        "57, because mark 3 is in the middle of a talk",
        "Mark 57: the scene changes after 12 years.",
        '{"mark": 57}',
        '{"mark": "57"}',
        '```json\n{"mark": 57}\n```',
        '{"label": 57}',
    ],
)
def test_labels_are_read_in_any_form(reply: str) -> None:
    """Ports strip a character set, so `Label: <57>`, bold, lower case fail silently."""
    assert replies.mark(said(reply), range(1, 60), Marks("")) == 57


def test_labels_of_another_form_are_read_as_well() -> None:
    """The same row, for a document that holds `<12>` itself."""
    assert replies.mark(said("In <12> the text cites; I choose <#3>"), [1, 2, 3], Marks("#")) == 3
    assert replies.mark(said("<#3>, not <#2>"), [1, 2, 3], Marks("#")) == 3


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "none",
        "<0>",
        "-3",
        "3.5",
        "60",
        "between 3 and 5",
        "Mark 2 is in a scene and 7 is better",
        '{"mark": true}',
        '{"mark": null}',
        '{"mark": [1, 2]}',
        "9" * 5000,
    ],
)
def test_no_label_is_guessed(reply: str) -> None:
    """The same row: what names no single offered label is refused, not stripped into one."""
    with pytest.raises(MalformedReply):
        replies.mark(said(reply), range(1, 60), Marks(""))


def test_the_share_of_fallbacks_is_reported() -> None:
    """The same row: every page whose end is a fallback is recorded with the memory."""
    source = document(prose([100] * 20))
    made, _ = desk({"paginate": "no idea", "gist": by_rule}, min_words=280, max_words=600)
    found = read(made, source)
    assert [(f.phase, f.page) for f in found.fallbacks] == [("paginate", n) for n in (1, 2, 3)]


# -- row: an error text or an empty reply as the gist --------------------------------------------


@pytest.mark.parametrize(
    "reply", ["", "  ", "Error: rate limit exceeded", "I'm sorry, but I can't."]
)
def test_no_error_text_becomes_a_gist(reply: str) -> None:
    """Ports store an error text or an empty reply as the gist."""
    page = prose([120])
    made, model = desk({"gist": reply})
    done = gist(made, 7, page)
    assert [call.sample for call in model.calls] == [0, 1]
    assert model.calls[1].temperature > 0
    assert model.calls[1].max_tokens > model.calls[0].max_tokens
    assert done.text == page
    assert done.fallback is not None
    assert (done.fallback.phase, done.fallback.page) == ("gist", 7)


def test_a_second_reply_that_is_a_gist_is_no_fallback() -> None:
    """The same row: a bad reply is asked again once."""
    made, _ = desk({"gist": lambda call: "The stone stood by the river." if call.sample else ""})
    done = gist(made, 1, prose([120]))
    assert (done.text, done.fallback) == ("The stone stood by the river.", None)


def test_a_failed_block_stands_in_with_its_own_words() -> None:
    """The same row, where a page is gisted in blocks."""
    page = prose([400])
    made, _ = desk({"gist": ""}, profile="embedded")
    done = gist(made, 2, page)
    assert done.fallback is not None
    assert "blocks" in done.fallback.reason
    assert 0 < count_words(done.text) < count_words(page) / 2
    assert all(s.strip() in page for s in re.findall(r"[^.]+\.", done.text))


def test_the_marks_that_the_window_showed_never_stay_in_a_gist() -> None:
    """The same row: a gist holds no `<#1>` either, whatever form the document made necessary."""
    pages = [100] * 6
    source = document(prose(pages) + "\n\nSee <12> and <#4>. " + prose([200]))
    shown: list[str] = []

    def copies(call: Call) -> str:
        shown.append(call.user)
        return "<##1> The stone stood by the river. <##2>"

    made, _ = desk({"paginate": "2", "gist": copies}, min_words=200, max_words=400)
    found = read(made, source)
    assert "<##1>" in shown[0]
    assert found.gists[0] == "The stone stood by the river."


# -- row: "STOP" in reply.upper() ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "page"),
    [
        ("STOP", None),
        ("**STOP**", None),
        ("STOP.", None),
        ("Stop", None),
        ("STOP\nI know enough.", None),
        ("STOP. I know enough.", None),
        ("STOP - I know enough", None),
        ('{"page": "STOP"}', None),
        ('{"page": "stop"}', None),
        ("The bus stopped on page 4", 4),
        ("Page 4, where the bus would not stop", 4),
        ("[4] STOP signs are described there", 4),
        ("4", 4),
        ("<Page 4>", 4),
        ('{"page": 4}', 4),
        ('{"page": "4"}', 4),
        ("page four", 4),
    ],
)
def test_stop_only_as_the_command(reply: str, page: int | None) -> None:
    """Ports test `"STOP" in reply.upper()`, which "the bus stopped" passes."""
    assert replies.next_page(said(reply)) == page


@pytest.mark.parametrize(
    "reply",
    ["", "The bus stopped.", "nonstop talk", "Do not STOP", "[2-5]", "2 or 5", "pages 2, 5"],
)
def test_what_is_neither_stop_nor_one_page_is_refused(reply: str) -> None:
    """The same row: an unclear reply is no command."""
    with pytest.raises(MalformedReply):
        replies.next_page(said(reply))


# -- row: re-show unexpanded gists at every step of S -------------------------------------------


def test_each_step_of_s_sees_the_expanded_pages_in_place() -> None:
    """Ports show the unexpanded gists again at every step of S."""
    pages = [f"Page text number {k}, told in full." for k in range(1, 5)]
    gists = [f"gist {k}" for k in range(1, 5)]
    wanted = iter(["3", "1", "STOP"])
    made, model = desk(
        {"lookup": lambda call: next(wanted), "answer": "Yes."}, strategy="sequential"
    )
    answer(made, memory(pages, gists), "What is told?")
    steps = [call.user for call in model.calls if call.phase == "lookup"]
    shown = [[pages[k] in step for k in range(4)] for step in steps]
    assert shown == [
        [False, False, False, False],
        [False, False, True, False],
        [True, False, True, False],
    ]
    assert all((gists[k] in step) != (pages[k] in step) for step in steps for k in range(4))
    order = [steps[2].index(t) for t in (pages[0], gists[1], pages[2], gists[3])]
    assert order == sorted(order)


# -- row: drop [2-5], Page 2, [Page 2], keep duplicates, ignore the cap -------------------------


@pytest.mark.parametrize(
    ("reply", "pages"),
    [
        ("[2-5]", (2, 3, 4, 5)),
        ("[5-2]", (2, 3, 4, 5)),
        ("[2–4]", (2, 3, 4)),
        ("2 to 4", (2, 3, 4)),
        ("pages 2 through 4", (2, 3, 4)),
        ("Page 2", (2,)),
        ("[Page 2]", (2,)),
        ("<Page 2>", (2,)),
        ("[Page 2, Page 7]", (2, 7)),
        ("[2] and [7]", (2, 7)),
        ("pages two and five", (2, 5)),
        ("pages sixteen and nineteen", (16, 19)),
        ("page twenty-one", (21,)),
        ("[7, 2, 7, 2]", (7, 2)),
        ("[1, 2, 3, 4, 5, 6, 7]", (1, 2, 3, 4, 5)),
        ("[1-1000]", (1, 2, 3, 4, 5)),
        ("[0, 2, 99]", (2,)),
        ("[28-35]", (28, 29, 30)),
        ("I want to look up Page [2, 8] to answer this.", (2, 8)),
        ("I would read pages 2, 5 and 7, since they name him.", (2, 5, 7)),
        ("1. Page 4\n2. Page 7", (4, 7)),
        ("(1) Page 4 (2) Page 7", (4, 7)),
        ("4, 7", (4, 7)),
        ("4", (4,)),
        ("**Pages: 4, 7**", (4, 7)),
        ("Page numbers: 4 & 7", (4, 7)),
        ("第4页和第7页", (4, 7)),
        ("páginas 4 y 7", (4, 7)),
        ("Seiten 4 und 7", (4, 7)),
        ('{"pages": [4, 7]}', (4, 7)),
        ('{"pages": ["4", "Page 7"]}', (4, 7)),
        ('{"pages": 4}', (4,)),
        ('{"pages": "4-6"}', (4, 5, 6)),
        ('```json\n{"pages": [4]}\n```', (4,)),
        ("[" + ", ".join(map(str, range(1, 2001))) + "]", (1, 2, 3, 4, 5)),
        ('{"pages": []}', ()),
        ("[]", ()),
        ("None", ()),
        ("None.", ()),
        ("No pages needed.", ()),
        ("No more pages are needed", ()),
        ("0", ()),
    ],
)
def test_page_lists_are_read_in_any_form(reply: str, pages: tuple[int, ...]) -> None:
    """Ports drop `[2-5]`, `Page 2`, `[Page 2]`, keep duplicates and ignore the cap."""
    assert replies.pages(said(reply), 30, 5) == pages


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot tell.",
        "The answer is 42 men.",
        "[99]",
        "page 31",
        "[0]",
        "sixty reasons",
        '{"pages": ["all"]}',
        '{"pages": [true]}',
        '{"pages": "all"}',
        "[" + "9" * 5000 + "]",
    ],
)
def test_no_page_is_guessed(reply: str) -> None:
    """The same row: numbers that are no pages of this document are refused."""
    with pytest.raises(MalformedReply):
        replies.pages(said(reply), 30, 5)


# -- row: call everything one after the other, keep nothing until the end ------------------------


def test_a_gist_is_made_while_the_next_page_is_chosen() -> None:
    """Ports call everything one after the other."""
    gisting, choosing = threading.Event(), threading.Event()
    chosen = 0

    def choose(call: Call) -> str:
        nonlocal chosen
        chosen += 1
        if chosen == 2:
            choosing.set()
            assert gisting.wait(5), "the first gist waits for the second page"
        return "1"

    def shorten(call: Call) -> str:
        gisting.set()
        assert choosing.wait(5), "the second page waits for the first gist"
        return by_rule(call)

    made, model = desk(
        {"paginate": choose, "gist": shorten}, workers=2, min_words=100, max_words=300
    )
    found = read(made, document(prose([100] * 8)))
    assert len(found.pages) == len(found.gists) >= 3
    again, _ = desk({"paginate": "1", "gist": by_rule}, min_words=100, max_words=300)
    assert read(again, document(prose([100] * 8))).gists == found.gists
    assert model.calls[0].phase == "paginate"


class Stored(Scripted):
    """Notes, before each call, what a second connection finds in the library's file."""

    def __init__(self, path: Path, reply: Callable[[Call], str], fail_at: int) -> None:
        super().__init__(reply)
        self.path, self.fail_at = path, fail_at
        self.on_disk: list[int] = []

    def complete(self, call: Call) -> Completion:
        with sqlite3.connect(self.path) as db:
            self.on_disk.append(db.execute("SELECT count(*) FROM calls").fetchone()[0])
        db.close()
        if len(self.calls) == self.fail_at:
            raise ModelRefused("the quota is used up")
        return super().complete(call)


def test_every_finished_call_is_durable_before_its_result_is_used(tmp_path: Path) -> None:
    """Ports keep nothing until the end."""
    path = tmp_path / "library.db"
    store = Store(path)
    source = document("\n\n".join(f"In part {k} of it, {prose([100])}" for k in range(12)))
    store.add_document(source)
    replying = by_phase({"paginate": "1", "gist": by_rule})
    model = Stored(path, replying, fail_at=5)
    made, _ = desk({}, min_words=100, max_words=300)
    meter = Meter()

    def run() -> int:
        wrapped = Metered(Cached(Retrying(model), store.calls(source.id)), meter)
        return len(read(replace(made, model=wrapped), source).pages)

    with pytest.raises(ModelRefused):
        run()
    assert model.on_disk == [0, 1, 2, 3, 4, 5]
    model.fail_at = -1
    assert run() > 3
    sent = [(call.user, call.sample) for call in model.calls]
    assert len(sent) == len(set(sent)), "a finished call was paid for twice"
    assert meter.usage().cached_calls == 5
    store.close()


# -- row: retry for ever on a bad key or a too-long prompt --------------------------------------


@pytest.mark.parametrize("error", [ModelRefused("bad key"), ContextExceeded("prompt too long")])
def test_what_cannot_succeed_is_not_sent_again(error: Exception) -> None:
    """Ports retry for ever on a bad key or a too-long prompt."""
    sent: list[Call] = []

    def refuse(call: Call) -> str:
        sent.append(call)
        raise error

    made, _ = desk({})
    slept: list[float] = []
    wrapped = Retrying(Scripted(refuse), sleep=slept.append)
    with pytest.raises(type(error)):
        read(replace(made, model=wrapped), document(prose([100] * 20)))
    assert (len(sent), slept) == (1, [])


def test_what_may_succeed_is_sent_again_a_bounded_number_of_times() -> None:
    """The same row: an overloaded endpoint is waited for, but not for ever."""
    sent: list[Call] = []

    def busy(call: Call) -> str:
        sent.append(call)
        raise ModelUnavailable("503")

    made, _ = desk({})
    wrapped = Retrying(Scripted(busy), attempts=4, sleep=lambda s: None)
    started = time.monotonic()
    with pytest.raises(ModelUnavailable):
        read(replace(made, model=wrapped), document(prose([100] * 20)))
    assert len(sent) == 4
    assert time.monotonic() - started < 5


# -- settings recorded with the memory ----------------------------------------------------------


def test_how_it_was_read_is_recorded_with_the_memory() -> None:
    """Options beyond the paper's defaults are kept with the memory they produced."""
    made, model = desk(
        {"paginate": "1", "gist": by_rule},
        min_words=100,
        max_words=300,
        previous_page=True,
        next_paragraph=True,
    )
    found = read(made, document(prose([100] * 8)))
    assert found.settings == Settings(
        profile="paper",
        kind="general",
        min_words=100,
        max_words=300,
        pagination="model",
        previous_page=True,
        next_paragraph=True,
    )
    asked = [call.user for call in model.calls if call.phase == "paginate"]
    assert "(It goes on:)" in asked[0]
    assert "(The page before" not in asked[0]
    assert f"(The page before, only for context:)\n{found.pages[0].text.strip()}" in asked[1]
    assert any(p.startswith("paginate@") for p in found.prompts)
