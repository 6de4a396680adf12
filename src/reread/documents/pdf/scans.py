"""Pages without a text layer, read from their pictures and handed on as if they had one.

A page is drawn, read and forgotten before its worker draws the next: a scan of any length needs
the memory of a few pages. Type is taken to be all of one size but for what is clearly larger, since
the height of a recognised line also depends on the letters in it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from reread.documents.pdf import bidi
from reread.documents.pdf.lines import lines_of
from reread.documents.pdf.pages import PdfFile, PdfPage
from reread.documents.pdf.words import Type, Word
from reread.documents.recognition import (
    INSTALL,
    TURN_ON,
    Picture,
    Recogniser,
    Unrecognised,
    recogniser,
    usual_height,
)
from reread.documents.source import Source
from reread.parallel import map_ordered
from reread.ports import Step

_DPI = 300
_HEIGHT = 792.0  # points of a page that only a picture knows
_LARGER = 1.35


def read_scans(file: PdfFile, pages: Sequence[PdfPage], source: Source) -> str:
    """Fills the pages that show something but hold no text; returns what would let them be read.

    Raises:
        SettingsError: a language that was named is not installed.
    """
    scans = [page for page in pages if page.shows and not page.lines and not page.failed]
    if not scans:
        return ""
    reader = recogniser(source.recognition)
    if reader is None:
        return TURN_ON if source.recognition.languages == "off" else INSTALL
    found = _recognised(file, scans, reader, source)
    size = usual_height(found.values())
    for page in scans:
        picture = found.get(page.index)
        if picture is None:
            continue
        if picture.lines:
            fill(page, picture, size)
        else:
            page.shows = not file.is_white(page.index)
    return ""


def _recognised(
    file: PdfFile, scans: Sequence[PdfPage], reader: Recogniser, source: Source
) -> dict[int, Picture]:
    wanted = source.recognition
    digest = hashlib.sha256(source.data).hexdigest()

    def read(page: PdfPage) -> Picture | str:
        def drawn() -> bytes:
            return file.picture(page.index, _DPI)

        try:
            return reader.read(drawn, f"{digest} {page.index}", _DPI)[0]
        except (Unrecognised, IndexError) as error:
            return str(error) or "Tesseract said nothing"

    found: dict[int, Picture] = {}
    results = map_ordered(read, scans, workers=wanted.workers or _cores())
    for done, (page, result) in enumerate(zip(scans, results, strict=True), 1):
        if isinstance(result, Picture):
            found[page.index] = result
        else:
            page.failed = result
        if wanted.progress:
            step = Step(phase="recognise", done=done, total=len(scans), unit="pages")
            wanted.progress(step)
    return found


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def fill(page: PdfPage, picture: Picture, usual: float) -> None:
    """Gives a page the lines seen on its picture; `usual` is the height of most lines."""
    page.height = page.height or _HEIGHT
    scale = page.height / picture.height
    body = max(1.0, round(usual * page.height, 1))
    words: list[Word] = []
    for line in picture.lines:
        height = (line.bottom - line.top) * scale
        size = body if height < _LARGER * body else round(height, 1)
        rtl = bidi.is_rtl(" ".join(word[0] for word in line.words))
        for k, (text, x0, x1) in enumerate(line.words):
            box = (x0 * scale, line.top * scale, x1 * scale, line.bottom * scale)
            kind = Type(size, False, False, 0)
            words.append(Word(text, *box, kind, " " if k else "\n", rtl, k + 1 < len(line.words)))
    page.lines = lines_of(words)
    page.recognised = bool(page.lines)
