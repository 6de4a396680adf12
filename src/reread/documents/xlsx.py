"""Workbooks (XLSX): the sheets a person sees, row by row, with the values as they are shown.

Read with lxml as a stream and not with openpyxl, which opens what it is given without limits,
does not apply number formats, and tells a hidden row only where it builds every cell. Formulas
show the values they had when the file was saved. Hidden sheets, rows and columns are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from reread.documents.archive import Archive, Damaged, Element
from reread.documents.builder import TextBuilder
from reread.documents.grid import Grid
from reread.documents.numberformats import BUILT_IN, shown
from reread.documents.opc import Package, id_of
from reread.documents.source import MEGABYTE, Source
from reread.errors import TooLarge
from reread.types import Document

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_EMPTY_CELL = r'<c r="[A-Z]{1,3}[0-9]{1,7}"[^<>/]{0,200}/>'
_EMPTY_ROW = rf'<row r="[0-9]{{1,7}}"[^<>/]{{0,300}}(?:/>|>(?:{_EMPTY_CELL})*+</row>)'
_EMPTY = re.compile(f"{_EMPTY_CELL}|{_EMPTY_ROW}".encode())
_MOST_COLUMNS = 16_384
_MOST_EMPTY = 2_000_000  # cells that hold nothing and are written as no program writes them
_MOST_STRING_CHARS = 100 * MEGABYTE
_NUMERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")


def load(source: Source) -> Document:
    """The document of a workbook; its parts are the sheets.

    Raises:
        DamagedDocument: it is no archive, is locked, or its list of sheets cannot be read.
        TooLarge: it unpacks to far more than its size, or shows more than any document should.
        EmptyDocument: no sheet that is shown holds anything.
    """
    package = Package(Archive(source.data, source.origin), source.origin)
    name, workbook = package.main("xl/workbook.xml")
    relations = package.relations(name)
    builder = TextBuilder()
    book = _Book(package, {r.kind: r.target for r in relations.values()}, workbook, builder)
    for sheet in workbook.iter("sheet"):
        called = f"sheet {' '.join(sheet.get('name', '?').split())}"
        found = relations.get(id_of(sheet))
        if sheet.get("state", "visible") != "visible":
            builder.left_out(called, "hidden")
        elif found is None:
            builder.failed(called, "it is not in the file")
        elif found.kind == "worksheet":
            _Sheet(book, called, source.origin).read(found.target)
        else:
            builder.without_text(called)  # a chart on a sheet of its own
    return builder.build(
        title=package.title() or source.stem, origin=source.origin, media_type=MEDIA_TYPE
    )


class _Book:
    """What all sheets share: strings, number formats, the beginning of time."""

    def __init__(
        self, package: Package, parts: dict[str, str], workbook: Element, builder: TextBuilder
    ) -> None:
        self.archive = package.archive
        self.builder = builder
        properties = workbook.find("workbookPr")
        self.from_1904 = properties is not None and _is_on(properties.get("date1904"))
        self.strings: list[str] = []
        name = parts.get("sharedStrings", "xl/sharedStrings.xml")
        if package.has(name):
            try:
                _stream(self.archive, name, _Strings(self.strings))
            except Damaged as error:
                builder.failed(name, str(error))
        self._formats = list(_formats(package.optional(parts.get("styles", "xl/styles.xml"))))

    def format_of(self, style: str | None) -> str:
        """The number format of a cell's style."""
        at = int(style) if style and style.isdecimal() and len(style) < 7 else 0
        return self._formats[at] if at < len(self._formats) else "General"


def _formats(styles: Element | None) -> Iterator[str]:
    """The number format of each style a cell may have."""
    if styles is None:
        return
    own = {f.get("numFmtId"): f.get("formatCode", "General") for f in styles.iter("numFmt")}
    for style in styles.iterfind("cellXfs/xf"):
        number = style.get("numFmtId", "0")
        usual = BUILT_IN.get(int(number), "General") if number.isdecimal() else "General"
        yield own.get(number, usual)


def _is_on(value: str | None) -> bool:
    return value in ("1", "true", "on")


# -- streams of XML -------------------------------------------------------------------------------


class _Target:
    """Takes the events of a parser; text is kept only while `_text` is open."""

    def __init__(self) -> None:
        self._text: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Takes an element's start; overridden with what it means."""

    def end(self, tag: str) -> None:
        """Takes an element's end; overridden with what it means."""

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def doctype(self, *declared: str | None) -> None:
        raise Damaged("it declares a document type, which no workbook does")

    def close(self) -> None:
        """Takes the end of the stream."""


def _stream(archive: Archive, name: str, target: _Target) -> None:
    """Hands a part's XML to `target` piece by piece: nothing is kept of it.

    Raises:
        Damaged: it is missing or broken.
    """
    events: Any = target  # the stubs also ask for bytes, which no parser gives
    parser = etree.XMLParser(
        target=events, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        for piece in _without_empty(archive.stream(archive.spelled(name))):
            parser.feed(piece)
        parser.close()
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Damaged(f"its XML is broken ({error})") from error


def _without_empty(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The stream without cells and rows that only carry a style: sheets may hold millions."""
    rest = b""
    for piece in pieces:
        rest = _EMPTY.sub(b"", rest + piece)
        at = rest.rfind(b"<")
        if at > 0:  # a tag may go on in the next piece
            yield rest[:at]
            rest = rest[at:]
    yield rest


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


class _Strings(_Target):
    """Collects the shared strings, without the readings printed above them."""

    def __init__(self, into: list[str]) -> None:
        super().__init__()
        self._into = into
        self._said: list[str] = []
        self._reading = 0
        self._chars = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _local(tag)
        self._reading += name == "rPh"
        if name == "si":
            self._said = []
        elif name == "t" and not self._reading:
            self._text = self._said

    def end(self, tag: str) -> None:
        name = _local(tag)
        self._reading -= name == "rPh"
        if name == "t":
            self._text = None
        elif name == "si":
            self._into.append("".join(self._said))
            self._chars += len(self._into[-1])
            if self._chars > _MOST_STRING_CHARS:
                raise TooLarge("the workbook holds too much text", hint="Divide it first")


class _Sheet(_Target):
    """Reads one sheet into the document."""

    def __init__(self, book: _Book, called: str, origin: str) -> None:
        super().__init__()
        self._book = book
        self._called = called
        self._grid = Grid(book.builder, called, origin)
        self._row = self._column = 0
        self._cells: dict[int, str] = {}
        self._cell: dict[str, str] = {}
        self._said: list[str] = []
        self._formula = self._skipped = False
        self._reading = 0
        self._hidden_rows = self._uncomputed = self._empty = 0
        self._hidden_columns: set[int] = set()
        self._left_columns: set[int] = set()
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {
            "row": self._begin_row,
            "c": self._begin_cell,
            "col": self._column_format,
        }

    def read(self, name: str) -> None:
        """Reads the part and notes what it holds."""
        fault = None
        try:
            _stream(self._book.archive, name, self)
        except Damaged as error:
            fault = str(error)
        self._grid.close()
        builder = self._book.builder
        if fault is not None:
            came = "" if self._grid.is_empty else "; what came before was read"
            builder.failed(self._called, f"{fault}{came}")
        elif self._grid.is_empty and not self._uncomputed:
            builder.blank(self._called)
        elif not self._grid.is_empty:
            builder.part()
        self._note_omissions(builder)

    def _note_omissions(self, builder: TextBuilder) -> None:
        if self._hidden_rows:
            builder.left_out(f"{self._called}: rows ({self._hidden_rows})", "hidden")
        if self._left_columns:
            builder.left_out(f"{self._called}: columns ({len(self._left_columns)})", "hidden")
        if self._uncomputed:
            builder.failed(
                f"{self._called}: formulas ({self._uncomputed})",
                "their values were never computed; open the file in a spreadsheet and save it",
            )

    # -- events -----------------------------------------------------------------------------------

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _local(tag)
        begin = self._starts.get(name)
        if begin:
            begin(attributes)
        elif name in ("v", "t"):
            self._text = None if self._reading else self._said
        elif name == "f":
            self._formula = True
        self._reading += name == "rPh"

    def end(self, tag: str) -> None:
        name = _local(tag)
        self._reading -= name == "rPh"
        if name in ("v", "t"):
            self._text = None
        elif name == "c":
            self._end_cell()
        elif name == "row" and self._cells:
            self._end_row()

    def _column_format(self, attributes: dict[str, str]) -> None:
        if _is_on(attributes.get("hidden")):
            first, last = _whole(attributes.get("min")), _whole(attributes.get("max"))
            self._hidden_columns.update(range(first, min(last, _MOST_COLUMNS) + 1))

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._row = _whole(attributes.get("r")) or self._row + 1
        self._column = 0
        self._cells = {}
        self._skipped = _is_on(attributes.get("hidden"))

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        match = _CELL.fullmatch(attributes.get("r", ""))
        self._column = min(_column(match[1]) if match else self._column + 1, _MOST_COLUMNS)
        self._cell, self._said, self._formula = dict(attributes), [], False

    def _end_cell(self) -> None:
        said = "".join(self._said)
        self._empty += not said
        if self._empty > _MOST_EMPTY:
            raise TooLarge(f"{self._called} holds millions of empty cells", hint="Save it again")
        if self._formula and not said and self._cell.get("t") != "str" and not self._skipped:
            self._uncomputed += 1
        text = self._shown(said) if said else ""
        if text and self._column in self._hidden_columns:
            self._left_columns.add(self._column)
        elif text:
            self._cells[self._column] = text

    def _end_row(self) -> None:
        if self._skipped:
            self._hidden_rows += 1
            self._grid.skip(self._row)
            return
        if self._grid.is_empty:
            self._book.builder.at(self._called)
            # As a paragraph: its name begins the locators already.
            self._book.builder.paragraph(self._called.removeprefix("sheet "), "heading")
        self._grid.row(self._row, self._cells)

    def _shown(self, said: str) -> str:
        """What the cell shows of its value."""
        kind = self._cell.get("t", "n")
        if kind == "s":
            strings, at = self._book.strings, _whole(said, -1)
            return strings[at] if 0 <= at < len(strings) else ""
        if kind == "b":
            return "FALSE" if said.strip() == "0" else "TRUE"
        if kind == "d":
            return said.removesuffix("T00:00:00")
        if kind != "n" or not _NUMERAL.fullmatch(said.strip()):
            return said
        code = self._book.format_of(self._cell.get("s"))
        return shown(float(said), code, from_1904=self._book.from_1904)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _whole(value: str | None, default: int = 0) -> int:
    said = (value or "").strip()
    return int(said) if said.isdecimal() and len(said) < 8 else default
