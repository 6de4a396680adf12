"""What a question is shown first of a document that grows: what is newest by its own gists."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import desk, memory, sentence
from reread.library import Library
from reread.llm.scripted import Scripted, reply_to
from reread.reading import answer
from reread.reading.fit import fitted, gist_room
from reread.reading.render import parts, render, seen_pages, tags
from reread.reading.view import viewed
from reread.types import Call, GistMemory, Settings

FACT = "The astrolabe of Ulm weighed nineteen pounds."
QUESTION = "How many pounds did the astrolabe of Ulm weigh?"


def by_rule(call: Call) -> str:
    return reply_to(call.phase, call.user)


def keeps(call: Call) -> str:
    """A short gist that keeps the fact, as a good model's would."""
    return FACT if FACT in call.user else "The river went by the garden."


REPLIES = {"gist": keeps, "lookup": by_rule, "answer": by_rule}


def talk(pages: int, planted: int | None = None, words: int = 18) -> GistMemory:
    """A memory of a conversation; one page holds a fact that its gist names."""
    facts = [f"{FACT} " if k == planted else "" for k in range(1, pages + 1)]
    return memory(
        [f"{fact}{sentence(2 * words + 4, k)}" for k, fact in enumerate(facts)],
        [f"{fact}{sentence(words, k)}" for k, fact in enumerate(facts)],
        Settings(kind="meeting"),
    )


def spans(made: GistMemory) -> list[tuple[int, int]]:
    return [(s.first, s.last) for s in made.view]


@settings(max_examples=20, deadline=None)
@given(
    pages=st.integers(1, 300),
    window=st.sampled_from([2_000, 3_000, 8_000]),
    words=st.sampled_from([5, 18, 60]),
    strategy=st.sampled_from(["parallel", "sequential"]),
    layout=st.sampled_from(["default", "embedded"]),
)
def test_a_view_covers_all_pages_and_every_prompt_fits(
    pages: int, window: int, words: int, strategy: str, layout: str
) -> None:
    made, model = desk(REPLIES, context_tokens=window, profile=layout, strategy=strategy)
    fit = fitted(made, talk(pages, planted=1, words=words))
    before = len(model.calls)
    seen = viewed(made, fit, QUESTION)
    assert len(model.calls) == before
    assert seen.levels == fit.levels
    assert seen.gists == fit.gists
    assert bool(seen.view) == bool(fit.levels)
    if seen.view:
        covered = [n for a, b in spans(seen) for n in range(a, b + 1)]
        assert covered == list(range(1, pages + 1))
        widths = [b - a for a, b in spans(seen)]
        assert widths[-1] <= widths[0]
        shown = render(seen, tags(seen), layout="in-place")
        assert made.tokens(shown) <= gist_room(made)
    answer(made, fit, QUESTION)
    for call in model.calls:
        assert made.tokens(call.system, call.user) + call.max_tokens <= window


@settings(max_examples=10, deadline=None)
@given(pages=st.integers(150, 250), data=st.data())
def test_every_page_can_be_reached_by_what_the_model_names(pages: int, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, pages))
    held: list[GistMemory] = []

    def look_up(call: Call) -> str:
        """Names what holds the page wanted, as the prompt numbers it."""
        if "Which pages" in call.user:
            return json.dumps({"pages": [wanted]})
        whole = parts(held[0])
        if "Which parts" in call.user:
            named = [k for k, s in enumerate(whole, 1) if s.first <= wanted <= s.last]
            return json.dumps({"pages": named})
        shown = re.findall(r"<Section (\d+)>\n(.*)", call.user)
        sections = [s for level in held[0].levels for s in level]
        gists = {s.gist for s in sections if s.first <= wanted <= s.last}
        return json.dumps({"pages": [int(k) for k, gist in shown if gist in gists][:1]})

    number = iter(range(10_000))

    def gist(call: Call) -> str:
        return f"In talk {next(number)} they spoke of the weather by the river and of nothing else."

    replies = {**REPLIES, "gist": gist, "lookup": look_up}
    made, _ = desk(replies, context_tokens=2_500, profile="default", max_pages=1)
    made = replace(made, rank=lambda texts, query: [])
    held.append(viewed(made, fitted(made, talk(pages)), ""))
    assert held[0].view
    assert answer(made, held[0], "Which?").pages_read == (wanted,)


@pytest.mark.parametrize("strategy", ["parallel", "sequential"])
def test_the_newest_pages_are_seen_themselves_and_the_oldest_in_sections(strategy: str) -> None:
    made, model = desk(REPLIES, context_tokens=4_000, profile="default", strategy=strategy)
    fit = fitted(made, talk(600, planted=1))
    assert len(fit.levels) >= 2
    made_of = len(model.calls)
    done = answer(made, fit, QUESTION)
    asked = model.calls[made_of:]
    seen = done.memory
    assert seen_pages(seen)[-10:] == list(range(591, 601))
    assert 1 not in seen_pages(seen)
    widths = [b - a for a, b in spans(seen)]
    assert widths[0] > widths[len(widths) // 2] >= widths[-1] == 0
    first = asked[0].user
    assert first.index("<Part 1>") < first.index("<Page 600>")
    if strategy == "parallel":  # else the first page is found by words without a call
        assert "<Page 1>" not in first
    assert "nineteen pounds" in done.text
    assert 1 in done.pages_read
    plain, uniform = desk(REPLIES, context_tokens=4_000, profile="default", strategy=strategy)
    answer(plain, replace(fit, settings=Settings()), QUESTION)
    assert len(asked) <= len(uniform.calls)


def test_a_new_page_is_named_without_looking_into_anything() -> None:
    def look_up(call: Call) -> str:
        return json.dumps({"pages": [] if "Which parts" in call.user else [599]})

    made, model = desk({**REPLIES, "lookup": look_up}, context_tokens=4_000, profile="default")
    fit = fitted(made, talk(600, planted=599))
    made_of = len(model.calls)
    done = answer(made, fit, QUESTION)
    assert done.pages_read[0] == 599
    assert [call.phase for call in model.calls[made_of:]] == ["lookup", "lookup", "answer"]
    assert done.trace.sections == ()


def test_other_kinds_are_seen_by_their_top_level_alone() -> None:
    made, _ = desk(REPLIES, context_tokens=4_000, profile="default")
    fit = fitted(made, replace(talk(600), settings=Settings(kind="paper")))
    assert viewed(made, fit, QUESTION).view == ()
    grown = replace(made, extends=True)
    assert viewed(grown, fit, QUESTION).view


def entries(first: int, last: int) -> str:
    return "\n\n".join(f"{sentence(60, k)} Entry {k}." for k in range(first, last))


def test_a_file_that_is_appended_to_is_seen_newest_first_and_reads_only_what_is_new(
    tmp_path: Path,
) -> None:
    model = Scripted(context_tokens=4_000)
    library = Library(tmp_path / "library.db", model=model)
    file = tmp_path / "book.txt"
    how: dict[str, Any] = {"profile": "default", "pagination": "structure"}
    text = f"{FACT} {entries(0, 800)}"
    file.write_text(text, encoding="utf-8")
    old = library.read(file, **how)
    assert library.ask("What of the river?", file, thoughts=False, **how).memory.view == ()
    file.write_text(f"{text}\n\n{entries(800, 808)}\n", encoding="utf-8")
    new = library.read(file, **how)
    assert new.usage.words_in <= 0.03 * old.usage.words_in
    before = len(model.calls)
    done = library.ask(QUESTION, file, thoughts=False, **how)
    assert {call.phase for call in model.calls[before:]} == {"lookup", "answer"}
    assert seen_pages(done.memory)[-1] == len(new.pages)
    assert done.memory.view[0].last > 1
    assert "nineteen pounds" in done.text
    assert done.pages_read[0] == 1
    file.write_text(text.replace("Entry 7.", "Entry seven."), encoding="utf-8")
    assert library.ask("What of the river?", file, thoughts=False, **how).memory.view == ()
