"""Streaming through an endpoint: fallbacks, limits of time, broken replies, unwanted ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from endpoint import MODEL, Endpoint
from weather import SHAPES, Fault, Thinking

from reread import parallel
from reread.errors import (
    Cancelled,
    ContextExceeded,
    MalformedReply,
    ModelRefused,
    ModelUnavailable,
)
from reread.llm.compatible import Compatible
from reread.llm.limits import Limited
from reread.llm.wrappers import Cached, Meter, Metered, Retrying, validated
from reread.types import Call, Completion, PromptId

ANSWER = "Anna found the map near the old tower and told nobody about it until the winter."
SCHEMA = {"type": "object", "properties": {"pages": {"type": "array"}}}


def a_call(hear: Callable[[str], None] | None = None, **changes: Any) -> Call:
    values: dict[str, Any] = {
        "prompt": PromptId(name="gist-page", version=1, digest="d"),
        "system": "You are a careful reader.",
        "user": "Anna found the map. " * 20,
        "parse": lambda completion: completion.text,
        "max_tokens": 200,
    }
    return Call(**(values | changes), hear=hear)


def says_answer(phase: str, user: str) -> str:
    return ANSWER


def behind(endpoint: Endpoint, **changes: Any) -> Compatible:
    values: dict[str, Any] = {
        "name": f"openai:{MODEL}",
        "model": MODEL,
        "base_url": endpoint.base_url,
        "context_tokens": 8_192,
    }
    return Compatible(**(values | changes))


def within(seconds: float, condition: Callable[[], object]) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


# -- what is asked for, and what servers do not take ----------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_every_call_is_streamed_and_counted(shape: str) -> None:
    with Endpoint(shape=shape, reply=says_answer) as endpoint:
        done = behind(endpoint).complete(a_call())
        body = endpoint.seen[0].body
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert (done.text, done.finish_reason) == (ANSWER, "stop")
    assert (done.prompt_tokens is None) == (shape == "bare")
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize(
    ("options", "first", "later"),
    [
        ({"refuses": ["stream_options"]}, 2, {"stream"}),
        ({"refuses": ["stream"]}, 2, set()),
        ({"refuses": ["stream_options", "stream"]}, 3, set()),
        ({"streams": False}, 1, set()),
    ],
)
def test_a_server_that_does_not_stream_is_learned_once(
    options: dict[str, Any], first: int, later: set[str]
) -> None:
    with Endpoint(reply=says_answer, **options) as endpoint:
        model = behind(endpoint)
        assert model.complete(a_call()).text == ANSWER
        assert len(endpoint.seen) == first
        assert model.complete(a_call()).text == ANSWER
        assert len(endpoint.seen) == first + 1
        assert endpoint.seen[-1].body.keys() & {"stream", "stream_options"} == later


def test_the_wording_of_a_server_that_wants_proof_of_identity_before_it_streams() -> None:
    message = "Your organization must be verified to stream this model."
    fault = Fault(
        status=400,
        body={"error": {"message": message, "param": "stream", "code": "unsupported_value"}},
    )
    with Endpoint(faults=[fault], reply=says_answer) as endpoint:
        assert behind(endpoint).complete(a_call()).text == ANSWER
        assert "stream" not in endpoint.seen[1].body


@pytest.mark.parametrize("streams", [True, False])
def test_connections_are_kept_between_replies(streams: bool) -> None:
    with Endpoint(streams=streams, reply=says_answer) as endpoint:
        model = behind(endpoint)
        for _ in range(5):
            model.complete(a_call())
        assert len({s.peer for s in endpoint.seen}) == 1


# -- time -----------------------------------------------------------------------------------------


def test_a_long_reply_may_take_longer_than_the_limit_of_silence() -> None:
    with Endpoint(event_s=0.2, reply=says_answer) as endpoint:
        started = time.monotonic()
        done = behind(endpoint, timeout_s=1.0).complete(a_call())
    assert done.text == ANSWER
    assert time.monotonic() - started > 1.0


def test_the_first_word_may_take_longer_than_the_others() -> None:
    with Endpoint(delay_s=0.8, reply=says_answer) as endpoint:
        assert behind(endpoint, timeout_s=0.5).complete(a_call()).text == ANSWER


def test_silence_in_the_middle_is_given_up_and_frees_the_server() -> None:
    fault = Fault(within="stall", hangs_s=30.0)
    with Endpoint(faults=[fault], reply=says_answer) as endpoint:
        with pytest.raises(ModelUnavailable, match="did not answer in time") as caught:
            behind(endpoint, timeout_s=0.1).complete(a_call())
        assert caught.value.overloaded
        within(2.0, lambda: endpoint.seen[0].gone)


# -- what breaks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 2, 5])
@pytest.mark.parametrize("kind", ["cut", "ends", "garbage", "error", "error line"])
def test_a_broken_reply_is_sent_for_again(kind: Any, after: int) -> None:
    fault = Fault(within=kind, after=after, message="the provider is gone")
    with Endpoint(faults=[fault], reply=says_answer) as endpoint:
        with pytest.raises(ModelUnavailable):
            behind(endpoint).complete(a_call())
        endpoint.faults = [fault]
        done = Retrying(behind(endpoint), sleep=lambda _: None).complete(a_call())
    assert done.text == ANSWER
    assert len(endpoint.seen) == 3


@pytest.mark.parametrize(
    ("message", "code", "kind", "said"),
    [
        ("The model is overloaded", 503, ModelUnavailable, "overloaded"),
        ("Rate limit reached", "rate_limit_exceeded", ModelUnavailable, "Rate limit"),
        ("You have no credit left", 402, ModelRefused, "quota"),
        ("You exceeded your quota", "insufficient_quota", ModelRefused, "quota"),
        ("bad key", 401, ModelRefused, "key"),
        (
            "Trying to keep the first 5000 tokens when context the overflows. However, the model "
            "is loaded with context length of only 4096 tokens, which is not enough.",
            None,
            ContextExceeded,
            "4096",
        ),
        ("something", None, ModelUnavailable, "in the middle"),
        ("content_filter: withheld", 400, MalformedReply, "withheld"),
    ],
)
def test_an_error_inside_a_stream_has_its_kind(
    message: str, code: Any, kind: type[Exception], said: str
) -> None:
    fault = Fault(within="error", message=message, code=code)
    with Endpoint(faults=[fault]) as endpoint, pytest.raises(kind, match=said):
        behind(endpoint).complete(a_call())


@pytest.mark.parametrize(
    "error",
    [
        {"message": "The response was filtered", "code": "content_filter"},
        {"message": "Failed to generate JSON.", "code": "json_validate_failed"},
    ],
)
def test_a_reply_that_was_withheld_is_asked_for_again_and_stops_nothing(
    error: dict[str, str],
) -> None:
    fault = Fault(status=400, body={"error": error})
    with Endpoint(faults=[fault]) as endpoint, pytest.raises(MalformedReply):
        behind(endpoint).complete(a_call())


# -- an end when unwanted -------------------------------------------------------------------------


@pytest.mark.parametrize("delays", [{"delay_s": 60.0}, {"event_s": 30.0}])
def test_work_that_is_over_closes_its_connection(delays: dict[str, Any]) -> None:
    """Before the first word and in the middle: the server notices within two seconds."""
    with Endpoint(reply=says_answer, **delays) as endpoint:
        model = behind(endpoint)
        gone: list[float] = []

        def items(n: int) -> None:
            with pytest.raises(Cancelled):
                model.complete(a_call(user=f"{n} word"))
            gone.append(time.monotonic())

        def stops() -> Any:
            yield 1
            yield 2
            within(5.0, lambda: len(endpoint.seen) == 2)
            raise KeyboardInterrupt

        stopped = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            list(parallel.map_ordered(items, stops(), workers=2))
        within(2.0, lambda: all(s.gone for s in endpoint.seen))
        within(2.0, lambda: len(gone) == 2)
        assert max(gone) - stopped < 2.0


def test_calls_in_flight_come_in_after_another_failed() -> None:
    with Endpoint(reply=says_answer, delay_s=0.3) as endpoint:
        model = behind(endpoint)
        kept: list[str] = []

        def items(n: int) -> None:
            if n == 2:
                within(2.0, lambda: len(endpoint.seen) == 2)
                raise ModelRefused("no key")
            kept.append(model.complete(a_call(user=f"{n} word")).text)

        with pytest.raises(ModelRefused, match="no key"):
            list(parallel.map_ordered(items, range(3), workers=3))
        assert kept == [ANSWER, ANSWER]


def test_no_call_is_sent_again_once_another_failed_for_good() -> None:
    with Endpoint(reply=says_answer) as endpoint:
        model = Retrying(Limited(behind(endpoint)))
        waits = threading.Event()

        def items(n: int) -> str:
            if n == 0:
                endpoint.faults = [Fault(status=503, headers={"Retry-After": "60"})]
                waits.set()
                return model.complete(a_call()).text
            assert waits.wait(2)
            within(2.0, lambda: endpoint.seen)
            raise ModelRefused("no key")

        started = time.monotonic()
        with pytest.raises(ModelRefused, match="no key"):
            list(parallel.map_ordered(items, range(2), workers=2))
        assert time.monotonic() - started < 5.0
        assert len(endpoint.seen) == 1


# -- reasoning that takes all the room ------------------------------------------------------------


def test_a_model_that_thinks_too_long_gets_more_room_and_less_effort() -> None:
    with Endpoint(thinking="starved", reply=says_answer) as endpoint:
        model = behind(endpoint)
        first = model.complete(a_call())
        assert (first.text, first.finish_reason) == ("", "length")
        with pytest.raises(MalformedReply, match="length"):
            validated(a_call(), first)
        assert model.complete(a_call(sample=1)).text == ANSWER
        asked = [s.body["max_tokens"] for s in endpoint.seen]
        assert asked == [200, 200 + 4_096]
        assert "reasoning_effort" not in endpoint.seen[0].body
        assert endpoint.seen[1].body["reasoning_effort"] == "low"
        assert model.complete(a_call()).text == ANSWER  # remembered
        assert len(endpoint.seen) == 3


def test_more_room_is_never_more_than_the_window() -> None:
    with Endpoint(thinking="starved") as endpoint:
        model = behind(endpoint, context_tokens=1_500)
        model.complete(a_call())
        model.complete(a_call())
        left = 1_500 - model.count_tokens(a_call().system) - model.count_tokens(a_call().user)
        assert endpoint.seen[1].body["max_tokens"] == left


def test_effort_that_cannot_be_chosen_is_left_out() -> None:
    with Endpoint(thinking="starved", refuses=["reasoning_effort"], reply=says_answer) as endpoint:
        model = behind(endpoint)
        model.complete(a_call())
        assert model.complete(a_call()).text == ANSWER
        assert len(endpoint.seen) == 3
        assert "reasoning_effort" not in endpoint.seen[2].body


# -- who listens ----------------------------------------------------------------------------------


class Memory:
    def __init__(self) -> None:
        self.kept: dict[str, Completion] = {}

    def get(self, key: str) -> Completion | None:
        return self.kept.get(key)

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None:
        self.kept[key] = completion

    def refused(self, call: Call, model: str, completion: Completion) -> None:
        pass


def wrapped(endpoint: Endpoint, cache: Memory) -> Metered:
    inner = Retrying(Limited(behind(endpoint)), sleep=lambda _: None)
    return Metered(Cached(inner, cache), Meter())


def grows(heard: list[str]) -> bool:
    return all(b.startswith(a) for a, b in zip(heard, heard[1:], strict=False))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("thinking", ["", "tags", "reasoning_content", "parts"])
def test_a_listener_is_told_the_text_as_it_comes(shape: str, thinking: Thinking) -> None:
    heard: list[str] = []
    with Endpoint(shape=shape, thinking=thinking, reply=says_answer) as endpoint:
        wrapped(endpoint, Memory()).complete(a_call(heard.append))
    texts = [text for text in heard if text]
    assert len(texts) > 3
    assert grows(texts)
    assert texts[-1] == ANSWER


def test_a_remembered_reply_is_told_at_once() -> None:
    cache = Memory()
    heard: list[str] = []
    with Endpoint(reply=says_answer) as endpoint:
        wrapped(endpoint, cache).complete(a_call())
        wrapped(endpoint, cache).complete(a_call(heard.append))
        assert len(endpoint.seen) == 1
    assert heard == [ANSWER]


def test_a_reply_that_is_not_streamed_is_told_whole() -> None:
    heard: list[str] = []
    with Endpoint(streams=False, reply=says_answer) as endpoint:
        wrapped(endpoint, Memory()).complete(a_call(heard.append))
    assert heard == [ANSWER]


def test_a_call_sent_again_is_told_from_its_beginning() -> None:
    heard: list[str] = []
    with Endpoint(faults=[Fault(within="cut", after=3)], reply=says_answer) as endpoint:
        wrapped(endpoint, Memory()).complete(a_call(heard.append))
    assert heard[-1] == ANSWER
    assert not grows(heard)
    assert all(ANSWER.startswith(text) for text in heard)


def test_the_listener_is_no_part_of_what_is_remembered() -> None:
    from reread.llm.wrappers import call_key

    assert call_key("m", a_call()) == call_key("m", a_call(print))
