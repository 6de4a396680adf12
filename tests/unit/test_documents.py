"""Loading: finding the bytes, the format, the encoding; plain text and Markdown."""

from __future__ import annotations

import io
import sys
import zipfile
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents_fixtures import assert_whole, located, shared, texts
from reread.documents import LOADERS, Limits, Source, load, load_bytes, plain, registry
from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode, encoding_of
from reread.errors import (
    EmptyDocument,
    SourceNotFound,
    TooLarge,
    UnsupportedFormat,
)
from reread.types import Document

SENTENCE = "The quick brown fox jumps over the lazy dog and runs away into the forest. "


def plain_text(text: str) -> Document:
    return load_bytes(text.encode(), name="a.txt")


def wrapped(paragraph: str, width: int = 60, indent: str = "") -> str:
    lines, line = [], indent
    for word in paragraph.split():
        if len(line) + len(word) > width:
            lines.append(line.rstrip())
            line = ""
        line += word + " "
    return "\n".join([*lines, line.rstrip()])


# -- the style of paragraphs --------------------------------------------------------------------


def test_blank_lines_part_paragraphs() -> None:
    document = plain_text("One is here.\nStill one.\n\nTwo.\n \t\n\nThree.\n")
    assert texts(document) == ["One is here.\nStill one.", "Two.", "Three."]


def test_single_newlines_part_paragraphs_where_nothing_else_does() -> None:
    lines = [SENTENCE.strip() * n for n in (1, 3, 2)]
    assert texts(plain_text("\n".join(lines))) == lines


def test_wrapped_lines_are_one_paragraph() -> None:
    first, second = wrapped(SENTENCE * 5), wrapped(SENTENCE * 4)
    assert texts(plain_text(f"{first}\n\n{second}")) == [first, second]


def test_an_indent_opens_a_paragraph_of_wrapped_text() -> None:
    first, second = (wrapped(SENTENCE * n, indent="    ") for n in (5, 4))
    assert texts(plain_text(f"{first}\n{second}")) == [first.strip(), second.strip()]


def test_one_giant_line_is_grouped_by_sentences() -> None:
    document = plain_text(SENTENCE * 200)
    pieces = texts(document)
    assert len(pieces) > 10
    assert all(p.endswith("forest.") for p in pieces)
    assert max(len(p.split()) for p in pieces) <= 150


def test_a_stanza_stays_whole() -> None:
    stanza = "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye"
    assert texts(plain_text(f"{stanza}\n\n{stanza}")) == [stanza, stanza]


# -- chapters -----------------------------------------------------------------------------------


def test_the_locator_of_plain_text_is_its_chapter() -> None:
    document = plain_text(
        "A foreword of some kind.\n\nCHAPTER I\n\nIt began.\n\nCHAPTER IV\nThe Storm\n\nIt ended."
    )
    found = located(document)
    assert found["A foreword of some kind."] is None
    assert found["It began."] == "CHAPTER I"
    assert found["It ended."] == "CHAPTER IV The Storm"
    assert texts(document, "heading") == ["CHAPTER I", "CHAPTER IV\nThe Storm"]


def test_chapters_lie_in_their_part_and_end_with_it() -> None:
    document = plain_text("PART ONE\n\nCHAPTER 1\n\na b.\n\nPART TWO\n\nc d.")
    assert located(document)["a b."] == "PART ONE › CHAPTER 1"
    assert located(document)["c d."] == "PART TWO"


def test_a_chapter_line_within_wrapped_text_is_found() -> None:
    body = wrapped(SENTENCE * 4)
    document = plain_text(f"CHAPTER I.\n{body}\nCHAPTER II.\n{body}")
    assert [p.locator for p in document.paragraphs] == [
        "CHAPTER I.", "CHAPTER I.", "CHAPTER II.", "CHAPTER II.",
    ]  # fmt: skip


def test_a_table_of_contents_is_no_chapter() -> None:
    contents = "\n\n".join(f"Chapter {n}. On things" for n in (1, 2, 3))
    document = plain_text(f"{contents}\n\nChapter 1. On things\n\nThe text.")
    assert texts(document, "heading") == ["Chapter 1. On things"]
    assert located(document)["The text."] == "Chapter 1. On things"


def test_prose_that_mentions_a_chapter_is_no_heading() -> None:
    document = plain_text(
        "Chapter 3 was, as all who read it know, the longest; it never ended.\n\nb"
    )
    assert texts(document, "heading") == []


def test_underlined_headings_rank_by_their_rule() -> None:
    document = plain_text("Top\n===\n\nx y.\n\nSub\n---\n\nz.\n\n1. An item\n\nNext\n====\n\nw.")
    found = located(document)
    assert (found["z."], found["1. An item"], found["w."]) == ("Top › Sub", "Top › Sub", "Next")


def test_chinese_chapters() -> None:
    document = plain_text("第一回 桃园\n\n话说天下大势。\n\n第二回 鞭督邮\n\n且说董卓。")
    assert located(document)["且说董卓。"] == "第二回 鞭督邮"


# -- titles -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Title: The Time Machine\nAuthor: H. G. Wells\n\nIt was so.", "The Time Machine"),
        ("The Time Machine\n\nIt was a dark night.", "The Time Machine"),
        ("It was a dark night, and nobody came.\n\nThen it was day.", "a"),
    ],
)
def test_the_title_of_plain_text(text: str, title: str) -> None:
    assert plain_text(text).title == title


# -- the invariant ------------------------------------------------------------------------------

_any_text = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(list("\n\n\n\n\t  .#-*>|`=I1\u3000\u00a0\x85\u2028\x1c\ufeff")),
    ),
    max_size=400,
)


@settings(deadline=None, max_examples=150)
@given(_any_text, st.sampled_from(["text/plain", "text/markdown", "text/html"]))
def test_paragraphs_hold_everything_in_order(text: str, media_type: str) -> None:
    source = Source(data=text.encode(), name="a", origin="a", charset="utf-8")
    try:
        document = LOADERS[media_type](source)
    except EmptyDocument:
        return
    assert_whole(document)
    if media_type == "text/plain":
        assert document.text == decode(text.encode()).strip()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(["word ", SENTENCE, "\n", "\n\n", "CHAPTER I\n", "    "]), min_size=1)
)
def test_long_texts_of_every_style_are_whole(pieces: list[str]) -> None:
    text = "".join(pieces) * 20
    if text.strip():
        document = plain.load(Source(data=text.encode(), name="a", origin="a"))
        assert_whole(document)
        assert document.text == text.strip()


# -- Markdown -----------------------------------------------------------------------------------

MARKDOWN = """---
title: "On Ducks"
author: A. Nonymous
---

# Ducks

They *swim*.
On lakes.

## Food

- bread
- corn

> Quoted
> words.

| a | b |
|---|---|
| 1 | 2 |

```python
# no heading

quack()
```

$$E = mc^2$$

Weed[^1].

[^1]: Only the green kind
grows here.

[link]: https://example.org
# Ponds #
Water.
"""


def test_markdown_keeps_its_source_with_kinds_and_headings() -> None:
    document = load_bytes(MARKDOWN.encode(), name="ducks.md")
    assert_whole(document)
    assert document.title == "On Ducks"
    assert document.media_type == "text/markdown"
    assert document.text == MARKDOWN.partition("---\n\n")[2].strip()
    found = [(document.text[p.start : p.end], p.kind, p.locator) for p in document.paragraphs]
    assert found == [
        ("# Ducks", "heading", "Ducks"),
        ("They *swim*.\nOn lakes.", "text", "Ducks"),
        ("## Food", "heading", "Ducks › Food"),
        ("- bread\n- corn", "list", "Ducks › Food"),
        ("> Quoted\n> words.", "quote", "Ducks › Food"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table", "Ducks › Food"),
        ("```python\n# no heading\n\nquack()\n```", "code", "Ducks › Food"),
        ("$$E = mc^2$$", "math", "Ducks › Food"),
        ("Weed[^1].", "text", "Ducks › Food"),
        ("[^1]: Only the green kind\ngrows here.", "note", "Ducks › Food"),
        ("[link]: https://example.org", "text", "Ducks › Food"),
        ("# Ponds #", "heading", "Ponds"),
        ("Water.", "text", "Ponds"),
    ]


def test_the_title_of_markdown_is_its_first_heading() -> None:
    assert load_bytes(b"intro\n\n# Ducks\n\n# Geese", name="x.md").title == "Ducks"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    document = load_bytes(b"---\n\nHello there.\n\n---\n\nBye.", name="x.md")
    assert "Hello there." in texts(document)


def test_deep_nesting_of_markdown_loses_nothing() -> None:
    document = load_bytes(b"> " * 3000 + b"deep\n\nend", name="x.md")
    assert_whole(document)
    assert document.text.endswith("deep\n\nend")


# -- finding the format -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("a.txt", "<!DOCTYPE html><title>x</title><p>y", "text/html"),
        ("a.md", "<div align=center>x</div>\n\n# y", "text/markdown"),
        ("a", "<p>y</p>", "text/html"),
        ("a.txt", "# one\n\n# two\n", "text/plain"),
        ("a", "# one\n\nx\n\n## two\n\ny", "text/markdown"),
        ("a", "#!/bin/sh\n\n# one\n\n# two\n\n", "text/x-source"),
        ("notes.md.txt", "# one\n", "text/markdown"),
        ("a.py", "# one\n\n# two\n\nx = 1", "text/x-source"),
        ("a.txt", "BMW and MZ are makers", "text/plain"),
    ],
)
def test_content_speaks_before_the_extension(name: str, content: str, media_type: str) -> None:
    assert load_bytes(content.encode(), name=name).media_type == media_type


def test_markup_is_found_after_any_number_of_comments() -> None:
    page = f"<?xml version='1.0'?>{'<!-- - -->' * 1500}<html><p>x"
    assert load_bytes(page.encode(), name="a.txt").media_type == "text/html"
    unclosed = " <!-- " * 3000  # took exponential time when this was one pattern
    assert load_bytes(unclosed.encode(), name="a").media_type == "text/plain"


def _zip(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "called"),
    [
        (b"GIF89a" + bytes(40), "of the type image/gif"),
        (b"\x7fELF\x02\x01\x01" + bytes(60), "a program"),
        (bytes((7 * n * n + n // 3) % 256 for n in range(4000)), "a binary file of no known kind"),
        (_zip("xl/workbook.bin"), "a workbook in binary form (XLSB)"),
        (_zip("a.txt"), "a ZIP archive"),
        (b"PK\x03\x04 damaged", "a ZIP archive"),
    ],
)
def test_what_is_no_text_is_named_in_one_line(data: bytes, called: str) -> None:
    with pytest.raises(UnsupportedFormat) as caught:
        load_bytes(data, name="thing.txt")
    assert str(caught.value) == f"thing.txt is {called}, which no loader reads"
    assert "text/markdown" in caught.value.line
    assert "\n" not in caught.value.line


def test_pdf_epub_and_docx_are_told_by_content() -> None:
    def found(data: bytes) -> str:
        return registry.media_type_of(Source(data=data, name="x.txt", origin="x"))

    assert found(b"%PDF-1.7\n...") == "application/pdf"
    assert found(_zip("META-INF/container.xml")) == "application/epub+zip"
    assert found(_zip("word/document.xml")).endswith("wordprocessingml.document")


def test_an_unknown_type_lists_the_known_ones() -> None:
    with pytest.raises(UnsupportedFormat, match="application/x-nothing") as caught:
        load_bytes(b"words", name="a", media_type="application/x-nothing")
    assert caught.value.hint == f"Known are {registry.known()}"
    assert {"text/html", "text/plain"} <= set(registry.known().split(", "))


def test_other_distributions_add_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(
        load=lambda s: plain_text(f"read by a guest: {s.data.decode().upper()}")
    )
    monkeypatch.setitem(sys.modules, "guest_loader", module)
    point = EntryPoint(name=".gst", value="guest_loader:load", group=registry.GROUP)
    monkeypatch.setattr(registry, "_entry_points", lambda: EntryPoints([point]))
    assert load_bytes(b"hi", name="a.gst").text == "read by a guest: HI"
    assert load_bytes(b"hi", name="a.txt").text == "hi"
    assert ".gst" in registry.known()


# -- encodings ----------------------------------------------------------------------------------

RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая по-своему. " * 3
CHINESE = "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。" * 3
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 3
WESTERN = "L’été était très chaud ; le café coûtait 3,50 €. “Déjà vu” — dit-il. Voilà."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (WESTERN, "utf-8"), (WESTERN, "utf-8-sig"), (WESTERN, "utf-16"), (WESTERN, "utf-32"),
        (WESTERN, "utf-16-le"), (WESTERN, "utf-16-be"), (WESTERN, "utf-32-le"),
        (WESTERN, "utf-32-be"), (CHINESE + "\n" + CHINESE, "utf-16-le"),
        (CHINESE + "\n" + CHINESE, "utf-16-be"), (WESTERN, "cp1252"), ("café crème", "cp1252"),
        (RUSSIAN, "koi8-r"), (RUSSIAN, "cp1251"), (CHINESE, "gb18030"), (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"), ("Příliš žluťoučký kůň úpěl ďábelské ódy. " * 3, "cp1250"),
    ],
)  # fmt: skip
def test_encodings_are_found(text: str, encoding: str) -> None:
    assert load_bytes(text.encode(encoding), name="a.txt").text == text.strip()


def test_damaged_utf8_stays_utf8() -> None:
    data = WESTERN.encode() + b" \xff " + WESTERN.encode()
    assert decode(data) == f"{WESTERN} \ufffd {WESTERN}"


def test_nul_and_surrogates_become_replacement_characters() -> None:
    assert load_bytes(b"some plain words, a\0b and more text", name="a.txt").text == (
        "some plain words, a\ufffdb and more text"
    )


def test_a_declared_encoding_is_believed_where_the_bytes_are_not_utf8() -> None:
    page = "<html><head><meta charset=iso-8859-7></head><body>αβγ".encode("iso-8859-7")
    assert load_bytes(page, name="a.html").text == "αβγ"
    page = "<html><head><meta charset=iso-8859-7></head><body>αβγ".encode()
    assert load_bytes(page, name="a.html").text == "αβγ"


def test_latin_1_on_the_web_is_windows_1252() -> None:
    assert encoding_of("“a”".encode("cp1252"), "iso-8859-1") == "cp1252"
    assert encoding_of("“a”".encode("cp1252"), "no-such-codec") == "cp1252"


def test_text_that_was_decoded_wrongly_once_is_mended() -> None:
    assert decode("8–14 cm".encode().decode("latin-1").encode()) == "8–14 cm"
    assert decode(b"it\xc2\x92s") == "it’s"


# -- finding the bytes --------------------------------------------------------------------------


def test_a_file_is_loaded_with_its_whole_path_as_origin(tmp_path: Path) -> None:
    path = tmp_path / "my book.txt"
    path.write_text("Some words here, and more.")
    for source in (path, str(path), path.as_uri()):
        document = load(source)
        assert (document.title, document.origin) == ("my book", str(path.resolve()))
        assert document.words == 5


@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b" \n\t\r\n ", "\u200b\n".encode()]
)
def test_what_holds_no_text_is_empty(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(EmptyDocument):
        load(path)


@pytest.mark.parametrize("page", ["<html></html>", "<!DOCTYPE html><script>x</script>", "<p> </p>"])
def test_a_page_without_text_is_empty(page: str) -> None:
    with pytest.raises(EmptyDocument, match=r"a\.html holds no text"):
        load_bytes(page.encode(), name="a.html")


@pytest.mark.parametrize("text", ["word", "🦆", "字", "."])
def test_the_smallest_documents(text: str) -> None:
    document = plain_text(text)
    assert (document.text, len(document.paragraphs), document.words) == (text, 1, 1)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match=r"there is no file .*nowhere\.txt"):
        load(tmp_path / "nowhere.txt")
    for odd in ("a\0b", "x" * 5000, ""):
        with pytest.raises(SourceNotFound):
            load(odd)


def test_a_missing_file_that_looks_like_an_address() -> None:
    with pytest.raises(SourceNotFound) as caught:
        load("example.org/page")
    assert caught.value.hint == "If it is a web address, write https://example.org/page"


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match="is a folder"):
        load(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("x")

    def refuse(self: Path, mode: str) -> None:  # the super-user may read everything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceNotFound, match=r"secret\.txt may not be read"):
        load(path)


def test_the_size_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x" * 1000)
    assert load(path, limits=Limits(file_bytes=1000)).text == "x" * 1000
    with pytest.raises(TooLarge, match="larger than"):
        load(path, limits=Limits(file_bytes=999))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO("Grüße.".encode("utf-16")))
    monkeypatch.setattr(sys, "stdin", stream)
    document = load("-")
    assert (document.text, document.origin) == ("Grüße.", "-")


# -- sources of several parts -------------------------------------------------------------------


def test_a_builder_of_several_parts_says_what_was_read() -> None:
    builder = TextBuilder()
    builder.part("p. 1")
    builder.heading(1, "One")
    builder.paragraph("a b")
    builder.blank("p. 2")
    builder.without_text("p. 3")
    builder.failed("p. 4", "bad\nstream")
    document = builder.build(title="T", origin="o", media_type="application/pdf")
    assert document.text == "One\n\na b"
    assert located(document)["a b"] == "p. 1 › One"
    coverage = document.coverage
    assert (coverage.parts, coverage.read, coverage.blank) == (4, 1, ("p. 2",))
    assert (coverage.without_text, coverage.failed) == (("p. 3",), (("p. 4", "bad stream"),))
    assert not coverage.complete


def test_long_blocks_are_divided_where_they_may_be() -> None:
    builder = TextBuilder()
    builder.paragraph("\n".join(f"{n} | {'x ' * 9}".strip() for n in range(100)), "table")
    builder.paragraph(SENTENCE * 100)
    document = builder.build(title="T", origin="o", media_type="m")
    assert_whole(document)
    tables, prose = texts(document, "table"), texts(document, "text")
    assert all(piece[0].isdigit() and piece.endswith("x") for piece in tables)
    assert len(tables) > 3
    assert len(prose) > 5
    assert max(len(p.split()) for p in tables + prose) <= 250


# -- real texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fake-text-utf-16.txt", "fake-text-utf-32.txt"])
def test_real_utf_16_and_32(name: str) -> None:
    text = load(shared(f"readerfiles/text-other/{name}")).text
    assert text.startswith("This is a test document to use for unit tests.")
    assert "\ufffd" not in text


def test_a_real_novel_has_its_twelve_chapters() -> None:
    document = load(shared("narrativeqa/books/100_english_novels/Conrad_Almayer_1895.txt"))
    assert_whole(document)
    chapters = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    assert texts(document, "heading") == [f"CHAPTER {n}." for n in chapters]


def test_a_real_chinese_novel_has_its_chapters() -> None:
    document = load(shared("readerfiles/cjk-novel/zh/三国演义.txt"))
    assert_whole(document)
    assert len(texts(document, "heading")) == 120
    assert document.paragraphs[-1].locator is not None
    assert document.paragraphs[-1].locator.startswith("第一百二十回")


def test_real_markdown() -> None:
    document = load(shared("readerfiles/markdown/pandoc-MANUAL.md.txt"))
    assert_whole(document)
    assert document.title == "Pandoc User's Guide"
    assert document.text.startswith("# Synopsis")
