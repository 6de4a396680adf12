"""Folders and patterns as the sources they stand for, in the order of their names.

A repository is one source, wherever it lies; of any other folder every file is one.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from reread.documents.repository import is_repository
from reread.errors import SourceNotFound

_LEFT_BY_PROGRAMS = frozenset({"Thumbs.db", "desktop.ini", "__pycache__"})


def expand(source: str) -> list[str]:
    """The sources in a folder or behind a pattern such as `notes/**/*.md`; else the source itself.

    Hidden files are left out, links to folders are not followed.

    Raises:
        SourceNotFound: the folder holds no file, or nothing matches the pattern.
    """
    if not source.strip():
        return [source]
    path = Path(source).expanduser() if source.startswith("~") else Path(source)
    try:
        if path.is_dir():
            found = sorted(_sources(path))
        elif path.exists() or not glob.has_magic(source):
            return [source]
        else:
            found = [
                f for match in sorted(glob.glob(str(path), recursive=True)) for f in _at(match)
            ]
            if not found and "://" in source:  # addresses may hold a question mark
                return [source]
    except (OSError, ValueError):  # a name too long, or with a zero byte
        return [source]
    if not found:
        what = (
            f"the folder {source} holds no file" if path.is_dir() else f"no file matches {source}"
        )
        raise SourceNotFound(what, hint="Hidden files are left out; name them to read them")
    return list(dict.fromkeys(found))


def _at(match: str) -> list[str]:
    return sorted(_sources(Path(match))) if Path(match).is_dir() else [match]


def _sources(folder: Path) -> Iterator[str]:
    for where, inner, names in os.walk(folder):
        if is_repository(Path(where)):
            inner.clear()
            yield where
            continue
        inner[:] = [n for n in inner if not n.startswith(".") and n not in _LEFT_BY_PROGRAMS]
        for name in names:
            if not name.startswith((".", "~$")) and name not in _LEFT_BY_PROGRAMS:
                yield str(Path(where) / name)
