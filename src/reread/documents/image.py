"""Pictures of text (PNG, JPEG, TIFF) as documents, where Tesseract is installed to read them.

A picture becomes a page as a scanned PDF has it. How large it unpacks is told from its head before
anything unpacks it.
"""

from __future__ import annotations

import hashlib
import struct

from reread.documents.pdf import document_of
from reread.documents.pdf.pages import PdfPage
from reread.documents.pdf.scans import fill
from reread.documents.recognition import INSTALL, TURN_ON, Unrecognised, recogniser, usual_height
from reread.documents.source import Source
from reread.errors import DamagedDocument, TooLarge, UnsupportedFormat
from reread.types import Document

_MOST_DOTS = 150_000_000  # a poster at 300 dots an inch
_MOST_PICTURES = 2000  # in one TIFF file
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})  # JPEG markers with a size
_WIDTH, _HEIGHT = 256, 257  # tags of TIFF


def load(source: Source) -> Document:
    """The document of a picture; its parts are the pictures in the file, mostly one.

    Raises:
        UnsupportedFormat: Tesseract is not installed, or pictures are to be left alone.
        TooLarge: it unpacks to more than any page.
        DamagedDocument: it cannot be read.
        EmptyDocument: no text is seen on it.
    """
    reader = recogniser(source.recognition)
    if reader is None:
        remedy = TURN_ON if source.recognition.languages == "off" else INSTALL
        raise UnsupportedFormat(
            f"{source.name} is a picture, which holds no text itself",
            hint=f"{remedy[:1].upper()}{remedy[1:]}",
        )
    try:
        if sum(w * h for w, h in _sizes(source.data)) > _MOST_DOTS:
            raise TooLarge(f"{source.name} unpacks to far more than a page", hint="Scale it down")
        pictures = reader.read(lambda: source.data, hashlib.sha256(source.data).hexdigest())
    except (Unrecognised, struct.error, IndexError) as error:
        raise DamagedDocument(f"{source.name} cannot be read: {error}") from error
    usual = usual_height(pictures)
    pages = [PdfPage(index, "", shows=True) for index in range(len(pictures))]
    for page, picture in zip(pages, pictures, strict=True):
        if picture.lines:
            fill(page, picture, usual)
    if not pages:
        raise DamagedDocument(f"{source.name} cannot be read: Tesseract said nothing")
    return document_of(pages, source)


def _sizes(data: bytes) -> list[tuple[int, int]]:
    """Width and height of every picture in a file, in dots."""
    if data.startswith(b"\x89PNG"):
        return [struct.unpack(">II", data[16:24])]
    if data.startswith(b"\xff\xd8"):
        return [_jpeg_size(data)]
    return _tiff_sizes(data)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while data[at] == 0xFF:
        while data[at] == 0xFF:  # any number may be put before a marker
            at += 1
        marker = data[at]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 4)
            return width, height
        at += 1 + struct.unpack_from(">H", data, at + 1)[0]
    raise Unrecognised("it has no frame")


def _tiff_sizes(data: bytes) -> list[tuple[int, int]]:
    order = "<" if data.startswith(b"II") else ">"
    sizes: list[tuple[int, int]] = []
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    while at:
        (count,) = struct.unpack_from(f"{order}H", data, at)
        size = {_WIDTH: 0, _HEIGHT: 0}
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            tag, kind = struct.unpack_from(f"{order}HH", data, entry)
            if tag in size:
                form = "H" if kind == 3 else "I"
                (size[tag],) = struct.unpack_from(f"{order}{form}", data, entry + 8)
        sizes.append((size[_WIDTH], size[_HEIGHT]))
        if len(sizes) > _MOST_PICTURES:
            raise Unrecognised(f"it holds more than {_MOST_PICTURES} pictures")
        (at,) = struct.unpack_from(f"{order}I", data, at + 2 + 12 * count)
    return sizes
