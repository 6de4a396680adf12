"""A hard limit in money, tokens or calls, and the wrapper that keeps to it.

Invariant: before a call is sent, what was spent, what the calls in flight may cost at most, and
what this one may cost at most fit the budget together. A call that would not fit waits for those in
flight, since most cost less than they might; when none is left, the budget is reached.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace

from reread import parallel
from reread.errors import BudgetReached, ModelError, ModelUnavailable, UsageError
from reread.llm.prices import Price
from reread.llm.wrappers import Wrapper
from reread.ports import Learning, Model
from reread.types import Call, Completion

_WRITTEN = re.compile(r"\s*\$?\s*([\d][\d_,]*\.?\d*|\.\d+)\s*(usd|\$|tokens?|calls?)\s*", re.I)
_TOLD = "Write it as 0.50usd, 200000tokens or 500calls"
_AROUND_TOKENS = 32  # what a server adds around a prompt's two messages
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `limit` of `unit`: `usd`, `tokens` (sent and received) or `calls`."""

    limit: float
    unit: str

    @classmethod
    def parse(cls, text: str) -> Budget:
        """The budget that is written like `0.50usd`, `200000tokens` or `500calls`.

        Raises:
            UsageError: it is written otherwise.
        """
        written = text.strip()
        money = written.startswith("$")
        found = _WRITTEN.fullmatch(f"{written[1:]}usd" if money else written)
        if found is None:
            raise UsageError(f"{text!r} is no budget", hint=_TOLD)
        unit = found[2].lower()
        unit = "usd" if unit == "$" else unit if unit == "usd" else f"{unit.rstrip('s')}s"
        limit = float(found[1].replace(",", "").replace("_", ""))
        if unit != "usd" and limit != int(limit):
            raise UsageError(f"{text!r} is no budget: {unit} are whole", hint=_TOLD)
        return cls(limit, unit)

    def shown(self, amount: float) -> str:
        """An amount in the budget's unit, for people."""
        if self.unit == "usd":
            return f"${amount:.4f}"
        return f"{amount:,.0f} {self.unit[:-1] if amount == 1 else self.unit}"


class Purse:
    """What is left of a budget (None for no limit); shared by all calls that it pays."""

    def __init__(self, budget: Budget | None) -> None:
        self.budget = budget
        self._spent = 0.0
        self._held = 0.0
        self._settled = threading.Condition()

    @property
    def spent(self) -> float:
        """What the calls that ended cost, in the budget's unit."""
        return self._spent

    def hold(self, most: float) -> None:
        """Sets `most` aside for one call, waiting for calls in flight where that can help.

        Raises:
            BudgetReached: it does not fit.
        """
        if self.budget is None:
            return
        limit = self.budget.limit + _ROUNDING
        with self._settled:
            while self._spent + self._held + most > limit:
                if not self._held or self._spent + most > limit:
                    raise self._reached(most)
                parallel.check(begins=True)
                self._settled.wait(parallel.TICK_S)
            self._held += most

    def settle(self, most: float, spent: float) -> None:
        """Gives back what was held for a call, and takes what it cost."""
        with self._settled:
            self._held = max(0.0, self._held - most)
            self._spent += spent
            self._settled.notify_all()

    def _reached(self, most: float) -> BudgetReached:
        assert self.budget is not None
        shown = self.budget.shown
        reached = f"the budget of {shown(self.budget.limit)} is reached"
        if self.budget.unit != "calls":
            reached += f": {shown(self._spent)} spent, and the next call may take {shown(most)}"
        return BudgetReached(
            reached,
            hint="Finished work is kept; run again with a new budget to go on",
        )


class Paid(Wrapper):
    """Notes what each call cost, and sends none that the purse might not pay.

    Raises:
        UsageError: the budget is in money and the model's price is not known.
    """

    def __init__(self, inner: Model, price: Price | None, purse: Purse) -> None:
        super().__init__(inner)
        self._price = price
        self._purse = purse
        if price is None and purse.budget is not None and purse.budget.unit == "usd":
            raise UsageError(
                f"the price of {inner.name} is not known, so no budget in money can be kept",
                hint="Say --budget in tokens or calls, or put the price into config.toml under "
                "[prices]",
            )

    def complete(self, call: Call) -> Completion:
        """The reply, with what it cost.

        Raises:
            BudgetReached: the budget does not allow it; nothing was sent.
        """
        if self._purse.budget is None:
            done = self.inner.complete(call)
            return replace(done, cost=self._price.of(done) if self._price else None)
        prompt = self._most_sent(call)
        learning = self.inner if isinstance(self.inner, Learning) else None
        most = self._amount(prompt, learning.room(call) if learning else call.max_tokens)
        self._purse.hold(most)
        spent = 0.0
        try:
            done = self.inner.complete(call)
            spent = self._spent(done, prompt)
        except ModelUnavailable as error:
            spent = most if error.worked else 0.0
            raise
        except ModelError:
            raise  # refused, so not paid
        except BaseException:
            spent = most  # stopped from outside, while it may go on there
            raise
        finally:
            self._purse.settle(most, spent)
        return replace(done, cost=self._price.of(done) if self._price else None)

    def _most_sent(self, call: Call) -> int:
        counted = self.count_tokens(call.system) + self.count_tokens(call.user)
        return counted + counted // 10 + _AROUND_TOKENS

    def _spent(self, done: Completion, most_sent: int) -> float:
        prompt, reply = done.prompt_tokens, done.completion_tokens
        counted = max(most_sent, 0) if prompt is None else prompt
        said = self.count_tokens(done.text) if reply is None else reply
        return self._amount(counted, said, done.reused_tokens)

    def _amount(self, prompt: int, completion: int, cached: int = 0) -> float:
        unit = self._purse.budget.unit if self._purse.budget else ""
        if unit == "calls":
            return 1.0
        if unit == "tokens":
            return float(prompt + completion)
        return self._price.at(prompt, completion, cached) if self._price else 0.0
