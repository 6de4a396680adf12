"""OpenDocument texts, workbooks and slides: what a reader sees, each thing once and in order."""

from __future__ import annotations

import zipfile

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.errors import DamagedDocument, EmptyDocument, TooLarge, UnsupportedFormat
from reread.types import Document
from zipped import zipped

_NAMES = "office text table draw presentation style fo svg meta number"
SPACES = " ".join(
    f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in _NAMES.split()
)
TYPE = "application/vnd.oasis.opendocument"


def opened(
    kind: str,
    body: str,
    styles: str = "",
    more: dict[str, str] | None = None,
    *,
    first: bool = True,
) -> Document:
    """The document of a file whose body holds this; `first` says its type before all else."""
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>"
    )
    members = {"content.xml": content, **(more or {})}
    mimetype = {"mimetype": f"{TYPE}.{kind}"}
    members = mimetype | members if first else members | mimetype
    method = zipfile.ZIP_STORED if first else zipfile.ZIP_DEFLATED
    document = load_bytes(zipped(members, method=method), name="file")
    assert document.media_type == f"{TYPE}.{kind}"
    assert_whole(document)
    return document


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def h(text: str, level: int = 1) -> str:
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


def style(name: str, family: str = "paragraph", properties: str = "", parent: str = "") -> str:
    return (
        f'<style:style style:name="{name}" style:family="{family}" '
        f'style:parent-style-name="{parent}">{properties}</style:style>'
    )


def table(*rows: str) -> str:
    made = ""
    for row in rows:
        cells = "".join(f"<table:table-cell>{p(c)}</table:table-cell>" for c in row.split("|"))
        made += f"<table:table-row>{cells}</table:table-row>"
    return f"<table:table>{made}</table:table>"


# -- texts ----------------------------------------------------------------------------------------


def test_headings_paragraphs_and_styles() -> None:
    styles = style("P1", parent="Quotations") + style("P2", parent="Preformatted_20_Text")
    body = (
        p("The Title", "Title") + h("One") + p("a") + h("Two", 2) + p("b", "P1")
        + p("x<text:s text:c='2'/>y", "P2") + p("  z \n z", "P2")
    )  # fmt: skip
    document = opened("text", body, styles + style("Quotations"))
    assert document.title == "The Title"
    assert [
        (q.kind, q.locator, t) for q, t in zip(document.paragraphs, texts(document), strict=True)
    ] == [
        ("heading", "The Title", "The Title"),
        ("heading", "One", "One"),
        ("text", "One", "a"),
        ("heading", "One › Two", "Two"),
        ("quote", "One › Two", "b"),
        ("code", "One › Two", "x  y"),
        ("code", "One › Two", "z z"),
    ]


def test_the_description_gives_the_title() -> None:
    meta = (
        f'<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title> The  Plan </dc:title></office:meta></office:document-meta>"
    )
    assert opened("text", p("a"), more={"meta.xml": meta}).title == "The Plan"


def test_the_type_is_found_wherever_it_stands() -> None:
    assert opened("text", p("a"), first=False).text == "a"


def test_running_text() -> None:
    body = p(
        "a <text:span>b</text:span><text:tab/>c<text:line-break/>d  e"
        '<text:a>link</text:a><text:s/><text:span text:style-name="H">no</text:span>'
        "<office:annotation><text:p>no</text:p></office:annotation>\u00ad"
        "<text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>kan</text:ruby-text></text:ruby>"
    )
    hidden = style("H", "text", '<style:text-properties text:display="none"/>')
    assert opened("text", body, hidden).text == "a b\tc\nd elink 漢(kan)"


def test_changes_are_accepted_and_hidden_sections_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion>" + p("old")
        + "</text:deletion></text:changed-region></text:tracked-changes>"
        + p("Kept <text:change-start/>new<text:change-end/>")
        + f'<text:section text:display="none">{p("no")}</text:section>'
        + f"<text:section>{p('shown')}</text:section>"
    )  # fmt: skip
    assert texts(opened("text", body)) == ["Kept new", "shown"]


NOTE = (
    '<text:note text:note-class="footnote"><text:note-citation>{}</text:note-citation>'
    "<text:note-body>{}</text:note-body></text:note>"
)


def test_notes_and_boxes_follow_their_paragraph() -> None:
    inside = f"<svg:title>no</svg:title><draw:text-box>{p('In it.')}</draw:text-box>"
    box = f"<draw:frame>{inside}</draw:frame>"
    body = p("Said" + NOTE.format("1", p("First.") + p("More.")) + box + ".") + p("Next.")
    document = opened("text", body)
    assert texts(document) == ["Said[^1].", "In it.", "[^1]: First.\nMore.", "Next."]
    assert [q.kind for q in document.paragraphs] == ["text", "text", "note", "text"]


def test_lists_keep_levels_numbers_and_bullets() -> None:
    styles = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
        'style:num-suffix="." style:num-format="1"/><text:list-level-style-number text:level="2" '
        'style:num-suffix=")" style:num-format="a" text:display-levels="2"/></text:list-style>'
        '<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/>'
        "</text:list-style>"
    )

    def items(*said: str) -> str:
        return "".join(f"<text:list-item>{s}</text:list-item>" for s in said)

    inner = f"<text:list>{items(p('x'), p('y'))}</text:list>"
    body = (
        f'<text:list text:style-name="L">{items(p("One") + inner, p("Two") + p("more"))}'
        "</text:list>"
        + p("Between")
        + f'<text:list text:style-name="L" text:continue-numbering="true">{items(p("Three"))}'
        f'</text:list>{p("and")}<text:list text:style-name="B">{items(p("dot"))}</text:list>'
    )
    assert opened("text", body, styles).text == (
        "1. One\n  1.a) x\n  1.b) y\n2. Two\nmore\n\nBetween\n\n3. Three\n\nand\n\n- dot"
    )


def test_tables_are_rows_and_their_notes_follow() -> None:
    body = table("Name|Age", f"Ann{NOTE.format('1', p('A note.'))}|7")
    document = opened("text", body + table("only"))
    assert texts(document) == ["Name | Age\nAnn[^1] | 7", "[^1]: A note.", "only"]
    wide = (
        "<table:table><table:table-header-rows><table:table-row>"
        f'<table:table-cell table:number-columns-spanned="2">{p("Wide")}</table:table-cell>'
        f"<table:covered-table-cell/><table:table-cell>{p('a')}</table:table-cell>"
        "</table:table-row></table:table-header-rows></table:table>"
    )
    assert opened("text", wide).text == "Wide |  | a"


def test_files_that_cannot_be_read_say_so() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(DamagedDocument, match="locked with a password"):
        opened("text", p("a"), more={"META-INF/manifest.xml": manifest})
    with pytest.raises(DamagedDocument, match=r"content\.xml"):
        opened("text", "", more={"content.xml": "<x"})
    with pytest.raises(DamagedDocument, match="entities"):
        opened("text", "", more={"content.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"})
    with pytest.raises(EmptyDocument):
        opened("text", p(" "))
    with pytest.raises(UnsupportedFormat, match="a drawing"):
        opened("graphics", "")
    with pytest.raises(DamagedDocument):
        load_bytes(b"only text", name="a.odt")


# -- workbooks ------------------------------------------------------------------------------------


def cells(*said: str, more: str = "") -> str:
    made = "".join(f"<table:table-cell>{p(t) if t else ''}</table:table-cell>" for t in said)
    return f"<table:table-row {more}>{made}</table:table-row>"


def sheet(name: str, *rows: str, style: str = "", columns: str = "") -> str:
    return (
        f'<table:table table:name="{name}" table:style-name="{style}">{columns}{"".join(rows)}'
        "</table:table>"
    )


def test_sheets_are_tables_located_by_their_rows() -> None:
    empty = (
        '<table:table-row table:number-rows-repeated="1048570"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
    )
    twice = (
        '<table:table-row table:number-rows-repeated="2"><table:table-cell '
        f'table:number-columns-repeated="2">{p("x")}</table:table-cell></table:table-row>'
    )
    valued = '<table:table-row><table:table-cell office:value="4.5"/></table:table-row>'
    body = (
        sheet("Costs", cells("Item", "", "Euro"), twice, empty)
        + sheet("Late", empty.replace("1048570", "9"), valued)
        + sheet("None", empty)
    )  # fmt: skip
    document = opened("spreadsheet", body)
    assert located(document) == {
        "Costs": "sheet Costs",
        "Item |  | Euro\nx | x\nx | x": "sheet Costs › row 1",
        "Late": "sheet Late",
        "4.5": "sheet Late › row 10",
    }
    assert document.coverage.blank == ("sheet None",)


def test_hidden_sheets_rows_and_columns_are_left_out() -> None:
    styles = style("Hid", "table", '<style:table-properties table:display="false"/>')
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/>'
    gone = cells("no", more='table:visibility="filter"')
    body = sheet("Seen", cells("a", "no"), gone, cells("b"), columns=columns)
    document = opened("spreadsheet", body + sheet("Gone", cells("no"), style="Hid"), styles)
    assert texts(document) == ["Seen", "a\nb"]
    assert document.coverage.left_out == (
        ("sheet Seen: rows (1)", "hidden"),
        ("sheet Seen: columns (1)", "hidden"),
        ("sheet Gone", "hidden"),
    )


def test_cells_repeated_without_end_are_refused_or_few() -> None:
    long = "x" * 100_000
    row = (
        f'<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        f'table:number-columns-repeated="16384">{p(long)}</table:table-cell></table:table-row>'
    )
    with pytest.raises(TooLarge):
        opened("spreadsheet", sheet("A", row))


# -- slides ---------------------------------------------------------------------------------------


def frame(kind: str, *said: str) -> str:
    inside = "".join(map(p, said))
    box = f"<draw:text-box>{inside}</draw:text-box>"
    return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'


def test_slides_notes_and_hidden_ones() -> None:
    styles = style(
        "Hid", "drawing-page", '<style:drawing-page-properties presentation:visibility="hidden"/>'
    )
    outline = (
        "<draw:frame><draw:text-box><text:list><text:list-item>" + p("One")
        + "</text:list-item><text:list-item>" + p("Two") + "</text:list-item></text:list>"
        "</draw:text-box></draw:frame>"
    )  # fmt: skip
    said = frame("notes", "Speak up.") + frame("header", "no")
    notes = f"<presentation:notes>{said}</presentation:notes>"
    body = (
        f"<draw:page>{outline}{frame('title', 'Costs')}{notes}</draw:page>"
        f'<draw:page draw:style-name="Hid">{frame("title", "no")}</draw:page>'
        "<draw:page><draw:frame><draw:image/></draw:frame></draw:page><draw:page/>"
        f"<draw:page><draw:custom-shape>{p('Free')}</draw:custom-shape>"
        f"<draw:g><draw:frame>{table('a|b')}</draw:frame></draw:g></draw:page>"
    )
    document = opened("presentation", body, styles)
    assert document.title == "Costs"
    assert [
        (q.kind, q.locator, t) for q, t in zip(document.paragraphs, texts(document), strict=True)
    ] == [
        ("heading", "slide 1", "Costs"),
        ("list", "slide 1", "- One\n- Two"),
        ("note", "slide 1", "Notes: Speak up."),
        ("text", "slide 5", "Free"),
        ("table", "slide 5", "a | b"),
    ]
    coverage = document.coverage
    assert (coverage.parts, coverage.read) == (4, 2)
    assert coverage.left_out == (("slide 2", "hidden"),)
    assert (coverage.without_text, coverage.blank) == (("slide 3",), ("slide 4",))
