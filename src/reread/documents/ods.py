"""Workbooks (ODS): the sheets a person sees, row by row, with the texts that their cells show.

Rows and cells that are repeated are kept as one: a sheet of a million empty rows costs nothing.
Hidden sheets, rows and columns are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from reread.documents.archive import Element
from reread.documents.builder import TextBuilder
from reread.documents.grid import Grid
from reread.documents.odt import Reader, paragraphs_of, rows_of
from reread.documents.opendocument import Package, attribute, number_of
from reread.documents.source import Source
from reread.types import Document

MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_MOST_REPEATS = 1_000  # of a cell or row that holds something
_VALUES = ("value", "date-value", "time-value", "boolean-value", "string-value")


def load(source: Source) -> Document:
    """The document of an ODS file; its parts are the sheets.

    Raises:
        DamagedDocument: it is no archive, is locked, or its content cannot be read.
        TooLarge: it unpacks to far more than its size, or shows more than any document should.
        EmptyDocument: no sheet that is shown holds anything.
    """
    package = Package(source.data, source.origin, "spreadsheet")
    builder = TextBuilder()
    reader = Reader(package, builder)
    for table in package.body.iterchildren("table"):
        called = f"sheet {' '.join(attribute(table, 'name', '?').split())}"
        if package.hides("table", attribute(table, "style-name")):
            builder.left_out(called, "hidden")
        else:
            _Sheet(reader, called, source.origin).read(table)
    return builder.build(
        title=package.title() or source.stem, origin=source.origin, media_type=MEDIA_TYPE
    )


class _Sheet:
    """Reads one sheet into the document."""

    def __init__(self, reader: Reader, called: str, origin: str) -> None:
        self._reader = reader
        self._builder = reader.builder
        self._called = called
        self._grid = Grid(reader.builder, called, origin)
        self._hidden_rows = 0

    def read(self, table: Element) -> None:
        """Reads the rows and notes what is left out."""
        hidden = _hidden_columns(table)
        left: set[int] = set()
        number = 1
        for row in rows_of(table):
            times = number_of(row, "number-rows-repeated", 1, _MOST_ROWS)
            cells = dict(self._cells(row))
            left |= hidden & cells.keys()
            cells = {k: text for k, text in cells.items() if k not in hidden}
            if attribute(row, "visibility") in ("collapse", "filter"):
                self._hidden_rows += times if cells else 0
                for k in range(min(times, _MOST_REPEATS)):
                    self._grid.skip(number + k)
            elif cells:
                self._add(number, min(times, _MOST_REPEATS), cells)
            number += times
        self._grid.close()
        self._note(left)

    def _add(self, number: int, times: int, cells: dict[int, str]) -> None:
        if self._grid.is_empty:
            self._builder.at(self._called)
            self._builder.paragraph(self._called.removeprefix("sheet "), "heading")
        for k in range(times):
            self._grid.row(number + k, cells)

    def _note(self, left: set[int]) -> None:
        if self._grid.is_empty:
            self._builder.blank(self._called)
        else:
            self._builder.part()
        if self._hidden_rows:
            self._builder.left_out(f"{self._called}: rows ({self._hidden_rows})", "hidden")
        if left:
            self._builder.left_out(f"{self._called}: columns ({len(left)})", "hidden")

    def _cells(self, row: Element) -> Iterator[tuple[int, str]]:
        column = 1
        for cell in row.iterchildren("table-cell", "covered-table-cell"):
            times = number_of(cell, "number-columns-repeated", 1, _MOST_COLUMNS)
            text = self._text(cell) if cell.tag == "table-cell" else ""
            if text:
                for k in range(min(times, _MOST_REPEATS)):
                    yield column + k, text
            column += times

    def _text(self, cell: Element) -> str:
        said = " ".join(t for p in paragraphs_of(cell) if (t := self._reader.collect(p).text))
        # Programs may write the value alone and leave its text to whoever shows it.
        return said or next((v for name in _VALUES if (v := attribute(cell, name))), "")


def _hidden_columns(table: Element) -> set[int]:
    hidden: set[int] = set()
    at = 1
    for column in table.iter("table-column"):
        times = number_of(column, "number-columns-repeated", 1, _MOST_COLUMNS)
        if attribute(column, "visibility") in ("collapse", "filter"):
            hidden.update(range(at, min(at + times, _MOST_COLUMNS + 1)))
        at += times
    return hidden
