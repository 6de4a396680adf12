"""A memory always fits the window, and no prompt is ever longer than it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import desk, document, memory, prose, sentence
from reread.errors import ContextExceeded
from reread.llm.scripted import Scripted, reply_to
from reread.reading import answer, read
from reread.reading.desk import Desk
from reread.reading.fit import fitted, gist_room, top_tokens
from reread.text import count_words
from reread.types import Call, Fallback, GistMemory

Reply = str | Callable[[Call], str]


def by_rule(call: Call) -> str:
    return reply_to(call.phase, call.user)


def replies(**special: Reply) -> dict[str, Reply]:
    usual: dict[str, Reply] = dict.fromkeys(
        ("paginate", "gist", "merge", "lookup", "answer"), by_rule
    )
    return {**usual, **special}


def check_calls(model: Scripted) -> None:
    for call in model.calls:
        needed = model.count_tokens(call.system) + model.count_tokens(call.user) + call.max_tokens
        assert needed <= model.capabilities.context_tokens, call.phase


def check_fits(made: Desk, fit: GistMemory) -> None:
    assert top_tokens(made, fit) <= gist_room(made)
    for level in fit.levels:
        covered = [n for s in level for n in range(s.first, s.last + 1)]
        assert covered == list(range(1, len(fit.pages) + 1))
    assert [p.number for p in fit.pages] == list(range(1, len(fit.pages) + 1))
    assert "".join(p.text for p in fit.pages) == fit.document.text
    assert len(fit.gists) == len(fit.pages)
    assert all(1 <= f.page <= len(fit.pages) for f in fit.fallbacks)


def large(pages: int = 40, words: int = 100, gist_words: int = 50) -> GistMemory:
    return memory(
        [f"Page {k}. {prose([words])}" for k in range(pages)],
        [sentence(gist_words, k) for k in range(pages)],
    )


def test_a_memory_that_fits_is_left_alone() -> None:
    made, model = desk(replies())
    small = large(3)
    assert fitted(made, small) is small
    assert model.calls == []


def test_neighbours_that_the_model_lets_join_are_merged_and_gisted_again() -> None:
    made, model = desk(
        replies(merge="no", gist="The stone river went by the window."), context_tokens=3000
    )
    fit = fitted(made, large())
    check_fits(made, fit)
    check_calls(model)
    assert {call.phase for call in model.calls} == {"merge", "gist"}
    assert 1 < len(fit.pages) < 40
    assert fit.fallbacks == ()


def test_merging_stops_when_it_fits() -> None:
    made, _ = desk(replies(merge="no"), context_tokens=4000)
    fit = fitted(made, large(30))
    check_fits(made, fit)
    assert len(fit.pages) >= 10


@pytest.mark.parametrize("reply", ["yes", "not sure"])
def test_pages_that_the_model_keeps_apart_stay_apart_behind_a_level_of_gists(reply: str) -> None:
    gist = "The stone river went by the window."
    made, model = desk(replies(merge=reply, gist=gist), context_tokens=3000)
    start = large()
    fit = fitted(made, start)
    check_fits(made, fit)
    check_calls(model)
    assert fit.pages == start.pages
    assert fit.gists == start.gists
    assert len(fit.levels) == 1
    asked = [call.user for call in model.calls if call.phase == "merge"]
    assert len(asked) == len(set(asked))


def test_a_merged_page_can_still_be_opened() -> None:
    made, _ = desk(replies(merge="no", gist="The stone river went by."), context_tokens=3000)
    fit = fitted(made, large(80, 150, 60))
    check_fits(made, fit)
    assert max(made.tokens(page.text) for page in fit.pages) <= 600


def test_an_unclear_reply_keeps_pages_apart_and_is_recorded() -> None:
    made, model = desk(replies(merge="perhaps"), context_tokens=3000)
    fit = fitted(made, large(30))
    check_fits(made, fit)
    assert {call.sample for call in model.calls if call.phase == "merge"} == {0, 1}
    assert {f.phase for f in fit.fallbacks} == {"merge"}
    assert all("kept apart" in f.reason for f in fit.fallbacks)
    assert len(fit.pages) == 30


def test_a_gist_that_does_not_get_shorter_is_cut_and_that_is_recorded() -> None:
    made, model = desk(
        replies(merge="no", gist=lambda call: "I'm sorry, but I can't."), context_tokens=3000
    )
    fit = fitted(made, large())
    check_fits(made, fit)
    check_calls(model)
    assert all("first sentences" in f.reason for f in fit.fallbacks if f.phase == "gist")
    assert any(f.phase == "gist" for f in fit.fallbacks)
    assert all(fit.gists)


def test_fallbacks_follow_their_pages_when_others_merge() -> None:
    made, _ = desk(replies(merge="no"), context_tokens=4700)
    start = large(40)
    long_page = replace(start.pages[39], words=10_000)
    start = replace(
        start,
        pages=(*start.pages[:39], long_page),
        fallbacks=(
            Fallback(phase="paginate", page=40, reason="window's end"),
            Fallback(phase="gist", page=40, reason="own text"),
        ),
    )
    fit = fitted(made, start)
    assert len(fit.pages) < 40
    assert {(f.phase, f.page) for f in fit.fallbacks} == {
        ("paginate", len(fit.pages)),
        ("gist", len(fit.pages)),
    }


ADVERSARIAL = {
    "one giant word": "x" * 30_000,
    "digits": "1234567890" * 3_000,
    "one word": "word",
    "many words": "word " * 5_000,
    "chinese": "他沿着河走到村子里，买了面包和牛奶。" * 500,
    "no spaces or stops": "山" * 8_000,
    "thai": "สวัสดีครับ" * 900,
    "emoji": "🙂" * 5_000,
    "page tags": "<Page 3>\n" * 1_000,
    "commas": "a, " * 4_000,
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
@pytest.mark.parametrize("pages", [1, 5])
def test_adversarial_gists_end_in_a_memory_that_fits(kind: str, pages: int) -> None:
    text = ADVERSARIAL[kind].strip()
    made, model = desk(replies(gist=lambda call: "", merge="maybe"), context_tokens=2000)
    fit = fitted(made, memory([text] * pages, [text] * pages))
    check_fits(made, fit)
    check_calls(model)
    assert all(fit.gists)


@pytest.mark.parametrize("kind", ADVERSARIAL)
@pytest.mark.parametrize("window", [2000, 4000])
@pytest.mark.parametrize("pagination", ["model", "structure"])
def test_reading_and_asking_never_exceed_the_window(
    kind: str, window: int, pagination: str
) -> None:
    text = f"{prose([80, 120, 60])}\n\n{ADVERSARIAL[kind]}\n\n{prose([90] * 12)}"
    source = document(text)
    for profile in ("paper", "embedded"):
        made, model = desk(
            replies(),
            words=source.words,
            context_tokens=window,
            profile=profile,
            pagination=pagination,
        )
        made_memory = read(made, source)
        check_fits(made, made_memory)
        check_calls(model)
        for strategy in ("parallel", "sequential", "gists"):
            asking, model = desk(
                replies(lookup=lambda c: "[1, 2, 3]" if "STOP" not in c.user else "2"),
                words=source.words,
                context_tokens=window,
                profile=profile,
                strategy=strategy,
            )
            done = answer(asking, made_memory, "What stands beside the garden window?")
            check_calls(model)
            assert done.text


@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=25),
    window=st.integers(1500, 4000),
    reply=st.sampled_from(["yes", "no", "not sure", "rubbish"]),
)
@settings(max_examples=30, deadline=None)
def test_any_document_fits_any_window(sizes: list[int], window: int, reply: str) -> None:
    source = document(prose(sizes))
    made, model = desk(replies(merge=reply), words=source.words, context_tokens=window)
    fit = read(made, source)
    check_fits(made, fit)
    check_calls(model)


@pytest.mark.parametrize("window", [100, 1000, 1150])
def test_a_window_too_small_is_one_clear_error_before_any_work(window: int) -> None:
    made, model = desk(replies(), context_tokens=window)
    with pytest.raises(ContextExceeded, match=str(window)) as failure:
        read(made, document(prose([500])))
    assert failure.value.hint
    assert model.calls == []


def test_a_question_too_long_for_the_window_is_one_clear_error() -> None:
    made, model = desk(replies(), context_tokens=2000)
    with pytest.raises(ContextExceeded, match="question"):
        answer(made, large(2), "why " * 2000)
    assert model.calls == []


def test_a_question_that_leaves_no_room_for_a_look_up_is_answered_all_the_same() -> None:
    made, model = desk(replies(lookup="[1]"), context_tokens=2000, profile="embedded")
    fit = large(12, 60, 30)
    question = "why " * 680
    done = answer(made, fit, question)
    check_calls(model)
    assert done.text
    assert count_words(question) == 680


def test_pages_are_admitted_by_importance_while_they_fit() -> None:
    made, model = desk(replies(lookup="[3, 1, 2]", answer="So it was."), context_tokens=2500)
    pages = [prose([n]).replace("\n\n", " ") for n in (900, 100, 700)]
    done = answer(made, memory(pages, ["First.", "Second.", "Third."]), "What happened?")
    check_calls(model)
    assert done.pages_read == (2, 3)


def test_reading_page_by_page_stops_when_the_next_page_would_not_fit() -> None:
    wanted = iter("321")
    made, model = desk(
        replies(lookup=lambda call: next(wanted), answer="So it was."),
        context_tokens=2500,
        strategy="sequential",
    )
    pages = [prose([n]).replace("\n\n", " ") for n in (100, 900, 700)]
    done = answer(made, memory(pages, ["First.", "Second.", "Third."]), "What happened?")
    check_calls(model)
    assert done.pages_read == (3,)
