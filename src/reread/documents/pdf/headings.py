"""Which lines are headings, and of which level.

The outline of the file is believed first. Beyond it a heading is a short line set larger than the
text, or, where there is no outline, one in bold that stands by itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from reread.documents.pdf.blocks import BULLET, plain
from reread.documents.pdf.contents import title_key
from reread.documents.pdf.lines import Line, has_cells
from reread.documents.pdf.pages import Entry, PdfPage

NUMBERED = re.compile(r"(?P<number>(?:[A-Z]|\d{1,3})(?:\.\d{1,3})*)\.?\s+\S")
_CHAPTER = re.compile(r"(?:chapter|part|appendix|kapitel|teil|chapitre|глава)\b", re.I)
_LARGER = 1.12
_LONGEST = 200  # characters
_NUMBER_ALONE = re.compile(r"(?=.*\d)[\w.()]{1,9}|[A-Z]\.?|[IVXLC]+\.?")
_OUTLINED = 5  # an outline of this many entries is trusted to hold all headings


class Headings:
    """Knows the headings of one document. `body` is the type size of most of its text."""

    def __init__(self, pages: Sequence[PdfPage], outline: Iterable[Entry]) -> None:
        self._entries: dict[int, list[tuple[str, Entry]]] = defaultdict(list)
        for entry in outline:
            self._entries[entry.page].append((title_key(entry.title), entry))
        self._outlined = sum(map(len, self._entries.values())) >= _OUTLINED
        sizes = Counter[float]()
        for page in pages:
            for line in page.lines:
                sizes[line.size] += len(line.text)
        self.body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._levels = self._ranks(pages)

    def marks(self, page: PdfPage) -> list[bool]:
        """Whether each line of the page is a heading or a part of one."""
        found: list[bool] = []
        for k, line in enumerate(page.lines):
            goes_on = bool(found) and found[-1] and self._goes_on(page.lines[k - 1], line)
            found.append(goes_on or self._is_heading(page, k))
        return found

    def _goes_on(self, before: Line, line: Line) -> bool:
        """Whether a line larger than the text goes on a heading."""
        large = line.size >= _LARGER * self.body
        return large and line.bold == before.bold and _near(before, line)

    def entry(self, text: str, page: int) -> Entry | None:
        """The entry of the outline that a heading on the page is, None where it is none."""
        entries = self._entries.get(page)
        if not entries:
            return None
        key = title_key(text)
        return next((entry for title, entry in entries if _agree(key, title)), None)

    def level(self, text: str, lines: Sequence[Line], page: int) -> int:
        """The level of a heading, from 1; 0 for one that opens no section."""
        entry = self.entry(text, page)
        if entry:
            return entry.level
        if self._outlined:
            depth = NUMBERED.match(text)
            return depth["number"].count(".") + 1 if depth else 0
        return self._levels.get(_style(lines[0]), 1)

    def begins_chapter(self, text: str) -> bool:
        """Whether a heading only announces the next ("Chapter One")."""
        return bool(_CHAPTER.match(text)) and len(text.split()) <= 2

    def _opens_chapter(self, lines: Sequence[Line], k: int, text: str) -> bool:
        """Whether "Chapter" stands over its number and title."""
        after = lines[k + 1] if k + 1 < len(lines) else None
        alone = self.begins_chapter(text) and after is not None
        return alone and after is not None and after.size >= _LARGER * self.body

    # -- telling --------------------------------------------------------------------------------

    def _is_heading(self, page: PdfPage, k: int) -> bool:
        line = page.lines[k]
        text = plain(line.text).strip()
        if (not any(c.isalpha() for c in text) and not text.isdigit()) or BULLET.match(text):
            return False
        if len(text) > _LONGEST or (line.mono and line.size <= self.body):
            return False
        if self._in_outline(line, text, page.index):
            return True
        if self._opens_chapter(page.lines, k, text):
            return True
        if _is_row(line):
            return False
        if line.size >= _LARGER * self.body:
            return not (text.endswith((".", ",", ";")) and len(text) > 60)
        deep = re.match(r"(?:[A-Z]|\d+)(?:\.\d+)+\.?\s", text)
        return bool(deep or not self._outlined) and self._bold_alone(page.lines, k, text)

    def _in_outline(self, line: Line, text: str, index: int) -> bool:
        """Whether a line that is set as a heading is a title of the outline, or a part of one."""
        entries, large = self._entries.get(index), line.size >= _LARGER * self.body
        if not entries or not (large or line.bold):
            return False
        key = title_key(text)
        return any(_agree(key, title) if large else key == title for title, _ in entries)

    def _bold_alone(self, lines: Sequence[Line], k: int, text: str) -> bool:
        line = lines[k]
        if not line.bold or line.size < 0.97 * self.body:
            return False
        start, end = _bold_run(lines, k)
        run = lines[start:end]
        if sum(len(x.text.split()) for x in run) > 25 or len(run) > 3:
            return False
        if NUMBERED.match(text):
            return True
        above = start > 0 and _near(lines[start - 1], line) and not lines[start - 1].bold
        stops = any(plain(x.text).rstrip().endswith((",", ";", ".", ":")) for x in run)
        return not above and not stops

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


def _bold_run(lines: Sequence[Line], k: int) -> tuple[int, int]:
    """The bold lines of one size that stand together around line `k`."""
    start, end = k, k + 1
    while start > 0 and _near(lines[start - 1], lines[start]) and lines[start - 1].bold:
        start -= 1
    while end < len(lines) and _near(lines[end], lines[end - 1]) and lines[end].bold:
        end += 1
    return start, end


def _is_row(line: Line) -> bool:
    """Whether a line has parts far apart as the head of a table has; a number may stand apart."""
    first = plain(line.cells[0].text)
    numbered = len(line.cells) == 2 and _NUMBER_ALONE.fullmatch(first)
    return has_cells(line) and not numbered


def _near(one: Line, other: Line) -> bool:
    """Whether two lines are neighbours of one type size, without a gap between them."""
    distance = abs(one.bottom - other.bottom)
    return (
        one.region == other.region
        and abs(one.size - other.size) < 0.5
        and distance < 1.6 * other.size
    )


def _style(line: Line) -> tuple[float, bool]:
    return round(line.size * 2) / 2, line.bold


def _agree(line: str, title: str) -> bool:
    """Whether a line is a title of the outline, or its first or last line."""
    if not line or not title:
        return False
    return line == title or (len(line) >= 12 and (title.startswith(line) or title.endswith(line)))
