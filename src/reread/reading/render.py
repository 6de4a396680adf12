"""The gist memory as text: what of it a prompt shows, each piece under its tag, in document order.

That is every page, as its gist or in full; or what is seen first, the view or else the top level,
and below it the pages (or sections) of what was looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reread.evidence import Note
from reread.reading.marks import Marks
from reread.types import Collection, GistMemory, Section

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
    """Tags that occur in nothing that is shown of a memory, and in none of the other texts."""
    inside = (*_shown(memory), *texts)
    page = Marks.absent_from(inside, stem="Page ")
    if not seen_first(memory):
        return Tags(page, page, page)
    part, section = (Marks.absent_from(inside, stem=stem) for stem in ("Part ", "Section "))
    return Tags(page, part, section)


def _shown(memory: GistMemory) -> Iterator[str]:
    """All of a memory that a prompt may show: pages, gists, sections, titles."""
    yield memory.document.text
    yield from memory.gists
    yield from (section.gist for level in (memory.view, *memory.levels) for section in level)
    if isinstance(memory, Collection):
        yield from (member.document.title for member in memory.members)


def seen_first(memory: GistMemory) -> Sequence[Section]:
    """What a question sees before it looks into anything; empty where that is every page."""
    return memory.view or (memory.levels[-1] if memory.levels else ())


def parts(memory: GistMemory) -> list[Section]:
    """The sections that are seen first; they are numbered from 1."""
    return [s for s in seen_first(memory) if not _by_itself(memory, s)]


def seen_pages(memory: GistMemory) -> list[int]:
    """The numbers of the pages whose own gists are seen before anything is looked into."""
    if not seen_first(memory):
        return list(range(1, len(memory.pages) + 1))
    return [s.first for s in memory.view if _by_itself(memory, s)]


def _by_itself(memory: GistMemory, section: Section) -> bool:
    """Whether a section that is seen first is a page under its own number."""
    alone = bool(memory.view) and section.first == section.last
    return alone and section.gist == memory.gists[section.first - 1]


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
    level whose pages are shown too.
    """
    full = {number: memory.pages[number - 1].text.strip() for number in opened}
    in_place = full if layout == "in-place" else {}
    shown = dict.fromkeys(seen_pages(memory))
    texts: list[str] = []
    if not seen_first(memory):
        texts = [_page(memory, tags, number, in_place) for number in shown]
    else:
        texts = top(memory, tags, in_place)
        wider = sorted({n for s in inside for n in range(s.first, s.last + 1)} - set(shown))
        texts += [LOOKED_INTO] if wider else []
        texts += [_page(memory, tags, number, in_place) for number in wider]
        shown |= dict.fromkeys(wider)
    after = [number for number in opened if number not in shown or not in_place]
    texts += [APPENDED] if after else []
    texts += [_page(memory, tags, number, full) for number in after]
    return "\n\n".join(texts)


def _page(memory: GistMemory, tags: Tags, number: int, full: Mapping[int, str]) -> str:
    """A page under its tag: its text where `full` has it, else its gist."""
    text = full.get(number, memory.gists[number - 1])
    return f"{_tagged(memory, tags, number)}\n{text}"


def _tagged(memory: GistMemory, tags: Tags, number: int) -> str:
    """A page's tag, and where there are several documents, the title of its own."""
    tag = tags.page(number)
    if not isinstance(memory, Collection):
        return tag
    return f"{tag}\n(From: {memory.located(number)[0].document.title})"


def top(memory: GistMemory, tags: Tags, full: Mapping[int, str] | None = None) -> list[str]:
    """What is seen first: sections, and pages that stand there by themselves, each under its tag.

    Pages that `full` has are shown by that.
    """
    texts: list[str] = []
    number = 0
    for section in seen_first(memory):
        if _by_itself(memory, section):
            texts.append(_page(memory, tags, section.first, full or {}))
        else:
            number += 1
            texts.append(f"{tags.part(number)}\n{section.gist}")
    return texts


def render_sections(memory: GistMemory, tags: Tags, sections: Sequence[Section]) -> str:
    """What is seen first, and after it sections of a lower level, numbered from 1."""
    lower = [f"{tags.section(k)}\n{s.gist}" for k, s in enumerate(sections, 1)]
    return "\n\n".join([*top(memory, tags), LOOKED_INTO, *lower])


def notes(memory: GistMemory, noted: Sequence[Note], *texts: str) -> str:
    """The notes under tags such as `<Note 1>` that stand in none of the texts around them."""
    if not noted:
        return ""
    from_others = [", ".join(title for _, title in note.elsewhere) for note in noted]
    said = (*(note.text for note in noted), *from_others)
    within = (*_shown(memory), *said, *texts)
    marks = Marks.absent_from(within, stem="Note ")
    parts = [NOTED]
    for number, (note, others) in enumerate(zip(noted, from_others, strict=True), 1):
        pages = ", ".join(map(str, note.pages))
        place = f" from page{'s' if len(note.pages) > 1 else ''} {pages}" if pages else ""
        place += (
            f"\n({'Also from' if pages else 'From'} another document: {others})" if others else ""
        )
        parts.append(f"{marks(number)}{place}\n{note.text}")
    return "\n\n".join(parts)
