"""Slides (PPTX): what each slide shows, in reading order, then its notes.

Read with lxml and not with python-pptx, which weighs 24 MB with what it needs, opens what it is
given without limits and knows neither diagrams nor formulas. A slide's title is a heading and its
locator; hidden slides, and what a layout puts on every slide, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from reread.documents import omml
from reread.documents.archive import Archive, Damaged, Element
from reread.documents.builder import TextBuilder
from reread.documents.charts import rows_of
from reread.documents.opc import Package, Relation, id_of, is_meaningless
from reread.documents.source import Source
from reread.types import Document, ParagraphKind

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_KEPT_SPACES = ("/math",)
_TITLES = ("title", "ctrTitle")
_FURNITURE = frozenset("dt ftr hdr sldNum sldImg".split())
_LISTED = frozenset(("body", "obj", ""))  # placeholders whose paragraphs are items of a list
_PICTURES = ("pic", "blip", "video", "audioFile", "oleObj")
_Read = Callable[[Element], None]


def load(source: Source) -> Document:
    """The document of a presentation; its parts are the slides.

    Raises:
        DamagedDocument: it is no archive, is locked, or its list of slides cannot be read.
        TooLarge: it unpacks to far more than its size.
        EmptyDocument: no slide that is shown holds text.
    """
    package = Package(Archive(source.data, source.origin), source.origin)
    name, presentation = package.main("ppt/presentation.xml")
    relations = package.relations(name)
    builder = TextBuilder()
    title: str | None = None
    for number, entry in enumerate(presentation.iterfind("sldIdLst/sldId"), 1):
        found = relations.get(id_of(entry))
        slide = _Slide(package, builder, number)
        slide.read(found.target if found else "a slide that is missing")
        title = title or slide.title
    return builder.build(
        title=package.title() or (title if title and not is_meaningless(title) else source.stem),
        origin=source.origin,
        media_type=MEDIA_TYPE,
    )


@dataclass(slots=True)
class _Slide:
    """One slide while it is read into the document."""

    package: Package
    builder: TextBuilder
    number: int
    title: str | None = None
    _relations: dict[str, Relation] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)
    _last: ParagraphKind = "text"
    _says: bool = False

    @property
    def _called(self) -> str:
        return f"slide {self.number}"

    def read(self, name: str) -> None:
        """Adds the slide, or notes why there is nothing to add."""
        try:
            root = self.package.part(name, kept=_KEPT_SPACES)
        except Damaged as error:
            self.builder.failed(self._called, str(error))
            return
        if root.get("show") in ("0", "false"):
            self.builder.left_out(self._called, "hidden")
            return
        self._relations = self.package.relations(name)
        self.builder.path = ()
        self.builder.at(self._called)
        shapes = [s for tree in root.iterfind("cSld/spTree") for s in _shapes(tree)]
        for shape in sorted(shapes, key=lambda s: _placeholder(s) not in _TITLES):
            self._shape(shape)
        self._notes()
        if self._says:
            self.builder.part(self._called)
        elif next(root.iter(*_PICTURES), None) is not None:
            self.builder.without_text(self._called)
        else:
            self.builder.blank(self._called)

    def _shape(self, shape: Element) -> None:
        self._counts.clear()
        self._last = "text"
        if shape.tag == "graphicFrame":
            self._frame(shape)
            return
        place = _placeholder(shape)
        body = shape.find("txBody")
        if body is None or place in _FURNITURE:
            return
        if place in _TITLES:
            self._title(" ".join(" ".join(_text(p).split()) for p in body.iterfind("p")))
            return
        for paragraph in body.iterfind("p"):
            self._paragraph(paragraph, place in _LISTED if place is not None else False)

    def _title(self, said: str) -> None:
        said = said.strip()
        if said and self.title is None:
            self.title = said
            self._says = True
            self.builder.heading(1, said)
        elif said:
            self._add(said, "text")

    def _paragraph(self, paragraph: Element, listed: bool) -> None:
        text = _text(paragraph)
        if not text:
            return
        properties = paragraph.find("pPr")
        level = _level(properties)
        mark = self._mark(properties, level, listed)
        if not mark:
            formula = re.fullmatch(r"\$[^$]+\$", text) is not None
            self._add(text, "math" if formula else "text")
            return
        self._add(f"{mark} {text}", "list", indent=2 * level)

    def _mark(self, properties: Element | None, level: int, listed: bool) -> str:
        """What an item of a list begins with; empty for other paragraphs."""
        for deeper in [k for k in self._counts if k > level]:
            del self._counts[deeper]
        numbered = properties.find("buAutoNum") if properties is not None else None
        if numbered is not None:
            start = numbered.get("startAt", "1")
            first = int(start) if start.isdecimal() and len(start) < 6 else 1
            self._counts[level] = self._counts.get(level, first - 1) + 1
            return f"{self._counts[level]}."
        self._counts.pop(level, None)
        if properties is not None and properties.find("buNone") is not None:
            return ""
        own = properties is not None and (
            properties.find("buChar") is not None or properties.find("buBlip") is not None
        )
        return "-" if own or listed else ""

    def _add(self, text: str, kind: ParagraphKind, *, indent: int = 0) -> None:
        tight = kind == self._last == "list"
        self.builder.paragraph(text, kind, tight=tight, indent=indent if tight else 0)
        self._last = kind
        self._says = self._says or bool(text.strip())

    # -- tables, charts, diagrams -----------------------------------------------------------------

    def _frame(self, frame: Element) -> None:
        for table in frame.iter("tbl"):
            self._table(table)
        for chart in frame.iter("chart"):
            self._related(id_of(chart), self._chart)
        for diagram in frame.iter("relIds"):
            self._related(id_of(diagram, "dm"), self._diagram)

    def _table(self, table: Element) -> None:
        rows = []
        for row in table.iterfind("tr"):
            cells = [
                "" if cell.get("hMerge") or cell.get("vMerge") else _within(cell)
                for cell in row.iterfind("tc")
            ]
            rows.append(" | ".join(cells).rstrip(" |"))
        self._add("\n".join(filter(None, rows)), "table")

    def _related(self, relation: str, read: _Read) -> None:
        found = self._relations.get(relation)
        try:
            if found is not None:
                read(self.package.part(found.target))
        except Damaged as error:
            self.builder.failed(f"{self._called}: {found.kind if found else ''}", str(error))

    def _chart(self, root: Element) -> None:
        said = _within(root.find("chart/title")) if root.find("chart/title") is not None else ""
        if said:
            self._add(said, "caption")
        self._add("\n".join(rows_of(root)), "table")

    def _diagram(self, root: Element) -> None:
        for point in root.iterfind("ptLst/pt"):
            if point.get("type", "node") in ("node", "asst"):
                for paragraph in point.iterfind("t/p"):
                    said = _text(paragraph)
                    if said:
                        self._add(f"- {said}", "list")

    def _notes(self) -> None:
        found = next((r for r in self._relations.values() if r.kind == "notesSlide"), None)
        if found is None:
            return
        try:
            root = self.package.part(found.target)
        except Damaged as error:
            self.builder.failed(f"{self._called}: notes", str(error))
            return
        bodies = (s for s in _shapes(root) if _placeholder(s) in ("body", ""))
        said = [t for s in bodies for p in s.iter("p") if (t := _text(p))]
        if said:
            self.builder.paragraph("Notes: " + "\n".join(said), "note")
            self._says = True


def _shapes(parent: Element) -> Iterator[Element]:
    """The shapes that hold something, also those in groups, in their order."""
    for element in parent.iterchildren(etree.Element):
        if element.tag == "AlternateContent":
            forms = list(element.iterchildren("Choice", "Fallback"))
            with_text = (f for f in forms if next(f.iter("t", "chart", "relIds"), None) is not None)
            yield from _shapes(next(with_text, forms[0])) if forms else ()
        elif element.tag in ("sp", "graphicFrame", "cxnSp"):
            if not _is_hidden(element):
                yield element
        elif element.tag in ("grpSp", "cSld", "spTree") and not _is_hidden(element):
            yield from _shapes(element)


def _is_hidden(shape: Element) -> bool:
    return any(
        name.get("hidden") in ("1", "true")
        for holder in shape.iterchildren("nvSpPr", "nvGraphicFramePr", "nvGrpSpPr", "nvCxnSpPr")
        for name in holder.iterchildren("cNvPr")
    )


def _placeholder(shape: Element) -> str | None:
    """The type of the placeholder a shape fills, empty for one of content; None for a free one."""
    found = shape.find("nvSpPr/nvPr/ph")
    return found.get("type", "") if found is not None else None


def _level(properties: Element | None) -> int:
    said = properties.get("lvl", "0") if properties is not None else "0"
    return int(said) if said in "012345678" and said else 0


def _within(element: Element | None) -> str:
    """All text below an element in one line."""
    if element is None:
        return ""
    return " ".join(" ".join(_text(p).split()) for p in element.iter("p")).strip()


def _text(paragraph: Element) -> str:
    """The text of a paragraph: its runs, fields, line breaks and formulas."""
    said: list[str] = []
    _say(paragraph, said)
    return re.sub(r" *\n *", "\n", "".join(said).replace("\u00ad", "")).strip()


def _say(parent: Element, said: list[str]) -> None:
    for element in parent.iterchildren(etree.Element):
        tag = str(element.tag)
        if tag == "t":
            said.append((element.text or "").replace("\n", " ").replace("\x0b", "\n"))
        elif tag == "br":
            said.append("\n")
        elif tag == f"{omml.M}oMath":
            said.append(f"${omml.latex_of(element)}$")
        elif tag == "AlternateContent":
            forms = list(element.iterchildren("Choice", "Fallback"))
            if forms:
                _say(forms[0], said)
        elif tag not in ("pPr", "rPr", "endParaRPr"):
            _say(element, said)
