"""Text documents (ODT) as they read with all tracked changes accepted.

Read with lxml and not with odfpy, which builds its own tree of objects and was last changed in
2020. Blocks stand in their order; notes and text boxes follow the paragraph that holds them.
Comments, headers and footers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from reread.documents.archive import Element
from reread.documents.builder import TextBuilder
from reread.documents.opendocument import Package, attribute, number_of
from reread.documents.source import MEGABYTE, Source
from reread.documents.wordstyles import roman
from reread.errors import TooLarge
from reread.types import Document, ParagraphKind

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
_DROPPED = frozenset(
    "annotation annotation-end tracked-changes forms sequence-decls variable-decls"
    " user-field-decls dde-connection-decls hidden-text hidden-paragraph script event-listeners"
    " soft-page-break index-title-template alphabetical-index-auto-mark-file image-map"
    " table-of-content-source alphabetical-index-source illustration-index-source"
    " bibliography-source table-index-source object-index-source user-index-source".split()
)
_SHAPES = frozenset(
    "frame custom-shape rect ellipse circle line polyline polygon path connector caption g".split()
)
_KINDS: tuple[tuple[re.Pattern[str], ParagraphKind], ...] = (
    (re.compile(r"quotation|^quote"), "quote"),
    (re.compile(r"preformatted|source code|^code"), "code"),
    (re.compile(r"caption|^illustration$|^figure$|^drawing$"), "caption"),
    (re.compile(r"^contents \d|^index \d"), "list"),
)
_SPACES = re.compile(r"[ \t\r\n]+")
_LONGEST_TABLE_CELL = 900  # a longer cell holds prose, not data
_MOST_REPEATS = 100
_MOST_CELL_CHARS = 50 * MEGABYTE


def load(source: Source) -> Document:
    """The document of an ODT file.

    Raises:
        DamagedDocument: it is no archive, is locked, or its text cannot be read.
        TooLarge: it unpacks to far more than its size.
        EmptyDocument: it holds no text.
    """
    package = Package(source.data, source.origin, "text")
    reader = Reader(package, TextBuilder())
    reader.builder.part()
    reader.blocks(package.body)
    return reader.builder.build(
        title=package.title() or reader.title or source.stem,
        origin=source.origin,
        media_type=MEDIA_TYPE,
    )


@dataclass(slots=True)
class _Collected:
    """What one paragraph is made of: its text, and what is set after it."""

    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return re.sub(r" *([\n\t])[ \t]*", r"\1", re.sub(r" +", " ", self.verbatim)).strip()

    @property
    def verbatim(self) -> str:
        """The text with its spaces as they stand, for code."""
        return "".join(self.pieces).replace("\u00ad", "")


@dataclass(slots=True)
class _List:
    """An open list: its style, how deep it stands, and the numbers reached at each depth."""

    style: Element | None
    depth: int
    numbers: list[int]
    label: str = ""  # of the item that begins


class Reader:
    """Walks text content and hands its blocks to `builder`; `title` is what is styled as one."""

    def __init__(self, package: Package, builder: TextBuilder) -> None:
        self.builder = builder
        self.title: str | None = None
        self._package = package
        self._open = _Collected()
        self._list: _List | None = None
        self._ended: dict[str, list[int]] = {}  # the numbers of lists that others may go on with
        self._last: ParagraphKind = "text"
        self._notes = 0
        self._cell_chars = 0

    def begin(self) -> None:
        """Begins what stands apart from the blocks before."""
        self._last = "text"

    # -- blocks -----------------------------------------------------------------------------------

    def blocks(self, parent: Element) -> None:
        """Reads all blocks of an element."""
        for element in parent.iterchildren(etree.Element):
            self._block_of(element, str(element.tag))

    def _block_of(self, element: Element, tag: str) -> None:
        if tag in ("p", "h"):
            self._paragraph(element)
        elif tag == "list":
            self._read_list(element)
        elif tag == "table":
            self._table(element)
        elif tag in _SHAPES:
            self.shape(element)
        elif tag not in _DROPPED and not self._is_hidden(element, tag):
            self.blocks(element)

    def _is_hidden(self, element: Element, tag: str) -> bool:
        return tag == "section" and (
            attribute(element, "display") == "none"
            or self._package.hides("section", attribute(element, "style-name"))
        )

    def shape(self, element: Element) -> None:
        """Reads the text in a shape: that of a box within it, or paragraphs of its own."""
        for child in element.iterchildren(etree.Element):
            tag = str(child.tag)
            if tag == "text-box":
                self.blocks(child)
            elif tag in ("p", "h", "list", "table") or tag in _SHAPES:
                self._block_of(child, tag)

    def _paragraph(self, element: Element) -> None:
        collected = self.collect(element)
        chain = self._package.chain("paragraph", attribute(element, "style-name"))
        last = chain[-1].parent if chain else attribute(element, "style-name")
        names = [*(style.title.lower() for style in chain), last.replace("_20_", " ").lower()]
        text = collected.text
        if any(style.hides for style in chain):
            text = ""
        elif text and "title" in names:
            self.title = self.title or " ".join(text.split())
            self._heading(0, text)
        elif text and element.tag == "h":
            self._heading(number_of(element, "outline-level", 1, 10), text)
        elif text:
            kinds = (k for pattern, k in _KINDS if any(map(pattern.search, names)))
            kind: ParagraphKind = next(kinds, "text")
            self._block(collected.verbatim if kind == "code" else text, kind)
        self._after(collected)

    def _heading(self, level: int, text: str) -> None:
        label = self._list.label if self._list is not None else ""
        if self._list is not None:
            self._list.label = ""
        self._last = "heading"
        self.builder.heading(level, f"{label} {text}" if label not in ("", "-") else text)

    def _block(self, text: str, kind: ParagraphKind) -> None:
        """Adds a block; items of a list and lines of code follow each other closely."""
        indent = 0
        if self._list is not None:
            label, self._list.label = self._list.label, ""
            indent = 2 * self._list.depth
            kind = "list"
            text = f"{label} {text}" if label else text
        tight = kind == self._last and kind in ("list", "code")
        self.builder.paragraph(text, kind, tight=tight, indent=indent)
        self._last = kind

    def _after(self, collected: _Collected) -> None:
        """Adds the text boxes and the notes of a paragraph."""
        outer, self._list = self._list, None
        for box in collected.boxes:
            self._last = "text"
            self.shape(box)
        for name, note in collected.notes:
            said = [t for p in paragraphs_of(note) if (t := self.collect(p).text)]
            if said:
                self.builder.paragraph(f"[^{name}]: " + "\n".join(said), "note")
                self._last = "note"
        self._list = outer

    # -- lists ------------------------------------------------------------------------------------

    def _read_list(self, element: Element) -> None:
        outer = self._list
        named = attribute(element, "style-name")
        style = self._package.list_styles.get(named) if named else None
        if outer is None:
            numbers = self._numbers_before(element, named)
            self._list = _List(style, 0, numbers)
        else:
            numbers = [*outer.numbers[: outer.depth + 1], 0]
            self._list = _List(
                style if style is not None else outer.style, outer.depth + 1, numbers
            )
        here = self._list
        for item in element.iterchildren("list-item", "list-header"):
            here.label = self._label(here, item) if item.tag == "list-item" else ""
            self.blocks(item)
        if outer is None:
            for key in (attribute(element, "id"), f"style {named}"):
                self._ended[key] = here.numbers
        self._list = outer

    def _numbers_before(self, element: Element, named: str) -> list[int]:
        """The numbers a list begins with: those of the list that it goes on with."""
        before = attribute(element, "continue-list")
        if before in self._ended:
            return [*self._ended[before]]
        if attribute(element, "continue-numbering") == "true":
            return [*self._ended.get(f"style {named}", [0])]
        return [0]

    def _label(self, here: _List, item: Element) -> str:
        """What an item begins with: its number as its list writes it, or a dash."""
        level = _level_of(here.style, here.depth)
        if level is None or level.tag != "list-level-style-number":
            return "-"
        first = number_of(level, "start-value", 1, 1_000_000)
        given = number_of(item, "start-value", -1, 1_000_000)
        numbers = here.numbers
        at = here.depth
        numbers[at] = given if given >= 0 else (numbers[at] + 1 if numbers[at] else first)
        form = attribute(level, "num-format")
        if not form:
            return ""
        shown = number_of(level, "display-levels", 1, 10)
        parts = [
            _numeral(numbers[k], attribute(found, "num-format") or "1")
            for k in range(max(0, at + 1 - shown), at + 1)
            if (found := _level_of(here.style, k)) is not None
        ]
        return attribute(level, "num-prefix") + ".".join(parts) + attribute(level, "num-suffix")

    # -- tables -----------------------------------------------------------------------------------

    def _table(self, table: Element) -> None:
        outer, self._list = self._list, None
        rows = [list(_cells(row)) for row in rows_of(table)]
        if _is_layout(rows):
            for row in rows:
                for cell, _ in row:
                    self.blocks(cell)
        else:
            after = _Collected()
            lines = [" | ".join(self._row(row, after)).rstrip(" |") for row in rows]
            self._last = "table"
            self.builder.paragraph("\n".join(filter(None, lines)), "table")
            self._after(after)
        self._list = outer

    def _row(self, row: list[tuple[Element, int]], after: _Collected) -> Iterator[str]:
        for cell, times in row:
            said = []
            for paragraph in paragraphs_of(cell):
                collected = self.collect(paragraph)
                said.append(" ".join(collected.text.split()))
                after.notes += collected.notes
                after.boxes += collected.boxes
            text = " ".join(filter(None, said)) if cell.tag == "table-cell" else ""
            self._cell_chars += times * (len(text) + 3)
            if self._cell_chars > _MOST_CELL_CHARS:
                raise TooLarge("its tables repeat their cells beyond all measure")
            yield from [text] * times

    # -- running text -----------------------------------------------------------------------------

    def collect(self, element: Element) -> _Collected:
        """The text of a paragraph, and the notes and boxes it holds."""
        outer, self._open = self._open, _Collected()
        self._inline(element)
        collected, self._open = self._open, outer
        return collected

    def _inline(self, parent: Element) -> None:
        say = self._open.pieces.append
        say(_SPACES.sub(" ", parent.text or ""))
        for element in parent:
            if isinstance(element.tag, str):
                self._element(element, element.tag)
            say(_SPACES.sub(" ", element.tail or ""))

    def _element(self, element: Element, tag: str) -> None:
        say = self._open.pieces.append
        if tag == "s":
            say(" " * number_of(element, "c", 1, 100))
        elif tag == "tab":
            say("\t")
        elif tag == "line-break":
            say("\n")
        elif tag == "note":
            self._note(element)
        elif tag in _SHAPES:
            self._open.boxes.append(element)
        elif tag == "ruby-text":
            said = "".join(str(t) for t in element.itertext())
            say(f"({said})" if said else "")
        elif tag not in _DROPPED and not self._hides(element, tag):
            self._inline(element)

    def _hides(self, element: Element, tag: str) -> bool:
        return tag == "span" and self._package.hides("text", attribute(element, "style-name"))

    def _note(self, element: Element) -> None:
        """The number of a note in the text; the note itself follows its paragraph."""
        body = element.find("note-body")
        cited = element.find("note-citation")
        if body is None:
            return
        self._notes += 1
        said = " ".join("".join(map(str, cited.itertext())).split()) if cited is not None else ""
        name = said or str(self._notes)
        self._open.pieces.append(f"[^{name}]")
        self._open.notes.append((name, body))


def _level_of(style: Element | None, depth: int) -> Element | None:
    """How a list of this style marks its items at a depth, 0 the outermost."""
    for level in style.iterchildren(etree.Element) if style is not None else ():
        if attribute(level, "level") == str(depth + 1):
            return level
    return None


def _numeral(number: int, form: str) -> str:
    if form in ("i", "I") and 0 < number < 4000:
        said = roman(number)
        return said.upper() if form == "I" else said
    if form in ("a", "A") and number > 0:
        said = ""
        while number:
            number, letter = divmod(number - 1, 26)
            said = chr(ord(form) + letter) + said
        return said
    return str(number)


def rows_of(table: Element) -> Iterator[Element]:
    """The rows of a table, also those in groups and headers."""
    for element in table.iterchildren(etree.Element):
        if element.tag == "table-row":
            yield element
        elif element.tag in ("table-header-rows", "table-rows", "table-row-group"):
            yield from rows_of(element)


def paragraphs_of(holder: Element) -> Iterator[Element]:
    """The paragraphs of a cell or note, without those of notes, comments and boxes in it."""
    for element in holder.iterchildren(etree.Element):
        if element.tag in ("p", "h"):
            yield element
        elif element.tag not in _DROPPED and element.tag not in _SHAPES:
            yield from paragraphs_of(element)


def _cells(row: Element) -> Iterator[tuple[Element, int]]:
    """Cells and how many times each stands beside itself."""
    for cell in row.iterchildren("table-cell", "covered-table-cell"):
        yield cell, number_of(cell, "number-columns-repeated", 1, _MOST_REPEATS)


def _is_layout(rows: list[list[tuple[Element, int]]]) -> bool:
    """Whether a table arranges a page and holds no data."""
    cells = [cell for row in rows for cell, _ in row]
    if len(cells) == 1:
        return True
    return any(
        next(cell.iter("table"), None) is not None
        or sum(len(str(t)) for t in cell.itertext()) > _LONGEST_TABLE_CELL
        for cell in cells
    )
