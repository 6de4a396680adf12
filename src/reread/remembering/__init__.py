"""The thoughts of a library: asking with them, and everything else that is done with them.

The composition of recall, the loop and the items; `Library.thoughts` is one of these.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from reread import retrieval
from reread.config import Config
from reread.errors import BudgetReached, UsageError
from reread.llm.budget import Budget, Purse
from reread.llm.wrappers import Meter
from reread.ports import Retriever
from reread.reading import Desk, quotes
from reread.reading.render import render, tags
from reread.remembering import compare, exchange, tree
from reread.remembering.round import Round
from reread.retrieval.dense import Dense
from reread.retrieval.lexical import Lexical
from reread.store import Store
from reread.store.books import DocumentCalls
from reread.store.changes import Draft
from reread.store.lexical import rank
from reread.text import one_line
from reread.thoughts import replies
from reread.thoughts.chunks import chunks
from reread.thoughts.settings import manner
from reread.types import Answer, Document, GistMemory, Settings, Thought

_QUESTIONS_TOKENS = 800
_CHUNK_TOKENS = 500
_DEAREST = 3  # calls of one question, until one was seen that took more
EMBEDDER = "minilm"


class Home(Protocol):
    """What the thoughts need of the library they belong to."""

    config: Config

    @property
    def store(self) -> Store: ...

    def ask(self, question: str, source: Any, **said: Any) -> Answer: ...

    def load(self, source: Any) -> Document: ...

    def read(self, source: Any, **settings: Any) -> GistMemory: ...

    def forget_states(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Ahead:
    """Answers to questions made up, the calls that both took, whether a budget ended it early."""

    answers: list[Answer]
    calls: int
    ended_early: bool


class Thoughts:
    """What was learned from questions, in one library."""

    def __init__(
        self,
        home: Home,
        desk: Callable[..., Desk],
        retriever: Retriever | None = None,
    ) -> None:
        self._home = home
        self._desk = desk
        self._retriever = retriever
        self._lock = threading.RLock()

    @property
    def _store(self) -> Store:
        return self._home.store

    @property
    def retriever(self) -> Retriever:
        """How thoughts are recalled: by the embedder configured or found, else by words.

        Raises:
            SettingsError: the embedder that is named cannot be had.
        """
        with self._lock:
            if self._retriever is None:
                from reread.llm import weights

                config = self._home.config
                file = weights.installed(weights.find(EMBEDDER), config.weights)
                place = retrieval.Place(
                    weights=file, base_url=config.base_url, api_key=config.api_key
                )
                embedder = retrieval.embedder(config.embedder, place)
                vectors = self._store.vectors
                self._retriever = (
                    Dense(embedder, vectors) if embedder else Lexical(vectors, rank, quotes.content)
                )
            return self._retriever

    # -- asking ---------------------------------------------------------------------------------

    def ask(
        self,
        memory: GistMemory,
        question: str,
        options: Sequence[str],
        how: str,
        desk: Desk,
        calls: DocumentCalls,
        hear: Callable[[str], None] | None = None,
    ) -> Answer:
        """The answer to a question with thoughts, in the manner `how`; see `Library.ask`."""
        return self._round(memory, how, desk, calls, "asked").ask(question, options, hear)

    def _round(
        self, memory: GistMemory, how: str, desk: Desk, calls: DocumentCalls, made: str
    ) -> Round:
        return Round(
            store=self._store,
            retriever=self.retriever,
            manner=manner(how),
            desk=desk,
            calls=calls,
            memory=memory,
            made=made,
        )

    def unread(self, source: Any) -> GistMemory:
        """A memory of one document without pages or gists, for manners that need none."""
        document = source.document if isinstance(source, GistMemory) else source
        if not isinstance(document, Document):
            document = self._home.load(document)
        return GistMemory(document=document, pages=(), gists=(), settings=Settings(), model="")

    # -- what there is --------------------------------------------------------------------------

    def all(self, document: Document | None = None) -> list[Thought]:
        """The thoughts in the order they came; of those that rest on `document` where given."""
        numbers = self._store.items.resting_on([document.id]) if document else None
        return self._store.items.thoughts(numbers)

    def get(self, thought_id: str) -> Thought:
        """The thought with this id or beginning of one.

        Raises:
            SourceNotFound: there is none.
            UsageError: several begin so.
        """
        return self._store.items.thought(thought_id)

    def tree(self, thought_id: str) -> tree.Root:
        """A thought with all it rests on, down to the quotes of its pages."""
        return tree.tree(self._store, self.get(thought_id).id)

    def calibration(self) -> dict[str, Any]:
        """The embedder in use, its threshold, and what the threshold was found from."""
        epsilon = self.retriever.epsilon
        known = self._store.vectors.calibration(self.retriever.name) or {}
        return {"embedder": self.retriever.name, **known, "epsilon": epsilon}

    # -- changing it ----------------------------------------------------------------------------

    def forget(self, *thought_ids: str) -> list[str]:
        """The ids of all that is gone: these thoughts, and those that rested on them alone."""
        found = [self.get(i).id for i in thought_ids]
        self._home.forget_states()
        return self._store.items.forget(found)

    def edit(self, thought_id: str, text: str) -> Thought:
        """The thought in the user's words, under a new id; what rested on the old words lost them.

        Raises:
            UsageError: the words are empty, the same or too many.
        """
        text = one_line(text)
        if not text:
            raise UsageError("a thought cannot be empty", hint="`thoughts forget` removes it")
        if len(text) > exchange.LONGEST:
            raise UsageError(f"a thought has {exchange.LONGEST:,} characters at most")
        old = self.get(thought_id)
        retriever = self.retriever
        about = {"made": "edited", "model": old.model, "prompts": list(old.prompts)}
        draft = Draft(
            text=text,
            question=old.question,
            answer=old.answer,
            sources=(),
            about=about,
            embedder=retriever.name,
            vectors=retriever.vectors(retriever.encode(text, "passage")),
        )
        self._home.forget_states()
        return self._store.items.edit(old, draft)

    # -- others' and ahead ----------------------------------------------------------------------

    def export(self) -> Iterable[dict[str, Any]]:
        """The thoughts as records, sources before what rests on them; see `docs/thoughts.md`."""
        return exchange.records(self._store)

    def take(self, records: Iterable[Mapping[str, Any]]) -> exchange.Taken:
        """What became of thoughts, or questions with answers, from elsewhere.

        Raises:
            UsageError: a record is neither.
        """
        return exchange.take(self._store, self.retriever, self._distiller, self._findable, records)

    def _findable(self) -> None:
        """Makes the pages of every document findable, as it was read, else in chunks."""
        for entry in self._store.overview():
            document = self._store.document(entry["id"])
            if document is None:
                continue
            memories = self._store.memories(document)
            pages = memories[0].pages if memories else chunks(document, _CHUNK_TOKENS)
            spans = [(p.start, p.end) for p in pages]
            numbers = self._store.items.pages(document, spans)
            texts = [p.text.strip() for p in pages]
            self.retriever.add([(n, t) for n, t in zip(numbers, texts, strict=True) if t])

    def _distiller(self, document: Document) -> Round:
        memories = self._store.memories(document)
        memory = memories[0] if memories else self._home.read(document)
        calls = self._store.calls(document.id)
        desk = self._desk(document, {}, calls, Meter())
        return self._round(memory, "default", desk, calls, "imported")

    def ahead(
        self, source: Any, questions: int = 10, max_calls: int | None = None, **settings: Any
    ) -> Ahead:
        """Answers to questions made up for a document.

        The document is read first if it must be; that is not counted. `max_calls` bounds the calls
        to the model for questions and answers, those that repeat a malformed reply included.

        Raises:
            UsageError: `questions` is not positive.
        """
        if questions < 1:
            raise UsageError("no question was asked for", hint="Say --questions 10")
        memory = source if isinstance(source, GistMemory) else self._home.read(source, **settings)
        limit = math.inf if max_calls is None else max_calls
        purse = Purse(Budget(limit, "calls"))
        answers: list[Answer] = []
        dearest = _DEAREST
        try:
            for question in self._made_up(memory, questions, settings, purse):
                if purse.spent + dearest > limit:
                    return Ahead(answers, int(purse.spent), ended_early=True)
                answers.append(self._thought_ahead(memory, question, settings, purse))
                dearest = max(dearest, answers[-1].usage.calls)
        except BudgetReached:
            return Ahead(answers, int(purse.spent), ended_early=True)
        return Ahead(answers, int(purse.spent), ended_early=False)

    def _made_up(
        self, memory: GistMemory, count: int, settings: dict[str, Any], purse: Purse
    ) -> list[str]:
        """Up to so many questions about the document."""
        document = memory.document
        calls = self._store.calls(document.id)
        desk = self._desk(document, dict(settings), calls, Meter(), purse)
        shown = render(memory, tags(memory), layout=desk.profile.layout)
        found: list[str] = desk.ask(
            "questions",
            {"memory": shown, "count": str(count)},
            lambda reply: replies.questions(reply, count),
            max_tokens=_QUESTIONS_TOKENS,
        )
        return found

    def _thought_ahead(
        self, memory: GistMemory, question: str, settings: dict[str, Any], purse: Purse
    ) -> Answer:
        meter = Meter()
        calls = self._store.calls(memory.document.id, question)
        desk = self._desk(memory.document, dict(settings), calls, meter, purse)
        made = self._round(memory, "default", desk, calls, "generated").ask(question)
        return replace(made, usage=meter.usage())

    # -- did it help ----------------------------------------------------------------------------

    def compare(self, question: str, source: Any, **settings: Any) -> compare.Comparison:
        """Two answers to one question, with thoughts and without, in an order that is not told."""
        return compare.made(self._store, self._home, question, source, settings)

    def vote(self, comparison_id: str, choice: str) -> str:
        """Records which answer is better: `1`, `2` or `=`; returns `with`, `without` or `tie`.

        Raises:
            UsageError: there is no such comparison or choice.
        """
        return compare.vote(self._store, comparison_id, choice)

    def report(self) -> dict[str, Any]:
        """Whether memory helped over one's own questions: votes, tokens, seconds, intervals."""
        return compare.report(self._store, self.all())
