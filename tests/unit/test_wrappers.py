"""Retrying, caching and metering: what is sent, what is kept, what is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from making import said
from reread.errors import (
    ContextExceeded,
    MalformedReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from reread.llm.scripted import Scripted
from reread.llm.wrappers import Cached, Meter, Metered, Retrying, call_key
from reread.types import Call, Completion, PromptId


class Memory:
    """A cache that keeps its entries in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, Completion] = {}
        self.paid_in_vain: list[Completion] = []

    def get(self, key: str) -> Completion | None:
        return self.kept.get(key)

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None:
        self.kept[key] = completion

    def refused(self, call: Call, model: str, completion: Completion) -> None:
        self.paid_in_vain.append(completion)


class Failing(Scripted):
    """A model that raises the given errors one by one and then replies."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__(lambda call: "fine")
        self.errors = list(errors)

    def complete(self, call: Call) -> Completion:
        done = super().complete(call)
        if self.errors:
            raise self.errors.pop(0)
        return done


def upper(completion: Completion) -> str:
    if completion.text == "bad":
        raise MalformedReply("bad reply", reply=completion.text)
    return completion.text.upper()


def ask(user: str = "question", **changes: Any) -> Call:
    call = Call(
        prompt=PromptId(name="gist-page", version=1, digest="d1"),
        system="system",
        user=user,
        parse=upper,
        max_tokens=20,
    )
    return replace(call, **changes)


# -- retrying -----------------------------------------------------------------------------------


def retrying(model: Scripted, **options: Any) -> tuple[Retrying, list[float]]:
    pauses: list[float] = []
    return Retrying(model, sleep=pauses.append, **options), pauses


def test_what_may_pass_is_sent_again_with_growing_pauses() -> None:
    model = Failing(*(ModelUnavailable("busy") for _ in range(4)))
    wrapped, pauses = retrying(model, pause_s=1.0)
    assert wrapped.complete(ask()).text == "fine"
    assert len(model.calls) == 5
    assert [round(p / 2**k) for k, p in enumerate(pauses)] == [1, 1, 1, 1]


def test_retry_after_is_kept() -> None:
    wrapped, pauses = retrying(Failing(ModelUnavailable("busy", retry_after_s=37.5)))
    wrapped.complete(ask())
    assert pauses == [37.5]


def test_attempts_end() -> None:
    model = Failing(*(ModelUnavailable(f"busy {n}") for n in range(9)))
    wrapped, pauses = retrying(model, attempts=3)
    with pytest.raises(ModelUnavailable, match="busy 2"):
        wrapped.complete(ask())
    assert (len(model.calls), len(pauses)) == (3, 2)


@pytest.mark.parametrize(
    "error",
    [
        ModelRefused("bad key"),
        ContextExceeded("too long"),
        MalformedReply("nonsense"),
        ModelError("broken"),
    ],
)
def test_what_cannot_succeed_is_sent_once(error: ModelError) -> None:
    model = Failing(error)
    wrapped, pauses = retrying(model)
    with pytest.raises(type(error)):
        wrapped.complete(ask())
    assert (len(model.calls), pauses) == (1, [])
    assert not error.retryable


def test_an_endpoint_that_never_answered_is_given_up_at_once() -> None:
    model = Failing(ModelUnavailable("refused", answered=False))
    wrapped, pauses = retrying(model)
    with pytest.raises(ModelUnavailable, match="refused"):
        wrapped.complete(ask())
    assert (len(model.calls), pauses) == (1, [])


def test_one_that_answered_before_is_waited_for() -> None:
    model = Failing()
    wrapped, pauses = retrying(model)
    wrapped.complete(ask())
    model.errors = [ModelUnavailable("gone", answered=False)]
    assert wrapped.complete(ask()).text == "fine"
    assert len(pauses) == 1


def test_even_an_error_reply_is_an_answer() -> None:
    model = Failing(ModelUnavailable("503"), ModelUnavailable("gone", answered=False))
    wrapped, _ = retrying(model)
    assert wrapped.complete(ask()).text == "fine"


# -- caching ------------------------------------------------------------------------------------


def test_the_second_time_is_a_hit_and_parsed() -> None:
    model, cache = Scripted(lambda call: "yes"), Memory()
    first, second = (Cached(model, cache).complete(ask()) for _ in range(2))
    assert (first.value, first.cached) == ("YES", False)
    assert (second.value, second.cached) == ("YES", True)
    assert len(model.calls) == 1


def test_only_what_the_parser_accepts_is_kept() -> None:
    replies = iter(["bad", "good"])
    model, cache = Scripted(lambda call: next(replies)), Memory()
    with pytest.raises(MalformedReply):
        Cached(model, cache).complete(ask())
    assert cache.kept == {}
    assert Cached(model, cache).complete(ask()).value == "GOOD"
    assert len(cache.kept) == 1


def test_a_reply_cut_off_by_its_length_is_never_kept() -> None:
    class Cut(Scripted):
        def complete(self, call: Call) -> Completion:
            return replace(super().complete(call), finish_reason="length")

    cache = Memory()
    with pytest.raises(MalformedReply, match="cut off"):
        Cached(Cut(lambda call: "half a sent"), cache).complete(ask())
    assert cache.kept == {}


def test_a_kept_reply_that_the_parser_no_longer_accepts_is_asked_anew() -> None:
    model, cache = Scripted(lambda call: "good"), Memory()
    cache.kept[call_key(model.name, ask())] = said("bad")
    done = Cached(model, cache).complete(ask())
    assert (done.value, done.cached) == ("GOOD", False)
    assert [c.text for c in cache.kept.values()] == ["good"]


def test_what_is_kept_can_be_stored() -> None:
    cache = Memory()
    done = Cached(Scripted(lambda call: "a\x00b\ud800\r\nc"), cache).complete(ask())
    assert done.text == "a\ufffdb\ufffd\nc"
    assert [c.text for c in cache.kept.values()] == [done.text]


CHANGES: dict[str, Callable[[Call], Call]] = {
    "user": lambda c: replace(c, user="other"),
    "system": lambda c: replace(c, system="other"),
    "sample": lambda c: replace(c, sample=1),
    "temperature": lambda c: replace(c, temperature=0.3),
    "schema": lambda c: replace(c, schema={"type": "object"}),
    "extra": lambda c: replace(c, extra={"top_p": 0.5}),
    "version": lambda c: replace(c, prompt=replace(c.prompt, version=2)),
    "digest": lambda c: replace(c, prompt=replace(c.prompt, digest="d2")),
    "name": lambda c: replace(c, prompt=replace(c.prompt, name="gist-block")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_the_reply_changes_the_key(change: str) -> None:
    call = ask()
    assert call_key("m", CHANGES[change](call)) != call_key("m", call)


def test_the_key_knows_the_model_and_nothing_that_is_only_for_us() -> None:
    call = ask(schema={"a": 1, "b": 2})
    assert call_key("m", call) != call_key("n", call)
    same = replace(call, parse=lambda c: c, shares="prefix", schema={"b": 2, "a": 1}, max_tokens=21)
    assert call_key("m", same) == call_key("m", call)


def test_two_threads_never_pay_for_the_same_call() -> None:
    inside, release = threading.Event(), threading.Event()

    def slow(call: Call) -> str:
        inside.set()
        assert release.wait(5)
        return "yes"

    model, cache = Scripted(slow), Memory()
    wrapped = Cached(model, cache)
    done: list[Completion] = []
    threads = [
        threading.Thread(target=lambda: done.append(wrapped.complete(ask()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert inside.wait(5)
    release.set()
    for thread in threads:
        thread.join(5)
    assert len(model.calls) == 1
    assert sorted(c.cached for c in done) == [False, True, True, True]
    assert wrapped._locks == {}


def test_different_calls_do_not_wait_for_each_other() -> None:
    barrier = threading.Barrier(2, timeout=5)

    def together(call: Call) -> str:
        barrier.wait()
        return "yes"

    wrapped = Cached(Scripted(together), Memory())
    threads = [threading.Thread(target=wrapped.complete, args=(ask(u),)) for u in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not barrier.broken


def test_a_failure_frees_the_key() -> None:
    model = Failing(ModelRefused("no"))
    wrapped = Cached(model, Memory())
    with pytest.raises(ModelRefused):
        wrapped.complete(ask())
    assert wrapped.complete(ask()).value == "FINE"


def test_a_retry_never_passes_the_cache_again() -> None:
    class Counting(Memory):
        gets = 0

        def get(self, key: str) -> Completion | None:
            self.gets += 1
            return super().get(key)

    cache = Counting()
    inner = Retrying(Failing(*(ModelUnavailable("busy") for _ in range(3))), sleep=lambda s: None)
    assert Cached(inner, cache).complete(ask()).value == "FINE"
    assert cache.gets == 1


# -- metering -----------------------------------------------------------------------------------


def metered(model: Scripted, cache: Memory | None = None) -> tuple[Metered, Meter]:
    meter = Meter()
    return Metered(Cached(Retrying(model), cache or Memory()), meter), meter


def test_a_hit_counts_as_a_hit_and_consumes_nothing() -> None:
    wrapped, meter = metered(Scripted(lambda call: "one two three"))
    wrapped.complete(ask())
    first = meter.usage()
    wrapped.complete(ask())
    second = meter.usage()
    assert (first.calls, first.cached_calls) == (1, 0)
    assert (second.calls, second.cached_calls) == (1, 1)
    assert (second.words_in, second.words_out) == (2, 3)
    assert second.prompt_tokens == first.prompt_tokens > 0


def test_usage_is_told_apart_by_phase() -> None:
    wrapped, meter = metered(Scripted(lambda call: "yes"))
    wrapped.complete(ask())
    wrapped.complete(ask(prompt=PromptId(name="lookup-parallel", version=1, digest="")))
    usage = meter.usage()
    assert {name: part.calls for name, part in usage.phases.items()} == {"gist": 1, "lookup": 1}
    assert usage.calls == 2
    assert usage.cost is None


def test_what_does_not_fit_is_refused_before_anything_is_sent() -> None:
    model = Scripted(lambda call: "yes", context_tokens=100)
    wrapped, meter = metered(model)
    with pytest.raises(ContextExceeded, match="100"):
        wrapped.complete(ask("word " * 200))
    with pytest.raises(ContextExceeded):
        wrapped.complete(ask("word", max_tokens=100))
    assert model.calls == []
    assert meter.usage().calls == 0


def test_a_refused_reply_was_paid_for_too() -> None:
    wrapped, meter = metered(Scripted(lambda call: "bad"))
    with pytest.raises(MalformedReply):
        wrapped.complete(ask())
    usage = meter.usage()
    assert (usage.calls, usage.words_out) == (1, 1)
    assert usage.prompt_tokens > 0


def test_a_refused_reply_enters_the_ledger() -> None:
    cache = Memory()
    wrapped, _ = metered(Scripted(lambda call: "bad"), cache)
    with pytest.raises(MalformedReply):
        wrapped.complete(ask())
    assert (cache.kept, [c.text for c in cache.paid_in_vain]) == ({}, ["bad"])


def test_wrappers_pass_on_what_the_model_is() -> None:
    model = Scripted(name="scripted:x", context_tokens=1234)
    wrapped, _ = metered(model)
    assert (wrapped.name, wrapped.capabilities) == ("scripted:x", model.capabilities)
    assert wrapped.count_tokens("a b") == model.count_tokens("a b")
