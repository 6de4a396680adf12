"""The words of a PDF page as PDFium sees them: text, place and type.

PDFium gives characters in the order they were drawn, with spaces where it sees gaps. A word is
asked for its place once at either end, not for each character: that keeps long documents fast.
Places are points from the top left corner of the page, turned so that most words stand upright.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from reread.documents.pdf import bidi

HYPHEN = "\ufffe"  # what PDFium writes for a hyphen that ends a line
_WORD = re.compile(f"[^\\s{HYPHEN}\x02]+[{HYPHEN}\x02]?|[{HYPHEN}\x02]")
_BOLD = re.compile(r"bold|black|heavy|demi|-B(?:$|[^a-z])|medi(?:$|[^au])|cmbx|sfbx|ecbx", re.I)
_MONO = re.compile(
    r"mono|courier|typewriter|consol|menlo|fixed|nimbusmon|inconsol|cmtt|sftt|ectt", re.I
)
_LETTERS_IN_ONE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]")
_FAR = 1e6  # points: farther away, or not a number, is damage
_LARGEST = 2000.0  # points
_RAISED = 0.85  # type smaller than this share of the word before it is a mark of its own


@dataclass(frozen=True, slots=True)
class Type:
    """How a piece of text is set; `size` in points, `angle` in quarter turns."""

    size: float
    bold: bool
    mono: bool
    angle: int


@dataclass(slots=True)
class Word:
    """A word and its box.

    `before` is what PDFium puts before it: nothing (""), a space (" ") or a line end ("\\n").
    `spaced` says that a space was really drawn after it. `rtl`: a line that reads leftwards.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    type: Type
    before: str = "\n"
    rtl: bool = False
    spaced: bool = False


@dataclass(slots=True)
class Sheet:
    """The words of one page, its size in points, and the words that stand across."""

    width: float
    height: float
    words: list[Word]
    across: list[Word]


def _plain_call(function: Any, result: Any, *arguments: Any) -> Any:
    """A function of PDFium that takes and gives plain addresses, many times faster to call."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(result, *arguments)(address or 0)


_ADDRESS = ctypes.c_void_p
_text_object = _plain_call(raw.FPDFText_GetTextObject, _ADDRESS, _ADDRESS, ctypes.c_int)
_char_box = _plain_call(
    raw.FPDFText_GetLooseCharBox, ctypes.c_int, _ADDRESS, ctypes.c_int, _ADDRESS
)


class _Characters:
    """The characters of one page; what one drawing operation drew shares its type."""

    def __init__(self, text_page: pdfium.PdfTextPage) -> None:
        self._page = text_page
        self._address = ctypes.cast(text_page.raw, ctypes.c_void_p).value
        self._box = raw.FS_RECTF()
        self._box_address = ctypes.addressof(self._box)
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._types: dict[int, Type] = {}

    def key(self, index: int) -> int:
        """What characters of one drawing operation have in common, 0 where it is unknown."""
        return _text_object(self._address, index) or 0

    def of(self, index: int, key: int | None = None) -> Type:
        """The type of a character."""
        if key is None:
            key = self.key(index)
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = self._read(index, key)
        return found

    def box(self, index: int) -> tuple[float, float, float, float] | None:
        """A character's left, bottom, right and top edge, None where it has no sound place."""
        if not _char_box(self._address, index, self._box_address):
            return None
        box = self._box
        edges: tuple[float, float, float, float] = (box.left, box.bottom, box.right, box.top)
        for value in edges:
            if not -_FAR < value < _FAR:  # or not a number at all
                return None
        return edges

    def is_generated(self, index: int) -> bool:
        """Whether PDFium put a character where none was drawn."""
        return bool(raw.FPDFText_IsGenerated(self._page, index))

    def _read(self, index: int, key: int) -> Type:
        matrix = raw.FS_MATRIX()
        size = raw.FPDFText_GetFontSize(self._page, index)
        angle = 0
        turned = raw.FPDFText_GetMatrix(self._page, index, matrix)
        if turned and all(map(math.isfinite, (matrix.a, matrix.b, matrix.c, matrix.d))):
            size *= math.hypot(matrix.c, matrix.d)
            angle = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        bold, mono = self._font(index, key) if key else (False, False)
        size = min(max(round(size, 1), 0.1), _LARGEST) if math.isfinite(size) else _LARGEST
        return Type(size, bold, mono, angle)

    def _font(self, index: int, key: int) -> tuple[bool, bool]:
        font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(self._page, index))
        handle = ctypes.cast(font, ctypes.c_void_p).value or 0
        if handle not in self._fonts:
            buffer = ctypes.create_string_buffer(200)
            raw.FPDFFont_GetBaseFontName(font, buffer, 200)
            name = buffer.value.decode("latin-1")
            flags = max(0, raw.FPDFFont_GetFlags(font))
            bold = bool(_BOLD.search(name)) or bool(flags & 1 << 18)
            self._fonts[handle] = bold, bool(_MONO.search(name)) or bool(flags & 1)
        return self._fonts[handle]


def sheet_of(page: pdfium.PdfPage) -> Sheet:
    """The words of a page in the order they were drawn."""
    text_page = page.get_textpage()
    try:
        found = list(_words(text_page))
    finally:
        text_page.close()
    box = page.get_mediabox()
    if not all(abs(value) < _FAR for value in box):
        box = (0.0, 0.0, 612.0, 792.0)
    turns = Counter[int]()
    for word in found:
        turns[word.type.angle] += len(word.text)
    turn = turns.most_common(1)[0][0] if turns else 0
    sheet = Sheet(*_turned_size(box, turn), [], [])
    for word in found:
        _turn(word, box, turn)
        if word.x1 > 0 and word.x0 < sheet.width and word.bottom > 0 and word.top < sheet.height:
            (sheet.words if word.type.angle == turn else sheet.across).append(word)
    return sheet


def _turned_size(box: tuple[float, ...], turn: int) -> tuple[float, float]:
    width, height = box[2] - box[0], box[3] - box[1]
    return (height, width) if turn % 2 else (width, height)


def _turn(word: Word, box: tuple[float, ...], turn: int) -> None:
    """Puts a word's box (in PDF's frame, upwards) into the frame from the top left downwards."""
    left, bottom, right, top = box
    x0, y0, x1, y1 = word.x0, word.top, word.x1, word.bottom
    if turn == 0:
        word.x0, word.x1, word.top, word.bottom = x0 - left, x1 - left, top - y1, top - y0
    elif turn == 1:  # text runs upwards: what is left is up
        word.x0, word.x1, word.top, word.bottom = y0 - bottom, y1 - bottom, x0 - left, x1 - left
    elif turn == 2:
        word.x0, word.x1, word.top, word.bottom = right - x1, right - x0, y0 - bottom, y1 - bottom
    else:
        word.x0, word.x1, word.top, word.bottom = top - y1, top - y0, right - x1, right - x0


# -- characters to words ------------------------------------------------------------------------


def _words(text_page: pdfium.PdfTextPage) -> Iterator[Word]:
    count = text_page.count_chars()
    if count <= 0:
        return
    text = text_page.get_text_range()
    if len(text) != count:  # characters PDFium leaves out would shift every index after them
        codes = (raw.FPDFText_GetUnicode(text_page, i) for i in range(count))
        text = "".join(chr(c) if 0 < c < 0x110000 else "\ufffd" for c in codes)
    characters = _Characters(text_page)
    if bidi.RTL.search(text):
        yield from _lines_of_both_directions(text, characters)
        return
    for match in _WORD.finditer(text):
        yield from _pieces(text, match.start(), match.end(), characters)


def _pieces(text: str, start: int, end: int, characters: _Characters) -> Iterator[Word]:
    """A word, cut where its type changes size (raised marks)."""
    before = text[start - 1 : start] or "\n"
    before = "\n" if before in "\r\n\x02" + HYPHEN else " " if before.isspace() else ""
    key = characters.key(start)
    if end - start == 1 or key == characters.key(end - 1):
        cuts = [start, end]
    else:
        sizes = [characters.of(i).size for i in range(start, end)]
        inner = (i for i in range(1, len(sizes)) if _differ(sizes[i - 1], sizes[i]))
        cuts = [start, *(start + i for i in inner), end]
    for a, b in zip(cuts, cuts[1:], strict=False):
        kind = characters.of(a, key if a == start else None)
        word = _boxed(text[a:b], a, b - 1, kind, characters)
        if word is not None:
            word.before = before if a == start else ""
            word.spaced = text[b : b + 1] == " " and not characters.is_generated(b)
            yield word


def _differ(one: float, other: float) -> bool:
    return min(one, other) < _RAISED * max(one, other)


def _boxed(text: str, first: int, last: int, kind: Type, characters: _Characters) -> Word | None:
    left = characters.box(first)
    right = characters.box(last) if last != first else left
    if left is None or right is None:
        left = right = left or right
        if left is None or right is None:
            return None
    return Word(
        letters(text),
        min(left[0], right[0]),
        min(left[1], right[1]),
        max(left[2], right[2]),
        max(left[3], right[3]),
        kind,
    )


def letters(text: str) -> str:
    """Text with ligatures and presentation forms as the letters they stand for."""
    if text.isascii():
        return text.replace("\x02", "-")
    text = text.replace(HYPHEN, "-").replace("\x02", "-")
    return _LETTERS_IN_ONE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)


def _lines_of_both_directions(text: str, characters: _Characters) -> Iterator[Word]:
    """Words of a page with right-to-left text; there a line counts as one word."""
    for line in re.finditer(r"[^\r\n]+", text):
        if not bidi.RTL.search(line[0]):
            for match in _WORD.finditer(text, line.start(), line.end()):
                yield from _pieces(text, match.start(), match.end(), characters)
            continue
        glyphs = []
        for i in range(line.start(), line.end()):
            box = None if characters.is_generated(i) else characters.box(i)
            if box is not None:
                glyphs.append(bidi.Glyph(text[i], *box, characters.of(i).size))
        kind = characters.of(line.start())
        for run in bidi.runs(glyphs):
            written = bidi.logical(run)
            if written.strip():
                yield Word(
                    letters(written),
                    min(g.x0 for g in run),
                    min(g.y0 for g in run),
                    max(g.x1 for g in run),
                    max(g.y1 for g in run),
                    replace(kind, size=max(g.size for g in run)),
                    rtl=bidi.is_rtl(written),
                )
