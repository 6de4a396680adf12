"""What an RTF file says while it is read: paragraphs, rows of tables, notes and boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reread.documents.builder import TextBuilder
from reread.types import ParagraphKind

_BULLETS = re.compile(r"[^\w(\[]{1,3}|o")
_LABEL_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Form:
    """How a paragraph is set: its level as a heading (0 the title), its list, its table."""

    level: int | None = None
    kind: ParagraphKind = "text"
    depth: int = 0
    in_table: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A finished paragraph or table."""

    text: str
    kind: ParagraphKind = "text"
    level: int | None = None
    depth: int = 0


@dataclass(slots=True)
class Flow:
    """One run of text with its own paragraphs: the document, a note, or a text box."""

    blocks: list[Block] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _label: str = ""
    _after: list[Block] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Adds running text."""
        self._pieces.append(text)

    @property
    def mark(self) -> int:
        """Where the running text stands, for what is put there later."""
        return len(self._pieces)

    def put(self, mark: int, text: str) -> None:
        """Puts text where the mark was taken."""
        self._pieces.insert(mark, text)

    def label(self, text: str) -> None:
        """Takes the number or sign that the paragraph's list shows before it."""
        said = _LABEL_SPACES.sub(" ", text).strip()
        self._label = "-" if said and _BULLETS.fullmatch(said) else said

    def follow(self, blocks: list[Block]) -> None:
        """Adds blocks that are set after the paragraph: a note, the text of a box."""
        self._after += blocks

    def end_paragraph(self, form: Form) -> None:
        """Ends a paragraph; one in a table goes on with its cell."""
        text, label = self._taken(), self._label
        self._label = ""
        if form.in_table:
            self._cell.append(" ".join(f"{label} {text}".split()))
            return
        self._end_table()
        text = text if form.kind == "code" else text.strip()
        if text.strip() and form.level is not None:
            said = f"{label} {text}" if label not in ("", "-") else text
            self.blocks.append(Block(said.strip(), "heading", form.level))
        elif text.strip() and label:
            self.blocks.append(Block(f"{label} {text}", "list", None, form.depth))
        elif text.strip():
            self.blocks.append(Block(text, form.kind))
        self._set_after()

    def end_cell(self) -> None:
        """Ends a cell with what was said since the last one."""
        self.end_paragraph(Form(in_table=True))
        self._cells.append(" ".join(filter(None, self._cell)))
        self._cell = []

    def end_row(self) -> None:
        """Ends a row of the cells before it."""
        if self._cells:
            self._rows.append(self._cells)
        self._cells = []

    def end(self, form: Form) -> None:
        """Ends everything that is open."""
        if form.in_table and (self._pieces or self._cell):
            self.end_cell()
        self.end_row()
        self.end_paragraph(Form(level=form.level, kind=form.kind, depth=form.depth))

    def _taken(self) -> str:
        # Characters beyond the first plane come as two halves.
        said = "".join(self._pieces).encode("utf-16-le", "surrogatepass")
        self._pieces = []
        return said.decode("utf-16-le", "replace").replace("\u00ad", "")

    def _end_table(self) -> None:
        if self._cells:
            self.end_row()
        rows, self._rows = self._rows, []
        if rows and all(len(row) == 1 for row in rows):  # arranges the page, holds no data
            self.blocks += (Block(row[0]) for row in rows if row[0])
        elif rows:
            lines = (" | ".join(row).rstrip(" |") for row in rows)
            self.blocks.append(Block("\n".join(filter(None, lines)), "table"))
        if rows:
            self._set_after()

    def _set_after(self) -> None:
        self.blocks += self._after
        self._after = []


def add(blocks: list[Block], builder: TextBuilder) -> None:
    """Adds blocks to a document; items of a list and lines of code follow each other closely."""
    last: ParagraphKind = "heading"
    for block in blocks:
        if block.kind == "heading":
            builder.heading(block.level or 0, block.text)
        else:
            tight = block.kind == last and block.kind in ("list", "code")
            indent = 2 * block.depth if tight else 0
            builder.paragraph(block.text, block.kind, tight=tight, indent=indent)
        last = block.kind
