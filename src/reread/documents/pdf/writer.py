"""Blocks of all pages written into one document, across columns and pages.

A paragraph that is cut by the end of a column is held back until its rest is found; what stands
between (notes, figures, tables) follows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reread.documents.builder import TextBuilder
from reread.documents.pdf.blocks import (
    Block,
    blocks_of,
    note_body,
    plain,
    without_leaders,
)
from reread.documents.pdf.headings import NUMBERED, Headings
from reread.documents.pdf.hyphens import Vocabulary
from reread.documents.pdf.lines import END_MARK, MARK, Line
from reread.documents.pdf.pages import PdfPage
from reread.types import ParagraphKind

_MARKED = re.compile(rf"{MARK}([^{END_MARK}]+){END_MARK}")
_FINISHED = re.compile(r"[.!?:;。！？؟…]['\"”’»)\]]*(?:\[\^\w+\])?$")
_REFERENCES = re.compile(
    r"(?:[\dA-Z]{1,2}\.?\s+)?(?:references|bibliography|literature cited|works cited|literatur"
    r"(?:verzeichnis)?|bibliographie|список литературы|参考文献|참고문헌)",
    re.I,
)
_LONGEST = 20_000  # characters: what never ends is no paragraph
_CELL = re.compile(r"\s+")


@dataclass(slots=True)
class _Open:
    """A paragraph that may go on in the next column; `line` is its last so far."""

    text: str
    kind: ParagraphKind
    tight: bool
    line: Line


class Writer:
    """Writes pages into a builder, in order."""

    def __init__(self, builder: TextBuilder, headings: Headings, words: Vocabulary) -> None:
        self._builder = builder
        self._headings = headings
        self._words = words
        self._open: _Open | None = None
        self._waiting: list[tuple[str, ParagraphKind]] = []  # what follows the open paragraph
        self._chapter = ""
        self._in_references = False
        self.references: list[str] = []

    def page(self, page: PdfPage, place: str) -> None:
        """Adds a page; `place` begins the locators of what begins on it."""
        blocks = blocks_of(page.lines, self._headings.body, self._headings.marks(page))
        notes = _calls(blocks)
        first = self._goes_on(blocks)
        if first is not None:
            self._resume(blocks.pop(first), notes)
            if first or blocks:
                self.flush()
        else:
            self.flush()
        self._builder.part(place)
        for k, block in enumerate(blocks):
            self._add(block, notes, page, blocks[k + 1 :])
        if page.across:
            self._wait(page.across, "text")

    def _goes_on(self, blocks: Sequence[Block]) -> int | None:
        """The block with which the open paragraph goes on, None where none does."""
        for k, block in enumerate(blocks[:4]):
            if block.kind not in ("table", "caption", "note"):
                return k if self._continues(block) else None
        return None

    def _continues(self, block: Block) -> bool:
        """Whether a block is the rest of the open paragraph."""
        if self._open is None or len(self._open.text) > _LONGEST:
            return False
        if _FINISHED.search(self._open.text[-20:]):
            return False
        if block.kind != "text" or block.indented or block.lines[0].mono:
            return False
        line = self._open.line
        if abs(block.size - line.size) > 0.05 * block.size:
            return False
        first = block.text.lstrip("“\"'(")[:1]
        return first.islower() or line.x1 > line.right - 2 * line.size

    def _resume(self, block: Block, notes: set[str]) -> None:
        if self._open is not None:
            rest, line = self._text(block, notes), self._open.line
            self._open.text = self._words.joined(self._open.text, rest, spaced=line.spaced)
            self._open.line = block.lines[-1]

    # -- blocks ---------------------------------------------------------------------------------

    def _add(self, block: Block, notes: set[str], page: PdfPage, later: Sequence[Block]) -> None:
        if self._in_references and block.kind in ("text", "list"):
            self._reference(block)
        elif block.kind == "heading":
            self._heading(block, page, later)
        elif block.kind == "note":
            body = self._joined_lines(note_body(block), block.lines)
            self._wait(f"[^{block.mark}]: {body}" if block.mark else body, "note")
        elif block.kind == "table":
            self._wait(_table(block.lines), "table")
        elif block.kind == "code":
            self.flush()
            self._builder.paragraph(_code(block.lines), "code")
        elif self._continues(block):
            self._resume(block, notes)
        elif block.kind == "caption":
            self._wait(self._text(block, notes), "caption")
        else:
            self.flush()
            self._begin(block, notes)

    def _begin(self, block: Block, notes: set[str]) -> None:
        text = self._text(block, notes)
        if block.kind == "list":
            text = without_leaders(text)
        tight = block.tight and block.kind == "list"
        self._open = _Open(text, block.kind, tight, block.lines[-1])

    def _heading(self, block: Block, page: PdfPage, later: Sequence[Block]) -> None:
        self.flush()
        text = self._joined_lines([plain(x.text) for x in block.lines], block.lines)
        self._in_references = _lists_references(text, later)
        if self._in_references:
            return
        level = self._headings.level(text, block.lines, page.index)
        if self._announces(text, later) and (self._headings.begins_chapter(text) or not level):
            self._chapter = f"{self._chapter} {text}".strip()
            return
        text = f"{self._chapter} {text}".strip()
        if level:
            self._builder.heading(level, text)
        else:
            self._builder.paragraph(text, "heading")
        self._chapter = ""

    def _reference(self, block: Block) -> None:
        """An entry of the bibliography; one that begins indented goes on from the column before."""
        text = self._text(block, set()).replace("\n", " ")
        if block.indented and self.references:
            self.references[-1] = self._words.joined(self.references[-1], text)
        else:
            self.references.append(text)

    def _announces(self, text: str, later: Sequence[Block]) -> bool:
        """Whether a heading is only the upper part of the one that follows ("Chapter", "Five")."""
        follows = later[0] if later and later[0].kind == "heading" else None
        begins = self._headings.begins_chapter(text) or bool(self._chapter)
        return begins and follows is not None and not NUMBERED.match(follows.text)

    def _wait(self, text: str, kind: ParagraphKind) -> None:
        if self._open is None:
            self._builder.paragraph(text, kind)
        else:
            self._waiting.append((text, kind))

    def flush(self) -> None:
        """Ends the open paragraph, with what waited for its end."""
        if self._open is not None:
            self._builder.paragraph(self._open.text, self._open.kind, tight=self._open.tight)
        for text, kind in self._waiting:
            self._builder.paragraph(text, kind)
        self._open, self._waiting = None, []

    # -- text -----------------------------------------------------------------------------------

    def _text(self, block: Block, notes: set[str]) -> str:
        """The running text of a block; meant line ends stay."""
        text = ""
        for k, line in enumerate(block.lines):
            piece = _MARKED.sub(lambda m: _called(m[1], notes), line.text).strip()
            if not k:
                text = piece
            elif block.breaks[k]:
                text += "\n" + piece
            else:
                text = self._words.joined(text, piece, spaced=block.lines[k - 1].spaced)
        return text

    def _joined_lines(self, texts: Iterable[str], lines: Sequence[Line]) -> str:
        text = ""
        for k, piece in enumerate(texts):
            spaced = k > 0 and lines[k - 1].spaced
            text = self._words.joined(text, piece.strip(), spaced=spaced)
        return text


def _lists_references(title: str, later: Sequence[Block]) -> bool:
    """Whether a heading opens a bibliography: most of what follows names a year."""
    if not _REFERENCES.fullmatch(title):
        return False
    entries: list[Block] = []
    for block in later:
        if block.kind == "heading":
            break
        entries.append(block)
    dated = sum(bool(re.search(r"\b(?:1[89]|20)\d\d", b.text)) for b in entries)
    return dated > 1 and dated >= 0.5 * len(entries)


def _calls(blocks: Sequence[Block]) -> set[str]:
    """The marks that call the page's notes; what is raised again and again marks something else."""
    raised = Counter(
        part
        for block in blocks
        if block.kind != "note"
        for line in block.lines
        for found in _MARKED.finditer(line.text)
        for part in _parts(found[1])
    )
    return {b.mark for b in blocks if b.kind == "note" and raised[b.mark] <= 2}


def _parts(mark: str) -> list[str]:
    return [part for part in re.split(r"[,\s)]+", mark) if part]


def _called(mark: str, notes: set[str]) -> str:
    """A raised sign: the call of a note where there is one, else the sign itself."""
    parts = _parts(mark)
    if parts and all(part in notes for part in parts):
        return "".join(f"[^{part}]" for part in parts)
    return mark


def _code(lines: Sequence[Line]) -> str:
    """Lines as they are set: indents and wide gaps as spaces."""
    left = min(x.x0 for x in lines)
    widths = [(c.x1 - c.x0) / len(c.text) for x in lines for c in x.cells if len(c.text) > 3]
    width = sorted(widths)[len(widths) // 2] if widths else lines[0].size * 0.6
    written: list[str] = []
    for line in lines:
        text = ""
        for cell in line.cells:
            column = round((cell.x0 - left) / width) if width > 0 else len(text)
            text = text.ljust(max(column, len(text) + bool(text))) + plain(cell.text)
        written.append(text)
    return "\n".join(written)


def _table(lines: Sequence[Line]) -> str:
    """Rows with their cells under one another's columns; a line that only goes on joins its row."""
    columns = _columns(lines)
    rows: list[list[str]] = []
    for line in lines:
        row = [""] * len(columns)
        for cell in line.cells:
            place = _column_of(cell.x0, cell.x1, columns)
            row[place] = f"{row[place]} {plain(cell.text)}".strip()
        if rows and not row[0] and len(columns) > 1 and sum(map(bool, row)) == 1:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return "\n".join(" | ".join(_CELL.sub(" ", c) for c in row) for row in rows)


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """The columns' extents from left to right: cells that stand over one another share one."""
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted((c.x0, c.x1) for x in lines if len(x.cells) > 1 for c in x.cells):
        if columns and x0 < columns[-1][1] - 1:
            columns[-1] = columns[-1][0], max(columns[-1][1], x1)
        else:
            columns.append((x0, x1))
    return columns


def _column_of(x0: float, x1: float, columns: Sequence[tuple[float, float]]) -> int:
    return max(range(len(columns)), key=lambda k: min(x1, columns[k][1]) - max(x0, columns[k][0]))
