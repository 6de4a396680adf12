"""Changes of several threads are durable when each returns, with fewer flushes than changes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from reread.store.together import Together


class Writing:
    """Transactions on a file; they can be held up, and fail."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.execute("CREATE TABLE t (n INTEGER)")
        self.count = 0
        self.held = threading.Event()
        self.held.set()
        self.fails = False

    @contextmanager
    def __call__(self) -> Iterator[sqlite3.Connection]:
        self.count += 1
        self.held.wait(5)
        self.db.execute("BEGIN")
        yield self.db
        self.db.execute("ROLLBACK" if self.fails else "COMMIT")
        if self.fails:
            raise OSError("the disk is full")


def insert(n: int, together: Together, path: Path) -> bool:
    """Whether the change is on disk when the write returns, as another connection sees it."""
    together.write(lambda db: db.executemany("INSERT INTO t VALUES (?)", [(n,)]).close())
    with sqlite3.connect(path) as other:
        return bool(other.execute("SELECT 1 FROM t WHERE n = ?", (n,)).fetchone())


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_one_after_the_other_each_has_its_transaction(tmp_path: Path) -> None:
    writing = Writing(tmp_path / "a.db")
    together = Together(writing)
    assert all(insert(n, together, tmp_path / "a.db") for n in range(5))
    assert writing.count == 5


def test_who_comes_meanwhile_is_written_together(tmp_path: Path) -> None:
    writing = Writing(tmp_path / "a.db")
    together = Together(writing)
    writing.held.clear()
    with ThreadPoolExecutor(20) as pool:
        done = [pool.submit(insert, 0, together, tmp_path / "a.db")]
        until(lambda: writing.count == 1)
        done += [pool.submit(insert, n, together, tmp_path / "a.db") for n in range(1, 20)]
        until(lambda: len(together._waiting) == 19)
        writing.held.set()
        assert all(d.result(5) for d in done)
    assert writing.count == 2


def test_a_failure_is_told_to_all_whom_it_meets_and_to_no_other(tmp_path: Path) -> None:
    writing = Writing(tmp_path / "a.db")
    together = Together(writing)
    writing.fails = True
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(insert, n, together, tmp_path / "a.db") for n in range(4)]
        for d in done:
            with pytest.raises(OSError, match="full"):
                d.result(5)
    writing.fails = False
    assert insert(9, together, tmp_path / "a.db")
    assert writing.db.execute("SELECT n FROM t").fetchall() == [(9,)]
