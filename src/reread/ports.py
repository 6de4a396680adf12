"""What the domain asks of the outside world, as small protocols that adapters fulfil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reread.types import Call, Completion


@dataclass(frozen=True, kw_only=True, slots=True)
class Capabilities:
    """What planning must know of a back end.

    `context_tokens` is the window for prompt and reply together. `workers` is how many calls may
    usefully be in flight at once. `profile` names the reading profile that suits the model.
    """

    context_tokens: int
    workers: int
    profile: str = "default"


class Model(Protocol):
    """A language model: one method, and what planning must know of it."""

    @property
    def name(self) -> str:
        """How users name it, such as `openai:NAME` or `local:NAME`; part of every cache key."""

    @property
    def capabilities(self) -> Capabilities:
        """Window, useful concurrency and profile; may ask the endpoint once."""

    def complete(self, call: Call) -> Completion:
        """The reply to one call, parsed by the call's own parser where a wrapper does so.

        Raises:
            ModelError: with `retryable` telling whether the same call may succeed later.
        """

    def count_tokens(self, text: str) -> int:
        """How many tokens the text takes, exactly or as an upper estimate."""


class CallCache(Protocol):
    """Durable replies by key. `put` returns only when the reply would survive a crash."""

    def get(self, key: str) -> Completion | None: ...

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None: ...


# Indices of the texts that share words with the query, the best match first.
Ranker = Callable[[Sequence[str], str], list[int]]

Progress = Callable[["Step"], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Progress of a piece of work: `done` of `total` in `unit` (words or bytes) so far."""

    phase: str
    done: int
    total: int
    unit: str = "words"
    note: str = ""
