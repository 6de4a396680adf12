"""Recall by vectors: an embedder, the vectors kept in the library, and search in memory.

A long text has a vector for each of its parts, and is as like another as its most like part. The
vectors in memory are those of this embedder alone; thoughts that were kept while another was in use
are embedded before the first search. Those that other processes keep are seen at the
next search; those of forgotten items are passed over and dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from reread.errors import ModelRefused
from reread.ports import Embedder, Hit, Side, VectorStore
from reread.retrieval import calibrate
from reread.text import count_words, sentences

_BATCH = 256  # texts embedded before they are kept
_AT_ONCE = 50_000  # vectors taken in together, so that they are in memory twice only so far


@dataclass(frozen=True, slots=True)
class _Encoded:
    """The vectors of a text's parts, as the side that they were made for."""

    vectors: Any
    side: Side


class Dense:
    """Finds items by the similarity of their vectors (`ports.Retriever`)."""

    def __init__(
        self, embedder: Embedder, store: VectorStore, *, epsilon: float | None = None
    ) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._store = store
        self._fixed = epsilon
        self._index: Any = None
        self._last = 0
        self._width: int | None = None
        self._caught_up = False  # whether thoughts of another embedder's time have vectors
        self._lock = threading.Lock()

    @property
    def epsilon(self) -> float:
        """As set, else as calibrated with the library's own texts, which is recorded."""
        if self._fixed is not None:
            return self._fixed
        known = self._store.calibration(self.name)
        if known is None or known["texts"] < calibrate.ENOUGH:
            texts = calibrate.chosen(self._store.sample(calibrate.MOST_PAGES))
            if known is None or len(texts) >= 2 * known["texts"] + 2:
                known = calibrate.epsilon(self._embedder, texts)
                self._store.put_calibration(self.name, known)
        return float(known["epsilon"])

    def add(self, items: Sequence[tuple[int, str]]) -> None:
        have = self._store.with_vectors(self.name, [item for item, _ in items])
        rows = [
            (item, part, text)
            for item, whole in items
            if item not in have
            for part, text in enumerate(passages(whole, self._embedder.max_words))
        ]
        for at in range(0, len(rows), _BATCH):
            batch = rows[at : at + _BATCH]
            made = self._embedded([text for _, _, text in batch], "passage")
            kept = zip(batch, _packed(made), strict=True)
            self._store.put_vectors(self.name, [(i, p, v) for (i, p, _), v in kept])

    def encode(self, text: str, side: Side) -> _Encoded:
        texts = passages(text, self._embedder.max_words) or [text]
        return _Encoded(self._embedded(texts, side), side)

    def _embedded(self, texts: Sequence[str], side: Side) -> Any:
        """The vectors of the texts, if they are of the width that those kept have."""
        made = self._embedder.embed(texts, side)
        self._width = self._width or self._store.width(self.name) or made.shape[1]
        if made.shape[1] != self._width:
            raise ModelRefused(
                f"{self.name} gives vectors of {made.shape[1]} numbers, the library has those of "
                f"{self._width}",
                hint="The model behind that name is another one: name it otherwise",
            )
        return made

    def vectors(self, encoded: _Encoded) -> list[bytes]:
        return _packed(encoded.vectors)

    def nearest(self, encoded: _Encoded, k: int, among: Collection[int] | None = None) -> list[Hit]:
        by_cosine = encoded.side == "passage" or self._embedder.metric == "cosine"
        vectors = calibrate.unit(encoded.vectors) if by_cosine else encoded.vectors
        if not self._caught_up:
            self.add(self._store.without_vectors(self.name))
            self._caught_up = True
        # Never the store's lock inside ours: a search may be part of a transaction, which holds it.
        while True:
            self._see_new()
            best: dict[int, float] = {}
            with self._lock:
                for vector in vectors:
                    for item, score in self._index.search(vector, k, among, by_cosine):
                        best[item] = max(score, best.get(item, -1.0))
            gone = best.keys() - self._store.existing(best)
            if not gone:
                ordered = sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))[:k]
                return [Hit(item=item, score=score) for item, score in ordered]
            with self._lock:
                self._index.drop(gone)

    def _see_new(self) -> None:
        """Takes in what was kept since the last search, by whichever process."""
        from reread.retrieval.index import Index

        found = _AT_ONCE
        while found == _AT_ONCE:
            after = self._last
            new = self._store.vectors(self.name, after, _AT_ONCE)
            found = len(new.items)
            with self._lock:
                if self._index is None:
                    self._index = Index(of_length_1=self._embedder.metric == "cosine")
                if self._last == after and new.items:  # else another thread took it in
                    self._index.add(new.items, new.data, new.more)
                    self._last = new.last


def _packed(vectors: Any) -> list[bytes]:
    """Vectors as they are kept: 16-bit floats, whose error is below a thousandth."""
    return [vector.tobytes() for vector in vectors.astype("<f2")]


def passages(text: str, most_words: int) -> list[str]:
    """The text in parts of whole sentences, of about `most_words` at most; one where it fits."""
    if count_words(text) <= most_words:
        return [text.strip()] if text.strip() else []
    parts: list[str] = []
    opened, size, closed = -1, 0, 0
    for start, end in sentences(text):
        words = count_words(text[start:end])
        if opened >= 0 and size + words > most_words:
            parts.append(text[opened:closed])
            opened, size = -1, 0
        opened = start if opened < 0 else opened
        size, closed = size + words, end
    if opened >= 0:
        parts.append(text[opened:closed])
    return parts
