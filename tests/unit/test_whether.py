"""Asking a small model whether the text answers, before it answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from making import desk, memory, said
from reread.errors import MalformedReply
from reread.llm import streams
from reread.llm.wrappers import call_key
from reread.reading import answer
from reread.reading.replies import NOT_IN_DOCUMENT, chance
from reread.thoughts import retrieved
from reread.thoughts.settings import manner
from reread.types import Answer, Call, PromptId
from reread.wire import answer as as_json

PAGES = ("The board met on Monday. It sold the plant to a baker.", "Nobody wrote it down.")
MEMORY = memory(PAGES, ("The plant was sold.", "No news."))


def ask(whether: str, profile: str = "embedded", **more: Any) -> tuple[Answer, list[str]]:
    made, model = desk(
        {"lookup": "[1]", "whether": whether, "answer": "It was sold to a baker."}, profile=profile
    )
    done = answer(made, MEMORY, "Who bought the plant?", **more)
    return done, [call.phase for call in model.calls]


@pytest.mark.parametrize(
    ("reply", "likely"),
    [
        ('{"yes": 0.3, "no": 0.1}', 0.75),
        ('{"yes": 0.0, "no": 0.2}', 0.0),
        ("Yes.", 1.0),
        ("  no", 0.0),
        ("**No**, it does not.", 0.0),
    ],
)
def test_a_chance_is_what_one_word_has_of_both(reply: str, likely: float) -> None:
    assert chance(said(reply), "yes", "no") == pytest.approx(likely)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "nobody",
        "Perhaps",
        '{"yes": 0, "no": 0}',
        "{}",
        '{"yes": NaN, "no": 1}',
        '{"yes": Infinity, "no": 0}',
        '{"yes": -5, "no": 6}',
    ],
)
def test_a_reply_that_is_neither_word_has_no_chance(reply: str) -> None:
    with pytest.raises(MalformedReply):
        chance(said(reply), "yes", "no")


def test_a_model_that_finds_it_unlikely_is_not_asked_to_answer() -> None:
    done, phases = ask('{"yes": 0.4, "no": 0.6}')
    assert phases == ["lookup", "whether"]
    assert (done.text, done.grounded, done.citations) == (NOT_IN_DOCUMENT, False, ())
    assert done.trace.chance == pytest.approx(0.4)
    assert as_json(done, trace=True)["trace"]["chance"] == 0.4


def test_one_that_finds_it_likely_answers() -> None:
    done, phases = ask('{"yes": 0.7, "no": 0.3}')
    assert phases == ["lookup", "whether", "answer"]
    assert (done.text, done.grounded) == ("It was sold to a baker.", True)
    assert done.trace.chance == pytest.approx(0.7)


def test_one_that_says_neither_answers_and_that_is_recorded() -> None:
    done, phases = ask("Perhaps")
    assert phases == ["lookup", "whether", "whether", "answer"]
    assert [f.phase for f in done.fallbacks] == ["whether"]
    assert done.text == "It was sold to a baker."


@pytest.mark.parametrize("profile", ["paper", "default"])
def test_other_profiles_do_not_ask(profile: str) -> None:
    assert "whether" not in ask("no", profile)[1]


def test_a_choice_must_be_made_whatever_the_text_says() -> None:
    made, model = desk({"lookup": "[1]", "answer": "B"}, profile="embedded")
    answer(made, MEMORY, "Who bought it?", ("a smith", "a baker"))
    assert "whether" not in [call.phase for call in model.calls]


@pytest.mark.parametrize(
    ("whether", "expected"),
    [
        ('{"yes": 0.4, "no": 0.6}', (["whether"], NOT_IN_DOCUMENT, 0.4, [])),
        ('{"yes": 0.7, "no": 0.3}', (["whether", "answer"], "A baker bought it.", 0.7, [])),
        ("Perhaps", (["whether", "whether", "answer"], "A baker bought it.", None, ["whether"])),
    ],
)
def test_passages_that_were_retrieved_are_asked_about_alike(whether: str, expected: Any) -> None:
    made, model = desk({"whether": whether, "answer": "A baker bought it."}, profile="embedded")
    done = retrieved.answer(made, manner("paper"), MEMORY, "Who bought it?", MEMORY.pages)
    told = (done.text, done.trace.chance, [f.phase for f in done.fallbacks])
    assert ([call.phase for call in model.calls], *told) == expected
    assert done.grounded == (done.text != NOT_IN_DOCUMENT)
    if "answer" in expected[0]:  # both begin alike, so what was evaluated serves twice
        first, last = model.calls[0].user, model.calls[-1].user
        assert first.partition("\n----\n")[0] == last.partition("\n----\n")[0]


def test_the_chances_of_words_are_summed_over_their_spellings() -> None:
    likely = {"Yes": 0.5, " yes": 0.2, "no": 0.25, "maybe": 0.05}
    told = json.loads(streams.chances(likely, ("yes", "no")))
    assert told == {"yes": pytest.approx(0.7), "no": pytest.approx(0.25)}
    assert streams.chances({"maybe": 1.0}, ("yes", "no")) == ""
    assert streams.chances(likely, ()) == ""


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"content": []},
        {"content": [{"token": "Yes"}]},
        {"content": [{"top_logprobs": [{"token": "Yes", "logprob": "x"}]}]},
        {"content": [{"top_logprobs": [{"token": "Yes", "logprob": float("nan")}]}]},
        {"content": [{"top_logprobs": [{"token": "Yes", "logprob": 10**400}]}]},
    ],
)
def test_a_server_that_tells_no_chances_is_taken_as_it_is(told: Any) -> None:
    event = {"choices": [{"delta": {"content": "Yes"}, "logprobs": told, "finish_reason": "stop"}]}
    reply = streams.receive([f"data: {json.dumps(event)}\n".encode()], came=lambda: None)
    assert (reply.text, reply.likely) == ("Yes", {})


def test_the_chances_stand_at_the_first_token() -> None:
    def event(word: str, logprob: float) -> bytes:
        told = {"content": [{"token": word, "top_logprobs": [{"token": word, "logprob": logprob}]}]}
        choice = {"delta": {"content": word}, "logprobs": told, "finish_reason": None}
        return f"data: {json.dumps({'choices': [choice]})}\n".encode()

    chunks = [event("Yes", -0.5), event(",", 0.0), b"data: [DONE]\n"]
    assert streams.receive(chunks, came=lambda: None).likely == {
        "Yes": pytest.approx(0.60653, 1e-4)
    }


def test_a_call_that_weighs_words_is_another_call() -> None:
    def call(**more: Any) -> Call:
        prompt = PromptId(name="whether", version=1, digest="d")
        return Call(prompt=prompt, system="", user="", parse=str, max_tokens=4, **more)

    assert call_key("m", call()) != call_key("m", call(weighs=("yes", "no")))
