"""Pages as a scanner makes them: pictures in a PDF, and picture files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import pypdfium2 as pdfium


def drawn(pdf: bytes, index: int = 0, dpi: int = 200) -> tuple[int, int, bytes]:
    """Width, height and shades of grey of a page."""
    file = pdfium.PdfDocument(pdf)
    bitmap = file[index].render(scale=dpi / 72, grayscale=True)
    data, stride = bytes(bitmap.buffer), bitmap.stride
    rows = (data[at : at + bitmap.width] for at in range(0, stride * bitmap.height, stride))
    found = bitmap.width, bitmap.height, b"".join(rows)
    file.close()
    return found


def scan(pictures: Sequence[tuple[int, int, bytes]]) -> bytes:
    """A PDF whose pages show one picture each and hold no text."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{3 + 3 * k} 0 R" for k in range(len(pictures)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pictures)} >>".encode())
    for k, (width, height, grey) in enumerate(pictures):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 3 * k} 0 R"
            f" /Resources << /XObject << /I {5 + 3 * k} 0 R >> >> >>".encode()
        )
        objects.append(_stream(b"", b"q 612 0 0 792 0 0 cm /I Do Q"))
        about = (
            f"/Type /XObject /Subtype /Image /Width {width} /Height {height}"
            " /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
        )
        objects.append(_stream(about.encode(), zlib.compress(grey, 1)))
    out = bytearray(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return bytes(out) + b"trailer << /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (len(objects) + 1)


def _stream(about: bytes, data: bytes) -> bytes:
    return b"<< %s /Length %d >> stream\n%s\nendstream" % (about, len(data), data)


def png(picture: tuple[int, int, bytes]) -> bytes:
    """A PNG file of shades of grey."""
    width, height, grey = picture
    rows = b"".join(b"\0" + grey[at : at + width] for at in range(0, width * height, width))

    def chunk(kind: bytes, data: bytes) -> bytes:
        sum_ = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + sum_

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    )


def tiff(pictures: Sequence[tuple[int, int, bytes]]) -> bytes:
    """A TIFF file of pictures in shades of grey, one after the other."""
    out = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for width, height, grey in pictures:
        strip = len(out)
        out += grey + bytes(len(grey) % 2)
        struct.pack_into("<I", out, link, len(out))
        tags = [
            (256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, strip), (277, 1),
            (278, height), (279, len(grey)),
        ]  # fmt: skip
        out += struct.pack("<H", len(tags))
        for tag, value in tags:
            out += struct.pack("<HHII", tag, 4, 1, value)
        link = len(out)
        out += bytes(4)
    return bytes(out)
