"""What a loader is given: bytes that were read whole, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reread.ports import Progress
from reread.types import Document

MEGABYTE = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much is read and how long is waited; sizes are bytes, times are seconds.

    `max_age_s` is how long a fetched page may be served from the cache. Of a folder that is read as
    one document, `folder_files` is how many files are read, `folder_file_bytes` how large each may
    be (a larger one is left out) and `folder_bytes` how large their texts may be together.
    """

    file_bytes: int = 200 * MEGABYTE
    folder_files: int = 5_000
    folder_bytes: int = 20 * MEGABYTE
    folder_file_bytes: int = MEGABYTE
    fetch_bytes: int = 50 * MEGABYTE
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 30.0
    total_timeout_s: float = 120.0
    redirects: int = 5
    max_age_s: float = 86_400.0


LIMITS = Limits()


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognition:
    """How text in pictures is read, where Tesseract is installed.

    `languages` are Tesseract's names (`deu+eng`), `auto` for those installed, `off` to leave
    pictures alone. `workers` pages are read at a time, None for as many as the machine can.
    `progress` hears of every page. What was read is kept in `cache_dir`, None to keep nothing.
    """

    languages: str = "auto"
    workers: int | None = None
    page_timeout_s: float = 120.0
    progress: Progress | None = None
    cache_dir: Path | None = None


RECOGNITION = Recognition()


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Bytes to load.

    `name` is what people call it (a file name or the end of an address), `origin` where it came
    from. `media_type` is what was declared or found, `charset` the declared encoding; None where
    nothing was said. `password` opens what is locked, and is kept nowhere. `recognition` says
    how text in pictures is read.
    """

    data: bytes
    name: str
    origin: str
    media_type: str | None = None
    charset: str | None = None
    password: str | None = field(default=None, repr=False)
    recognition: Recognition = RECOGNITION

    @property
    def stem(self) -> str:
        """The name without its extension: the title of what has no title."""
        stem, dot, extension = self.name.rpartition(".")
        return stem if dot and stem and 0 < len(extension) <= 5 else self.name


Loader = Callable[[Source], Document]
"""Makes a document of a source; raises a `DocumentError` where it cannot."""
