"""What pieces of work are done with: the store, the model with all that stands around it, desks.

Everything is made when first needed. One budget pays for all calls, and what a model learned counts
from the next piece of work on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from reread import config as configuration
from reread import reading
from reread.config import Config
from reread.errors import ContextExceeded, SettingsError
from reread.llm.budget import Budget, Paid, Purse
from reread.llm.limits import Limited
from reread.llm.prices import Price, price
from reread.llm.wrappers import Cached, Meter, Metered, Retrying
from reread.ports import CallCache, Learning, Model, Progress, Step
from reread.prompts import Prompts
from reread.reading import Desk
from reread.store import Store
from reread.store.books import DocumentCalls
from reread.store.lexical import rank
from reread.types import Collection, Document, GistMemory, Settings

_log = logging.getLogger(__name__)

Out = TypeVar("Out")
_MOST_PLANS = 4  # each learns something, so more would mean an endpoint that contradicts itself


class Workshop:
    """The parts of a library; see there for the arguments."""

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        model: str | Model | None = None,
        settings: Settings | None = None,
        config: Config | None = None,
        progress: Progress | None = None,
        budget: str | None = None,
    ) -> None:
        named = model if isinstance(model, str) else None
        self.config = config or configuration.load(library=path, model=named)
        self.settings = settings or Settings()
        self.progress = progress
        self._purse = Purse(Budget.parse(budget) if budget is not None else None)
        self._model = model if model is not None and not isinstance(model, str) else None
        self._steady: Model | None = None
        self._store: Store | None = None
        self._thoughts: Any = None  # made by the library
        self._lock = threading.RLock()
        self._prompts = Prompts(self.config.prompts)

    # -- parts, made when first needed ----------------------------------------------------------

    @property
    def store(self) -> Store:
        """The open library file."""
        with self._lock:
            if self._store is None:
                self._store = Store(self.config.library)
            return self._store

    @property
    def model(self) -> Model:
        """The model in use, chosen when first asked for."""
        with self._lock:
            if self._model is None:
                from reread.llm import choose

                self._model = choose(self.config, self.store.facts)
            return self._model

    @property
    def price(self) -> Price | None:
        """What the model in use costs, None when it is not known."""
        base_url = getattr(self.model, "base_url", None)
        return price(self.model.name, base_url, self.config.prices)

    def close(self) -> None:
        """Closes the file. Everything finished is in it already."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = self._thoughts = None

    # -- a piece of work ------------------------------------------------------------------------

    def _paying(self, calls: CallCache, meter: Meter, purse: Purse | None = None) -> Model:
        """The model with all that stands around it; `purse` pays besides the library's own."""
        with self._lock:
            if self._steady is None:
                paid = Paid(self.model, self.price, self._purse)
                self._steady = Retrying(Limited(paid))
            paid_twice = Paid(self._steady, self.price, purse) if purse else self._steady
            return Metered(Cached(paid_twice, calls), meter)

    def _calls_about(self, memory: GistMemory, question: str) -> DocumentCalls:
        """Where the calls of a question are kept: with every document they hold text of."""
        if not isinstance(memory, Collection):
            return self.store.calls(memory.document.id, question)
        first, *rest = [member.document.id for member in memory.members]
        return self.store.calls(first, question, rest)

    def _done(self, result: Out, calls: DocumentCalls) -> Out:
        """The result of a piece of work, after which the model may plan by what it learned."""
        calls.finish(self.model.name)
        if isinstance(self.model, Learning):
            self.model.keep()
        return result

    def _replanned(self, work: Callable[[], Out]) -> Out:
        """The result of `work`, begun again while a refusal tells a window smaller than thought."""
        for _ in range(_MOST_PLANS):
            try:
                return work()
            except ContextExceeded as error:
                if not error.retryable:
                    raise
                _log.info("planned again: %s", error)
        return work()

    def _desk(
        self,
        document: Document,
        settings: dict[str, Any],
        model: Model,
        meter: Meter,
        like: GistMemory | None = None,
    ) -> Desk:
        """What one piece of work is done with; `meter` measures it.

        Page sizes that nobody asked for are those of the memory `like`, where there is one.
        """
        try:
            wanted = replace(self.settings, **settings)
        except TypeError as error:
            known = ", ".join(Settings.__dataclass_fields__)
            raise SettingsError(f"{error}", hint=f"Settings are {known}") from None
        if like and wanted.min_words is None and wanted.max_words is None:
            sizes = like.settings
            wanted = replace(wanted, min_words=sizes.min_words, max_words=sizes.max_words)
        resolved, chosen = reading.resolve(
            wanted,
            document_words=document.words,
            context_tokens=model.capabilities.context_tokens,
            suited=model.capabilities.profile,
            document_kind=reading.kind_of(document),
        )
        return Desk(
            model=model,
            prompts=self._prompts,
            profile=chosen,
            settings=resolved,
            rank=rank,
            progress=self._metered_progress(meter),
            extends=self.store.extends(document),
        )

    def _metered_progress(self, meter: Meter) -> Progress | None:
        """The listener, told also what was consumed so far."""
        listener = self.progress
        if listener is None:
            return None

        def tell(step: Step) -> None:
            listener(replace(step, usage=meter.usage()))

        return tell
