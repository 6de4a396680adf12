"""Finding one's way in LaTeX source: arguments, options, environments, rows of tables.

Braces and environments are matched once, so that nothing is searched for twice however deep it
stands; every method takes and returns offsets into one text.
"""

from __future__ import annotations

import re

from reread.documents.latex.source import matching_braces

_ENVIRONMENT = re.compile(r"\\(?:(begin|end)\s*\{([^{}\n]{1,60})\}|(?s:.))")
_SPACE = re.compile(r"[ \t]*\n?[ \t]*(?!\n)")
_BRACKET = re.compile(r"\\(?s:.)|[{\[\]]|\n[ \t]*\n")
_MATH_END = re.compile(r"\\(?s:.)|[{$]|\n[ \t]*\n")
_CELL = re.compile(
    r"\\(?:begin\s*\{[^{}\n]{1,60}\}|\\\*?[ \t]*(?:\[[^\]\n]{0,40}\])?|[a-zA-Z]+|(?s:.))|[{&]"
)
_LONGEST_OPTION = 4000
_DEEPEST_OPTION = 10  # brackets within brackets
_ENVIRONMENTS_BACK = 50  # how far back an environment may be closed over others left open


class Cursor:
    """Source with its braces and environments matched."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.braces = matching_braces(text)
        self._ends = _matching_environments(text)
        self._missing: set[tuple[str, int]] = set()

    def find(self, wanted: str, at: int, end: int) -> int:
        """Where a string stands next before `end`, -1 where nowhere; not sought in vain twice."""
        if (wanted, end) in self._missing:
            return -1
        found = self.text.find(wanted, at, end)
        if found < 0:
            self._missing.add((wanted, end))
        return found

    def skip_space(self, at: int) -> int:
        """After white space that ends no paragraph."""
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def argument(self, at: int, end: int) -> tuple[int, int, int]:
        """(start, end) of the next argument and where the text goes on.

        Without braces it is one command or character; nothing at the end of a paragraph.
        """
        at = self.skip_space(at)
        close = self.braces.get(at)
        if close is not None and close < end:
            return at + 1, close, close + 1
        if at >= end or self.text[at] in "\n{}":
            after = at + 1 if self.text[at : at + 1] == "{" and at < end else at
            return after, after, after
        if self.text[at] == "\\":
            stop = at + 2
            while stop < end and self.text[at + 1].isalpha() and self.text[stop].isalpha():
                stop += 1
            return at, stop, stop
        return at, at + 1, at + 1

    def option(self, at: int, end: int) -> tuple[int, int, int] | None:
        """(start, end) of an argument in brackets and where the text goes on, None without one."""
        start = self.skip_space(at)
        if self.text[start : start + 1] != "[":
            return None
        depth, stop = 0, min(end, start + _LONGEST_OPTION)
        at = start
        while found := _BRACKET.search(self.text, at, stop):
            at = found.end()
            if found[0] == "{":
                at = self.braces.get(found.start(), found.start()) + 1
            elif found[0][0] == "\n" or depth > _DEEPEST_OPTION:
                break
            elif found[0] in "[]":
                depth += 1 if found[0] == "[" else -1
                if not depth:
                    return start + 1, found.start(), found.end()
        return None

    def after_options(self, at: int, end: int) -> int:
        """After a star and all arguments in brackets."""
        if self.text[at : at + 1] == "*":
            at += 1
        while found := self.option(at, end):
            at = found[2]
        return at

    def environment(self, begin_end: int, end: int) -> tuple[int, int]:
        """Where the content of an environment ends and where the text goes on after it."""
        stop, after = self._ends.get(begin_end, (end, end))
        return min(stop, end), min(after, end)

    def math_end(self, at: int, end: int) -> int:
        """Where the `$` stands that ends a formula; -1 where none does in the paragraph."""
        while found := _MATH_END.search(self.text, at, end):
            if found[0] == "$":
                return found.start()
            if found[0][0] == "\n":
                return -1
            close = self.braces.get(found.start()) if found[0] == "{" else None
            at = close + 1 if close is not None and close < end else found.end()
        return -1

    def rows(self, start: int, end: int) -> list[list[tuple[int, int]]]:
        """The spans of the cells of each row, parted by `&` and line breaks at this depth."""
        rows: list[list[tuple[int, int]]] = [[]]
        opened = at = start
        while found := _CELL.search(self.text, at, end):
            at = found.end()
            if found[0] == "{":
                at = min(self.braces.get(found.start(), found.start()) + 1, end)
            elif found[0].startswith("\\begin"):
                at = self.environment(at, end)[1]
            elif found[0] == "&" or found[0].startswith("\\\\") or found[0] in _ROW_ENDS:
                rows[-1].append((opened, found.start()))
                opened = at
                if found[0] != "&":
                    rows.append([])
        rows[-1].append((opened, end))
        return rows


_ROW_ENDS = frozenset({"\\tabularnewline", "\\cr", "\\endhead", "\\endfirsthead", "\\endfoot"})


def _matching_environments(text: str) -> dict[int, tuple[int, int]]:
    """By the end of each `\\begin{…}`: where its `\\end{…}` begins and ends."""
    ends: dict[int, tuple[int, int]] = {}
    opened: list[tuple[str, int]] = []
    for found in _ENVIRONMENT.finditer(text):
        if found[1] == "begin":
            opened.append((found[2].strip(), found.end()))
        elif found[1] == "end":
            name = found[2].strip()
            back = range(len(opened) - 1, max(-1, len(opened) - 1 - _ENVIRONMENTS_BACK), -1)
            k = next((k for k in back if opened[k][0] == name), None)
            if k is not None:
                ends[opened[k][1]] = (found.start(), found.end())
                del opened[k:]
    return ends
