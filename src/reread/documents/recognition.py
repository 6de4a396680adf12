"""Text in pictures, read by Tesseract where it is installed.

The program is called itself, a process for each picture, with the picture on its standard input:
pytesseract would do the same by way of Pillow and files on disk. Each process has one thread and a
time limit, so that results do not depend on the machine and one picture cannot hold up the rest.
What was read is kept: a scan of hundreds of pages takes minutes, and is opened for every question.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from reread.config import environment_with
from reread.documents.source import Recognition
from reread.errors import SettingsError

_log = logging.getLogger(__name__)
_FORM = 1  # of what is kept; raised when pictures are drawn or read in another way
INSTALL = "install Tesseract to read it"
TURN_ON = "leave out --no-ocr to read it"
_MOST_LANGUAGES = 4  # more at once are slow and guess badly; then one must be chosen
_NO_LANGUAGES = frozenset(("osd", "equ", "snum"))
_LANGUAGES = re.compile(r"[A-Za-z0-9_/]+(?:\+[A-Za-z0-9_/]+)*")
_LEAST_CONFIDENCE = 25.0  # percent; below it, grain and ornaments are taken for letters
_WORD_LEVEL, _LINE_LEVEL, _PAGE_LEVEL = "5", "4", "1"


class Unrecognised(Exception):
    """A picture that could not be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A line of a picture: its words with their left and right edges, and its own, in pixels."""

    words: tuple[tuple[str, float, float], ...]
    top: float
    bottom: float


@dataclass(slots=True)
class Picture:
    """What was seen on one picture of this size in pixels."""

    width: float
    height: float
    lines: list[Seen]


@dataclass(frozen=True, slots=True)
class Recogniser:
    """The program and the languages it reads in."""

    program: str
    languages: str
    timeout_s: float
    cache_dir: Path | None = None

    def read(self, picture: Callable[[], bytes], of: str, dpi: int | None = None) -> list[Picture]:
        """What stands on a picture file; a TIFF may hold several.

        Args:
            picture: Makes the file; not called where its text is kept already.
            of: What the picture is of: equal for equal pictures only.
            dpi: Dots an inch, None to take what the file says.

        Raises:
            Unrecognised: it is damaged, or took too long.
        """
        name = hashlib.sha256(f"{_FORM} {self.languages} {dpi} {of}".encode()).hexdigest()
        kept = self.cache_dir / f"{name}.tsv" if self.cache_dir else None
        table = _kept(kept)
        if table is None:
            table = self._table(picture(), dpi)
            _keep(kept, table)
        return _pictures(table.splitlines())

    def _table(self, picture: bytes, dpi: int | None) -> str:
        command = [self.program, "stdin", "stdout", "-l", self.languages, "--psm", "3"]
        command += ["--dpi", str(dpi)] if dpi else []
        try:
            done = subprocess.run(
                [*command, "tsv"],
                input=picture,
                capture_output=True,
                timeout=self.timeout_s,
                check=False,
                env=environment_with(OMP_THREAD_LIMIT="1"),
            )
        except subprocess.TimeoutExpired as error:
            raise Unrecognised(f"its text took more than {self.timeout_s:g} s to read") from error
        except OSError as error:
            raise Unrecognised(f"Tesseract cannot be started: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Unrecognised(f"Tesseract failed: {said[-1][:200] if said else done.returncode}")
        return done.stdout.decode("utf-8", "replace")


def recogniser(wanted: Recognition) -> Recogniser | None:
    """What reads pictures as wanted, None where it is off or Tesseract is not installed.

    Raises:
        SettingsError: a language that was named is not installed.
    """
    if wanted.languages == "off":
        return None
    program = shutil.which("tesseract")
    if program is None:
        return None
    languages = _languages(wanted.languages, _installed(program))
    if not languages:
        return None
    return Recogniser(program, languages, wanted.page_timeout_s, wanted.cache_dir)


def _installed(program: str) -> list[str]:
    try:
        command = [program, "--list-langs"]
        done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").splitlines()
    return sorted(line for line in lines if _LANGUAGES.fullmatch(line))


def _languages(wanted: str, installed: list[str]) -> str:
    if wanted != "auto":
        missing = [name for name in wanted.split("+") if name not in installed]
        if missing or not _LANGUAGES.fullmatch(wanted):
            known = ", ".join(n for n in installed if n not in _NO_LANGUAGES) or "none"
            raise SettingsError(
                f"Tesseract has no language {', '.join(map(repr, missing)) or repr(wanted)}",
                hint=f"Install it, or choose among {known}, auto and off",
            )
        return wanted
    usual = [n for n in installed if n not in _NO_LANGUAGES and not n.startswith("script/")]
    if len(usual) > _MOST_LANGUAGES and "eng" in usual:
        return "eng"
    return "+".join(sorted(usual[:_MOST_LANGUAGES], key=lambda n: n != "eng"))


def _kept(path: Path | None) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path else None
    except (OSError, UnicodeDecodeError):
        return None


def _keep(path: Path | None, table: str) -> None:
    """Keeps a table whole or not at all; a full disk is no reason to stop."""
    if path is None:
        return
    part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(table, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        _log.info("%s is not kept: %s", path.name, error)


def _pictures(rows: Iterable[str]) -> list[Picture]:
    """The pictures of Tesseract's table: a row a page, block, paragraph, line or word."""
    pictures: list[Picture] = []
    words: list[tuple[str, float, float]] = []
    for row in rows:
        cells = row.split("\t", 11)
        if len(cells) < 12 or not cells[6].isdecimal():
            continue
        left, top, width, height = map(float, cells[6:10])
        if cells[0] == _PAGE_LEVEL:
            pictures.append(Picture(width, height, []))
        elif cells[0] == _LINE_LEVEL and pictures:
            words = []
            pictures[-1].lines.append(Seen((), top, top + height))
        elif _is_word(cells) and pictures and pictures[-1].lines:
            words.append((cells[11].strip(), left, left + width))
            line = pictures[-1].lines[-1]
            pictures[-1].lines[-1] = Seen(tuple(words), line.top, line.bottom)
    for picture in pictures:
        picture.lines = [line for line in picture.lines if line.words]
        if not any(c.isalnum() for line in picture.lines for word in line.words for c in word[0]):
            picture.lines = []
    return pictures


def _is_word(cells: list[str]) -> bool:
    sure = cells[0] == _WORD_LEVEL and float(cells[10]) >= _LEAST_CONFIDENCE
    return sure and bool(cells[11].strip())


def usual_height(pictures: Iterable[Picture]) -> float:
    """The share of its picture's height that most lines have, 0 where there are none."""
    heights = Counter[float]()
    for picture in pictures:
        for line in picture.lines:
            share = round((line.bottom - line.top) / picture.height, 4)
            heights[share] += sum(len(word[0]) for word in line.words)
    middle = sum(heights.values()) / 2
    for height in sorted(heights):
        middle -= heights[height]
        if middle <= 0:
            return height
    return 0.0
