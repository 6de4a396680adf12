"""Vectors of items, kept by embedder: those of different embedders never meet.

What is erased loses its vectors with it, since a vector tells of its text.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from reread.ports import Vectors
from reread.store.rows import listed

if TYPE_CHECKING:
    from reread.store import Store


class KeptVectors:
    """The vectors of an open library file (`ports.VectorStore`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def vectors(self, embedder: str, after: int, most: int) -> Vectors:
        rows = self._store._all(
            "SELECT v.number, v.item, v.vector FROM vectors v JOIN embedders e ON "
            "e.number = v.embedder WHERE e.name = ? AND v.number > ? ORDER BY v.number LIMIT ?",
            embedder,
            after,
            most,
        )
        last = rows[-1][0] if rows else after
        newest = self._store._one("SELECT MAX(number) FROM vectors")[0] or 0
        return Vectors(
            items=[r[1] for r in rows],
            data=[r[2] for r in rows],
            last=last,
            more=max(0, newest - last),
        )

    def put_vectors(self, embedder: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
        with self._store._writing() as db:
            put_vectors(db, embedder, rows)

    def with_vectors(self, embedder: str, items: Sequence[int]) -> set[int]:
        rows = self._store._all(
            "SELECT DISTINCT item FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "WHERE e.name = ? AND item IN (SELECT value FROM json_each(?))",
            embedder,
            listed(items),
        )
        return {item for (item,) in rows}

    def without_vectors(self, embedder: str) -> list[tuple[int, str]]:
        return self._store._all(
            "SELECT number, text FROM items WHERE kind = 'thought' AND NOT EXISTS (SELECT 1 FROM "
            "vectors v JOIN embedders e ON e.number = v.embedder WHERE v.item = items.number "
            "AND e.name = ?) ORDER BY number",
            embedder,
        )

    def width(self, embedder: str) -> int | None:
        row = self._store._one(
            "SELECT length(vector) / 2 FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "WHERE e.name = ? LIMIT 1",
            embedder,
        )
        return int(row[0]) if row else None

    def existing(self, items: Collection[int]) -> set[int]:
        rows = self._store._all(
            "SELECT number FROM items WHERE number IN (SELECT value FROM json_each(?))",
            listed(items),
        )
        return {number for (number,) in rows}

    def calibration(self, embedder: str) -> dict[str, Any] | None:
        row = self._store._one("SELECT calibration FROM embedders WHERE name = ?", embedder)
        return dict(json.loads(row[0])) if row and row[0] else None

    def put_calibration(self, embedder: str, calibration: dict[str, Any]) -> None:
        with self._store._writing() as db:
            number = _embedder(db, embedder)
            values = (json.dumps(calibration), number)
            db.execute("UPDATE embedders SET calibration = ? WHERE number = ?", values)

    def sample(self, most: int) -> list[str]:
        rows = self._store._all(
            "SELECT p.item, p.document_id, p.start, p.end FROM places p "
            "JOIN items i ON i.number = p.item GROUP BY p.item ORDER BY i.id LIMIT ?",
            most,
        )
        text = dict(self._cut(rows))
        return [text[row[0]] for row in rows if row[0] in text]

    def texts(self, among: Collection[int] | None) -> list[tuple[int, str]]:
        chosen = None if among is None else listed(among)
        pages = self._store._all(
            "SELECT item, document_id, start, end FROM places "
            "WHERE ?1 IS NULL OR item IN (SELECT value FROM json_each(?1)) GROUP BY item",
            chosen,
        )
        others = self._store._all(
            "SELECT number, text FROM items WHERE kind != 'page' "
            "AND (?1 IS NULL OR number IN (SELECT value FROM json_each(?1)))",
            chosen,
        )
        return sorted([*self._cut(pages), *others])

    def _cut(self, places: Sequence[tuple[int, str, int, int]]) -> Iterator[tuple[int, str]]:
        """(item, text) of these (item, document, start, end); each document is read once."""
        by_document = sorted(places, key=lambda place: place[1])
        for document, found in itertools.groupby(by_document, key=lambda place: place[1]):
            row = self._store._one("SELECT text FROM documents WHERE id = ?", document)
            for item, _, start, end in found if row else ():
                yield item, row[0][start:end]


def put_vectors(db: Connection, embedder: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
    """Keeps (item, part, vector) of items that are still there."""
    if rows:
        number = _embedder(db, embedder)
        db.executemany(
            "INSERT OR IGNORE INTO vectors (item, embedder, part, vector) "
            "SELECT number, ?, ?, ? FROM items WHERE number = ?",
            [(number, part, vector, item) for item, part, vector in rows],
        )


def _embedder(db: Connection, name: str) -> int:
    db.execute("INSERT OR IGNORE INTO embedders (name) VALUES (?)", (name,))
    return int(db.execute("SELECT number FROM embedders WHERE name = ?", (name,)).fetchone()[0])
