"""Styles and numbering of a word-processing document: what rank and what number a paragraph has.

Both are indirect: a paragraph names a style, styles rest on one another, a style or paragraph
names a numbering, and numberings share counters. What is missing or damaged counts as not set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from reread.documents.archive import Element
from reread.types import ParagraphKind

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading ?([1-9])$")
_KINDS: tuple[tuple[re.Pattern[str], ParagraphKind], ...] = (
    (re.compile(r"caption"), "caption"),
    (re.compile(r"quote|block text"), "quote"),
    (re.compile(r"source code|html preformatted|^code"), "code"),
    (re.compile(r"^toc \d"), "list"),
)
_DEEPEST_CHAIN = 20  # styles that rest on themselves must end somewhere
_LEVELS = 9


def attribute(element: Element | None, name: str = "val") -> str:
    """The value of a `w:` attribute, empty where it is missing."""
    return element.get(f"{W}{name}", "") if element is not None else ""


def number_of(element: Element | None, name: str = "val", default: int | None = None) -> int | None:
    """The whole number of a `w:` attribute, `default` where there is none."""
    said = attribute(element, name)
    return int(said) if re.fullmatch(r"-?\d{1,9}", said) else default


def is_on(element: Element | None) -> bool:
    """Whether a property is set: present, and not switched off."""
    return element is not None and attribute(element) not in ("0", "false", "off", "none")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank:
    """What a paragraph is. `level` of a heading is 1 for the outermost, 0 for the title itself."""

    kind: ParagraphKind = "text"
    level: int | None = None
    numbering: str | None = None
    depth: int = 0
    style: str = ""


class Styles:
    """The styles of a document by their ids; `root` is None where it has no readable ones."""

    def __init__(self, root: Element | None) -> None:
        found = root.iter("style") if root is not None else ()
        self._styles = {attribute(s, "styleId"): s for s in found}
        self.default = next(
            (
                i
                for i, s in self._styles.items()
                if attribute(s, "type") == "paragraph" and attribute(s, "default") in ("1", "true")
            ),
            "",
        )

    def rank(self, properties: Element | None) -> Rank:
        """What a paragraph with these properties is."""
        style = self._style_of(properties)
        chain = self._chain(style)
        names = self._names(chain, style)
        level = self._level(properties, chain, names)
        numbering, depth = self._numbering(properties, chain)
        kinds = (k for pattern, k in _KINDS if any(pattern.search(n) for n in names))
        return Rank(
            kind=next(kinds, "text"), level=level, numbering=numbering, depth=depth, style=style
        )

    def hides(self, properties: Element | None) -> bool:
        """Whether a run with these properties is hidden, by itself or by its style."""
        if properties is None:
            return False
        own = properties.find("vanish")
        if own is not None:
            return is_on(own)
        style = attribute(properties.find("rStyle"))
        return any(is_on(s.find("rPr/vanish")) for s in self._chain(style)) if style else False

    def numbering_of(self, style: str) -> str:
        """The id of the numbering that a numbering style stands for, empty where there is none."""
        return (
            attribute(self._styles[style].find("pPr/numPr/numId")) if style in self._styles else ""
        )

    def _style_of(self, properties: Element | None) -> str:
        named = attribute(properties.find("pStyle")) if properties is not None else ""
        return named or self.default

    def _chain(self, style: str) -> list[Element]:
        chain: list[Element] = []
        while style in self._styles and len(chain) < _DEEPEST_CHAIN:
            chain.append(self._styles[style])
            style = attribute(chain[-1].find("basedOn"))
        return chain

    def _names(self, chain: list[Element], style: str) -> list[str]:
        """The names of a style and of those it rests on; its id where it is not defined."""
        if not chain:
            return [style.lower()]
        return [attribute(s.find("name")).lower() for s in chain]

    def _level(
        self, properties: Element | None, chain: list[Element], names: list[str]
    ) -> int | None:
        own = properties.find("outlineLvl") if properties is not None else None
        outlines = [own, *(s.find("pPr/outlineLvl") for s in chain)]
        outline = next((n for e in outlines if (n := number_of(e)) is not None), None)
        if outline is not None:
            return outline + 1 if 0 <= outline < _LEVELS else None
        for name in names:
            heading = _HEADING.match(name)
            if heading:
                return int(heading[1])
        return 0 if names[:1] == ["title"] else None

    def _numbering(
        self, properties: Element | None, chain: list[Element]
    ) -> tuple[str | None, int]:
        """(numbering, depth); the paragraph's own word comes before its style's. `0` is no list."""
        own = properties.find("numPr") if properties is not None else None
        sources = [e for e in (own, *(s.find("pPr/numPr") for s in chain)) if e is not None]
        named = (attribute(e.find("numId")) for e in sources)
        numbering = next(filter(None, named), None)
        depths = (number_of(e.find("ilvl")) for e in sources)
        depth = next((d for d in depths if d is not None), 0)
        return numbering, min(max(depth, 0), _LEVELS - 1)


@dataclass(slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1
    style: str = ""


@dataclass(slots=True)
class _List:
    """An abstract numbering: its levels and the numbers that were given last."""

    levels: dict[int, _Level]
    legal: set[int]
    last: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Gives list items their marks, in the order in which they are asked for."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._lists: dict[str, _List] = {}
        self._overrides: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        if root is None:
            return
        abstract = {attribute(a, "abstractNumId"): a for a in root.iter("abstractNum")}
        numbers = {attribute(n, "numId"): n for n in root.iter("num")}
        made: dict[str, _List] = {}
        for name, number in numbers.items():
            of = attribute(number.find("abstractNumId"))
            link = attribute(abstract[of].find("numStyleLink")) if of in abstract else ""
            linked = numbers.get(styles.numbering_of(link)) if link else None
            if linked is not None:
                of = attribute(linked.find("abstractNumId"))
            if of in abstract:
                self._lists[name] = made.setdefault(of, _list(abstract[of]))
                self._overrides[name] = _overrides(number)

    def mark(self, rank: Rank) -> tuple[str, int] | None:
        """The mark of the next item and its depth; None for what is in no known list.

        Bullets are `-`; an empty mark is a level that shows none.
        """
        found = self._lists.get(rank.numbering or "")
        if found is None:
            return None
        depth = next(
            (d for d, v in found.levels.items() if rank.style and v.style == rank.style), rank.depth
        )
        level = found.levels.get(depth, _Level(text=f"%{depth + 1}."))
        self._count(found, rank.numbering or "", depth, level)
        if level.form == "bullet":
            return "-", depth
        return _shown(found, depth, level), depth

    def _count(self, found: _List, name: str, depth: int, level: _Level) -> None:
        if name not in self._begun:
            self._begun.add(name)
            for at, start in self._overrides[name].items():
                found.last[at] = start - 1
        found.last[depth] = found.last.get(depth, level.start - 1) + 1
        for deeper in [d for d in found.last if d > depth]:
            del found.last[deeper]


def _list(abstract: Element) -> _List:
    levels: dict[int, _Level] = {}
    legal: set[int] = set()
    for element in abstract.iter("lvl"):
        depth = number_of(element, "ilvl", 0) or 0
        start = number_of(element.find("start"))
        levels[depth] = _Level(
            form=attribute(element.find("numFmt")) or "decimal",
            text=attribute(element.find("lvlText")),
            start=1 if start is None else start,
            style=attribute(element.find("pStyle")),
        )
        if is_on(element.find("isLgl")):
            legal.add(depth)
    return _List(levels, legal)


def _overrides(number: Element) -> dict[int, int]:
    """Levels of a numbering that begin anew, and with which number."""
    begun: dict[int, int] = {}
    for element in number.iter("lvlOverride"):
        start = number_of(element.find("startOverride"))
        if start is not None:
            begun[number_of(element, "ilvl", 0) or 0] = start
    return begun


def _shown(found: _List, depth: int, level: _Level) -> str:
    """`1.2(b)`: the level's text with the numbers of all levels it names."""

    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        of = found.levels.get(at, _Level())
        value = found.last.get(at, of.start)
        form = "decimal" if depth in found.legal else of.form
        return _FORMS.get(form, str)(value)

    return re.sub(r"%([1-9])", number, level.text).strip()


def _letters(value: int) -> str:
    """`a` to `z`, then `aa`, `bb` as word processors count."""
    if value < 1:
        return str(value)
    return chr(ord("a") + (value - 1) % 26) * min((value - 1) // 26 + 1, 20)


def roman(value: int) -> str:
    """Small Roman numerals; digits for what has none."""
    if not 0 < value < 4000:
        return str(value)
    said = ""
    for size, sign in _ROMAN:
        said += sign * (value // size)
        value %= size
    return said


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda n: f"{n:02d}",
    "lowerLetter": _letters,
    "upperLetter": lambda n: _letters(n).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda n: roman(n).upper(),
    "none": lambda n: "",
}
