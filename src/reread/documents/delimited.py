"""Tables as text (CSV, TSV): rows whose cells are parted by one character, found from the text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode
from reread.documents.grid import Grid
from reread.documents.source import Source
from reread.errors import DamagedDocument
from reread.types import Document

MEDIA_TYPE = "text/csv"
_SEPARATORS = ",;\t|"
_SAMPLE_LINES = 50
_SAMPLE_CHARS = 100_000


def load(source: Source) -> Document:
    """The document of a table; locators are the numbers of its rows.

    Raises:
        DamagedDocument: a cell is longer than any should be: a quotation mark never ends.
        EmptyDocument: no cell holds anything.
    """
    text = decode(source.data, source.charset)
    builder = TextBuilder()
    grid = Grid(builder, None, source.origin)
    tabs = source.media_type == "text/tab-separated-values"
    try:
        for number, cells in enumerate(_rows(text, "\t" if tabs else separator(text)), 1):
            grid.row(number, dict(enumerate(cells)))
    except csv.Error as error:
        raise DamagedDocument(
            f"the table of {source.origin} cannot be read: {error}",
            hint="Look for a quotation mark that never ends",
        ) from error
    grid.close()
    return builder.build(
        title=source.stem, origin=source.origin, media_type=source.media_type or MEDIA_TYPE
    )


def _rows(text: str, by: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=by)


def separator(text: str) -> str:
    """The character that parts the cells: the one that cuts most rows into equally many."""
    sample = "\n".join(text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES])

    def score(by: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in _rows(sample, by) if row]
        except csv.Error:
            return 0.0, 0
        usual, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
        return (count / len(widths), usual) if usual > 1 else (0.0, 0)

    return max(_SEPARATORS, key=score)
