"""What a browser does not show of a page: hidden by attributes, by styles, or by kind.

Styles are those in the page itself, inline and in `<style>`; a sheet elsewhere is never fetched.
Scripts count as running, so `<noscript>` is not shown. What is only unseen because of its colour,
size, opacity or place behind something else counts as shown: pages begin so before their scripts
have run, and to lose a text is worse. `aria-hidden` hides from screen readers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

Element = etree._Element

_UNSHOWN = frozenset(
    "head script style noscript iframe audio video canvas embed applet datalist"
    " area map param source track col colgroup title desc metadata annotation"
    " annotation-xml".split()
)
# What frameworks call text that is for screen readers only.
_FOR_READERS = frozenset(
    "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader screenreader"
    " a11y-hidden u-visually-hidden element-invisible".split()
)
_SIGNS = frozenset("¶#§🔗⚓")  # links to a heading, shown only while one points at it
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE
)
_SHOWING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*(?!none\b)[a-z]|visibility\s*:\s*visible)", re.IGNORECASE
)
_AWAY = re.compile(
    r"(?:^|;)\s*(?:(?:left|top|text-indent)\s*:\s*-(?:9{3,}|[1-9]\d{4,})"
    r"|clip-path\s*:\s*inset\((?:50|100)%|clip\s*:\s*rect\(\s*(?:0|1px)[\s,])",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIMPLE = re.compile(r"[\w-]*(?:[.#][\w-]+)*")
_PARTS = re.compile(r"[.#]?[\w-]+")
_LONGEST_SHEET = 2_000_000  # characters

Rank = tuple[bool, int, int]  # important, weight of the selector, place in the sheet


class Visibility:
    """Tells which elements are not shown; below such an element nothing is."""

    def __init__(self, root: Element | None = None) -> None:
        self._rules: dict[str, list[tuple[frozenset[str], Rank, bool]]] = {}
        sheets = [] if root is None else [s for s in root.iter("style") if _for_screens(s)]
        place = 0
        for sheet in sheets:
            for selectors, body in _rules("".join(map(str, sheet.itertext()))[:_LONGEST_SHEET]):
                place += 1
                self._add(selectors, body, place)

    def _add(self, selectors: str, body: str, place: int) -> None:
        hides = _HIDING.search(body) is not None or _AWAY.search(body) is not None
        if not hides and not _SHOWING.search(body):
            return
        for selector in selectors.split(","):
            # What shows may be as intricate as it likes, what hides must be understood in full.
            parts = selector.split()
            last = re.split(r"[>+~:\[]", parts[-1])[0] if parts and not hides else selector.strip()
            names = frozenset(_PARTS.findall(last)) if _SIMPLE.fullmatch(last) else frozenset()
            if names and not names <= {"html", "body"}:
                key = min(names, key=lambda n: "#.".find(n[0]) % 3)  # the rarest: id, class, tag
                weight = sum(100 if n[0] == "#" else 10 if n[0] == "." else 1 for n in names)
                rank = ("!important" in body, weight + 10 * (len(parts) - 1), place)
                self._rules.setdefault(key, []).append((names, rank, hides))

    def hides(self, element: Element) -> bool:
        """Whether neither the element nor what is below it is shown."""
        tag = str(element.tag)
        if tag in _UNSHOWN or _by_attribute(element, tag):
            return True
        classes = (element.get("class") or "").split()
        if not _FOR_READERS.isdisjoint(classes) or "katex-html" in classes:
            return True
        if tag == "a" and len(element) == 0 and (element.text or "").strip() in _SIGNS:
            return True
        style = element.get("style") or ""
        if _HIDING.search(style) or _AWAY.search(style):
            # Wikipedia hides the MathML whose picture it shows.
            return "mwe-math" not in (element.get("class") or "")
        return bool(self._rules) and not _SHOWING.search(style) and self._ruled(element, classes)

    def _ruled(self, element: Element, classes: list[str]) -> bool:
        names = {str(element.tag), *(f".{c}" for c in classes)}
        if element.get("id"):
            names.add(f"#{element.get('id')}")
        said = [
            (rank, hides)
            for name in names
            for needed, rank, hides in self._rules.get(name, ())
            if needed <= names
        ]
        return bool(said) and max(said)[1]


def _by_attribute(element: Element, tag: str) -> bool:
    hidden = element.get("hidden")
    if hidden is not None:
        return hidden.strip().lower() != "until-found"  # that is found and opened, as details are
    if tag == "template":
        return element.get("shadowrootmode") is None  # a root in the shadow is what is shown
    return (tag == "dialog" and element.get("open") is None) or element.get("popover") is not None


def _for_screens(style: Element) -> bool:
    media = (style.get("media") or "all").lower()
    return "print" not in media and "width" not in media


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of a style sheet, without what stands under a condition."""
    pieces = re.split(r"([{}])", _COMMENT.sub(" ", sheet))
    depth, conditional, selector = 0, 0, ""
    for text, mark in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if mark == "{":
            depth += 1
            if depth == 1:
                selector = text.rpartition(";")[2].strip()  # after an import
                conditional = selector.startswith("@")
        elif mark == "}":
            if depth == 1 and not conditional:
                yield selector, text
            depth = max(0, depth - 1)
