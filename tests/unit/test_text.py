"""Reading units, sentences, paragraphs and clean text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import prose
from reread.text import (
    clean,
    count_words,
    cut_within,
    estimate_tokens,
    one_line,
    paragraph_spans,
    sentences,
    word_shares,
)

# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t ",
        "One",
        "It was the best of times, it was the worst of times.",
        "“Don’t—please don’t,” she said; the café’s naïve owner — a Mr. O’Brien — left…",
        "Price: $1,234.56 (or 10 %)\u00a0today",
        "Он пришёл домой поздно.",
        "ذهب الرجل إلى البيت",
        "나는 학교에 갔다",
        "वह घर गया।",
    ],
)
def test_words_of_spaced_scripts_are_what_split_finds(text: str) -> None:
    assert count_words(text) == len(text.split())


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("第二天早上，他沿着河走到村子里，买了面包和牛奶，然后慢慢地走回家。", 24),
        ("次の日の朝、彼は川に沿って村まで歩き、パンと牛乳を買って、ゆっくり家に帰った。", 24),
        ("เช้าวันรุ่งขึ้นเขาเดินเลียบแม่น้ำไปยังหมู่บ้าน ซื้อขนมปังกับนม แล้วเดินกลับบ้านช้าๆ", 24),
        ("គាត់ដើរតាមដងទន្លេទៅភូមិ ទិញនំប៉័ងនិងទឹកដោះគោ", 13),
        ("သူသည် မြစ်ကမ်းတစ်လျှောက် ရွာသို့ လမ်းလျှောက်သွားပြီး ပေါင်မုန့်နှင့် နို့ဝယ်ခဲ့သည်။", 13),
        ("ཁོ་གཙང་པོའི་འགྲམ་ནས་གྲོང་གསེབ་ལ་སོང་། བག་ལེབ་དང་འོ་མ་ཉོས།", 13),
    ],
)
def test_scripts_without_spaces_measure_about_the_same_content(text: str, english: int) -> None:
    assert 0.7 * english <= count_words(text) <= 1.3 * english


def test_a_run_without_a_break_counts_as_several_words() -> None:
    assert count_words("x" * 100) == 1
    assert count_words("x" * 101) == 2
    assert count_words("é" * 1000) == 10


@given(st.text(max_size=300))
def test_counting_rounds_shares_up_and_sees_every_visible_character(text: str) -> None:
    assert count_words(text) == -(-word_shares(text) // 12)
    assert (count_words(text) == 0) == (not text.strip())


# -- sentences ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He left. She stayed!  Why? Nobody knew…", ["He left.", "She stayed!", "Why?", None]),
        ("Mr. Smith met Dr. Jones. They talked.", ["Mr. Smith met Dr. Jones.", None]),
        ("J. R. R. Tolkien wrote it. It sold.", ["J. R. R. Tolkien wrote it.", None]),
        ("See Fig. 3 and No. 5 there. Done.", ["See Fig. 3 and No. 5 there.", None]),
        ("“Will you?” No. I will not.", ["“Will you?”", "No.", None]),
        ("Neither did I. The end.", ["Neither did I.", None]),
        ("“Really?” he asked. “Yes.” Then he left.", ["“Really?” he asked.", "“Yes.”", None]),
        ("Er kam z. B. über Köln. Émile blieb.", ["Er kam z. B. über Köln.", None]),
        ("It cost 3.5 million. That was a lot.", ["It cost 3.5 million.", None]),
        ("a heading\n\nlower case text", ["a heading", None]),
        ("It ended there.\n\nlower again", ["It ended there.", None]),
        ("他走了。她问：“为什么？”没有人知道！", ["他走了。", "她问：“为什么？”", None]),
        ("彼は帰った。「なぜ？」と彼女は聞いた。", ["彼は帰った。", "「なぜ？」", None]),
        ("ذهب الرجل. لماذا؟ لا أحد يعرف.", ["ذهب الرجل.", "لماذا؟", None]),
        ("वह घर गया। वह सो गया।", ["वह घर गया।", None]),
        ("ผมไปตลาด วันนี้อากาศดี", ["ผมไปตลาด", None]),
        ("ဟုတ်တယ်။ သွားပြီ။", ["ဟုတ်တယ်။", None]),
        ("គាត់ទៅផ្សារ។ គាត់ត្រឡប់មកវិញ។", ["គាត់ទៅផ្សារ។", None]),
        ("እሱ ሄደ። እሷ መጣች፧ አዎ።", ["እሱ ሄደ።", "እሷ መጣች፧", None]),
        ("Նա գնաց։ Նա վերադարձավ։", ["Նա գնաց։", None]),
        ("ཁོ་སོང་། མོ་སླེབས། །", ["ཁོ་སོང་།", "མོ་སླེབས།", None]),
        ("তিনি গেলেন। তিনি এলেন।", ["তিনি গেলেন।", None]),
        ("वह गया॥ वह आया॥", ["वह गया॥", None]),
        ("وہ گیا۔ وہ آیا۔", ["وہ گیا۔", None]),
        ("הוא הלך. היא נשארה? כן!", ["הוא הלך.", "היא נשארה?", None]),
        ("ລາວໄປຕະຫຼາດ ນາງຢູ່ເຮືອນ", ["ລາວໄປຕະຫຼາດ", None]),
        ("나는 갔다. 너는 왔다.", ["나는 갔다.", None]),
        ("Τι είναι; Δεν ξέρω.", ["Τι είναι;", None]),
        ("Το είδα· ήρθε; έφυγε.", [None]),
        ("她笑了？！他走了。", ["她笑了？！", None]),
        ("そうか！？　彼は言った。", ["そうか！？", None]),
    ],
)
def test_sentences_end_where_readers_see_it(text: str, found: list[str | None]) -> None:
    got = [text[a:b] for a, b in sentences(text)]
    assert got[:-1] == found[:-1]
    assert text.endswith(got[-1])


@given(st.text(alphabet="aB .!?\n“”。؟।ก ", max_size=80))
def test_sentences_lose_nothing(text: str) -> None:
    spans = sentences(text)
    assert all(a < b for a, b in spans)
    assert all(x[1] <= y[0] for x, y in zip(spans, spans[1:], strict=False))
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


# -- cutting ------------------------------------------------------------------------------------


def cut(text: str, low: int, high: int) -> str:
    return text[: cut_within(text, 0, len(text), low * 12, high * 12)]


def test_a_cut_prefers_the_last_sentence_end_in_range() -> None:
    text = "One two three. Four five six. Seven eight nine ten, eleven twelve."
    assert cut(text, 2, 9) == "One two three. Four five six. "
    assert cut(text, 2, 6) == "One two three. Four five six. "  # exactly full
    assert cut(text, 2, 5) == "One two three. "


def test_else_a_clause_else_white_space_else_a_character() -> None:
    assert cut("one two, three four five six", 1, 4) == "one two, "
    assert cut("one two three four five six", 2, 4) == "one two three four "
    assert cut("x" * 1000, 2, 3) == "x" * 300
    assert cut("山" * 100, 2, 4) == "山" * 6


def test_a_number_is_not_cut_at_its_comma() -> None:
    text = "alpha beta gamma 1,000,000 delta epsilon"
    assert cut(text, 1, 4) == "alpha beta gamma 1,000,000 "


@given(
    st.text(alphabet="ab .,\n山。ก🙂", min_size=1, max_size=400)
    | st.text(min_size=1, max_size=200),
    st.integers(0, 20),
    st.integers(1, 20),
)
def test_a_cut_always_goes_on_and_keeps_to_its_range(text: str, low: int, more: int) -> None:
    at = cut_within(text, 0, len(text), low * 12, (low + more) * 12)
    assert 0 < at <= len(text)
    assert word_shares(text[:at]) <= (low + more) * 12
    if word_shares(text) >= (low + more) * 12:
        assert word_shares(text[:at]) >= low * 12


# -- paragraphs ---------------------------------------------------------------------------------


def paragraphs(text: str) -> list[str]:
    return [text[a:b] for a, b in paragraph_spans(text)]


LONG = (
    "The road went down from the hill to the river and on the other side it climbed again.",
    "Nobody had walked there since the autumn, and the grass stood high between the stones.",
    "When the first cart came back in spring, the children ran out to see who was driving it.",
)


def wrapped(text: str, width: int, indent: str = "") -> str:
    lines, line = [], indent
    for word in text.split():
        if len(line) + len(word) + 1 > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line.strip() else line + word
    return "\n".join([*lines, line])


def test_blank_lines_separate() -> None:
    assert paragraphs("\n\n".join(LONG)) == list(LONG)
    assert paragraphs("\n \n\n".join(LONG)) == list(LONG)


def test_single_newlines_separate_where_lines_are_paragraphs() -> None:
    assert paragraphs("\n".join(LONG)) == list(LONG)
    assert paragraphs("Title\n\n" + "\n".join(LONG)) == ["Title", *LONG]


def test_chinese_lines_of_few_characters_are_paragraphs_too() -> None:
    lines = [
        "第二天早上，他沿着河走到村子里，买了面包和牛奶。",
        "然后他慢慢地走回家，一路上没有遇见任何人。",
    ]
    assert paragraphs("第一章\n\n" + "\n".join(lines)) == ["第一章", *lines]


def test_wrapped_lines_are_one_paragraph() -> None:
    blocks = [wrapped(" ".join(LONG), 50), wrapped(" ".join(reversed(LONG)), 50)]
    assert paragraphs("\n\n".join(blocks)) == blocks


def test_an_indented_line_opens_a_paragraph_in_wrapped_text() -> None:
    blocks = [wrapped(" ".join(LONG), 50, "    "), wrapped(" ".join(reversed(LONG)), 50, "    ")]
    assert paragraphs("\n".join(blocks)) == [b.strip() for b in blocks]


def test_verse_stays_together() -> None:
    verse = "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye"
    assert paragraphs(f"The Tyger\n\n{verse}\n\nBlake") == ["The Tyger", verse, "Blake"]


def test_one_giant_line_is_grouped_by_sentences() -> None:
    text = prose([3000]).replace("\n\n", " ")
    found = paragraphs(text)
    assert len(found) > 20
    assert " ".join(found) == text
    assert all(60 <= count_words(p) <= 80 for p in found[:-1])


def test_a_giant_chinese_line_is_grouped_as_well() -> None:
    text = "他沿着河走到村子里，买了面包和牛奶。" * 200
    found = paragraphs(text)
    assert "".join(found) == text
    assert len(found) > 20


@given(st.text(alphabet="abc .\n\t山。ก", max_size=300) | st.text(max_size=100))
def test_paragraphs_hold_every_visible_character_once(text: str) -> None:
    text = clean(text)
    spans = paragraph_spans(text)
    assert all(a < b and text[a:b].strip() for a, b in spans)
    assert all(x[1] <= y[0] for x, y in zip(spans, spans[1:], strict=False))
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


# -- clean --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("\ufeffabc", "abc"),
        ("a\r\nb\rc\u2028d\u2029e\x85f", "a\nb\nc\nd\n\ne\nf"),
        ("a\x00b\ud800c\udfff", "a\ufffdb\ufffdc\ufffd"),
        ("a\x0bb\x0cc\x1bd\x7fe\x93f", "a b c d e f"),
        ("tab\tnew\n", "tab\tnew\n"),
        ("👩‍👩‍👧 é ي", "👩‍👩‍👧 é ي"),
    ],
)
def test_clean_text_can_be_stored_and_sent(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")


def test_tokens_are_estimated_upwards() -> None:
    assert estimate_tokens("") >= 0
    assert estimate_tokens("The quick brown fox jumps over the lazy dog.") >= 10
    assert estimate_tokens("1234567890") >= 4
    assert estimate_tokens("山高水长") >= 4


def test_one_line_is_not_turned_around() -> None:
    assert one_line("\ufeffthe \u202elamp\u202c\n was\t\u2067lit\u2069 ") == "the lamp was lit"
    assert one_line("القلعة قديمة") == "القلعة قديمة"
