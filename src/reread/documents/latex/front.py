"""The front matter of a paper: its title and who wrote it, wherever the source gives them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reread.documents.latex.reader import Reader

_FRONT = re.compile(
    r"\\(?:(?P<title>title|icmltitle)|(?P<author>author|icmlauthor)"
    r"|(?P<place>affil|affiliation|address|institute|institution|icmlaffiliation)"
    r"|(?P<date>date)|(?s:.))(?![a-zA-Z])|\\[a-zA-Z]+"
)
_LONGEST = 5000


def read(reader: Reader, end: int) -> None:
    """Adds title, authors, places and date; what is missing is left out."""
    parts: dict[str, list[str]] = {"title": [], "author": [], "place": [], "date": []}
    for found in _FRONT.finditer(reader.cursor.text):
        kind = found.lastgroup
        if kind is None or (kind == "title" and parts["title"]):
            continue
        at = reader.cursor.after_options(found.end(), end)
        if reader.cursor.text[at : at + 1] != "{":
            continue
        start, stop, _ = reader.cursor.argument(at, end)
        if stop - start <= _LONGEST:
            text = reader.inline(start, stop)
            parts[kind].append(" ".join(text.split()) if kind == "title" else _listed(text))
    reader.title = parts["title"][0] if parts["title"] else ""
    if reader.title:
        reader.heading(1, reader.title)
    for kind in ("author", "place", "date"):
        reader.say("; ".join(dict.fromkeys(filter(None, parts[kind]))))
        reader.flush()


def _listed(text: str) -> str:
    """Names or places on one line, parted by commas where the source breaks the line."""
    return ", ".join(
        " ".join(line.split()).strip(" ,") for line in text.split("\n") if line.strip()
    )
