"""HTML as people see it: every visible block in order, white space as browsers show it.

The tree is walked once, without recursion: each element may have a handler for its start and one
for its end, and running text goes to the innermost open buffer. What is not shown (scripts, hidden
elements, navigation) is skipped with all below it. Nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lxml import etree

from reread.documents.article import Extraction, is_navigation
from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode
from reread.documents.source import Source
from reread.documents.tables import Table, is_layout
from reread.documents.visible import Visibility
from reread.errors import EmptyDocument
from reread.types import Document, ParagraphKind

Element = etree._Element

_RAW = frozenset(("head", "script", "style", "template", "noscript", "iframe"))
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol"
    " optgroup option p pre search section summary table tbody td tfoot th thead tr ul caption"
    " noframes frameset".split()
)
_HEADING = re.compile(r"h([1-6])")
_NOTES = re.compile(r"(?:^|\s)(?:doc-)?(?:footnotes?|endnotes?)(?:$|\s)")
_EXPONENT = re.compile(r"[+\-−–]?\d{1,3}$")
_SPACES = re.compile(r"[ \t\n\r\f]+")
# Marks for what white space collapsing must spare; cleaned text holds no control characters.
BREAK, _KEPT_SPACE = "\x01", "\x02"
_MARKED = re.compile(f" *({BREAK}) *")
_TOO_DEEP = 400  # libxml2 drops what is nested deeper than its own limit


def load(source: Source) -> Document:
    """The document of an HTML page, through the LaTeXML reader where LaTeXML made the page."""
    from reread.documents import latexml

    root = parse(decode(source.data, source.charset))
    if root is None:
        raise EmptyDocument(f"{source.origin} holds no text")
    main = latexml.article(root)
    walker = latexml.Reader() if main is not None else Reader()
    if main is None:
        extraction = Extraction(root, Visibility(root))
        if not extraction.words:  # its own styles hide all until its scripts have run
            extraction = Extraction(root, Visibility())
        if not extraction.words and root.find(".//script") is not None:
            hint = "Its text is made by scripts; save it from a browser that shows it"
            raise EmptyDocument(f"{source.origin} holds no text", hint=hint)
        walker.visibility, walker.left_out = extraction.visibility, extraction.left_out
        for what, size in extraction.notes:
            walker.builder.left_out(what, size)
    walker.walk(main if main is not None else root)
    return walker.builder.build(
        title=title_of(root) or walker.first_heading or source.stem,
        origin=source.origin,
        media_type="text/html",
        references=walker.references,
    )


def parse(text: str) -> Element | None:
    """The root of a page's tree; None where there is nothing. No entity or address is followed."""
    root, whole = _tree(text)
    return root if whole else _tree(_flattened(text))[0]


def _tree(text: str) -> tuple[Element | None, bool]:
    """The tree and whether it holds all of the text."""
    # Encoding again keeps a declaration inside the page from being believed.
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError:
        return None, True  # what holds no element at all
    return root, not any("depth" in e.message.lower() for e in parser.error_log)


_TAG = re.compile(r"<!--.*?(?:-->|$)|<(/?)([a-zA-Z][^\s/<>]*)[^<>]*>", re.DOTALL)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


def _flattened(text: str) -> str:
    """A page without the tags below a depth: its text is kept, its deepest structure is not."""
    open_tags: list[tuple[str, bool]] = []

    def shallow(match: re.Match[str]) -> str:
        name = (match[2] or "").lower()
        if not name or name in _VOID or name in _RAW:
            return match[0]
        replacement = "<br><br>" if name in _BLOCKS else ""
        if not match[1]:
            kept = len(open_tags) < _TOO_DEEP
            open_tags.append((name, kept))
            return match[0] if kept else replacement
        if open_tags and open_tags[-1][0] == name:
            return match[0] if open_tags.pop()[1] else replacement
        return match[0] if len(open_tags) < _TOO_DEEP else replacement

    return _TAG.sub(shallow, text)


def title_of(root: Element) -> str | None:
    """What `<title>` says, None where it is missing or empty."""
    found = root.find(".//head/title")
    if found is None:
        found = root.find(".//title")
    return collapsed("".join(map(str, found.itertext()))) or None if found is not None else None


def collapsed(text: str) -> str:
    """Text with white space as a browser shows it: runs are one space, `<br>` is a line end."""
    text = _MARKED.sub(r"\1", _SPACES.sub(" ", text.replace("\u00ad", "")))
    return text.strip(f" {BREAK}").replace(BREAK, "\n").replace(_KEPT_SPACE, " ")


class Reader:
    """Walks a tree and hands its blocks to `builder`.

    A dialect overrides `ignored`, `blocks` or `handlers`, which return the pair (at start, at end)
    for an element.
    """

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.references: list[str] = []
        self.visibility = Visibility()
        self.left_out: Mapping[Element, str] | None = None  # None: no navigation is read
        self.first_heading: str | None = None
        self._buffers: list[list[str]] = [[]]
        self._kinds: list[ParagraphKind] = []
        self._lists: list[int | None] = []  # the next number of each open list, None for bullets
        self._prefix = ""  # what the next block of a list item begins with
        self._tight = False
        self._pre = 0
        self._table: Table | None = None

    def walk(self, root: Element) -> None:
        """Reads everything visible below `root`."""
        for event, element in self._events(root):
            if event == "start":
                self._start(element)
            elif event == "end":
                self._end(element)
            if event != "start" and element is not root:
                self.text(element.tail)
        self.flush()

    def _events(self, root: Element) -> Iterator[tuple[str, Element]]:
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start" and self.ignored(element):
                walk.skip_subtree()
                next(walk)  # its end
                yield "skipped", element
            else:
                yield event, element

    # -- running text ---------------------------------------------------------------------------

    def text(self, text: str | None) -> None:
        """Adds running text to the innermost open buffer."""
        if not text:
            return
        if self._pre and self._table is None:
            text = text.replace("\r\n", "\n").replace("\n", BREAK).replace("\t", " " * 4)
            text = text.replace(" ", _KEPT_SPACE)
        self._buffers[-1].append(text)

    def open(self) -> None:
        """Begins a buffer of its own for what follows."""
        self._buffers.append([])

    def close(self) -> str:
        """Ends the innermost buffer; returns its text."""
        return collapsed("".join(self._buffers.pop()))

    def flush(self) -> None:
        """Ends the block that is being collected."""
        if self._table is not None or len(self._buffers) > 1:
            self._buffers[-1].append(" ")  # inside a cell or note a block end only parts words
            return
        text = collapsed("".join(self._buffers[0]))
        self._buffers[0].clear()
        if text.strip():
            self.block(text)

    def block(self, text: str) -> None:
        """Adds a finished block of the kind that is open."""
        kind = self._kinds[-1] if self._kinds else "text"
        if self._prefix:
            text, self._prefix = self._prefix + text, ""
        tight = kind == "list" and self._tight
        self.builder.paragraph(text, kind, tight=tight, indent=2 * max(0, len(self._lists) - 1))
        self._tight = kind == "list"

    # -- elements -------------------------------------------------------------------------------

    def ignored(self, element: Element) -> bool:
        """Whether neither the element nor what is below it is read."""
        if self.left_out is None:
            return is_navigation(element) or self.visibility.hides(element)
        return element in self.left_out or self.visibility.hides(element)

    def is_block(self, element: Element) -> bool:
        """Whether the element stands on lines of its own."""
        return element.tag in _BLOCKS

    def _start(self, element: Element) -> None:
        if self.is_block(element):
            self.flush()
        begin, _ = self.handlers(element)
        if begin:
            begin(element)
        self.text(element.text)

    def _end(self, element: Element) -> None:
        _, finish = self.handlers(element)
        if finish:
            finish(element)
        if self.is_block(element):
            self.flush()

    def handlers(self, element: Element) -> tuple[Handler | None, Handler | None]:
        """What to do at the start and at the end of an element."""
        tag = str(element.tag)
        if self._table is not None:
            found = _IN_TABLE.get(tag)
            if found:
                return getattr(self, found[0]), getattr(self, found[1])
        elif _HEADING.fullmatch(tag):
            return self.opened, self._end_heading
        elif tag in _KIND_OF or self._is_note(element):
            return self._begin_kind, self._end_kind
        elif tag in _LISTS:
            return self._begin_list, self._end_list
        names = _HANDLERS.get(tag)
        return (getattr(self, names[0]), getattr(self, names[1])) if names else (None, None)

    def _is_note(self, element: Element) -> bool:
        marks = f"{element.get('class', '')} {element.get('role', '')}"
        return "note" in marks and self.is_block(element) and _NOTES.search(marks) is not None

    def nothing(self, element: Element) -> None:
        """For elements that matter at one end only."""

    def opened(self, element: Element) -> None:
        """Begins a buffer for the text of an element."""
        self.open()

    def _end_heading(self, element: Element) -> None:
        text = self.close()
        if len(self._buffers) > 1:
            self.text(f" {text} ")
            return
        text = " ".join((self._prefix + text).split())
        self._prefix, self._tight = "", False
        self.first_heading = self.first_heading or text
        self.builder.heading(self.level(element), text)

    def level(self, element: Element) -> int:
        """The level of a heading, 1 the outermost."""
        match = _HEADING.fullmatch(str(element.tag))
        return int(match[1]) if match else 6

    def _begin_kind(self, element: Element) -> None:
        kind = _KIND_OF.get(str(element.tag), "note")
        self._kinds.append(kind)
        self._pre += element.tag in _VERBATIM
        if kind not in ("list",):
            self._tight = False

    def _end_kind(self, element: Element) -> None:
        self.flush()
        self._kinds.pop()
        self._pre -= element.tag in _VERBATIM

    def _begin_list(self, element: Element) -> None:
        start = element.get("start", "1")
        self._lists.append(
            (int(start) if start.lstrip("-").isdecimal() and len(start) < 9 else 1)
            if element.tag == "ol"
            else None
        )
        if len(self._lists) == 1:
            self._tight = False

    def _end_list(self, element: Element) -> None:
        self.flush()
        self._lists.pop()
        if not self._lists:
            self._tight = False

    def _begin_item(self, element: Element) -> None:
        inherited = self._kinds[-1] if self._kinds else "list"
        self._kinds.append("note" if inherited == "note" else "list")
        number = self._lists[-1] if self._lists else None
        self._prefix = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def _end_item(self, element: Element) -> None:
        self.flush()
        self._kinds.pop()
        self._prefix = ""

    def _break(self, element: Element) -> None:
        self.text(" ") if self._table is not None else self._buffers[-1].append(BREAK)

    def _input(self, element: Element) -> None:
        kind = (element.get("type") or "text").lower()
        if kind in ("checkbox", "radio"):
            self.text("[x] " if element.get("checked") is not None else "[ ] ")
        elif kind not in ("hidden", "password", "file", "image", "color", "range"):
            self.text(f" {element.get('value') or ''} ")

    def _quote(self, element: Element) -> None:
        self.text('"')

    def _end_raised(self, element: Element) -> None:
        text = self.close()
        before = next((p for p in reversed(self._buffers[-1]) if p), "")
        link = element.find("a")
        if link is not None and link.get("href", "").startswith("#") and text.isdecimal():
            text = f"[{text}]"
        elif _EXPONENT.match(text) and before and (before[-1].isalnum() or before[-1] in ")]$"):
            text = f"^{text}"  # 10 to the fifth is not a hundred and five
        self.text(text)

    # -- mathematics ----------------------------------------------------------------------------

    def _end_math(self, element: Element) -> None:
        shown = self.close()
        source = latex_of(element)
        self.text(f"${source}$" if source else shown)

    # -- tables ---------------------------------------------------------------------------------

    def _begin_table(self, element: Element) -> None:
        if not is_layout(element):
            self._table = Table(element)
            self.open()

    def _end_table(self, element: Element) -> None:
        if self._table is None or self._table.element is not element:
            return
        table, self._table = self._table, None
        table.text_outside(self.close())
        for caption in table.captions:
            self._emit(caption, "caption")
        self._emit(table.rendered(), "table")

    def _emit(self, text: str, kind: ParagraphKind) -> None:
        if len(self._buffers) > 1:
            self.text(f" {text} ")
            return
        self._kinds.append(kind)
        self._tight = False
        if text:
            self.block(text)
        self._kinds.pop()

    def _begin_row(self, element: Element) -> None:
        if self._table is not None and self._table.owns(element):
            self._table.begin_row()

    def _begin_cell(self, element: Element) -> None:
        if self._table is not None and self._table.owns(element):
            self.open()

    def _end_cell(self, element: Element) -> None:
        if self._table is not None and self._table.owns(element):
            self._table.cell(element, self.close())

    def _end_caption(self, element: Element) -> None:
        if self._table is not None:
            self._table.captions.append(self.close())


Handler = Callable[[Element], None]
_KIND_OF: dict[str, ParagraphKind] = {
    "blockquote": "quote",
    "caption": "caption",
    "dd": "list",
    "dt": "list",
    "figcaption": "caption",
    "listing": "code",
    "pre": "code",
    "textarea": "code",
    "xmp": "code",
}
_VERBATIM = frozenset({"pre", "listing", "textarea", "xmp"})
_LISTS = frozenset({"ol", "ul", "menu", "dir"})
_HANDLERS = {
    "br": ("_break", "nothing"),
    "input": ("_input", "nothing"),
    "dl": ("nothing", "nothing"),
    "li": ("_begin_item", "_end_item"),
    "math": ("opened", "_end_math"),
    "q": ("_quote", "_quote"),
    "sup": ("opened", "_end_raised"),
    "table": ("_begin_table", "_end_table"),
}
_IN_TABLE = {
    "caption": ("opened", "_end_caption"),
    "table": ("nothing", "_end_table"),
    "td": ("_begin_cell", "_end_cell"),
    "th": ("_begin_cell", "_end_cell"),
    "tr": ("_begin_row", "nothing"),
    "li": ("nothing", "nothing"),
}


def latex_of(math: Element) -> str:
    """The LaTeX of a `<math>` element, empty where it holds none."""
    source: Any = math.get("alttext") or math.get("alt")  # the latter on pictures
    if not source:
        source = next(
            (a.text for a in math.iterdescendants("annotation") if "tex" in a.get("encoding", "")),
            None,
        )
    source = re.sub(r"(?<!\\)%\s*\n\s*", "", source or "")
    source = re.sub(r"^\s*\\displaystyle\b\s*", "", source)
    return " ".join(source.split())
