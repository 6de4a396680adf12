"""What an answer rests on and how it came about: sentences, suspicions, the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Basis = Literal["page", "gist", "elsewhere", "none"]
READING = frozenset({"paginate", "gist", "merge"})  # the phases in which no question is known yet


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence of an answer, and what it rests on; `start` and `end` are offsets into the answer.

    `support` is `page` where a page read in full holds what it says, `gist` where only a gist
    does, `elsewhere` where only a thought from other documents does, `none` where nothing that was
    seen does. `citations` are indices into the answer's.
    """

    text: str
    start: int
    end: int
    support: Basis
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A thought as an answer's prompt shows it.

    `pages` are those of its root sources in the documents asked; `elsewhere` are (id, title) of
    other documents that it rests on, too or alone.
    """

    id: str
    text: str
    pages: tuple[int, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspicion:
    """Something in a document that speaks to a model instead of to a reader, found by rule.

    `kind` is `instruction`, `imitation` (of tags, roles or our own prompts), `token` (of a chat
    template) or `hidden` (text that nobody sees). `text` shows it; what cannot be seen is named.
    """

    page: int
    kind: Literal["instruction", "imitation", "token", "hidden"]
    text: str
    document: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CallMade:
    """One call of a piece of work: its phase, the prompt's id, words sent and received.

    `cached` calls were answered from the library and took no time.
    """

    phase: str
    prompt: str
    words_in: int
    words_out: int
    seconds: float
    cached: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A page read in full, and by what it was chosen.

    `model` named it; `words`: it shares words with the question; `grounding`: the answer rested
    on its gist alone.
    """

    page: int
    by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """How an answer came about.

    `gists` are spans (first, last) of the pages whose gists were seen, `sections` those of the
    sections looked into, `opened` the pages in the order of their importance, `calls` all calls in
    the order in which they ended. `chance` is how likely the model found it that what it saw
    answers, where it was asked.
    """

    gists: tuple[tuple[int, int], ...] = ()
    sections: tuple[tuple[int, int], ...] = ()
    opened: tuple[Opened, ...] = ()
    calls: tuple[CallMade, ...] = ()
    chance: float | None = None
