"""Search among vectors in memory: exact to `EXACT` vectors, and beyond by cells and a sketch.

Up to `EXACT` the query meets every vector. Beyond, vectors lie in cells around centres; the query
meets the sketches of those in the cells most like it, which are their projections on the directions
in which vectors differ most, and the `CANDIDATES` best of these are scored with the vectors
themselves. What was added since the cells were made is met by its sketch, and when it is an eighth
of all, cells are made anew. A search among few given items is exact at any size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 150_000
DIRECTIONS = 128
CANDIDATES = 1_000
_SHARE = 0.15  # of the vectors, so many are met by their sketch, but not fewer than:
_LEAST = 20_000
_SAMPLE = 24_000  # vectors that directions and centres are found from
_CENTRES = 1_024
_ROUNDS = 6

Array = NDArray[Any]


@dataclass(slots=True)
class _Cells:
    """The first `count` rows by cell: their order, where each cell starts, and their sketches."""

    count: int
    directions: Array
    centres: Array
    order: Array
    starts: Array
    sketch: Array


class Index:
    """Vectors by item number; an item may have several. Kept as 16-bit floats beyond `exact`."""

    def __init__(self, exact: int = EXACT) -> None:
        self._exact = exact
        self._items: Array = np.zeros(0, dtype=np.int64)  # -1 where the item was dropped
        self._vectors: Array = np.zeros((0, 0), dtype=np.float32)
        self._tail: Array = np.zeros((0, DIRECTIONS), dtype=np.float32)  # sketches after the cells
        self._sorted: Array = np.zeros(0, dtype=np.int64)  # rows by item, of the first so many
        self._cells: _Cells | None = None
        self._count = 0
        self._dropped = 0

    def __len__(self) -> int:
        return self._count - self._dropped

    def add(self, items: Sequence[int], data: Sequence[bytes]) -> None:
        """Adds vectors as they are kept: little-endian 16-bit floats of one width."""
        new = np.frombuffer(b"".join(data), dtype="<f2").reshape(len(items), -1)
        start, self._count = self._count, self._count + len(items)
        if self._count > len(self._items):
            self._grow(new.shape[1])
        self._items[start : self._count] = items
        self._vectors[start : self._count] = new
        if self._count > self._exact:
            if self._cells is None or self._count - self._cells.count > self._count // 8:
                self._make_cells()
            else:
                fresh = new.astype(np.float32) @ self._cells.directions
                self._tail = np.concatenate([self._tail, fresh])

    def drop(self, items: Collection[int]) -> None:
        """Removes the vectors of these items."""
        rows = self._rows_of(items)
        self._items[rows] = -1
        self._dropped += len(rows)
        self._sorted = self._sorted[:0]

    def search(
        self, vector: Array, k: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Up to `k` (item, inner product), the best first, each item once by its best vector."""
        if not self._count or k < 1:
            return []
        vector = np.asarray(vector, dtype=np.float32)
        rows = self._candidates(vector, 8 * k) if among is None else self._rows_of(among)
        if among is not None and self._cells is not None and len(rows) > _LEAST:
            rows = np.intersect1d(rows, self._candidates(vector, 8 * k, share=4 * _SHARE))
        scores = self._vectors[rows].astype(np.float32) @ vector
        best: dict[int, float] = {}
        for at in np.argsort(-scores, kind="stable"):
            item = int(self._items[rows[at]])
            if item >= 0 and item not in best:
                best[item] = float(scores[at])
                if len(best) == k:
                    break
        return list(best.items())

    def _candidates(self, vector: Array, wanted: int, share: float = _SHARE) -> Array:
        """Rows that hold the best: the `wanted` best themselves, or more by their sketch."""
        if self._cells is None:
            scores = self._vectors[: self._count] @ vector
            return _top(scores, wanted + self._dropped)
        cells, small = self._cells, vector @ self._cells.directions
        left = max(_LEAST, int(share * cells.count))
        chosen: list[Array] = []
        sketched: list[Array] = []
        for cell in np.argsort(-(cells.centres @ small)):
            a, b = cells.starts[cell], cells.starts[cell + 1]
            chosen.append(cells.order[a:b])
            sketched.append(cells.sketch[a:b] @ small)
            left -= b - a
            if left <= 0:
                break
        chosen.append(np.arange(cells.count, self._count))
        sketched.append(self._tail @ small)
        best = _top(np.concatenate(sketched), max(CANDIDATES, wanted) + self._dropped)
        return np.asarray(np.concatenate(chosen)[best])

    def _rows_of(self, items: Collection[int]) -> Array:
        """The rows of these items, in order."""
        if self._count - len(self._sorted) > max(4_096, self._count // 8):
            self._sorted = np.argsort(self._items[: self._count], kind="stable")
        wanted = np.unique(np.fromiter(items, np.int64, len(items)))
        known, done = self._items[self._sorted], len(self._sorted)
        lows, highs = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
        spans = [self._sorted[a:b] for a, b in zip(lows, highs, strict=True) if a < b]
        late = done + np.flatnonzero(np.isin(self._items[done : self._count], wanted))
        return np.sort(np.concatenate([*spans, late]).astype(np.int64))

    def _grow(self, width: int) -> None:
        """Makes room for half as much again."""
        room = max(1_024, self._count + self._count // 2)
        kind = np.float16 if self._count > self._exact else np.float32
        items, vectors = self._items, self._vectors
        self._items = np.full(room, -1, dtype=np.int64)
        self._items[: len(items)] = items
        self._vectors = np.zeros((room, width), dtype=kind)
        if len(vectors):
            self._vectors[: len(vectors)] = vectors

    def _make_cells(self) -> None:
        """Finds directions and centres from some of the vectors, and puts all into cells."""
        count = self._count
        self._vectors = self._vectors.astype(np.float16, copy=False)
        some = self._vectors[: count : max(1, count // _SAMPLE)].astype(np.float32)
        values, directions = np.linalg.eigh(some.T @ some)
        directions = np.ascontiguousarray(
            directions[:, np.argsort(values)[::-1][:DIRECTIONS]], dtype=np.float32
        )
        centres = _centres(some @ directions)
        sketch = np.empty((count, directions.shape[1]), dtype=np.float32)
        cell = np.empty(count, dtype=np.int32)
        for at in range(0, count, 8_192):
            stop = min(at + 8_192, count)
            sketch[at:stop] = self._vectors[at:stop].astype(np.float32) @ directions
            cell[at:stop] = _nearest(sketch[at:stop], centres)
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(len(centres) + 1))
        self._cells = _Cells(count, directions, centres, order, starts, sketch[order])
        self._tail = np.zeros((0, directions.shape[1]), dtype=np.float32)


def _centres(some: Array) -> Array:
    """Centres of as many groups as the vectors allow, found in a few rounds from a fixed start."""
    many = max(1, min(_CENTRES, len(some) // 8))
    centres: Array = some[np.linspace(0, len(some) - 1, many).astype(int)].copy()
    for _ in range(_ROUNDS):
        cell = _nearest(some, centres)
        sizes = np.bincount(cell, minlength=many)
        order = np.argsort(cell, kind="stable")
        held = np.flatnonzero(sizes)
        firsts = np.searchsorted(cell[order], held)
        centres[held] = np.add.reduceat(some[order], firsts) / sizes[held, None]
    return centres


def _nearest(vectors: Array, centres: Array) -> Array:
    half = 0.5 * (centres * centres).sum(axis=1)
    cell: Array = (vectors @ centres.T - half).argmax(axis=1)
    return cell


def _top(scores: Array, wanted: int) -> Array:
    if wanted >= len(scores):
        return np.arange(len(scores))
    return np.asarray(np.argpartition(scores, -wanted)[-wanted:])
