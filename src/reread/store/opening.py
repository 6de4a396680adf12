"""The library file opened: to be written or, where it lies on something that cannot be, to be read.

A file in write-ahead mode needs a place beside it for the index of its log. Where none can be made
SQLite reads the file only when told that nobody changes it (`immutable`), which we say of a medium
that is mounted read-only, or a file that nobody may write, and only where no log is left to read.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

PAUSE_S = 0.25  # the longest wait inside SQLite, which Ctrl-C cannot end


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """A connection to the file, made where it is missing, and whether it can be written.

    Raises:
        sqlite3.Error, OSError: it can be neither written nor read.
    """
    if not path.exists() or not _fixed(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return _connected(str(path)), True
    name = f"{path.absolute().as_uri()}?mode=ro"
    return _connected(name if _log(path) else f"{name}&immutable=1", uri=True), False


def _connected(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        name, timeout=PAUSE_S, check_same_thread=False, isolation_level=None, uri=uri
    )


def _fixed(path: Path) -> bool:
    """Whether nobody can write the file."""
    if hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY:
        return True
    return not os.access(path, os.W_OK) and not path.stat().st_mode & 0o222


def _log(path: Path) -> bool:
    """Whether something was written that is not in the file itself yet."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0
