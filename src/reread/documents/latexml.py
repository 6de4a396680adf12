"""Pages that LaTeXML made of a paper (arXiv's own HTML, ar5iv, local conversions).

Mathematics is read as the LaTeX it came from, footnotes stand once and after their paragraph, and
the bibliography is kept apart. Only the article itself is read, not what a site puts around it.
"""

from __future__ import annotations

from reread.documents import html
from reread.documents.html import Element, latex_of
from reread.documents.tables import Table

_SKIPPED = frozenset(
    "ltx_rdf ltx_page_footer ltx_page_header ltx_page_navbar ltx_TOC ltx_listing_data"
    " ltx_author_before ltx_ERROR ltx_bib_cited ltx_pagination ltx_page_logo".split()
)
_BLOCK_CLASSES = frozenset(
    "ltx_p ltx_para ltx_abstract ltx_creator ltx_date ltx_classification ltx_keywords"
    " ltx_listing ltx_listingline ltx_equation ltx_equationgroup ltx_bibitem ltx_caption"
    " ltx_tabular ltx_theorem ltx_proof ltx_figure ltx_table ltx_item ltx_acknowledgements"
    " ltx_dates ltx_subtitle ltx_minipage".split()
)
# Titles inside these are the beginning of their text.
_RUN_IN = frozenset({"ltx_title_classification", "ltx_title_keywords"})
# Headings that rank by what they head, not by the tag that gives them their size.
_LEVELS = {"ltx_title_abstract": 2, "ltx_title_acknowledgements": 2, "ltx_title_document": 1}
# A heading in one of these holds to its end only.
_SCOPES = frozenset("ltx_theorem ltx_proof ltx_abstract ltx_acknowledgements ltx_paragraph".split())


def article(root: Element) -> Element | None:
    """The article of a page that LaTeXML made, None for any other page."""
    for element in root.iter("article", "div", "section"):
        if "ltx_document" in _classes(element):
            return element
    return None


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


class Reader(html.Reader):
    """Reads the article of a LaTeXML page."""

    def __init__(self) -> None:
        super().__init__()
        self._notes: list[tuple[str, str]] = []
        self._marks: list[str] = []
        self._scopes: list[tuple[tuple[int, str], ...]] = []
        self._bibliography = 0
        self._in_equation = False
        self._number = ""

    def walk(self, root: Element) -> None:
        super().walk(root)
        self._set_notes()  # those that no block called

    # -- blocks ---------------------------------------------------------------------------------

    def ignored(self, element: Element) -> bool:
        names = _classes(element)
        if not _SKIPPED.isdisjoint(names) or "ltx_note_mark" in names or "ltx_tag_note" in names:
            return True
        return super().ignored(element)

    def is_block(self, element: Element) -> bool:
        names = _classes(element)
        if "ltx_title" in names and not _RUN_IN.isdisjoint(names):
            return False
        return super().is_block(element) or not _BLOCK_CLASSES.isdisjoint(names)

    def block(self, text: str) -> None:
        if self._bibliography:
            self.references.append(" ".join(text.split()))
            self._prefix = ""
            return
        super().block(text)
        self._set_notes()

    def _set_notes(self) -> None:
        """Footnotes after the block that calls them, each once."""
        notes, self._notes = list(dict.fromkeys(self._notes)), []
        for mark, text in notes:
            self.builder.paragraph(f"[^{mark}]: {text}" if mark else text, "note")
            self._tight = False

    # -- elements -------------------------------------------------------------------------------

    def handlers(self, element: Element) -> tuple[html.Handler | None, html.Handler | None]:
        names = _classes(element)
        for name in names:
            found = _BY_CLASS.get(name)
            if found and (self._table is None or name in _ALSO_IN_TABLES):
                return getattr(self, found[0]), getattr(self, found[1])
        if element.tag == "table" and ("ltx_equation" in names or "ltx_equationgroup" in names):
            return None, None
        if element.tag == "li" and "ltx_item" in names:
            return self._begin_tagged_item, self._end_item
        if "ltx_title" in names and not _RUN_IN.isdisjoint(names):
            return None, self._end_run_in
        if element.tag == "section" or not _SCOPES.isdisjoint(names):
            return self._begin_scope, self._end_scope
        return super().handlers(element)

    def level(self, element: Element) -> int:
        ranked = [_LEVELS[name] for name in _classes(element) if name in _LEVELS]
        return ranked[0] if ranked else super().level(element)

    def _end_heading(self, element: Element) -> None:
        if self._bibliography:
            self.close()
            return
        super()._end_heading(element)
        self._set_notes()

    def _end_run_in(self, element: Element) -> None:
        self.text(" ")

    def _begin_scope(self, element: Element) -> None:
        self._scopes.append(self.builder.path)

    def _end_scope(self, element: Element) -> None:
        self.flush()
        self.builder.path = self._scopes.pop()

    # -- front matter ---------------------------------------------------------------------------

    def _contact(self, element: Element) -> None:
        buffer = self._buffers[-1]
        while buffer and buffer[-1].isspace():
            buffer.pop()
        if buffer:
            buffer[-1] = buffer[-1].rstrip() + ", "

    # -- lists and listings ---------------------------------------------------------------------

    def _begin_tagged_item(self, element: Element) -> None:
        self._kinds.append("list")
        self._prefix = ""

    def _end_tag(self, element: Element) -> None:
        tag = self.close()
        self._prefix = ("-" if tag in ("•", "–", "∗", "*", "·", "◦", "") else tag) + " "

    def _begin_listing(self, element: Element) -> None:
        self.open()
        self._pre += 1

    def _end_listing(self, element: Element) -> None:
        self._pre -= 1
        self._emit(self.close(), "code")

    def _end_line(self, element: Element) -> None:
        if self._pre:
            self._buffers[-1].append(html.BREAK)

    # -- notes ----------------------------------------------------------------------------------

    def _begin_note(self, element: Element) -> None:
        mark = next(
            (
                "".join(map(str, e.itertext())).strip()
                for e in element.iterdescendants()
                if "ltx_note_mark" in _classes(e) or "ltx_tag_note" in _classes(e)
            ),
            "",
        )
        self._marks.append(mark)
        if mark:
            self.text(f"[^{mark}]")

    def _end_note(self, element: Element) -> None:
        self._marks.pop()

    def _end_note_content(self, element: Element) -> None:
        text = self.close()
        if text:
            self._notes.append((self._marks[-1] if self._marks else "", text))

    # -- mathematics ----------------------------------------------------------------------------

    def _end_math(self, element: Element) -> None:
        shown = self.close()
        source = latex_of(element)
        if not source:
            self.text(shown)
        elif self._in_equation:
            self.text(f" {source} ")
        elif element.get("display") == "block" and len(self._buffers) == 1:
            self.flush()
            self._emit(f"$${source}$$", "math")
        else:
            self.text(f"${source}$")

    def _begin_equation_row(self, element: Element) -> None:
        self.open()
        self._number = ""
        self._in_equation = True

    def _end_equation_row(self, element: Element) -> None:
        self._in_equation = False
        body = " ".join(self.close().split())
        if body or self._number:
            self._emit(f"$${body}$$ {self._number}".rstrip(), "math")

    def _end_number(self, element: Element) -> None:
        number = self.close()
        if self._in_equation:
            self._number = number
        else:
            self.text(number)

    # -- tables and bibliography ----------------------------------------------------------------

    def _begin_tabular(self, element: Element) -> None:
        if self._table is None:
            self._table = Table(element)
            self.open()

    def _begin_bibliography(self, element: Element) -> None:
        self._bibliography += 1

    def _end_bibliography(self, element: Element) -> None:
        self.flush()
        self._bibliography -= 1

    def _end_reference_tag(self, element: Element) -> None:
        self.text(" ")


_ALSO_IN_TABLES = frozenset(
    "ltx_Math ltx_note ltx_note_content ltx_tr ltx_td ltx_tabular ltx_tag_equation".split()
)
_BY_CLASS = {
    "ltx_Math": ("opened", "_end_math"),
    "ltx_bibliography": ("_begin_bibliography", "_end_bibliography"),
    "ltx_contact": ("_contact", "nothing"),
    "ltx_eqn_row": ("_begin_equation_row", "_end_equation_row"),
    "ltx_listing": ("_begin_listing", "_end_listing"),
    "ltx_listingline": ("nothing", "_end_line"),
    "ltx_note": ("_begin_note", "_end_note"),
    "ltx_note_content": ("opened", "_end_note_content"),
    "ltx_tabular": ("_begin_tabular", "_end_table"),
    "ltx_tag_bibitem": ("nothing", "_end_reference_tag"),
    "ltx_tag_equation": ("opened", "_end_number"),
    "ltx_tag_item": ("opened", "_end_tag"),
    "ltx_td": ("_begin_cell", "_end_cell"),
    "ltx_tr": ("_begin_row", "nothing"),
}
