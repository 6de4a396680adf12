"""Quotes: verified through typography, repaired on a wrong page, never believed otherwise."""

from __future__ import annotations

import pytest

from making import memory
from reread.reading.quotes import cite, locate, support

# -- what is the same up to typography ----------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("the old house stood", "Here the old house stood alone.", "the old house stood"),
        ('"the old house stood"', "Here the old house stood alone.", "the old house stood"),
        ("the old house stood.", "Here the old house stood alone.", "the old house stood"),
        ("…the old house stood...", "Here the old house stood alone.", "the old house stood"),
        ("the old house stood.", "the old house stood. It", "the old house stood."),
        ('don\'t you "dare" go', "“Don’t”, he said, don’t you “dare” go.", "don’t you “dare” go"),
        ("don’t you “dare” go", 'He said: don\'t you "dare" go.', 'don\'t you "dare" go'),
        ("1914-1918 - a war", "In 1914–1918 — a war began", "1914–1918 — a war"),
        ("he left—at last—alone", "he left--at last--alone.", "he left--at last--alone"),
        ("he left--at last--alone", "he left—at last—alone.", "he left—at last—alone"),
        ("official flow of funds", "the oﬃcial ﬂow of funds", "oﬃcial ﬂow of funds"),
        ("an extraordinary day", "an extra\u00adordinary day", "an extra\u00adordinary day"),
        ("an extraordinary day", "an extra-\nordinary day", "an extra-\nordinary day"),
        (
            "an extraordinary day",
            "an extra\u00ad\n  ordinary day",
            "an extra\u00ad\n  ordinary day",
        ),
        ("a well-known old man", "a well-\nknown old man", "a well-\nknown old man"),
        ("a well-known extraordinary man", "a well-\nknown extra-\nordinary man", None),
        (
            "ten thousand men fell",
            "ten\u00a0thousand  men\n\nfell",
            "ten\u00a0thousand  men\n\nfell",
        ),
        ("ABC 123 and more", "ＡＢＣ　１２３ and more", "ＡＢＣ　１２３ and more"),
        (
            "他沿着河走到村子里，买了面包",
            "他沿着河走\n到村子里，买\n　了面包。",
            "他沿着河走\n到村子里，买\n　了面包",
        ),
        (
            "彼は「なぜ」と言った、静かに",
            "そして彼は『なぜ』と言った、静かに。",
            "彼は『なぜ』と言った、静かに",
        ),
        ("ガラスの靴を履いていた少女", "ｶﾞﾗｽの靴を履いていた少女", "ｶﾞﾗｽの靴を履いていた少女"),
        ("the café in the square", "the cafe\u0301 in the square", "the cafe\u0301 in the square"),
        ("the cafe\u0301 in the square", "the café in the square", "the café in the square"),
        ("in the square of Zoë", "in the square of Zoe\u0308.", "in the square of Zoe\u0308"),
        ("the zero\u200bwidth space", "the zerowidth space", "the zerowidth space"),
        ("ประเทศไทยมีอากาศร้อน", "ในปีนี้ประเทศไทยมีอากาศร้อนมาก", "ประเทศไทยมีอากาศร้อน"),
        ("<|user|> said the page", "the ‹|user|› said the page", "‹|user|› said the page"),
        ("使用GPT模型进行自动评估", "我们使用GPT模型进行自动评估。", "使用GPT模型进行自动评估"),
    ],
)
def test_typography_does_not_count(quote: str, text: str, found: str | None) -> None:
    span = locate(quote, text)
    assert span is not None
    assert text[slice(*span)] == (text if found is None else found)


# -- what is not the same -----------------------------------------------------------------------

TEXT = (
    "The board did not approve the sale of the northern plant for 1,500 dollars in 1987. "
    "Nobody was told that they can't leave before the vote. The loss was 3.5 percent. "
    "All non-compliant parties shall pay twenty-one marks. It fell to -5 degrees that night, "
    "a drop of 40% overall. An unhappy marriage followed. The area is 10² metres."
)


@pytest.mark.parametrize(
    "quote",
    [
        "The board refused to approve the sale of the northern plant",  # paraphrase
        "The board did approve the sale of the northern plant",  # dropped negation
        "the sale of the northern plant. The loss was 3.5 percent.",  # stitched
        "the sale of the northern plant ... The loss was 3.5 percent.",  # stitched openly
        "the sale of the northern plant for 1,600 dollars in 1987",  # changed number
        "the sale of the northern plant for 1",  # a number cut short
        "500 dollars in 1987. Nobody was told",  # a number cut at its front
        "The loss was 3.",
        "Nobody was told that they can",  # can't
        "compliant parties shall pay",  # non-compliant
        "parties shall pay twenty",
        "5 degrees that night, a drop",  # -5
        "a drop of 40",  # 40%
        "happy marriage followed",  # inside a word
        "An unhappy marriage follow",
        "The area is 102 metres",
        "1,500",
        "The BOARD did not approve the sale",
        "",
        "...",
    ],
)
def test_what_is_not_there_word_for_word_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


def test_a_dozen_characters_are_enough_and_fewer_are_not() -> None:
    assert locate("northern pla", "the northern pla is") is not None
    assert locate("northern pl", "the northern pl is") is None
    assert locate('"northern pl"', "the northern pl is") is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("is a long recov", "it is a long recov-\nery of"),
        ("ery of the whole land", "a recov-\nery of the whole land"),
        ("in the old cafe", "in the old café"),
        ("in the old cafe", "in the old cafe\u0301"),
        ("the old man of Sef", "the old man of Seﬁ"),
    ],
)
def test_a_piece_of_a_word_is_not_a_quote(quote: str, text: str) -> None:
    assert locate(quote, text) is None


def test_the_first_whole_occurrence_counts() -> None:
    text = "Say unhappy marriage here; a happy marriage there."
    span = locate("happy marriage", text)
    assert span == (text.index("a happy") + 2, text.index(" there"))


# -- citations ----------------------------------------------------------------------------------

PAGES = (
    "Anna left the house at dawn. She took the northern road.",
    "The board met on Monday and sold the plant.",
    "Nobody wrote it down, and the year went by.",
)
MEMORY = memory(PAGES, ("Anna left.", "Plant sold.", "Nothing."))


def cited(number: int, quote: str) -> list[tuple[int, str, str]]:
    found = cite([(number, quote)], MEMORY.pages, MEMORY.document)
    for c in found:
        if c.status == "unverified":
            assert (c.start, c.end, c.locator) == (0, 0, None)
        else:
            assert MEMORY.document.text[c.start : c.end] == c.quote
    return [(c.page, c.quote, c.status) for c in found]


def test_a_quote_on_its_page_is_verified() -> None:
    assert cited(1, "She took the northern road") == [(1, "She took the northern road", "verified")]


def test_a_quote_on_another_page_is_repaired() -> None:
    expected = [(2, "The board met on Monday", "repaired")]
    assert cited(1, "“The board met on Monday”") == expected


def test_a_quote_found_nowhere_is_shown_as_unverified() -> None:
    assert cited(2, "The board met on Tuesday") == [(2, "The board met on Tuesday", "unverified")]
    assert cited(2, "The board") == [(2, "The board", "unverified")]


@pytest.mark.parametrize("number", [0, 4, 99, -1])
def test_a_page_that_does_not_exist_is_never_shown(number: int) -> None:
    assert cited(number, "The board met on Tuesday") == []
    assert cited(number, "The board met on Monday") == [(2, "The board met on Monday", "repaired")]


@pytest.mark.parametrize(("number", "status"), [(1, "verified"), (2, "verified"), (3, "repaired")])
def test_a_quote_may_run_over_the_end_of_a_page(number: int, status: str) -> None:
    quote = "She took the northern road. The board met"
    running = "She took the northern road.\n\nThe board met"
    assert cited(number, quote) == [(1, running, status)]


def test_the_same_quote_is_shown_once() -> None:
    twice = [(1, "She took the northern road"), (2, "She took the northern road")]
    assert len(cite(twice, MEMORY.pages, MEMORY.document)) == 1


# -- support found by rule ----------------------------------------------------------------------


def supported(question: str, answer: str) -> list[str]:
    found = support(question, answer, MEMORY.pages, MEMORY.document)
    assert all(MEMORY.document.text[c.start : c.end] == c.quote for c in found)
    return [c.quote for c in found]


def test_support_holds_the_words_of_the_answer() -> None:
    assert supported("What did the board do?", "It sold the plant on Monday.") == [PAGES[1]]
    assert supported("Which road?", "The northern road")[0] == "She took the northern road."
    assert supported("Who was the king?", "Charles") == []
    assert supported("Who was the king?", "Not in the document.") == []


def test_one_word_of_a_long_answer_is_no_support() -> None:
    long = (
        "The board of the northern mill was sued by seven bakers over rotten flour and lost Brest."
    )
    assert supported("What is the plot?", long) == []
    assert supported("What is the plot?", "Seven bakers sued the board.") == [PAGES[1]]


def test_support_works_where_words_are_not_set_apart() -> None:
    pages = ("他沿着河走到村子里，买了面包和牛奶。然后下雨了，没有人来。",)
    source = memory(pages, ("他买面包。",))
    found = support("他买了什么？", "面包和牛奶", source.pages, source.document)
    assert [c.quote for c in found] == ["他沿着河走到村子里，买了面包和牛奶。"]


# -- what an audit found ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("he left — at last — alone", "he left—at last—alone."),
        ("He asked 'Why not?' and left", "He asked “Why not?” and left"),
        ("Il dit : « Restez ici ! » et sortit", "Il dit: “Restez ici!” et sortit"),
        ("er sagte »Nein danke« und ging", 'er sagte "Nein danke" und ging'),
        ("见《三国演义》第三回开头的话", "见〈三国演义〉第三回开头的话"),
        ("【附注】此处并无其他记载可查", "[附注]此处并无其他记载可查。"),
        ("使用 GPT 模型进行自动评估", "使用GPT模型进行自动评估。"),
        ("He waited . . . and then he left", "He waited… and then he left"),
        ("between 1914-\n1918 it was closed", "between 1914-1918 it was closed"),
        ("the Anglo-Saxon kings of Kent", "the Anglo-\nSaxon kings of Kent"),
        ("كتاب في تاريخ المدينة القديمة", "كتـــاب في تاريخ المدينة القديمة"),
        ("visible words of the page", "vis\U000e0041\U000e0042ible wor\u202eds of the page"),
        ("he was 5'10\" tall and thin", "he was 5’10” tall and thin"),
    ],
)
def test_more_that_is_only_typography(quote: str, text: str) -> None:
    for one, other in ((quote, text), (text, quote)):
        assert locate(one, other) is not None, (one, other)


def test_a_dash_at_the_end_of_a_line_breaks_no_word() -> None:
    text = "He did. When we mailed it—\n\nNeil spoke"
    assert locate("did. When we mailed it—", text) == (3, 26)
    assert locate("Neil spoke of the sea", f"{text} of the sea") is not None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (".5 percent of the whole sum", "5 percent of the whole sum"),
        ("5 percent of the whole sum", ".5 percent of the whole sum"),
        ("a hundred men and 3.5 stood", "a hundred men and 3·5 stood"),
        ("the plant was sold for 3", "the plant was sold for 3 million dollars"),
        ("the plant was sold for 40", "the plant was sold for 40 % of it"),
        ("500 dollars were paid at once", "1\u00a0500 dollars were paid at once"),
        ("the board was 5' long in all", 'the board was 5" long in all'),
        ("happy marriage followed soon", "an un\u200bhappy marriage followed soon"),
        ("Saxon kings of the old Kent", "Anglo-\nSaxon kings of the old Kent"),
        ("五百袋盐在仓库里面一直放着没人动", "一千五百袋盐在仓库里面一直放着没人动"),
        ("仓库里面一直放着的盐有三百二十", "仓库里面一直放着的盐有三百二十五"),
        ("๒๓ ปีที่แล้วเขาอยู่ที่นี่", "๑๒๓ ปีที่แล้วเขาอยู่ที่นี่"),
        ("राम घर गया और वहाँ क", "राम घर गया और वहाँ कि"),
        ("éééééé", "éééééé"),  # six letters, however their accents are written
        ("한국은행", "한국은행"),
        ("- - - - - - - - -", "- - - - - - - - -"),
        ("1 2 3 4 5", "1 2 3 4 5"),
        ("temperature -5 that night", "temperature 5 that night"),
        ("It is co-operation they want", "It is cooperation they want"),
    ],
)
def test_more_that_is_not_the_same(quote: str, text: str) -> None:
    assert locate(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a" * 10_000, "a" * 20_000 + "b"),
        ("a-" * 5_000 + "b", "a-\n" * 10_000),
        ("a" * 5_000, "a-\n" * 10_000),
        ("a\u0301\u0323" * 3_000 + " and the rest", "a" + "\u0301\u0323" * 60_000),
        ("hello world of men", "hello" + "\u200b" * 200_000 + "world of men"),
    ],
)
def test_hostile_quotes_and_texts_end(quote: str, text: str) -> None:
    assert locate(quote, text) is None


def test_a_page_says_only_what_stands_on_it_however_many_there_are() -> None:
    pages = [f"This is page number {k} of the long book about the sea." for k in range(1, 301)]
    book = memory(pages, ["."] * 300)
    (found,) = cite([(3, "page number 250 of the long book")], book.pages, book.document)
    assert (found.page, found.status) == (250, "repaired")
    (found,) = cite([(250, "page number 301 of the long book")], book.pages, book.document)
    assert (found.page, found.status) == (250, "unverified")
