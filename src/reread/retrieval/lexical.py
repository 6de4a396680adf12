"""Recall by words alone, for an install without an embedder.

Candidates come from the lexical ranker; how alike two texts are is the share of content words they
have in common, `|A ∩ B| / sqrt(|A| |B|)`. Nothing is kept beside the texts themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from reread.ports import Hit, Ranker, Side, VectorStore

_MOST_CANDIDATES = 64
_EPSILON = 0.8


class Lexical:
    """Finds items by the words they share with a text."""

    name = "lexical"
    epsilon = _EPSILON

    def __init__(
        self, store: VectorStore, rank: Ranker, content: Callable[[str], Collection[str]]
    ) -> None:
        self._store = store
        self._rank = rank
        self._content = content

    def add(self, items: Sequence[tuple[int, str]]) -> None:
        """Nothing to do: texts are looked through where they are."""

    def encode(self, text: str, side: Side) -> Any:
        return text

    def vectors(self, encoded: Any) -> list[bytes]:
        return []

    def nearest(self, encoded: Any, k: int, among: Collection[int] | None = None) -> list[Hit]:
        texts = self._store.texts(among)
        words = set(self._content(encoded))
        order = self._rank([text for _, text in texts], encoded)[:_MOST_CANDIDATES]
        hits = [Hit(item=texts[n][0], score=self._alike(words, texts[n][1])) for n in order]
        return hits[:k]

    def _alike(self, words: set[str], text: str) -> float:
        others = set(self._content(text))
        if not words or not others:
            return 0.0
        return len(words & others) / math.sqrt(len(words) * max(1, len(others)))
