"""What the domain asks of the outside world, as small protocols that adapters fulfil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from reread.types import Call, Completion, Usage


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


@runtime_checkable
class Learning(Protocol):
    """A model that learns from its calls."""

    @property
    def facts(self) -> Facts:
        """What is known of it."""

    def room(self, call: Call) -> int:
        """The most tokens that a reply may take, reasoning included."""

    def keep(self) -> None:
        """Plans from now on with what was learned, and keeps it.

        Called between pieces of work: one that was interrupted is planned again as it was before.
        """


class Facts(Protocol):
    """What is known of one model at its endpoint, by name; the values are JSON."""

    def get(self, name: str) -> Any:
        """The fact, None when it is not known."""

    def put(self, name: str, value: Any) -> None: ...

    def forget(self) -> None: ...


class CallCache(Protocol):
    """Durable replies by key. `put` returns only when the reply would survive a crash.

    `refused` is told of replies that were paid for and are not kept.
    """

    def get(self, key: str) -> Completion | None: ...

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None: ...

    def refused(self, call: Call, model: str, completion: Completion) -> None: ...


# Indices of the texts that share words with the query, the best match first.
Ranker = Callable[[Sequence[str], str], list[int]]

Progress = Callable[["Step"], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Progress of a piece of work: `done` of `total` in `unit` (words or bytes) so far.

    `usage` is what the work consumed so far, where calls are made.
    """

    phase: str
    done: int
    total: int
    unit: str = "words"
    note: str = ""
    usage: Usage | None = None
