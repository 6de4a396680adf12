"""The parts of an Office file and how they relate to each other, for workbooks and slides."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reread.documents.archive import Archive, Damaged, Element, parse_xml, plain
from reread.errors import DamagedDocument

_MEANINGLESS_TITLE = re.compile(
    r"(?:powerpoint[ -]pr[eäé]sentation|pr[eäé]sentation|slide|folie|title|untitled|workbook|book"
    r"|mappe|microsoft (?:powerpoint|excel) - .*|pr[eäé]sentation powerpoint)\s*\d*"
    r"|.*\.(?:pptx?|potx?|xlsx?|xlsm|ods|odp)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part points to: its kind by the last word of its type, and the part's name."""

    kind: str
    target: str


class Package:
    """The parts of a file, by their names."""

    def __init__(self, archive: Archive, origin: str) -> None:
        self.archive = archive
        self._origin = origin

    def part(self, name: str, *, kept: tuple[str, ...] = ()) -> Element:
        """The root of a part, with local names but for the namespaces that end in one of `kept`.

        Raises:
            Damaged: it is missing or broken.
        """
        return plain(parse_xml(self.archive.read(self.archive.spelled(name))), kept=kept)

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return self.archive.spelled(name) in self.archive.names

    def optional(self, name: str) -> Element | None:
        """The root of a part; None where it is missing or broken."""
        try:
            return self.part(name) if self.has(name) else None
        except Damaged:
            return None

    def relations(self, name: str) -> dict[str, Relation]:
        """What a part points to within the file, by id; nothing where that cannot be read."""
        folder, base = posixpath.split(name)
        root = self.optional(posixpath.join(folder, "_rels", f"{base}.rels"))
        return dict(_related(root, folder)) if root is not None else {}

    def main(self, usual: str) -> tuple[str, Element]:
        """The name and root of the part that the file is about.

        Raises:
            DamagedDocument: it is missing or broken.
        """
        found = (r.target for r in self.relations("").values() if r.kind == "officeDocument")
        name = next(found, usual)
        try:
            return name, self.part(name)
        except Damaged as error:
            raise DamagedDocument(
                f"{self._origin} ({name}) cannot be read: {error}",
                hint="Open it in an office program and save it again",
            ) from error

    def title(self) -> str | None:
        """The title in the file's properties, where it says something."""
        root = self.optional("docProps/core.xml")
        said = " ".join((root.findtext(".//title") or "").split()) if root is not None else ""
        return said if said and not is_meaningless(said) else None


def is_meaningless(title: str) -> bool:
    """Whether a title is what programs write where nobody gave one."""
    return _MEANINGLESS_TITLE.fullmatch(title) is not None


def _related(root: Element, folder: str) -> Iterator[tuple[str, Relation]]:
    for relation in root.iter("Relationship"):
        if relation.get("TargetMode") != "External":
            target = posixpath.join("/", folder, relation.get("Target", ""))
            kind = relation.get("Type", "").rpartition("/")[2]
            name = posixpath.normpath(target).lstrip("/")
            yield relation.get("Id", ""), Relation(kind, name)


def id_of(element: Element, name: str = "id") -> str:
    """The value of a relation's attribute, whatever its namespace is called."""
    return next((str(v) for k, v in element.items() if str(k).endswith(f"}}{name}")), "")
