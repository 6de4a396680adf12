"""What replies mean: every form that models use, and nothing that they did not say."""

from __future__ import annotations

import contextlib
import time

import pytest

from making import said
from reread.errors import MalformedReply
from reread.llm.reasoning import without_reasoning
from reread.reading import replies
from reread.reading.marks import Marks

FRUIT = ("an apple", "a banana", "a cherry", "a date")

# -- multiple choice ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(b)", "B"),
        ("**B**", "B"),
        ("B.", "B"),
        ("B) a banana", "B"),
        ("B. a banana, not C.", "B"),
        ("(B)", "B"),
        ("[B]", "B"),
        ("Option B", "B"),
        ("option b", "B"),
        ("Answer: D", "D"),
        ("The answer is D.", "D"),
        ("The correct answer is **(D)**.", "D"),
        ("The answer is C, not option A.", "C"),
        ("Option A is wrong, so the answer is C.", "C"),
        ("The answer is option C because A is never eaten.", "C"),
        ("I think (C)", "C"),
        ("I think it is C.", "C"),
        ("A man would choose B", "B"),
        ("A man ate it. I would choose B.", "B"),
        ("I'd go with D.", "D"),
        ("B\nThe text says that he peeled it.", "B"),
        ("B, because he peeled it", "B"),
        ('{"choice": "C"}', "C"),
        ('```json\n{"choice": "c"}\n```', "C"),
        ('{"choice": "C. a cherry"}', "C"),
        ("A banana.", "B"),
        ("He ate a cherry", "C"),
        ("The answer is A because he says so.", "A"),
    ],
)
def test_choice(reply: str, letter: str) -> None:
    assert "ABCD"[replies.choice(said(reply), FRUIT)] == letter


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "A man came in.",
        "I do not know.",
        "Any of them may be right.",
        "(A) is wrong and so is (B).",
        "The answer is E.",
        "A, B and C are all wrong.",
        "A-level pupils eat fruit",
        "a banana or a cherry",
        '{"choice": "Z"}',
        "Either option A or option B.",
    ],
)
def test_no_choice_is_guessed(reply: str) -> None:
    with pytest.raises(MalformedReply):
        replies.choice(said(reply), FRUIT)


def test_an_option_inside_another_says_nothing_of_its_own() -> None:
    options = ("Paris", "Paris and London", "London")
    assert replies.choice(said("It was Paris and London"), options) == 1


@pytest.mark.parametrize(
    ("reply", "anew"),
    [
        ("Yes", True),
        ("**Yes.**", True),
        ("_no_", False),
        ("No.", False),
        ("no, it goes on", False),
        ("Answer: no", False),
        ("Not sure", True),
        ("I am not sure.", True),
        ("unsure", True),
    ],
)
def test_new_section(reply: str, anew: bool) -> None:
    assert replies.new_section(said(reply)) is anew


@pytest.mark.parametrize(
    "reply", ["", "Nobody knows", "None", "The second page begins anew", "Yesno"]
)
def test_no_section_is_guessed(reply: str) -> None:
    with pytest.raises(MalformedReply):
        replies.new_section(said(reply))


# -- gists --------------------------------------------------------------------------------------

PAGE = " ".join(
    ["The captain of the ship, Anna Vale, sailed from Brest on the third of May with 40 men."]
    + ["She had sold her house, and I cannot say that she was sorry for it, as nobody was."] * 5
)
GIST = "Captain Anna Vale sailed from Brest on 3 May with 40 men, having sold her house."


@pytest.mark.parametrize(
    "reply",
    [
        GIST,
        f"Here is a shortened version of the passage:\n\n{GIST}",
        f"Here's the shortened passage: {GIST}",
        f"Sure! Here is a condensed version:\n{GIST}",
        f"Certainly. Here’s the gist:\n\n{GIST}",
        f"**Shortened passage:**\n\n{GIST}",
        f"## Shortened version\n{GIST}",
        f"Summary: {GIST}",
        f"```\n{GIST}\n```",
        f"```text\n{GIST}\n```",
        f'{{"gist": "{GIST}"}}',
        f"  {GIST}\n",
    ],
)
def test_a_gist_is_the_shortened_text_alone(reply: str) -> None:
    assert replies.gist(said(reply), PAGE) == GIST


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("---", "empty"),
        ("Here is a shortened version of the passage:", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("I’m sorry, but I cannot shorten this.", "refusal"),
        ("I cannot assist with this request.", "refusal"),
        ("I am unable to summarize this text.", "refusal"),
        ("As an AI, I have no access to passages.", "refusal"),
        ("Error: rate limit exceeded, please retry later", "error"),
        ("Error code: 429 - Too many requests were sent", "error"),
        ('{"error": {"message": "model overloaded, try again"}}', "error"),
        ("500 Internal Server Error", "error"),
        ("Traceback (most recent call last): line 3", "error"),
        ("Anna Vale", "title"),
        (PAGE + " And one more.", "longer"),
    ],
)
def test_what_is_no_gist_is_refused(reply: str, why: str) -> None:
    with pytest.raises(MalformedReply, match=why):
        replies.gist(said(reply), PAGE)


@pytest.mark.parametrize(
    ("gist", "page"),
    [
        ("Here is what she said: nobody will sail before Monday at all.", None),
        ("Here's the text of the law: no ship may leave the harbour.", None),
        ("Sure enough, the ship left at dawn: nobody saw it go.", None),
        ("I cannot say that she was sorry for it.", None),
        ("I can't sleep, and nobody sails before Monday.", None),
        ("I am sorry for her, since nobody sails before Monday.", None),
        ("Sorry for nothing, Anna Vale sailed with 40 men.", None),
        ("Error correction lets a receiver mend what a channel broke.", None),
        ("Exception handling moved into one place.", None),
        ("Error: disk full, said the log at noon.", "At noon the log said\nERROR: disk full. " * 9),
        ("I’m sorry, but I loved him, she wrote.", "I'm sorry, but I loved him, she wrote. " * 9),
        ("Summary: all is well in the harbour.", "SUMMARY: all is well in the harbour now. " * 9),
        ("This is a brief life of Anna Vale, who sailed.", None),
    ],
)
def test_a_gist_that_only_looks_like_a_preamble_or_a_refusal_stays_whole(
    gist: str, page: str | None
) -> None:
    assert replies.gist(said(gist), page or PAGE) == gist


def test_a_gist_that_repeats_itself_is_refused() -> None:
    page = (
        "She sold her old house in the spring. " + GIST + " It was a long way from there to Paris."
    )
    with pytest.raises(MalformedReply, match="repeats"):
        replies.gist(said("She sold her old house. " * 4), page)


def test_a_refrain_of_the_page_may_come_back_in_its_gist() -> None:
    song = "Row, row, row your boat, gently down the stream. " * 4
    assert replies.gist(said(song.strip()), song * 4) == song.strip()


def test_a_short_page_may_have_a_short_gist() -> None:
    assert replies.gist(said("He left."), "He left the house in the morning.") == "He left."


def test_length_is_compared_in_reading_units() -> None:
    page = "他沿着河走到村子里，买了面包和牛奶，然后慢慢地走回家。" * 4
    assert replies.gist(said("他走到村子里买了面包。"), page)
    with pytest.raises(MalformedReply, match="longer"):
        replies.gist(said(page + page), page)


def test_marks_of_the_window_are_taken_out_of_a_gist() -> None:
    marks = Marks("#")
    reply = f"<#1> {GIST} <#2>"
    assert replies.gist(said(reply), PAGE, marks) == GIST
    assert "<1>" in replies.gist(said(f"<1> {GIST}"), PAGE, marks)


@pytest.mark.parametrize(
    ("gist", "absent"),
    [
        (GIST, []),
        ("In 1805, Captain Nelson sailed with 40 men.", ["1805", "Nelson"]),
        ("On the third of May, or on the 3rd, she sailed", []),
        ("She sailed from Brest’s harbour", []),
        ("the men of Ann Valley", ["Valley"]),
        ("with 41 men", ["41"]),
    ],
)
def test_invented_names_and_numbers(gist: str, absent: list[str]) -> None:
    assert replies.invented(gist, PAGE) == absent


def test_typography_and_spelling_invent_nothing() -> None:
    assert replies.invented("to O'Brien, 1234567 of 12 men", "O’Brien; 1,234,567; twelve") == []
    assert replies.invented("the Holmes case", "Sherlock Holmes's case") == []
    assert replies.invented("all of 21", "twenty-one") == []
    assert replies.invented("the old Ann", "cannot") == ["Ann"]


# -- reasoning ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>hm\n\nlong</think>\n\nThe answer", "The answer"),
        ("\n<think>hm</think>The answer", "The answer"),
        ("reasoning without its opening tag\n</think>\n\nThe answer", "The answer"),
        ("<think>never closed, cut off", ""),
        ("The page says <think> and </think>\nas text.", None),
        ("The answer", None),
        ("A gist about the tag </think> in a file.", None),
    ],
)
def test_reasoning_is_removed_from_the_head_only(reply: str, rest: str | None) -> None:
    assert without_reasoning(reply) == (reply if rest is None else rest)


# -- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "text", "quotes"),
    [
        ("He fled.", "He fled.", ()),
        ('He fled.\n[3] "he ran to the river"', "He fled.", ((3, "he ran to the river"),)),
        (
            "He fled.\n\n- [Page 3] “he ran”\n- [4] “he swam.”",
            "He fled.",
            ((3, "he ran"), (4, "he swam.")),
        ),
        ('He fled.\nPage 12: "he ran"', "He fled.", ((12, "he ran"),)),
        ('He fled.\n<Page 3> "he ran".', "He fled.", ((3, "he ran"),)),
        ('He fled.\n(p. 3) — "he ran"', "He fled.", ((3, "he ran"),)),
        ('He fled.\n"he ran" [3]', "He fled.", ((3, "he ran"),)),
        ("He fled.\n“he ran” (page 3).", "He fled.", ((3, "he ran"),)),
        ("他逃了。\n[3] 「他跑向河边」", "他逃了。", ((3, "他跑向河边"),)),
        ("Answer: He fled.", "He fled.", ()),
        ("**Answer:** He fled.", "He fled.", ()),
        ("```\nHe fled.\n```", "He fled.", ()),
        ('{"answer": "He fled."}', "He fled.", ()),
        ('12 "ships" were lost.', '12 "ships" were lost.', ()),
        ('1984 "Animal Farm"', '1984 "Animal Farm"', ()),
        ("No information leaked before the trial.", "No information leaked before the trial.", ()),
        ("Not mentioned in his will, she sued.", "Not mentioned in his will, she sued.", ()),
        (
            'The text does not say it outright, but he fled.\n[3] "he ran to the river"',
            "The text does not say it outright, but he fled.",
            ((3, "he ran to the river"),),
        ),
        ('He fled.\n[99999999999] "he ran"', 'He fled.\n[99999999999] "he ran"', ()),
    ],
)
def test_answers_and_their_quote_lines(
    reply: str, text: str, quotes: tuple[tuple[int, str], ...]
) -> None:
    assert replies.answer(said(reply)) == (text, quotes)


@pytest.mark.parametrize(
    "reply",
    [
        "NOT IN THE DOCUMENT",
        "**NOT IN THE DOCUMENT**",
        '"Not in the document."',
        "Answer: NOT IN THE DOCUMENT",
        "Not in the text.",
        "Not stated.",
        "The document does not say who did it.",
        "The text doesn’t mention his name.",
        "There is no mention of a dog in the text.",
        "No information is given about her age.",
        "It is not stated.",
        "This information is not provided in the document.",
        "The answer is not in the passage.",
        "I could not find this in the document.",
        "He may have known it.\nNOT IN THE DOCUMENT",
        "```\nNOT IN THE DOCUMENT\n```",
    ],
)
def test_an_answer_that_is_not_there(reply: str) -> None:
    assert replies.answer(said(reply)) == ("", ())


@pytest.mark.parametrize(
    "reply",
    ["", "  \n", "``````", '[3] "only a quote of the page"', "I'm sorry, but I can't help."],
)
def test_no_answer_is_made_up(reply: str) -> None:
    with pytest.raises(MalformedReply):
        replies.answer(said(reply))


# -- adversarial --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "9" * 6000,
        '{"a":' * 50_000,
        "[" + ", ".join(map(str, range(2000))),
        "page " * 5000,
        "( " * 5000,
        "A " * 5000,
        "\n" * 20_000,
        '[1] "' + "x" * 20_000,
        "one two " * 3000,
        "I would " * 3000,
    ],
)
def test_rubbish_is_refused_in_no_time(reply: str) -> None:
    started = time.process_time()
    for parse in (
        lambda c: replies.mark(c, [1, 2], Marks("")),
        lambda c: replies.pages(c, 5, 2),
        replies.next_page,
        lambda c: replies.choice(c, FRUIT),
        replies.new_section,
        lambda c: replies.gist(c, PAGE),
        replies.answer,
    ):
        with contextlib.suppress(MalformedReply):
            parse(said(reply))
    assert time.process_time() - started < 5
