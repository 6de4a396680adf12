"""Plain text: the cleaned source itself, with paragraphs and chapter headings found in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reread.documents.builder import document_over
from reread.documents.encodings import decode
from reread.documents.source import Source
from reread.text import paragraph_spans
from reread.types import Document, Paragraph

_NUMBER = (
    r"(?:[IVXLCDM]+|\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|the\s+\w+|first|second"
    r"|third|fourth|fifth|sixth|last)\b"
)
_RANKS = (  # (rank, how such a heading begins)
    (1, rf"(?:volume|vol\.|tome|part|book|act|livre|partie|teil|buch|часть|том)\s+{_NUMBER}"),
    (1, r"第\s?[0-9〇零一二三四五六七八九十百千两]+\s?[部卷篇編]"),
    (2, rf"(?:chapter|chap\.|letter|canto|stave|scene|appendix|kapitel|chapitre|capítulo|capitolo"
        rf"|глава)\s+(?:{_NUMBER}|[A-Z]\b)"),
    (2, r"第\s?[0-9〇零一二三四五六七八九十百千两]+\s?[章回节節话話]"),
    (2, r"(?:prologue|epilogue|preface|foreword|introduction|conclusion|afterword|contents"
        r"|abstract|references|bibliography|index)\s*[.:]?$"),
    (3, rf"(?:section|abschnitt|§)\s*{_NUMBER}"),
    (3, r"[IVXLC]{1,7}\.?$"),
)  # fmt: skip
_HEADINGS = [(rank, re.compile(pattern, re.IGNORECASE)) for rank, pattern in _RANKS]
_DOTTED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+(?=[^\W\d_])")
_UNDERLINE = re.compile(r"(?m)^[^\S\n]*([=\-~*#^\"+])\1{2,}[^\S\n]*$")
_TITLE_FIELD = re.compile(r"(?m)^Title:[ \t]+(\S.*)$")
_ENDED = re.compile(r"[.!?,;:。！？，；]$")
_LONGEST_HEADING = 100


def load(source: Source) -> Document:
    """The document of a plain text, in the style its line ends show."""
    text = decode(source.data, source.charset).strip()
    return document_over(
        text,
        located(text),
        title=_title(text) or source.stem,
        origin=source.origin,
        media_type="text/plain",
    )


def located(text: str) -> Iterator[Paragraph]:
    """The paragraphs of `text`; the chapter headings above each are its locator."""
    spans = [piece for span in paragraph_spans(text) for piece in _parted(text, *span)]
    ranks = [_rank(text[a:b]) for a, b in spans]
    path: list[tuple[int, str]] = []
    for k, ((start, end), rank) in enumerate(zip(spans, ranks, strict=True)):
        # In a table of contents a heading is followed by its like, and by no text of its own.
        real = rank is not None and (k + 1 == len(ranks) or ranks[k + 1] != rank)
        if real and rank is not None:
            path = [h for h in path if h[0] < rank] + [(rank, _name(text[start:end]))]
        yield Paragraph(
            start=start,
            end=end,
            kind="heading" if real else "text",
            locator=" › ".join(name for _, name in path) or None,
        )


def _parted(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A heading and the text right below it as two, where no blank line parts them."""
    stop = text.find("\n", start, end)
    if stop < 0:
        return [(start, end)]
    rule = _UNDERLINE.match(text, stop + 1, end)
    if rule:
        stop = rule.end()
    elif not any(p.match(text[start:stop].strip()) for rank, p in _HEADINGS if rank < 3) or (
        _ENDED.search(text[start:stop].rstrip()) and stop - start > 30
    ):
        return [(start, end)]
    rest = stop + len(text[stop:end]) - len(text[stop:end].lstrip())
    if rest >= end or (not rule and end - rest < _LONGEST_HEADING):
        return [(start, end)]  # a title in two lines
    return [(start, stop), (rest, end)]


def _rank(text: str) -> int | None:
    """How deep a heading this is, None where it is none."""
    if len(text) > 2 * _LONGEST_HEADING:
        return None
    name = _name(text)
    if not name or len(name) > _LONGEST_HEADING:
        return None
    for rank, pattern in _HEADINGS:
        if pattern.match(name) and (name[0].isupper() or not name[0].isascii()):
            return None if _ENDED.search(name) and len(name) > 60 else rank
    dotted = _DOTTED.match(name)
    if dotted and not _ENDED.search(name) and "\n" not in text.strip() and len(name) < 80:
        return 3 + dotted[1].count(".") if name[dotted.end()].isupper() else None
    return 3 if _UNDERLINE.search(text) else None


def _name(text: str) -> str:
    return " ".join(_UNDERLINE.sub("", text).split())


def _title(text: str) -> str | None:
    """The title a text gives itself: a `Title:` field, or a short first line on its own."""
    field = _TITLE_FIELD.search(text, 0, 3000)
    if field:
        return field[1].strip()
    first = text.partition("\n\n")[0].strip()
    name = _name(first)
    alone = "\n" not in _UNDERLINE.sub("", first).strip() and len(first) < len(text)
    return name if alone and 0 < len(name) <= 80 and not _ENDED.search(name) else None
