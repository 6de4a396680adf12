"""Pages partition any text, keep to their sizes, and show the model no more than they promise."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import desk, document, prose
from reread.reading.paginate import PageShown, Pause, Window, chooser, paginate
from reread.text import clean, count_words
from reread.types import Call, Document, Page, Paragraph, Settings

SCRIPTS = (
    "the quick brown fox jumps over a lazy dog and sleeps".split(),
    "он пришёл домой поздно ночью и долго молчал".split(),
    ["他走进了房间", "春天来了", "山高水长", "说"],
    ["東京へ行きました", "ひらがな", "カタカナ"],
    ["สวัสดีครับ", "ผมไปตลาด", "วันนี้อากาศดีมาก"],
    "ذهب الرجل إلى البيت في المساء".split(),
    "वह घर गया और सो गया".split(),
    ["🙂", "👩‍👩‍👧", "🇫🇷", "e\u0301"],
    ["<12>", "<0>", "<#3>", "<Page 2>", "----", "12,345", "3.14"],
    ["x" * 130, "9" * 450, "A" * 99, "a—b" * 60, "“quoted”—"],
)
ENDS = [
    ". ",
    "! ",
    "? ",
    ", ",
    " ",
    " ",
    " ",
    "。",
    "，",
    "؟ ",
    "؟",
    "। ",
    "।",
    "; ",
    "— ",
    "",
    "”",
]
BREAKS = ["\n\n", "\n\n\n", "\n", "\n    ", "\n \n", " ", "\n* * *\n", "\n\nChapter 4\n\n"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts of mixed scripts and styles, up to some hundreds of words."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    scripts = rng.sample(SCRIPTS, rng.randint(1, 3))
    breaks = rng.sample(BREAKS, rng.randint(1, 3))
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 30))):
        for _ in range(rng.choice([1, 3, 12, 60])):
            parts += [rng.choice(rng.choice(scripts)), rng.choice(ENDS)]
        parts.append(rng.choice(breaks))
    return clean("".join(parts))


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int]:
    """Legal (min_words, max_words), the tightest and the widest too."""
    low = draw(st.integers(1, 60))
    return low, low + draw(st.integers(1, 120))


def pages_of(
    source: Document, low: int, high: int, choose: Callable[[Window, Page | None], Pause]
) -> list[PageShown]:
    return list(paginate(source, Settings(min_words=low, max_words=high), choose))


def check(source: Document, pages: list[Page], low: int, high: int) -> None:
    assert "".join(p.text for p in pages) == (source.text if source.paragraphs else "")
    at = 0
    for number, page in enumerate(pages, 1):
        assert (page.number, page.start) == (number, at)
        assert page.end > page.start
        assert page.text == source.text[page.start : page.end]
        assert page.words == count_words(page.text) <= high
        at = page.end
    assert all(page.words >= low for page in pages[:-1])
    if pages:
        assert pages[-1].words >= 1


CHOICES: dict[str, Callable[[Window, Page | None], int]] = {
    "first": lambda window, _: window.labels[0],
    "last": lambda window, _: window.labels[-1],
    "random": lambda window, _: random.Random(window.first).choice(window.labels),
}


@pytest.mark.parametrize("choice", CHOICES)
@given(text=texts(), size=sizes())
@settings(max_examples=120, deadline=None)
def test_pages_partition_any_text_within_their_sizes(
    choice: str, text: str, size: tuple[int, int]
) -> None:
    source = document(text)
    shown = pages_of(source, *size, lambda w, p: Pause(CHOICES[choice](w, p)))
    check(source, [s.page for s in shown], *size)


@given(text=texts(), size=sizes(), seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_paragraphs_may_also_touch(text: str, size: tuple[int, int], seed: int) -> None:
    """Loaders may cut between any two characters; sizes still hold for the pages' own text."""
    rng = random.Random(seed)
    cuts = sorted({0, len(text), *(rng.randint(0, len(text)) for _ in range(len(text) // 40))})
    spans = [(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if text[a:b].strip()]
    paragraphs = tuple(Paragraph(start=a, end=b) for a, b in spans)
    source = Document(title="", text=text, paragraphs=paragraphs, origin="test")
    shown = pages_of(source, *size, lambda w, _: Pause(rng.choice(w.labels)))
    check(source, [s.page for s in shown], *size)


@pytest.mark.parametrize("pagination", ["uniform", "structure"])
@given(text=texts(), size=sizes())
@settings(max_examples=60, deadline=None)
def test_paginations_without_a_model_partition_too(
    pagination: str, text: str, size: tuple[int, int]
) -> None:
    source = document(text)
    made, model = desk({}, min_words=size[0], max_words=size[1], pagination=pagination)
    shown = list(paginate(source, made.settings, chooser(made, source)))
    check(source, [s.page for s in shown], *size)
    assert model.calls == []


def _offered(call: Call) -> int:
    found = re.search(r"the last one is number (\d+)", call.user)
    assert found
    return int(found[1])


REPLIES: dict[str, Callable[[Call], str]] = {
    "first": lambda call: "1",
    "last": lambda call: f"<{_offered(call)}>",
    "middle": lambda call: f"Label: <{(_offered(call) + 1) // 2}>",
    "rubbish": lambda call: "I enjoyed this passage very much.",
    "zero": lambda call: "<0>",
    "never offered": lambda call: str(_offered(call) + 1),
    "huge": lambda call: "9" * 6000,
    "empty": lambda call: "",
}


@pytest.mark.parametrize("reply", REPLIES)
@given(text=texts(), size=sizes())
@settings(max_examples=25, deadline=None)
def test_a_model_that_chooses_is_shown_no_more_than_the_bound(
    reply: str, text: str, size: tuple[int, int]
) -> None:
    low, high = size
    source = document(text)
    made, model = desk(
        {"paginate": REPLIES[reply]}, min_words=low, max_words=high, context_tokens=10**6
    )
    shown = list(paginate(source, made.settings, chooser(made, source)))
    check(source, [s.page for s in shown], low, high)
    asked = [call for call in model.calls if call.sample == 0]
    words = sum(count_words(_document_part(call)) for call in asked)
    assert words <= high / low * source.words + high
    usable = reply in ("first", "last", "middle")
    assert len([s for s in shown if s.fallback]) == (0 if usable else len(asked))


def _document_part(call: Call) -> str:
    """The prompt's text without instruction and marks; the marks take the plainest absent form."""
    material = call.user.rpartition("\n----\n")[0]
    found = re.search(r"Marks of the form <(#*)1> stand", call.user)
    assert found
    return re.sub(rf"\n\n<{found[1]}\d+>(?=\n\n|\s*$)", "\n\n", material)


@given(size=sizes(), words=st.lists(st.integers(1, 200), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_no_call_when_there_is_nothing_to_choose(size: tuple[int, int], words: list[int]) -> None:
    low, high = size
    source = document(prose(words))
    windows: list[Window] = []

    def choose(window: Window, _: Page | None) -> Pause:
        windows.append(window)
        return Pause(window.labels[-1])

    shown = pages_of(source, low, high, choose)
    assert all(len(w.labels) > 1 for w in windows)
    assert windows == [] or source.words > high or any(w.last == len(w.units) for w in windows)
    if source.words <= low:
        assert len(shown) == 1
        assert windows == []
