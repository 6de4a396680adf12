"""PDF: reading order, locators, what is taken off and mended, locks, damage, coverage, memory."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import reread
from documents_fixtures import assert_whole, located, shared, texts
from pdf_writer import Pdf, lines, picture, text, width_of, wrapped
from reread import documents
from reread.documents import load_bytes
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Document

FOX = "The quick brown fox jumps over the lazy dog and runs away into the forest again."


def load(file: Pdf | bytes, name: str = "a.pdf") -> Document:
    document = load_bytes(file if isinstance(file, bytes) else file.file(), name=name)
    assert_whole(document)
    return document


def paragraphs(*pages: str) -> list[str]:
    return texts(load(Pdf(pages=list(pages))))


# -- paragraphs ---------------------------------------------------------------------------------


def test_lines_become_paragraphs_at_gaps() -> None:
    first, second = wrapped(f"One. {FOX} {FOX}"), wrapped(f"Two. {FOX} {FOX}")
    page = lines(72, 100, first) + lines(72, 100 + 12 * len(first) + 10, second)
    assert paragraphs(page) == [f"One. {FOX} {FOX}", f"Two. {FOX} {FOX}"]


def test_lines_become_paragraphs_at_indents() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX}")
    page = text(84, 100, rows[0]) + lines(72, 112, rows[1:])
    below = 112 + 12 * len(rows[1:])
    page += text(84, below, rows[0]) + lines(72, below + 12, rows[1:])
    assert paragraphs(page) == [f"{FOX} {FOX} {FOX}"] * 2


def test_short_lines_keep_their_ends() -> None:
    verse = ["Roses are red,", "violets are blue,", "sugar is sweet"]
    page = lines(72, 100, verse) + lines(72, 200, wrapped(f"{FOX} {FOX} {FOX}"))
    assert paragraphs(page)[0] == "\n".join(verse)


def test_a_paragraph_goes_on_over_the_page() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX} {FOX}")
    page = lines(72, 100, rows[:3])
    after = lines(72, 100, rows[3:]) + lines(72, 200, wrapped(f"{FOX} {FOX}"))
    document = load(Pdf(pages=[page, after]))
    assert texts(document) == [f"{FOX} {FOX} {FOX} {FOX}", f"{FOX} {FOX}"]
    assert [p.locator for p in document.paragraphs] == ["p. 1", "p. 2"]


# -- hyphens ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["a large information is good, and so is the infor-", "mation here"], "the information"),
        (["a well-known fact that is known well to the well-", "known man"], "the well-known man"),
        (["the house and the boat stand here by the house-", "boat at sea"], "the house-boat at"),
        (["nobody else has ever written the word extraordi-", "nary here"], "extraordinary here"),
        (["this is the only place that names the great North-", "South road"], "North-South road"),
        (["every end of a wire must have an end-", "to-end check"], "end-to-end check"),
    ],
)
def test_words_divided_at_line_ends_are_mended(rows: list[str], expected: str) -> None:
    assert expected in " ".join(paragraphs(lines(72, 100, rows)))


# -- columns ------------------------------------------------------------------------------------


def columns(order: str) -> str:
    left = wrapped(" ".join(f"left{k} fish swim in the cold deep sea" for k in range(30)), 210)
    right = wrapped(" ".join(f"right{k} birds fly over the warm dry land" for k in range(30)), 210)
    page = text(150, 80, "A heading across both of the columns", size=16, font="F2")
    sides = [(72, row, 120 + 12 * k) for k, row in enumerate(left)]
    others = [(320, row, 126 + 12 * k) for k, row in enumerate(right)]
    if order == "rows":
        drawn = [x for pair in zip(sides, others, strict=False) for x in pair]
        drawn += sides[len(others) :] + others[len(sides) :]
    else:
        drawn = others + sides
    return page + "".join(text(x, y, row) for x, row, y in drawn)


@pytest.mark.parametrize("order", ["rows", "right first"])
def test_columns_are_read_one_after_the_other(order: str) -> None:
    words = " ".join(paragraphs(columns(order))).split()
    assert words[:2] == ["A", "heading"]
    found = [w for w in words if w.startswith(("left", "right"))]
    assert found == [f"left{k}" for k in range(30)] + [f"right{k}" for k in range(30)]


def test_a_table_in_one_column_does_not_join_the_columns() -> None:
    left = wrapped(" ".join(f"left{k} fish swim in the cold deep sea" for k in range(30)), 210)
    page = lines(72, 100, left)
    for k in range(20):
        page += text(330, 100 + 10 * k, f"row{k}", size=8) + text(430, 100 + 10 * k, "1", size=8)
    page += lines(320, 310, wrapped(FOX, 210))
    found = paragraphs(page)
    assert "left29" in found[0]
    assert found[1].splitlines()[:2] == ["row0 | 1", "row1 | 1"]


# -- tables, lists, code, notes -----------------------------------------------------------------


def test_tables_are_rows() -> None:
    cells = [("Name", "Colour", "Weight"), ("Apple", "red", "150 g"), ("Pear", "green", "170 g")]
    page = lines(72, 100, wrapped(f"{FOX} {FOX}"))
    for k, row in enumerate(cells):
        page += "".join(text(72 + 150 * n, 200 + 14 * k, cell) for n, cell in enumerate(row))
    document = load(Pdf(pages=[page]))
    assert texts(document, "table") == [
        "Name | Colour | Weight\nApple | red | 150 g\nPear | green | 170 g"
    ]


def test_items_are_lists() -> None:
    page = lines(72, 100, ["1. Wash the potatoes well", "2. Boil them in salted water"])
    document = load(Pdf(pages=[page + lines(72, 200, wrapped(f"{FOX} {FOX}"))]))
    assert texts(document, "list") == ["1. Wash the potatoes well\n2. Boil them in salted water"]


def test_code_keeps_its_lines_and_indents() -> None:
    code = ["def f(x):", "    if x:", "        return 1", "    return 2"]
    page = lines(72, 100, wrapped(f"{FOX} {FOX}"))
    for k, row in enumerate(code):
        indent = len(row) - len(row.lstrip())
        page += text(72 + 6 * indent, 160 + 12 * k, row.lstrip(), font="F3")
    document = load(Pdf(pages=[page]))
    assert texts(document, "code") == ["\n".join(code)]


def test_footnotes_are_kept_with_their_calls() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX}")
    page = lines(72, 100, [*rows[:-1], "It ends with a call"])
    end = 72 + width_of("It ends with a call")
    page += text(end, 97 + 12 * (len(rows) - 1), "1", size=6)
    page += text(end + 6, 100 + 12 * (len(rows) - 1), "here.")
    page += text(72, 698, "1", size=5) + text(76, 700, "The note itself, in small type.", size=8)
    document = load(Pdf(pages=[page]))
    assert "call[^1]" in texts(document)[0]
    assert texts(document, "note") == ["[^1]: The note itself, in small type."]


# -- headings and places ------------------------------------------------------------------------


def test_headings_by_size_and_number() -> None:
    page = text(72, 80, "A Study of Foxes", size=20, font="F2")
    page += text(72, 120, "1 Introduction", size=14, font="F2") + lines(
        72, 140, wrapped(f"{FOX} {FOX} {FOX}")
    )
    page += text(72, 250, "1.1 Aims", size=12, font="F2") + lines(72, 270, wrapped(f"{FOX} {FOX}"))
    document = load(Pdf(pages=[page]))
    assert document.title == "A Study of Foxes"
    assert texts(document, "heading") == ["A Study of Foxes", "1 Introduction", "1.1 Aims"]
    assert document.paragraphs[-1].locator == "p. 1 › 1 Introduction › 1.1 Aims"


def test_the_outline_names_headings() -> None:
    outline = [(f"Part {n}", k) for k, n in enumerate("ABCDE")]
    pages = [
        text(72, 80, f"Part {n}", font="F2") + lines(72, 110, wrapped(f"{FOX} {FOX}"))
        for n in "ABCDE"
    ]
    document = load(Pdf(pages=pages, outline=outline, title="Five parts"))
    assert document.title == "Five parts"
    assert texts(document, "heading") == [f"Part {n}" for n in "ABCDE"]
    assert document.paragraphs[-1].locator == "p. 5 › Part E"


def test_labels_of_the_file_are_the_places() -> None:
    pages = [lines(72, 100, [f"This is sheet {n}."]) for n in "abc"]
    document = load(Pdf(pages=pages, labels="0 << /S /r >> 2 << /S /D /St 7 >>"))
    places = located(document)
    assert places["This is sheet a."] == "p. i"
    assert places["This is sheet b."] == "p. ii"
    assert places["This is sheet c."] == "p. 7"


NAMES = "Ada Ben Cleo Dan Eve Finn Gwen Hal Ida Jon Kim Lea".split()


def book(count: int, first: int = 41) -> list[str]:
    return [
        text(72, 40, "The Book of Foxes" if k % 2 else f"Chapter {k // 4} of all")
        + lines(72, 90, wrapped(f"{NAMES[k]} begins. {FOX} {FOX}"))
        + text(300, 760, str(first + k))
        for k in range(count)
    ]


def test_running_heads_and_numbers_are_taken_off_and_read() -> None:
    document = load(Pdf(pages=book(12)))
    assert "Book of Foxes" not in document.text
    assert "Chapter" not in document.text
    assert [p.locator for p in document.paragraphs] == [f"p. {41 + k}" for k in range(12)]


def test_pages_of_nothing_but_repetition_are_kept() -> None:
    assert (
        load(Pdf(pages=[text(72, 40, f"Ticket {k}") for k in range(5)])).text.count("Ticket") == 5
    )


def test_text_at_the_top_of_pages_is_not_taken_off() -> None:
    pages = [
        lines(72, 40, [f"Sheet number {k} begins here, and it was", f"written by {NAMES[k]}."])
        for k in range(8)
    ]
    document = load(Pdf(pages=pages))
    assert document.text.count("begins here") == 8


# -- letters ------------------------------------------------------------------------------------


def shown(word: str, letters: str) -> str:
    return "".join(chr(0x80 + letters.index(c)) for c in word)


def test_ligatures_are_letters() -> None:
    letters = "\ufb01\ufb03sheo"
    page = text(72, 100, shown("\ufb01sh", letters), font="F9")
    page += text(72, 120, shown("o\ufb03", letters), font="F9")
    found = load(Pdf(pages=[page], letters=letters)).text
    assert "fish" in found
    assert "offi" in found


HEBREW = ["שלום", "עולם", "טוב"]


@pytest.mark.parametrize("drawn", ["by place", "as written"])
def test_right_to_left_text_is_in_its_order(drawn: str) -> None:
    letters = "".join(sorted(set("".join(HEBREW)))) + " "
    line = " ".join(HEBREW)
    glyphs = [(400 - 5 * k, c) for k, c in enumerate(line)]  # 5 points wide each, leftwards
    if drawn == "by place":
        glyphs.reverse()
    page = "".join(text(x, 100, shown(c, letters), font="F9") for x, c in glyphs)
    assert load(Pdf(pages=[page], letters=letters)).text == line


def test_numbers_and_names_in_right_to_left_text_read_rightwards() -> None:
    letters = "".join(sorted(set("".join(HEBREW)))) + " abc123"
    visual = "םולש 123 abc םלוע"  # as it stands on the page, from left to right
    page = "".join(
        text(200 + 5 * k, 100, shown(c, letters), font="F9") for k, c in enumerate(visual)
    )
    assert load(Pdf(pages=[page], letters=letters)).text == "עולם 123 abc שלום"


def test_turned_pages_are_read() -> None:
    page = "".join(
        text(100 + 12 * k, 700, row, turned=True) for k, row in enumerate(wrapped(f"{FOX} {FOX}"))
    )
    document = load(Pdf(pages=[page], turned={0: 90}))
    assert texts(document) == [f"{FOX} {FOX}"]


# -- locks, damage, coverage --------------------------------------------------------------------


def locked(user: str) -> Pdf:
    return Pdf(pages=[lines(72, 100, ["A secret."])], title="Secret", user=user)


def test_a_user_password_is_asked_for() -> None:
    with pytest.raises(DamagedDocument, match="locked by a password") as caught:
        load(locked("sesame"))
    assert "password=" in caught.value.line
    assert "\n" not in caught.value.line


def test_a_password_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REREAD_HOME", str(tmp_path))
    path = tmp_path / "a.pdf"
    path.write_bytes(locked("sesame").file())
    for word in ("sesame", "owner"):
        assert reread.load(path, password=word).text == "A secret."
    with pytest.raises(DamagedDocument, match="does not open it"):
        reread.load(path, password="wrong")


def test_an_owner_password_alone_locks_nothing() -> None:
    document = load(locked(""))
    assert document.text == "A secret."
    assert document.title == "Secret"


def test_pictures_are_told_apart_from_blank_pages() -> None:
    white = "1 1 1 rg 0 0 612 792 re f\n"
    drawing = "0 0 0 rg 100 100 200 200 re f\n"
    pages = [lines(72, 100, [FOX]), picture(), "", white, drawing, lines(72, 100, [FOX])]
    coverage = load(Pdf(pages=pages)).coverage
    assert (coverage.parts, coverage.read) == (6, 2)
    assert coverage.without_text == ("p. 2", "p. 5")
    assert coverage.blank == ("p. 3", "p. 4")
    assert not coverage.complete


def test_a_scan_says_what_to_do() -> None:
    with pytest.raises(EmptyDocument, match="2 of 3 pages are pictures") as caught:
        load(Pdf(pages=[picture(), picture(), ""]))
    assert caught.value.hint


def test_blank_pages_alone_are_no_scan() -> None:
    with pytest.raises(EmptyDocument, match="all pages are blank"):
        load(Pdf(pages=["", ""]))


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj <<", b"%PDF-1.7\n" + bytes(range(256)) * 40]
)
def test_damage_is_one_line(data: bytes) -> None:
    with pytest.raises(DamagedDocument) as caught:
        load(data)
    assert "\n" not in caught.value.line
    assert "a.pdf" in caught.value.line


def test_no_damage_ends_the_process() -> None:
    whole = Pdf(pages=book(3), outline=[("One", 0), ("Two", 1)]).file()
    chance = random.Random(7)
    for _ in range(150):
        data = bytearray(whole[: chance.randrange(200, len(whole))])
        for _ in range(chance.choice((0, 3, 30))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data[:5] = b"%PDF-"
        with suppress(DamagedDocument, EmptyDocument):
            load_bytes(bytes(data), name="a.pdf")


# -- size ---------------------------------------------------------------------------------------

_MEASURE = """
import sys
from pathlib import Path
from reread.documents import load
document = load(sys.argv[1])
status = Path("/proc/self/status").read_text()  # not getrusage, which counts the parent too
print(document.coverage.read, int(status.partition("VmHWM:")[2].split()[0]) >> 10)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak there")
def test_many_pages_need_little_memory(tmp_path: Path) -> None:
    pages = [
        lines(72, 80, wrapped(" ".join(f"{w}{k}" for w in FOX.split() * 25), 450))
        for k in range(600)
    ]
    path = tmp_path / "long.pdf"
    path.write_bytes(Pdf(pages=pages).file())
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, path], capture_output=True, text=True, check=True
    )
    read, megabytes = map(int, done.stdout.split())
    assert read == 600
    assert megabytes < 400


# -- real files ---------------------------------------------------------------------------------


def real(name: str) -> Document:
    path = shared(f"readerfiles/{name}")
    return load(path.read_bytes(), path.name)


def test_a_paper_in_two_columns() -> None:
    document = real("pdf/papers/acl20-wcep-paper.pdf")
    headings = [h for h in texts(document, "heading") if h[0].isdigit() or h == "Abstract"]
    assert headings == [
        "Abstract",
        "1 Introduction",
        "2 Related Work",
        "2.1 Multi-Document Summarization",
        "2.2 Datasets for MDS",
        "3 Dataset Construction",
        "4 Dataset Statistics and Analysis",
        "4.1 Overview",
        "4.2 Quality of Additional Articles",
        "4.3 Extractive Strategies",
        "5 Experiments",
        "5.1 Setup",
        "5.2 Methods",
        "5.3 Results",
        "5.4 Effect of Additional Articles",
        "6 Conclusion",
    ]
    assert "Recently, several larger MDS datasets have been created" in document.text
    assert "# clusters | 8,158 | 1,020 | 1,022 | 10,200" in document.text
    assert document.paragraphs[0].locator == "p. 1302"
    assert "Ranking with recursive neural networks" in document.references
    assert "Ranking with recursive neural networks" not in document.text


def test_arabic_in_its_order() -> None:
    document = real("pdf/docling/right_to_left_01.pdf")
    assert "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R و Python" in document.text
    assert "Python ميزات فريدة تجعلها مثالية لتحليل البيانات" in document.text


def test_korean_columns_notes_and_words_across_lines() -> None:
    document = real("pdf/docling/normal_4pages.pdf")
    assert "우연한 외래의 사고로 신체에 입은 상해라고 규정하고 있는데, 즉, “급격성" in document.text
    assert document.text.index("들어가며") < document.text.index("통상 질병보험금에")


def test_a_manual_with_labels_and_outline() -> None:
    document = real("same-content-formats/debian-policy/policy.pdf")
    assert len(document.coverage.blank) == 14
    assert "Release 4.6.2.0" not in document.text.split("CONTENTS", 1)[1]
    at = document.text.index("In a binary package control file or a .changes file")
    locator = document.locator_at(at)
    assert locator is not None
    assert locator.startswith("p. 35 › ")
    assert locator.endswith(" › 5.6 List of fields › 5.6.1 Source")


def test_real_locks_and_scans() -> None:
    with pytest.raises(DamagedDocument, match="locked by a password"):
        real("pdf/unstructured/password.pdf")
    scan = shared("readerfiles/pdf-scanned/docling/ocr_test.pdf")
    with pytest.raises(EmptyDocument, match="1 of 1 pages are pictures"):
        documents.load(scan, recognition=documents.Recognition(languages="off"))
