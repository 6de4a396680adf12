"""Where footnotes go: at the end of their chapter, or of the text of their page.

Notes at the foot of a page stand in the way of whoever reads on. Where the outline tells the
chapters they are kept for the end of theirs, as other editions of a book have them, and keep the
printed page they stood on; a chapter whose marks begin anew on its pages, and a file without
chapters, has them after the last sentence that begins on their page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reread.documents.builder import TextBuilder
from reread.documents.pdf.blocks import Block
from reread.documents.pdf.pages import Entry
from reread.types import ParagraphKind

_OFTEN = 0.5  # of a chapter's marks: where more come again, they count pages and not the chapter


@dataclass(slots=True)
class Piece:
    """A text that is written later; `place` and `path` are those of the builder where it stood."""

    text: str
    kind: ParagraphKind
    place: str | None
    path: tuple[tuple[int, str], ...]
    tight: bool = False

    def write(self, builder: TextBuilder) -> None:
        """Adds the text; the places of what follows stay as they are."""
        kept = builder.place, builder.path
        builder.place, builder.path = self.place, self.path
        builder.paragraph(self.text, self.kind, tight=self.tight)
        builder.place, builder.path = kept


class Chapters:
    """The chapters of a file by its outline: the outermost level that divides it.

    `collecting` are those whose notes can stand together.
    """

    def __init__(self, outline: Sequence[Entry]) -> None:
        levels = Counter(entry.level for entry in outline)
        self.level = min((level for level, n in levels.items() if n > 1), default=0)
        self._starts = sorted({entry.page for entry in outline if entry.level <= self.level})
        self._collecting: set[int] = set()

    def add_notes(self, pages: Iterable[tuple[int, Sequence[Block]]]) -> None:
        """Takes in the notes of all pages as (index, blocks)."""
        marks: dict[int, Counter[str]] = defaultdict(Counter)
        for index, blocks in pages:
            found = (b.mark for b in blocks if b.kind == "note" and b.mark)
            marks[self._number(index)].update(found)
        for number, counts in marks.items():
            again = sum(n for n in counts.values() if n > 1)
            if number and again <= _OFTEN * counts.total():
                self._collecting.add(number)

    def collect(self, index: int) -> bool:
        """Whether notes on the page wait for the end of its chapter."""
        return self._number(index) in self._collecting

    def starts(self, index: int) -> bool:
        """Whether a chapter begins on the page."""
        number = self._number(index)
        return number > 0 and self._starts[number - 1] == index

    def _number(self, index: int) -> int:
        """The number of the last chapter that has begun by the end of the page, 0 before all."""
        return bisect_right(self._starts, index)
