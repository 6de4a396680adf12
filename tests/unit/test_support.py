"""What each sentence of an answer rests on; a page is read when its gist alone supports one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from making import desk, memory
from reread.llm.scripted import Scripted
from reread.reading import Desk, answer, profile
from reread.reading.grounding import grounds
from reread.reading.quotes import cite
from reread.types import Answer, Call, GistMemory, Section

PAGES = (
    "Anna left the house at dawn. She took the northern road to Brest. It was 14 miles.",
    "The board met on Monday. It sold the plant to a baker from Lyon for twelve hundred francs.",
    "Nobody wrote it down. The year went by without any news of the traveller.",
    "In spring she came back with a grey horse and no luggage. The lamp was lit on 3 October 1862.",
)
GISTS = (
    "Anna left for Brest.",
    "The board sold the plant to a baker for 1200 francs.",
    "No news.",
    "She came back with a horse.",
)
MEMORY = memory(PAGES, GISTS)


def support(
    question: str,
    said: str,
    opened: tuple[int, ...],
    named: tuple[tuple[int, str], ...] = (),
) -> tuple[list[str], tuple[int, ...]]:
    quoted = cite(named, MEMORY.pages, MEMORY.document)
    found = grounds(question, said, quoted, MEMORY, opened, range(1, 5))
    for sentence in found.sentences:
        assert said[sentence.start : sentence.end] == sentence.text
    return [s.support for s in found.sentences], found.unread


WHO = "Who bought the plant?"


@pytest.mark.parametrize(
    ("question", "said", "opened", "expected"),
    [
        (WHO, "A baker from Lyon.", (2,), ["page"]),
        (WHO, "It was sold to a baker.", (2, 1), ["page"]),
        (WHO, "A baker.", (1,), ["gist"]),
        (WHO, "A baker.", (), ["gist"]),
        (WHO, "A baker from Lyon.", (1,), ["none"]),  # the gist knows no Lyon
        (WHO, "Charles", (2,), ["none"]),
        (WHO, "King Charles", (2,), ["none"]),
        (WHO, "A baker from Paris bought it.", (2,), ["none"]),
        ("How far was it?", "It was 14 miles.", (1,), ["page"]),
        ("How far was it?", "It was 15 miles.", (1,), ["none"]),
        ("How far was it?", "Fourteen miles.", (1,), ["page"]),
        ("What did it cost?", "1,200 francs.", (2,), ["none"]),  # "twelve hundred" is not computed
        ("When was the lamp lit?", "3 October 1862", (4,), ["page"]),
        ("When was the lamp lit?", "3 October 1863", (4,), ["none"]),
        ("Did Anna leave the house at dawn?", "Yes.", (1,), ["page"]),
        ("Did the king leave Paris in a balloon?", "Yes.", (1, 2), ["none"]),
        ("What is the capital of France?", "The capital of France is Paris.", (1, 2), ["none"]),
        (
            WHO,
            "A baker from Lyon bought it. He was a cousin of the emperor.",
            (2,),
            ["page", "none"],
        ),
        (
            "What happened?",
            "Anna took the northern road and came back with a horse.",
            (1, 4),
            ["page"],
        ),
        ("What happened?", "", (1,), []),
    ],
)
def test_sentences_rest_on_what_holds_their_words(
    question: str, said: str, opened: tuple[int, ...], expected: list[str]
) -> None:
    assert support(question, said, opened)[0] == expected


def test_a_checked_quote_stands_in_for_the_words() -> None:
    why = "Why was she forgotten?"
    assert support(why, "Silence all around.", (3,))[0] == ["none"]
    quote = ((3, "The year went by without any news"),)
    assert support(why, "Silence all around.", (3,), quote) == (["page"], ())
    assert support(why, "Silence all around.", (1,), quote) == (["gist"], (3,))
    assert support(why, "Silence for 7 years.", (3,), quote)[0] == ["none"]
    invented = ((3, "The years went by without her"),)
    assert support(why, "Silence all around.", (3,), invented)[0] == ["none"]


def test_the_pages_that_would_support_it_are_named() -> None:
    assert support(WHO, "A baker.", (1,)) == (["gist"], (2,))
    assert support(WHO, "A baker.", (2,)) == (["page"], ())


@pytest.mark.parametrize(
    ("page", "question", "right", "wrong"),
    [
        ("他沿着河走到村子里，买了面包和牛奶。", "他买了什么？", "面包和牛奶", "红酒和香肠"),
        ("Мельник продал лошадь соседу.", "Кому продана лошадь?", "Соседу мельника.", "Королю."),
        (
            "Der Müller verkaufte das Pferd.",
            "Was geschah?",
            "Das Pferd wurde verkauft.",
            "Es brannte.",
        ),
    ],
)
def test_other_languages(page: str, question: str, right: str, wrong: str) -> None:
    made = memory((page,), ("…",))
    assert [s.support for s in grounds(question, right, (), made, (1,), (1,)).sentences] == ["page"]
    assert [s.support for s in grounds(question, wrong, (), made, (1,), (1,)).sentences] == ["none"]


# -- answers ------------------------------------------------------------------------------------


def with_support(made: Desk) -> Desk:
    return replace(made, profile=replace(made.profile, read_support=True))


def ask(
    lookup: str,
    reply: str | Callable[[Call], str],
    options: tuple[str, ...] = (),
    read_support: bool = True,
    **said: object,
) -> tuple[Answer, Scripted]:
    made, model = desk({"lookup": lookup, "answer": reply}, **said)  # type: ignore[arg-type]
    return answer(with_support(made) if read_support else made, MEMORY, WHO, options), model


def in_turn(*replies: str) -> Callable[[Call], str]:
    left = iter(replies)
    return lambda call: next(left)


def phases(model: Scripted) -> list[str]:
    return [call.phase for call in model.calls]


def test_only_the_paper_answers_from_gists_without_reading_their_pages() -> None:
    assert profile("default").read_support
    assert profile("embedded").read_support
    assert not profile("paper").read_support


def test_a_page_whose_gist_alone_supports_the_answer_is_read_first() -> None:
    done, model = ask("[1]", in_turn("A baker.", "A baker from Lyon."))
    assert phases(model) == ["lookup", "answer", "answer"]
    assert PAGES[1] in model.calls[-1].user
    assert (done.text, done.pages_read) == ("A baker from Lyon.", (1, 2))
    assert [s.support for s in done.sentences] == ["page"]
    assert [(o.page, o.by) for o in done.trace.opened] == [(1, ("model",)), (2, ("grounding",))]


def in_sections(*gists: str) -> GistMemory:
    """The pages, two of which share each gist that is seen."""
    sections = [Section(first=2 * k + 1, last=2 * k + 2, gist=g) for k, g in enumerate(gists)]
    return replace(MEMORY, levels=(tuple(sections),))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("A baker.", 2),
        ("It was sold to a baker.", 2),
        ("Anna went to Brest, on the northern road.", 1),
        ("The house of Anna.", 1),
        ("They were merchants.", None),  # no page says so in these words
    ],
)
def test_of_a_section_whose_gist_supports_it_the_likeliest_page_is_named(
    said: str, wanted: int | None
) -> None:
    made = in_sections(
        "Anna left her house for Brest on the northern road. "
        "It was sold to a baker. They were merchants.",
        "Nothing.",
    )
    found = grounds("What happened?", said, (), made, (), ())
    assert [s.support for s in found.sentences] == ["gist"]
    assert found.unread == ((wanted,) if wanted else ())
    if wanted:
        again = grounds("What happened?", said, (), made, (wanted,), ())
        assert wanted not in again.unread


def test_a_page_of_a_section_whose_gist_alone_supports_the_answer_is_read_first() -> None:
    made, model = desk(
        {"lookup": "none", "answer": in_turn("A baker.", "A baker from Lyon.")},
        profile="default",
    )
    made = replace(made, rank=lambda texts, query: [])
    seen = in_sections("Anna left for Brest. The plant went to a baker.", "She came back.")
    done = answer(made, seen, WHO)
    assert phases(model) == ["lookup", "answer", "answer"]
    assert (done.text, done.pages_read) == ("A baker from Lyon.", (2,))
    assert [s.support for s in done.sentences] == ["page"]
    assert [(o.page, o.by) for o in done.trace.opened] == [(2, ("grounding",))]
    assert PAGES[1] in model.calls[-1].user


def test_a_gist_of_a_page_goes_before_that_of_a_section() -> None:
    made = in_sections("Anna left. A baker bought it.", "A baker bought it.")
    assert grounds(WHO, "A baker.", (), made, (), (1, 2)).unread == (2,)


def test_reading_it_may_show_that_the_document_does_not_say() -> None:
    done, _ = ask("[1]", in_turn("A baker.", "NOT IN THE DOCUMENT"))
    assert (done.text, done.grounded, done.citations) == ("Not in the document.", False, ())


@pytest.mark.parametrize(
    "said", [{"max_pages": 1}, {"strategy": "gists"}, {"read_support": False}, {"max_pages": 0}]
)
def test_no_more_is_read_than_may_be(said: dict[str, object]) -> None:
    done, model = ask("[1]", "A baker.", **said)  # type: ignore[arg-type]
    assert phases(model).count("answer") == 1
    assert [s.support for s in done.sentences] == ["gist"]
    assert done.grounded


def test_at_most_one_answer_more_is_asked_for() -> None:
    done, model = ask("none", in_turn("A baker.", "She came back with a horse."))
    assert phases(model) == ["lookup", "answer", "answer"]
    assert done.pages_read == (2,)
    assert [s.support for s in done.sentences] == ["gist"]


def test_a_second_answer_that_cannot_be_used_leaves_the_first() -> None:
    done, _ = ask("[1]", in_turn("A baker.", '[1] "only a quote"', '[1] "only a quote"'))
    assert (done.text, done.pages_read) == ("A baker.", (1, 2))
    assert [s.support for s in done.sentences] == ["page"]
    assert [f.phase for f in done.fallbacks] == ["answer"]


def test_an_answer_from_elsewhere_is_not_grounded_and_cites_nothing() -> None:
    done, _ = ask("[2]", 'Napoleon Bonaparte.\n[2] "Napoleon bought the plant"')
    assert (done.text, done.grounded, done.citations) == ("Napoleon Bonaparte.", False, ())
    assert [s.support for s in done.sentences] == ["none"]


def test_a_choice_is_grounded_when_what_was_read_supports_it() -> None:
    options = ("a baker from Lyon", "Napoleon Bonaparte", "the queen of Spain")
    done, _ = ask("[2]", "A", options)
    assert (done.choice, done.grounded) == (0, True)
    assert done.citations[0].page == 2
    done, _ = ask("[2]", "B", options)
    assert (done.choice, done.text) == (1, "Napoleon Bonaparte")
    assert (done.grounded, done.citations) == (False, ())


def test_sentences_name_their_citations() -> None:
    said = "A baker from Lyon bought it. Anna took the northern road."
    quotes = '[2] "It sold the plant to a baker"\n[1] "She took the northern road"'
    done, _ = ask("[2, 1]", f"{said}\n{quotes}")
    assert [(s.support, s.citations) for s in done.sentences] == [("page", (0,)), ("page", (1,))]


def test_the_trace_names_gists_and_pages() -> None:
    done, _ = ask("[2]", "A baker from Lyon.")
    assert done.trace.gists == ((1, 4),)
    assert done.trace.sections == ()
    assert [(o.page, o.by) for o in done.trace.opened] == [(2, ("model",))]
