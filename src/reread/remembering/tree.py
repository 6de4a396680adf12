"""A thought with all it rests on, down to the quotes of its pages.

What rests on something twice shows what is under it once. Far down, where thoughts rest on thoughts
without end, an item is shown with its pages alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from reread.errors import SourceNotFound
from reread.reading import quotes
from reread.store import Store
from reread.types import Thought

_DEEPEST = 12  # steps down from the thought
_MOST_OPEN = 4  # documents in memory at a time


@dataclass(frozen=True, kw_only=True, slots=True)
class Root:
    """An item as a tree: itself, and what it rests on down to the quotes of its pages.

    `kind` is `thought`, `gist` or `page`. A page has the `title` of its document and a `quote`, the
    sentence in it that says most of the thought. `above` says that `sources` were shown before.
    """

    id: str
    kind: str
    level: float
    text: str
    sources: tuple[Root, ...] = ()
    above: bool = False
    thought: Thought | None = None
    title: str = ""
    document: str = ""
    start: int = 0
    end: int = 0
    quote: str = ""
    current: bool = True


def tree(store: Store, thought_id: str) -> Root:
    """The thought's tree.

    Raises:
        SourceNotFound: it, or something that it rests on, was forgotten meanwhile.
    """
    return _Growing(store).item(thought_id, "", 0)


class _Growing:
    def __init__(self, store: Store) -> None:
        self._items = store.items
        self._document = lru_cache(_MOST_OPEN)(store.document)
        self._shown: set[str] = set()

    def item(self, item_id: str, said: str, depth: int) -> Root:
        """The item as it is shown under one that says this."""
        if item_id.startswith("p"):
            return self._page(item_id, said)
        kind = "gist" if item_id.startswith("g") else "thought"
        thought = self._items.thought(item_id) if kind == "thought" else None
        text = thought.text if thought else self._items.text_of(item_id)[0]
        above = item_id in self._shown
        self._shown.add(item_id)
        return Root(
            id=item_id,
            kind=kind,
            level=self._items.level_of(item_id),
            text=text,
            sources=() if above else self._below(item_id, text, depth),
            above=above,
            thought=thought,
        )

    def _below(self, item_id: str, text: str, depth: int) -> tuple[Root, ...]:
        deep = depth >= _DEEPEST
        ids = self._items.roots_of(item_id) if deep else self._items.sources_of(item_id)
        return tuple(self.item(source, text, depth + 1) for source in ids)

    def _page(self, item_id: str, said: str) -> Root:
        place = self._items.place_of(item_id)
        document = self._document(place.document) if place else None
        if place is None or document is None:
            raise SourceNotFound("what this rests on was forgotten meanwhile")
        return Root(
            id=item_id,
            kind="page",
            level=1.0,
            text=document.text[place.start : place.end].strip(),
            title=document.title,
            document=place.document,
            start=place.start,
            end=place.end,
            quote=quotes.best(said, document, place.start, place.end),
            current=place.current,
        )
