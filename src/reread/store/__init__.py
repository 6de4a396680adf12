"""The library: one SQLite file that holds documents, every validated call, and memories.

Invariant: what a method has returned from is on disk. Writers queue, readers never wait for them,
and what is removed is overwritten in the file.

The standard library's `sqlite3` and not SQLAlchemy: one engine, a dozen statements, and opening a
library costs 2 ms instead of the 200 ms that importing an object mapper takes.
"""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reread.errors import LibraryError
from reread.store import books, values
from reread.store.books import DocumentCalls, StoredFacts, safe
from reread.store.changes import erase_document, number_of, tell
from reread.store.items import Items
from reread.store.opening import connect
from reread.store.questions import Questions
from reread.store.schema import MIGRATIONS
from reread.store.together import Together
from reread.store.vectors import KeptVectors
from reread.store.versions import carry
from reread.types import Call, Completion, Document, GistMemory, Work

_log = logging.getLogger(__name__)

# What was asked of several documents goes with any of them; what it cost stays with the first.
_ABOUT_SEVERAL = tuple(
    f"{change} IN (SELECT name FROM about WHERE document_id = ?)"  # noqa: S608 - all our own
    for change in (
        "DELETE FROM asked WHERE key",
        "DELETE FROM comparisons WHERE id",
        "UPDATE ledger SET question = '' WHERE question IS NOT NULL AND work",
    )
)
_WAIT_S = 60.0  # how long a writer waits for its turn


class Store:
    """An open library file. Opening makes the file and its tables where they are missing.

    One on a medium that cannot be written is read; whatever would write it raises.

    Raises:
        LibraryError: the file cannot be opened, read or written, from every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items, self.vectors, self.questions = Items(self), KeptVectors(self), Questions(self)
        self._lock = threading.RLock()
        self._together = Together(self._writing)
        with self._told():
            self._db, writable = connect(path)
            try:
                _patiently(self._prepare)
                self._migrate()
                # died, or was disturbed, while forgetting
                if writable and self._one("PRAGMA user_version")[0]:
                    self._shred()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Closes the file; everything written is already there."""
        with self._lock:
            self._db.close()

    # -- documents ------------------------------------------------------------------------------

    def add_document(self, document: Document) -> bool:
        """Keeps the document and the name it came by; False when its content was known before."""
        now = _now()
        with self._writing() as db:
            known = db.execute("SELECT 1 FROM documents WHERE id = ?", (document.id,)).fetchone()
            if not known:
                db.execute(
                    "INSERT INTO documents VALUES (?,?,?,?,?,?,?,?,?,?)",
                    safe(
                        document.id,
                        document.title,
                        document.text,
                        _dump([[p.start, p.end, p.kind, p.locator] for p in document.paragraphs]),
                        document.origin,
                        document.media_type,
                        _dump(asdict(document.coverage)),
                        document.references,
                        document.words,
                        now,
                    ),
                )
            db.execute(
                "INSERT INTO aliases VALUES (?,?,?) ON CONFLICT(origin) DO UPDATE SET "
                "document_id = excluded.document_id, at = excluded.at",
                safe(document.origin, document.id, now),
            )
            db.execute(
                "INSERT OR REPLACE INTO versions VALUES (?,?,?)",
                safe(document.origin, document.id, now),
            )
            carry(db, str(*safe(document.origin)))
        return not known

    def document(self, document_id: str) -> Document | None:
        """The document with this id, None when there is none."""
        row = self._one("SELECT * FROM documents WHERE id = ?", document_id)
        return values.document(row) if row else None

    def find(self, words: str) -> list[tuple[str, str]]:
        """(id, title) of the documents meant: by id or its beginning, then title, then origin."""
        rows = [
            (r[0], r[1]) for r in self._all("SELECT id, title FROM documents ORDER BY added_at")
        ]
        lowered = words.casefold()
        tries = (
            [r for r in rows if r[0] == words],
            [r for r in rows if len(words) >= 4 and r[0].startswith(words)],
            [r for r in rows if r[1].casefold() == lowered],
            self.by_origin(words),
            [r for r in rows if lowered and lowered in r[1].casefold()],
        )
        return next((found for found in tries if found), [])

    def origins(self, document_id: str) -> list[str]:
        """The names that a document's content came by, sorted."""
        rows = self._all(
            "SELECT origin FROM aliases WHERE document_id = ? ORDER BY origin", document_id
        )
        return [origin for (origin,) in rows]

    def by_origin(self, origin: str) -> list[tuple[str, str]]:
        """(id, title) of the document that this name stands for now, if there is one."""
        return self._all(
            "SELECT d.id, d.title FROM aliases a JOIN documents d ON d.id = a.document_id "
            "WHERE a.origin = ?",
            origin,
        )

    def versions(self, origin: str) -> list[str]:
        """The ids of all documents that this name stood for, the newest first."""
        rows = self._all(
            "SELECT document_id FROM versions WHERE origin = ? ORDER BY at DESC", origin
        )
        return [document_id for (document_id,) in rows]

    def extends(self, document: Document) -> bool:
        """Whether the document goes on from one that its name stood for before."""
        before = [i for i in self.versions(document.origin) if i != document.id]
        if document.origin == "-" or not before:  # standard input may be anything
            return False
        row = self._one(
            "WITH before AS (SELECT rtrim(text, char(32, 9, 10, 13)) AS text FROM documents "
            "WHERE id IN (?,?)) SELECT 1 FROM before WHERE text != '' "
            "AND substr(?, 1, length(text)) = text",
            *safe(before[0], before[-1], document.text),
        )
        return row is not None

    def replaced(self) -> set[str]:
        """The documents that no name stands for any more, as all stand for others that were read.

        What came by standard input is never replaced.
        """
        rows = self._all(
            "SELECT d.id FROM documents d WHERE d.origin != '-' "
            "AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.document_id = d.id) "
            "AND EXISTS (SELECT 1 FROM versions v JOIN aliases a ON a.origin = v.origin "
            "JOIN memories m ON m.document_id = a.document_id WHERE v.document_id = d.id)"
        )
        return {document_id for (document_id,) in rows}

    def overview(self) -> list[dict[str, Any]]:
        """One entry a document, in the order they came: id, title, words, origins, memories."""
        rows = self._all(
            "SELECT d.id, d.title, d.words, d.media_type, d.added_at, "
            "(SELECT json_group_array(origin) FROM aliases a WHERE a.document_id = d.id), "
            "(SELECT json_group_array(json_object('model', m.model, 'pages', "
            "json_array_length(m.pages))) FROM memories m WHERE m.document_id = d.id) "
            "FROM documents d ORDER BY d.added_at, d.id"
        )
        keys = ("id", "title", "words", "media_type", "added_at", "origins", "memories")
        return [
            dict(zip(keys, (*r[:5], json.loads(r[5]), json.loads(r[6])), strict=True)) for r in rows
        ]

    def remove(self, document_id: str) -> bool:
        """Removes the document and all that rests on it; False when it was not there."""
        with self._writing() as db:
            db.execute(
                "DELETE FROM calls WHERE key IN (SELECT key FROM shared WHERE document_id = ?)",
                (document_id,),
            )
            for statement in _ABOUT_SEVERAL:
                db.execute(statement, (document_id,))
            gone = db.execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount
            erase_document(db, document_id)  # afterwards: what it said, nothing says any more
            self._to_shred()
        self._shred()
        return bool(gone)

    def _to_shred(self) -> None:
        """Notes, in the transaction that removes something, that `_shred` has to follow."""
        self._db.execute("PRAGMA user_version = 1")

    def _shred(self) -> None:
        """Leaves nothing of what was removed in the write-ahead log.

        If it is being read, or we die before, whoever opens the file next does it.
        """
        with self._told():
            if not _patiently(self._empty_log, wait_s=5.0):
                _log.warning("%s is being read; what was removed leaves it afterwards", self.path)
                return
        with self._writing() as db:
            db.execute("PRAGMA user_version = 0")

    def _empty_log(self) -> bool:
        """Whether the write-ahead log, which may hold removed text, could be emptied."""
        with self._lock:
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy

    # -- calls ----------------------------------------------------------------------------------

    def calls(
        self, document_id: str, question: str | None = None, others: Sequence[str] = ()
    ) -> DocumentCalls:
        """The remembered calls about one document, for a reading or a question about it.

        `others` are further documents the calls hold text of: removing one removes the calls.
        """
        return DocumentCalls(self, document_id, question, tuple(others), _now)

    def ledger(self, document_id: str) -> list[Work]:
        """What was done with a document and what it took, in the order it began."""
        return books.ledger(self, document_id)

    def facts(self, about: str) -> StoredFacts:
        """What is known of the model with this name and endpoint."""
        return StoredFacts(self, about, _now)

    def get_call(self, key: str) -> Completion | None:
        """The remembered reply, None when there is none."""
        row = self._one(
            "SELECT text, prompt_tokens, completion_tokens, seconds FROM calls WHERE key = ?", key
        )
        if row is None:
            return None
        return Completion(
            text=row[0], prompt_tokens=row[1], completion_tokens=row[2], seconds=row[3]
        )

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
    ) -> None:
        """Remembers a validated reply and enters it in the ledger, both or neither.

        A document removed meanwhile takes them along, be it one of the others. A reply that was
        made with a thought that is forgotten by now is not kept.
        """

        def write(db: sqlite3.Connection) -> None:
            enter(db)
            for other in others:
                if not db.execute("SELECT 1 FROM documents WHERE id = ?", (other,)).fetchone():
                    return
            numbers = [n for i in told if (n := number_of(db, i)) is not None]
            if len(numbers) < len(told):
                return
            tell(db, numbers, [key])
            db.execute(
                "INSERT OR REPLACE INTO calls SELECT ?,id,?,?,?,?,?,?,? FROM documents "
                "WHERE id = ?",
                safe(
                    key,
                    model,
                    str(call.prompt),
                    done.text,
                    done.prompt_tokens,
                    done.completion_tokens,
                    done.seconds,
                    _now(),
                    document_id,
                ),
            )
            db.executemany(
                "INSERT OR IGNORE INTO shared SELECT key, ? FROM calls WHERE key = ?",
                [(other, key) for other in others],
            )

        self._together.write(write)

    # -- memories -------------------------------------------------------------------------------

    def put_memory(self, key: str, memory: GistMemory) -> None:
        """Keeps a finished memory under its key, replacing one with the same key."""
        with self._writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO memories SELECT ?,id,?,?,?,?,?,?,?,?,?,? FROM documents "
                "WHERE id = ?",
                safe(
                    key,
                    memory.model,
                    _dump(asdict(memory.settings)),
                    _dump(memory.prompts),
                    _dump([[p.start, p.end, p.fallback] for p in memory.pages]),
                    _dump(memory.gists),
                    _dump([asdict(f) for f in memory.fallbacks]),
                    _dump(asdict(memory.usage)),
                    _now(),
                    _dump([[[s.first, s.last, s.gist] for s in lv] for lv in memory.levels]),
                    _dump([[w.page, w.kind, w.text] for w in memory.warnings]),
                    memory.document.id,
                ),
            )

    def memory(self, key: str, document: Document) -> GistMemory | None:
        """The memory with this key, None when it was never finished."""
        row = self._one("SELECT * FROM memories WHERE key = ?", key)
        return values.memory(row, document) if row else None

    def memories(self, document: Document) -> list[GistMemory]:
        """All memories of the document, the newest first."""
        rows = self._all(
            "SELECT * FROM memories WHERE document_id = ? ORDER BY at DESC", document.id
        )
        return [values.memory(row, document) for row in rows]

    def gists(self) -> dict[str, str]:
        """The gists of the newest memory of each document, as one text, by the document's id."""
        rows = self._all("SELECT document_id, gists FROM memories ORDER BY at")
        return {document_id: "\n".join(json.loads(gists)) for document_id, gists in rows}

    # -- the file -------------------------------------------------------------------------------

    def _prepare(self) -> bool:
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if tables and "migrations" not in tables:
            raise LibraryError(
                f"the library {self.path} cannot be used: it is another program's database",
                hint="Choose another file with --library",
            )
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("PRAGMA secure_delete=ON")
        return True

    def _migrate(self) -> None:
        """Brings the tables up to date; a library that is needs no turn to write."""
        if self._missing():
            with self._writing() as db:
                db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT)")
                for name, statements in self._missing():
                    for statement in statements.split(";"):
                        db.execute(statement)
                    db.execute("INSERT INTO migrations VALUES (?,?)", (name, _now()))

    def _missing(self) -> list[tuple[str, str]]:
        """The migrations not applied yet, in order.

        Raises:
            LibraryError: the file has some that this version does not know.
        """
        if not self._one("SELECT 1 FROM sqlite_master WHERE name = 'migrations'"):
            return list(MIGRATIONS)
        done = {name for (name,) in self._all("SELECT name FROM migrations")}
        if unknown := done - {name for name, _ in MIGRATIONS}:
            raise LibraryError(
                f"{self.path} was made by a newer reread ({', '.join(sorted(unknown))})",
                hint="Upgrade reread, or choose another file with --library",
            )
        return [(name, statements) for name, statements in MIGRATIONS if name not in done]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk afterwards, or nothing."""
        with self._told():
            _patiently(self._begin)
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._lock.release()

    def _begin(self) -> bool:
        """Takes the turn to write, and with it our lock; neither is kept when it fails."""
        self._lock.acquire()
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._lock.release()
            raise
        return True

    def _one(self, statement: str, *values: object) -> Any:
        with self._told(), self._lock:
            return self._db.execute(statement, safe(*values)).fetchone()

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._told(), self._lock:
            return self._db.execute(statement, safe(*values)).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Failures of the file as one line that says what and how to mend it."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise _failure(self.path, error) from error


def _patiently(attempt: Callable[[], bool], wait_s: float = _WAIT_S) -> bool:
    """Tries until it succeeds, the file staying busy for `wait_s` at most.

    The waiting is done here and not in SQLite, so that Ctrl-C ends it and other threads go on.
    """
    give_up = time.monotonic() + wait_s
    while True:
        late = time.monotonic() > give_up
        try:
            if attempt():
                return True
            if late:
                return False
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or late:
                raise
        time.sleep(random.uniform(0.005, 0.03))  # noqa: S311


def _failure(path: Path, error: Exception) -> LibraryError:
    text = str(error).lower()
    reasons = (
        (("full", "no space"), "the disk is full", "Free some space; finished work is kept"),
        (
            ("readonly", "read-only", "permission", "unable to open"),
            "it cannot be written",
            "Choose another place with --library or REREAD_HOME",
        ),
        (
            ("disk i/o error",),
            "reading or writing it failed",
            "Check that the disk is neither full nor damaged; finished work is kept",
        ),
        (
            ("not a database", "malformed"),
            "it is not a library, or it is damaged",
            "Choose another file with --library",
        ),
        (("locked", "busy"), "another process holds it", "Try again when that one is done"),
        (
            ("file exists", "not a directory", "is a directory"),
            "its folder cannot be made",
            "Choose another place with --library or REREAD_HOME",
        ),
    )
    for marks, reason, hint in reasons:
        if any(mark in text for mark in marks):
            return LibraryError(f"the library {path} cannot be used: {reason}", hint=hint)
    return LibraryError(f"the library {path} cannot be used: {error}")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
