"""Many documents as one memory: documents are chosen by their own gists, then pages in them.

Each document's gists are shortened until one section stands for it; those sections are the level
that a look-up descends from. Page numbers run through all documents; `Collection.located` gives
them back as the page of a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from reread.reading.desk import Desk
from reread.reading.fit import gist_room
from reread.reading.levels import Level, levels_over, pages_as_sections
from reread.types import (
    Citation,
    Collection,
    Coverage,
    Document,
    GistMemory,
    Page,
    Paragraph,
    Section,
)


def towered(desk: Desk, memory: GistMemory) -> GistMemory:
    """The memory with levels up to one section that stands for the document."""
    sections = pages_as_sections(memory)
    levels, fallbacks = levels_over(desk, sections, gist_room(desk), 0)
    levels = levels or (sections,)
    (whole,) = levels[-1]
    named = replace(whole, gist=f"{memory.document.title}: {whole.gist}")
    return replace(memory, levels=(*levels, (named,)), fallbacks=(*memory.fallbacks, *fallbacks))


def collected(
    desk: Desk, members: Sequence[GistMemory], failed: Sequence[tuple[str, str]] = ()
) -> Collection:
    """One memory over several that are `towered`; `failed` are sources that could not be read."""
    firsts = _starts(len(m.pages) for m in members)
    depth = max(len(m.levels) for m in members)
    levels: list[Level] = [
        tuple(
            Section(first=s.first + first, last=s.last + first, gist=s.gist)
            for m, first in zip(members, firsts, strict=False)
            for s in m.levels[min(k, len(m.levels) - 1)]
        )
        for k in range(depth)
    ]
    room = gist_room(desk)
    above, fallbacks = levels_over(desk, levels[-1], room, room // 3)
    made = joined(members, failed)
    return replace(made, model=desk.model.name, levels=(*levels, *above), fallbacks=fallbacks)


def joined(members: Sequence[GistMemory], failed: Sequence[tuple[str, str]] = ()) -> Collection:
    """The members' pages and gists one after another, without levels over them."""
    firsts = _starts(len(m.pages) for m in members)
    offsets = _starts(len(m.document.text) for m in members)
    return Collection(
        document=_joined(members, offsets, failed),
        pages=tuple(
            _moved_page(p, first, offset)
            for m, first, offset in zip(members, firsts, offsets, strict=False)
            for p in m.pages
        ),
        gists=tuple(g for m in members for g in m.gists),
        settings=members[0].settings,
        model=members[0].model,
        warnings=tuple(replace(w, document=m.document.id) for m in members for w in m.warnings),
        members=tuple(members),
        failed=tuple(failed),
    )


def traced_back(collection: Collection, citation: Citation) -> Citation:
    """The citation with the page and the offsets of the document it is from."""
    if not 1 <= citation.page <= len(collection.pages):
        return citation  # a page that a model made up, as its status says
    member, page = collection.located(citation.page)
    k = collection.members.index(member)
    offset = 0
    if citation.status != "unverified":
        offset = sum(len(m.document.text) for m in collection.members[:k])
        if citation.end - offset > len(member.document.text):  # no quote runs over two documents
            return Citation(
                page=page, quote=citation.quote, status="unverified", document=member.document.id
            )
    return replace(
        citation,
        page=page,
        start=citation.start - offset,
        end=citation.end - offset,
        document=member.document.id,
    )


def _starts(sizes: Iterable[int]) -> list[int]:
    """Where each begins when they follow one another."""
    return [0, *accumulate(sizes)][:-1]


def _joined(
    members: Sequence[GistMemory], offsets: Sequence[int], failed: Sequence[tuple[str, str]]
) -> Document:
    documents = [m.document for m in members]
    title = f"{len(documents)} documents"
    return Document(
        title=title,
        text="".join(d.text for d in documents),
        paragraphs=tuple(
            Paragraph(start=p.start + offset, end=p.end + offset, kind=p.kind, locator=p.locator)
            for d, offset in zip(documents, offsets, strict=True)
            for p in d.paragraphs
        ),
        origin=title,
        coverage=_coverage(documents, failed),
        words=sum(d.words for d in documents),
    )


def _coverage(documents: Sequence[Document], failed: Sequence[tuple[str, str]]) -> Coverage:
    """What is missing in any of the documents, each part under the document's title."""
    parts = [d.coverage for d in documents]
    return Coverage(
        parts=sum(c.parts for c in parts) + len(failed),
        read=sum(c.read for c in parts),
        without_text=tuple(f"{d.title}: {p}" for d in documents for p in d.coverage.without_text),
        blank=tuple(f"{d.title}: {p}" for d in documents for p in d.coverage.blank),
        failed=(
            *((f"{d.title}: {p}", why) for d in documents for p, why in d.coverage.failed),
            *failed,
        ),
    )


def _moved_page(page: Page, first: int, offset: int) -> Page:
    return replace(
        page, number=page.number + first, start=page.start + offset, end=page.end + offset
    )
