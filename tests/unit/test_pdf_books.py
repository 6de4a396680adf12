"""PDF: what books and papers have besides their text: notes, contents, feet, addresses, forms."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, texts
from pdf_writer import Pdf, lines, text, width_of, wrapped
from reread.documents import load_bytes
from reread.documents.pdf.hyphens import Vocabulary
from reread.types import Document

FOX = "The quick brown fox jumps over the lazy dog and runs away into the forest again."


def load(file: Pdf) -> Document:
    document = load_bytes(file.file(), name="a.pdf")
    assert_whole(document)
    return document


def called(words: str, mark: str, y: float) -> str:
    """A line that ends with the call of a note."""
    return text(72, y, words) + text(72 + width_of(words), y - 3, mark, size=6)


def note(mark: str, words: str, y: float = 700) -> str:
    return text(72, y - 2, mark, size=5) + text(76, y, words, size=8)


# -- notes --------------------------------------------------------------------------------------

TITLES = ("Apples", "Pears", "Plums", "Grapes", "Figs")


def chapters(marks: tuple[str, ...]) -> Pdf:
    """Five chapters of two pages; the first has a note on either page."""
    pages = []
    for k in range(10):
        page = lines(72, 120, wrapped(f"{FOX} {FOX}"))
        if k % 2 == 0:
            page += text(72, 80, TITLES[k // 2], size=16, font="F2")
        if k < len(marks):
            page += called(f"Here is a call number {'one two'.split()[k]}", marks[k], 300)
            page += note(marks[k], f"The note on {'the first sheet|the second'.split('|')[k]}.")
        pages.append(page)
    outline = [(title, 2 * k) for k, title in enumerate(TITLES)]
    return Pdf(pages=pages, outline=outline, title="On fruit")


def test_notes_stand_at_the_end_of_their_chapter() -> None:
    document = load(chapters(("1", "2")))
    assert texts(document)[:8] == [
        "Apples",
        f"{FOX} {FOX}",
        "Here is a call number one[^1]",
        f"{FOX} {FOX}",
        "Here is a call number two[^2]",
        "[^1]: The note on the first sheet.",
        "[^2]: The note on the second.",
        "Pears",
    ]
    places = located(document)
    assert places["[^1]: The note on the first sheet."] == "p. 1 › Apples"
    assert places["[^2]: The note on the second."] == "p. 2 › Apples"
    assert document.paragraphs[-1].locator == "p. 10 › Figs"


def test_notes_that_count_anew_stay_on_their_pages() -> None:
    found = texts(load(chapters(("1", "1"))))
    assert found[2:4] == ["Here is a call number one[^1]", "[^1]: The note on the first sheet."]
    assert found[5:8] == ["Here is a call number two[^1]", "[^1]: The note on the second.", "Pears"]


def test_a_chapter_that_shows_no_title_still_ends_the_one_before() -> None:
    file = chapters(("1",))
    file.pages[2] = lines(72, 120, wrapped(f"Pears are not named here. {FOX}"))
    found = texts(load(file))
    assert found[4:6] == [
        "[^1]: The note on the first sheet.",
        f"Pears are not named here. {FOX}",
    ]


def test_without_an_outline_notes_follow_the_sentence_that_leaves_their_page() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX} {FOX}")
    first = lines(72, 100, rows[:2]) + note("1", "A note at the foot of the sheet.")
    second = lines(72, 100, rows[2:]) + lines(72, 300, wrapped(f"{FOX} {FOX}"))
    assert texts(load(Pdf(pages=[first, second]))) == [
        f"{FOX} {FOX} {FOX} {FOX}",
        "[^1]: A note at the foot of the sheet.",
        f"{FOX} {FOX}",
    ]


def test_a_note_goes_on_at_the_foot_of_the_next_page() -> None:
    file = chapters(("1", "2"))
    file.pages[0] = file.pages[0].replace("sheet.", "sheet goes")
    file.pages[1] += text(76, 688, "on here and ends.", size=8)
    found = texts(load(file), "note")
    assert found[0] == "[^1]: The note on the first sheet goes on here and ends."
    assert found[1] == "[^2]: The note on the second."


def test_a_paragraph_over_three_pages_is_located_where_it_begins() -> None:
    rows = wrapped(" ".join([FOX[:-1].lower()] * 9))
    pages = [lines(72, 100, rows[k : k + 5]) for k in range(0, 10, 5)]
    pages.append(lines(72, 100, rows[10:]) + lines(72, 400, wrapped(f"{FOX} {FOX}")))
    document = load(Pdf(pages=pages))
    assert texts(document)[0] == " ".join([FOX[:-1].lower()] * 9)
    assert [p.locator for p in document.paragraphs] == ["p. 1", "p. 3"]


# -- contents -----------------------------------------------------------------------------------


def contents(number: int = 1) -> str:
    """A list of the five chapters, each on the sheet after the one before."""
    page = text(72, 80, "Contents", size=16, font="F2")
    for k, title in enumerate(TITLES):
        dots = " . . . . . . . . . . . ." if k != 2 else ""
        page += text(72, 120 + 14 * k, title + dots) + text(400, 120 + 14 * k, str(k + 1 + number))
    return page


def test_numbers_that_lead_to_titles_are_left_out_of_contents() -> None:
    pages = [contents()] + [
        text(72, 80, title, size=16, font="F2") + lines(72, 120, wrapped(f"{FOX} {FOX}"))
        for title in TITLES
    ]
    document = load(Pdf(pages=pages))
    assert texts(document, "list") == ["Apples\nPears\nPlums\nGrapes\nFigs"]


def test_prices_keep_their_numbers() -> None:
    document = load(Pdf(pages=[contents() + lines(72, 300, wrapped(f"{FOX} {FOX}"))]))
    assert texts(document, "list") == [
        "Apples … 2\nPears … 3\nPlums … 4\nGrapes … 5\nFigs … 6",
    ]


def test_an_entry_of_two_lines_is_one() -> None:
    dots = " . . . . . . . . . . . ."
    page = text(72, 120, f"1 Apples{dots} 2") + text(72, 134, "2 What is known of pears, plums,")
    page += text(90, 148, f"grapes and figs{dots} 4") + text(72, 162, f"3 Nuts{dots} 6")
    page += text(72, 176, f"4 Seeds{dots} 8") + lines(72, 300, wrapped(f"{FOX} {FOX}"))
    assert texts(load(Pdf(pages=[page])), "list") == [
        "1 Apples … 2\n2 What is known of pears, plums, grapes and figs … 4\n3 Nuts … 6\n"
        "4 Seeds … 8"
    ]


# -- feet ---------------------------------------------------------------------------------------


def test_a_foot_of_two_lines_is_no_text() -> None:
    pages = [
        lines(72, 100, wrapped(f"{FOX} {FOX} Sheet {word} ends."))
        + text(72, 750, f"{k + 1} On the habits of foxes")
        for k, word in enumerate("alpha beta gamma delta epsilon".split())
    ]
    pages[2] = pages[2].replace("habits of foxes", "habits of foxes and of all")
    pages[2] += text(72, 762, "their kin")
    document = load(Pdf(pages=pages))
    assert "habits" not in document.text
    assert "kin" not in document.text


def test_a_page_number_over_another_foot_is_no_text() -> None:
    pages = [
        lines(72, 100, wrapped(f"{FOX} {FOX} Sheet {word} ends.")) + text(300, 740, str(k + 201))
        for k, word in enumerate("alpha beta gamma delta epsilon".split())
    ]
    pages[0] += text(72, 760, "Proceedings of the first meeting on foxes", size=8)
    document = load(Pdf(pages=pages))
    assert "201" not in document.text
    assert "Proceedings of the first meeting on foxes" in document.text
    assert document.paragraphs[0].locator == "p. 201"


# -- line ends ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("see https://example.org/a/", "b.html now", "see https://example.org/a/b.html now"),
        ("see https://www.example.", "org/papers", "see https://www.example.org/papers"),
        ("see https:", "//example.org", "see https://example.org"),
        ("It is at https://example.org.", "The rest", "It is at https://example.org. The rest"),
        ("files in /usr/share/", "doc are", "files in /usr/share/doc are"),
        ("moved from /", "etc to", "moved from /etc to"),
        ("files in /usr/share/doc.", "They are", "files in /usr/share/doc. They are"),
        ("either and/", "or", "either and/ or"),
        ("pages 1208–", "1214.", "pages 1208–1214."),
        ("a d-", "dimensional space", "a d-dimensional space"),
        ("the extraor-", "dinary", "the extraordinary"),
        ("named libfox.so.3.", "0.1 here", "named libfox.so.3.0.1 here"),
        ("It is in part 3.", "4 foxes", "It is in part 3. 4 foxes"),
    ],
)
def test_what_was_divided_at_a_line_end_is_whole(before: str, after: str, joined: str) -> None:
    assert Vocabulary().joined(before, after) == joined


def test_an_address_in_other_type_belongs_to_its_sentence() -> None:
    rows = wrapped(f"{FOX} {FOX} All of it is to be found, with much more of the kind, at")
    page = lines(72, 100, rows)
    at = 100 + 12 * len(rows)
    page += text(72, at, "https://example.org/a/", size=9, font="F3")
    page += text(72, at + 12, "foxes.html.", size=9, font="F3")
    found = texts(load(Pdf(pages=[page])))
    assert found == [" ".join([*rows, "https://example.org/a/foxes.html."])]


def test_lines_set_ragged_are_one_sentence() -> None:
    rows = ["the quick brown fox jumps over the lazy dog and runs away again and"]
    rows += ["it comes back to the lazy dog and jumps over the brown fox but"]
    rows += ["no dog was ever so lazy as the one over which the foxes jump, and"]
    rows += ["so it is to this day."]
    assert 20 < width_of(rows[0]) - width_of(rows[1]) < 0.12 * width_of(rows[0])  # "no" has room
    assert texts(load(Pdf(pages=[lines(72, 100, rows)]))) == [" ".join(rows)]


# -- paragraphs and code ------------------------------------------------------------------------


def test_an_indented_paragraph_goes_on_over_the_page() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX} {FOX}")
    above = lines(72, 100, ["Term"], font="F2")
    first = above + lines(97, 112, rows[:3])
    second = lines(97, 100, rows[3:]) + lines(72, 200, wrapped(f"{FOX} {FOX}"))
    found = texts(load(Pdf(pages=[first, second])))
    assert found[1:] == [f"{FOX} {FOX} {FOX} {FOX}", f"{FOX} {FOX}"]


def test_what_follows_a_gap_is_no_rest_of_an_unfinished_paragraph() -> None:
    rows = wrapped(FOX[:-1])
    width = max(map(width_of, rows))
    full = [row for row in rows if width_of(row) > 0.95 * width]
    page = lines(72, 100, full) + lines(72, 140, wrapped(f"{FOX} {FOX}"))
    assert texts(load(Pdf(pages=[page]))) == [" ".join(full), f"{FOX} {FOX}"]


def test_code_keeps_its_gaps_and_is_no_table() -> None:
    code = ["RUN          = start -a", "PROGRAM      = start -b", "SCRIPT       = start -c"]
    page = lines(72, 100, wrapped(f"{FOX} {FOX}"))
    for k, row in enumerate(code):
        page += text(72, 180 + 12 * k, row[:7].strip(), font="F3")
        page += text(72 + 6 * 13, 180 + 12 * k, row[13:], font="F3")
    assert texts(load(Pdf(pages=[page])), "code") == ["\n".join(code)]


def test_a_line_of_names_in_code_is_a_line_of_its_paragraph() -> None:
    page = lines(72, 100, wrapped(f"{FOX} {FOX}")) + text(72, 160, "The")
    page += text(92, 160, "first_of_all, second_of_all, third_of_all, fourth_of_all,", font="F3")
    page += lines(72, 172, ["and others are names that must not be used in the forest by foxes."])
    found = texts(load(Pdf(pages=[page])))[-1]
    assert found.startswith("The first_of_all, second_of_all, third_of_all, fourth_of_all, and")


def test_a_typescript_is_text() -> None:
    rows = wrapped(f"{FOX} {FOX} {FOX}", 220)
    document = load(Pdf(pages=[lines(72, 100, rows, font="F3")]))
    assert {p.kind for p in document.paragraphs} == {"text"}
    assert document.text.replace("\n\n", " ") == f"{FOX} {FOX} {FOX}"


# -- forms --------------------------------------------------------------------------------------


def test_what_was_filled_into_a_form_is_text() -> None:
    page = text(72, 100, "Name:") + text(72, 120, "Trade:")
    fields = {0: [(110.0, 100.0, "Ada Lovelace"), (110.0, 120.0, "Mathematician")]}
    document = load(Pdf(pages=[page], fields=fields))
    words = document.text.replace("|", " ").split()
    assert words == ["Name:", "Ada", "Lovelace", "Trade:", "Mathematician"]
