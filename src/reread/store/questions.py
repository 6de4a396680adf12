"""What was asked and answered with thoughts, and the answers that were compared.

A question that was asked before is answered again with the thoughts it was answered with then, so
every call it makes is a kept one. Nothing here outlives a thought that it was made with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reread.store.changes import drop_calls, number_of, put_about, tell
from reread.store.rows import now

if TYPE_CHECKING:
    from reread.store import Store


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was put first, and the ids of the thoughts used and of the one it left."""

    question: str
    used: tuple[str, ...]
    kept: str | None


class Questions:
    """The questions and comparisons of an open library file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def asked(self, key: str) -> Asked | None:
        """How a question was answered before, None when it was not."""
        row = self._store._one("SELECT question, used, kept FROM asked WHERE key = ?", key)
        return Asked(row[0], tuple(json.loads(row[1])), row[2]) if row else None

    def put_asked(
        self, key: str, documents: Sequence[str], asked: Asked, keys: Sequence[str]
    ) -> None:
        """Records it, and that the calls with these `keys` told of the thoughts used.

        Removing one of the documents that were asked removes it.
        """
        with self._store._writing() as db:
            numbers = [n for i in asked.used if (n := number_of(db, i)) is not None]
            if len(numbers) < len(asked.used):  # forgotten while the answer was made
                drop_calls(db, keys)
                return
            tell(db, numbers, keys)
            if put_about(db, key, documents):
                db.execute(
                    "INSERT OR REPLACE INTO asked VALUES (?,?,?,?,?,?)",
                    (key, documents[0], asked.question, json.dumps(asked.used), asked.kept, now()),
                )

    def put_comparison(self, comparison_id: str, documents: Sequence[str], record: object) -> None:
        """Keeps two answers to one question about these documents, until one is removed."""
        with self._store._writing() as db:
            if put_about(db, comparison_id, documents):
                db.execute(
                    "INSERT OR REPLACE INTO comparisons VALUES (?,?,?,NULL,?)",
                    (comparison_id, documents[0], json.dumps(record, ensure_ascii=False), now()),
                )

    def vote(self, comparison_id: str, vote: str) -> bool:
        """Records the vote; False when there is no such comparison."""
        with self._store._writing() as db:
            values = (vote, comparison_id)
            done = db.execute("UPDATE comparisons SET vote = ? WHERE id = ?", values)
            return bool(done.rowcount)

    def comparisons(self) -> list[dict[str, Any]]:
        """All comparisons in the order they were made, each with its `id` and `vote`."""
        rows = self._store._all("SELECT id, record, vote FROM comparisons ORDER BY at, id")
        return [{**json.loads(record), "id": i, "vote": vote} for i, record, vote in rows]
