"""Slides (ODP): what each slide shows, in its order, then its notes."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from reread.documents.archive import Element
from reread.documents.builder import TextBuilder
from reread.documents.odt import Reader, paragraphs_of
from reread.documents.opc import is_meaningless
from reread.documents.opendocument import Package, attribute
from reread.documents.source import Source
from reread.types import Document

MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"
_FURNITURE = frozenset("header footer date-time page-number page".split())
_PICTURES = ("image", "object", "plugin")


def load(source: Source) -> Document:
    """The document of an ODP file; its parts are the slides.

    Raises:
        DamagedDocument: it is no archive, is locked, or its content cannot be read.
        TooLarge: it unpacks to far more than its size.
        EmptyDocument: no slide that is shown holds text.
    """
    package = Package(source.data, source.origin, "presentation")
    builder = TextBuilder()
    reader = Reader(package, builder)
    titles: list[str] = []
    for number, page in enumerate(package.body.iterchildren("page"), 1):
        called = f"slide {number}"
        if package.hides("drawing-page", attribute(page, "style-name")):
            builder.left_out(called, "hidden")
            continue
        builder.path = ()
        builder.at(called)
        before = builder.length
        titles += _read(reader, page)
        if builder.length > before:
            builder.part(called)
        elif next(page.iter(*_PICTURES), None) is not None:
            builder.without_text(called)
        else:
            builder.blank(called)
    said = package.title() or ""
    first = next((t for t in titles if not is_meaningless(t)), source.stem)
    return builder.build(
        title=said if said and not is_meaningless(said) else first,
        origin=source.origin,
        media_type=MEDIA_TYPE,
    )


def _read(reader: Reader, page: Element) -> Iterator[str]:
    """Adds a slide, its title first; gives the title."""
    shapes = [s for s in page.iterchildren(etree.Element) if s.tag != "notes"]
    rest = []
    for shape in shapes:
        kind = attribute(shape, "class")
        if kind == "title":
            said = " ".join(t for p in shape.iter("p") if (t := reader.collect(p).text))
            reader.builder.heading(1, said)
            yield from [" ".join(said.split())] if said else []
        elif kind not in _FURNITURE:
            rest.append(shape)
    for shape in rest:
        reader.begin()
        reader.shape(shape)
    for notes in page.iterchildren("notes"):
        said = "\n".join(_notes(reader, notes))
        if said:
            reader.builder.paragraph(f"Notes: {said}", "note")


def _notes(reader: Reader, notes: Element) -> Iterator[str]:
    for shape in notes.iterchildren(etree.Element):
        if attribute(shape, "class") not in _FURNITURE:
            for box in shape.iterchildren("text-box"):
                yield from (t for p in paragraphs_of(box) if (t := reader.collect(p).text))
