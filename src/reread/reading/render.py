"""The gist memory as text: what of it a prompt shows, each piece under its tag, in document order.

Without levels that is every page, as its gist or in full. With levels it is the top level, and
below it the pages (or sections) of what was looked into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reread.reading.marks import Marks
from reread.types import Collection, GistMemory, Note, Section

APPENDED = "Pages read again in full:"
LOOKED_INTO = "What was looked into:"
NOTED = "Notes made when this was read before, with the pages they come from:"


@dataclass(frozen=True, slots=True)
class Tags:
    """Tags that occur in no text around them: `<Page 3>`; with levels `<Part 3>`, `<Section 3>`."""

    page: Marks
    part: Marks
    section: Marks


def tags(memory: GistMemory, *texts: str) -> Tags:
    """Tags for a memory that occur in no page, no gist and none of the other texts."""
    inside = (memory.document.text, *memory.gists, *texts)
    page = Marks.absent_from(inside, stem="Page ")
    if not memory.levels:
        return Tags(page, page, page)
    inside += tuple(section.gist for level in memory.levels for section in level)
    part, section = (Marks.absent_from(inside, stem=stem) for stem in ("Part ", "Section "))
    return Tags(page, part, section)


def render(
    memory: GistMemory,
    tags: Tags,
    opened: Sequence[int] = (),
    *,
    layout: str,
    inside: Sequence[Section] = (),
) -> str:
    """The memory with the opened pages in full: in place of their gists, or after all of them.

    Pages after the gists stand in the order of `opened`. `inside` are the sections of the lowest
    level whose pages are shown.
    """
    full = {number: memory.pages[number - 1].text.strip() for number in opened}
    in_place = full if layout == "in-place" else {}
    shown = memory.pages
    parts: list[str] = []
    if memory.levels:
        parts = top(memory, tags)
        shown = tuple(
            memory.pages[n - 1]
            for n in sorted({n for s in inside for n in range(s.first, s.last + 1)})
        )
        parts += [LOOKED_INTO] if shown else []
    for page in shown:
        text = in_place.get(page.number, memory.gists[page.number - 1])
        parts.append(f"{_tagged(memory, tags, page.number)}\n{text}")
    visible = {page.number for page in shown} if in_place else set()
    after = [number for number in opened if number not in visible]
    parts += [APPENDED] if after else []
    parts += [f"{_tagged(memory, tags, number)}\n{full[number]}" for number in after]
    return "\n\n".join(parts)


def _tagged(memory: GistMemory, tags: Tags, number: int) -> str:
    """A page's tag, and where there are several documents, the title of its own."""
    tag = tags.page(number)
    if not isinstance(memory, Collection):
        return tag
    return f"{tag}\n(From: {memory.located(number)[0].document.title})"


def top(memory: GistMemory, tags: Tags) -> list[str]:
    """The sections of the top level, each under its tag."""
    return [f"{tags.part(k)}\n{s.gist}" for k, s in enumerate(memory.levels[-1], 1)]


def render_sections(memory: GistMemory, tags: Tags, sections: Sequence[Section]) -> str:
    """The top level, and after it sections of a lower one, numbered from 1."""
    lower = [f"{tags.section(k)}\n{s.gist}" for k, s in enumerate(sections, 1)]
    return "\n\n".join([*top(memory, tags), LOOKED_INTO, *lower])


def notes(memory: GistMemory, noted: Sequence[Note], *texts: str) -> str:
    """The notes under tags such as `<Note 1>` that stand in none of the texts around them."""
    if not noted:
        return ""
    within = (memory.document.text, *memory.gists, *(note.text for note in noted), *texts)
    marks = Marks.absent_from(within, stem="Note ")
    parts = [NOTED]
    for number, note in enumerate(noted, 1):
        pages = ", ".join(map(str, note.pages))
        place = f" from page{'s' if len(note.pages) > 1 else ''} {pages}" if pages else ""
        parts.append(f"{marks(number)}{place}\n{note.text}")
    return "\n\n".join(parts)
