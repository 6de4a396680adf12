"""What stands around a back end: `Metered(Cached(Retrying(Limited(Paid(backend)))))`.

Each wraps a model and is a model. The meter sees cache hits as hits, a retry never passes the
cache again but waits for its turn anew, and only a reply that the call's own parser accepts is
remembered. The inner three belong to the model and are shared by all that use it.
"""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from reread import parallel
from reread.errors import ContextExceeded, MalformedReply, ModelUnavailable
from reread.evidence import CallMade
from reread.ports import CallCache, Capabilities, Model
from reread.text import clean
from reread.types import Call, Completion, Usage

Out = TypeVar("Out")


class Wrapper:
    """A model that passes everything on to the one inside."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    def complete(self, call: Call) -> Completion:
        return self.inner.complete(call)

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)


class Retrying(Wrapper):
    """Sends a call again when the failure may pass: pauses double from `pause_s`, with jitter.

    A pause that the endpoint asks for is kept. Patience ends after `attempts` failures of a call in
    a row during which no other call succeeded either, or twice as many in all; with half of them
    where nothing answers any more. An endpoint that never answered yet is given up at once, since a
    wrong address does not mend itself.
    """

    def __init__(
        self,
        inner: Model,
        *,
        attempts: int = 10,
        pause_s: float = 0.5,
        sleep: Callable[[float], None] = parallel.pause,
    ) -> None:
        super().__init__(inner)
        self._attempts = attempts
        self._pause_s = pause_s
        self._sleep = sleep
        self._answered = False
        self._successes = 0  # of all calls; only whether it changes counts

    @property
    def capabilities(self) -> Capabilities:
        return self._persistently(lambda: self.inner.capabilities)

    def complete(self, call: Call) -> Completion:
        completion = self._persistently(lambda: self.inner.complete(call))
        self._answered = True
        self._successes += 1
        return completion

    def _persistently(self, asked: Callable[[], Out]) -> Out:
        in_a_row, before = 0, self._successes
        for attempt in range(1, 2 * self._attempts + 1):
            try:
                return asked()
            except ModelUnavailable as error:
                in_a_row = in_a_row + 1 if before == self._successes else 1
                before = self._successes
                unreachable = error.retry_after_s is None and not error.answered
                self._answered = self._answered or error.answered
                most = (self._attempts + 1) // 2 if unreachable else self._attempts
                if in_a_row >= most or attempt == 2 * self._attempts:
                    raise
                if unreachable and not self._answered:
                    raise
                self._sleep(self._wait(in_a_row, error.retry_after_s))
        raise AssertionError("unreachable")

    def _wait(self, attempt: int, asked_s: float | None) -> float:
        backoff: float = self._pause_s * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311
        return max(asked_s or 0.0, min(backoff, 30.0))


class Cached(Wrapper):
    """Answers a call from the store when it was answered before; keeps what the parser accepts."""

    def __init__(self, inner: Model, cache: CallCache) -> None:
        super().__init__(inner)
        self._cache = cache
        self._locks: dict[str, tuple[threading.Lock, int]] = {}
        self._guard = threading.Lock()

    def complete(self, call: Call) -> Completion:
        """The reply with its parsed value.

        Raises:
            MalformedReply: the reply was cut off, or the parser refuses it; nothing is kept.
        """
        key = call_key(self.name, call)
        with self._only_one(key):
            known = self._cache.get(key)
            if known is not None:
                try:
                    return _told(call, replace(validated(call, known), cached=True))
                except MalformedReply:
                    pass  # kept by a parser that accepted more: ask anew
            completion = self.inner.complete(call)
            completion = replace(completion, text=clean(completion.text))
            try:
                completion = validated(call, completion)
            except MalformedReply as error:
                error.completion = completion  # it was paid for all the same
                self._cache.refused(call, self.name, completion)
                raise
            self._cache.put(key, call, self.name, completion)
            return _told(call, completion)

    @contextmanager
    def _only_one(self, key: str) -> Iterator[None]:
        """Two threads with one key: the second waits and finds the reply of the first."""
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = (lock, users - 1)


def _told(call: Call, completion: Completion) -> Completion:
    if call.hear is not None:
        call.hear(completion.text)
    return completion


def validated(call: Call, completion: Completion) -> Completion:
    """The completion with the value its call's parser makes of it."""
    if completion.finish_reason == "length":
        raise MalformedReply("the reply was cut off at the length limit", reply=completion.text)
    return replace(completion, value=call.parse(completion))


def call_key(model: str, call: Call) -> str:
    """A hash of everything that can change a reply that is kept.

    How long it might have been at most is not among that: a reply that was cut off is never kept.
    """
    parts = [
        model,
        str(call.prompt),
        call.prompt.digest,
        call.system,
        call.user,
        call.temperature,
        call.schema,
        dict(call.extra),
        call.sample,
        *([call.weighs] if call.weighs else []),
    ]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=dict)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class Meter:
    """Adds up what calls consumed, by phase. One meter measures one piece of work."""

    def __init__(self) -> None:
        self._phases: dict[str, Usage] = {}
        self._calls: list[CallMade] = []
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def add(self, call: Call, completion: Completion) -> None:
        """Counts one answered call."""
        one = Usage.of(call, completion)
        made = CallMade(
            phase=call.phase,
            prompt=str(call.prompt),
            words_in=one.words_in,
            words_out=one.words_out,
            seconds=one.seconds,
            cached=completion.cached,
        )
        with self._lock:
            self._phases[call.phase] = self._phases.get(call.phase, Usage()) + one
            self._calls.append(made)

    def calls(self) -> tuple[CallMade, ...]:
        """The calls so far, in the order in which they ended."""
        with self._lock:
            return tuple(self._calls)

    def usage(self) -> Usage:
        """Everything so far; `seconds` is the time since the meter was made."""
        with self._lock:
            phases = dict(self._phases)
        total = sum(phases.values(), Usage())
        return replace(total, seconds=time.monotonic() - self._started, phases=phases)


class Metered(Wrapper):
    """Refuses a prompt that cannot fit the window, and counts what every other call consumed."""

    def __init__(self, inner: Model, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    def complete(self, call: Call) -> Completion:
        """The reply, counted.

        Raises:
            ContextExceeded: prompt and reply together do not fit the window; nothing was sent.
            MalformedReply: the parser refuses the reply; what it cost is counted all the same.
        """
        window = self.capabilities.context_tokens
        needed = self.count_tokens(call.system) + self.count_tokens(call.user) + call.max_tokens
        if needed > window:
            raise ContextExceeded(
                f"the {call.phase} prompt needs about {needed} tokens, the window holds {window}",
                hint="Use smaller pages (--max-words) or a model with a larger window",
            )
        try:
            completion = self.inner.complete(call)
        except MalformedReply as error:
            if isinstance(error.completion, Completion):
                self._meter.add(call, error.completion)
            raise
        self._meter.add(call, completion)
        return completion
