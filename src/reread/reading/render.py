"""The gist memory as text: every page under its tag, as its gist or in full, in document order."""

from __future__ import annotations

from collections.abc import Sequence

from reread.reading.marks import Marks
from reread.types import GistMemory

APPENDED = "Pages read again in full:"


def tags(memory: GistMemory, *texts: str) -> Marks:
    """Tags such as `<Page 3>` that stand in no page, no gist and none of the other texts."""
    return Marks.absent_from((memory.document.text, *memory.gists, *texts), stem="Page ")


def render(memory: GistMemory, marks: Marks, opened: Sequence[int] = (), *, layout: str) -> str:
    """The memory with the opened pages in full: in place of their gists, or after all of them.

    Pages after the gists stand in the order of `opened`.
    """
    in_place = opened if layout == "in-place" else ()
    parts = [
        f"{marks(page.number)}\n{page.text.strip() if page.number in in_place else gist}"
        for page, gist in zip(memory.pages, memory.gists, strict=True)
    ]
    if opened and layout != "in-place":
        parts.append(APPENDED)
        full = {page.number: page.text.strip() for page in memory.pages}
        parts += [f"{marks(number)}\n{full[number]}" for number in opened]
    return "\n\n".join(parts)
