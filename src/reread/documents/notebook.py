"""Notebooks (.ipynb): their cells in order; locators are the cell and the headings above it.

Markdown cells are text, code cells code. Of what a cell put out, the beginning of the text is
kept; pictures are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from reread.documents import markdown
from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode
from reread.documents.languages import NOTEBOOK
from reread.documents.source import Source
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Document

_COLOURS = re.compile(r"\x1b\[[0-9;]{1,20}m")
_OUTPUT_LINES = 20
_OUTPUT_CHARS = 1500
_HASHES = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?$")


def load(source: Source) -> Document:
    """The document of a notebook; its parts are the cells.

    Raises:
        DamagedDocument: it is no notebook.
        EmptyDocument: its cells hold no text.
    """
    try:
        root = json.loads(decode(source.data, source.charset))
    except (ValueError, RecursionError) as error:
        raise DamagedDocument(
            f"{source.origin} is no notebook: its JSON is broken", hint="Save it again"
        ) from error
    cells = list(_cells(root))
    if not cells:
        raise EmptyDocument(f"{source.origin} holds no cells")
    reader = _Reader(source)
    for number, cell in enumerate(cells, 1):
        reader.cell(number, cell)
    if reader.pictures:
        reader.builder.left_out(f"outputs ({reader.pictures})", "pictures, which are not read")
    return reader.builder.build(
        title=reader.title or source.stem, origin=source.origin, media_type=NOTEBOOK
    )


def _cells(root: object) -> Iterator[dict[str, Any]]:
    """The cells of a notebook, also of the third format, where they stand in worksheets."""
    if not isinstance(root, dict):
        return
    sheets = root.get("worksheets")
    for holder in [root, *(sheets if isinstance(sheets, list) else [])]:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (c for c in cells if isinstance(c, dict)) if isinstance(cells, list) else ()


class _Reader:
    """Reads cells into `builder`; `title` is the first heading of the first level.

    `pictures` is how many outputs hold one.
    """

    def __init__(self, source: Source) -> None:
        self.builder = TextBuilder()
        self.title: str | None = None
        self.pictures = 0
        self._source = source

    def cell(self, number: int, cell: dict[str, Any]) -> None:
        place = f"cell {number}"
        kind, text = cell.get("cell_type"), _joined(cell.get("source", cell.get("input")))
        outputs = cell.get("outputs")
        said, pictures = _put_out(outputs if isinstance(outputs, list) else [])
        if not text.strip() and not said:
            self.builder.blank(place)
            return
        self.builder.part(place)
        if kind == "heading":  # of the third format
            level = cell.get("level")
            self._heading(level if isinstance(level, int) else 1, text)
        elif kind in ("markdown", "raw"):
            self._prose(text)
        else:
            self.builder.paragraph(text, "code")
        if said:
            self.builder.paragraph(f"Output:\n{said}", "code")
        self.pictures += pictures

    def _prose(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        try:
            document = markdown.load(
                Source(data=data, name="cell.md", origin=self._source.origin, charset="utf-8")
            )
        except EmptyDocument:
            return
        for p in document.paragraphs:
            piece = document.text[p.start : p.end]
            if p.kind == "heading":
                match = _HASHES.match(piece)
                level = len(match[1]) if match else 1 + ("\n-" in piece)
                self._heading(level, match[2] if match else piece.partition("\n")[0])
            else:
                self.builder.paragraph(piece, p.kind)

    def _heading(self, level: int, text: str) -> None:
        said = " ".join(text.split())
        if level == 1:
            self.title = self.title or said
        self.builder.heading(level, said)


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(piece for piece in value if isinstance(piece, str))
    return value if isinstance(value, str) else ""


def _put_out(outputs: list[Any]) -> tuple[str, int]:
    """(the text of a cell's outputs, cut short; how many hold a picture and no text)."""
    said: list[str] = []
    pictures = 0
    for output in outputs:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        shown = data if isinstance(data, dict) else output
        text = _joined(output.get("text")) or _joined(shown.get("text/plain"))
        picture = any(str(kind).startswith("image/") for kind in shown) or "png" in output
        pictures += picture
        if output.get("output_type") in ("error", "pyerr"):
            text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        if not picture:  # else the text only names the object that the picture shows
            said.append(_COLOURS.sub("", text).strip("\n"))
    return _shortened("\n".join(filter(str.strip, said))), pictures


def _shortened(text: str) -> str:
    lines = text.split("\n")
    short = "\n".join(lines[:_OUTPUT_LINES])[:_OUTPUT_CHARS]
    return short if short == text else f"{short}\n[…]"
