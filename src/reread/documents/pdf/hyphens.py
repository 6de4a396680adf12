"""Lines joined to running text: words divided at line ends made whole again.

A hyphen at a line's end is either the printer's or the word's own. The document itself tells: a
whole word seen elsewhere was divided here, a hyphenated word seen elsewhere was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:[-‐'’][^\W\d_]+)*")
_DIVIDED = re.compile(r"((?:[^\W\d_]+[-‐])*[^\W\d_]+)([-‐\u00ad])$")
_NEXT = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_NO_SPACES = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_ADDRESS = re.compile(r"(?:https?:|www\.)\S*[/=&?_#-]$|https?:$|(?:https?://|www\.)\S+\.$")
_PATH = re.compile(r"(?:^|\s)[~.]?/(?:[!-~]*[/._=])?$")
_VERSION = re.compile(r"\(?[A-Za-z]\w*[._][\w.]*\d\.$|[A-Za-z]\w*_\d+\.$")
_RANGE = re.compile(r"\w[–−]$")
_PREFIXES = frozenset(
    "non self multi semi pseudo quasi ex half cross well long short high low".split()
)


class Vocabulary:
    """The words of a document as they stand inside its lines."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.hangul_keeps_spaces = False

    def add(self, lines: Iterable[tuple[str, bool]]) -> None:
        """Takes in lines as (text, whether a space was drawn at the end)."""
        divided = False
        for text, spaced in lines:
            found = [m[0].casefold().replace("‐", "-") for m in _WORD.finditer(text)]
            # Neither half of a word that may be divided is a word that was seen.
            first, divided = divided, _DIVIDED.search(text[-100:]) is not None
            self._seen.update(found[first : len(found) - divided])
            if spaced and _HANGUL.match(text[-1:]):
                self.hangul_keeps_spaces = True

    def joined(self, before: str, after: str, *, spaced: bool = False) -> str:
        """Two lines as one; `spaced` says that a space was drawn at the end of the first."""
        if not before or not after:
            return before or after
        # Only the last word counts; searching a whole book from its start would take for ever.
        divided, rest = _DIVIDED.search(before, max(0, len(before) - 100)), _NEXT.match(after)
        if divided and rest:
            return before[: divided.start(2)] + self._hyphen(divided, rest[0]) + after
        if divided and divided[2] != "\u00ad" and after[0].isdigit():
            return before + after
        if _NO_SPACES.match(before[-1]) and _NO_SPACES.match(after):
            return before + after
        korean = _HANGUL.match(before[-1]) and _HANGUL.match(after)
        if korean and self.hangul_keeps_spaces and not spaced:
            return before + after
        last = before[max(before.rfind(" ") + 1, len(before) - 200) :]
        goes_on = after[0].islower() or after[0].isdigit()
        if _ADDRESS.search(last) and (goes_on or last[-1] != "."):
            return before + after
        if goes_on and _PATH.match(last):
            return before + after
        if after[0].isdigit() and (_RANGE.search(last) or _VERSION.match(last)):
            return before + after
        return f"{before} {after}"

    def _hyphen(self, divided: re.Match[str], rest: str) -> str:
        """The hyphen that belongs between two halves: "" or the one that stands there."""
        hyphen = divided[2]
        if hyphen == "\u00ad":
            return ""
        first, second = divided[1].casefold(), rest.casefold()
        if first + second in self._seen:
            return ""
        if f"{first}-{second}" in self._seen or not rest[0].islower():
            return hyphen
        if "-" in second or "-" in first or first in _PREFIXES or len(first) == 1:
            return hyphen  # one of several hyphens (end-to-end); words are not divided so early
        # Never seen whole: the halves of a compound are words themselves, those of a word are not.
        compound = (
            first in self._seen and second in self._seen and min(map(len, (first, second))) > 2
        )
        return hyphen if compound else ""
