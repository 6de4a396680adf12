"""Tables of contents: which lines are their entries, and what the numbers in them are.

An entry's number says where its title stands, as the locator of that heading does; other editions
have a link there. It is left out where a heading of this title really stands on the page of this
name: next to the numbers of pages as they are read it would only mislead. What else is set with a
row of dots (prices, accounts) keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reread.documents.pdf.lines import END_MARK, MARK, Line

LEADERS = re.compile(r"(?:\s?[.·…_]){4,}\s*")
_NUMBER = r"(?:\d{1,4}|[ivxlc]{1,8})"
_DOTTED = re.compile(rf"(?:\s?[.·…_]){{4,}}\s*{_NUMBER}$")
_BARE = re.compile(rf"(?<=\S)\s+{_NUMBER}$")
_COUNTED = re.compile(r"(?:[A-Z]|\d+)(?:\.\d+)*\.?\s|(?:chapter|part|appendix)\b", re.I)
_LAST = frozenset("0123456789ivxlc")  # what a number ends in
_FEWEST = 3  # dotted lines in a column that make it contents
_MOST = 0.5  # of the entries of a page: where more lead to their titles, all numbers are pages
_NUMBERS_BEFORE = re.compile(
    r"^(?:(?:chapter|part|appendix)\s+)?(?:[\divxlcA-Z]{1,4}(?:\.\d+)*\.?)\s+", re.I
)


def entries_of(lines: Sequence[Line]) -> list[bool]:
    """For each line of a column whether it ends an entry: with dots, or a number below theirs."""
    dotted = [line.text[-1:] in _LAST and bool(_DOTTED.search(_bare(line))) for line in lines]
    if sum(dotted) < _FEWEST:
        return dotted
    edges = sorted(line.x1 for line, is_dotted in zip(lines, dotted, strict=True) if is_dotted)
    edge = edges[len(edges) // 2]
    return [
        found or (abs(line.x1 - edge) < 1.5 and len(line.cells) > 1 and _numbered(line))
        for line, found in zip(lines, dotted, strict=True)
    ]


def is_contents(entries: Sequence[bool]) -> bool:
    """Whether a column with these entries is a table of contents, or the last lines of one."""
    return sum(entries) >= _FEWEST or (bool(entries) and all(entries))


def begins_entry(line: Line) -> bool:
    """Whether a line without a number of its own page is no second line: it counts anew."""
    return bool(_COUNTED.match(_bare(line)))


class Places:
    """Where titles stand: on which page, by its name, headings and the outline have them."""

    def __init__(self, titles: Iterable[tuple[str, str]]) -> None:
        self._known = {(page.casefold(), title_key(title)) for title, page in titles}

    def lead(self, entries: Sequence[str]) -> bool:
        """Whether the numbers of these entries are the pages of their titles."""
        return sum(map(self._leads, entries)) > _MOST * len(entries) > 0

    def _leads(self, entry: str) -> bool:
        title, number = _divided(entry)
        return bool(number) and (number.casefold(), title_key(title)) in self._known


def entry_text(entry: str, *, numbered: bool) -> str:
    """An entry as it is read, with its number or without."""
    title, number = _divided(entry)
    return f"{title} … {number}" if numbered and number else title


def without_leaders(text: str) -> str:
    """A text with each row of dots as one sign."""
    return LEADERS.sub(" … ", text).strip()


def title_key(text: str) -> str:
    """A title to compare: letters and digits only, without its number."""
    text = _NUMBERS_BEFORE.sub("", text.strip()) or text
    return "".join(c for c in text.casefold() if c.isalnum())


def _divided(entry: str) -> tuple[str, str]:
    """An entry's title and number, "" where it has none."""
    found = _DOTTED.search(entry) or _BARE.search(entry)
    if not found:
        return entry.strip(), ""
    return entry[: found.start()].rstrip(), found[0].split()[-1].lstrip(".·…_")


def _numbered(line: Line) -> bool:
    return re.fullmatch(_NUMBER, line.cells[-1].text.strip(), re.I) is not None


def _bare(line: Line) -> str:
    return line.text.replace(MARK, "").replace(END_MARK, "").strip()
