"""What a question is shown of a memory before it looks into anything.

Mostly that is every gist or, where these outgrow the window, the top level of sections. Two kinds
of memory are seen otherwise, and neither takes a call. Of a document that grows, the newest pages
are seen by their own gists and what is older by sections, the older the wider: iterative gisting
(Appendix G.3), with the gists of all pages kept. Of a document that was not read to its end, the
gists made so far are seen, and the other pages are only named.

Invariant: a view covers all pages in order, and what one section holds can be shown beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import nlargest
from itertools import groupby

from reread.reading.desk import Desk
from reread.reading.fit import gist_room
from reread.reading.kinds import grows
from reread.reading.levels import lower, pages_as_sections
from reread.reading.render import parts, tags, top
from reread.types import Collection, GistMemory, Section


def viewed(desk: Desk, memory: GistMemory, question: str) -> GistMemory:
    """The memory with the view that the question is shown, where it has one of its own."""
    memory = replace(memory, view=())
    if memory.provisional:
        return replace(memory, view=_so_far(desk, memory, question))
    growing = desk.extends or grows(memory.settings.kind)
    if growing and memory.levels and not isinstance(memory, Collection):
        return replace(memory, view=_faded(desk, memory))
    return memory


def _faded(desk: Desk, memory: GistMemory) -> tuple[Section, ...]:
    """The top level, its newest sections opened as far as two thirds of the room go."""
    room = gist_room(desk)
    most = min(room * 2 // 3, room - _widest(desk, memory))
    shown = replace(memory, view=memory.levels[-1])
    marks = tags(shown)
    while whole := parts(shown):
        newest = whole[-1]
        k = shown.view.index(newest)
        wider = (*shown.view[:k], *lower(memory, newest), *shown.view[k + 1 :])
        opened = replace(memory, view=wider)
        if desk.tokens("\n\n".join(top(opened, marks))) > most:
            break
        shown = opened
    return shown.view


def _widest(desk: Desk, memory: GistMemory) -> int:
    """The most tokens that the pages of one section take by their gists."""
    held = [
        "\n\n".join(f"<Page {s.last}>\n{gist}" for gist in memory.gists[s.first - 1 : s.last])
        for s in memory.levels[0]
    ]
    # Counting all would take seconds for a library; bytes tell well which can be the longest.
    return max(map(desk.tokens, nlargest(4, held, key=lambda text: len(text.encode()))))


def _so_far(desk: Desk, memory: GistMemory, question: str) -> tuple[Section, ...]:
    """The gists there are, the pages without one as parts; of too many gists, the likeliest.

    They take a third of the room at most, since the first question about them waits for all of it.
    """
    read = [s for s in pages_as_sections(memory) if s.gist]
    room = gist_room(desk) // 3
    shown: set[int] = set()
    for section in _likeliest(desk, read, question):
        room -= desk.tokens(f"<Page {section.first}>\n{section.gist}\n\n")
        if room < 0:
            break
        shown.add(section.first)
    return tuple(_stretches(memory, shown))


def _likeliest(desk: Desk, read: list[Section], question: str) -> Iterable[Section]:
    """Those that share words with the question, the best first, and then the others in order."""
    ranked = desk.rank([section.gist for section in read], question)
    return [read[k] for k in dict.fromkeys((*ranked, *range(len(read))))]


def _stretches(memory: GistMemory, shown: set[int]) -> Iterator[Section]:
    """The pages to be shown, and sections in place of those between them."""

    def state(number: int) -> tuple[int, str]:
        if number in shown:
            return number, ""
        return 0, "read, but not shown here" if memory.gists[number - 1] else "not read yet"

    for (number, why), group in groupby(range(1, len(memory.pages) + 1), state):
        span = list(group)
        first, last = span[0], span[-1]
        name = f"Page {first}" if first == last else f"Pages {first} to {last}"
        gist = memory.gists[number - 1] if number else f"{name}: {why}."
        yield Section(first=first, last=last, gist=gist)
