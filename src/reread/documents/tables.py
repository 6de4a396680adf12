"""Tables of HTML pages as lines of text: a line a row, cells parted by bars.

Columns keep their place: what a cell spans beyond its own stays empty.
"""

from __future__ import annotations

from lxml import etree

Element = etree._Element

_LAYOUT_CELL_CHARS = 900  # a longer cell holds prose, not data


class Table:
    """The rows of one table while it is walked. Tables within its cells are text of the cell."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.captions: list[str] = []
        self._rows: list[list[str]] = []
        self._spanned: dict[int, int] = {}  # column: rows below that a cell above still covers
        self._outside = ""

    def owns(self, element: Element) -> bool:
        """Whether a row or cell is of this table and not of one inside it."""
        for parent in element.iterancestors():
            if parent is self.element:
                return True
            if is_table(parent):
                return False
        return False

    def begin_row(self) -> None:
        self._rows.append([])

    def cell(self, element: Element, text: str) -> None:
        """Adds a cell; what it spans stays empty, so that columns keep their place."""
        if not self._rows:
            self._rows.append([])
        row = self._rows[-1]
        self._skip_covered(row)
        down = _span(element, "rowspan")
        for k in range(_span(element, "colspan")):
            row.append(" ".join(text.split()) if k == 0 else "")
            if down > 1:
                self._spanned[len(row) - 1] = down - 1

    def _skip_covered(self, row: list[str]) -> None:
        while self._spanned.get(len(row)):
            self._spanned[len(row)] -= 1
            row.append("")

    def text_outside(self, text: str) -> None:
        """Takes text that stands in the table but in no cell."""
        self._outside = text

    def rendered(self) -> str:
        """One line a row, cells parted by bars."""
        lines = [self._outside] if self._outside else []
        for row in self._rows:
            while row and not row[-1]:
                row.pop()
            if row:
                lines.append(" | ".join(row))
        return "\n".join(lines)


def _span(element: Element, name: str) -> int:
    value = element.get(name, "1").strip()
    return min(max(int(value), 1), 100) if value.isdecimal() and len(value) < 9 else 1


def is_table(element: Element) -> bool:
    """Whether the element is a table, as a tag or as LaTeXML's class."""
    return element.tag == "table" or "ltx_tabular" in element.get("class", "").split()


def is_layout(table: Element) -> bool:
    """Whether a table arranges a page and holds no data."""
    arranging = table.iterdescendants("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre")
    if next(arranging, None) is not None:
        return True
    cells: list[Element] = list(table.iterdescendants("td", "th"))
    return len(cells) == 1 or any(
        sum(len(str(piece)) for piece in cell.itertext()) > _LAYOUT_CELL_CHARS for cell in cells
    )
