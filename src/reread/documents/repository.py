"""A folder, such as a code repository, as one document: its tree of files, then every file.

What git ignores is left out, and so is what tools made and what holds no text; the coverage names
each kind once. Links are never followed, so nothing outside the folder is read and no loop is
met. Equal content gives an equal document, whatever the folder is called.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from reread.documents import code
from reread.documents.builder import divide, document_over
from reread.documents.encodings import decode, looks_binary
from reread.documents.languages import CODE, NOTEBOOK
from reread.documents.registry import EXTENSIONS, loader_for
from reread.documents.source import LIMITS, Limits, Source
from reread.documents.walk import Found, Tally, walk
from reread.errors import DocumentError, EmptyDocument, SourceNotFound, TooLarge, UnsupportedFormat
from reread.text import clean
from reread.types import Coverage, Document, Paragraph

MEDIA_TYPE = "inode/directory"
_MANIFESTS = frozenset(
    "pyproject.toml setup.py setup.cfg package.json Cargo.toml go.mod pom.xml build.gradle"
    " build.gradle.kts CMakeLists.txt Makefile meson.build Gemfile composer.json mix.exs"
    " Package.swift deno.json build.sbt stack.yaml dune-project pubspec.yaml Project.toml".split()
)
_PROJECT = re.compile(r".*\.(?:sln|slnx|csproj|cabal|gemspec|xcodeproj)", re.IGNORECASE)
_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb poetry.lock"
    " uv.lock pdm.lock Pipfile.lock Cargo.lock go.sum composer.lock Gemfile.lock mix.lock"
    " flake.lock deno.lock packages.lock.json pubspec.lock Podfile.lock Cartfile.resolved"
    " Package.resolved gradle.lockfile conda-lock.yml pixi.lock".split()
)
_MINIFIED = re.compile(r".*[.-]min\.(?:js|mjs|cjs|css|html)|.*\.(?:js|mjs|css|ts)\.map")
_MADE_TO_RUN = frozenset(".js .mjs .cjs .css .json .html .htm .xml .svg".split())
_LONG_LINE = 400  # an average line beyond this was written by no person
_DATA = frozenset(".csv .tsv .json .jsonl .ndjson .geojson .xml .plist .sql .po .pot".split())
_DATA_BYTES = 100_000
_PICTURES_IN_NOTEBOOK = 20  # times that a notebook may be larger than other files
_PICTURES = frozenset(".svg".split())
_PROSE = frozenset(".adoc .asciidoc .log .man .org .rest .rst .tex .textile .wiki".split())
_READ_AS_CODE = frozenset(("text/html", "text/csv", "text/tab-separated-values"))
_README = re.compile(r"readme(?:\.\w+)?", re.IGNORECASE)


def is_repository(path: Path) -> bool:
    """Whether a folder is a project: it holds `.git`, or a project's manifest at its top."""
    try:
        names = os.listdir(path)
    except OSError:
        return False
    return any(n == ".git" or n in _MANIFESTS or _PROJECT.fullmatch(n) for n in names)


def load_folder(path: str | Path, limits: Limits = LIMITS) -> Document:
    """The document of a folder; its parts are the files that are read.

    Raises:
        SourceNotFound: there is no such folder, or it may not be read.
        TooLarge: it holds more files or bytes than the limits say.
        EmptyDocument: none of its files holds text.
    """
    root = Path(path)
    try:
        root = root.resolve()
        is_folder = root.is_dir()
    except (OSError, ValueError, RuntimeError):
        is_folder = False
    if not is_folder:
        raise SourceNotFound(f"there is no folder {str(path)[:200]!r}", hint="Check the spelling")
    reader = _Reader(str(path), limits)
    for found in sorted(walk(root, limits, reader.tally), key=_order):
        reader.take(found)
    return reader.document(title=clean(root.name) or str(root), origin=clean(str(root)))


def _order(found: Found) -> tuple[bool, tuple[str, ...]]:
    """The README of the whole first, then by path."""
    return not (len(found.path) == 1 and _README.fullmatch(found.path[0])), found.path


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is read: its path for people, its text and the paragraphs over it."""

    name: str
    text: str
    paragraphs: tuple[Paragraph, ...]


class _Reader:
    """Takes files in order and puts their document together."""

    def __init__(self, asked: str, limits: Limits) -> None:
        self.tally = Tally()
        self._asked = asked
        self._limits = limits
        self._bytes = 0
        self._files: list[_File] = []

    def take(self, found: Found) -> None:
        """Reads a file, or notes why it is not read."""
        name = found.name
        suffix = PurePosixPath(name).suffix.lower()
        kind = _kind_by_name(found.path[-1], suffix, found.size, self._limits)
        if kind:
            self.tally.left_out(kind, name)
            return
        try:
            data = found.file.read_bytes()
        except OSError as error:
            self.tally.failed(name, error.strerror or "it cannot be read")
            return
        kind = _kind_by_content(data, suffix)
        if kind:
            self.tally.left_out(kind, name)
        else:
            self._read(data, name, suffix)

    def _read(self, data: bytes, name: str, suffix: str) -> None:
        try:
            file = _loaded(Source(data=data, name=name, origin=name), suffix)
        except UnsupportedFormat:
            self.tally.left_out("binary", name)
        except EmptyDocument:
            self.tally.blank(name)
        except DocumentError as error:
            self.tally.failed(name, error.message)
        else:
            if file is None:
                self.tally.left_out("documents", name)
            else:
                self._add(file)

    def _add(self, file: _File) -> None:
        self._bytes += len(file.text.encode("utf-8"))
        if self._bytes > self._limits.folder_bytes:
            raise TooLarge(
                f"the files of {self._asked} hold more than {self._limits.folder_bytes / 1e6:g} MB"
                " of text",
                hint="Name one of its folders, or leave files out with a .gitignore",
            )
        self._files.append(file)

    def document(self, *, title: str, origin: str) -> Document:
        """All files as one document, after the tree of their names."""
        if not self._files:
            raise EmptyDocument(
                f"{self._asked} holds no file that can be read",
                hint="What git ignores and what holds no text is left out",
            )
        tree = _tree(f.name for f in self._files)
        listing = tuple(
            Paragraph(start=a, end=b, kind="code", locator="files") for a, b in divide(tree, "code")
        )
        pieces: list[str] = []
        paragraphs: list[Paragraph] = []
        at = 0
        for file in (_File("Files", tree, listing), *self._files):
            head = "files" if file.paragraphs is listing else file.name
            paragraphs.append(
                Paragraph(start=at, end=at + len(file.name), kind="heading", locator=head)
            )
            at += len(file.name) + 2
            paragraphs += (replace(p, start=p.start + at, end=p.end + at) for p in file.paragraphs)
            at += len(file.text) + 2
            pieces += (file.name, file.text)
        return document_over(
            "\n\n".join(pieces),
            paragraphs,
            title=title,
            origin=origin,
            media_type=MEDIA_TYPE,
            coverage=self._coverage(),
        )

    def _coverage(self) -> Coverage:
        blank, failed = self.tally.blanks(), self.tally.failures()
        return Coverage(
            parts=len(self._files) + len(blank) + len(failed),
            read=len(self._files),
            blank=blank,
            failed=failed,
            left_out=self.tally.omissions(),
        )


def _kind_by_name(name: str, suffix: str, size: int, limits: Limits) -> str | None:
    """Why a file is left out unread, None where it is read."""
    if name in _LOCKS:
        return "locks"
    if _MINIFIED.fullmatch(name):
        return "minified"
    if suffix in _PICTURES:
        return "binary"
    if size > limits.folder_file_bytes * (_PICTURES_IN_NOTEBOOK if suffix == ".ipynb" else 1):
        return "large"
    return "data" if suffix in _DATA and size > _DATA_BYTES else None


def _kind_by_content(data: bytes, suffix: str) -> str | None:
    if data.startswith(b"version https://git-lfs"):
        return "binary"
    if suffix in _MADE_TO_RUN and len(data) > _LONG_LINE * (data.count(b"\n") + 10):
        return "minified"
    return "binary" if _holds_no_text(data) else None


def _holds_no_text(data: bytes) -> bool:
    return looks_binary(data) and not data.startswith((b"PK", b"%PDF"))


def _loaded(source: Source, suffix: str) -> _File | None:
    """A file by the loader of its kind; None where that is no loader of text.

    Raises:
        DocumentError: it holds no text or cannot be read.
    """
    media_type, loader = loader_for(source)
    known = not suffix or suffix in EXTENSIONS or suffix in _PROSE
    unknown = media_type == "text/plain" and not known
    if media_type == CODE or media_type in _READ_AS_CODE or unknown:
        text = decode(source.data, source.charset)
        return _file(source.name, text, tuple(code.located(text, source.name)))
    if not media_type.startswith("text/") and media_type != NOTEBOOK:
        return None
    document = loader(replace(source, media_type=media_type))
    located = (
        replace(p, locator=f"{source.name} › {p.locator}" if p.locator else source.name)
        for p in document.paragraphs
    )
    return _File(source.name, document.text, tuple(located))


def _file(name: str, text: str, paragraphs: tuple[Paragraph, ...]) -> _File:
    if not text.strip():
        raise EmptyDocument(f"{name} holds no text")
    return _File(name, text, paragraphs)


def _tree(names: Iterator[str]) -> str:
    """The files as a tree: a line for each folder and file, indented by its depth."""
    lines: list[str] = []
    open_folders: tuple[str, ...] = ()
    for name in names:
        *folders, file = name.split("/")
        for depth, folder in enumerate(folders):
            if tuple(folders[: depth + 1]) != open_folders[: depth + 1]:
                lines.append(f"{'  ' * depth}{folder}/")
                open_folders = tuple(folders[: depth + 1])
        open_folders = tuple(folders)
        lines.append(f"{'  ' * len(folders)}{file}")
    return "\n".join(lines)
