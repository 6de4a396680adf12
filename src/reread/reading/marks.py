"""Numbered marks that no text can imitate.

Invariant: the form of a mark is chosen so that it occurs in none of the texts it will stand in, so
a `<12>` or a `<Page 3>` inside a document is never taken for one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reread.reading.typography import INVISIBLE

_INVISIBLE = re.compile(f"[{INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks `<stem 1>`, `<stem 2>`, …; `stem` holds its own trailing space where it wants one."""

    stem: str

    @classmethod
    def absent_from(cls, texts: Iterable[str], stem: str = "") -> Marks:
        """Marks whose form occurs in none of the texts, the plainest such form."""
        stems = re.escape(stem.strip())
        found = re.compile(rf"[<＜‹〈]\s*((?:{stems})?[#~]*)\s*\d", re.IGNORECASE)
        taken = {m[1].casefold() for text in texts for m in found.finditer(_seen(text))}
        plain = stem.strip()
        while plain.casefold() in taken:
            plain += "#"
        return cls(plain + (" " if stem.endswith(" ") else ""))

    def __call__(self, number: int) -> str:
        return f"<{self.stem}{number}>"

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches a mark as a model may write it; group 1 is the number."""
        return re.compile(rf"<\s*{re.escape(self.stem.strip())}\s*(\d+)\s*>", re.IGNORECASE)


def _seen(text: str) -> str:
    """The text without what cannot be seen, which would part an imitation from the mark."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


@dataclass(frozen=True, slots=True)
class Marked:
    """A text as a model was shown it, with marks between its parts."""

    text: str
    marks: Marks
