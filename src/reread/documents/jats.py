"""Journal articles in JATS, the XML of PubMed Central and of most journals.

What stands before the text is told in a few lines (title, authors, journal, abstract), the body is
walked like a page of HTML, notes stand after the paragraph that calls them, and the references are
kept apart. Entities are never declared, expanded or fetched: the names that the format's DTD gives
characters are put in place as characters before the XML is parsed.
"""

from __future__ import annotations

import re
from html.entities import html5

from reread.documents import archive, html, mathml, plain
from reread.documents.archive import Damaged
from reread.documents.encodings import decode
from reread.documents.html import Element, Handler
from reread.documents.jatsfront import authors_of, published, reference, said
from reread.documents.source import Source
from reread.errors import DamagedDocument
from reread.types import Document, ParagraphKind

MEDIA_TYPE = "application/jats+xml"
_BLOCKS = frozenset(
    "abstract ack aff app app-group array attrib body boxed-text caption code def def-item def-list"
    " disp-formula-group disp-quote fig fig-group fn-group glossary kwd-group list"
    " list-item notes p preformat question sec speech statement supplementary-material table"
    " table-wrap table-wrap-foot table-wrap-group tbody term tfoot thead title tr trans-abstract"
    " verse-group verse-line bio media chem-struct-wrap".split()
)
_UNREAD = frozenset(
    "alt-text article-meta contrib-group custom-meta-group front front-stub graphic inline-graphic"
    " journal-meta label long-desc object-id permissions processing-meta ref-list related-article"
    " related-object response sec-meta sub-article".split()
)
_FORMULAS = frozenset({"disp-formula", "inline-formula", "tex-math", "math"})
_SCOPES = frozenset(
    "abstract ack app bio boxed-text glossary notes sec trans-abstract fn-group statement".split()
)
_KINDS: dict[str, ParagraphKind] = {
    "code": "code",
    "disp-quote": "quote",
    "preformat": "code",
    "table-wrap-foot": "note",
    "verse-group": "quote",
}
_ORDERED = frozenset({"order", "alpha-lower", "alpha-upper", "roman-lower", "roman-upper"})
_NAMED_ENTITY = re.compile(r"&([A-Za-z][\w.:-]{0,60});|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_KEPT_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_TEX_FRAME = re.compile(r".*?\\begin\{document\}(.*)\\end\{document\}", re.DOTALL)
_DOLLARS = re.compile(r"\s*(?:\$\$?|\\\[|\\\()(.*?)(?:\$\$?|\\\]|\\\))\s*", re.DOTALL)


def load(source: Source) -> Document:
    """The document of a journal article; XML that is no article is read as the text it is.

    Raises:
        DamagedDocument: its XML is broken or made to exhaust memory.
        EmptyDocument: it holds no text.
    """
    try:
        archive.check_xml(source.data)
        root = archive.plain(archive.parse_xml(_prepared(decode(source.data, source.charset))))
    except Damaged as error:
        raise DamagedDocument(
            f"{source.origin} cannot be read: {error}", hint="Get the file again"
        ) from error
    articles = [root] if root.tag == "article" else list(root.iterdescendants("article"))
    if not articles:
        return plain.load(source)
    reader = Reader()
    for article in articles:
        reader.article(article)
        reader.builder.part()
    return reader.builder.build(
        title=(reader.first_heading if len(articles) == 1 else None) or source.stem,
        origin=source.origin,
        media_type=MEDIA_TYPE,
        references=reader.references,
    )


def _prepared(text: str) -> str:
    """XML with the characters that its named entities stand for; unknown names stay as text."""

    def character(found: re.Match[str]) -> str:
        name = found[1]
        if name is None or name in _KEPT_ENTITIES:
            return found[0]
        return html5.get(f"{name};", f"&amp;{name};")

    # The encoding was found already; a declaration inside is not to be believed again.
    return _NAMED_ENTITY.sub(character, re.sub(r"^\s*<\?xml[^>]*\?>\s*", "", text))


class Reader(html.Reader):
    """Reads articles."""

    def __init__(self) -> None:
        super().__init__()
        self._scopes: list[tuple[tuple[int, str], ...]] = []
        self._labels: list[str] = []
        self._notes: list[tuple[str, str]] = []
        self._footnotes: dict[str, Element] = {}
        self._told: set[str] = set()
        self._depth = 0
        self._in_note = False

    def article(self, article: Element) -> None:
        """Reads one article, then the answers and translations that are part of it."""
        self._footnotes = {
            fn.get("id", ""): fn
            for fn in article.iter("fn")
            if fn.get("id") and any(a.tag == "fn-group" for a in fn.iterancestors())
        }
        self._front(article)
        for name in ("body", "floats-group", "back"):
            for part in article.iterchildren(name):
                self.walk(part)
        for part in article.iterchildren("sub-article", "response"):
            self.article(part)

    # -- front matter ---------------------------------------------------------------------------

    def _front(self, article: Element) -> None:
        front = next(article.iterchildren("front", "front-stub"), None)
        meta = front.find("article-meta") if front is not None else None
        meta = meta if meta is not None else front
        if front is None or meta is None:
            return
        title = self._inline(meta.find("title-group/article-title")).rstrip("*†‡ ")
        self.first_heading = self.first_heading or title or None
        self.builder.path = ()
        self.builder.heading(1, title)
        self.set_notes()
        self._line(self._inline(meta.find("title-group/subtitle")))
        self._line(authors_of(meta))
        for place in meta.iter("aff"):
            self._line(self._inline(place))
        self._line(published(front, meta))
        for abstract in meta.iterchildren("abstract", "trans-abstract"):
            self._abstract(abstract)
        for group in meta.iterchildren("kwd-group"):
            words = ", ".join(filter(None, (self._inline(k) for k in group.iter("kwd"))))
            name = self._inline(group.find("title")).rstrip(": ") or "Keywords"
            self._line(f"{name}: {words}" if words else "")

    def _abstract(self, abstract: Element) -> None:
        path = self.builder.path
        if abstract.find("title") is None:
            self.builder.heading(2, "Abstract")
        self.walk(abstract)
        self._tight = False
        self.builder.path = path

    def _line(self, text: str) -> None:
        if text:
            self.builder.paragraph(text)

    def _inline(self, element: Element | None) -> str:
        """The text of an element on one line."""
        if element is None:
            return ""
        self.open()
        self.walk(element)
        return " ".join(self.close().split())

    # -- blocks ---------------------------------------------------------------------------------

    def ignored(self, element: Element) -> bool:
        tag = str(element.tag)
        if tag in _FORMULAS:
            self._formula(element)
            return True
        if tag == "fn" and element.get("id") in self._told:
            return True
        if tag == "ref-list":
            self.references += filter(None, map(reference, element.iter("ref")))
        return tag in _UNREAD

    def is_block(self, element: Element) -> bool:
        if element.tag == "fn":
            parent = element.getparent()
            return parent is not None and parent.tag in _NOTE_GROUPS
        return element.tag in _BLOCKS

    def block(self, text: str) -> None:
        super().block(text)
        self.set_notes()

    def set_notes(self) -> None:
        """Sets the notes that were called, each after its paragraph."""
        notes, self._notes = self._notes, []
        for mark, text in notes:
            self._tight = False
            self.builder.paragraph(f"[^{mark}]: {text}" if mark else text, "note")

    # -- elements -------------------------------------------------------------------------------

    def handlers(self, element: Element) -> tuple[Handler | None, Handler | None]:
        tag = str(element.tag)
        names = _IN_TABLES.get(tag) if self._table is not None else _HANDLERS.get(tag)
        if names:
            return getattr(self, names[0]), getattr(self, names[1])
        if self._table is None and tag in _SCOPES:
            return self._begin_scope, self._end_scope
        if self._table is None and tag in _KINDS:
            return self._begin_kind, self._end_kind
        return None, None

    def _begin_kind(self, element: Element) -> None:
        self._kinds.append(_KINDS[str(element.tag)])
        self._pre += element.tag in ("code", "preformat")
        self._tight = False

    def _end_kind(self, element: Element) -> None:
        self.flush()
        self._kinds.pop()
        self._pre -= element.tag in ("code", "preformat")

    def _begin_scope(self, element: Element) -> None:
        self._scopes.append(self.builder.path)
        self._depth += 1
        label = _label(element)
        if element.tag == "ack" and element.find("title") is None:
            self.builder.heading(1 + self._depth, "Acknowledgments")
        elif label and element.find("title") is None and element.tag != "boxed-text":
            self.text(f"{label} ")

    def _end_scope(self, element: Element) -> None:
        self.flush()
        self._depth -= 1
        self.builder.path = self._scopes.pop()

    def _begin_title(self, element: Element) -> None:
        self.open()
        parent = element.getparent()
        if parent is not None and parent.tag in _SCOPES:
            self.text(f"{_label(parent)} ")

    def _end_title(self, element: Element) -> None:
        parent = element.getparent()
        text = " ".join(self.close().split())
        if len(self._buffers) > 1 or parent is None or parent.tag not in _SCOPES:
            self.text(f"{text} ")
            return
        self._prefix, self._tight = "", False
        self.builder.heading(1 + max(1, self._depth), text)
        self.set_notes()

    # -- figures and tables ---------------------------------------------------------------------

    def _begin_float(self, element: Element) -> None:
        self._labels.append(_label(element))

    def _end_float(self, element: Element) -> None:
        self.flush()
        label = self._labels.pop()
        if label:  # it has no caption
            self._emit(label, "caption")

    def _begin_box(self, element: Element) -> None:
        self._begin_scope(element)
        self._begin_float(element)

    def _end_box(self, element: Element) -> None:
        self._end_float(element)
        self._end_scope(element)

    def _begin_caption(self, element: Element) -> None:
        self.open()
        if self._labels and self._labels[-1]:
            label, self._labels[-1] = self._labels[-1], ""
            self.text(f"{label} " if label[-1] in ".:" else f"{label}. ")

    def _end_caption(self, element: Element) -> None:
        text = " ".join(self.close().split())
        if text:
            self._emit(text, "caption")

    # -- lists ----------------------------------------------------------------------------------

    def _begin_list(self, element: Element) -> None:
        self._lists.append(1 if element.get("list-type") in _ORDERED else None)
        if len(self._lists) == 1:
            self._tight = False

    def _begin_item(self, element: Element) -> None:
        super()._begin_item(element)
        label = _label(element)
        if label:
            self._prefix = "- " if label in "•·–-*" else f"{label} "

    def _begin_definition(self, element: Element) -> None:
        self._kinds.append("list")

    def _end_definition(self, element: Element) -> None:
        self.flush()
        self._kinds.pop()

    def _end_term(self, element: Element) -> None:
        self._prefix = f"{self.close()}: "

    # -- notes and links ------------------------------------------------------------------------

    def _begin_note(self, element: Element) -> None:
        if self.is_block(element):
            self._kinds.append("note")
            label = _label(element)
            self._prefix = f"[^{label}]: " if label else ""
            return
        self.text(f"[^{_label(element)}]" if _label(element) else "")
        self.open()

    def _end_note(self, element: Element) -> None:
        if self.is_block(element):
            self.flush()
            self._kinds.pop()
            self._prefix = ""
            return
        text = " ".join(self.close().split())
        if text:
            self._notes.append((_label(element), text))

    def _end_link(self, element: Element) -> None:
        text = self.close()
        kind, target = element.get("ref-type", ""), element.get("rid", "")
        inside = any(a.tag == "sup" for a in element.iterancestors())
        if kind == "fn" and target in self._footnotes:
            mark = text.strip("[]() ") or _label(self._footnotes[target])
            self.text(mark if inside else f"[^{mark}]")
            if target not in self._told and not self._in_note:
                self._told.add(target)
                self._in_note = True
                note = self._footnotes[target].iterchildren("p")
                self._notes.append((mark, " ".join(map(self._inline, note))))
                self._in_note = False
        elif kind == "fn" and element.find("sup") is not None:
            self.text(f"[^{text}]")  # of a note that stands nowhere
        else:
            self.text(text)

    def _end_raised(self, element: Element) -> None:
        parent = element.getparent()
        within = parent is not None and parent.tag == "xref"
        links = {x.get("ref-type") for x in element.iter("xref")}
        if within and parent is not None:
            links.add(parent.get("ref-type"))
        if not links:
            super()._end_raised(element)
            return
        text = self.close().strip()
        if within and links == {"fn"}:
            self.text(text)  # the link makes the mark
        elif text:
            self.text(f"[^{text}]" if links == {"fn"} else f"[{text}]")

    # -- mathematics ----------------------------------------------------------------------------

    def _formula(self, element: Element) -> None:
        source = _latex(element)
        label = _label(element)
        if element.tag != "disp-formula" or len(self._buffers) > 1 or self._table is not None:
            self.text(f"${source}$" if source else "")
            return
        self.flush()
        if source:
            self._emit(f"$${source}$$" + (f" {label}" if label else ""), "math")


_NOTE_GROUPS = frozenset({"fn-group", "table-wrap-foot", "notes", "back", "author-notes"})


def _label(element: Element) -> str:
    label = element.find("label")
    return said(label) if label is not None else ""


def _latex(element: Element) -> str:
    """The LaTeX of a formula: as the article gives it, else made of its MathML, else its text."""
    tex = element if element.tag == "tex-math" else next(element.iter("tex-math"), None)
    if tex is not None:
        source = "".join(map(str, tex.itertext()))
        framed = _TEX_FRAME.match(source)
        source = framed[1] if framed else source
        bare = _DOLLARS.fullmatch(source)
        return " ".join((bare[1] if bare else source).split())
    math = element if element.tag == "math" else next(element.iter("math"), None)
    if math is not None:
        return mathml.latex_of(math)
    return " ".join(
        "".join(str(t) for t in element.itertext()).removeprefix(_label(element)).split()
    )


_HANDLERS = {
    "boxed-text": ("_begin_box", "_end_box"),
    "break": ("_break", "nothing"),
    "caption": ("_begin_caption", "_end_caption"),
    "def-item": ("_begin_definition", "_end_definition"),
    "fig": ("_begin_float", "_end_float"),
    "fn": ("_begin_note", "_end_note"),
    "list": ("_begin_list", "_end_list"),
    "list-item": ("_begin_item", "_end_item"),
    "media": ("_begin_float", "_end_float"),
    "speaker": ("opened", "_end_term"),
    "sup": ("opened", "_end_raised"),
    "supplementary-material": ("_begin_float", "_end_float"),
    "table": ("_begin_table", "_end_table"),
    "table-wrap": ("_begin_float", "_end_float"),
    "term": ("opened", "_end_term"),
    "title": ("_begin_title", "_end_title"),
    "verse-line": ("nothing", "_break"),
    "xref": ("opened", "_end_link"),
}
_IN_TABLES = {
    "break": ("_break", "nothing"),
    "fn": ("_begin_note", "_end_note"),
    "sup": ("opened", "_end_raised"),
    "table": ("nothing", "_end_table"),
    "td": ("_begin_cell", "_end_cell"),
    "th": ("_begin_cell", "_end_cell"),
    "tr": ("_begin_row", "nothing"),
    "xref": ("opened", "_end_link"),
}
