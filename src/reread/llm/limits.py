"""How many calls an endpoint takes at once, found by trying.

The number starts at what was asked for, is halved when the endpoint says that it is overloaded, and
grows by one after a run of successes: quickly up to where it was refused the last time, slowly
beyond, so that an endpoint with a fixed limit is seldom asked for more. A pause that the endpoint
asks one call for is kept by all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reread import parallel
from reread.errors import ModelUnavailable
from reread.llm.wrappers import Wrapper
from reread.ports import Model
from reread.types import Call, Completion

_RUNS_AT_LIMIT = 10  # successes per allowed call before more is tried where it was refused once


class Limited(Wrapper):
    """A model whose calls wait, without a connection, for their turn.

    All threads that use the model share one of these.
    """

    def __init__(self, inner: Model, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(inner)
        self._now = now
        self._turn = threading.Condition()
        self._limit: int | None = None
        self._refused_at: int | None = None
        self._run = 0  # successes since the limit last changed
        self._cut = 0  # how often it was cut
        self._in_flight = 0
        self._not_before = 0.0

    @property
    def limit(self) -> int:
        """How many calls may be in flight now."""
        if self._limit is None:
            self._limit = self.inner.capabilities.workers
        return self._limit

    def complete(self, call: Call) -> Completion:
        with self._slot() as cut:
            try:
                completion = self.inner.complete(call)
            except ModelUnavailable as error:
                if error.overloaded:
                    self._shrink(cut, error.retry_after_s)
                raise
            self._grow()
        return completion

    @contextmanager
    def _slot(self) -> Iterator[int]:
        """One of the calls in flight; yields how often the limit had been cut when it began."""
        most = self.limit
        with self._turn:
            while self._in_flight >= (self._limit or most) or self._now() < self._not_before:
                parallel.check(begins=True)
                self._turn.wait(self._patience())
            self._in_flight += 1
            cut = self._cut
        try:
            yield cut
        finally:
            with self._turn:
                self._in_flight -= 1
                self._turn.notify()

    def _patience(self) -> float:
        left = self._not_before - self._now()
        return min(left, parallel.TICK_S) if left > 0 else parallel.TICK_S

    def _shrink(self, cut: int, pause_s: float | None) -> None:
        with self._turn:
            if pause_s:
                self._not_before = max(self._not_before, self._now() + pause_s)
            if cut != self._cut:
                return  # it began before the last cut, which was for the same reason
            self._refused_at = min(self.limit, self._in_flight)
            self._limit = max(1, self._refused_at // 2)
            self._cut += 1
            self._run = 0

    def _grow(self) -> None:
        with self._turn:
            most = self.inner.capabilities.workers
            if self.limit >= most:
                return
            self._run += 1
            tried = self._refused_at is not None and self.limit + 1 >= self._refused_at
            if self._run >= self.limit * (_RUNS_AT_LIMIT if tried else 1):
                self._limit = self.limit + 1
                self._run = 0
                self._turn.notify()
