"""Episode pagination (Section 3.1): where to pause reading.

Invariant: pages partition the document's text. Every page but the last holds `min_words` to
`max_words` words, and each step consumes at least one paragraph, so the words shown to the model
are at most `max_words / min_words` times the document plus one window (Section 3.3).

A pause is offered only where the page before it is long enough and, once the end of the document
is in sight, where what follows is long enough to be a page. So a short tail joins the page before
it whenever that still fits, without a rule of its own. A paragraph that would leave a page too
short by being too long is cut, at a sentence's end where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reread.errors import MalformedReply
from reread.reading import replies
from reread.reading.desk import CHOICE_TOKENS, Desk, one_of
from reread.reading.marks import Marked, Marks
from reread.text import adds_up, cut_within, word_shares
from reread.types import Document, GistMemory, Page, Settings

_OPENING = 60  # characters by which a page is found again
SHARES = 12  # of a word, as `text.word_shares` counts


@dataclass(frozen=True, slots=True)
class Unit:
    """A paragraph, or the part of one that was cut; `shares` is its size in twelfths of a word."""

    start: int
    end: int
    kind: str
    shares: int


@dataclass(frozen=True, slots=True)
class Window:
    """What one step sees: units `first` up to `last`, and the indices where a page may end.

    A label `p` ends the page before unit `p`. The last label is the window's end. `sizes` are the
    shares of the page that each label would end.
    """

    units: list[Unit]
    first: int
    last: int
    labels: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """A chosen label, the page's text as the model saw it, and why it is a fallback, if it is."""

    label: int
    shown: Marked | None = None
    fallback: str | None = None


Chooser = Callable[[Window, Page | None], Pause]


@dataclass(frozen=True, slots=True)
class PageShown:
    """A page, and its text as the call that chose its end saw it (None when there was none)."""

    page: Page
    shown: Marked | None
    fallback: str | None


def paginate(document: Document, settings: Settings, choose: Chooser) -> Iterator[PageShown]:
    """The pages of the document in order, each as soon as its end is chosen."""
    low, high = (settings.min_words or 1) * SHARES, (settings.max_words or 1) * SHARES
    text = document.text
    units = [
        Unit(p.start, p.end, p.kind, word_shares(text[p.start : p.end]))
        for p in document.paragraphs
    ]
    first, start, number = 0, 0, 1
    previous: Page | None = None
    while first < len(units):
        window = _window(text, units, first, low, high)
        pause = choose(window, previous) if len(window.labels) > 1 else Pause(window.last)
        end = units[pause.label].start if pause.label < len(units) else len(text)
        page = Page.of(document, number, start, end, fallback=pause.fallback is not None)
        yield PageShown(page, pause.shown, pause.fallback)
        first, start, number, previous = pause.label, end, number + 1, page


def _window(text: str, units: list[Unit], first: int, low: int, high: int) -> Window:
    """The units from `first` that fit `high` shares; one is cut where `low` could not be met."""
    sizes: list[int] = []  # of the units from `first` up to each
    for size in _sizes(text, units, first):
        if size > high:
            break
        sizes.append(size)
    last, total = first + len(sizes), sizes[-1] if sizes else 0
    if last < len(units) and total < low:
        unit = units[last]
        # a word that runs on from the unit before would be counted twice
        least = low - total + (0 if not sizes or adds_up(text, unit.start) else SHARES)
        at = cut_within(text, unit.start, unit.end, least, high - total)
        units[last : last + 1] = _cut(text, unit, at)
        sizes.append(total + units[last].shares)
        last += 1
    labels = [k for k in range(first + 1, last) if _may_end(units, first, k, last, sizes, low)]
    labels.append(last)
    return Window(units, first, last, tuple(labels), tuple(sizes[k - first - 1] for k in labels))


def _sizes(text: str, units: list[Unit], first: int) -> Iterator[int]:
    """The shares of the units from `first` up to each; units cut within a word are one text."""
    before, opened = 0, first
    for k in range(first, len(units)):
        if k > first and adds_up(text, units[k].start):
            before += _together(text, units, opened, k)
            opened = k
        yield before + _together(text, units, opened, k + 1)


def _together(text: str, units: list[Unit], first: int, last: int) -> int:
    if last - first == 1:
        return units[first].shares
    return word_shares(text[units[first].start : units[last - 1].end])


def _cut(text: str, unit: Unit, at: int) -> list[Unit]:
    left = word_shares(text[unit.start : at])
    parts = [Unit(unit.start, at, unit.kind, left)]
    if at < unit.end:
        rest = unit.shares - left if adds_up(text, at) else word_shares(text[at : unit.end])
        parts.append(Unit(at, unit.end, unit.kind, rest))
    return parts


def _may_end(
    units: list[Unit], first: int, label: int, last: int, sizes: list[int], low: int
) -> bool:
    """Whether the page before `label`, and at the document's end the one after it, is no stub."""
    before = sizes[label - first - 1]
    after = sizes[-1] - before if last == len(units) else low
    return before >= low and after >= low and units[label - 1].kind != "heading"


# -- who chooses --------------------------------------------------------------------------------

_SCENE_BREAK = re.compile(r"[\s*#~_=·•—-]{1,40}")
_CHAPTER = re.compile(r"(?:chapter|part|book|section|act|scene)\s+[\divxlc]+\b.*", re.IGNORECASE)


def by_structure(document: Document) -> Chooser:
    """Chooses the label at the strongest structural break, the last among equals."""

    def choose(window: Window, previous: Page | None) -> Pause:
        strength = [(_strength(document.text, window.units, p), p) for p in window.labels]
        return Pause(max(strength)[1])

    return choose


def _strength(text: str, units: list[Unit], label: int) -> int:
    if label >= len(units):
        return 3
    after = text[units[label].start : units[label].end]
    before = text[units[label - 1].start : units[label - 1].end]
    if units[label - 1].kind == "heading":
        return 0  # a heading belongs to what follows it
    if units[label].kind == "heading" or (len(after) < 80 and _CHAPTER.fullmatch(after)):
        return 3
    return 2 if _SCENE_BREAK.fullmatch(before) or _SCENE_BREAK.fullmatch(after) else 1


def uniform(document: Document, settings: Settings) -> Chooser:
    """Chooses the label nearest to the middle of the allowed sizes (the ablation of Table 5)."""
    target = ((settings.min_words or 1) + (settings.max_words or 1)) / 2 * SHARES

    def choose(window: Window, previous: Page | None) -> Pause:
        sized = zip(window.sizes, window.labels, strict=True)
        return Pause(min(sized, key=lambda pair: abs(pair[0] - target))[1])

    return choose


def keeping(earlier: GistMemory, document: Document, choose: Chooser) -> Chooser:
    """Chooses as an earlier version of the document was paged, wherever its text is the same.

    A page that is unchanged ends where it ended. After a change the page ends where an unchanged
    one begins, if that is near. Elsewhere `choose` decides.
    """
    pages = {page.text.strip() for page in earlier.pages}
    sizes = {len(page) for page in pages}
    openings = {page[:_OPENING] for page in pages}
    text = document.text

    def begins_unchanged(start: int) -> bool:
        return text[start : start + _OPENING] in openings and any(
            text[start : start + size] in pages for size in sizes
        )

    def kept(window: Window, previous: Page | None) -> Pause:
        start = window.units[window.first].start
        for label in reversed(window.labels):
            if text[start : window.units[label - 1].end].strip() in pages:
                return Pause(label)
        for label in window.labels:
            if label < len(window.units) and begins_unchanged(window.units[label].start):
                return Pause(label)
        return choose(window, previous)

    return kept


def by_model(desk: Desk, document: Document) -> Chooser:
    """Lets the model choose a label; the window's end, recorded, when it names none twice."""
    marks = Marks.absent_from([document.text])

    def choose(window: Window, previous: Page | None) -> Pause:
        labels = list(window.labels)
        while len(labels) > 1:
            values = _prompt_values(desk, document, window, labels, marks, previous)
            if desk.fits("paginate", values, CHOICE_TOKENS):
                break
            labels = labels[: len(labels) // 2]
        else:
            return Pause(window.last, None, "the window does not fit the model")
        offered = list(range(1, len(labels) + 1))
        try:
            number = desk.ask(
                "paginate",
                values,
                lambda reply: replies.mark(reply, offered, marks),
                max_tokens=CHOICE_TOKENS,
                schema=one_of("mark", offered),
            )
        except MalformedReply as error:
            return Pause(window.last, None, error.message)
        label = labels[number - 1]
        return Pause(label, Marked(_marked(document, window, labels, marks, label), marks))

    return choose


def _prompt_values(
    desk: Desk,
    document: Document,
    window: Window,
    labels: list[int],
    marks: Marks,
    previous: Page | None,
) -> dict[str, str]:
    end = labels[-1]
    before = after = ""
    if desk.settings.previous_page and previous is not None:
        before = f"(The page before, only for context:)\n{previous.text.strip()}\n(The passage:)\n"
    if desk.settings.next_paragraph and end < len(window.units):
        unit = window.units[end]
        after = f"\n\n(It goes on:)\n{document.text[unit.start : unit.end]} …"
    shown = _marked(document, window, labels, marks, end)
    return {
        "before": before,
        "text": f"{shown}\n\n{marks(len(labels))}",
        "after": after,
        "mark": marks(1),
        "last": str(len(labels)),
    }


def _marked(document: Document, window: Window, labels: list[int], marks: Marks, end: int) -> str:
    """The units up to `end` with the marks between them, the same for every `end`."""
    numbers = {label: k for k, label in enumerate(labels, 1)}
    parts: list[str] = []
    for k in range(window.first, end):
        if k in numbers:
            parts.append(marks(numbers[k]))
        unit = window.units[k]
        parts.append(document.text[unit.start : unit.end].strip())
    return "\n\n".join(parts)


def chooser(desk: Desk, document: Document, earlier: GistMemory | None = None) -> Chooser:
    """The chooser that the settings name, which keeps the unchanged pages of an earlier version."""
    if earlier is not None:
        return keeping(earlier, document, chooser(desk, document))
    if desk.settings.pagination == "model":
        return by_model(desk, document)
    if desk.settings.pagination == "uniform":
        return uniform(document, desk.settings)
    return by_structure(document)
