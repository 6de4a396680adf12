"""The files of a folder as they are found on the disk, and a tally of those that are not read.

Links are never followed. Folders that tools make for themselves are never entered; what git
ignores is not either.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from reread.documents.encodings import decode
from reread.documents.ignore import Rules, ignored
from reread.documents.source import Limits
from reread.errors import SourceNotFound, TooLarge
from reread.text import clean

_VERSIONS = frozenset(".git .hg .svn .bzr .jj CVS".split())
_TOOLS = frozenset(
    ".cache .eggs .gradle .hypothesis .idea .ipynb_checkpoints .mypy_cache .next .nox .nuxt"
    " .parcel-cache .pytest_cache .ruff_cache .svelte-kit .terraform .tox .turbo .venv .yarn"
    " __pycache__ __MACOSX bower_components node_modules site-packages".split()
)
_TOOL_SUFFIXES = (".egg-info", ".dist-info")
_SYSTEM = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
Levels = list[tuple[int, Rules]]
_ENTRIES_PER_FILE = 20  # so many entries of folders are looked at for each file that may be read
_RULES_BYTES = 1_000_000
_SHOWN = 3  # names given as examples of a kind
_FAILURES_SHOWN = 20
_KINDS = {  # kind: (what one and what several are called, why they are left out)
    "ignored": ("file or folder", "files and folders", "ignored by git's rules"),
    "tools": ("folder", "folders", "made by tools for themselves"),
    "links": ("symbolic link", "symbolic links", "not followed"),
    "locks": ("lock file", "lock files", "written by package managers"),
    "minified": ("minified file", "minified files", "made from others"),
    "data": ("data file", "data files", "larger than 100 kB"),
    "large": ("file", "files", "larger than one file may be"),
    "binary": ("binary file or picture", "binary files and pictures", "without text"),
    "documents": ("document", "documents", "of other formats, to be read by themselves"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A file: where it is, its path within the folder, and its size in bytes."""

    file: Path
    path: tuple[str, ...]
    size: int

    @property
    def name(self) -> str:
        """The path within the folder, for people."""
        return shown(self.path)


def shown(path: tuple[str, ...]) -> str:
    """A path as text that every store can carry."""
    return " ".join(clean("/".join(path)).split())


@dataclass(slots=True)
class Tally:
    """What is not read, by kind."""

    _kinds: dict[str, list[str]] = field(default_factory=dict)
    _blank: list[str] = field(default_factory=list)
    _failed: list[tuple[str, str]] = field(default_factory=list)

    def left_out(self, kind: str, name: str) -> None:
        """Notes a file or folder that is left out on purpose; `kind` is one of `_KINDS`."""
        self._kinds.setdefault(kind, []).append(name)

    def blank(self, name: str) -> None:
        self._blank.append(name)

    def failed(self, name: str, reason: str) -> None:
        self._failed.append((name, reason))

    def omissions(self) -> tuple[tuple[str, str], ...]:
        """(how many and which, why) of each kind."""
        return tuple(
            (_counted(self._kinds[kind], one, many), reason)
            for kind, (one, many, reason) in _KINDS.items()
            if kind in self._kinds
        )

    def blanks(self) -> tuple[str, ...]:
        """The empty files, as one entry."""
        return (_counted(self._blank, "empty file", "empty files"),) if self._blank else ()

    def failures(self) -> tuple[tuple[str, str], ...]:
        """(file, reason) of those that could not be read; many beyond the first ones as one."""
        first, rest = self._failed[:_FAILURES_SHOWN], self._failed[_FAILURES_SHOWN:]
        more = ((f"{len(rest)} more files", "they cannot be read either"),) if rest else ()
        return (*first, *more)


def _counted(names: list[str], one: str, many: str) -> str:
    examples = ", ".join(sorted(names)[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    return f"{len(names)} {one if len(names) == 1 else many}: {examples}{more}"


@dataclass(slots=True)
class _Walk:
    """A walk over `root`; `above` are the names that lead to it from the top of its repository."""

    root: Path
    above: tuple[str, ...]
    limits: Limits
    tally: Tally
    files: int = 0
    entries: int = 0

    def files_below(self, levels: Levels) -> Iterator[Found]:
        """The files of all folders; `levels` are the rules from above the root."""
        waiting: list[tuple[tuple[str, ...], Levels]] = [((), levels)]
        while waiting:
            path, levels = waiting.pop()
            folder = self.root.joinpath(*path)
            levels = [*levels, *_rules(folder / ".gitignore", len(self.above) + len(path))]
            for entry in self._entries(folder, path):
                here = (*path, entry.name)
                try:
                    if self._is_entered(entry, here, levels):
                        waiting.append((here, levels))
                    elif self._is_file(entry, here, levels):
                        yield self._file(entry, here)
                except OSError as error:
                    self.tally.failed(shown(here), error.strerror or "it cannot be read")

    def _entries(self, folder: Path, path: tuple[str, ...]) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as found:
                entries = list(islice(found, _ENTRIES_PER_FILE * self.limits.folder_files))
        except OSError as error:
            if not path:
                raise SourceNotFound(
                    f"{folder} may not be read", hint="Check its permissions"
                ) from error
            self.tally.failed(shown(path), error.strerror or "it cannot be read")
            return []
        self.entries += len(entries)
        if self.entries >= _ENTRIES_PER_FILE * self.limits.folder_files:
            raise _too_many(self.root, self.limits)
        return sorted(entries, key=lambda entry: entry.name)

    def _is_entered(self, entry: os.DirEntry[str], path: tuple[str, ...], levels: Levels) -> bool:
        """Whether the entry is a folder whose files are looked at."""
        name = entry.name
        if name in _VERSIONS or not entry.is_dir(follow_symlinks=False):
            return False
        made = name in _TOOLS or name.endswith(_TOOL_SUFFIXES)
        if made or self.root.joinpath(*path, "pyvenv.cfg").exists():
            self.tally.left_out("tools", f"{shown(path)}/")
            return False
        if ignored(levels, (*self.above, *path), is_folder=True):
            self.tally.left_out("ignored", f"{shown(path)}/")
            return False
        return True

    def _is_file(self, entry: os.DirEntry[str], path: tuple[str, ...], levels: Levels) -> bool:
        """Whether the entry is a file to be read."""
        if entry.name in _VERSIONS or entry.name in _SYSTEM:
            return False
        if entry.is_symlink():
            self.tally.left_out("links", shown(path))
            return False
        if not entry.is_file(follow_symlinks=False):
            return False
        if ignored(levels, (*self.above, *path), is_folder=False):
            self.tally.left_out("ignored", shown(path))
            return False
        return True

    def _file(self, entry: os.DirEntry[str], path: tuple[str, ...]) -> Found:
        self.files += 1
        if self.files > self.limits.folder_files:
            raise _too_many(self.root, self.limits)
        size = entry.stat(follow_symlinks=False).st_size
        return Found(Path(entry.path), path, size)


def _too_many(root: Path, limits: Limits) -> TooLarge:
    return TooLarge(
        f"{root} holds more than {limits.folder_files} files",
        hint="Name one of its folders, or leave files out with a .gitignore",
    )


def walk(root: Path, limits: Limits, tally: Tally) -> Iterator[Found]:
    """The files below a folder that are neither ignored nor made by tools, in no set order.

    Raises:
        SourceNotFound: the folder may not be read.
        TooLarge: there are more files than the limits say.
    """
    top = _top(root)
    above = root.relative_to(top).parts
    levels: Levels = [(0, Rules(_lines(top / ".git" / "info" / "exclude")))]
    for depth in range(len(above)):  # rules above the folder hold in it, too
        levels += _rules(top.joinpath(*above[:depth]) / ".gitignore", depth)
    return _Walk(root, above, limits, tally).files_below(levels)


def _top(root: Path) -> Path:
    """The top of the repository the folder lies in; the folder itself where it lies in none."""
    return next((p for p in (root, *root.parents) if (p / ".git").exists()), root)


def _rules(file: Path, depth: int) -> Levels:
    lines = _lines(file)
    return [(depth, Rules(lines))] if lines else []


def _lines(file: Path) -> list[str]:
    """The lines of a file of rules; none where there is no such file, or it is a link."""
    try:
        if file.is_symlink() or not file.is_file():
            return []
        with file.open("rb") as opened:
            return decode(opened.read(_RULES_BYTES)).split("\n")
    except OSError:
        return []
