"""Blocks of all pages written into one document, across columns and pages.

A paragraph that is cut by the end of a column is held back until its rest is found; what stands
between (figures, tables) follows it. Notes follow their page's text or their chapter's (`notes`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from reread.documents.builder import TextBuilder
from reread.documents.pdf.blocks import Block, note_body, plain
from reread.documents.pdf.contents import Places, entry_text, without_leaders
from reread.documents.pdf.headings import NUMBERED, Headings
from reread.documents.pdf.hyphens import Vocabulary
from reread.documents.pdf.lines import END_MARK, MARK, Line
from reread.documents.pdf.notes import Chapters, Piece
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


class Writer:
    """Writes pages into a builder, in order."""

    def __init__(
        self,
        builder: TextBuilder,
        headings: Headings,
        chapters: Chapters,
        places: Places,
        words: Vocabulary,
    ) -> None:
        self._builder = builder
        self._headings = headings
        self._places = places
        self._chapters = chapters
        self._words = words
        self._open: Piece | None = None  # a paragraph that may go on in the next column
        self._last: Line | None = None  # its last line so far
        self._ends = False  # whether it is known to be whole
        self._turned = False  # whether the page was turned since
        self._waiting: list[Piece] = []  # what follows the open paragraph
        self._foot: list[Block] = []  # notes of the page that were not called yet
        self._notes: list[Piece] = []  # notes of the page, or of the chapter so far
        self._calls: set[str] = set()  # the marks that call the page's notes
        self._numbers_lead = False  # whether numbers in the page's contents name pages
        self._announced = ""  # the upper part of a heading
        self._in_references = False
        self.references: list[str] = []

    def page(self, page: PdfPage, blocks: Sequence[Block], place: str) -> None:
        """Adds a page's blocks; `place` begins the locators of what begins on it."""
        text = [block for block in blocks if block.kind != "note"]
        self._builder.part(place)
        self._turned = True
        if self._chapters.starts(page.index) and not self._shows_chapter(text, page.index):
            self.end_chapter()
        self._foot = [block for block in blocks if block.kind == "note"]
        self._calls = _calls(blocks)
        entries = [block.text for block in text if block.entry]
        self._numbers_lead = self._places.lead(entries)
        if self._notes and self._foot and not self._foot[0].mark:
            self._note(self._foot.pop(0))  # the rest of one that began on the page before
        first = self._goes_on(text)
        if first is not None:
            self._resume(text.pop(first))
        if first is None or text:
            self.flush()
        for k, block in enumerate(text):
            self._add(block, page, text[k + 1 :])
        if page.across:
            self._wait(page.across, "text")
        for block in self._foot:
            self._note(block)
        if not self._chapters.collect(page.index):
            self._release_notes()

    def end_chapter(self) -> None:
        """Ends the open paragraph and writes the notes that waited for the chapter's end."""
        self.flush()
        self._release_notes()

    def _release_notes(self) -> None:
        for note in self._notes:
            self._later(note)
        self._notes = []

    def _shows_chapter(self, blocks: Sequence[Block], index: int) -> bool:
        """Whether the heading that opens a chapter is among the page's blocks."""
        return any(b.kind == "heading" and self._opens_chapter(b.text, index) for b in blocks)

    def _opens_chapter(self, heading: str, index: int) -> bool:
        entry = self._headings.entry(heading, index)
        return entry is not None and entry.level <= self._chapters.level

    def _goes_on(self, blocks: Sequence[Block]) -> int | None:
        """The block with which the open paragraph goes on, None where none does."""
        for k, block in enumerate(blocks[:4]):
            if block.kind not in ("table", "caption"):
                return k if self._continues(block) else None
        return None

    def _continues(self, block: Block) -> bool:
        """Whether a block is the rest of the open paragraph."""
        if self._open is None or self._last is None or len(self._open.text) > _LONGEST:
            return False
        if self._ends or _FINISHED.search(self._open.text[-20:]):
            return False
        if block.kind != "text" or block.lines[0].mono or _begins_anew(block, self._last):
            return False
        if abs(block.size - self._last.size) > 0.05 * block.size:
            return False
        first = block.text.lstrip("“\"'(")[:1]
        if first.islower():
            return True
        below = not self._turned and block.lines[0].region == self._last.region
        if below and (first.isupper() or not first.isalpha()):
            return False  # within a column there was a reason to begin anew
        return self._last.x1 > self._last.right - 2 * self._last.size

    def _resume(self, block: Block) -> None:
        if self._open is not None and self._last is not None:
            rest = self._text(block)
            self._open.text = self._words.joined(self._open.text, rest, spaced=self._last.spaced)
            self._last, self._turned = block.lines[-1], False

    # -- blocks ---------------------------------------------------------------------------------

    def _add(self, block: Block, page: PdfPage, later: Sequence[Block]) -> None:
        if self._in_references and block.kind in ("text", "list"):
            self._reference(block)
        elif block.kind == "heading":
            self._heading(block, page, later)
        elif block.kind == "table":
            self._wait(_table(block.lines), "table")
        elif block.kind == "code":
            self.flush()
            self._builder.paragraph(_code(block.lines), "code")
        elif self._continues(block):
            self._resume(block)
        elif block.kind == "caption":
            self._wait(self._text(block), "caption")
        else:
            self.flush()
            self._begin(block)

    def _begin(self, block: Block) -> None:
        text = self._text(block)
        if block.entry:
            text = entry_text(text, numbered=not self._numbers_lead)
        elif block.kind == "list":
            text = without_leaders(text)
        self._open = self._piece(text, block.kind)
        self._ends = block.entry
        self._open.tight = block.tight and block.kind == "list"
        self._last, self._turned = block.lines[-1], False

    def _heading(self, block: Block, page: PdfPage, later: Sequence[Block]) -> None:
        self.flush()
        text = self._joined_lines([plain(x.text) for x in block.lines], block.lines)
        self._in_references = _lists_references(text, later)
        if self._in_references:
            return
        level = self._headings.level(text, block.lines, page.index)
        if self._announces(text, later) and (self._headings.begins_chapter(text) or not level):
            self._announced = f"{self._announced} {text}".strip()
            return
        if self._opens_chapter(text, page.index):
            self._release_notes()
        text = f"{self._announced} {text}".strip()
        if level:
            self._builder.heading(level, text)
        else:
            self._builder.paragraph(text, "heading")
        self._announced = ""

    def _reference(self, block: Block) -> None:
        """An entry of the bibliography; one that begins indented goes on from the column before."""
        text = self._text(block, calling=False).replace("\n", " ")
        if block.indented and self.references:
            self.references[-1] = self._words.joined(self.references[-1], text)
        else:
            self.references.append(text)

    def _announces(self, text: str, later: Sequence[Block]) -> bool:
        """Whether a heading is only the upper part of the one that follows ("Chapter", "Five")."""
        follows = later[0] if later and later[0].kind == "heading" else None
        begins = self._headings.begins_chapter(text) or bool(self._announced)
        return begins and follows is not None and not NUMBERED.match(follows.text)

    def _note(self, block: Block) -> None:
        """Takes a note of the page; what has no mark goes on an unfinished one."""
        text = self._joined_lines(note_body(block), block.lines)
        if block.mark:
            text = f"[^{block.mark}]: {text}"
        elif self._notes and not _FINISHED.search(self._notes[-1].text[-20:]):
            self._notes[-1].text = self._words.joined(self._notes[-1].text, text)
            return
        self._notes.append(self._piece(text, "note"))

    def _piece(self, text: str, kind: ParagraphKind) -> Piece:
        return Piece(text, kind, self._builder.place, self._builder.path)

    def _wait(self, text: str, kind: ParagraphKind) -> None:
        self._later(self._piece(text, kind))

    def _later(self, piece: Piece) -> None:
        """Writes a piece after the open paragraph, at once where there is none."""
        if self._open is None:
            piece.write(self._builder)
        else:
            self._waiting.append(piece)

    def flush(self) -> None:
        """Ends the open paragraph, with what waited for its end."""
        if self._open is not None:
            self._open.write(self._builder)
        for piece in self._waiting:
            piece.write(self._builder)
        self._open, self._last, self._waiting = None, None, []

    # -- text -----------------------------------------------------------------------------------

    def _text(self, block: Block, *, calling: bool = True) -> str:
        """The running text of a block; meant line ends stay."""
        text = ""
        for k, line in enumerate(block.lines):
            piece = _MARKED.sub(self._called, line.text) if calling else plain(line.text)
            piece = piece.strip()
            if not k:
                text = piece
            elif block.breaks[k]:
                text += "\n" + piece
            else:
                text = self._words.joined(text, piece, spaced=block.lines[k - 1].spaced)
        return text

    def _called(self, found: re.Match[str]) -> str:
        """A raised sign: the call of a note where there is one, else the sign itself."""
        parts = _parts(found[1])
        if not parts or not all(part in self._calls for part in parts):
            return found[1]
        called = [k for k, block in enumerate(self._foot) if block.mark in parts]
        for _ in range(called[-1] + 1 if called else 0):
            self._note(self._foot.pop(0))  # with those before, whose calls were not seen
        return "".join(f"[^{part}]" for part in parts)

    def _joined_lines(self, texts: Iterable[str], lines: Sequence[Line]) -> str:
        text = ""
        for k, piece in enumerate(texts):
            spaced = k > 0 and lines[k - 1].spaced
            text = self._words.joined(text, piece.strip(), spaced=spaced)
        return text


def _begins_anew(block: Block, last: Line) -> bool:
    """Whether a block is indented as first lines are: farther in than the line it may go on."""
    line = block.lines[0]
    if not block.indented:
        return False
    shift, inner = line.x0 - last.x0, (line.x0 - line.left) - (last.x0 - last.left)
    return min(abs(shift), abs(inner)) > 0.7 * line.size


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
