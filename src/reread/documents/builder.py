"""Text put together from located blocks, or laid over a text that exists already.

Either way the invariant of `Document` holds: paragraphs are in order, do not overlap, and every
character that is not white space lies in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reread.errors import EmptyDocument
from reread.text import clean, count_words, paragraph_spans
from reread.types import Coverage, Document, Paragraph, ParagraphKind

LONGEST_BLOCK_WORDS = 250  # longer blocks are divided: a page can only end between paragraphs
SHORT_LIST_WORDS = 60  # tight lists up to here stay one paragraph
_ROWS: frozenset[ParagraphKind] = frozenset({"table", "list", "code", "math"})
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_VISIBLE = re.compile(r"[^\s\u00ad\u200b-\u200f\u2060\ufeff]")


class TextBuilder:
    """Collects blocks in reading order and makes the document of them.

    `path` holds the open headings as (level, text), outermost first, and `place` what begins the
    locators; a loader may put older values back where a scope ends. Sources of several parts
    (pages, chapters, files) announce each with `part` and say which could not be read, which gives
    the document's coverage.
    """

    def __init__(self) -> None:
        self.path: tuple[tuple[int, str], ...] = ()
        self.place: str | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._blocks: list[tuple[int, int, ParagraphKind, str | None, tuple[str, ...]]] = []
        self._parts = self._read = 0
        self._without_text: list[str] = []
        self._blank: list[str] = []
        self._failed: list[tuple[str, str]] = []
        self._left_out: list[tuple[str, str]] = []
        self._recognised: list[str] = []
        self.remedy = ""  # what would let parts without text be read

    @property
    def length(self) -> int:
        """How much text there is so far, in code points."""
        return self._length

    # -- blocks ---------------------------------------------------------------------------------

    def heading(self, level: int, text: str) -> None:
        """Adds a heading, which closes those of the same and of deeper levels."""
        text = " ".join(clean(text).split())
        if text:
            self.path = (*(h for h in self.path if h[0] < level), (level, text))
            self._append(text, "heading", "\n\n")

    def paragraph(
        self, text: str, kind: ParagraphKind = "text", *, tight: bool = False, indent: int = 0
    ) -> None:
        """Adds a block; one that is very long becomes several paragraphs.

        `tight` puts it on the line after the block before, `indent` spaces in.
        """
        text = clean(text).strip("\n") if kind in ("code", "table") else clean(text).strip()
        if text.strip():
            self._append(text, kind, "\n" + " " * indent if tight else "\n\n")

    def _append(self, text: str, kind: ParagraphKind, separator: str) -> None:
        if self._pieces:
            self._pieces.append(separator)
            self._length += len(separator)
        for start, end in divide(text, kind):
            self._blocks.append(
                (
                    self._length + start,
                    self._length + end,
                    kind,
                    self.place,
                    tuple(h for _, h in self.path),
                )
            )
        self._pieces.append(text)
        self._length += len(text)

    # -- parts ----------------------------------------------------------------------------------

    def part(self, place: str | None = None) -> None:
        """Begins a part that is read; `place` begins the locators of what follows."""
        self._parts += 1
        self._read += 1
        self.place = place

    def at(self, place: str | None) -> None:
        """Begins a place within the part: the locators of what follows begin with it."""
        self.place = place

    def left_out(self, part: str, reason: str) -> None:
        """Notes what is left out on purpose, such as a hidden sheet; it counts as no part."""
        self._left_out.append((part, " ".join(reason.split())))

    def blank(self, part: str) -> None:
        """Notes a part that shows nothing."""
        self._parts += 1
        self._blank.append(part)

    def without_text(self, part: str) -> None:
        """Notes a part that shows something but holds no text."""
        self._parts += 1
        self._without_text.append(part)

    def failed(self, part: str, reason: str) -> None:
        """Notes a part that could not be read."""
        self._parts += 1
        self._failed.append((part, " ".join(reason.split())))

    def recognised(self, part: str) -> None:
        """Notes that the text of a part, announced with `part`, was read from a picture."""
        self._recognised.append(part)

    @property
    def coverage(self) -> Coverage:
        """What was read and what was not; one part read where no parts were announced."""
        left_out = tuple(self._left_out)
        if not self._parts:
            return Coverage(left_out=left_out)
        return Coverage(
            parts=self._parts,
            read=self._read,
            without_text=tuple(self._without_text),
            blank=tuple(self._blank),
            failed=tuple(self._failed),
            recognised=tuple(self._recognised),
            left_out=left_out,
            remedy=self.remedy if self._without_text else "",
        )

    # -- the document ---------------------------------------------------------------------------

    def build(
        self, *, title: str, origin: str, media_type: str, references: Sequence[str] = ()
    ) -> Document:
        """The document of all blocks.

        Raises:
            EmptyDocument: no block holds a visible character.
        """
        return document_over(
            "".join(self._pieces),
            (
                Paragraph(start=a, end=b, kind=kind, locator=_locator(place, headings, title))
                for a, b, kind, place, headings in self._blocks
            ),
            title=title,
            origin=origin,
            media_type=media_type,
            coverage=self.coverage,
            references="\n".join(references),
        )


def document_over(
    text: str,
    paragraphs: Iterable[Paragraph],
    *,
    title: str,
    origin: str,
    media_type: str,
    coverage: Coverage | None = None,
    references: str = "",
) -> Document:
    """The document of a cleaned text and paragraphs over it; outer white space is cut off.

    Text that no paragraph holds becomes a paragraph of its own, with the locator before it.

    Raises:
        EmptyDocument: the text holds no visible character.
    """
    if not _VISIBLE.search(text):
        raise EmptyDocument(f"{origin} holds no text")
    stripped = text.strip()
    offset = len(text) - len(text.lstrip())
    whole = _join_short_lists(text, _without_gaps(text, paragraphs))
    return Document(
        title=" ".join(clean(title).split()) or origin,
        text=stripped,
        paragraphs=tuple(_moved(p, -offset) for p in whole),
        origin=origin,
        media_type=media_type,
        coverage=coverage or Coverage(),
        references=clean(references).strip(),
    )


def divide(text: str, kind: ParagraphKind) -> list[tuple[int, int]]:
    """Spans of the paragraphs of one block: the whole block unless it is very long."""
    if count_words(text) <= LONGEST_BLOCK_WORDS and kind != "text":
        return [trimmed(text, 0, len(text))]
    if kind in _ROWS:
        return _line_groups(text)
    spans: list[tuple[int, int]] = []
    start = 0
    for gap in [*_BLANK_LINE.finditer(text), None]:
        end = gap.start() if gap else len(text)
        piece = text[start:end]
        if count_words(piece) > LONGEST_BLOCK_WORDS:
            spans.extend((start + a, start + b) for a, b in paragraph_spans(piece))
        elif piece.strip():
            spans.append(trimmed(text, start, end))
        start = gap.end() if gap else end
    return spans


def _line_groups(text: str) -> list[tuple[int, int]]:
    """Whole lines taken together up to the length of a long block."""
    spans: list[tuple[int, int]] = []
    opened = closed = words = 0
    for line in re.finditer(r"[^\n]*\n?", text):
        size = count_words(line.group())
        if words and words + size > LONGEST_BLOCK_WORDS:
            spans.append(trimmed(text, opened, closed))
            opened, words = line.start(), 0
        words += size
        closed = line.end()
    if text[opened:closed].strip():
        spans.append(trimmed(text, opened, closed))
    return spans


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends; empty where it holds nothing else."""
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    return left, max(left, start + len(piece.rstrip()))


def _locator(place: str | None, headings: tuple[str, ...], title: str) -> str | None:
    """Where a person finds it. The document's own title says nothing where more is known."""
    title = " ".join(title.split())
    if headings and headings[0] == title and (place or len(headings) > 1):
        headings = headings[1:]
    return " › ".join(filter(None, (place, *headings))) or None


def _without_gaps(text: str, paragraphs: Iterable[Paragraph]) -> list[Paragraph]:
    whole: list[Paragraph] = []
    done, locator = 0, None
    for p in paragraphs:
        start, end = trimmed(text, p.start, p.end)
        whole.extend(_gap(text, done, start, locator))
        if start < end:
            whole.append(Paragraph(start=start, end=end, kind=p.kind, locator=p.locator))
        done, locator = max(done, end), p.locator
    whole.extend(_gap(text, done, len(text), locator))
    return whole


def _gap(text: str, start: int, end: int, locator: str | None) -> list[Paragraph]:
    if not text[start:end].strip():
        return []
    return [
        Paragraph(start=start + a, end=start + b, locator=locator)
        for a, b in divide(text[start:end], "text")
    ]


def _join_short_lists(text: str, paragraphs: list[Paragraph]) -> list[Paragraph]:
    """Items of a tight list as one paragraph while they are few: alone they say too little."""
    joined: list[Paragraph] = []
    words = 0
    for p in paragraphs:
        size = count_words(text[p.start : p.end]) if p.kind == "list" else 0
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.kind == p.kind == "list"
            and last.locator == p.locator
            and text[last.end : p.start].count("\n") == 1
            and words + size <= SHORT_LIST_WORDS
        ):
            joined[-1] = Paragraph(start=last.start, end=p.end, kind="list", locator=p.locator)
            words += size
        else:
            joined.append(p)
            words = size
    return joined


def _moved(p: Paragraph, by: int) -> Paragraph:
    if not by:
        return p
    return Paragraph(start=p.start + by, end=p.end + by, kind=p.kind, locator=p.locator)
