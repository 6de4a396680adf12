"""Sources of every kind as documents: files, web pages, arXiv papers, standard input.

`load` finds the bytes, `load_bytes` finds the loader for them. Which loader reads what is a table
(`LOADERS`, see `registry`); every loader is a function from a `Source` to a `Document`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from reread.documents.registry import EXTENSIONS, LOADERS, declared_type, loader_for
from reread.documents.source import (
    LIMITS,
    RECOGNITION,
    Limits,
    Loader,
    Recognition,
    Source,
)
from reread.errors import EmptyDocument, SourceNotFound, TooLarge
from reread.types import Document

if TYPE_CHECKING:
    from reread.documents.fetch import Fetched

__all__ = [
    "EXTENSIONS",
    "LOADERS",
    "Limits",
    "Loader",
    "Recognition",
    "Source",
    "is_repository",
    "load",
    "load_bytes",
    "load_folder",
    "resolved",
]

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?", re.IGNORECASE)
STANDARD_INPUT = "standard input"
Opened = Callable[..., Document]  # `load_bytes`, with what is the same for all bytes


def load(
    source: str | Path,
    *,
    cache_dir: Path | None = None,
    allow_private: bool = False,
    limits: Limits = LIMITS,
    arxiv_bases: Sequence[str] | None = None,
    password: str | None = None,
    recognition: Recognition = RECOGNITION,
) -> Document:
    """The document behind a path, a web address, an arXiv id or link, or `-` for standard input.

    Args:
        cache_dir: Where fetched pages are kept, None to keep none.
        allow_private: Whether addresses inside a private network may be fetched.
        arxiv_bases: What arXiv ids are put behind to find their HTML, None for the usual ones.
        password: What opens a locked file on this machine, None where none is needed.
        recognition: How text in pictures is read.

    Raises:
        SourceNotFound: nothing readable stands there.
        FetchError: an address could not be fetched.
        TooLarge: the source is larger than the limits say.
        UnsupportedFormat: no loader reads what is there.
        EmptyDocument: it holds no text.
        DamagedDocument: its content is broken.
    """
    opened = partial(load_bytes, password=password, recognition=recognition)
    if isinstance(source, str):
        if source == "-":
            data = _read(sys.stdin.buffer, STANDARD_INPUT, limits)
            return opened(data, name=STANDARD_INPUT, origin="-")
        remote = _load_remote(source, cache_dir, allow_private, limits, arxiv_bases, opened)
        if remote is not None:
            return remote
    return _load_file(_path(source), str(source), limits, opened)


def load_bytes(
    data: bytes,
    *,
    name: str,
    media_type: str | None = None,
    origin: str | None = None,
    password: str | None = None,
    recognition: Recognition = RECOGNITION,
) -> Document:
    """The document in `data`. `media_type` may carry a charset; None to find it out.

    Raises:
        UnsupportedFormat: no loader reads it; the hint names what is read.
        EmptyDocument: it holds no text.
        DamagedDocument: its content is broken.
    """
    origin = origin or name
    if not data:
        raise EmptyDocument(f"{origin} is empty")
    declared, charset = declared_type(media_type)
    source = Source(
        data=data,
        name=name,
        origin=origin,
        media_type=declared,
        charset=charset,
        password=password,
        recognition=recognition,
    )
    found, loader = loader_for(source)
    return loader(replace(source, media_type=found))


def is_repository(path: str | Path) -> bool:
    """Whether a folder is a project: it holds `.git`, or a project's manifest at its top."""
    from reread.documents import repository

    return repository.is_repository(Path(path))


def load_folder(path: str | Path, limits: Limits = LIMITS) -> Document:
    """The document of a folder: the tree of its files, then every file that holds text.

    Raises:
        SourceNotFound: there is no such folder, or it may not be read.
        TooLarge: it holds more files or bytes than the limits say.
        EmptyDocument: none of its files holds text.
    """
    from reread.documents import repository

    return repository.load_folder(path, limits)


def _load_remote(
    source: str,
    cache_dir: Path | None,
    allow_private: bool,
    limits: Limits,
    arxiv_bases: Sequence[str] | None,
    opened: Opened,
) -> Document | None:
    """The document of an address or arXiv id; None for what can only be a path."""
    is_address = _SCHEME.match(source) and not source.lower().startswith("file:")
    if not is_address and (_exists(source) or not _may_be_arxiv(source)):
        return None
    from reread.documents import arxiv, fetch

    get = partial(fetch.fetch, cache_dir=cache_dir, limits=limits, allow_private=allow_private)
    paper = arxiv.parse_id(source)
    if paper is not None:
        return arxiv.load(paper, get, arxiv_bases or arxiv.BASES)
    return _load_page(get(source), source, opened) if is_address else None


def _may_be_arxiv(source: str) -> bool:
    """Whether it is worth importing what parses arXiv ids: they all hold seven digits or more."""
    return sum(c.isdecimal() for c in source) >= 7


def _load_page(page: Fetched, asked: str, opened: Opened) -> Document:
    name = unquote(urlsplit(page.url).path).rstrip("/").rpartition("/")[2]
    declared, charset = declared_type(page.content_type)
    # Servers name types that mean little; what no loader reads is left to the content.
    media_type = declared if declared in LOADERS else None
    if media_type and charset:
        media_type += f"; charset={charset}"
    name = name or urlsplit(page.url).hostname or asked
    return opened(page.body, name=name, media_type=media_type, origin=asked)


def _path(source: str | Path) -> Path:
    text = str(source)
    if text.lower().startswith("file:"):
        return Path(unquote(urlsplit(text).path))
    return Path(text).expanduser() if text.startswith("~") else Path(text)


def _exists(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # a name too long, or with a zero byte
        return False


def _load_file(path: Path, asked: str, limits: Limits, opened: Opened) -> Document:
    try:
        if asked.strip() and path.is_dir():  # an empty name is no name for the folder we are in
            if is_repository(path):
                return load_folder(path, limits)
            raise SourceNotFound(f"{asked} is a folder", hint="Name the files in it")
        with path.open("rb") as file:
            data = _read(file, asked, limits)
        origin = str(path.resolve())
    except PermissionError as error:
        raise SourceNotFound(f"{asked} may not be read", hint="Check its permissions") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise _not_found(asked) from error
    if not data:
        raise EmptyDocument(f"{asked} is empty")
    return opened(data, name=path.name, origin=origin)


def resolved(name: str) -> str:
    """The path as an origin holds it, or the name itself where it cannot be a path."""
    try:
        return str(Path(name).resolve())
    except (OSError, RuntimeError, ValueError):
        return name


def _not_found(asked: str) -> SourceNotFound:
    shown = asked if len(asked) <= 200 else asked[:200] + "…"
    hint = "Check the spelling"
    if _ADDRESS.fullmatch(shown) and Path(shown).suffix.lower() not in EXTENSIONS:
        hint = f"If it is a web address, write https://{shown}"
    return SourceNotFound(f"there is no file {shown!r}", hint=hint)


def _read(file: BinaryIO, name: str, limits: Limits) -> bytes:
    """All of a file, read no further than the limit."""
    data = file.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise TooLarge(
            f"{name} is larger than {limits.file_bytes / 1e6:g} MB", hint="Divide it first"
        )
    return data
