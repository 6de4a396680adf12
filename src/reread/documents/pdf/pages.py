"""The pages of a PDF file, one at a time, and what the file says about itself.

PDFium is not safe for threads: everything that touches it happens under one lock, which is held
for a page at a time so that others can go on.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from reread.documents.pdf.lines import Line, lines_of
from reread.documents.pdf.words import Word, sheet_of
from reread.documents.recognition import Unrecognised
from reread.documents.source import Source
from reread.errors import DamagedDocument

_PDFIUM = threading.RLock()
_LOST_PAGES = 200
_MOST_DOTS = 5000  # along the longer side of a page's picture
_MOST_ANNOTATIONS = 10_000  # of a page; the rest of a damaged file is not looked at
_DONE = raw.FLATTEN_SUCCESS
_MANY_LINES = 20
_TINY = 48  # pixels: enough to see whether a page shows anything
_SMALL = 400  # and whether a scanned one does


@dataclass(frozen=True, slots=True)
class Entry:
    """A title of the outline: the index of the page it leads to, and its level from 1."""

    title: str
    page: int
    level: int


@dataclass(slots=True)
class PdfPage:
    """A page as lines in reading order.

    `shows`: whether there is anything but text on it; `recognised`: its lines were read from its
    picture.
    """

    index: int
    label: str
    height: float = 0.0
    lines: list[Line] = field(default_factory=list)
    across: str = ""
    shows: bool = False
    failed: str | None = None
    recognised: bool = False


class PdfFile:
    """An open PDF. Close it after use; best in a `with` statement.

    Raises:
        DamagedDocument: it cannot be opened, or it is locked and the password is not right.
    """

    def __init__(self, source: Source, password: str | None) -> None:
        with _PDFIUM:
            try:
                self._pdf = pdfium.PdfDocument(source.data, password=password)
                self._count = len(self._pdf)
                self._pdf.init_forms()  # draws what was filled in, where the file does not
            except (pdfium.PdfiumError, ValueError) as error:
                raise _unreadable(source, error, password) from error

    def __enter__(self) -> PdfFile:
        return self

    def __exit__(self, *_: object) -> None:
        with _PDFIUM:
            self._pdf.close()

    def __len__(self) -> int:
        return self._count

    @property
    def title(self) -> str:
        """The title in the file's metadata, "" where none is worth showing."""
        with _PDFIUM:
            title = " ".join(self._pdf.get_metadata_value("Title").split())
        generated = re.match(r"(?:microsoft \w+ - |untitled|\S+\.\w{2,4}$)", title, re.I)
        return "" if generated else title

    def outline(self) -> list[Entry]:
        """The outline (bookmarks) in its order; entries that lead nowhere are left out."""
        entries = []
        with _PDFIUM, contextlib.suppress(pdfium.PdfiumError):
            for bookmark in self._pdf.get_toc():
                dest = bookmark.get_dest()
                index = dest.get_index() if dest else None
                title = " ".join(bookmark.get_title().split())
                if index is not None and title:
                    entries.append(Entry(title, index, bookmark.level + 1))
        return entries

    def pages(self) -> Iterator[PdfPage]:
        """All pages in order; one that cannot be read carries the reason.

        A damaged file may claim millions of pages: after `_LOST_PAGES` that are not there the rest
        is not tried.
        """
        lost = 0
        for index in range(self._count):
            if lost > _LOST_PAGES:
                return
            with _PDFIUM:
                page = PdfPage(index, self._label(index))
                try:
                    self._fill(page)
                except pdfium.PdfiumError as error:
                    page.failed = _reason(error)
            lost = lost + 1 if page.failed else 0
            yield page

    def picture(self, index: int, dpi: int) -> bytes:
        """A page as a picture in shades of grey (PNM), of that many dots an inch or fewer.

        Raises:
            Unrecognised: it cannot be drawn.
        """
        with _PDFIUM:
            try:
                page = self._pdf[index]
                scale = min(dpi / 72, _MOST_DOTS / max(1.0, *page.get_size()))
                bitmap = page.render(scale=scale, grayscale=True)
                data, stride = bytes(bitmap.buffer), bitmap.stride
                width, height = bitmap.width, bitmap.height
                bitmap.close()
                page.close()
            except (pdfium.PdfiumError, ValueError, MemoryError) as error:
                raise Unrecognised(f"it cannot be drawn: {_reason(error)}") from error
        rows = (data[at : at + width] for at in range(0, stride * height, stride))
        return b"P5\n%d %d\n255\n" % (width, height) + b"".join(rows)

    def is_white(self, index: int) -> bool:
        """Whether nothing is to be seen on a page, whatever has been drawn there."""
        with _PDFIUM, contextlib.suppress(pdfium.PdfiumError):
            page = self._pdf[index]
            white = _is_white(page, _SMALL)
            page.close()
            return white
        return False

    def _label(self, index: int) -> str:
        try:
            return str(self._pdf.get_page_label(index)).strip()
        except (pdfium.PdfiumError, UnicodeDecodeError):
            return ""

    def _open(self, index: int) -> pdfium.PdfPage:
        """A page with what was filled in and written onto it as part of its text."""
        page = self._pdf[index]
        if not _written_on(page) or raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) != _DONE:
            return page
        page.close()
        return self._pdf[index]

    def _fill(self, page: PdfPage) -> None:
        opened = self._open(page.index)
        try:
            sheet = sheet_of(opened)
            page.height = sheet.height
            page.lines = lines_of(sheet.words)
            page.across = _running(sheet.across)
            # Of many lines some are text: furniture does not take them all.
            page.shows = len(page.lines) > _MANY_LINES or _shows(opened, bool(page.lines))
        finally:
            opened.close()


def _written_on(page: pdfium.PdfPage) -> bool:
    """Whether there are fields of a form, or text that was put onto the page later."""
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP):
            return True
    return False


def _running(words: list[Word]) -> str:
    return "".join((w.before and " ") + w.text for w in words).strip()


def _shows(page: pdfium.PdfPage, with_text: bool) -> bool:
    """Whether there are images or, on a page without text, whether anything is to be seen."""
    kinds = {item.type for item in page.get_objects(max_depth=3)}
    if raw.FPDF_PAGEOBJ_IMAGE in kinds:
        return True
    if with_text or not kinds - {raw.FPDF_PAGEOBJ_TEXT}:
        return False
    # Drawings alone may be a white background; only looking tells.
    return not _is_white(page, _TINY)


def _is_white(page: pdfium.PdfPage, dots: int) -> bool:
    bitmap = page.render(scale=dots / max(page.get_size()), grayscale=True)
    seen = bytes(bitmap.buffer)
    bitmap.close()
    return all(value >= 250 for value in seen)


def _unreadable(source: Source, error: Exception, password: str | None) -> DamagedDocument:
    code = getattr(error, "err_code", None)
    if code == raw.FPDF_ERR_PASSWORD:
        wrong = "the password given does not open it" if password else "it is locked by a password"
        return DamagedDocument(
            f"{source.name} cannot be read: {wrong}",
            hint="Give it with --password or load(…, password=…)",
        )
    if code == raw.FPDF_ERR_SECURITY:
        return DamagedDocument(f"{source.name} is encrypted in a way that is not supported")
    return DamagedDocument(
        f"{source.name} is not a PDF that can be opened: {_reason(error)}",
        hint="It may be cut off or damaged; fetch it again",
    )


def _reason(error: Exception) -> str:
    text = re.sub(r"^.*\(PDFium: (.*?)\.?\)\.?$", r"\1", str(error))
    return " ".join(text.split()) or type(error).__name__
