"""What an EPUB book says about itself: its title, reading order, table of contents, encryption.

What can be mended is: a reference in another case, a package document that is not well formed, and
even one that is lost, whose parts are then read in the order of their names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.entities import html5
from urllib.parse import unquote

from lxml import etree

from reread.documents import archive
from reread.documents.archive import Archive, Damaged, Element, plain
from reread.documents.encodings import decode
from reread.errors import DamagedDocument

EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_FONT_OBFUSCATION = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "image/svg+xml")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")

# -- what the package says ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A part of the reading order or of the manifest; `name` is the member that holds it."""

    name: str
    media_type: str = "application/xhtml+xml"
    navigation: bool = False


@dataclass(kw_only=True, slots=True)
class Package:
    """The package document. `ncx` and `nav` are members, None where the book has none."""

    title: str | None = None
    spine: list[Item] = field(default_factory=list)
    nav: str | None = None
    ncx: str | None = None
    failure: tuple[str, str] | None = None


def package_of(book: Archive) -> Package:
    """What the package document says; the order of the names where it cannot be read."""
    name = "META-INF/container.xml"
    try:
        name = _package_name(book)
        return _read_package(_lenient(book.read(name)), name, book)
    except Damaged as error:
        spine = [
            Item(name=n)
            for n in sorted(book.names, key=_natural)
            if n.lower().endswith((".xhtml", ".html", ".htm"))
        ]
        reason = f"{error}; the parts are read in the order of their names"
        ncx = next((n for n in book.names if n.lower().endswith(".ncx")), None)
        return Package(spine=spine, ncx=ncx, failure=(name, reason))


def _package_name(book: Archive) -> str:
    """The member that holds the package document, also where the container is damaged."""
    try:
        root = _lenient(book.read("META-INF/container.xml"))
        paths = [e.get("full-path", "") for e in root.iter("rootfile")]
    except Damaged:
        paths = []
    found = next((n for n in (_member(book, "", p) for p in paths) if n in book.names), None)
    found = found or next((n for n in book.names if n.lower().endswith(".opf")), None)
    if found is None:
        raise Damaged("it has no package document")
    return found


def _read_package(root: Element, name: str, book: Archive) -> Package:
    folder = posixpath.dirname(name)
    package = Package(title=_title(root))
    items = {e.get("id", ""): e for e in root.iter("item")}
    for entry in items.values():
        href = _member(book, folder, entry.get("href", ""))
        if "nav" in entry.get("properties", "").split():
            package.nav = href
        if entry.get("media-type") == "application/x-dtbncx+xml":
            package.ncx = href
    listed = {package.nav, *_listed_contents(root, folder, book)} - {None}
    aside: list[Item] = []
    seen: set[str] = set()
    for reference in root.iter("itemref"):
        item = _item(items, reference.get("idref", ""), folder, book)
        if item.name not in seen:
            # What is reached by links only (notes, answers) would break into the running text.
            order = aside if reference.get("linear") == "no" else package.spine
            order.append(replace(item, navigation=item.name in listed))
        seen.add(item.name)
    package.spine += aside
    if not package.spine:
        raise Damaged("it names no reading order")
    return package


def _item(items: dict[str, Element], idref: str, folder: str, book: Archive) -> Item:
    """The manifest's item, or the first of its fallbacks that is a page."""
    first: Item | None = None
    seen: set[str] = set()
    while idref in items and idref not in seen:
        seen.add(idref)
        entry = items[idref]
        item = Item(
            name=_member(book, folder, entry.get("href", "")),
            media_type=entry.get("media-type", PAGES[0]).lower(),
        )
        if item.media_type in PAGES:
            return item
        first, idref = first or item, entry.get("fallback", "")
    return first or Item(name=idref)


def _listed_contents(root: Element, folder: str, book: Archive) -> Iterator[str]:
    """The pages that the guide of an EPUB 2 book calls its table of contents."""
    for reference in root.iter("reference"):
        if reference.get("type", "").lower() == "toc":
            yield _member(book, folder, reference.get("href", ""))


def _title(root: Element) -> str | None:
    """The main title: the one marked so, else the first."""
    main = {
        e.get("refines", "").lstrip("#")
        for e in root.iter("meta")
        if e.get("property") == "title-type" and (e.text or "").strip() == "main"
    }
    titles = [e for e in root.iter("title") if (e.text or "").strip()]
    chosen = next((e for e in titles if e.get("id") in main), titles[0] if titles else None)
    return " ".join((chosen.text or "").split()) if chosen is not None else None


def refuse_encrypted(book: Archive, package: Package, origin: str) -> None:
    """Ends where the text is encrypted. Obfuscated fonts and encrypted pictures do not matter."""
    try:
        root = _lenient(book.read("META-INF/encryption.xml"))
    except Damaged:
        return
    text = {item.name for item in package.spine}
    for entry in root.iter("EncryptedData"):
        methods = {e.get("Algorithm", "") for e in entry.iter("EncryptionMethod")}
        names = {_member(book, "", e.get("URI", "")) for e in entry.iter("CipherReference")}
        if not methods & _FONT_OBFUSCATION and names & text:
            raise DamagedDocument(
                f"{origin} is encrypted (DRM)", hint="Only a copy without protection can be read"
            )


# -- names and XML --------------------------------------------------------------------------------


def _member(book: Archive, folder: str, href: str) -> str:
    """The member that a reference names. Only names that the archive really holds are looked up."""
    path = unquote(href.partition("#")[0]).strip()
    name = posixpath.normpath(posixpath.join(folder, path)).lstrip("/") if path else ""
    return book.spelled(name)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which `ch10` comes after `ch9`."""
    return [(int(d) if d and len(d) < 18 else 0, t) for t, d in re.findall(r"(\D*)(\d*)", name)]


def _lenient(data: bytes) -> Element:
    """The root of a package file, without namespaces, mended where it is not well formed."""
    try:
        root = archive.parse_xml(prepared(data))
    except Damaged as error:
        archive.check_xml(data)
        parser = etree.XMLParser(
            encoding="utf-8", recover=True, resolve_entities=False, no_network=True
        )
        try:
            mended = etree.fromstring(prepared(data).encode("utf-8"), parser)
        except etree.XMLSyntaxError:  # nothing in it could be mended
            mended = None
        if mended is None:
            raise error
        root = mended
    return plain(root)


def prepared(data: bytes) -> str:
    """Text for the XML parser: decoded once, and with characters for HTML's named entities."""
    text = _DECLARATION.sub("", decode(data).lstrip("\ufeff"), count=1)

    def character(match: re.Match[str]) -> str:
        name = match[1]
        if name in ("amp", "lt", "gt", "quot", "apos"):
            return match[0]
        return html5.get(f"{name};", match[0])

    return _ENTITY.sub(character, text)


# -- the table of contents ------------------------------------------------------------------------

Places = dict[str, dict[str, tuple[str, ...]]]
"""Member, then fragment (empty for its beginning), then the titles that lead to it."""


def contents_of(book: Archive, package: Package) -> Places:
    """Where each entry of the table of contents points; empty where there is none to read."""
    places: Places = {}
    for name in (package.nav, package.ncx):
        if name is None or places:
            continue
        try:
            root = _lenient(book.read(name))
        except Damaged:  # the chapters have headings of their own
            continue
        entries = _nav_entries(root) if name == package.nav else _ncx_entries(root)
        folder = posixpath.dirname(name)
        for href, titles in entries:
            target = _member(book, folder, href) if href.partition("#")[0] else name
            fragment = unquote(href.partition("#")[2])
            places.setdefault(target, {}).setdefault(fragment, titles)
    return places


def _nav_entries(root: Element) -> Iterator[tuple[str, tuple[str, ...]]]:
    for nav in root.iter("nav"):
        kinds = (nav.get(EPUB_TYPE) or nav.get("role") or "toc").split()
        if "toc" in kinds or "doc-toc" in kinds:
            for link in nav.iter("a"):
                titles = [_label(item) for item in link.iterancestors("li")]
                yield link.get("href", ""), tuple(t for t in reversed(titles) if t)
            return


def _label(item: Element) -> str:
    """What an entry says itself, without the entries below it."""
    said = (
        "".join(map(str, child.itertext())) for child in item.iterchildren(etree.Element)
        if child.tag not in ("ol", "ul")
    )  # fmt: skip
    return " ".join(" ".join(said).split())


def _ncx_entries(root: Element) -> Iterator[tuple[str, tuple[str, ...]]]:
    for point in root.iter("navPoint"):
        content = point.find("content")
        if content is not None:
            chain = [point, *point.iterancestors("navPoint")]
            titles = [" ".join(p.findtext("navLabel/text", "").split()) for p in chain]
            yield content.get("src", ""), tuple(t for t in reversed(titles) if t)
