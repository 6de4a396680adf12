"""A budget: how it is written, and that it is never overdrawn."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from reread.errors import BudgetReached, ModelRefused, ModelUnavailable, UsageError
from reread.llm.budget import Budget, Paid, Purse
from reread.llm.prices import Price
from reread.llm.scripted import Scripted
from reread.types import Call, Completion, PromptId

TARIFF = Price(prompt=2.0, completion=8.0, cached=0.5)


def a_call(max_tokens: int = 100) -> Call:
    return Call(
        prompt=PromptId(name="gist-page", version=1, digest=""),
        system="Read.",
        user="word " * 100,
        parse=lambda completion: completion.text,
        max_tokens=max_tokens,
    )


class Counted(Scripted):
    """A model that reports 101 tokens in and 20 out, or fails."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__(lambda call: "yes")
        self.failures = list(failures)

    def complete(self, call: Call) -> Completion:
        done = super().complete(call)
        if self.failures:
            raise self.failures.pop(0)
        return replace(done, prompt_tokens=101, completion_tokens=20)


def paid(
    written: str | None, model: Scripted | None = None, tariff: Price | None = TARIFF
) -> tuple[Paid, Scripted]:
    model = model or Counted()
    budget = Budget.parse(written) if written else None
    return Paid(model, tariff, Purse(budget)), model


def calls_until_reached(wrapped: Paid, call: Call | None = None) -> int:
    for made in range(1_000):
        try:
            wrapped.complete(call or a_call())
        except BudgetReached:
            return made
    raise AssertionError("never reached")


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("0.50usd", Budget(0.5, "usd")),
        ("$0.50", Budget(0.5, "usd")),
        ("2 USD", Budget(2.0, "usd")),
        (".5usd", Budget(0.5, "usd")),
        ("200000tokens", Budget(200_000, "tokens")),
        ("200,000 tokens", Budget(200_000, "tokens")),
        ("200_000token", Budget(200_000, "tokens")),
        ("500calls", Budget(500, "calls")),
        ("1call", Budget(1, "calls")),
        ("0calls", Budget(0, "calls")),
    ],
)
def test_a_budget_is_read_as_it_is_written(written: str, right: Budget) -> None:
    assert Budget.parse(written) == right


@pytest.mark.parametrize(
    "written", ["", "5", "usd", "-1usd", "5eur", "1.5calls", "nan usd", "1e9tokens", "5 calls each"]
)
def test_what_is_no_budget_is_refused_and_told_how_to_write_one(written: str) -> None:
    with pytest.raises(UsageError, match="is no budget") as caught:
        Budget.parse(written)
    assert "500calls" in caught.value.line


def test_calls_are_counted_exactly() -> None:
    wrapped, model = paid("5calls")
    assert calls_until_reached(wrapped) == 5
    assert len(model.calls) == 5


def test_tokens_are_never_overdrawn() -> None:
    # A call may take 101 + 10 + 32 tokens of prompt and 100 of reply; it takes 121.
    wrapped, _ = paid("1000tokens")
    made = calls_until_reached(wrapped)
    assert made == 7  # 6 * 121 + 245 fit, 7 * 121 + 245 do not
    assert made * 121 <= 1_000


def test_money_is_never_overdrawn() -> None:
    one = (101 * 2.0 + 20 * 8.0) / 1e6
    wrapped, _ = paid("0.01usd")
    made = calls_until_reached(wrapped)
    assert made * one <= 0.01 < made * one + (145 * 2.0 + 100 * 8.0) / 1e6 + one


def test_each_reply_says_what_it_cost() -> None:
    wrapped, _ = paid(None)
    assert wrapped.complete(a_call()).cost == pytest.approx(0.000362)
    wrapped, _ = paid(None, tariff=None)
    assert wrapped.complete(a_call()).cost is None


def test_a_budget_in_money_needs_a_price() -> None:
    with pytest.raises(UsageError, match="price of scripted:extractive is not known") as caught:
        paid("1usd", tariff=None)
    assert "[prices]" in caught.value.line
    paid("5calls", tariff=None)


@pytest.mark.parametrize("failure", [ModelRefused("no"), ModelUnavailable("busy")])
def test_what_was_refused_was_not_paid(failure: Exception) -> None:
    wrapped, model = paid("2calls", Counted(failure))
    with pytest.raises(type(failure)):
        wrapped.complete(a_call())
    assert calls_until_reached(wrapped) == 2
    assert len(model.calls) == 3


def test_what_broke_may_have_been_paid() -> None:
    wrapped, model = paid("2calls", Counted(ModelUnavailable("broke", worked=True)))
    with pytest.raises(ModelUnavailable):
        wrapped.complete(a_call())
    assert calls_until_reached(wrapped) == 1
    assert len(model.calls) == 2


def test_calls_in_flight_are_counted() -> None:
    together = threading.Barrier(2, timeout=10)

    def reply(call: Call) -> str:
        together.wait()  # both are in flight before one is answered
        return "yes"

    model = Scripted(reply)
    wrapped = Paid(model, TARIFF, Purse(Budget(2, "calls")))

    def run(_: int) -> bool:
        try:
            return bool(wrapped.complete(a_call()))
        except BudgetReached:
            return False

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(run, range(5))) == [False, False, False, True, True]
    assert len(model.calls) == 2


def test_a_call_waits_for_those_in_flight_and_then_fits() -> None:
    inside, release = threading.Event(), threading.Event()

    def slow(call: Call) -> str:
        inside.set()
        assert release.wait(10)
        return "yes"

    wrapped = Paid(Scripted(slow), TARIFF, Purse(Budget(400, "tokens")))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(wrapped.complete, a_call())
        assert inside.wait(10)
        second = pool.submit(wrapped.complete, a_call())
        release.set()
        assert first.result(10).text == second.result(10).text == "yes"


def test_what_can_never_fit_is_refused_though_others_are_in_flight() -> None:
    purse = Purse(Budget(100, "tokens"))
    purse.hold(50)
    with pytest.raises(BudgetReached, match="100 tokens is reached: 0 tokens spent"):
        purse.hold(101)
