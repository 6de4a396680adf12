"""Lines of a column grouped to blocks: paragraphs, headings, lists, code, tables, notes.

A line is joined to the one before it where it was broken because the next word did not fit, and
begins something new after a gap, at an indent, in another type, or where there was room left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reread.documents.pdf.contents import LEADERS, begins_entry, entries_of, is_contents
from reread.documents.pdf.lines import END_MARK, MARK, Line, has_cells
from reread.types import ParagraphKind

BULLET = re.compile(r"[•◦▪▫‣⁃·●○■□➢➤✓❖∙–—*](?:\s|$)|[-−]\s")
_ITEM = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivxIVX]{1,5}[.)]|\[\d{1,3}\])\s+\S")
_NOTE = re.compile(
    rf"(?:{MARK}(?P<raised>[^{END_MARK}]+){END_MARK}|(?P<plain>\d{{1,3}}|[*∗†‡§¶])\)?(?=[\s“\"A-Z]))\s*"
)
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)|table|tab\.|algorithm|listing|chart|abbildung|tabelle|abb\.|tableau|figura"
    r"|таблица|рисунок|рис\.|\[?(?:표|그림)|[图圖表])\s*(?:[A-Z]?\d+(?:[.-]\d+)*|[IVX]+)"
    r"(?:\]|\s*[:.|—–]|\s*$|\s+(?-i:[A-Z]))",
    re.I,
)
_ADDRESS = re.compile(r"(?:https?:|www\.)\S*$")
_ADDRESS_CUT = re.compile(r"(?:https?:|www\.\S*[/.=&?_-]|https?://\S*[/.=&?_-])$")
_SMALL = 0.93  # notes are set smaller than this share of the text's size
_RAGGED = 0.12  # of a column's width: so much room is left at the ends of lines set ragged
_GAP = 1.3  # a distance this many times the usual one is a gap


@dataclass(slots=True)
class Block:
    """Lines that belong together; `mark` is what calls a note.

    `breaks` says for each line whether it was meant to begin anew. `tight`: no gap stands before.
    `entry`: it is one of a table of contents.
    """

    kind: ParagraphKind
    lines: list[Line] = field(default_factory=list)
    mark: str = ""
    breaks: list[bool] = field(default_factory=list)
    tight: bool = False
    indented: bool = False
    entry: bool = False

    @property
    def size(self) -> float:
        return self.lines[0].size

    @property
    def text(self) -> str:
        return " ".join(plain(x.text) for x in self.lines)


def plain(text: str) -> str:
    """Text without the marks around raised signs."""
    return text.replace(MARK, "").replace(END_MARK, "")


def blocks_of(lines: Sequence[Line], body: float, is_heading: Iterable[bool]) -> list[Block]:
    """The blocks of one page in reading order; `body` is the size of the text's type."""
    blocks: list[Block] = []
    start = 0
    heads = list(is_heading)
    for end in range(1, len(lines) + 1):
        if end == len(lines) or lines[end].region != lines[start].region:
            blocks.extend(_Region(lines[start:end], body, heads[start:end]).blocks())
            start = end
    return blocks


class _Region:
    """Groups the lines of one column."""

    def __init__(self, lines: Sequence[Line], body: float, heads: Sequence[bool]) -> None:
        self._lines = lines
        self._body = body
        self._heads = heads
        self._pitch = _usual_pitch(lines)
        self._entries = entries_of(lines)
        self._contents = is_contents(self._entries)
        self._notes_from = self._first_note()
        self._rights = self._local_rights()

    def blocks(self) -> list[Block]:
        found: list[Block] = []
        k = 0
        while k < self._notes_from:
            rows = self._table_rows(k)
            if rows:
                found.append(Block("table", list(self._lines[k : k + rows])))
                k += rows
                continue
            line = self._lines[k]
            block = self._continued(found[-1] if found else None, k)
            if block is None:
                block = Block(self._kind(k))
                items = block.kind == "list" and bool(found) and found[-1].kind == "list"
                block.tight = k > 0 and self._distance(k) < (
                    2.2 if items else _GAP
                ) * self._pitch * (line.size)
                block.indented = line.x0 > line.left + 0.7 * line.size
                block.entry = self._contents and block.kind == "list"
                found.append(block)
            if len(block.breaks) == len(block.lines):
                block.breaks.append(False)
            block.lines.append(line)
            k += 1
        return [*found, *self._notes()]

    # -- what a line is -------------------------------------------------------------------------

    def _kind(self, k: int) -> ParagraphKind:
        line = self._lines[k]
        text = plain(line.text)
        if self._heads[k]:
            return "heading"
        if _CAPTION.match(text) and self._gap(k):
            return "caption"
        if self._contents and (self._entries[k] or self._opens_entry(k)):
            return "list"
        if BULLET.match(text) or _ITEM.match(text) or LEADERS.search(text):
            return "list"
        if line.mono and (self._gap(k) or line.x0 > line.left + line.size or self._mono(k - 1)):
            return "code"
        return "text"

    def _opens_entry(self, k: int) -> bool:
        """Whether line `k` is the first of an entry that ends on the next."""
        if k + 1 >= len(self._lines) or not self._entries[k + 1]:
            return False
        line, after = self._lines[k], self._lines[k + 1]
        return after.x0 > line.x0 and not begins_entry(after)

    def _mono(self, k: int) -> bool:
        return 0 <= k < len(self._lines) and self._lines[k].mono

    # -- what it belongs to ---------------------------------------------------------------------

    def _continued(self, block: Block | None, k: int) -> Block | None:
        """The block that line `k` goes on, None where it begins a new one."""
        if block is None or not block.lines or block.lines[-1] is not self._lines[k - 1]:
            return None
        line, before = self._lines[k], block.lines[-1]
        if block.kind == "heading" or self._heads[k]:
            return block if self._heads[k] and self._same_heading(block, k) else None
        if block.kind == "code":
            near = self._distance(k) < 2.2 * self._pitch * line.size
            return block if line.mono and near else None
        if self._entries[k - 1]:
            return None
        if block.entry and self._opens_entry(k - 1):
            return block
        if self._address_goes_on(k):
            return block
        kind = self._kind(k)
        if kind in ("caption", "list") or self._gap(k):
            return None
        if kind == "code" and (not before.mono) and self._room(k):
            return None
        if abs(line.size - before.size) > 0.06 * before.size or (
            line.bold != before.bold and self._room(k)
        ):
            return None
        return self._by_shape(block, k)

    def _address_goes_on(self, k: int) -> bool:
        """Whether line `k` is the rest of a web address, or one that a sentence leads to."""
        line, before = self._lines[k], self._lines[k - 1]
        words = plain(line.text).split()
        if self._gap(k) or not line.mono or len(words) != 1:
            return False
        begins = words[0].startswith(("http://", "https://", "www."))
        if before.mono:  # a list of addresses has each on a line of its own
            return not begins and bool(_ADDRESS_CUT.search(plain(before.text)))
        return bool(_ADDRESS.search(plain(before.text))) or (begins and not _ended(before))

    def _same_heading(self, block: Block, k: int) -> bool:
        line, before = self._lines[k], block.lines[-1]
        if (
            block.kind != "heading"
            or abs(line.size - before.size) > 0.5
            or line.bold != before.bold
        ):
            return False
        numbered = re.match(r"(?:\d+\.)*\d+\.?\s", plain(line.text))
        return not numbered and self._distance(k) < 1.7 * line.size and len(block.lines) < 5

    def _by_shape(self, block: Block, k: int) -> Block | None:
        """Indents and room at the end of the line before."""
        line, before = self._lines[k], self._lines[k - 1]
        em = line.size
        shift = (before.x1 - line.x1) if line.rtl else (line.x0 - before.x0)
        room = self._room(k)
        if len(block.lines) == 1:
            if shift > 0.7 * em:  # hanging, if the line before was full
                return None if room and block.kind == "text" else block
        elif shift > 0.7 * em:
            return None
        if shift < -0.7 * em and (room or len(block.lines) > 1):
            return None
        if not room:
            return block
        if len(block.lines) > 1 and _ended(before) and not any(block.breaks):
            return None
        block.breaks.append(True)
        return block

    def _room(self, k: int) -> bool:
        """Whether the first word of line `k` would have fitted on the line before."""
        line, before = self._lines[k], self._lines[k - 1]
        first = plain(line.text).split(" ", 1)[0]
        width = (line.x1 - line.x0) / max(1, len(line.text)) * (len(first) + 1)
        free = before.x0 - line.left if line.rtl else self._rights[k - 1] - before.x1
        least = width + 0.5 * line.size
        if first[:1].islower() and plain(before.text)[-1:].islower():
            least = max(least, _RAGGED * (line.right - line.left))  # the sentence goes on
        return free > least

    def _local_rights(self) -> list[float]:
        """How far text reaches around each line: farther lines elsewhere do not count."""
        rights: list[float] = []
        start = 0
        for end in range(1, len(self._lines) + 1):
            if end == len(self._lines) or self._gap(end):
                run = self._lines[start:end]
                reach = max((x.x1 for x in run), default=0.0)
                rights.extend([reach if len(run) >= 4 else run[0].right] * len(run))
                start = end
        return rights

    def _distance(self, k: int) -> float:
        return self._lines[k].bottom - self._lines[k - 1].bottom

    def _gap(self, k: int) -> bool:
        if k == 0:
            return True
        size = max(self._lines[k].size, self._lines[k - 1].size)
        return not -0.5 * size < self._distance(k) < _GAP * self._pitch * size

    # -- tables ---------------------------------------------------------------------------------

    def _table_rows(self, k: int) -> int:
        """How many lines from `k` on are rows of a table, 0 where there is none."""
        rows, last, misses = 0, 0, 0
        columns: list[tuple[float, float]] = []
        while k + rows < self._notes_from:
            line = self._lines[k + rows]
            cells = [(c.x0, c.x1) for c in line.cells]
            if (
                self._heads[k + rows]
                or self._entries[k + rows]
                or LEADERS.search(line.text)
                or (self._contents and self._opens_entry(k + rows))
                or _CAPTION.match(plain(line.text))
            ):
                break
            if rows and self._distance(k + rows) > 3 * self._pitch * line.size:
                break
            aligned = sum(any(_meet(c, d) for d in columns) for c in cells)
            if self._is_row(line) and (not columns or aligned >= 2):
                columns.extend(c for c in cells if not any(_meet(c, d) for d in columns))
                misses = 0
                last = rows + 1
            elif (
                not columns or len(cells) > 1 or not self._fits_column(line, columns) or misses > 3
            ):
                break
            else:
                misses += 1
                if last and line.cells[0].x0 > min(columns)[1]:
                    last = rows + 1
            rows += 1
        if all(line.mono for line in self._lines[k : k + last]):
            return 0  # code, which keeps its gaps
        full = sum(self._is_row(x) for x in self._lines[k : k + last])
        return last if full >= max(2, 0.4 * last) and self._looks_set_apart(k, last) else 0

    def _looks_set_apart(self, k: int, rows: int) -> bool:
        """Whether at least one gap stands in the same place twice: no accident of wide spaces."""
        starts = Counter(round(c.x0 / 6) for x in self._lines[k : k + rows] for c in x.cells[1:])
        ends = Counter(round(c.x1 / 6) for x in self._lines[k : k + rows] for c in x.cells[1:])
        return max(*starts.values(), *ends.values()) >= 2

    def _is_row(self, line: Line) -> bool:
        """Whether a line's parts are cells, and not a bullet or a line that was set loosely."""
        if len(line.cells) < 2 or (len(line.cells) == 2 and BULLET.match(plain(line.text))):
            return False
        return has_cells(line)

    def _fits_column(self, line: Line, columns: list[tuple[float, float]]) -> bool:
        cell = line.cells[0]
        if cell.x1 - cell.x0 > 0.75 * (line.right - line.left):
            return False
        starts = [c for c in columns if c[0] - 3 <= cell.x0 < c[1]]
        if not starts:
            return False
        # Only under the first column may it be the next paragraph; there it must stay within.
        return starts[0][0] > min(columns)[0] or cell.x1 <= starts[0][1] + 0.5 * line.size

    # -- notes ----------------------------------------------------------------------------------

    def _first_note(self) -> int:
        """Where the notes at the foot of the column begin; past the last line without notes."""
        k = len(self._lines)
        while k and self._lines[k - 1].size < _SMALL * self._body:
            k -= 1
        if not k:
            return len(self._lines)  # nothing stands above: this is the text itself
        first = k
        while k < len(self._lines) and not self._note_mark(k):
            k += 1
        # What stands before the first mark, apart from the text, is the end of an earlier note.
        carried = k < len(self._lines) and self._gap(first)
        plain_text = not any(x.mono or len(x.cells) > 1 for x in self._lines[first:k])
        captioned = _CAPTION.match(plain(self._lines[first].text)) if first < k else None
        return first if carried and plain_text and not captioned else k

    def _note_mark(self, k: int) -> re.Match[str] | None:
        line = self._lines[k]
        return None if line.cells[0].text.startswith("•") else _NOTE.match(line.text)

    def _notes(self) -> list[Block]:
        found: list[Block] = []
        for k in range(self._notes_from, len(self._lines)):
            line = self._lines[k]
            mark = self._note_mark(k)
            new = mark and (not found or self._begins_note(mark, found[-1], k))
            if new and mark:
                found.append(Block("note", mark=(mark["raised"] or mark["plain"]).strip(" ,)")))
            elif not found:
                found.append(Block("note"))
            found[-1].breaks.append(False)
            found[-1].lines.append(line)
        return found

    def _begins_note(self, mark: re.Match[str], before: Block, k: int) -> bool:
        if mark["raised"]:
            return True
        # A number that happens to begin a line is no mark: marks stand out or count on.
        number, last = mark["plain"], before.mark
        counts = number.isdecimal() and last.isdecimal() and int(number) == int(last) + 1
        signs = not number.isdecimal() and not last.isdecimal()
        return counts or (signs and number != last)


def note_body(block: Block) -> list[str]:
    """The lines of a note without the mark before the first."""
    if not block.mark:
        return [plain(x.text) for x in block.lines]
    first = _NOTE.sub("", block.lines[0].text, count=1)
    return [plain(first), *(plain(x.text) for x in block.lines[1:])]


def _ended(line: Line) -> bool:
    return bool(re.search(r"[.!?:。！？؟]['\"”’)\]]*$", plain(line.text)))


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return min(one[1], other[1]) - max(one[0], other[0]) > 0


def _usual_pitch(lines: Sequence[Line]) -> float:
    """The usual distance of lines, in sizes of their type."""
    steps = sorted(
        (b.bottom - a.bottom) / b.size
        for a, b in zip(lines, lines[1:], strict=False)
        if abs(a.size - b.size) < 0.3 and 0.7 < (b.bottom - a.bottom) / max(b.size, 1) < 2.6
    )
    return steps[len(steps) // 4] if len(steps) >= 3 else 1.25
