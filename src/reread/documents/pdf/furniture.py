"""What stands at the edges of every page and is no part of the text.

Running heads and feet repeat from page to page; numbers count. Both are told from the text by
place and repetition, never by place alone. Printed page numbers are learned on the way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from reread.documents.pdf.lines import END_MARK, MARK, Line
from reread.documents.pdf.pages import PdfPage

_EDGE_SHARE = 0.16  # of the page's height, above and below, in which furniture may stand
_EDGE_LINES = 4
_NUMBER = re.compile(
    r"(?:page|p\\.|seite|стр\\.?|第)?\s*[-–—|\[(]*\s*(?P<n>\d{1,5}|[ivxlc]{1,9})\s*[-–—|\])]*"
    r"(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,5}|\s*(?:页|頁|ページ|쪽))?",
    re.I,
)
_CARRY = re.compile(
    r"^\(?continue[sd] (?:on|from) (?:the )?(?:next|previous) page\)?\.?$"
    r"|^Table [\d.]+\s*[-–—]\s*continued (?:on|from) (?:next|previous) page$",
    re.I,
)
_CHAPTER = re.compile(r"chapter|part|appendix|kapitel|teil", re.I)  # stands over chapters, printed
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_COUNTING = re.compile(r"\d+|\b[ivxlc]+\b", re.I)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line at an edge of a page: where it stands, and what it reads without its numbers.

    `number` is the page number in it, `bare` says that it holds nothing else.
    """

    page: int
    line: Line
    at_top: bool
    place: int
    pattern: str
    number: str
    bare: bool

    @property
    def slot(self) -> tuple[bool, int]:
        return self.at_top, self.place

    @property
    def shift(self) -> tuple[bool, int] | None:
        """How far its number runs ahead of the page's index, Roman and Arabic apart."""
        value = number_value(self.number)
        return (self.number.isdecimal(), value - self.page) if value else None


def remove_furniture(pages: Sequence[PdfPage]) -> dict[int, str]:
    """Takes running heads, feet and page numbers off the pages.

    The result holds the printed number of each page that shows one, by the page's index.
    """
    edges = [edge for page in pages for edge in _edges_of(page)]
    shifts = Counter(edge.shift for edge in edges if edge.shift)
    least = max(min(3, len(pages)), 2, 0.1 * len(pages))
    counting = {shift for shift, n in shifts.items() if n >= least}
    repeated = _repeated(edges, len(pages))
    known = [(e.at_top, e.pattern) in repeated or e.shift in counting for e in edges]
    slots = _slots(edges, known)
    numbers: dict[int, str] = {}
    gone: set[int] = set()
    for (index, _), group in groupby(edges, key=lambda e: (e.page, e.at_top)):
        for edge in _furniture(list(group), slots, counting, pages[index]):
            gone.add(id(edge.line))
            if edge.number and (edge.bare or edge.shift in counting):
                numbers.setdefault(index, edge.number)
    if all(id(line) in gone for page in pages for line in page.lines):
        gone = set()  # a document of nothing else: it is the text
    for page in pages:
        page.lines = [x for x in page.lines if id(x) not in gone and not _is_carry(x)]
    _drop_repeated_across(pages)
    return numbers


def _furniture(
    edges: Sequence[_Edge],
    slots: set[tuple[bool, int]],
    counting: set[tuple[bool, int]],
    page: PdfPage,
) -> Iterable[_Edge]:
    """What of one edge goes: the outermost lines, and page numbers that count wherever they are."""
    outermost = _outermost(edges, slots, page)
    yield from outermost
    for edge in edges[len(outermost) :]:
        if edge.bare and edge.slot in slots and edge.shift in counting:
            yield edge


def _outermost(
    edges: Sequence[_Edge], slots: set[tuple[bool, int]], page: PdfPage
) -> Sequence[_Edge]:
    """Those lines of one edge, from the outermost inwards, that stand in slots and by themselves.

    A line close to the next is the first of a text, however often it repeats. A foot of two lines
    has only the first of them in a slot.
    """
    count = 0
    for k, edge in enumerate(edges):
        if edge.slot in slots:
            count = k + 1
        elif k or len(edges) == 1 or not _touch(edge.line, edges[1].line):
            break
    while count and not edges[count - 1].bare:
        line = edges[count - 1].line
        taken = {id(edge.line) for edge in edges[:count]}
        others = [x for x in page.lines if id(x) not in taken]
        if not any(_touch(line, x) for x in others):
            break
        count -= 1
    return edges[:count]


def _touch(one: Line, other: Line) -> bool:
    """Whether two lines follow one another as lines of one text do."""
    distance = abs(one.bottom - other.bottom)
    return distance < 1.45 * min(one.size, other.size) and one.x0 < other.x1 and other.x0 < one.x1


def _is_carry(line: Line) -> bool:
    """Whether a line only says that something goes on over the page."""
    return len(line.text) < 80 and bool(_CARRY.search(line.text.strip()))


def _edges_of(page: PdfPage) -> Iterable[_Edge]:
    ordered = sorted(page.lines, key=lambda x: x.top)
    for at_top, lines in ((True, ordered[:_EDGE_LINES]), (False, ordered[::-1][:_EDGE_LINES])):
        for line in lines:
            place = line.bottom if at_top else page.height - line.top
            if place > _EDGE_SHARE * page.height:
                continue
            text = " ".join(line.text.replace(MARK, "").replace(END_MARK, "").split())
            bare = _NUMBER.fullmatch(text)
            yield _Edge(
                page=page.index,
                line=line,
                at_top=at_top,
                place=round(place / 2),
                pattern=_COUNTING.sub("#", text),
                number=bare["n"] if bare else _number_within(text),
                bare=bare is not None,
            )


def _number_within(text: str) -> str:
    """The page number at an end of a running head, "" where there is none."""
    found = re.match(r"(\d{1,5}(?=\s|[A-Z][a-z])|[ivxlc]+(?=\s))", text) or re.search(
        r"\s(\d{1,5}|[ivxlc]+)$", text
    )
    return found[1] if found else ""


def _repeated(edges: Iterable[_Edge], pages: int) -> set[tuple[bool, str]]:
    """(at the top, text) of what stands on several pages at about the same height."""
    places: dict[tuple[bool, str], dict[int, int]] = defaultdict(dict)
    for edge in edges:
        if any(c.isalnum() for c in edge.pattern) and not _CHAPTER.fullmatch(edge.pattern):
            places[edge.at_top, edge.pattern].setdefault(edge.page, edge.place)
    least = 3 if pages > 4 else 2
    found = set()
    for key, on in places.items():
        common = Counter(on.values()).most_common(2)
        if len(on) >= least and sum(n for _, n in common) >= 0.6 * len(on):
            found.add(key)
    return found


def _slots(edges: Sequence[_Edge], known: Sequence[bool]) -> set[tuple[bool, int]]:
    """Heights at which nearly everything repeats or counts: there all is furniture."""
    all_, sure = Counter[tuple[bool, int]](), Counter[tuple[bool, int]]()
    for edge, is_known in zip(edges, known, strict=True):
        all_[edge.slot] += 1
        sure[edge.slot] += is_known
    return {slot for slot, n in all_.items() if sure[slot] >= max(min(2, n), 0.6 * n)}


def number_value(number: str) -> int:
    """What an Arabic or Roman number counts, 0 where it is none."""
    if number.isdecimal():
        return int(number)
    if not number or not re.fullmatch(
        r"m{0,3}(?:c[md]|d?c{0,3})(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})", number.lower()
    ):
        return 0
    values = [_ROMAN[c] for c in number.lower()]
    return sum(-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))


def _drop_repeated_across(pages: Sequence[PdfPage]) -> None:
    seen = Counter(_COUNTING.sub("#", page.across) for page in pages if page.across)
    for page in pages:
        if seen[_COUNTING.sub("#", page.across)] >= 3:
            page.across = ""


def labels(pages: Sequence[PdfPage], printed: dict[int, str]) -> list[str]:
    """What people call each page: the file's own label, else the number printed on it.

    Printed numbers count only where they run with the pages; a single number at an edge proves
    nothing. Without either, pages are counted from 1.
    """
    if any(page.label for page in pages):
        return [page.label or str(page.index + 1) for page in pages]
    shifts = Counter(int(n) - i for i, n in printed.items() if n.isdecimal())
    shift, agreeing = shifts.most_common(1)[0] if shifts else (1, 0)
    if agreeing < max(2, 0.5 * len(printed)):
        return [str(page.index + 1) for page in pages]
    names = []
    for page in pages:
        number = printed.get(page.index, "")
        counted = page.index + shift
        # Pages before the first number have none; counting them from the front keeps them apart.
        names.append(number if number and not number.isdecimal() else str(counted))
        if counted < 1 and not number:
            names[-1] = f"({page.index + 1})"
    return names
