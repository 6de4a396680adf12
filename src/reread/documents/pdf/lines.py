"""Words put together to lines, and lines put into the order in which people read them.

What was drawn one after the other is trusted within a line only; between lines, columns are found
by the white gutter between them. A line whose parts stand far apart keeps them as cells: it may
be a row of a table.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from reread.documents.pdf.words import Word
from reread.text import count_words

MARK, END_MARK = "\x0e", "\x0f"  # around raised marks, until it is known which call a note
_GAP_EM = 1.0  # parts of a line further apart are cells
_GLUE_EM = 0.12
_SAME_ROW = 0.5  # share of the lower height by which boxes of one row overlap
_RAISED = 0.85
_SHELF = 12.0  # points
_MOST_SHELVES = 100  # a damaged file may hold letters as high as mountains
_ROWS_ALIGNED = 0.6  # rows of a table stand at one height in all its columns
_LEAST_LINES = 3  # fewer on a side are not yet columns
_ACCENTS = dict(
    zip(
        "´`¨ˆ˜˘¯ˇ¸˚˙˝˛",
        "\u0301\u0300\u0308\u0302\u0303\u0306\u0304\u030c\u0327\u030a\u0307\u030b\u0328",
        strict=True,
    )
)
_NOTE_MARKS = frozenset("0123456789*∗†‡§¶,) ")


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line without wide gaps."""

    text: str
    x0: float
    x1: float


@dataclass(slots=True)
class Line:
    """A line of a column. `left` and `right` are the edges of its column, `region` its number.

    `size`, `bold` and `mono` are those of most of its characters.
    """

    cells: tuple[Cell, ...]
    top: float
    bottom: float
    size: float
    bold: bool
    mono: bool
    rtl: bool
    spaced: bool
    region: int = 0
    left: float = 0.0
    right: float = 0.0
    x0: float = field(init=False)
    x1: float = field(init=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        self.x0 = min([c.x0 for c in self.cells])
        self.x1 = max([c.x1 for c in self.cells])
        self.text = " ".join([c.text for c in self.cells])


@dataclass(slots=True)
class _Part:
    """Words that stand side by side."""

    words: list[Word]
    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def add(self, words: Sequence[Word], box: Word | _Part) -> None:
        self.words.extend(words)
        self.x0, self.x1 = min(self.x0, box.x0), max(self.x1, box.x1)
        self.top, self.bottom = min(self.top, box.top), max(self.bottom, box.bottom)


def lines_of(words: Iterable[Word]) -> list[Line]:
    """The lines of a page in reading order."""
    lines: list[Line] = []
    for number, parts in enumerate(_regions(_joined(_parts(words)), 0)):
        rows = [_line(row) for row in _rows(parts)]
        left, right = _edges(rows)
        for line in rows:
            line.region, line.left, line.right = number, left, right
        lines.extend(rows)
    return lines


# -- parts of lines -----------------------------------------------------------------------------


def _parts(words: Iterable[Word]) -> list[_Part]:
    parts: list[_Part] = []
    for word in words:
        if parts and (_follows(parts[-1], word, word.type.size) or _on(parts[-1], word)):
            parts[-1].add((word,), word)
        else:
            parts.append(_Part([word], word.x0, word.top, word.x1, word.bottom))
    return parts


def _follows(part: _Part, other: Word | _Part, size: float) -> bool:
    gap = other.x0 - part.x1
    return -0.35 * size <= gap <= _GAP_EM * size and _overlap(part, other)


def _on(part: _Part, word: Word) -> bool:
    """Whether a word is an accent that was drawn onto the last letters of a part."""
    return word.text in _ACCENTS and part.x0 <= word.x0 <= part.x1 and _overlap(part, word)


def _overlap(one: Word | _Part, other: Word | _Part) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared >= _SAME_ROW * min(one.bottom - one.top, other.bottom - other.top)


def _joined(parts: list[_Part]) -> list[_Part]:
    """Parts of one line that were not drawn one after the other."""
    whole: list[_Part] = []
    shelves: dict[int, list[_Part]] = {}  # by height, so that few need to be compared
    for part in sorted(parts, key=lambda p: (round(p.x0), p.top)):
        size = max(w.type.size for w in part.words)
        heights = range(int(part.top // _SHELF), int(part.bottom // _SHELF) + 1)[:_MOST_SHELVES]
        near = (p for height in heights for p in shelves.get(height, ()))
        before = (
            None if part.words[0].rtl else next((p for p in near if _follows(p, part, size)), None)
        )
        if before is not None:
            before.add(part.words, part)
            continue
        whole.append(part)
        for height in heights:
            shelves.setdefault(height, []).append(part)
    return whole


# -- columns ------------------------------------------------------------------------------------


def _regions(parts: list[_Part], depth: int) -> list[list[_Part]]:
    """Stretches of parts to be read one after the other, each without columns."""
    gutter = _gutter(parts) if depth < 4 else None
    if gutter is None:
        return [parts] if parts else []
    crossing = sorted((p for p in parts if p.x0 < gutter < p.x1), key=lambda p: p.top)
    edges = [(p.top + p.bottom) / 2 for p in crossing]
    bands: list[tuple[list[_Part], list[_Part]]] = [([], []) for _ in range(len(edges) + 1)]
    for part in parts:
        if not part.x0 < gutter < part.x1:
            band = bisect_left(edges, (part.top + part.bottom) / 2)
            bands[band][part.x0 >= gutter].append(part)
    rightwards = sum(p.words[0].rtl for p in parts) * 2 < len(parts)
    found: list[list[_Part]] = []
    across: list[_Part] = []
    for number, sides in enumerate(bands):
        fewest = min(map(len, sides)) or max(map(len, sides))
        if 0 < fewest < _LEAST_LINES:  # names under a title, cells, a last line
            across.extend([*sides[0], *sides[1]])
        elif any(sides):
            found.extend([across] if across else [])
            across = []
            for side in sides if rightwards else sides[::-1]:
                found.extend(_regions(side, depth + 1))
        across.extend(crossing[number : number + 1])
    return [*found, across] if across else found


def _gutter(parts: list[_Part]) -> float | None:
    """Where a white gutter parts columns of prose, None where there is none."""
    if len(parts) < 10:
        return None
    low, high = min(p.x0 for p in parts), max(p.x1 for p in parts)
    reach = sum(p.x1 - p.x0 for p in parts)
    ends, up_to = _running_widths(parts, lambda p: p.x1)
    starts, before = _running_widths(parts, lambda p: p.x0)
    best, where = 0.0, None
    for step in range(15, 86):
        x = low + (high - low) * step / 100
        left = up_to[bisect_right(ends, x)]
        right = reach - before[bisect_left(starts, x)]
        worth = min(left, right) - (reach - left - right)
        if worth > best:
            best, where = worth, x
    if where is None:
        return None
    sides = [p for p in parts if p.x1 <= where], [p for p in parts if p.x0 >= where]
    few, many = sorted(len(side) for side in sides)
    if few < 5 or few < 0.2 * many:
        return None
    prose = sum(_is_prose(side, high - low) for side in sides)
    # A column may hold a table; but then its rows do not stand on the lines of the other column.
    return where if prose == 2 or (prose == 1 and _aligned(*sides) < _ROWS_ALIGNED) else None


def _running_widths(
    parts: list[_Part], edge: Callable[[_Part], float]
) -> tuple[list[float], list[float]]:
    """The sorted edges, and the width of all parts before each (one more than there are edges)."""
    ordered = sorted(parts, key=edge)
    widths = [0.0, *accumulate(p.x1 - p.x0 for p in ordered)]
    return [edge(p) for p in ordered], widths


def _aligned(one: list[_Part], other: list[_Part]) -> float:
    """The share of lines that stand at the height of a line on the other side."""
    few, many = sorted((one, other), key=len)
    feet = sorted(p.bottom for p in many)
    near = 0
    for part in few:
        k = bisect_left(feet, part.bottom - 0.12 * part.height)
        near += k < len(feet) and feet[k] <= part.bottom + 0.12 * part.height
    return near / len(few)


def _is_prose(parts: list[_Part], width: float) -> bool:
    """Whether most of the words stand in lines of a text and not in cells of a table."""
    side = max(p.x1 for p in parts) - min(p.x0 for p in parts)
    if side < 0.2 * width:
        return False
    total = in_lines = 0
    for part in parts:
        words = sum(count_words(w.text) for w in part.words)
        total += words
        in_lines += words if words >= 3 and part.x1 - part.x0 >= 0.5 * side else 0
    return in_lines >= 0.6 * total


# -- lines --------------------------------------------------------------------------------------


def _rows(parts: list[_Part]) -> list[list[_Part]]:
    """Parts that stand on one line taken together, from top to bottom."""
    rows: list[list[_Part]] = []
    for part in sorted(parts, key=lambda p: (p.top + p.bottom, p.x0)):
        row = rows[-1] if rows else []
        # As a rule the whole row must share the height: a high box does not swallow the next row.
        if row and all(_overlap(part, p) and not _covers(part, p) for p in row):
            row.append(part)
        else:
            rows.append([part])
    return rows


def _covers(one: _Part, other: _Part) -> bool:
    """Whether parts stand over one another, as no two parts of a line do."""
    shared = min(one.x1, other.x1) - max(one.x0, other.x0)
    return shared > 0.5 * min(one.x1 - one.x0, other.x1 - other.x0)


def _line(row: list[_Part]) -> Line:
    words = [w for part in row for w in part.words]
    sizes, styles = Counter[float](), Counter[tuple[bool, bool]]()
    for word in words:
        sizes[word.type.size] += len(word.text)
        styles[word.type.bold, word.type.mono] += len(word.text)
    size = sizes.most_common(1)[0][0]
    # Bold or code is a line that is so as a whole, not one that only begins so; a single word in
    # other type makes a line of text.
    total = styles.total()
    bold = sum(n for (b, _), n in styles.items() if b) >= 0.85 * total
    mono = sum(n for (_, m), n in styles.items() if m) >= 0.95 * total
    mono = mono and not any(not w.type.mono and _has_letters(w.text) for w in words)
    rtl = sum(len(w.text) for w in words if w.rtl) * 2 > total
    ordered = sorted(row, key=lambda p: -p.x1 if rtl else p.x0)
    return Line(
        cells=tuple(Cell(_text(part, size), part.x0, part.x1) for part in ordered),
        top=min(p.top for p in row),
        bottom=max(p.bottom for p in row),
        size=size,
        bold=bold,
        mono=mono,
        rtl=rtl,
        spaced=ordered[-1].words[-1].spaced,
    )


def _has_letters(text: str) -> bool:
    return any(c.isalpha() for c in text)


def has_cells(line: Line) -> bool:
    """Whether parts of a line stand apart as in a table; a line set loosely reaches both edges."""
    edges = sorted((c.x0, c.x1) for c in line.cells)
    gaps = [b[0] - a[1] for a, b in zip(edges, edges[1:], strict=False)]
    if not gaps:
        return False
    return max(gaps) > 1.8 * line.size or line.x1 < line.right - 0.5 * line.size


def _text(part: _Part, size: float) -> str:
    pieces: list[str] = []
    edge = part.x0
    for k, word in enumerate(part.words):
        gap = word.x0 - edge
        if (
            len(word.text) == 1
            and word.text in _ACCENTS
            and _accent(pieces, word, part.words[k - 1])
        ):
            continue
        if k and (word.before == " " or (word.before == "\n" and gap > _GLUE_EM * size)):
            pieces.append(" ")
        pieces.append(_marked(word, part, size))
        edge = word.x1
    return "".join(pieces)


def _accent(pieces: list[str], accent: Word, word: Word) -> bool:
    """Puts an accent that was drawn by itself on the letter under it; whether one was found."""
    if not pieces or not word.x0 <= accent.x0 <= word.x1 or not word.text:
        return False
    place = ((accent.x0 + accent.x1) / 2 - word.x0) / max(word.x1 - word.x0, 0.1) * len(
        word.text
    ) - 0.5
    text = pieces[-1]
    found = []
    for k, letter in enumerate(text):
        whole = unicodedata.normalize("NFC", letter + _ACCENTS[accent.text])
        if len(whole) == 1 and abs(k - place) < 1.6:
            found.append((abs(k - place), k, whole))
    if not found:
        return False
    _, k, whole = min(found)
    pieces[-1] = text[:k] + whole + text[k + 1 :]
    return True


def _marked(word: Word, part: _Part, size: float) -> str:
    """A word, put in marks where it is small and raised as what calls a note is."""
    small = word.type.size < _RAISED * size and word.bottom < part.bottom - 0.1 * size
    return f"{MARK}{word.text}{END_MARK}" if small and set(word.text) <= _NOTE_MARKS else word.text


def _edges(rows: list[Line]) -> tuple[float, float]:
    """Left and right edge of a column: where lines begin, and how far they reach."""
    if not rows:
        return 0.0, 0.0
    return min(r.x0 for r in rows), max(r.x1 for r in rows)
