"""Small PDF files written by hand, so that tests know what is in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 612, 792
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier", "F4": "Times-Roman"}

_NARROW = dict.fromkeys(" t.,/If", 2.78) | dict.fromkeys("ijl", 2.22) | {"r": 3.33, "m": 8.33}
_NARROW |= dict.fromkeys("cksvxyzJ", 5.0) | {"w": 7.22, "M": 8.33, "W": 9.44}


@dataclass(kw_only=True)
class Pdf:
    """A PDF in the making: `pages` are content streams as drawn by `text` and its like.

    `outline` are (title, index of the page). `fields` are forms' fields as (x, y, what was filled
    in) by the index of their page; nothing draws them but the reader. `labels` are entries of the
    page label tree, such as `0 << /S /r >>`. `letters` is what the codes from 0x80 on mean in the
    font F9. `turned` are pages with their rotation.
    """

    pages: list[str]
    outline: Sequence[tuple[str, int]] = ()
    labels: str = ""
    title: str = ""
    letters: str = ""
    turned: dict[int, int] = field(default_factory=dict)
    fields: dict[int, list[tuple[float, float, str]]] = field(default_factory=dict)
    user: str | None = None
    owner: str = "owner"

    def file(self) -> bytes:
        """The file."""
        objects = self._objects()
        key = b""
        extra = ""
        if self.user is not None:
            key, extra = _encryption(self.user, self.owner)
        out = bytearray(b"%PDF-1.4\n")
        offsets = []
        for number, body in enumerate(objects, 1):
            offsets.append(len(out))
            data = _encrypted(body, number, key) if key else body
            out += f"{number} 0 obj\n".encode() + data + b"\nendobj\n"
        start = len(out)
        out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
        out += "".join(f"{offset:010} 00000 n \n" for offset in offsets).encode()
        trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info 2 0 R {extra}"
        return bytes(out) + f"trailer << {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()

    def _objects(self) -> list[bytes]:
        """Catalogue, information, pages, resources, image, outline, two a page, one a field."""
        first = 8 + len(self.outline)
        kids = " ".join(f"{first + 2 * k} 0 R" for k in range(len(self.pages)))
        labels = f"/PageLabels << /Nums [{self.labels}] >>" if self.labels else ""
        marks = "/Outlines 7 0 R" if self.outline else ""
        numbers = iter(range(first + 2 * len(self.pages), 10**6))
        fields = {k: [(next(numbers), *one) for one in on] for k, on in self.fields.items()}
        drawn = " ".join(f"{number} 0 R" for on in fields.values() for number, *_ in on)
        form = f"/AcroForm << /Fields [{drawn}] /NeedAppearances true /DR 4 0 R >>" if drawn else ""
        objects = [
            f"<< /Type /Catalog /Pages 3 0 R {labels} {marks} {form} >>",
            f"<< /Title ({self.title}) >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>",
            self._resources(),
            _stream(
                "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray"
                " /BitsPerComponent 8",
                "0",
            ),
            _stream("", _unicode_map(self.letters)),
            f"<< /First 8 0 R /Last {7 + len(self.outline)} 0 R /Count {len(self.outline)} >>",
        ]
        for k, (title, page) in enumerate(self.outline):
            after = f"/Next {9 + k} 0 R" if k + 1 < len(self.outline) else ""
            target = f"/Dest [{first + 2 * page} 0 R /Fit]"
            objects.append(f"<< /Title ({title}) /Parent 7 0 R {target} {after} >>")
        for k, content in enumerate(self.pages):
            turn = f"/Rotate {self.turned[k]}" if k in self.turned else ""
            shown = " ".join(f"{number} 0 R" for number, *_ in fields.get(k, ()))
            turn += f" /Annots [{shown}]" if shown else ""
            objects.append(
                f"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources 4 0 R"
                f" /Contents {first + 2 * k + 1} 0 R {turn} >>"
            )
            objects.append(_stream("", content))
        for number, x, y, value in (one for on in fields.values() for one in on):
            objects.append(
                f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (field {number}) /V ({value}) /F 4"
                f" /DA (/F1 10 Tf 0 g) /Rect [{x} {HEIGHT - y - 4} {x + 200} {HEIGHT - y + 12}] >>"
            )
        return [body.encode("latin-1") for body in objects]

    def _resources(self) -> str:
        fonts = " ".join(
            f"/{key} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            for key, name in _FONTS.items()
        )
        own = (
            "/F9 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 128 /LastChar 255"
            f" /Widths [{' '.join(['500'] * 128)}] /ToUnicode 6 0 R"
            # Every code shows some letter: what has no shape PDFium leaves out.
            f" /Encoding << /Differences [128 {' '.join(['/n'] * 128)}] >> >>"
        )
        return f"<< /Font << {fonts} {own} >> /XObject << /Im 5 0 R >> >>"


def text(
    x: float, y: float, words: str, *, size: float = 10, font: str = "F1", turned: bool = False
) -> str:
    """Draws words with their foot at `y` points below the top of the page."""
    matrix = "0 1 -1 0" if turned else "1 0 0 1"
    shown = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf {matrix} {x} {HEIGHT - y} Tm ({shown}) Tj ET\n"


def lines(x: float, y: float, rows: Iterable[str], *, size: float = 10, font: str = "F1") -> str:
    """Draws rows one under the other, 12 points apart at a size of 10."""
    return "".join(
        text(x, y + k * 1.2 * size, row, size=size, font=font) for k, row in enumerate(rows)
    )


def picture() -> str:
    """Draws an image over the whole page."""
    return f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /Im Do Q\n"


def wrapped(words: str, width: float = 300) -> list[str]:
    """Words broken into rows of at most `width` points, as Helvetica sets them at a size of 10."""
    rows, row = [], ""
    for word in words.split():
        if row and width_of(f"{row} {word}") > width:
            rows.append(row)
            row = word
        else:
            row = f"{row} {word}".strip()
    return [*rows, row]


def width_of(row: str) -> float:
    """The width of a row in points, nearly."""
    return sum(_NARROW.get(c, 5.56 if not c.isupper() else 6.8) for c in row)


def _stream(entries: str, content: str) -> str:
    return f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream"


def _unicode_map(letters: str) -> str:
    rows = "\n".join(
        f"<{0x80 + k:02x}> <{letter.encode('utf-16-be').hex()}>" for k, letter in enumerate(letters)
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def"
        " /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange"
        f" {len(letters)} beginbfchar\n{rows}\nendbfchar endcmap end end"
    )


# -- encryption: the oldest kind (RC4 with 40 bits), enough to be locked ------------------------


def _encryption(user: str, owner: str) -> tuple[bytes, str]:
    mine, theirs = ((word.encode() + _PADDING)[:32] for word in (user, owner))
    hidden = _rc4(hashlib.md5(theirs).digest()[:5], mine)
    rights = (-64).to_bytes(4, "little", signed=True)
    key = hashlib.md5(mine + hidden + rights + b"0" * 16).digest()[:5]
    check = _rc4(key, _PADDING)
    entry = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -64 /O <{hidden.hex()}> /U <{check.hex()}> >>"
        f" /ID [<{(b'0' * 16).hex()}> <{(b'0' * 16).hex()}>]"
    )
    return key, entry


def _encrypted(body: bytes, number: int, key: bytes) -> bytes:
    salted = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
    head, mark, rest = body.partition(b"stream\n")
    head = re.sub(rb"\(([^()]*)\)", lambda m: b"<" + _rc4(salted, m[1]).hex().encode() + b">", head)
    if not mark:
        return head
    content = rest[: -len(b"\nendstream")]
    return head + mark + _rc4(salted, content) + b"\nendstream"


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)
