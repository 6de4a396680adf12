"""Changes that several threads want at the same time, in one transaction.

Making a transaction durable takes the disk some milliseconds, whatever is in it. Who comes while
another one is being written waits, and the first of those writes for all of them. Invariant:
whoever returns from `write` has its change on disk.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

Change = Callable[[sqlite3.Connection], None]


@dataclass(slots=True, eq=False)
class _Wanted:
    change: Change
    done: bool = False
    error: BaseException | None = None


class Together:
    """Writes changes in the transactions that `writing` opens."""

    def __init__(self, writing: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._writing = writing
        self._guard = threading.Lock()
        self._turn = threading.Lock()
        self._waiting: list[_Wanted] = []

    def write(self, change: Change) -> None:
        """Makes the change, durably.

        Raises:
            Error: the transaction failed; none of its changes was made.
        """
        wanted = _Wanted(change)
        with self._guard:
            self._waiting.append(wanted)
        with self._turn:
            if not wanted.done:
                self._write_all()
        if wanted.error is not None:
            raise wanted.error

    def _write_all(self) -> None:
        with self._guard:
            batch, self._waiting = self._waiting, []
        try:
            with self._writing() as db:
                for wanted in batch:
                    wanted.change(db)
        except BaseException as error:
            for wanted in batch:
                wanted.error = error
            raise
        finally:
            for wanted in batch:
                wanted.done = True
