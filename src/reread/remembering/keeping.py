"""Whether a thought is kept: it must stand near enough to pages, and say something new.

New is what nothing like it stands for already. A thought whose evidence is gone, or that never had
any, is not used in answers, so it keeps nobody from learning the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from reread.ports import Hit, Retriever
from reread.store import Store
from reread.store.changes import Draft
from reread.thoughts import loop
from reread.thoughts.settings import Manner
from reread.types import Thought

_LIKE = 16  # items looked at for one that says the same
_GONE = "something it rests on was forgotten"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What a thought is compared with: `items` where given, and what counts as current."""

    items: Callable[[], Collection[int]] | None = None
    asked_about: Collection[str] = field(default_factory=tuple)


def keep(
    store: Store, retriever: Retriever, manner: Manner, draft: Draft, scope: Scope
) -> tuple[Thought | None, str]:
    """The thought, kept, or the reason why it is not.

    Raises:
        ModelError: the embedder cannot be had.
    """
    if reason := _too_far(store, manner, draft):
        return None, reason
    encoded = retriever.encode(draft.text, "passage")
    epsilon = manner.epsilon or retriever.epsilon  # calibrates: not in a transaction
    vectors = retriever.vectors(encoded)
    among = scope.items() if scope.items and not vectors else None
    about: dict[str, Any] = {**draft.about, "epsilon": epsilon}

    like: list[Hit] = []

    def redundant() -> bool:
        hits = retriever.nearest(encoded, _LIKE, among)
        about["nearest"] = round(hits[0].score, 4) if hits else 0.0
        close = [hit for hit in hits if hit.score >= epsilon]
        standing = store.items.standing([hit.item for hit in close], scope.asked_about)
        like[:] = [hit for hit in close if hit.item in standing]
        return bool(like)

    if vectors and redundant():  # the first search of a process reads all: not in a transaction
        return None, _known(store, like[0])
    made = replace(draft, about=about, embedder=retriever.name, vectors=vectors)
    if kept := store.items.keep(made, redundant):
        return kept, ""
    return None, _known(store, like[0]) if like else _GONE


def _too_far(store: Store, manner: Manner, draft: Draft) -> str:
    levels = store.items.levels(draft.sources)
    if len(levels) < len(set(draft.sources)):
        return _GONE
    thoughts = store.items.thoughts_by_number(draft.sources)
    return loop.too_far(manner, draft.sources, levels, len(levels) - len(thoughts))


def _known(store: Store, hit: Hit) -> str:
    (like,) = store.items.ids([hit.item]).values() or ("what is gone since",)
    return f"it says nothing new ({like})"
