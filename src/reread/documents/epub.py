"""EPUB books: the parts of the spine in their order, each walked like an HTML page.

The table of contents (nav or NCX) gives each place its chapter, and is not itself read as prose.
One damaged part is named in the coverage and never costs the others. Printed page numbers, where
the book marks them, begin the locators. Built on zipfile and lxml: EbookLib is under the AGPL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from reread.documents import archive, html
from reread.documents.archive import Archive, Damaged, TooDeep, plain
from reread.documents.builder import TextBuilder
from reread.documents.encodings import looks_binary
from reread.documents.html import Element
from reread.documents.opf import (
    EPUB_TYPE,
    PAGES,
    Item,
    Package,
    Places,
    contents_of,
    package_of,
    prepared,
    refuse_encrypted,
)
from reread.documents.source import Source
from reread.errors import DamagedDocument, EmptyDocument
from reread.text import clean
from reread.types import Document

MEDIA_TYPE = "application/epub+zip"
_SHOWN = "img image svg picture object video audio canvas embed math"
_MENDED_TAGS = 20_000  # what is nested too deeply is mended up to here: more is made to cost time
_NAVIGATION_WORDS = 25  # a table of contents with more beside its links is read as a page


def load(source: Source) -> Document:
    """The document of an EPUB book; its parts are those of the reading order.

    Raises:
        DamagedDocument: it is no archive, is encrypted, or none of its parts can be read.
        TooLarge: it unpacks to far more than its size.
        EmptyDocument: its parts hold no text.
    """
    book = Archive(source.data, source.origin)
    package = package_of(book)
    refuse_encrypted(book, package, source.origin)
    contents = contents_of(book, package)
    builder = _Builder()
    if package.failure:
        builder.failed(*package.failure)
    for part in package.spine:
        _Part(book, package, contents, builder, part).read()
    try:
        return builder.build(
            title=package.title or source.stem, origin=source.origin, media_type=MEDIA_TYPE
        )
    except EmptyDocument as error:
        failed = builder.coverage.failed
        if not failed:
            raise
        raise DamagedDocument(
            f"none of the text of {source.origin} can be read: {failed[0][0]}: {failed[0][1]}",
            hint="Get the file again",
        ) from error


class _Builder(TextBuilder):
    """Locates blocks by the table of contents and by headings, without saying anything twice."""

    def __init__(self) -> None:
        super().__init__()
        self._titles: tuple[str, ...] = ()
        self._headings: tuple[tuple[int, str], ...] = ()
        self._entered: list[tuple[int, tuple[tuple[int, str], ...]]] = []

    def enter(self, titles: tuple[str, ...]) -> None:
        """Begins the chapter of these titles; headings within the one before end with it."""
        depth = len(titles)
        while self._entered and self._entered[-1][0] >= depth:
            self._headings = self._entered.pop()[1]
        self._entered.append((depth, self._headings))
        self._titles = titles
        self._locate()

    def turn(self, page: str) -> None:
        """Begins a printed page."""
        self.place = f"p. {page}"

    def heading(self, level: int, text: str) -> None:
        text = " ".join(clean(text).split())
        if text:
            self._titles = self._titles[: self._open(level, text)]
            above = tuple(h for h in self._headings if h[0] < level)
            self._headings = (*above, (level, text))
            self._locate()
            self._append(text, "heading", "\n\n")

    def _open(self, level: int, text: str) -> int:
        """How many of the titles still hold below this heading: one of the same rank ends them."""
        closed = [h for n, h in self._headings if n >= level]
        for depth, title in enumerate(self._titles):
            if any(_says(h, title) for h in closed) and not _says(text, title):
                return depth
        return len(self._titles)

    def part(self, place: str | None = None) -> None:
        super().part(place or self.place)  # a printed page goes on in the next file

    def _locate(self) -> None:
        path: list[str] = []
        headings = [text for _, text in self._headings]
        for title in self._titles:
            said = next((k for k, h in enumerate(headings) if _says(h, title)), None)
            if said is None:
                path.append(title)
            else:
                path += headings[: said + 1]
                del headings[: said + 1]
        path += [h for h in headings if not any(_says(title, h) for title in self._titles)]
        self.path = tuple(enumerate(path))


def _says(text: str, other: str) -> bool:
    """Whether one title contains the other, apart from their numbers, case and punctuation."""
    words, within = (
        _NUMBERING.sub("", " ".join(_WORD.findall(t.casefold()))) for t in (text, other)
    )
    return bool(within) and f" {within} " in f" {words} "


_WORD = re.compile(r"\w+")
_NUMBERING = re.compile(r"(?:(?:chapter|part|section|book) )?(?:[ivxlc]+ |\d+ )+(?=.)")


class _Reader(html.Reader):
    """Reads one part of a book."""

    def __init__(self, builder: _Builder, places: dict[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.builder: _Builder = builder
        self.places = places
        self._page: str | None = None

    def ignored(self, element: Element) -> bool:
        if element.tag == "case":
            return "MathML" not in element.get("required-namespace", "")
        if element.tag == "default":
            switch = element.getparent()
            return switch is not None and any(not self.ignored(e) for e in switch.iter("case"))
        if self._is_page_break(element):
            self._turn(element)
            return True
        return super().ignored(element)

    def _start(self, element: Element) -> None:
        if self.is_block(element):
            self.flush()
        anchor = element.get("id") or element.get("name")
        if anchor and anchor in self.places:
            self.builder.enter(self.places[anchor])
        super()._start(element)

    def flush(self) -> None:
        super().flush()
        if self._page is not None and not any("".join(b).strip() for b in self._buffers):
            self.builder.turn(self._page)
            self._page = None

    def _is_page_break(self, element: Element) -> bool:
        types = f"{element.get(EPUB_TYPE, '')} {element.get('role', '')}".split()
        return "pagebreak" in types or "doc-pagebreak" in types

    def _turn(self, element: Element) -> None:
        """Keeps the number of the page that begins; an open block began on the one before."""
        said = "".join(map(str, element.itertext())).strip()
        number = (element.get("title") or element.get("aria-label") or said).strip()
        self._page = number.removeprefix("Page").strip(" .") or None
        if len(self._buffers) == 1 and not "".join(self._buffers[0]).strip():
            self.flush()

    def _is_note(self, element: Element) -> bool:
        types = element.get(EPUB_TYPE, "").split()
        noted = not _NOTE_TYPES.isdisjoint(types) and self.is_block(element)
        return noted or super()._is_note(element)

    def handlers(self, element: Element) -> tuple[html.Handler | None, html.Handler | None]:
        if element.tag == "a" and _is_reference(element):
            return self.opened, self._end_reference
        if element.tag == "dt" and "note" in self._kinds and self._table is None:
            return self.opened, self._end_label
        return super().handlers(element)

    def _begin_kind(self, element: Element) -> None:
        super()._begin_kind(element)
        if element.tag == "dd" and "note" in self._kinds:  # notes set as a list of definitions
            self._kinds[-1] = "note"

    def _end_label(self, element: Element) -> None:
        """The number of a note, which its text begins with."""
        self._prefix = f"[{self.close().strip('[]')}] "

    def _end_reference(self, element: Element) -> None:
        """A note's number in brackets, so that it is not taken for part of the word before it."""
        text = self.close()
        inside_raised = any(a.tag == "sup" for a in element.iterancestors())
        self.text(f"[{text}]" if text.isalnum() and not inside_raised else text)


_NOTE_TYPES = frozenset({"footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes"})


def _is_reference(link: Element) -> bool:
    marks = f"{link.get(EPUB_TYPE, '')} {link.get('role', '')} {link.get('class', '')}".split()
    return not {"noteref", "doc-noteref", "footnote-reference"}.isdisjoint(marks)


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of the reading order while it is read."""

    book: Archive
    package: Package
    contents: Places
    builder: _Builder
    item: Item

    def read(self) -> None:
        """Adds the part's text to the builder, or says why there is none."""
        if self.item.media_type not in PAGES:
            self._without_page()
            return
        try:
            root, fault = self._root()
        except Damaged as error:
            self.builder.failed(self._called, str(error))
            return
        places = self.contents.get(self.item.name, {})
        if places:  # else it goes on with the chapter of the part before
            self.builder.enter(places.get("") or next(iter(places.values()))[:-1])
        if self.item.navigation and _is_navigation(root):
            self.builder.part()  # read, as the table of contents that it is
            return
        before = self.builder.length
        _Reader(self.builder, places).walk(root)
        self._note(root, fault, self.builder.length > before)

    def _root(self) -> tuple[Element, str | None]:
        """The part's tree, and what is wrong with its markup, None where nothing is."""
        data = self.book.read(self.item.name)
        if looks_binary(data):
            raise Damaged("it is no text")
        archive.check_xml(data)
        text = prepared(data)
        if not text.strip():
            return etree.Element("html"), None
        try:
            return plain(archive.parse_xml(text)), None
        except Damaged as error:
            if isinstance(error, TooDeep) and text.count("<") > _MENDED_TAGS:
                raise
            root = html.parse(text)
            if root is None or self.item.media_type == "text/html":
                return (root if root is not None else etree.Element("html")), None
            return root, f"{error}; what could be mended was read"

    def _note(self, root: Element, fault: str | None, has_text: bool) -> None:
        if fault is not None:
            self.builder.failed(self._called, fault)
        elif has_text:
            self.builder.part()
        elif next(root.iter(*_SHOWN.split()), None) is not None:
            self.builder.without_text(self._called)
        else:
            self.builder.blank(self._called)

    def _without_page(self) -> None:
        if self.item.media_type.startswith(("image/", "audio/", "video/")):
            self.builder.without_text(self._called)
        else:
            self.builder.failed(self._called, f"no loader reads its type, {self.item.media_type}")

    @property
    def _called(self) -> str:
        """The part for people: its title where the table of contents has one, and its file."""
        titles = next(iter(self.contents.get(self.item.name, {}).values()), ())
        return f"{titles[-1]} ({self.item.name})" if titles else self.item.name


def _is_navigation(root: Element) -> bool:
    """Whether a page that the book calls its contents holds hardly any prose beside its links."""
    return sum(len(str(text).split()) for text in _PROSE(root)) <= _NAVIGATION_WORDS


_PROSE: Any = etree.XPath(
    "//body//text()[not(ancestor::nav or ancestor::a or ancestor::script or ancestor::style)]"
    "[not(ancestor::*[self::p or self::li or self::tr or self::dd or self::dt][.//a])]"
    "[not(parent::div[.//a])]"
)
