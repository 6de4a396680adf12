"""What the domain asks of the outside world, as small protocols that adapters fulfil."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

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


# -- recalling what is remembered ---------------------------------------------------------------

Side = Literal["query", "passage"]
Metric = Literal["cosine", "dot"]


class Embedder(Protocol):
    """Texts as vectors whose inner product is how near a passage is to a query.

    By the metric `cosine` vectors have length 1, so it is their similarity as well. By `dot` they
    have the length that the model was trained to give them.
    """

    metric: Metric

    @property
    def name(self) -> str:
        """Which vectors these are; those of different names never meet."""

    @property
    def max_words(self) -> int:
        """How many words of a text count; a longer one is embedded in parts."""

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """An array of shape (texts, dimension) of 32-bit floats, in order.

        Raises:
            ModelError: the embedder cannot be had.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """An item that was found, by its number in the library, and its similarity.

    That is from 0 to 1, but in the embedder's own scale for a query to one whose metric is `dot`.
    """

    item: int
    score: float


class Retriever(Protocol):
    """Finds items like a text. What `encode` made is only for the retriever that made it."""

    @property
    def name(self) -> str:
        """The embedder, or `lexical`."""

    @property
    def epsilon(self) -> float:
        """The similarity from which two texts say the same, in this retriever's own scale."""

    def add(self, items: Sequence[tuple[int, str]]) -> None:
        """Makes items with these texts findable; those that are already cost nothing."""

    def encode(self, text: str, side: Side) -> Any:
        """The text in the form that `nearest` and `vectors` take."""

    def vectors(self, encoded: Any) -> list[bytes]:
        """What of it is kept with an item in the library; empty where nothing need be."""

    def nearest(self, encoded: Any, k: int, among: Collection[int] | None = None) -> list[Hit]:
        """The `k` items most like it, the best first; only of `among` where that is given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vectors:
    """Kept vectors: the item each belongs to, the bytes of each, and the last one's number.

    At most `more` follow them.
    """

    items: list[int]
    data: list[bytes]
    last: int
    more: int = 0


class VectorStore(Protocol):
    """Where a retriever keeps vectors. What is forgotten loses its vectors there."""

    def vectors(self, embedder: str, after: int, most: int) -> Vectors:
        """The first `most` of the vectors kept since number `after`, in order."""

    def put_vectors(self, embedder: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Keeps (item, part, vector); items that were forgotten meanwhile are passed over."""

    def with_vectors(self, embedder: str, items: Sequence[int]) -> set[int]:
        """Those of the items that have vectors."""

    def without_vectors(self, embedder: str) -> list[tuple[int, str]]:
        """(item, text) of the thoughts that have none, made while another embedder was in use."""

    def width(self, embedder: str) -> int | None:
        """How many numbers a vector has, None before there is one."""

    def existing(self, items: Collection[int]) -> set[int]:
        """Those of the items that were not forgotten."""

    def calibration(self, embedder: str) -> dict[str, Any] | None:
        """What was recorded of the embedder's scale, None when it was never calibrated."""

    def put_calibration(self, embedder: str, calibration: dict[str, Any]) -> None:
        """Records it."""

    def sample(self, most: int) -> list[str]:
        """Texts of the library to calibrate with, the same ones each time."""

    def texts(self, among: Collection[int] | None) -> list[tuple[int, str]]:
        """(item, text) of the items, of all where None."""
