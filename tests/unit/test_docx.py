"""DOCX: what a reader sees with all changes accepted, each thing once and in its order."""

from __future__ import annotations

import zipfile

import pytest

from documents_fixtures import assert_whole, located, shared, texts
from reread.documents import load, load_bytes
from reread.errors import DamagedDocument, EmptyDocument, UnsupportedFormat
from zipped import SPACES, WORD, broken, item, p, r, styles, table, word, word_members, zipped

STYLES = styles(
    ("H1", "heading 1", ""),
    ("H2", "heading 2", '<w:basedOn w:val="H1"/>'),
    ("Own", "My Clause", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'),
    ("T", "Title", ""),
    ("TocH", "TOC Heading", '<w:basedOn w:val="H1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
    ("Loop", "Loop", '<w:basedOn w:val="Loop"/>'),
)


def level(depth: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
    )


def numbering(*levels: str, more: str = "") -> str:
    return (
        f'<w:numbering {SPACES}><w:abstractNum w:abstractNumId="0">{"".join(levels)}'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        f"{more}</w:numbering>"
    )


LEGAL = numbering(
    level(0, "decimal", "%1."), level(1, "lowerLetter", "%1(%2)"), level(2, "lowerRoman", "(%3)")
)
BULLETS = numbering(level(0, "bullet", "\uf0b7"), level(1, "bullet", "o"))


# -- headings -------------------------------------------------------------------------------------


def test_headings_come_from_styles_and_outline_levels() -> None:
    body = (
        p("One", "H1") + p("a") + p("Two", "H2") + p("b") + p("Clause", "Own") + p("c")
        + p("Direct", properties='<w:outlineLvl w:val="0"/>') + p("d")
    )  # fmt: skip
    document = word(body, {"styles.xml": STYLES})
    assert texts(document, "heading") == ["One", "Two", "Clause", "Direct"]
    assert located(document) == {
        **{"One": "One", "a": "One", "Two": "One › Two", "b": "One › Two"},
        **{"Clause": "One › Clause", "c": "One › Clause", "Direct": "Direct", "d": "Direct"},
    }
    assert_whole(document)


def test_a_table_of_contents_makes_no_headings() -> None:
    document = word(p("Contents", "TocH") + p("x"), {"styles.xml": STYLES})
    assert texts(document, "heading") == []


def test_styles_that_rest_on_themselves_end() -> None:
    assert word(p("a", "Loop"), {"styles.xml": STYLES}).text == "a"


def test_without_a_style_part_ids_are_believed() -> None:
    assert texts(word(p("One", "Heading1") + p("a")), "heading") == ["One"]


def test_numbered_headings_show_their_number() -> None:
    body = item("First", 1) + p("a") + item("Second", 1)
    parts = {"numbering.xml": LEGAL, "styles.xml": STYLES}
    heading = '<w:outlineLvl w:val="0"/>'
    document = word(body.replace("<w:numPr>", f"{heading}<w:numPr>"), parts)
    assert texts(document, "heading") == ["1. First", "2. Second"]


@pytest.mark.parametrize(
    ("core", "body", "title"),
    [
        ("The Title", p("a"), "The Title"),
        ("", p("Styled", "T") + p("a"), "Styled"),
        ("Microsoft Word - x.doc", p("Styled", "T") + p("a"), "Styled"),
        ("Document1", p("a"), "file"),
        (None, p("Only", "H1") + p("a"), "Only"),
        (None, p("One", "H1") + p("Two", "H1"), "file"),
    ],
)
def test_titles(core: str | None, body: str, title: str) -> None:
    assert word(body, {"styles.xml": STYLES}, title=core).title == title


# -- lists ----------------------------------------------------------------------------------------


def test_lists_keep_their_levels_and_numbers() -> None:
    body = (
        item("One", 1) + item("Two", 1) + item("Sub", 1, 1) + item("Deep", 1, 2) + item("Sub", 1, 1)
        + p("Between") + item("Three", 1) + item("Again", 1, 1)
    )  # fmt: skip
    document = word(body, {"numbering.xml": LEGAL})
    assert document.text == (
        "1. One\n2. Two\n  2(a) Sub\n    (i) Deep\n  2(b) Sub\n\nBetween\n\n3. Three\n  3(a) Again"
    )
    assert {q.kind for q in document.paragraphs} == {"list", "text"}


def test_bullets() -> None:
    document = word(item("One", 1) + item("Sub", 1, 1), {"numbering.xml": BULLETS})
    assert document.text == "- One\n  - Sub"


def test_numbers_begin_anew_where_the_document_says_so() -> None:
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = item("a", 1) + item("b", 2) + item("c", 2) + item("d", 3)
    marks = numbering(level(0, "upperRoman", "%1)"), more=again)
    assert word(body, {"numbering.xml": marks}).text == "I) a\nV) b\nVI) c\nVII) d"


def test_what_is_in_no_list_is_no_item() -> None:
    document = word(item("a", 0) + item("b", 9), {"numbering.xml": LEGAL})
    assert texts(document, "list") == []


def test_styles_give_numbers_too() -> None:
    named = styles(
        ("L", "List Number", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
        ("M", "Other", '<w:basedOn w:val="L"/>'),
    )
    body = p("a", "L") + p("b", "M") + p("c", "L", '<w:numPr><w:numId w:val="0"/></w:numPr>')
    document = word(body, {"numbering.xml": LEGAL, "styles.xml": named})
    assert document.text == "1. a\n2. b\n\nc"


# -- tables ---------------------------------------------------------------------------------------


def test_tables_are_rows() -> None:
    document = word(p("Before") + table("Name|Age", "Ann|7", "|8") + p("After"))
    assert texts(document, "table") == ["Name | Age\nAnn | 7\n | 8"]
    assert document.text == "Before\n\nName | Age\nAnn | 7\n | 8\n\nAfter"


def test_spans_keep_columns_in_place() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{p("Wide")}</w:tc>'
    top = f'<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{p("Top")}</w:tc>'
    below = f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{p('covered')}</w:tc>"
    plain = [f"<w:tc>{p(c)}</w:tc>" for c in "abcd"]
    rows = (
        f"<w:tr>{wide}{plain[0]}</w:tr><w:tr>{top}{plain[1]}{plain[2]}</w:tr>"
        f"<w:tr>{below}{plain[3]}</w:tr>"
        f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{plain[0]}</w:tr>'
    )
    assert word(f"<w:tbl>{rows}</w:tbl>").text == "Wide |  | a\nTop | b | c\n | d\n | a"


def test_tables_that_arrange_a_page_are_read_as_blocks() -> None:
    document = word(f"<w:tbl><w:tr><w:tc>{p('One')}{p('Two')}</w:tc></w:tr></w:tbl>")
    assert texts(document, "text") == ["One", "Two"]
    inner = f"<w:tc>{table('a|b', 'c|d')}{p('')}</w:tc>"
    nested = f"<w:tbl><w:tr>{inner}<w:tc>{p('Side')}</w:tc></w:tr></w:tbl>"
    assert texts(word(nested)) == ["a | b\nc | d", "Side"]


# -- running text ---------------------------------------------------------------------------------


def test_tabs_breaks_and_hyphens() -> None:
    body = p(
        r("one") + "<w:r><w:tab/></w:r>" + r("two") + "<w:r><w:br/></w:r>" + r("three")
        + "<w:r><w:noBreakHyphen/></w:r>" + r("four fi") + "<w:r><w:softHyphen/></w:r>"
        + r("ve s\u00adix")
    )  # fmt: skip
    assert word(body).text == "one\ttwo\nthree-four five six"


def test_runs_join_words() -> None:
    assert word(p(r("un", "<w:b/>") + r("broken ") + r(" words"))).text == "unbroken words"


def test_links_controls_and_fields_keep_their_text() -> None:
    body = p(
        f'<w:hyperlink w:anchor="x">{r("link ")}</w:hyperlink>'
        "<w:sdt><w:sdtPr><w:alias w:val='no'/></w:sdtPr>"
        f"<w:sdtContent>{r('control ')}</w:sdtContent></w:sdt>"
        f'<w:fldSimple w:instr="PAGE">{r("simple ")}</w:fldSimple>'
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF x</w:instrText></w:r>'
        f'{r("hidden")}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{r("shown")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>' + r(" after")
    )
    block = f"<w:sdt><w:sdtContent>{p('Inside')}</w:sdtContent></w:sdt>"
    assert texts(word(body + block)) == ["link control simple shown after", "Inside"]


def test_a_field_that_never_ends_hides_nothing() -> None:
    body = p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + r("x")) + p("Words")
    assert word(body).text == "Words"


def test_hidden_text_is_not_read() -> None:
    named = (
        f'<w:styles {SPACES}><w:style w:type="character" w:styleId="Z"><w:rPr><w:vanish/></w:rPr>'
        "</w:style></w:styles>"
    )
    body = (
        r("seen")
        + r("unseen", "<w:vanish/>")
        + r("unseen", '<w:rStyle w:val="Z"/>')
        + r(" too", '<w:vanish w:val="0"/>')
    )
    assert word(p(body), {"styles.xml": named}).text == "seen too"


def test_formulas_are_written_out() -> None:
    def m(name: str, content: str) -> str:
        return f"<m:{name}>{content}</m:{name}>"

    def t(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    half = m("f", m("num", t("1")) + m("den", t("2")))
    square = m("sSup", m("e", t("x")) + m("sup", t("2")))
    total = m("nary", '<m:naryPr><m:chr m:val="∑"/></m:naryPr>' + m("sub", t("i")) + m("e", t("a")))
    formula = m("oMath", half + square + m("d", m("e", total)))
    document = word(p(r("So ") + formula) + p(m("oMathPara", formula)))
    said = r"$\frac{1}{2}x^{2}(∑_{i} a)$"
    assert texts(document, "text") == [f"So {said}"]
    assert texts(document, "math") == [said]


def test_symbols_of_private_fonts() -> None:
    body = p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + r(" yes"))
    assert word(body).text == "☑ yes"


# -- notes, changes, boxes ------------------------------------------------------------------------

FOOTNOTES = (
    f'<w:footnotes {SPACES}><w:footnote w:type="separator" w:id="-1">{p("line")}</w:footnote>'
    f'<w:footnote w:id="2">{p("<w:r><w:footnoteRef/></w:r>" + r(" The note."))}{p("More.")}'
    "</w:footnote>"
    f'<w:footnote w:id="3">{p("Never called.")}</w:footnote></w:footnotes>'
)
ENDNOTES = f'<w:endnotes {SPACES}><w:endnote w:id="2">{p("The end.")}</w:endnote></w:endnotes>'
CALL = '<w:r><w:footnoteReference w:id="2"/></w:r>'
END_CALL = '<w:r><w:endnoteReference w:id="2"/></w:r>'


def test_notes_follow_the_paragraph_that_calls_them() -> None:
    body = p(r("Said") + CALL + r(" and") + END_CALL + r(".")) + p("Next.")
    document = word(body, {"footnotes.xml": FOOTNOTES, "endnotes.xml": ENDNOTES})
    assert texts(document) == [
        "Said[^1] and[^i].",
        "[^1]: The note.\nMore.",
        "[^i]: The end.",
        "Next.",
    ]
    assert [q.kind for q in document.paragraphs] == ["text", "note", "note", "text"]


def test_notes_of_a_table_follow_it_and_each_stands_once() -> None:
    row = f"<w:tr><w:tc>{p(r('a') + CALL)}</w:tc><w:tc>{p(r('b') + CALL)}</w:tc></w:tr>"
    document = word(f"<w:tbl>{row}{row}</w:tbl>", {"footnotes.xml": FOOTNOTES})
    assert texts(document) == ["a[^1] | b[^1]\na[^1] | b[^1]", "[^1]: The note.\nMore."]


def test_damaged_notes_are_named_and_the_text_is_read() -> None:
    document = word(p(r("Said") + CALL), {"footnotes.xml": "<w:footnotes>"})
    assert document.text == "Said"
    ((part, reason),) = document.coverage.failed
    assert part == "word/footnotes.xml"
    assert reason.startswith("its XML is broken")
    assert (document.coverage.parts, document.coverage.read) == (2, 1)


def test_changes_are_accepted() -> None:
    body = p(
        r("Keep ")
        + f'<w:ins w:id="1">{r("new")}</w:ins>'
        + "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        + f"<w:moveFrom>{r('from')}</w:moveFrom>"
        + f"<w:moveTo>{r(' moved')}</w:moveTo>"
    )
    assert word(body).text == "Keep new moved"


def test_paragraphs_join_where_the_end_between_them_was_deleted() -> None:
    gone = "<w:rPr><w:del/></w:rPr>"
    assert texts(word(p("One ", properties=gone) + p("two.") + p("Three."))) == [
        "One two.",
        "Three.",
    ]
    assert texts(word(p("Last.", properties=gone) + table("a|b"))) == ["Last.", "a | b"]
    assert word(p("Last.", properties=gone)).text == "Last."


def test_deleted_items_take_no_number() -> None:
    gone = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    document = word(item("a", 1) + item(gone, 1) + item("b", 1), {"numbering.xml": LEGAL})
    assert document.text == "1. a\n2. b"


def test_deleted_rows_and_cells_are_gone() -> None:
    rows = (
        f"<w:tr><w:tc>{p('a')}</w:tc><w:tc><w:tcPr><w:cellDel/></w:tcPr>{p('x')}</w:tc>"
        f"<w:tc>{p('b')}</w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc>{p('gone')}</w:tc></w:tr>"
    )
    assert word(f"<w:tbl>{rows}</w:tbl>").text == "a | b"


def test_comments_headers_and_footers_are_left_out() -> None:
    body = p(
        '<w:commentRangeStart w:id="0"/>' + r("Text") + '<w:commentRangeEnd w:id="0"/>'
        '<w:r><w:commentReference w:id="0"/></w:r>'
    ) + '<w:sectPr><w:headerReference w:type="default"/></w:sectPr>'  # fmt: skip
    parts = {
        f"{name}.xml": f"<w:{tag} {SPACES}>{p('unseen')}</w:{tag}>"
        for name, tag in (("comments", "comments"), ("header1", "hdr"), ("footer1", "ftr"))
    }
    assert word(body, parts).text == "Text"


BOX = "<w:txbxContent>{}</w:txbxContent>"


def test_text_boxes_are_read_once_after_their_paragraph() -> None:
    inside = BOX.format(p("In the box.") + table("a|b"))
    body = p(
        r("Before ")
        + "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:wsp><wps:txbx>"
        + f"{inside}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape>"
        + f"<v:textbox>{inside}</v:textbox></v:shape></w:pict></mc:Fallback>"
        + "</mc:AlternateContent></w:r>"
        + r("after.")
    )
    assert texts(word(body + p("Next."))) == ["Before after.", "In the box.", "a | b", "Next."]


def test_a_fallback_is_read_where_the_first_form_holds_nothing() -> None:
    body = p(
        "<w:r><mc:AlternateContent><mc:Choice Requires='x'><a:new/></mc:Choice>"
        f"<mc:Fallback>{BOX.format(p('Old box.'))}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert word(body).text == "Old box."


# -- the file -------------------------------------------------------------------------------------


def test_the_iso_form_is_read_too() -> None:
    members = word_members(p("One", "Heading1") + p("Words"))
    content = str(members["word/document.xml"])
    strict = content.replace(WORD, "http://purl.oclc.org/ooxml/wordprocessingml/main")
    assert strict != content
    document = load_bytes(zipped(members | {"word/document.xml": strict}), name="a.docx")
    assert texts(document, "heading") == ["One"]


def test_the_main_part_is_found_by_its_relation() -> None:
    members = word_members(p("Old")) | {
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships"><Relationship Type="http://x/officeDocument" Target="/word/other.xml"/>'
        "</Relationships>",
        "word/other.xml": f"<w:document {SPACES}><w:body>{p('Real')}</w:body></w:document>",
    }
    assert load_bytes(zipped(members), name="a.docx").text == "Real"


@pytest.mark.parametrize(
    "content", ["", "<w:document", "<other/>", "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"]
)
def test_broken_documents_say_so_in_one_line(content: str) -> None:
    members = word_members("") | {"word/document.xml": content}
    with pytest.raises(DamagedDocument, match=r"file\.docx \(word/document\.xml\)") as caught:
        load_bytes(zipped(members), name="file.docx")
    assert "\n" not in caught.value.line


def test_a_wrong_checksum_is_named() -> None:
    data = zipped(word_members(p("Unique words")), method=zipfile.ZIP_STORED)
    with pytest.raises(DamagedDocument, match="checksum"):
        load_bytes(broken(data, b"Unique"), name="a.docx")


def test_empty_documents_hold_no_text() -> None:
    with pytest.raises(EmptyDocument):
        word(p("") + p(" "))


def test_text_that_is_called_docx_is_damaged() -> None:
    with pytest.raises(DamagedDocument):
        load_bytes(b"only text", name="a.docx")


def test_a_locked_document_says_so() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnsupportedFormat, match="locked with a password"):
        load_bytes(data, name="a.docx")


def test_what_is_inserted_whole_is_named() -> None:
    document = word(p("Words") + "<w:altChunk/>")
    assert document.coverage.failed[0][0] == "an inserted document"


# -- real files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words", "kinds"),
    [
        ("docling/word_sample", 140, "caption heading list quote table text"),
        ("pandoc/lists", 32, "heading list text"),
        ("pandoc/metadata", 41, "heading text"),
        ("pandoc/notes", 20, "heading note text"),
        ("pandoc/tables", 59, "heading table"),
        ("pandoc/track_changes_move", 16, "text"),
        ("unstructured/example-list-items-multiple", 102, "list text"),
    ],
)
def test_real_files_are_kept_whole(name: str, words: int, kinds: str) -> None:
    document = load(shared(f"readerfiles/docx/{name}.docx"))
    assert_whole(document)
    assert document.coverage.complete
    assert document.words == words
    assert sorted({q.kind for q in document.paragraphs}) == kinds.split()


def test_moved_text_stands_where_it_went() -> None:
    document = load(shared("readerfiles/docx/pandoc/track_changes_move.docx"))
    assert texts(document) == [
        "Here is some text.",
        "Here is the text to be moved.",
        "Here is some more text.",
    ]
