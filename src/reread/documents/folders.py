"""Folders and patterns as the files they stand for, in the order of their names."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from reread.errors import SourceNotFound

_LEFT_BY_PROGRAMS = frozenset({"Thumbs.db", "desktop.ini"})


def expand(source: str) -> list[str]:
    """The files in a folder or behind a pattern such as `notes/**/*.md`; else the source itself.

    Hidden files are left out, links to folders are not followed.

    Raises:
        SourceNotFound: the folder holds no file, or nothing matches the pattern.
    """
    path = Path(source).expanduser() if source.startswith("~") else Path(source)
    try:
        if path.is_dir():
            found = sorted(_files(path))
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
    return sorted(_files(Path(match))) if Path(match).is_dir() else [match]


def _files(folder: Path) -> Iterator[str]:
    for where, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            if not name.startswith((".", "~$")) and name not in _LEFT_BY_PROGRAMS:
                yield str(Path(where) / name)
