"""Numbers of sections, figures, equations and theorems, as LaTeX's standard classes count them."""

from __future__ import annotations

SECTIONS = (
    "part",
    "chapter",
    "section",
    "subsection",
    "subsubsection",
    "paragraph",
    "subparagraph",
)
_MOST_WITHIN = 100  # counters that one counter begins anew
_NUMBERED = 5  # ranks of sections that carry a number
_ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


class Numbers:
    """The counters of one document; `has_chapters` where sections are counted within chapters."""

    def __init__(self, *, has_chapters: bool) -> None:
        self._top = "chapter" if has_chapters else "section"
        self._counts: dict[str, int] = {}
        self._within = {b: a for a, b in zip(SECTIONS[2:], SECTIONS[3:], strict=False)}
        if has_chapters:
            self._within |= dict.fromkeys(("section", "figure", "table", "equation"), "chapter")
        self._below: dict[str, set[str]] = {}
        for name, above in self._within.items():
            self._below.setdefault(above, set()).add(name)
        self._in_appendix = False

    def step(self, name: str) -> str:
        """The next number of this kind; empty for sections too deep to be numbered."""
        if name in SECTIONS[_NUMBERED:]:
            return ""
        self._counts[name] = self._counts.get(name, 0) + 1
        self._begin_anew(name)
        return self.printed(name)

    def following(self, name: str) -> str:
        """The number that the next step will give."""
        self._counts[name] = self._counts.get(name, 0) + 1
        number = self.printed(name)
        self._counts[name] -= 1
        return number

    def printed(self, name: str) -> str:
        """The present number with those it stands within."""
        count = self._counts.get(name, 0)
        if name == "part":
            return roman(count)
        own = chr(64 + count) if self._in_appendix and name == self._top and 0 < count < 27 else ""
        own = own or str(count)
        above = self._within.get(name)
        return f"{self.printed(above)}.{own}" if above and self._counts.get(above) else own

    def count_within(self, name: str, above: str) -> None:
        """Counts `name` anew in each `above`; a circle is not made."""
        at: str | None = above
        while at is not None and at != name:
            at = self._within.get(at)
        if at is None and len(self._below.get(above, ())) < _MOST_WITHIN:
            self._below.get(self._within.get(name, ""), set()).discard(name)
            self._within[name] = above
            self._below.setdefault(above, set()).add(name)

    def begin_appendix(self) -> None:
        """Counts the sections from here on with letters."""
        self._in_appendix = True
        self._counts[self._top] = 0
        self._begin_anew(self._top)

    def _begin_anew(self, name: str) -> None:
        below = list(self._below.get(name, ()))
        while below:
            child = below.pop()
            self._counts[child] = 0
            below += self._below.get(child, ())


def roman(number: int) -> str:
    """A number below a hundred in Roman numerals."""
    text = ""
    for value, sign in _ROMAN:
        while number >= value and len(text) < 20:
            text, number = text + sign, number - value
    return text
