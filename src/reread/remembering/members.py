"""The documents that a question is about, and their pages as items.

One document, or the members of a collection: pages of several are numbered through, and each is the
item that its text makes it, whoever else holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reread.reading import joined, traced_back
from reread.reading.levels import below, level_of
from reread.reading.render import parts
from reread.store import Store
from reread.store.changes import Gisted
from reread.thoughts.chunks import chunks
from reread.types import Answer, Citation, Collection, GistMemory, Place, Section


def members_of(memory: GistMemory) -> Sequence[GistMemory]:
    """The memories of single documents that it consists of."""
    return memory.members if isinstance(memory, Collection) else (memory,)


def documents_of(memory: GistMemory) -> list[str]:
    """The ids of the documents that it is about."""
    return [member.document.id for member in members_of(memory)]


def numbers_of(store: Store, memory: GistMemory) -> list[int]:
    """The items of its pages, in order; made where they are new."""
    found: list[int] = []
    for member in members_of(memory):
        spans = [(p.start, p.end) for p in member.pages]
        found += store.items.pages(member.document, spans)
    return found


def pages_at(memory: GistMemory, places: Sequence[Place]) -> tuple[int, ...]:
    """The numbers of its pages that stand at these places."""
    return tuple(sorted(set(_standing_at(memory, places))))


def _standing_at(memory: GistMemory, places: Sequence[Place]) -> Iterator[int]:
    first = 0
    for member in members_of(memory):
        spans = [(p.start, p.end) for p in places if p.document == member.document.id]
        for page in member.pages if spans else ():
            if any(a < page.end and b > page.start for a, b in spans):
                yield first + page.number
        first += len(member.pages)


def chunked(memory: GistMemory, most_tokens: int) -> GistMemory:
    """Its documents in raw chunks for pages, without gists."""
    made = []
    for member in members_of(memory):
        pages = chunks(member.document, most_tokens)
        made.append(replace(member, pages=pages, gists=("",) * len(pages), levels=()))
    return joined(made) if isinstance(memory, Collection) else made[0]


def reached(answer: Answer, page: int, numbers: Mapping[int, int]) -> Gisted:
    """The gist through which an answer reached a page that it did not read in full.

    The page's own where that was shown; else that of the section seen first that it lies in, on
    the sections and gists that was made from. `numbers` are the items of the pages.
    """
    memory = answer.memory
    section = next((s for s in parts(memory) if s.first <= page <= s.last), None)
    if section is None or any(a <= page <= b for a, b in answer.trace.gists):
        return Gisted(memory.gists[page - 1], (numbers[page],))
    return _gisted(memory, level_of(memory, section), section, numbers)


def _gisted(memory: GistMemory, level: int, section: Section, numbers: Mapping[int, int]) -> Gisted:
    if level < 0:
        return Gisted(section.gist, (numbers[section.first],))
    lower = below(memory, level, section)
    made = tuple(_gisted(memory, level - 1, one, numbers) for one in lower)
    return made[0] if len(made) == 1 else Gisted(section.gist, made)  # passed on, not made anew


def standing(memory: GistMemory, citations: Sequence[Citation]) -> list[Citation]:
    """The citations whose quote stands in one document, as they are."""
    found = [c for c in citations if c.status != "unverified"]
    if isinstance(memory, Collection):
        found = [c for c in found if traced_back(memory, c).status != "unverified"]
    return found


def bounds(memory: GistMemory, offset: int) -> tuple[int, int]:
    """Where the document begins and ends in the memory's text that holds this offset."""
    start = 0
    for member in members_of(memory):
        end = start + len(member.document.text)
        if offset < end:
            return start, end
        start = end
    return 0, start
