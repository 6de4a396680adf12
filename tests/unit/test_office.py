"""Workbooks, slides and tables as text: what a person sees, located by row or by slide."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.documents.numberformats import shown
from reread.errors import DamagedDocument, EmptyDocument, TooLarge, UnsupportedFormat
from reread.types import Document
from zipped import Members, zipped

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:r="{TYPES}" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def relations(*targets: tuple[str, str]) -> str:
    """A part of relations rId1, rId2, … of (kind, target)."""
    said = "".join(
        f'<Relationship Id="rId{k}" Type="{TYPES}/{kind}" Target="{target}"/>'
        for k, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{RELATIONS}">{said}</Relationships>'


# -- workbooks ------------------------------------------------------------------------------------

STYLES = (
    f'<styleSheet xmlns="{SHEETS}"><numFmts><numFmt numFmtId="164" formatCode="0.0%"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="4"/></cellXfs>'
    "</styleSheet>"
)


def workbook(
    sheets: dict[str, str],
    *,
    strings: str = "",
    states: dict[str, str] | None = None,
    properties: str = "",
    parts: Members | None = None,
) -> bytes:
    """A workbook; sheets are what stands in each one's `worksheet`."""
    entries = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="rId{k}" '
        f'state="{(states or {}).get(name, "visible")}"/>'
        for k, name in enumerate(sheets, 1)
    )
    targets = [("worksheet", f"worksheets/sheet{k}.xml") for k in range(1, len(sheets) + 1)]
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{TYPES}">{properties}'
            f"<sheets>{entries}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(*targets),
            "xl/styles.xml": STYLES,
            "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{strings}</sst>',
            **{
                f"xl/worksheets/sheet{k}.xml": f'<worksheet xmlns="{SHEETS}">{body}</worksheet>'
                for k, body in enumerate(sheets.values(), 1)
            },
            **(parts or {}),
        }
    )


def row(number: int, *cells: str, more: str = "") -> str:
    return f'<row r="{number}" {more}>{"".join(cells)}</row>'


def c(place: str, value: object, kind: str = "n", style: int = 0, formula: str = "") -> str:
    said = f"<is><t>{value}</t></is>" if kind == "inlineStr" else f"<v>{value}</v>"
    made = f"<f>{formula}</f>" if formula else ""
    return f'<c r="{place}" t="{kind}" s="{style}">{made}{said if value != "" else ""}</c>'


def words(number: int, *said: str) -> str:
    cells = [c(f"{'ABCDEFG'[k]}{number}", t, "inlineStr") for k, t in enumerate(said) if t]
    return row(number, *cells)


def data(*rows: str) -> str:
    return f"<sheetData>{''.join(rows)}</sheetData>"


def book(*rows: str, before: str = "", **more: str) -> Document:
    document = load_bytes(workbook({"Costs": before + data(*rows)}, **more), name="book.xlsx")  # type: ignore[arg-type]
    assert_whole(document)
    return document


def test_sheets_are_tables_located_by_their_rows() -> None:
    sheets = {"Costs": data(words(2, "Item", "Euro"), words(3, "Rope", "12")), "B": data()}
    sheets["People"] = data(words(1, "Ann"), words(7, "Bo", "", "x"))
    document = load_bytes(workbook(sheets), name="book.xlsx")
    assert_whole(document)
    assert [
        (p.kind, p.locator, t) for p, t in zip(document.paragraphs, texts(document), strict=True)
    ] == [
        ("heading", "sheet Costs", "Costs"),
        ("table", "sheet Costs › row 2", "Item | Euro\nRope | 12"),
        ("heading", "sheet People", "People"),
        ("text", "sheet People › row 1", "Ann"),
        ("table", "sheet People › row 7", "Bo | x"),
    ]
    assert (document.title, document.coverage.parts) == ("book", 3)
    assert document.coverage.blank == ("sheet B",)


def test_cells_show_what_a_person_sees() -> None:
    strings = "<si><t>plain</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>no</t></rPh></si>"
    document = book(
        row(
            1, c("A1", 0, "s"), c("B1", 1, "s"), c("C1", 45356, style=1), c("D1", 0.256, style=2),
            c("E1", 1234.5, style=3), c("F1", 1, "b"), c("G1", "#N/A", "e"),
            c("H1", "two", "str", formula="A1"), c("I1", 99, "s"), c("J1", "2024-05-06", "d"),
            c("K1", 3.0000000000000004, formula="1+2"),
        ),
        strings=strings,
    )  # fmt: skip
    assert texts(document, "table") == [
        "plain | rich | 2024-03-05 | 25.6% | 1,234.50 | TRUE | #N/A | two | 2024-05-06 | 3"
    ]


def test_dates_may_count_from_1904() -> None:
    rows = (row(1, c("A1", 43894, style=1), c("B1", 1)),)
    assert texts(book(*rows, properties='<workbookPr date1904="1"/>'))[1] == "2024-03-05 | 1"


def test_hidden_sheets_rows_and_columns_are_left_out_and_named() -> None:
    sheets = {
        "Seen": '<cols><col min="2" max="16384" hidden="1"/></cols>'
        + data(
            words(1, "a", "no"),
            row(2, c("A2", "no", "inlineStr"), more='hidden="1"'),
            words(3, "b"),
        ),
        "Gone": data(words(1, "no")),
        "Deep": data(words(1, "no")),
    }
    states = {"Gone": "hidden", "Deep": "veryHidden"}
    document = load_bytes(workbook(sheets, states=states), name="a.xlsx")
    assert texts(document) == ["Seen", "a\nb"]
    assert document.coverage.left_out == (
        ("sheet Seen: rows (1)", "hidden"),
        ("sheet Seen: columns (1)", "hidden"),
        ("sheet Gone", "hidden"),
        ("sheet Deep", "hidden"),
    )
    assert document.coverage.complete
    assert document.coverage.parts == 1


def test_formulas_without_a_stored_value_are_named() -> None:
    document = book(row(1, c("A1", 1), c("B1", "", formula="A1*2")))
    assert texts(document)[1] == "1"
    assert document.coverage.failed[0][0] == "sheet Costs: formulas (1)"


def test_long_tables_begin_each_piece_with_the_names_of_their_columns() -> None:
    rows = [words(1, "All costs"), words(2, "Item", "Remark")]
    rows += [words(k, f"thing{k}", "one two three four five six seven") for k in range(3, 60)]
    document = book(*rows)
    assert texts(document)[1] == "All costs"
    tables = texts(document, "table")
    assert len(tables) == 3
    assert all(t.startswith("Item | Remark\nthing") for t in tables)
    places = [p.locator for p in document.paragraphs if p.kind == "table"]
    assert places == [f"sheet Costs › row {k}" for k in (2, 30, 57)]


def test_cells_without_places_stand_side_by_side() -> None:
    cells = "<row><c><v>1</v></c><c/><c><v>3</v></c></row><row><c><v>4</v></c></row>"
    assert texts(book(cells))[1] == "1 | 3\n4"


def test_a_million_rows_of_style_only_cost_nothing() -> None:
    styled = "".join(f'<row r="{k}" s="3"><c r="A{k}" s="3"/></row>' for k in range(2, 100_000))
    document = book(words(1, "Only"), styled)
    assert document.text == "Costs\n\nOnly"


def test_strings_shown_without_end_are_refused() -> None:
    cells = "".join(f'<row r="{k}"><c t="s"><v>0</v></c></row>' for k in range(1, 2000))
    with pytest.raises(TooLarge, match="tables of"):
        book(cells, strings=f"<si><t>{'x' * 40_000}</t></si>")


def test_damaged_sheets_cost_only_themselves() -> None:
    sheets = {"One": data(words(1, "a")), "Two": data(words(1, "b")) + "<broken"}
    document = load_bytes(workbook(sheets), name="a.xlsx")
    assert texts(document) == ["One", "a", "Two", "b"]
    ((part, reason),) = document.coverage.failed
    assert part == "sheet Two"
    assert reason.endswith("what came before was read")


def test_declared_entities_are_refused() -> None:
    bomb = '<!DOCTYPE s [<!ENTITY a "b">]><sst><si><t>&a;</t></si></sst>'
    document = book(words(1, "x"), row(2, c("A2", 0, "s")), parts={"xl/sharedStrings.xml": bomb})  # type: ignore[arg-type]
    assert texts(document) == ["Costs", "x"]
    assert document.coverage.failed[0][0] == "xl/sharedStrings.xml"


def test_books_that_are_none_say_so() -> None:
    with pytest.raises(DamagedDocument, match=r"xl/workbook\.xml"):
        load_bytes(zipped({"xl/workbook.xml": "<"}), name="a.xlsx")
    with pytest.raises(DamagedDocument):
        load_bytes(b"only text", name="a.xlsx")
    with pytest.raises(EmptyDocument):
        book()
    with pytest.raises(UnsupportedFormat, match="binary form"):
        load_bytes(zipped({"xl/workbook.bin": "x"}), name="a.xlsb")
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnsupportedFormat, match="locked with a password"):
        load_bytes(locked, name="a.xlsx")


@pytest.mark.parametrize(
    ("value", "code", "said"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (123456789012345, "General", "123456789012345"),
        (1.5e-7, "General", "1.5E-07"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (2.675, "0.00", "2.68"),
        (-5, "#,##0", "-5"),
        (-5, "0.00_);(0.00)", "(5.00)"),
        (-0.001, "0.00", "0.00"),
        (12.5, '[$€-407] #,##0.00;[Red]-"x"0', "€ 12.50"),
        (1234567, '0.0,,"M"', "1.2M"),
        (0, '0;-0;"none"', "none"),
        (0, ";;;", ""),
        (0, '0.0;0.0;"-"??" €"', "- €"),
        (7, "000", "007"),
        (3, "0.##", "3"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.25, "# ?/?", "0.25"),
        (15, '[<10]"low";"high"', "high"),
        (3, 'General" kg"', "3 kg"),
        (8, "@", "8"),
        (45356, "d/m/yy", "2024-03-05"),
        (45356.75, "[$-409]m/d/yy h:mm AM/PM;@", "2024-03-05 18:00"),
        (45356, "mmm\\-yy", "2024-03"),
        (45356, "mmmm", "March"),
        (45356, "yyyy", "2024"),
        (45356, "dddd", "Tuesday"),
        (0.5, "h:mm:ss", "12:00:00"),
        (1.5, "[h]:mm", "36:00"),
        (0.01, "[mm]:ss", "14:24"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (1e9, "yyyy-mm-dd", "1000000000"),
        (1e300, "0.00", "1E+300"),
    ],
)
def test_numbers_are_shown_by_their_format(value: float, code: str, said: str) -> None:
    assert shown(value, code) == said


# -- tables as text -------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [",", ";", "\t", "|"])
def test_the_character_between_cells_is_found(by: str) -> None:
    table = f'name{by}said\nAnn{by}"a{by} b"\n\nBo{by}c\n'
    document = load_bytes(table.encode(), name="people.csv")
    assert_whole(document)
    assert document.title == "people"
    kept = " " if by == "\t" else f"{by} "
    assert located(document) == {f"name | said\nAnn | a{kept}b": "row 1", "Bo | c": "row 4"}


def test_tabs_and_other_encodings() -> None:
    document = load_bytes("a, b\tc\n1\t2\n".encode("utf-16"), name="a.tsv")
    assert document.text == "a, b | c\n1 | 2"
    assert document.media_type == "text/tab-separated-values"


def test_tables_that_are_damaged_or_empty() -> None:
    with pytest.raises(DamagedDocument, match="cannot be read"):
        load_bytes(b'a,b\n1,"' + b"x" * 200_000, name="a.csv")
    with pytest.raises(EmptyDocument):
        load_bytes(b",,\n,,\n", name="a.csv")


# -- slides ---------------------------------------------------------------------------------------


def shape(*paragraphs: str, place: str | None = None, more: str = "") -> str:
    holder = f'<p:ph type="{place}"/>' if place else "<p:ph/>" if place == "" else ""
    said = "".join(
        t if t.startswith("<a:p>") else f"<a:p><a:r><a:t>{t}</a:t></a:r></a:p>" for t in paragraphs
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" {more}/><p:nvPr>{holder}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{said}</p:txBody></p:sp>"
    )


def para(text: str, properties: str = "", level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def slides(*bodies: str, parts: Members | None = None, hidden: int = 0) -> Document:
    entries = "".join(f'<p:sldId id="{k}" r:id="rId{k}"/>' for k in range(1, len(bodies) + 1))
    members: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {SLIDES}><p:sldIdLst>{entries}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{k}.xml") for k in range(1, len(bodies) + 1))
        ),
    }
    for k, body in enumerate(bodies, 1):
        seen = 'show="0"' if k == hidden else ""
        members[f"ppt/slides/slide{k}.xml"] = (
            f"<p:sld {SLIDES} {seen}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>"
        )
    document = load_bytes(zipped(members | dict(parts or {})), name="talk.pptx")
    assert_whole(document)
    return document


def test_slides_have_their_title_as_locator() -> None:
    document = slides(
        shape("By Ann", place="subTitle") + shape("The Harbour", place="ctrTitle"),
        shape("Costs", place="title") + shape("One", para("Sub", level=1), "Two", place="body"),
        shape("A free note."),
    )
    assert document.title == "The Harbour"
    assert [
        (p.kind, p.locator, t) for p, t in zip(document.paragraphs, texts(document), strict=True)
    ] == [
        ("heading", "slide 1", "The Harbour"),
        ("text", "slide 1", "By Ann"),
        ("heading", "slide 2 › Costs", "Costs"),
        ("list", "slide 2 › Costs", "- One\n  - Sub\n- Two"),
        ("text", "slide 3", "A free note."),
    ]


def test_hidden_blank_and_pictured_slides_are_told_apart() -> None:
    document = slides(shape("a"), shape("no"), "<p:pic/>", shape("7", place="sldNum"), hidden=2)
    assert document.text == "a"
    coverage = document.coverage
    assert (coverage.parts, coverage.read) == (3, 1)
    assert coverage.left_out == (("slide 2", "hidden"),)
    assert (coverage.without_text, coverage.blank) == (("slide 3",), ("slide 4",))


def test_lists_are_numbered_as_they_show() -> None:
    number = '<a:buAutoNum type="arabicPeriod"/>'
    document = slides(
        shape(
            para("a", number), para("x", '<a:buChar char="•"/>', 1), para("b", number),
            para("plain", "<a:buNone/>"), place="body",
        )
    )  # fmt: skip
    assert document.text == "1. a\n  - x\n2. b\n\nplain"


def test_tables_groups_breaks_and_formulas() -> None:
    cells = "".join(
        f"<a:tr><a:tc><a:txBody><a:p><a:r><a:t>{a}</a:t></a:r></a:p></a:txBody></a:tc>"
        f"<a:tc {m}><a:txBody><a:p><a:r><a:t>{b}</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
        for a, b, m in (("Name", "Age", ""), ("Ann", "7", ""), ("wide", "no", 'hMerge="1"'))
    )
    table = f"<p:graphicFrame><a:graphic><a:tbl>{cells}</a:tbl></a:graphic></p:graphicFrame>"
    broken_line = "<a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>"
    group = f"<p:grpSp>{shape(broken_line)}</p:grpSp>"
    formula = shape("<a:p><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></a:p>")
    unseen = shape("no", more='hidden="1"')
    document = slides(table + group + formula + unseen)
    assert texts(document) == ["Name | Age\nAnn | 7\nwide", "one\ntwo", "$x$"]
    assert [p.kind for p in document.paragraphs] == ["table", "text", "math"]


def test_charts_diagrams_and_notes() -> None:
    frame = '<p:graphicFrame><c:chart r:id="rId1"/><dgm:relIds r:dm="rId2"/></p:graphicFrame>'
    points = '<c:pt idx="0"><c:v>{}</c:v></c:pt><c:pt idx="1"><c:v>{}</c:v></c:pt>'
    chart = (
        f"<c:chartSpace {SLIDES}><c:chart><c:title><a:p><a:r><a:t>Ships</a:t></a:r></a:p></c:title>"
        f"<c:ser><c:tx><c:v>Count</c:v></c:tx><c:cat>{points.format('May', 'June')}</c:cat>"
        f"<c:val>{points.format('3', '4.5')}</c:val></c:ser></c:chart></c:chartSpace>"
    )
    diagram = (
        f'<dgm:dataModel {SLIDES}><dgm:ptLst><dgm:pt type="doc"/><dgm:pt><dgm:t><a:p><a:r><a:t>Load'
        "</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
    )
    said = shape("Speak up.", place="body") + shape("1", place="sldNum")
    notes = f"<p:notes {SLIDES}><p:cSld><p:spTree>{said}</p:spTree></p:cSld></p:notes>"
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            ("chart", "../charts/c.xml"), ("diagramData", "../d.xml"), ("notesSlide", "../n.xml")
        ),
        "ppt/charts/c.xml": chart,
        "ppt/d.xml": diagram,
        "ppt/n.xml": notes,
    }
    document = slides(frame, parts=parts)
    assert texts(document) == [
        "Ships",
        "| Count\nMay | 3\nJune | 4.5",
        "- Load",
        "Notes: Speak up.",
    ]
    assert [p.kind for p in document.paragraphs] == ["caption", "table", "list", "note"]
    damaged = slides(shape("a") + frame, parts=parts | {"ppt/charts/c.xml": "<c"})
    assert damaged.coverage.failed[0][0] == "slide 1: chart"


def test_damaged_slides_cost_only_themselves() -> None:
    document = slides(shape("a"), shape("b"), parts={"ppt/slides/slide2.xml": "<p"})
    assert document.text == "a"
    assert document.coverage.failed[0][0] == "slide 2"
