"""Search among vectors in memory: exact among few, and among many by their signs first.

Up to `EXACT` the query meets every vector. Beyond, it meets one bit of every number of every
vector: whether it is above the average. Of those whose bits differ least from the query's, the
`CANDIDATES` best are scored with the vectors themselves. A million vectors of 384 numbers are 48 MB
of bits, which are met in some milliseconds; making them is one pass, and what is added later costs
itself alone. A vector of few numbers has too few bits to tell it by, and is always met whole.

Cells around centres with projections of the vectors were the way before: ten times the work to
make, made anew as the library grew, and less exact.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 30_000
CANDIDATES = 3_000
_LEAST_WIDTH = 128  # bits, below which they tell too little
_MANY = 4_096  # items, from which on it is quicker to look through all
_BLOCK = 65_536  # vectors at a time: their bits stay in the cache of the processor
_SAMPLE = 20_000  # vectors that the average is taken of

Array = NDArray[Any]


class Index:
    """Vectors by item number; an item may have several. Kept as 16-bit floats beyond `exact`."""

    def __init__(self, exact: int = EXACT, of_length_1: bool = True) -> None:
        self._exact = exact
        self._of_length_1 = of_length_1
        self._items: Array = np.zeros(0, dtype=np.int64)  # -1 where the item was dropped
        self._vectors: Array = np.zeros((0, 0), dtype=np.float32)
        self._bits: Array = np.zeros((0, 0), dtype=np.uint64)  # by 64 numbers, then by row
        self._average: Array | None = None  # of the vectors when the bits were made
        self._averaged = 0  # how many these were
        self._sorted: Array = np.zeros(0, dtype=np.int64)  # rows by item, of the first so many
        self._gone: Array = np.zeros(0, dtype=np.int64)  # rows that were dropped
        self._count = 0

    def __len__(self) -> int:
        return self._count - len(self._gone)

    def add(self, items: Sequence[int], data: Sequence[bytes], more: int = 0) -> None:
        """Adds vectors as they are kept: little-endian 16-bit floats of one width.

        At most `more` are known to follow; room for them is made at once.
        """
        new = np.frombuffer(b"".join(data), dtype="<f2").reshape(len(items), -1)
        start, self._count = self._count, self._count + len(items)
        if self._count > len(self._items):
            self._grow(new.shape[1], more)
        self._items[start : self._count] = items
        self._vectors[start : self._count] = new
        if self._count > self._exact and new.shape[1] >= _LEAST_WIDTH:
            if self._average is None or self._count > 2 * self._averaged:
                some = self._vectors[: self._count : max(1, self._count // _SAMPLE)]
                self._average = _ordered(some.mean(axis=0, dtype=np.float32))
                self._averaged = self._count
                start = 0
            self._make_bits(start)

    def drop(self, items: Collection[int]) -> None:
        """Removes the vectors of these items."""
        rows = self._rows_of(items)
        self._items[rows] = -1
        self._gone = np.concatenate([self._gone, rows])
        self._sorted = self._sorted[:0]

    def search(
        self, vector: Array, k: int, among: Collection[int] | None = None, by_cosine: bool = False
    ) -> list[tuple[int, float]]:
        """Up to `k` (item, score), the best first, each item once by its best vector.

        The score is the inner product; `by_cosine`, for a vector of length 1, that with the others
        brought to length 1, too.
        """
        if not self._count or k < 1:
            return []
        vector = np.asarray(vector, dtype=np.float32)
        rows = None if among is None else self._rows_of(among)
        if self._average is not None and (rows is None or len(rows) > CANDIDATES):
            rows = self._likely(vector, max(CANDIDATES, 8 * k), rows)
        if rows is None:
            scores = self._scores(vector)
            if by_cosine and not self._of_length_1:
                scores = scores / _lengths(self._vectors[: self._count])
            scores[self._gone] = -np.inf
            rows = _top(scores, 8 * k)
            scores = scores[rows]
        else:
            # Not by BLAS: its threads wait longer for a busy processor than so little takes.
            found = self._vectors[rows].astype(np.float32)
            scores = np.einsum("ij,j->i", found, vector)
            if by_cosine and not self._of_length_1:
                scores = scores / _lengths(found)
        best: dict[int, float] = {}
        for at in np.argsort(-scores, kind="stable"):
            item = int(self._items[rows[at]])
            if item >= 0 and item not in best:
                best[item] = float(scores[at])
                if len(best) == k:
                    break
        return list(best.items())

    def _scores(self, vector: Array) -> Array:
        """The inner product with every vector."""
        if self._vectors.dtype == np.float32:
            return np.asarray(self._vectors[: self._count] @ vector)
        parts = (self._vectors[a : a + _BLOCK] for a in range(0, self._count, _BLOCK))
        return np.concatenate([p.astype(np.float32) @ vector for p in parts])[: self._count]

    def _likely(self, vector: Array, wanted: int, among: Array | None) -> Array:
        """The rows, of those `among` where given, whose bits are most like the vector's.

        About `wanted`: from where on to take them is found from a sample.
        """
        differ = self._differing(vector)
        differ[self._gone] = np.iinfo(np.uint16).max
        if among is not None:
            differ = differ[among]
        step = max(1, len(differ) // _BLOCK)
        most = 64 * len(self._bits)
        counts = np.bincount(np.minimum(differ[::step], most + 1), minlength=most + 2)
        last = int(np.searchsorted(np.cumsum(counts) * step, wanted))
        found = np.flatnonzero(differ <= min(last, most))
        if len(found) > 4 * wanted:  # very many are alike
            found = found[np.argpartition(differ[found], wanted)[:wanted]]
        return np.asarray(found if among is None else among[found])

    def _differing(self, vector: Array) -> Array:
        """In how many bits each row differs from the vector."""
        own = self._bits_of(vector[None])[:, 0]
        differ = np.zeros(self._count, dtype=np.uint16)
        room = np.empty(_BLOCK, dtype=np.uint64)
        for a in range(0, self._count, _BLOCK):
            part = differ[a : a + _BLOCK]
            for bits, mine in zip(self._bits, own, strict=True):
                other = np.bitwise_xor(bits[a : a + len(part)], mine, out=room[: len(part)])
                part += np.bitwise_count(other)
        return differ

    def _make_bits(self, start: int) -> None:
        """Makes the bits of all rows from `start` on."""
        width = -(-self._vectors.shape[1] // 64)
        if self._bits.shape != (width, len(self._items)):
            bits = np.zeros((width, len(self._items)), dtype=np.uint64)
            if start:
                bits[:, :start] = self._bits[:, :start]
            self._bits = bits
        for a in range(start, self._count, 8_192):
            b = min(a + 8_192, self._count)
            self._bits[:, a:b] = self._bits_of(self._vectors[a:b])

    def _bits_of(self, vectors: Array) -> Array:
        """Which numbers are above the average, 64 in one, by row in the second axis."""
        packed = np.packbits(_ordered(vectors) > self._average, axis=1)
        whole = np.zeros((len(vectors), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
        whole[:, : packed.shape[1]] = packed
        return whole.view(np.uint64).T

    def _rows_of(self, items: Collection[int]) -> Array:
        """The rows of these items, in order."""
        wanted = np.unique(np.fromiter(items, np.int64, len(items)))
        if len(wanted) > _MANY:
            return np.flatnonzero(np.isin(self._items[: self._count], wanted))
        if self._count - len(self._sorted) > max(4_096, self._count // 8):
            self._sorted = np.argsort(self._items[: self._count], kind="stable")
        known, done = self._items[self._sorted], len(self._sorted)
        lows, highs = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
        spans = [self._sorted[a:b] for a, b in zip(lows, highs, strict=True) if a < b]
        late = done + np.flatnonzero(np.isin(self._items[done : self._count], wanted))
        return np.sort(np.concatenate([*spans, late]).astype(np.int64))

    def _grow(self, width: int, more: int) -> None:
        """Makes room for what is known to follow, and half as much again."""
        room = max(1_024, self._count + more, self._count + self._count // 2)
        kind = np.float16 if self._count + more > self._exact else np.float32
        items, vectors = self._items, self._vectors
        self._items = np.full(room, -1, dtype=np.int64)
        self._items[: len(items)] = items
        self._vectors = np.zeros((room, width), dtype=kind)
        if len(vectors):
            self._vectors[: len(vectors)] = vectors


def _lengths(vectors: Array) -> Array:
    """The length of each vector, and 1 for one without any."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32)
    return np.sqrt(np.where(squares > 0, squares, 1.0))


def _ordered(vectors: Array) -> Array:
    """The numbers as 16-bit integers in the same order, which are compared far quicker."""
    whole = np.ascontiguousarray(vectors, dtype=np.float16).view(np.int16)
    return np.asarray(whole ^ ((whole >> 15) & 0x7FFF))


def _top(scores: Array, wanted: int) -> Array:
    if wanted >= len(scores):
        return np.arange(len(scores))
    return np.asarray(np.argpartition(scores, -wanted)[-wanted:])
