"""The package of an OpenDocument file: its content, its styles, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass

from reread.documents.archive import Archive, Damaged, Element, parse_xml, plain
from reread.errors import DamagedDocument

_DEEPEST_CHAIN = 20  # styles that rest on themselves must end somewhere
_KINDS_OF_DISPLAY = ("none", "false")


def attribute(element: Element, name: str, default: str = "") -> str:
    """The value of an attribute by its local name, whatever its namespace."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return default


def number_of(element: Element, name: str, default: int, most: int) -> int:
    """The whole number of an attribute, at most `most`; `default` where there is none."""
    said = attribute(element, name)
    return min(int(said), most) if said.isdecimal() and len(said) < 10 else default


@dataclass(frozen=True, slots=True)
class Style:
    """What matters of a style: what it rests on, its name for people, whether it hides."""

    parent: str
    title: str
    hides: bool
    list_style: str
    outline: int


class Package:
    """An opened OpenDocument file; `body` is the content of its office body.

    Raises:
        DamagedDocument: it is no archive, is locked, or its content cannot be read.
        TooLarge: it unpacks to far more than its size.
    """

    def __init__(self, data: bytes, origin: str, kind: str) -> None:
        self.archive = Archive(data, origin)
        manifest = self.optional("META-INF/manifest.xml")
        if manifest is not None and next(manifest.iter("encryption-data"), None) is not None:
            raise DamagedDocument(
                f"{origin} is locked with a password",
                hint="Open it in an office program and save it without one",
            )
        try:
            self.root = self._part("content.xml")
            body = self.root.find(f"body/{kind}")
            if body is None:
                raise Damaged("it has no body")
        except Damaged as error:
            raise DamagedDocument(
                f"the text of {origin} (content.xml) cannot be read: {error}",
                hint="Open it in an office program and save it again",
            ) from error
        self.body = body
        self._styles: dict[tuple[str, str], Style] = {}
        self.list_styles: dict[str, Element] = {}
        for root in (self.optional("styles.xml"), self.root):
            if root is not None:
                self._collect(root)

    def _part(self, name: str) -> Element:
        return plain(parse_xml(self.archive.read(self.archive.spelled(name))))

    def optional(self, name: str) -> Element | None:
        """The root of a part; None where it is missing or broken."""
        try:
            return self._part(name)
        except Damaged:
            return None

    def title(self) -> str | None:
        """The title that the file's description gives."""
        root = self.optional("meta.xml")
        found = root.find("meta/title") if root is not None else None
        return " ".join((found.text or "").split()) or None if found is not None else None

    def _collect(self, root: Element) -> None:
        for style in root.iter("style"):
            name, family = attribute(style, "name"), attribute(style, "family")
            self._styles[family, name] = Style(
                parent=attribute(style, "parent-style-name"),
                title=attribute(style, "display-name") or name.replace("_20_", " "),
                hides=_hides(style),
                list_style=attribute(style, "list-style-name"),
                outline=number_of(style, "default-outline-level", 0, 10),
            )
        for style in root.iter("list-style"):
            self.list_styles[attribute(style, "name")] = style

    def chain(self, family: str, name: str) -> list[Style]:
        """A style and those it rests on."""
        chain: list[Style] = []
        while (family, name) in self._styles and len(chain) < _DEEPEST_CHAIN:
            chain.append(self._styles[family, name])
            name = chain[-1].parent
        return chain

    def hides(self, family: str, name: str) -> bool:
        """Whether what has this style is not shown."""
        return any(style.hides for style in self.chain(family, name))


def _hides(style: Element) -> bool:
    for properties in style.iterchildren():
        kind = str(properties.tag)
        if kind in ("text-properties", "table-properties", "section-properties"):
            if attribute(properties, "display") in _KINDS_OF_DISPLAY:
                return True
        elif kind == "drawing-page-properties" and attribute(properties, "visibility") == "hidden":
            return True
    return False
