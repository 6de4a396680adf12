"""Rows of a sheet as tables: cells parted by bars, located by the number of their row.

An empty row ends a table. Only columns that hold something are shown. A long table is cut, and
where its first row names the columns, each piece begins with it: a row far below would otherwise
say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reread.documents.builder import LONGEST_BLOCK_WORDS, TextBuilder
from reread.documents.source import MEGABYTE
from reread.errors import TooLarge
from reread.text import count_words

_MOST_CHARS = 50 * MEGABYTE  # small files may show a string of theirs any number of times
_NUMBER = re.compile(r"[^\w]*\d[\d.,:/ %-]*[^\w]*")
_LONGEST_HEADER_WORDS = 80

Row = tuple[int, Mapping[int, str]]


class Grid:
    """Collects the rows of one sheet and adds them to a document; `place` names the sheet."""

    def __init__(self, builder: TextBuilder, place: str | None, origin: str) -> None:
        self._builder = builder
        self._place = place
        self._origin = origin
        self._rows: list[Row] = []
        self._last = 0
        self._chars = 0
        self.is_empty = True

    def row(self, number: int, cells: Mapping[int, str]) -> None:
        """Adds a row: its number counted from 1, and the texts of its cells by their column."""
        self._chars += sum(map(len, cells.values()))
        if self._chars > _MOST_CHARS:
            raise TooLarge(
                f"the tables of {self._origin} hold more than {_MOST_CHARS / 1e6:g} MB of text",
                hint="Divide it first",
            )
        shown = {k: said for k, text in cells.items() if (said := " ".join(text.split()))}
        if not shown:
            return
        self.is_empty = False
        if number > self._last + 1:
            self.close()
        self._last = number
        self._rows.append((number, shown))

    def skip(self, number: int) -> None:
        """Passes a row that is hidden, which ends no table."""
        if number == self._last + 1:
            self._last = number

    def close(self) -> None:
        """Ends the table that is open."""
        rows, self._rows = self._rows, []
        heads = 0  # rows of one cell above a table are what it is called
        while heads < len(rows) and len(rows[heads][1]) == 1:
            heads += 1
        if heads == len(rows) > 1:  # a column of texts
            heads = 0
        for number, cells in rows[:heads]:
            self._at(number)
            self._builder.paragraph(next(iter(cells.values())))
        self._table(rows[heads:])

    def _table(self, rows: list[Row]) -> None:
        if not rows:
            return
        columns = sorted({k for _, cells in rows for k in cells})
        header = _header(rows, columns)
        most = LONGEST_BLOCK_WORDS - count_words(header or "")
        opened, lines, words = 0, list[str](), 0
        for number, cells in rows:
            line = " | ".join(cells.get(k, "") for k in columns).rstrip(" |")
            size = count_words(line)
            if lines and words + size > most:
                self._piece(opened, lines)
                lines, words = [header] if header else [], 0
            if not words:
                opened = number
            lines.append(line)
            words += size
        self._piece(opened, lines)

    def _piece(self, number: int, lines: list[str]) -> None:
        if lines:
            self._at(number)
            self._builder.paragraph("\n".join(lines), "table")

    def _at(self, number: int) -> None:
        self._builder.at(f"{self._place} › row {number}" if self._place else f"row {number}")


def _header(rows: list[Row], columns: list[int]) -> str | None:
    """The first row where it names the columns: texts, no two alike, above rows of other things."""
    if len(rows) < 3 or len(columns) < 2:
        return None
    names = list(rows[0][1].values())
    if len(names) < 0.7 * len(columns) or len(set(names)) < len(names):
        return None
    line = " | ".join(rows[0][1].get(k, "") for k in columns).rstrip(" |")
    if any(map(_NUMBER.fullmatch, names)) or count_words(line) > _LONGEST_HEADER_WORDS:
        return None
    return line
