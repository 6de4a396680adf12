"""The article of a web page, told from what a site puts around it.

Only where a page is clearly an article is anything left out: it says so itself (`main`, `article`,
their roles, the usual names), and what is left holds running text and most of the page's words.
Every other page is read whole, but for its `nav`. Inside the article only what is named as
furniture goes, and only while it is small or mostly links; captions, tables, lists, notes and
readers' comments stay. What was left out is said in the coverage.

Own rules rather than trafilatura (70 MB with what it needs) or readability-lxml: measured on the
Filesystem Hierarchy Standard the latter keeps 7 % of the words, and both lose notes and lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

from reread.documents.visible import Visibility
from reread.text import count_words

Element = etree._Element

_LANDMARKS = {
    "nav": "navigation",
    "header": "page header",
    "footer": "footer",
    "aside": "sidebar",
    "search": "search",
}
_ROLES = {
    "navigation": "navigation",
    "banner": "page header",
    "contentinfo": "footer",
    "complementary": "sidebar",
    "search": "search",
}
_NAMED = (  # (label, words of a class or id)
    ("cookie notice", "cookie cookies consent gdpr ccpa onetrust didomi"),
    ("sharing", "share shares sharing social sharedaddy addtoany"),
    ("subscription", "newsletter subscribe subscription signup paywall"),
    ("advertisement", "ad ads advert adverts advertisement sponsored sponsor promo promotion dfp"),
    ("related links", "related recommended recommendations trending popular outbrain taboola more"),
    ("navigation", "nav navbar navbox navigation breadcrumb breadcrumbs menu pagination pager"
                   " toolbar portlet catlinks editsection skip jump"),
    ("sidebar", "sidebar widget widgets rail"),
    ("footer", "footer colophon printfooter"),
    ("page header", "masthead topbar header"),
)  # fmt: skip
_LABEL = {word: label for label, words in _NAMED for word in words.split()}
_INSERTED = frozenset(("cookie notice", "sharing", "subscription", "advertisement"))
_FORM_NAMES = re.compile(r"comment|respond|reply|search|newsletter|subscri|sign-?up|login", re.I)
_COMMENTS = re.compile(
    r"(?:^|[\s_-])(?:comments?|discussion)(?:$|\s|[_-](?:list|area|section|thread)s?\b)", re.I
)
_NOTES = re.compile(r"(?:^|\s)(?:doc-)?(?:footnotes?|endnotes?|note)(?:$|\s)")
_BODY_NAMES = re.compile(
    r"(?:^|\s)(?:(?:entry|post|article|story|page|main)[_-]?(?:content|body|text)|article|content"
    r"|main|primary|mw-parser-output|hentry|h-entry)(?:$|\s)", re.I,
)  # fmt: skip
_RELATED = re.compile(
    r"(?:related|recommended|read (?:more|next|also)|more (?:from|on|in|stories|articles|news)"
    r"|you (?:may|might) also|most (?:read|popular)|trending|popular|latest|share (?:this|on))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_BOXES = frozenset("div section aside ul ol dl p form footer header nav span button a".split())
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_NO_PROSE = frozenset("table form pre select button textarea".split())
_CLEAR_WORDS = 8  # running text of a page that says it is an article
_LIKELY_WORDS = 50  # of one that only has the names of one
_SMALL_WORDS = 60  # not in links: the most that named furniture within an article may say


@dataclass(slots=True)
class _Weight:
    """Words of an element: all, in links, and in running text; and how many links and `h1`."""

    words: int = 0
    linked: int = 0
    prose: int = 0
    links: int = 0
    titles: int = 0

    def add(self, other: _Weight) -> None:
        self.words += other.words
        self.linked += other.linked
        self.prose += other.prose
        self.links += other.links
        self.titles += other.titles

    @property
    def plain(self) -> int:
        return self.words - self.linked

    @property
    def is_links(self) -> bool:
        return self.linked > 0.5 * self.words


def is_navigation(element: Element) -> bool:
    """Whether the page itself calls this a navigation."""
    return element.tag == "nav" or element.get("role") == "navigation"


class Extraction:
    """What of a page is not read: `left_out` maps each such element to what it is."""

    def __init__(self, root: Element, visibility: Visibility) -> None:
        self.visibility = visibility
        self._weights: dict[Element, _Weight] = {}
        self._whole = self._weigh(root)
        self._root = root
        self.left_out: Mapping[Element, str] = self._choose()

    @property
    def words(self) -> int:
        """How much the page shows in all."""
        return self._whole.words

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What was left out, with how many words it had, in the order of the page."""
        words: dict[str, int] = {}
        for element, label in self.left_out.items():
            words[label] = words.get(label, 0) + self._weights[element].words
        return [(label, _counted(n)) for label, n in words.items() if n]

    def _choose(self) -> dict[Element, str]:
        strict = self._strict()
        region = strict if strict is not None else self._weak()
        if region is not None:
            found = dict(self._furniture(region, strict is not None))
            if self._is_article(found, _LIKELY_WORDS if strict is None else _CLEAR_WORDS):
                return found
        menus = dict.fromkeys(self._outermost(is_navigation), "navigation")
        return menus if self._left(menus).words else {}

    def _left(self, without: Iterable[Element]) -> _Weight:
        left = _Weight()
        left.add(self._whole)
        for element in without:
            gone = self._weights[element]
            left.add(_Weight(-gone.words, -gone.linked, -gone.prose, -gone.links, -gone.titles))
        return left

    def _is_article(self, without: Iterable[Element], least: int) -> bool:
        """Whether what is left reads as an article and is most of what the page says."""
        left = self._left(without)
        return left.prose >= max(least, 0.3 * left.plain) and 2 * left.plain >= self._whole.plain

    # -- weighing -------------------------------------------------------------------------------

    def _weigh(self, root: Element) -> _Weight:
        open_weights = [_Weight()]
        links = no_prose = 0
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            text = element.tail
            if event == "start":
                if self.visibility.hides(element):
                    walk.skip_subtree()
                    next(walk)  # its end
                else:
                    links += element.tag == "a"
                    no_prose += element.tag in _NO_PROSE
                    weight = _Weight(links=element.tag == "a", titles=element.tag == "h1")
                    open_weights.append(weight)
                    text = element.text
            elif event == "end":
                links -= element.tag == "a"
                no_prose -= element.tag in _NO_PROSE
                self._weights[element] = open_weights.pop()
                open_weights[-1].add(self._weights[element])
            if text and not text.isspace():
                words = count_words(text)
                own = _Weight(words, words if links else 0, 0 if links or no_prose else words)
                open_weights[-1].add(own)
        return self._weights[root]

    def _outermost(self, wanted: Callable[[Element], bool]) -> Iterator[Element]:
        """The visible elements that satisfy `wanted`, without those inside others of them."""
        walk = etree.iterwalk(self._root, events=("start",))
        for _, element in walk:
            if element not in self._weights:
                walk.skip_subtree()
            elif wanted(element):
                walk.skip_subtree()
                yield element

    # -- where the article is -------------------------------------------------------------------

    def _strict(self) -> Element | None:
        """The element that holds the article and nothing else, by its own word."""
        mains = list(self._outermost(lambda e: e.tag == "main" or e.get("role") == "main"))
        main = max(mains, key=lambda e: self._weights[e].prose, default=None)
        if main is not None and self._weights[main].prose >= _CLEAR_WORDS:
            return main
        articles = self._articles()
        best = max(articles, key=lambda e: self._weights[e].prose, default=None)
        total = sum(self._weights[e].prose for e in articles)
        if best is not None and self._weights[best].prose >= max(_CLEAR_WORDS, 0.75 * total):
            return best
        return None

    def _weak(self) -> Element | None:
        """An element that holds the article among other things."""
        articles = self._articles()
        if len(articles) > 1:
            return _common(articles)
        named = list(self._outermost(lambda e: e.tag in ("div", "section", "td") and _is_body(e)))
        return max(named, key=lambda e: self._weights[e].prose, default=None)

    def _articles(self) -> list[Element]:
        return [
            e
            for e in self._outermost(lambda e: e.tag == "article" or _landmark(e) is not None)
            if e.tag == "article" and _name(e) != "related links"
        ]

    # -- what stands around and within ----------------------------------------------------------

    def _furniture(self, region: Element, strict: bool) -> Iterator[tuple[Element, str]]:
        """What is left out, in order. Inside an article less goes than between and around."""
        kept = self._kept(region)
        passed = {e for part in (region, *kept) for e in part.iterancestors()}
        whole = not any(e.tag == "article" for e in region.iterdescendants())
        starts = {*kept, *([region] if whole else [])}
        inside: list[Element] = []
        in_region = False
        walk = etree.iterwalk(self._root, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                in_region = in_region and element is not region
                if inside and inside[-1] is element:
                    inside.pop()
                continue
            if element not in self._weights:
                walk.skip_subtree()
                continue
            in_region = in_region or element is region
            if element is region or element in passed or element in starts:
                label = None
            elif inside:
                label = self._within(element)
            else:
                label = self._around(element, strict and not in_region)
            if label and (not in_region or self._is_small(element, region)):
                walk.skip_subtree()
                yield element, label
            elif element in starts or (element.tag == "article" and in_region):
                inside.append(element)

    def _kept(self, region: Element) -> list[Element]:
        """What stands outside the region but belongs to it."""
        found = list(self._outermost(_belongs))
        if not self._weights[region].titles:
            found += [e for e in self._root.iter("h1") if e in self._weights]
        inside = set(region.iter()) if found else set()
        around = set(region.iterancestors())
        return [
            e
            for e in found
            if e not in inside
            and e not in around
            and not any(map(is_navigation, e.iterancestors()))
        ]

    def _around(self, element: Element, strict: bool) -> str | None:
        """What a piece of furniture around or between articles is; all is where that is strict."""
        label = _landmark(element) or _name(element)
        if label or (element.tag == "form" and _is_side_form(element)):
            return label or "form"
        weight = self._weights[element]
        if strict:
            return "other parts"
        if weight.is_links and weight.links > 1 and _heads_related(element):
            return "related links"
        return "links" if weight.linked >= 0.7 * weight.words and weight.links > 2 else None

    def _within(self, element: Element) -> str | None:
        """What a piece of furniture inside the article is; None for what belongs to it."""
        tag, weight = str(element.tag), self._weights[element]
        if _belongs(element) or (tag not in _BOXES and tag != "article"):
            return None
        if is_navigation(element):
            return "navigation"
        if tag == "form":
            return "form" if _is_side_form(element) else None
        if tag == "button":
            return "buttons"
        name = _name(element, ids=weight.is_links)
        if tag in ("a", "span") and name not in ("sharing", "navigation"):
            return None
        if name in _INSERTED:
            return name if weight.plain <= _SMALL_WORDS else None
        if weight.is_links and weight.links > 1 and tag not in ("a", "span", "p"):
            beside = _landmark(element) in ("sidebar", "footer") or _heads_related(element)
            return name or ("related links" if beside else None)
        return name if tag in ("a", "span") else None

    def _is_small(self, element: Element, region: Element) -> bool:
        """Whether it holds no title and no good part of the text, whatever its name."""
        weight = self._weights[element]
        return not weight.titles and weight.plain <= 0.3 * self._weights[region].plain


def _common(elements: list[Element]) -> Element:
    """The nearest element around all of these."""
    shared = [elements[0], *elements[0].iterancestors()]
    for element in elements[1:]:
        around = {element, *element.iterancestors()}
        shared = [e for e in shared if e in around]
    return shared[0]


def _landmark(element: Element) -> str | None:
    """What a landmark is; one inside an article or section is part of that."""
    role = _ROLES.get(element.get("role") or "")
    if role:
        return role
    label = _LANDMARKS.get(str(element.tag))
    if element.tag in ("header", "footer"):
        parts = ("article", "section", "main", "blockquote", "figure")
        return label if next(element.iterancestors(*parts), None) is None else None
    return label if element.get("role") in (None, "") else None


def _name(element: Element, *, ids: bool = True) -> str | None:
    """What the element's class or id calls it, None for what has no telling name."""
    if element.tag in _HEADINGS or (element.tag not in _BOXES and element.tag != "article"):
        return None
    said = f"{element.get('class') or ''} {(element.get('id') or '') if ids else ''}"
    return next((_LABEL[w] for w in map(str.lower, _WORD.findall(said)) if w in _LABEL), None)


def _is_body(element: Element) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(_BODY_NAMES.search(names)) or element.get("itemprop") == "articleBody"


def _belongs(element: Element) -> bool:
    """Whether it is readers' comments or notes, which are read wherever they stand."""
    if element.tag in ("form", "a", "span", "button", "p", "body", "html"):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    notes = f"{element.get('class') or ''} {element.get('role') or ''}"
    return bool(_COMMENTS.search(names) or _NOTES.search(notes))


def _is_side_form(form: Element) -> bool:
    said = " ".join(filter(None, (form.get(n) for n in ("class", "id", "action", "role", "name"))))
    return _FORM_NAMES.search(said) is not None or any(
        "comment" in (e.get("name") or "").lower() for e in form.iter("textarea")
    )


def _heads_related(element: Element) -> bool:
    first = next(element.iter(*_HEADINGS, "strong", "p"), None)
    text = " ".join("".join(map(str, first.itertext())).split()) if first is not None else ""
    return _RELATED.match(text) is not None


def _counted(words: int) -> str:
    return f"{words} word" if words == 1 else f"{words} words"
