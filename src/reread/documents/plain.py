"""Plain text: the cleaned source itself, with paragraphs and chapter headings found in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reread.documents.builder import document_over
from reread.documents.encodings import decode
from reread.documents.source import Source
from reread.documents.transcripts.speech import called, spoken, turns_in
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
    (2, r"[IVXLC]{1,7}\.?$"),
)  # fmt: skip
_HEADINGS = [(rank, re.compile(pattern, re.IGNORECASE)) for rank, pattern in _RANKS]
_DOTTED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+[^\W\d_a-z][^()\[\]\"“”]{0,60}[^\W_]")
_BLANK_BEFORE = re.compile(r"(?:^|\n[^\S\n]*\n)[^\S\n]*\Z")
_BLANK_AFTER = re.compile(r"[^\S\n]*(?:\n[^\S\n]*\n|\Z)")
_UNDERLINE = re.compile(r"(?m)^[^\S\n]*([=\-~*#^\"+])\1{2,}[^\S\n]*$")
_TITLE_FIELD = re.compile(r"(?m)^Title:[ \t]+(\S.*)$")
_BOUNDARY = re.compile(r"\*\*\*\s?(?:START|END) OF ")  # of a book within its publisher's file
_ENDED = re.compile(r"[.!?,;:。！？，；]$")
_LONGEST_HEADING = 100


def load(source: Source) -> Document:
    """The document of a plain text, in the style its line ends show; a transcript by its turns."""
    text = decode(source.data, source.charset).strip()
    paragraphs, turns = located(text), turns_in(text)
    begins_spoken = bool(turns) and turns[0].start == 0
    return document_over(
        text,
        spoken(text, paragraphs, turns, called(text, turns)) if turns else paragraphs,
        title=(None if begins_spoken else _title(text)) or source.stem,
        origin=source.origin,
        media_type="text/plain",
    )


def located(text: str) -> Iterator[Paragraph]:
    """The paragraphs of `text`; the chapter headings above each are its locator."""
    spans = [piece for span in paragraph_spans(text) for piece in _parted(text, *span)]
    path: list[tuple[int, str]] = []
    for (start, end), rank in zip(spans, _real(_ranks(text, spans)), strict=True):
        if _BOUNDARY.match(text, start, end):
            path = []
        if rank is not None:
            path = [h for h in path if h[0] < rank] + [(rank, _name(text[start:end]))]
        yield Paragraph(
            start=start,
            end=end,
            kind="text" if rank is None else "heading",
            locator=" › ".join(name for _, name in path) or None,
        )


def _parted(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A paragraph cut before and after each chapter heading that no blank line sets off."""
    if end - start <= _LONGEST_HEADING:  # a heading of its own, maybe in two lines
        yield start, end
        return
    opened = start
    for line in re.finditer(r"[^\n]+", text[start:end]):
        left, right = start + line.start(), start + line.end()
        rule = _UNDERLINE.match(text, min(right + 1, end), end)
        if rule:
            right = rule.end()
        elif not _is_chapter_line(line.group().strip()):
            continue
        yield from ((a, b) for a, b in ((opened, left), (left, right)) if text[a:b].strip())
        opened = right
    if text[opened:end].strip():
        yield opened, end


def _is_chapter_line(line: str) -> bool:
    """Whether a line within other text is a chapter heading: all capitals, or nothing else."""
    if len(line) > 60 or not (line[:1].isupper() or line[:1] == "第"):
        return False
    for rank, pattern in _HEADINGS:
        match = pattern.match(line) if rank < 3 else None
        if match:
            return line.upper() == line or not line[match.end() :].strip(" .:")
    return False


def _ranks(text: str, spans: list[tuple[int, int]]) -> list[int | None]:
    """How deep a heading each paragraph is, None where it is none."""
    rules: list[str] = []  # a mark of underlining ranks by when it first comes
    ranks: list[int | None] = []
    for start, end in spans:
        rule = _UNDERLINE.search(text, start, end) if end - start < 300 else None
        if rule and _name(text[start:end]):
            if rule[1] not in rules:
                rules.append(rule[1])
            ranks.append(10 + rules.index(rule[1]))
        else:
            ranks.append(_rank(text, start, end))
    if sum(rank >= 10 for rank in ranks if rank) > 1:  # who underlines headings underlines all
        return [rank if rank and rank >= 10 else None for rank in ranks]
    return ranks


def _real(ranks: list[int | None]) -> list[int | None]:
    """Ranks without those of a table of contents, where like follows like and no text follows."""
    kept = list(ranks)
    run = 0
    for k, rank in enumerate([*ranks, None]):
        if k and rank is not None and rank == ranks[k - 1]:
            run += 1
            continue
        if run > 1 and (ranks[k - 1] or 0) < 10:
            kept[k - 1 - run : k - 1] = [None] * run  # the last of the run has the text below it
        run = 0
    return kept


def _rank(whole: str, start: int, end: int) -> int | None:
    """How deep a heading this paragraph is, None where it is none."""
    if end - start > 2 * _LONGEST_HEADING:
        return None
    text = whole[start:end]
    name = _name(text)
    if not name or len(name) > _LONGEST_HEADING:
        return None
    for rank, pattern in _HEADINGS:
        if pattern.match(name) and (name[0].isupper() or not name[0].isascii()):
            return None if _ENDED.search(name) and len(name) > 60 else rank
    dotted = _DOTTED.fullmatch(name)
    alone = _BLANK_BEFORE.search(whole[max(0, start - 80) : start]) and _BLANK_AFTER.match(
        whole, end
    )
    return 3 + dotted[1].count(".") if dotted and alone and "\n" not in text else None


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
