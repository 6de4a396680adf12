"""What the library keeps beside documents and memories: a ledger of paid calls, and facts.

A paid call enters the ledger in the same transaction that keeps its reply, so what was spent is
known after a crash too. Facts are what is known of models; they hold nothing of any document.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import Any, Protocol

from reread.store.changes import put_about
from reread.types import Call, Completion, Usage, Work

_SURROGATE = re.compile("[\ud800-\udfff]")  # no file and no wire can carry one alone
_COUNTED = tuple(f.name for f in fields(Usage) if f.name != "phases")


class Tables(Protocol):
    """What of the store is used here."""

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]: ...
    def _one(self, statement: str, *values: object) -> Any: ...
    def _all(self, statement: str, *values: object) -> list[Any]: ...
    def get_call(self, key: str) -> Completion | None: ...
    def put_call(
        self,
        document_id: str,
        key: str,
        call: Call,
        model: str,
        done: Completion,
        enter: Callable[[sqlite3.Connection], None],
        others: Sequence[str] = (),
        told: Sequence[str] = (),
    ) -> None: ...


class DocumentCalls:
    """The calls of one piece of work on a document (`ports.CallCache`); removing it removes them.

    `question` is what was asked, None for a reading. `others` are further documents it is about.
    """

    def __init__(
        self,
        store: Tables,
        document_id: str,
        question: str | None,
        others: tuple[str, ...],
        now: Callable[[], str],
    ) -> None:
        self._store = store
        self._document_id = document_id
        self._question = question
        self._others = others
        self._now = now
        self._work = uuid.uuid4().hex
        self._hits = 0
        self.keys: dict[str, None] = {}  # those that were asked for, in order
        self._told: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def tell(self, thought_ids: Sequence[str]) -> None:
        """From now on the calls are shown these thoughts, and replies may repeat them."""
        self._told = tuple(thought_ids)

    def get(self, key: str) -> Completion | None:
        """The remembered reply, None when there is none."""
        known = self._store.get_call(key)
        with self._lock:
            self.keys[key] = None
            self._hits += known is not None
        return known

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None:
        """Keeps a reply and enters what it cost."""
        used = Usage.of(call, completion)
        self._store.put_call(
            self._document_id,
            key,
            call,
            model,
            completion,
            lambda db: self._enter(db, model, used),
            self._others,
            self._told,
        )

    def refused(self, call: Call, model: str, completion: Completion) -> None:
        """Enters what a reply cost that is not kept."""
        with self._store._writing() as db:
            self._enter(db, model, Usage.of(call, completion))

    def finish(self, model: str) -> None:
        """Enters how many calls were answered from the library, once the work is done."""
        with self._lock:
            hits, self._hits = self._hits, 0
        if hits:
            with self._store._writing() as db:
                self._enter(db, model, Usage(cached_calls=hits))

    def _enter(self, db: sqlite3.Connection, model: str, used: Usage) -> None:
        question = self._question
        if question and not put_about(db, self._work, [self._document_id, *self._others]):
            question = ""  # one of the documents was removed meanwhile
        values = [getattr(used, name) for name in _COUNTED]
        marks = ",".join("?" * len(values))
        columns = ",".join(_COUNTED)
        db.execute(
            f"INSERT INTO ledger (document_id, work, question, model, at, {columns}) "  # noqa: S608
            f"SELECT id,?,?,?,?,{marks} FROM documents WHERE id = ?",
            safe(self._work, question, model, self._now(), *values, self._document_id),
        )


def ledger(store: Tables, document_id: str) -> list[Work]:
    """What was done with a document and what it took, in the order it began."""
    sums = ",".join(f"SUM({name})" for name in _COUNTED if name != "cost")
    rows = store._all(
        "SELECT question, MAX(model), MIN(at), "  # noqa: S608 - the names are our own
        f"CASE WHEN COUNT(cost) = COUNT(*) THEN SUM(cost) END, {sums} "
        "FROM ledger WHERE document_id = ? GROUP BY work ORDER BY MIN(at)",
        document_id,
    )
    names = ["cost", *(name for name in _COUNTED if name != "cost")]
    return [
        Work(
            question=r[0], model=r[1], at=r[2], usage=Usage(**dict(zip(names, r[3:], strict=True)))
        )
        for r in rows
    ]


class StoredFacts:
    """The facts about one model at its endpoint (`ports.Facts`)."""

    def __init__(self, store: Tables, about: str, now: Callable[[], str]) -> None:
        self._store = store
        self._about = about
        self._now = now

    def get(self, name: str) -> Any:
        """The fact, None when it is not known."""
        row = self._store._one(
            "SELECT value FROM facts WHERE about = ? AND name = ?", self._about, name
        )
        return json.loads(row[0]) if row else None

    def put(self, name: str, value: Any) -> None:
        """Keeps a fact in place of what was known."""
        with self._store._writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO facts VALUES (?,?,?,?)",
                safe(self._about, name, json.dumps(value), self._now()),
            )

    def forget(self) -> None:
        """Forgets everything about the model."""
        with self._store._writing() as db:
            db.execute("DELETE FROM facts WHERE about = ?", (self._about,))


def safe(*values: object) -> tuple[object, ...]:
    """Values as the file can hold them: a lone surrogate becomes U+FFFD."""
    return tuple(_SURROGATE.sub("\ufffd", v) if isinstance(v, str) else v for v in values)
