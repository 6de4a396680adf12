"""EPUB: the order of the spine, chapters as locators, damage named and nothing else lost."""

from __future__ import annotations

import re
import zipfile
from difflib import SequenceMatcher

import pytest

from documents_fixtures import assert_whole, located, shared, texts
from reread.documents import load, load_bytes
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Coverage, Document
from zipped import book, broken, epub, nav, page, zipped

ONE, TWO = page("<p>First words.</p>"), page("<p>Second words.</p>")
PICTURE = page('<p><img src="a.png" alt="A drawing"/></p>')


def ncx(*points: tuple[str, str]) -> str:
    """A flat NCX of (title, target)."""
    said = "".join(
        f'<navPoint><navLabel><text>{t}</text></navLabel><content src="{src}"/></navPoint>'
        for t, src in points
    )
    return f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{said}</navMap></ncx>'


NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


# -- order ----------------------------------------------------------------------------------------


def test_the_spine_gives_the_order_and_not_the_archive() -> None:
    document = epub(book({"a.xhtml": ONE, "b.xhtml": TWO}, ["b.xhtml", "a.xhtml"]))
    assert document.text == "Second words.\n\nFirst words."
    assert document.coverage == Coverage(parts=2, read=2)
    assert (document.title, document.media_type) == ("A Book", "application/epub+zip")
    assert_whole(document)


def test_parts_that_are_not_linear_come_last() -> None:
    members = book({"n.xhtml": page("<p>A note.</p>"), "a.xhtml": ONE}, ["!n.xhtml", "a.xhtml"])
    assert epub(members).text == "First words.\n\nA note."


def test_what_the_spine_does_not_name_is_not_read() -> None:
    assert epub(book({"a.xhtml": ONE, "b.xhtml": TWO}, ["a.xhtml"])).text == "First words."


def test_a_part_named_twice_is_read_once() -> None:
    members = book({"a.xhtml": ONE, "b.xhtml": TWO}, ["a.xhtml", "b.xhtml", "a.xhtml"])
    assert epub(members).text == "First words.\n\nSecond words."


def test_references_are_unquoted_and_found_in_any_case() -> None:
    members = book({"A%20b.xhtml": ONE})
    members["OPS/a B.xhtml"] = members.pop("OPS/A%20b.xhtml")
    assert epub(members).text == "First words."


def test_a_fallback_is_read_where_the_part_itself_cannot_be() -> None:
    item = '<item id="x" href="x.pdf" media-type="application/pdf" fallback="a.xhtml"/>'
    members = book({"a.xhtml": ONE}, ["x"], manifest=item)
    assert epub(members).text == "First words."


# -- chapters -------------------------------------------------------------------------------------

TREE = nav(
    '<li><span>Part One</span><ol><li><a href="a.xhtml">The Door</a></li>'
    '<li><a href="b.xhtml#x">The <i>Key</i></a></li></ol></li>'
)


def test_the_navigation_document_gives_locators_and_is_no_prose() -> None:
    document = epub(
        book(
            {"nav.xhtml": TREE, "a.xhtml": ONE, "b.xhtml": page("<p id='x'>Second words.</p>")},
            ["nav.xhtml", "a.xhtml", "b.xhtml"],
        )
    )
    assert located(document) == {
        "First words.": "Part One › The Door",
        "Second words.": "Part One › The Key",
    }
    assert document.coverage == Coverage(parts=3, read=3)


def test_an_ncx_does_the_same() -> None:
    members = book(
        {"a.xhtml": page("<p>Before.</p><p>Mid <a id='k'/>dle.</p><p>After.</p>"), "b.xhtml": TWO},
        manifest=NCX_ITEM,
        extra={"OPS/toc.ncx": ncx(("I", "a.xhtml"), ("II", "a.xhtml#k"), ("III", "b.xhtml"))},
    )
    assert located(epub(members)) == {
        "Before.": "I",
        "Mid dle.": "II",
        "After.": "II",
        "Second words.": "III",
    }


def test_headings_say_nothing_twice() -> None:
    chapter = page(
        "<h1>1. The Door</h1><p>In.</p><h2>The Lock</h2><p>Turned.</p>"
        "<h2>The Hinge</h2><p>Creaks.</p>"
    )
    document = epub(book({"nav.xhtml": TREE, "a.xhtml": chapter}, ["a.xhtml"]))
    assert located(document) == {
        "1. The Door": "Part One › 1. The Door",
        "In.": "Part One › 1. The Door",
        "The Lock": "Part One › 1. The Door › The Lock",
        "Turned.": "Part One › 1. The Door › The Lock",
        "The Hinge": "Part One › 1. The Door › The Hinge",
        "Creaks.": "Part One › 1. The Door › The Hinge",
    }


def test_a_part_without_an_entry_goes_on_with_the_chapter_before() -> None:
    members = book({"nav.xhtml": TREE, "a.xhtml": ONE, "a2.xhtml": TWO}, ["a.xhtml", "a2.xhtml"])
    assert located(epub(members))["Second words."] == "Part One › The Door"


def test_headings_do_not_reach_into_the_next_chapter() -> None:
    contents = nav('<li><a href="a.xhtml#p">One</a></li><li><a href="b.xhtml#q">Two</a></li>')
    a = page("<h1>Big</h1><h2>Small</h2><p id='p'>First.</p>")
    b = page("<p>Between.</p><p id='q'>Second.</p>")
    document = epub(
        book({"nav.xhtml": contents, "a.xhtml": a, "b.xhtml": b}, ["a.xhtml", "b.xhtml"])
    )
    assert located(document)["Between."] is None
    assert located(document)["Second."] == "Two"


def test_a_heading_of_the_same_rank_ends_a_chapter_of_the_contents() -> None:
    contents = nav('<li><a href="a.xhtml#p">One</a></li>')
    a = page("<h2 id='p'>One</h2><p>First.</p><h2>Other</h2><p>Second.</p>")
    assert located(epub(book({"nav.xhtml": contents, "a.xhtml": a}, ["a.xhtml"])))["Second."] == (
        "Other"
    )


def test_a_contents_page_of_an_older_book_is_no_prose() -> None:
    links = "".join(f"<p><a href='a.xhtml'>Chapter {n}</a> ... {n}</p>" for n in range(40))
    guide = '<guide><reference type="toc" href="toc.xhtml"/></guide>'
    members = book({"toc.xhtml": page(f"<h1>Contents</h1>{links}"), "a.xhtml": ONE}, guide=guide)
    assert epub(members).text == "First words."


def test_prose_beside_a_table_of_contents_is_kept() -> None:
    prose = "These words stand before the list and are nowhere else in the book. " * 3
    guide = '<guide><reference type="toc" href="toc.xhtml"/></guide>'
    toc = page(f"<p>{prose}</p><ul><li><a href='a.xhtml'>One</a></li></ul>")
    assert prose.strip() in epub(book({"toc.xhtml": toc, "a.xhtml": ONE}, guide=guide)).text


def test_printed_pages_begin_locators() -> None:
    body = (
        '<p>Zero.</p><div><span epub:type="pagebreak" title="7">7</span></div><p>One.</p>'
        '<p>Two be<span epub:type="pagebreak" id="p8" aria-label="8"/>gins.</p><p>Three.</p>'
    )
    document = epub(book({"a.xhtml": page(body), "b.xhtml": TWO}))
    assert located(document) == {
        "Zero.": None,
        "One.": "p. 7",
        "Two begins.": "p. 7",
        "Three.": "p. 8",
        "Second words.": "p. 8",
    }


def test_notes_are_notes_and_their_numbers_stand_apart() -> None:
    body = (
        '<p>Said<a epub:type="noteref" href="#n">1</a> so<sup><a href="#m">2</a></sup>.</p>'
        '<aside epub:type="footnote" id="n"><p>The note.</p></aside>'
    )
    document = epub(book({"a.xhtml": page(body)}))
    assert texts(document, "text") == ["Said[1] so[2]."]
    assert texts(document, "note") == ["The note."]


def test_notes_set_as_definitions_are_notes() -> None:
    body = (
        '<p>Said.</p><dl class="footnote brackets"><dt><span><a href="#x">1</a></span></dt>'
        "<dd><p>The note.</p><p>More.</p></dd><dt>2</dt><dd>Another.</dd></dl>"
        "<dl><dt>Term</dt><dd>Meaning.</dd></dl>"
    )
    document = epub(book({"a.xhtml": page(body)}))
    assert texts(document, "note") == ["[1] The note.", "More.", "[2] Another."]
    assert texts(document, "list") == ["Term\nMeaning."]


def test_switches_show_one_of_their_cases() -> None:
    body = (
        '<epub:switch><epub:case required-namespace="http://example.com/x"><p>No.</p></epub:case>'
        "<epub:default><p>Yes.</p></epub:default></epub:switch>"
    )
    assert epub(book({"a.xhtml": page(body)})).text == "Yes."


def test_the_main_title_is_taken() -> None:
    members = book({"a.xhtml": ONE}, title="Short")
    package = str(members["OPS/book.opf"]).replace(
        "<dc:title>Short</dc:title>",
        "<dc:title id='s'>A series</dc:title><dc:title id='m'>The\n Book</dc:title>"
        "<meta refines='#m' property='title-type'>main</meta>",
    )
    assert epub(members | {"OPS/book.opf": package}).title == "The Book"


# -- damage ---------------------------------------------------------------------------------------


def test_a_wrong_checksum_costs_one_chapter() -> None:
    data = zipped(book({"a.xhtml": ONE, "b.xhtml": TWO}), method=zipfile.ZIP_STORED)
    document = load_bytes(broken(data, b"First words."), name="b.epub")
    assert document.text == "Second words."
    assert document.coverage == Coverage(
        parts=2, read=1, failed=(("OPS/a.xhtml", "its checksum is wrong (bad CRC)"),)
    )
    assert not document.coverage.complete


def test_broken_markup_is_named_and_read_as_far_as_it_can_be() -> None:
    members = book({"a.xhtml": page("<p>Lost <b>and</p> found."), "b.xhtml": TWO})
    document = epub(members)
    assert document.text == "Lost and\n\nfound.\n\nSecond words."
    ((part, reason),) = document.coverage.failed
    assert part == "OPS/a.xhtml"
    assert reason.startswith("its XML is broken (")
    assert reason.endswith("; what could be mended was read")
    assert (document.coverage.parts, document.coverage.read) == (2, 1)


def test_markup_that_nests_too_deeply_is_mended_where_it_is_no_bomb() -> None:
    deep = page("<p>Start.</p>" + "<div>" * 300 + "<p>Deep.</p>" + "</div>" * 300)
    document = epub(book({"a.xhtml": deep}))
    assert document.text == "Start.\n\nDeep."
    assert document.coverage.failed[0][1].startswith("its XML is nested too deeply")


def test_html_entities_are_no_damage() -> None:
    for head in ("<!DOCTYPE html>", '<!DOCTYPE html PUBLIC "x" "http://localhost:1/x.dtd">', ""):
        document = epub(
            book({"a.xhtml": page("<p>Caf&eacute;&nbsp;&amp; &lt;b&gt;</p>", head=head)})
        )
        assert document.text.replace("\u00a0", " ") == "Café & <b>"
        assert document.coverage.complete


def test_empty_elements_swallow_nothing() -> None:
    for mark in ("", "<b></i>"):  # read as XML, and mended as HTML
        body = f"<p><a id='x'/>One<span/></p><script/><p>Two</p><div/><p>Three</p>{mark}"
        assert texts(epub(book({"a.xhtml": page(body)}))) == ["One", "Two", "Three"]


def test_a_missing_chapter_is_named() -> None:
    members = book({"a.xhtml": ONE, "b.xhtml": TWO}, ["a.xhtml", "b.xhtml", "c.xhtml"])
    del members["OPS/b.xhtml"]
    document = epub(members)
    assert document.coverage.failed == (
        ("OPS/b.xhtml", "it is not in the file"),
        ("c.xhtml", "it is not in the file"),
    )
    assert document.coverage.parts == 3


def test_a_chapter_that_is_no_text_is_named() -> None:
    document = epub(book({"a.xhtml": bytes(range(256)) * 40, "b.xhtml": TWO}))
    assert document.coverage.failed == (("OPS/a.xhtml", "it is no text"),)
    assert document.text == "Second words."


def test_a_chapter_with_entities_of_its_own_is_not_read() -> None:
    bomb = page("<p>&x;</p>", head='<!DOCTYPE html [<!ENTITY x "boom">]>')
    document = epub(book({"a.xhtml": bomb, "b.xhtml": TWO}))
    assert document.text == "Second words."
    assert document.coverage.failed[0][1].startswith("it declares entities")


def test_without_a_package_the_parts_are_read_by_name() -> None:
    members = book({"c10.xhtml": TWO, "c9.xhtml": ONE})
    document = epub(members | {"OPS/book.opf": b"\x00\x01\x02"})
    assert document.text == "First words.\n\nSecond words."
    assert document.coverage.failed[0][0] == "OPS/book.opf"
    assert document.title == "book"


def test_a_damaged_table_of_contents_costs_nothing() -> None:
    data = zipped(
        book({"nav.xhtml": nav("<li>Unique</li>"), "a.xhtml": page("<h1>One</h1><p>Words.</p>")}),
        method=zipfile.ZIP_STORED,
    )
    document = load_bytes(broken(data, b"Unique"), name="b.epub")
    assert located(document)["Words."] == "One"
    assert document.coverage.failed == (("OPS/nav.xhtml", "its checksum is wrong (bad CRC)"),)


def test_pictures_are_told_from_blank_parts() -> None:
    scan = '<item id="s" href="s.jpg" media-type="image/jpeg"/>'
    svg = page('<svg xmlns="http://www.w3.org/2000/svg"><image href="x"/></svg>')
    members = book(
        {"a.xhtml": PICTURE, "b.xhtml": page(" "), "c.xhtml": svg, "d.xhtml": ONE, "e.xhtml": ""},
        ["a.xhtml", "b.xhtml", "c.xhtml", "d.xhtml", "e.xhtml", "s"],
        manifest=scan,
    )
    assert epub(members).coverage == Coverage(
        parts=6,
        read=1,
        without_text=("OPS/a.xhtml", "OPS/c.xhtml", "OPS/s.jpg"),
        blank=("OPS/b.xhtml", "OPS/e.xhtml"),
    )


def test_parts_are_called_by_their_title_too() -> None:
    contents = nav('<li><a href="a.xhtml">Plates</a></li>')
    members = book(
        {"nav.xhtml": contents, "a.xhtml": PICTURE, "b.xhtml": ONE}, ["a.xhtml", "b.xhtml"]
    )
    assert epub(members).coverage.without_text == ("Plates (OPS/a.xhtml)",)


def test_a_book_of_pictures_holds_no_text() -> None:
    with pytest.raises(EmptyDocument):
        epub(book({"a.xhtml": PICTURE}))


def test_a_book_where_nothing_can_be_read_says_why() -> None:
    data = broken(zipped(book({"a.xhtml": ONE}), method=zipfile.ZIP_STORED), b"First words.")
    with pytest.raises(DamagedDocument, match=r"OPS/a\.xhtml: its checksum is wrong"):
        load_bytes(data, name="b.epub")


# -- encryption -----------------------------------------------------------------------------------


def _encryption(algorithm: str, *names: str) -> dict[str, str]:
    entries = "".join(
        '<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">'
        f'<EncryptionMethod Algorithm="{algorithm}"/>'
        f'<CipherData><CipherReference URI="{name}"/></CipherData></EncryptedData>'
        for name in names
    )
    xmlns = "urn:oasis:names:tc:opendocument:xmlns:container"
    return {"META-INF/encryption.xml": f'<encryption xmlns="{xmlns}">{entries}</encryption>'}


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


def test_encrypted_text_is_refused_in_one_line() -> None:
    members = book({"a.xhtml": b"\x93\x11" * 99}, extra=_encryption(AES, "OPS/a.xhtml"))
    with pytest.raises(DamagedDocument, match=r"book\.epub is encrypted \(DRM\)") as caught:
        epub(members)
    assert "\n" not in caught.value.line


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        ("http://www.idpf.org/2008/embedding", "OPS/font.otf"),
        ("http://ns.adobe.com/pdf/enc#RC", "OPS/font.otf"),
        (AES, "OPS/cover.jpg"),
    ],
)
def test_fonts_and_pictures_may_be_encrypted(algorithm: str, name: str) -> None:
    assert epub(book({"a.xhtml": ONE}, extra=_encryption(algorithm, name))).text == "First words."


# -- real books -----------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize(
    ("name", "title", "parts", "read", "words"),
    [
        ("epub_purvis_poetry", "Poetry", 5, 5, 3035),
        ("idpf-packed/childrens-literature", "Children's Literature", 3, 2, 54_467),
        ("idpf-packed/regime-anticancer-arabic", "Le Vrai Régime anti-cancer", 3, 1, 4747),
        ("pandoc/features", "EPUBTEST 0100 - Reflowable Content Tests", 4, 4, 870),
        ("pandoc/wasteland", "The Waste Land", 1, 1, 1843),
    ],
)
def test_real_books_are_kept_whole(
    name: str, title: str, parts: int, read: int, words: int
) -> None:
    document = load(shared(f"readerfiles/epub/{name}.epub"))
    assert_whole(document)
    assert (document.title, document.coverage.parts, document.coverage.read) == (title, parts, read)
    assert abs(document.words - words) <= 0.01 * words
    assert document.coverage.complete == (parts == read)


def test_the_same_book_as_text_agrees() -> None:
    folder = shared("readerfiles/same-content-formats/debian-policy")
    document: Document = load(folder / "policy.epub")
    text = re.sub(r"-\n\s*", "-", (folder / "policy.txt").read_text(encoding="utf-8"))
    ours, theirs = _words(document.text), _words(text)
    blocks = SequenceMatcher(None, ours, theirs).get_matching_blocks()
    assert sum(block.size for block in blocks) > 0.98 * len(theirs)
    assert len(ours) < 1.02 * len(theirs)
