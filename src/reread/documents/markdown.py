"""Markdown: the cleaned source itself, with the blocks a CommonMark parser finds in it.

Front matter is about the document, not of it: it gives the title and is left out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reread.documents.builder import divide, document_over
from reread.documents.encodings import decode
from reread.documents.source import Source
from reread.documents.transcripts.speech import called, spoken, turns_in
from reread.types import Document, Paragraph, ParagraphKind

if TYPE_CHECKING:
    from markdown_it.token import Token

FRONT_MATTER = re.compile(
    r"(?:---[ \t]*\n(?P<yaml>(?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)"
    r"|\+\+\+[ \t]*\n(?P<toml>(?:[^\n]*\n)*?)\+\+\+[ \t]*(?:\n|$))"
)
_TITLE_FIELD = re.compile(r"(?m)^title[ \t]*[:=][ \t]*(.+)$")
_KINDS: dict[str, ParagraphKind] = {
    "paragraph_open": "text",
    "fence": "code",
    "code_block": "code",
    "html_block": "text",
    "table_open": "table",
}
_SPOKEN = ("text", "list", "quote")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]+\]:")
_MATH = re.compile(r"\$\$.*\$\$$|\\\[.*\\\]$", re.DOTALL)


def load(source: Source) -> Document:
    """The document of a Markdown text; locators are its headings."""
    text = decode(source.data, source.charset).lstrip("\n")
    front = FRONT_MATTER.match(text)
    if front and re.search(r"(?m)^\w[\w -]*[ \t]*[:=]", front[0]):
        text = text[front.end() :]
    else:
        front = None
    tokens = _parse(text)
    paragraphs = list(_paragraphs(text, tokens))
    # Minutes are often kept in Markdown: headings for topics, names before what was said.
    turns = turns_in(text, [(p.start, p.end) for p in paragraphs if p.kind in _SPOKEN])
    return document_over(
        text,
        spoken(text, paragraphs, turns, called(text, turns)) if turns else paragraphs,
        title=_title(front[0] if front else "", tokens) or source.stem,
        origin=source.origin,
        media_type="text/markdown",
    )


def _parse(text: str) -> list[Token]:
    from markdown_it import MarkdownIt

    # Only blocks matter: what stands inside them stays as written.
    return MarkdownIt("commonmark").enable("table").disable("inline").parse(text)


def _paragraphs(text: str, tokens: list[Token]) -> Iterator[Paragraph]:
    lines = [0, *(m.end() for m in re.finditer("\n", text)), len(text)]
    path: list[tuple[int, str]] = []
    within: list[str] = []
    for k, token in enumerate(tokens):
        if token.type in ("list_item_open", "blockquote_open"):
            within.append(token.type)
        elif token.type in ("list_item_close", "blockquote_close"):
            within.pop()
        heading = token.type == "heading_open"
        if token.map is None or not (heading or token.type in _KINDS):
            continue
        start, end = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
        if heading:
            level = int(token.tag[1])
            name = " ".join(tokens[k + 1].content.split())
            path = [h for h in path if h[0] < level] + ([(level, name)] if name else [])
        piece = text[start:end]
        kind: ParagraphKind = "heading" if heading else _kind(token, piece, within)
        locator = " › ".join(name for _, name in path) or None
        for a, b in divide(piece, kind) if piece.strip() else ():
            yield Paragraph(start=start + a, end=start + b, kind=kind, locator=locator)


def _kind(token: Token, piece: str, within: list[str]) -> ParagraphKind:
    kind = _KINDS[token.type]
    if kind != "text":
        return kind
    if _FOOTNOTE.match(piece.lstrip()):
        return "note"
    if _MATH.match(piece.strip()):
        return "math"
    if within:
        return "list" if within[-1] == "list_item_open" else "quote"
    return kind


def _title(front: str, tokens: list[Token]) -> str | None:
    field = _TITLE_FIELD.search(front)
    if field and field[1].strip(" \t\"'"):
        return field[1].strip(" \t\"'")
    for k, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return tokens[k + 1].content or None
    return None
