"""Word-processing documents (DOCX) as they read with all tracked changes accepted.

The XML is walked with lxml and not python-docx, which does not give notes, text boxes, formulas or
the text of insertions, and opens what it is given without limits. Blocks stand in their order;
notes and text boxes follow the paragraph that holds them. Comments, headers and footers are left
out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from reread.documents import omml
from reread.documents.archive import Archive, Damaged, Element, parse_xml, plain
from reread.documents.builder import TextBuilder
from reread.documents.source import Source
from reread.documents.wordstyles import (
    Numbering,
    Rank,
    Styles,
    W,
    attribute,
    number_of,
    roman,
)
from reread.errors import DamagedDocument
from reread.types import Document, ParagraphKind

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_STRICT = (  # the namespaces of the ISO form, and those that everyone writes
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", W[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", omml.M[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/drawingml/main",
     b"http://schemas.openxmlformats.org/drawingml/2006/main"),
)  # fmt: skip
_KEPT_SPACES = ("/math", "/drawingml/2006/main")  # whose names are those of the text, too
_MEANINGLESS_TITLE = re.compile(
    r"(?:microsoft word - .*|(?:untitled|document|title|dokument)\s*\d*|.*\.(?:docx?|dotx?|rtf))",
    re.IGNORECASE,
)
_LONGEST_TABLE_CELL = 900  # a longer cell holds prose, not data
_DROPPED = frozenset(
    "del moveFrom instrText delText delInstrText pPr rPr sdtPr sdtEndPr tblPr tblGrid trPr tcPr"
    " annotationRef footnoteRef endnoteRef softHyphen commentReference rt sectPr".split()
)
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# The private codes of the symbol fonts that are really met: ticks, boxes, bullets, arrows.
_SYMBOLS = {
    **{"F0FC": "✓", "F0FB": "✗", "F0FE": "☑", "F0FD": "☒", "F0A8": "☐", "F06F": "☐", "F071": "☐"},
    **{"F0E0": "→", "F0E8": "→", "F0DF": "←", "F0B7": "•", "F0A7": "▪", "F04A": "☺", "F0D8": "➢"},
}


def load(source: Source) -> Document:
    """The document of a DOCX file.

    Raises:
        DamagedDocument: it is no archive, is locked, or its text cannot be read.
        TooLarge: it unpacks to far more than its size.
        EmptyDocument: it holds no text.
    """
    package = _Package(Archive(source.data, source.origin))
    try:
        body = package.part(package.main).find("body")
        if body is None:
            raise Damaged("it has no body")
    except Damaged as error:
        raise DamagedDocument(
            f"the text of {source.origin} ({package.main}) cannot be read: {error}",
            hint="Open it in a word processor and save it again",
        ) from error
    reader = _Reader(package)
    reader.read(body)
    return reader.builder.build(
        title=_title(package) or reader.title or source.stem,
        origin=source.origin,
        media_type=MEDIA_TYPE,
    )


def _title(package: _Package) -> str | None:
    """The title in the document's properties, where it says something."""
    root = package.optional("core-properties", "docProps/core.xml", main=False)
    said = " ".join((root.findtext(".//title") or "").split()) if root is not None else ""
    return said if said and not _MEANINGLESS_TITLE.fullmatch(said) else None


class _Package:
    """The parts of the file, found by what relates them to the document and else by their names."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.failed: list[tuple[str, str]] = []
        found = self._related("", "officeDocument")
        usual = (n for n in archive.names if re.fullmatch(r"word/document\d*\.xml", n))
        self.main = found or next(usual, "word/document.xml")

    def part(self, name: str) -> Element:
        """The root of a part.

        Raises:
            Damaged: it is missing or broken.
        """
        data = self._archive.read(self._archive.spelled(name))
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
        return plain(parse_xml(data), kept=_KEPT_SPACES)

    def optional(self, kind: str, usual: str, *, main: bool = True) -> Element | None:
        """The root of a part that may be missing; a broken one is noted in `failed`."""
        name = self._related(self.main if main else "", kind) or usual
        if self._archive.spelled(name) not in self._archive.names:
            return None
        try:
            return self.part(name)
        except Damaged as error:
            self.failed.append((name, str(error)))
            return None

    def _related(self, name: str, kind: str) -> str | None:
        folder, base = posixpath.split(name)
        try:
            root = self.part(posixpath.join(folder, "_rels", f"{base}.rels"))
        except Damaged:
            return None
        for relation in root.iter("Relationship"):
            if relation.get("Type", "").rpartition("/")[2] == kind:
                target = posixpath.join("/", folder, relation.get("Target", ""))
                return posixpath.normpath(target).lstrip("/")
        return None


@dataclass(slots=True)
class _Collected:
    """What one paragraph is made of while it is read: its text, and what is set after it."""

    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    formulas: int = 0
    changed: bool = False

    @property
    def text(self) -> str:
        return re.sub(r" *([\n\t])[ \t]*", r"\1", re.sub(r" +", " ", self.verbatim)).strip()

    @property
    def verbatim(self) -> str:
        """The text with its spaces as they stand, for code."""
        return "".join(self.pieces).replace("\u00ad", "")


class _Reader:
    """Walks the body and hands its blocks to `builder`; `title` is what is styled as one."""

    def __init__(self, package: _Package) -> None:
        self.builder = TextBuilder()
        self.builder.part()
        self.title: str | None = None
        self._styles = Styles(package.optional("styles", "word/styles.xml"))
        self._numbering = Numbering(
            package.optional("numbering", "word/numbering.xml"), self._styles
        )
        self._notes = {
            kind: _notes(package.optional(f"{kind}s", f"word/{kind}s.xml"), kind)
            for kind in ("footnote", "endnote")
        }
        self._numbers: dict[str, dict[str, int]] = {"footnote": {}, "endnote": {}}
        self._fields: list[bool] = []  # for each open field whether its result is being read
        self._open = _Collected()
        self._carried: _Collected | None = None  # of a paragraph whose end was deleted
        self._last: ParagraphKind = "text"
        self._outermost = 0  # the depth at which the list that is open began
        self._tops = 0  # how many headings of the first level there are, and the first of them
        self._first: str | None = None
        for name, reason in package.failed:
            self.builder.failed(name, reason)

    def read(self, body: Element) -> None:
        """Reads all blocks of the body."""
        self._blocks(body)
        self._set_carried()
        if self._tops == 1:  # the only one of its level heads the whole
            self.title = self.title or self._first

    def _set_carried(self) -> None:
        """Ends a paragraph whose own end was deleted where no other follows that it could join."""
        collected, self._carried = self._carried, None
        if collected is not None:
            self._set(collected, Rank(), None)

    # -- blocks -----------------------------------------------------------------------------------

    def _blocks(self, parent: Element) -> None:
        for element in _blocks_of(parent):
            if element.tag == "p":
                self._paragraph(element)
            elif element.tag == "tbl":
                self._table(element)
            elif element.tag == "altChunk":
                self.builder.failed(
                    "an inserted document", "no loader reads what is inserted whole"
                )

    def _paragraph(self, element: Element) -> None:
        properties = element.find("pPr")
        collected, self._carried = self._carried or _Collected(), None
        self._collect(element, collected)
        mark = properties.find("rPr") if properties is not None else None
        if mark is not None and (mark.find("del") is not None or mark.find("moveFrom") is not None):
            self._carried = collected  # its end is deleted: it goes on in the next one
            return
        rank = self._styles.rank(properties)
        counted = collected.text or not collected.changed
        self._set(collected, rank, self._numbering.mark(rank) if counted else None)

    def _collect(self, element: Element, into: _Collected) -> None:
        outer, self._open = self._open, into
        self._inline(element)
        self._open = outer
        while self._fields and not self._fields[-1]:  # a field whose result never comes
            self._fields.pop()

    def _set(self, collected: _Collected, rank: Rank, mark: tuple[str, int] | None) -> None:
        """Adds a paragraph, then its text boxes and its notes."""
        text = collected.text
        label, depth = mark or ("", 0)
        if text and rank.level is not None:
            self._heading(rank.level, f"{label} {text}" if label not in ("", "-") else text)
        elif text:
            kind = self._kind(rank, collected, mark)
            self._block(collected.verbatim if kind == "code" else text, kind, label, depth)
        for box in collected.boxes:
            self._last = "text"
            self._blocks(box)
        for name, note in collected.notes:
            self._note(name, note)

    def _heading(self, level: int, text: str) -> None:
        said = " ".join(text.split())
        if level == 0:
            self.title = self.title or said
        elif level == 1:
            self._tops += 1
            self._first = self._first or said
        self._last = "heading"
        self.builder.heading(level, text)

    def _kind(
        self, rank: Rank, collected: _Collected, mark: tuple[str, int] | None
    ) -> ParagraphKind:
        if mark is not None:
            return "list"
        outside = re.sub(r"\$[^$]*\$", "", collected.text).strip(" .,;()0123456789\t")
        return "math" if collected.formulas and not outside else rank.kind

    def _block(self, text: str, kind: ParagraphKind, label: str, depth: int) -> None:
        """Adds a block; items of a list and lines of code follow each other closely."""
        tight = kind == self._last and kind in ("list", "code")
        if not tight:
            self._outermost = depth
        indent = 2 * max(0, depth - self._outermost)
        self.builder.paragraph(
            f"{label} {text}" if label else text, kind, tight=tight, indent=indent
        )
        self._last = kind

    def _note(self, name: str, note: Element) -> None:
        said = []
        for element in note.iter("p"):
            collected = _Collected()
            self._collect(element, collected)
            said.append(collected.text)
        text = "\n".join(filter(None, said))
        if text:
            self.builder.paragraph(f"[^{name}]: {text}", "note")
            self._last = "note"

    # -- tables -----------------------------------------------------------------------------------

    def _table(self, table: Element) -> None:
        self._set_carried()
        rows = [[*_cells(row)] for row in _rows(table)]
        if _is_layout(rows):
            for row in rows:
                for cell, _ in row:
                    self._blocks(cell)
            return
        after = _Collected()
        lines = [self._row(row, after) for row in rows]
        self._last = "table"
        self.builder.paragraph("\n".join(filter(None, lines)), "table")
        self._set(_Collected(notes=after.notes, boxes=after.boxes), Rank(), None)

    def _row(self, row: list[tuple[Element, int]], after: _Collected) -> str:
        cells: list[str] = []
        for cell, columns in row:
            cells.append(self._cell(cell, after))
            cells += [""] * (columns - 1)
        while cells and not cells[-1]:
            cells.pop()
        return " | ".join(cells)

    def _cell(self, cell: Element, after: _Collected) -> str:
        merge = cell.find("tcPr/vMerge")
        if merge is not None and attribute(merge) != "restart":
            return ""  # covered by the cell above
        said = []
        for element in cell.iter("p"):
            if any(a.tag in ("txbxContent", "Fallback") for a in _up_to(element, cell)):
                continue
            collected = _Collected()
            self._collect(element, collected)
            mark = self._numbering.mark(self._styles.rank(element.find("pPr")))
            label = f"{mark[0]} " if mark and mark[0] and collected.text else ""
            said.append(label + " ".join(collected.text.split()))
            after.notes += collected.notes
            after.boxes += collected.boxes
        return " ".join(filter(None, said))

    # -- running text -----------------------------------------------------------------------------

    def _inline(self, parent: Element) -> None:
        for element in parent.iterchildren(etree.Element):
            tag = str(element.tag)
            if tag in _DROPPED:
                self._open.changed |= tag in ("del", "moveFrom")
            elif tag == "r":
                self._run(element)
            elif tag in ("t", "sym") or tag in _SIGNS:
                self._say(element, tag)
            elif tag == "fldChar":
                self._field(attribute(element, "fldCharType"))
            elif tag in ("footnoteReference", "endnoteReference"):
                self._reference(element, tag.removesuffix("Reference"))
            elif tag == "txbxContent":
                self._open.boxes.append(element)
            elif tag == "AlternateContent":
                self._inline(_form_of(element))
            elif tag == f"{omml.M}oMath":
                self._formula(element)
            else:
                self._inline(element)
                if tag == "rubyBase":
                    self._reading(parent)

    def _run(self, run: Element) -> None:
        if not self._styles.hides(run.find("rPr")):
            self._inline(run)

    def _say(self, element: Element, tag: str) -> None:
        if not all(self._fields):
            return  # the instruction of a field, not its result
        if tag == "t":
            self._open.pieces.append((element.text or "").replace("\n", " "))
        elif tag == "sym":
            self._open.pieces.append(_symbol(attribute(element, "char").upper()))
        else:
            self._open.pieces.append(_SIGNS[tag])

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(False)
        elif self._fields and kind == "separate":
            self._fields[-1] = True
        elif self._fields and kind == "end":
            self._fields.pop()

    def _reference(self, element: Element, kind: str) -> None:
        """The number of a note in the text; the note itself follows its paragraph, once."""
        name = attribute(element, "id")
        note = self._notes[kind].get(name)
        if note is None:
            return
        numbers = self._numbers[kind]
        first = name not in numbers
        number = numbers.setdefault(name, len(numbers) + 1)
        shown = roman(number) if kind == "endnote" else str(number)
        self._open.pieces.append(f"[^{shown}]")
        if first:
            self._open.notes.append((shown, note))

    def _formula(self, element: Element) -> None:
        said = omml.latex_of(element)
        if said:
            self._open.formulas += 1
            self._open.pieces.append(f"${said}$")

    def _reading(self, ruby: Element) -> None:
        said = "".join(t.text or "" for e in ruby.iterchildren("rt") for t in e.iter("t"))
        self._open.pieces.append(f"({said})" if said else "")


def _notes(root: Element | None, kind: str) -> dict[str, Element]:
    """Notes by id, without the lines that part them from the text."""
    if root is None:
        return {}
    return {
        attribute(note, "id"): note
        for note in root.iterchildren(kind)
        if attribute(note, "type") in ("", "normal")
    }


def _blocks_of(parent: Element) -> Iterator[Element]:
    """Paragraphs and tables, also those inside content controls and tracked changes."""
    for element in parent.iterchildren(etree.Element):
        if element.tag in ("p", "tbl", "altChunk"):
            yield element
        elif element.tag == "AlternateContent":
            yield from _blocks_of(_form_of(element))
        elif element.tag not in _DROPPED:
            yield from _blocks_of(element)


def _form_of(element: Element) -> Element:
    """One of several forms of the same thing: the first that holds text, else the first."""
    forms = list(element.iterchildren("Choice", "Fallback"))
    with_text = (e for e in forms if next(e.iter("t", "txbxContent"), None) is not None)
    return next(with_text, forms[0] if forms else element)


def _rows(table: Element) -> Iterator[Element]:
    for element in table.iterchildren(etree.Element):
        if element.tag == "tr":
            if element.find("trPr/del") is None:
                yield element
        elif element.tag not in _DROPPED:
            yield from _rows(element)


def _cells(row: Element) -> Iterator[tuple[Element, int]]:
    """Cells and how many columns each takes; what a row skips at its beginning is an empty one."""
    skipped = number_of(row.find("trPr/gridBefore"), default=0) or 0
    if row.tag == "tr" and 0 < skipped < 100:
        yield etree.Element("tc"), skipped
    for element in row.iterchildren(etree.Element):
        if element.tag == "tc":
            if element.find("tcPr/cellDel") is None:
                columns = number_of(element.find("tcPr/gridSpan"), default=1) or 1
                yield element, min(max(columns, 1), 100)
        elif element.tag not in _DROPPED:
            yield from _cells(element)


def _is_layout(rows: list[list[tuple[Element, int]]]) -> bool:
    """Whether a table arranges a page and holds no data."""
    cells = [cell for row in rows for cell, _ in row]
    if len(cells) == 1:
        return True
    return any(
        next(cell.iter("tbl"), None) is not None
        or sum(len(t.text or "") for t in cell.iter("t")) > _LONGEST_TABLE_CELL
        for cell in cells
    )


def _up_to(element: Element, outer: Element) -> Iterator[Element]:
    for ancestor in element.iterancestors():
        if ancestor is outer:
            return
        yield ancestor


def _symbol(code: str) -> str:
    """The sign behind a code of a symbol font; what is private to an unknown font shows nothing."""
    if code in _SYMBOLS:
        return _SYMBOLS[code]
    if not re.fullmatch(r"[0-9A-F]{1,5}", code):
        return ""
    value = int(code, 16)
    return "" if 0xE000 <= value <= 0xF8FF or 0xD800 <= value < 0xE000 else chr(value)
