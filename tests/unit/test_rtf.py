"""RTF: what a reader sees with all changes accepted, in every font's own encoding."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.errors import EmptyDocument, TooLarge
from reread.types import Document

FONTS = (
    r"{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset2 Symbol;}"
    r"{\f2\fnil\fcharset204{\*\falt Other;}Arial;}{\f3\fnil\fcharset128 Mincho;}"
    r"{\f4\fnil\fcharset2 Wingdings;}}"
)
STYLES = (
    r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 Chapter;}{\s2\sbasedon0 heading 2;}"
    r"{\*\cs1 Strong;}{\s3 Title;}{\s4 Quote;}}"
)


def rtf(body: str, head: str = "") -> Document:
    data = (r"{\rtf1\ansi\ansicpg1252\deff0" + FONTS + STYLES + head + body + "}").encode("cp1252")
    document = load_bytes(data, name="letter.rtf")
    assert_whole(document)
    assert document.media_type == "application/rtf"
    return document


def test_headings_come_from_outline_levels_and_styles() -> None:
    document = rtf(
        r"\pard\s1 One\par\pard a\par\pard\s2 Two\par\pard b\par\pard\outlinelevel0 Three\par"
        r"\pard\s4 Said.\par"
    )
    assert located(document) == {
        **{"One": "One", "a": "One", "Two": "One › Two", "b": "One › Two"},
        **{"Three": "Three", "Said.": "Three"},
    }
    assert texts(document, "quote") == ["Said."]


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        (r"{\info{\title The Letter}{\author Somebody}}", "a", "The Letter"),
        (r"{\info{\upr{\title ?}{\*\ud{\title \u321?\'f3d\u378?}}}}", "a", "Łódź"),
        ("", r"\pard\s3 Styled\par\pard a", "Styled"),
        ("", r"\pard\s1 Only\par\pard a", "Only"),
        ("", r"\pard\s1 One\par\s1 Two\par", "letter"),
    ],
)
def test_titles(head: str, body: str, title: str) -> None:
    document = rtf(body, head)
    assert document.title == title
    assert "Letter" not in document.text


def test_letters_in_every_encoding() -> None:
    body = (
        r"Caf\'e9 \'93so\'94 {\f2\'cf\'f0\'e8\'e2\'e5\'f2} {\f3\'93\'fa} {\f1 ab\'b7}{\f4\'fcz}"
        r" \u8364? \uc2\u945 xx\uc1 \u-10179?\u-8704? \u171\'abz\emdash\~x\-y\_z \{\\\}"
    )
    assert rtf(body).text == "Café “so” Привет 日 αβ•✓ € α😀 «z—\u00a0xy-z {\\}"


def test_a_letter_of_two_bytes_may_be_written_in_two_ways() -> None:
    assert rtf(r"{\f3\'93\'fa\'96{}\'7b}").text == "日\ufffd{"
    assert rtf(r"{\f3\'93\'fa\'96\'7b \'83A}").text == "日本 ア"


def test_other_code_pages() -> None:
    assert load_bytes(rb"{\rtf1\ansi\ansicpg1251 \'cf}", name="a.rtf").text == "П"
    assert load_bytes(rb"{\rtf1\mac \'8e}", name="a.rtf").text == "é"
    assert load_bytes(rb"{\rtf1\ansicpg99999 \'e9}", name="a.rtf").text == "é"


def test_hidden_and_deleted_text_is_not_read() -> None:
    body = r"seen {\v unseen}{\deleted old}{\revised new}{\v\plain  again}\v x\v0 , too"
    assert rtf(body).text == "seen new again, too"


def test_what_is_no_text_is_skipped() -> None:
    body = (
        r"{\header Head\par}{\footer Foot}a{\pict\pngblip 89504e47}{\*\unknown{x}y}{\*\bkmkstart m}"
        r"{\object{\*\objdata 0105}{\result b}}{\*\annotation no}{\field{\*\fldinst REF x}"
        r"{\fldrslt c}}{\pict\bin5 }}}}}}d{\xe index}"
    )
    assert rtf(body).text == "abcd"


def test_notes_follow_the_paragraph_that_calls_them() -> None:
    body = (
        r"Said{\super\chftn{\footnote\pard{\super\chftn} First.\par More.}} and"
        r"{\footnote\ftnalt\chftn  Last.} on.\par Next{\footnote Second.}.\par"
    )
    document = rtf(body)
    assert texts(document) == [
        *("Said[^1] and[^i] on.", "[^1]: First.\nMore.", "[^i]: Last."),
        *("Next[^2].", "[^2]: Second."),
    ]
    assert [p.kind for p in document.paragraphs] == ["text", "note", "note", "text", "note"]


def test_boxes_follow_their_paragraph() -> None:
    box = r"{\shp{\*\shpinst{\sp{\sn n}{\sv v}}{\shptxt\pard In it.\par}}{\shprslt twice}}"
    assert texts(rtf(f"Before{box} after.\\par Next.")) == ["Before after.", "In it.", "Next."]


def test_lists_show_their_labels() -> None:
    bullet, number = r"{\listtext\f1\'b7\tab}", r"{\pntext\f0 2.\tab}"
    body = rf"\pard{bullet}\ls1 One\par{bullet}\ilvl1 Sub\par\pard{number}Two\par\pard End\par"
    assert rtf(body).text == "- One\n  - Sub\n2. Two\n\nEnd"


def test_tables_are_rows() -> None:
    row = r"\trowd\cellx1\cellx2\pard\intbl {}\cell {}\cell\row"
    body = (
        r"Before\par" + row.format("Name", "Age") + row.format(r"Ann\par Lee", "7") + r"\pard End"
    )
    assert texts(rtf(body)) == ["Before", "Name | Age\nAnn Lee | 7", "End"]
    assert rtf(row.format("a", "b").replace(r"\row", "")).text == "a | b"
    layout = r"\trowd\pard\intbl Only\cell\row\pard End"
    assert [p.kind for p in rtf(layout).paragraphs] == ["text", "text"]


def test_nested_tables_are_text_of_their_cell() -> None:
    inner = r"\itap2 x\nestcell y\nestcell{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}"
    body = rf"\trowd\pard\intbl a {inner}\pard\intbl\itap1\cell b\cell\row\pard"
    assert rtf(body).text == "a x y | b"


def test_line_ends_and_sections() -> None:
    body = "One\\\ntwo\\line three\\sect\nfo\nur"
    assert texts(rtf(body)) == ["One", "two\nthree", "four"]


def test_formulas_are_named() -> None:
    document = rtf(r"a {\mmath{\*\moMath{\*\mr x}}}b")
    assert document.text == "a b"
    assert document.coverage.failed[0][0] == "formulas (1)"


def test_damaged_files_are_read_as_far_as_they_go() -> None:
    assert load_bytes(rb"{\rtf1 One\par{\b two", name="a.rtf").text == "One\n\ntwo"
    assert load_bytes(rb"{\rtf1 One}}} after", name="a.rtf").text == "One"
    assert load_bytes(rb"{\rtf1 \'zz\u99999999999 a\ ", name="a").text.endswith("a")
    with pytest.raises(EmptyDocument):
        load_bytes(rb"{\rtf1\ansi{\pict 00}}", name="a.rtf")
    with pytest.raises(TooLarge):
        load_bytes(rb"{\rtf1" + b"{" * 100_000, name="a.rtf")
