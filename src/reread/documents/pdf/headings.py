"""Which lines are headings, and of which level.

The outline of the file is believed first. Beyond it a heading is a short line set larger than the
text, or, where there is no outline, one in bold that stands by itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from reread.documents.pdf.blocks import BULLET, plain
from reread.documents.pdf.lines import Line
from reread.documents.pdf.pages import Entry, PdfPage

NUMBERED = re.compile(r"(?P<number>(?:[A-Z]|\d{1,3})(?:\.\d{1,3})*)\.?\s+\S")
_CHAPTER = re.compile(r"(?:chapter|part|appendix|kapitel|teil|chapitre|глава)\b", re.I)
_LARGER = 1.12
_LONGEST = 200  # characters
_NUMBERS = re.compile(
    r"^(?:(?:chapter|part|appendix)\s+)?(?:[\divxlcA-Z]{1,4}(?:\.\d+)*\.?)\s+", re.I
)
_OUTLINED = 5  # an outline of this many entries is trusted to hold all headings


class Headings:
    """Knows the headings of one document. `body` is the type size of most of its text."""

    def __init__(self, pages: Sequence[PdfPage], outline: Iterable[Entry]) -> None:
        self._entries: dict[int, list[Entry]] = defaultdict(list)
        for entry in outline:
            self._entries[entry.page].append(entry)
        self._outlined = sum(map(len, self._entries.values())) >= _OUTLINED
        sizes = Counter[float]()
        for page in pages:
            for line in page.lines:
                sizes[line.size] += len(line.text)
        self.body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._levels = self._ranks(pages)

    def marks(self, page: PdfPage) -> list[bool]:
        """Whether each line of the page is a heading or a part of one."""
        return [self._is_heading(page, k) for k in range(len(page.lines))]

    def level(self, text: str, lines: Sequence[Line], page: int) -> int:
        """The level of a heading, from 1."""
        key = _key(text)
        for entry in self._entries.get(page, ()):
            if _agree(key, _key(entry.title)):
                return entry.level
        if self._outlined:
            depth = NUMBERED.match(text)
            if depth:
                return depth["number"].count(".") + 1
        return self._levels.get(_style(lines[0]), 1)

    def begins_chapter(self, text: str) -> bool:
        """Whether a heading only announces the next ("Chapter One")."""
        return bool(_CHAPTER.match(text)) and len(text.split()) <= 2

    # -- telling --------------------------------------------------------------------------------

    def _is_heading(self, page: PdfPage, k: int) -> bool:
        line = page.lines[k]
        text = plain(line.text).strip()
        if (not any(c.isalpha() for c in text) and not text.isdigit()) or BULLET.match(text):
            return False
        if len(text) > _LONGEST or (line.mono and line.size <= self.body):
            return False
        if self._in_outline(text, page.index) and (line.bold or line.size > self.body):
            return True
        if line.size >= _LARGER * self.body:
            return not (text.endswith((".", ",", ";")) and len(text) > 60)
        return not self._outlined and self._bold_alone(page.lines, k, text)

    def _in_outline(self, text: str, index: int) -> bool:
        key = _key(text)
        return any(_agree(key, _key(e.title)) for e in self._entries.get(index, ()))

    def _bold_alone(self, lines: Sequence[Line], k: int, text: str) -> bool:
        line = lines[k]
        if not line.bold or line.size < 0.97 * self.body or len(text.split()) > 14:
            return False
        if text.endswith((",", ";")) or len(line.cells) > 2:
            return False
        numbered = bool(NUMBERED.match(text))
        return numbered or (self._apart(lines, k) and not text.endswith("."))

    def _apart(self, lines: Sequence[Line], k: int) -> bool:
        """Whether the lines before and after are of another kind or stand away."""
        line = lines[k]
        for other in (k - 1, k + 1):
            if 0 <= other < len(lines) and lines[other].region == line.region:
                near = abs(lines[other].bottom - line.bottom) < 1.6 * line.size
                if near and lines[other].bold and other < k - 1:
                    return False
                if near and other < k and not lines[other].bold:
                    return False
        return True

    # -- levels without an outline --------------------------------------------------------------

    def _ranks(self, pages: Sequence[PdfPage]) -> dict[tuple[float, bool], int]:
        """A level for each type that headings are set in: by their numbers, else by size."""
        depths: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
        for page in pages:
            for k, line in enumerate(page.lines):
                if self._is_heading_by_type(page, k):
                    number = NUMBERED.match(plain(line.text))
                    depths[_style(line)][number["number"].count(".") + 1 if number else 0] += 1
        ranked = sorted(depths, key=lambda s: (-s[0], not s[1]))
        levels: dict[tuple[float, bool], int] = {}
        numbered = [s for s in ranked if sum(n for d, n in depths[s].items() if d) > 1]
        above = sum(1 for s in ranked if numbered and s[0] > numbered[0][0])
        last = 0
        for style in ranked:
            if style in numbered:
                deep = Counter({d: n for d, n in depths[style].items() if d}).most_common(1)[0][0]
                last = max(last, min(above, 1) + deep)
            else:
                last = min(last + 1, 6)
            levels[style] = last
        return levels

    def _is_heading_by_type(self, page: PdfPage, k: int) -> bool:
        line = page.lines[k]
        return (
            line.size >= 0.97 * self.body
            and (line.bold or line.size >= _LARGER * self.body)
            and self._is_heading(page, k)
        )


def _style(line: Line) -> tuple[float, bool]:
    return round(line.size * 2) / 2, line.bold


def _key(text: str) -> str:
    """A title to compare: letters and digits only, without its number."""
    text = _NUMBERS.sub("", text.strip()) or text
    return "".join(c for c in text.casefold() if c.isalnum())


def _agree(line: str, title: str) -> bool:
    """Whether a line is a title of the outline, or its first or last line."""
    if not line or not title:
        return False
    return line == title or (len(line) >= 12 and (title.startswith(line) or title.endswith(line)))
