"""Levels of gists: a memory of any length behind a window of any size (beyond Appendix I).

When the gists of a document outgrow the window, neighbouring gists are shortened together into the
gist of a section, sections into sections, until the top level takes a third of the room for gists.
A look-up then descends: it names sections, sees what they hold, and names pages at last.

Invariant: the sections of every level cover all pages in order, each is shorter than what it was
made from, and where gists are unchanged so are the sections over them, so that a document that
grows pays for its new end only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reread import parallel
from reread.reading.desk import Desk
from reread.reading.gist import gist
from reread.text import count_words, cut_within, word_shares
from reread.types import Fallback, GistMemory, Section

Level = tuple[Section, ...]


def levelled(desk: Desk, memory: GistMemory, room: int) -> GistMemory:
    """The memory with as many levels of sections as it takes for the top one to fit its share.

    `room` is what the window has for gists, in tokens: a third is for the top level, a sixth at
    most for what one section holds.
    """
    levels, fallbacks = levels_over(desk, pages_as_sections(memory), room, room // 3)
    return replace(memory, levels=levels, fallbacks=(*memory.fallbacks, *fallbacks))


def levels_over(
    desk: Desk, sections: Level, room: int, enough: int
) -> tuple[tuple[Level, ...], tuple[Fallback, ...]]:
    """Levels over `sections` until one takes at most `enough` tokens, or is a single section."""
    levels: list[Level] = []
    fallbacks: list[Fallback] = []
    while len(sections) > 1 and _tokens(desk, sections) > enough:
        made: list[Section] = []
        groups = _groups(desk, sections, room // 6)
        for section, fallback in parallel.map_ordered(
            lambda group: _section(desk, group), groups, workers=desk.threads
        ):
            made.append(section)
            fallbacks += [fallback] if fallback else []
            desk.report("levels", section.last, sections[-1].last, f"level {len(levels) + 2}")
        sections = tuple(made)
        levels.append(sections)
    return tuple(levels), tuple(fallbacks)


def pages_as_sections(memory: GistMemory) -> Level:
    """Every page with its gist as a section of one page: the lowest level."""
    pairs = zip(memory.pages, memory.gists, strict=True)
    return tuple(Section(first=p.number, last=p.number, gist=g) for p, g in pairs)


def level_of(memory: GistMemory, section: Section) -> int:
    """The lowest level that has the section; pages stand below level 0."""
    return next(k for k, level in enumerate(memory.levels) if section in level)


def lower(memory: GistMemory, section: Section) -> Level:
    """What a section of any level was made from, where it is no copy of a lower one."""
    return below(memory, level_of(memory, section), section)


def below(memory: GistMemory, level: int, section: Section) -> Level:
    """What a section of `levels[level]` was made from: sections, or pages as such."""
    lower = memory.levels[level - 1] if level else pages_as_sections(memory)
    return tuple(s for s in lower if section.first <= s.first and s.last <= section.last)


def _tokens(desk: Desk, sections: Sequence[Section]) -> int:
    return desk.tokens("\n\n".join(f"<Section {s.last}>\n{s.gist}" for s in sections))


def _groups(desk: Desk, sections: Level, most_tokens: int) -> Iterator[Level]:
    """Neighbours of at most so many tokens together, at least two.

    Where a group may end is decided by the gists themselves, so that a change moves the ends near
    it and no others.
    """
    group: list[Section] = []
    tokens = 0
    for section in sections:
        size = _tokens(desk, [section])
        full = tokens + size > most_tokens
        ripe = tokens > most_tokens // 2 and zlib.crc32(group[-1].gist.encode()) % 4 == 0
        if len(group) > 1 and (full or ripe):
            yield tuple(group)
            group, tokens = [], 0
        group.append(section)
        tokens += size
    if group:
        yield tuple(group)


def _section(desk: Desk, group: Level) -> tuple[Section, Fallback | None]:
    """The section over a group, its gist half as long as the group's gists at most."""
    first, last = group[0].first, group[-1].last
    if len(group) == 1:
        return group[0], None
    text = "\n\n".join(s.gist for s in group)
    made = gist(desk, first, text)
    most = max(1, count_words(text) // 2)
    if made.fallback is None and count_words(made.text) <= most:
        return Section(first=first, last=last, gist=made.text), None
    reason = f"the gists of pages {first} to {last} were cut to their first sentences"
    cut = " ".join(first_sentences(s.gist, count_words(s.gist) // 2) for s in group)
    return (
        Section(first=first, last=last, gist=cut),
        Fallback(phase="levels", page=first, reason=reason),
    )


def first_sentences(text: str, words: int) -> str:
    """The text's beginning, at most `words` long, up to a sentence's end where there is one."""
    shares = max(1, words) * 12
    if word_shares(text) > shares:
        text = text[: cut_within(text, 0, len(text), shares // 2, shares)]
    return " ".join(text.split())
