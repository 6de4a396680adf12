"""Context control (Appendix I): a gist memory that fits the model's window.

Where the profile merges, neighbouring pages are joined while the model finds that the second begins
nothing new, and the joined pages are gisted again; larger pages compress better (Figure 7). A page
never grows so large that it could not be opened. What is still too long gets levels of gists.
"""

from __future__ import annotations

from dataclasses import replace

from reread.errors import ContextExceeded, MalformedReply
from reread.reading import replies
from reread.reading.desk import Desk
from reread.reading.gist import Gist, gist
from reread.reading.levels import first_sentences, levelled, pages_as_sections
from reread.reading.render import render, tags
from reread.text import count_words
from reread.types import Fallback, GistMemory, Page

_RESERVED_TOKENS = 1_000  # instruction, question and reply
_MERGE_TOKENS = 64
_KEEP_TOKENS = 100  # what a gist's instruction says of the document's kind


def fitted(desk: Desk, memory: GistMemory) -> GistMemory:
    """The memory itself when its gists leave room for a page; else merged, or with levels.

    Raises:
        ContextExceeded: the window is too small for one gist.
    """
    room = gist_room(desk)
    if top_tokens(desk, memory) <= room:
        return memory
    memory = replace(memory, levels=())
    if desk.profile.merge:
        memory = _merged_to_fit(desk, memory, room)
    if top_tokens(desk, memory) > room:
        memory = levelled(desk, memory, room)
    return _cut(desk, memory, room)


def _merged_to_fit(desk: Desk, memory: GistMemory, room: int) -> GistMemory:
    """Fewer, larger pages, until they fit or the model lets no more of them join."""
    apart: set[int] = set()  # where pages begin that the model keeps apart from the one before
    while (excess := top_tokens(desk, memory) - room) > 0:
        joined, unclear = _joined(desk, memory, excess, apart)
        memory = replace(memory, fallbacks=tuple(dict.fromkeys((*memory.fallbacks, *unclear))))
        if not joined:
            break
        memory = _merged(desk, memory, joined)
        desk.report("merge", 0, memory.document.words, f"{len(memory.pages)} pages")
    return memory


def gist_room(desk: Desk) -> int:
    """Tokens for the gists: three fifths of what the window leaves, the rest is for opened pages.

    Raises:
        ContextExceeded: nothing worth mentioning is left.
    """
    room = (desk.model.capabilities.context_tokens - _RESERVED_TOKENS) * 3 // 5
    if room < 100:
        raise ContextExceeded(
            f"a window of {desk.model.capabilities.context_tokens} tokens is too small",
            hint="Use a model with a window of at least 2,000 tokens",
        )
    return room


def top_tokens(desk: Desk, memory: GistMemory) -> int:
    """The tokens of what a look-up sees first: the top level, or all gists."""
    if not memory.levels:
        return desk.tokens(render(memory, tags(memory), layout="in-place"))
    return desk.tokens("\n\n".join(f"<Part {s.last}>\n{s.gist}" for s in memory.levels[-1]))


def _joined(
    desk: Desk, memory: GistMemory, excess: int, apart: set[int]
) -> tuple[set[int], list[Fallback]]:
    """Indices of pages that join the page after them, the shortest pairs first; unclear replies.

    Enough to save `excess` tokens at an estimated third of each pair's gists; no page joins twice.
    """
    pages = memory.pages
    joined: set[int] = set()
    unclear: list[Fallback] = []
    saved = 0.0
    for k in sorted(range(len(pages) - 1), key=lambda k: pages[k].words + pages[k + 1].words):
        if saved >= excess:
            break
        begins = pages[k + 1].start
        if begins in apart or {k - 1, k, k + 1} & joined:
            continue
        if not _can_be_opened(desk, pages[k], pages[k + 1]):
            continue
        try:
            anew = _begins_anew(desk, memory, k)
        except MalformedReply as error:
            reason = f"{error.message}: kept apart from the next page"
            unclear.append(Fallback(phase="merge", page=k + 1, reason=reason))
            anew = True
        if anew:
            apart.add(begins)
            continue
        joined.add(k)
        saved += desk.tokens(memory.gists[k], memory.gists[k + 1]) / 3
    return joined, unclear


def _can_be_opened(desk: Desk, first: Page, second: Page) -> bool:
    """Whether both as one page leave the window room for the gists."""
    most = (desk.model.capabilities.context_tokens - _RESERVED_TOKENS) * 3 // 10
    return desk.tokens(first.text, second.text) <= most


def _begins_anew(desk: Desk, memory: GistMemory, k: int) -> bool:
    first, second = memory.pages[k].text.strip(), memory.pages[k + 1].text.strip()
    values = {"first": first, "second": second}
    if not desk.fits("merge", values, _MERGE_TOKENS):
        values = {"first": memory.gists[k], "second": memory.gists[k + 1]}
        if not desk.fits("merge", values, _MERGE_TOKENS):
            return True
    return bool(desk.ask("merge", values, replies.new_section, max_tokens=_MERGE_TOKENS))


def _merged(desk: Desk, memory: GistMemory, joined: set[int]) -> GistMemory:
    pages: list[Page] = []
    gists: list[str] = []
    fallbacks: list[Fallback] = []
    k = 0
    while k < len(memory.pages):
        first, number = memory.pages[k], len(pages) + 1
        if k not in joined:
            pages.append(replace(first, number=number))
            gists.append(memory.gists[k])
            fallbacks += [replace(f, page=number) for f in memory.fallbacks if f.page == k + 1]
            k += 1
            continue
        second = memory.pages[k + 1]
        end = second.end
        page = Page.of(memory.document, number, first.start, end, fallback=second.fallback)
        fallbacks += [  # where pages end is still so; how they were gisted is not
            replace(f, page=number)
            for f in memory.fallbacks
            if f.page == k + 2 and f.phase == "paginate"
        ]
        made = _gist_of_merged(desk, page, (memory.gists[k], memory.gists[k + 1]))
        pages.append(page)
        gists.append(made.text)
        if made.fallback:
            fallbacks.append(made.fallback)
        k += 2
    return replace(memory, pages=tuple(pages), gists=tuple(gists), fallbacks=tuple(fallbacks))


def _gist_of_merged(desk: Desk, page: Page, old: tuple[str, str]) -> Gist:
    """A gist of the merged page that is shorter than the two it replaces.

    A page too long for one call, or whose new gist is no shorter, is gisted from its old gists.
    """
    both = "\n".join(old)
    limit = count_words(both) * 3 // 4
    whole = page.text.strip()
    for source in (whole, both):
        if source is whole and not desk.fits(
            "gist-page", {"text": source, "keep": ""}, 512 + _KEEP_TOKENS
        ):
            continue
        made = gist(desk, page.number, source)
        if made.fallback is None and count_words(made.text) <= limit:
            return made
    reason = "the gists it was merged from were cut to their first sentences"
    return Gist(
        first_sentences(both, limit), Fallback(phase="gist", page=page.number, reason=reason)
    )


def _cut(desk: Desk, memory: GistMemory, room: int) -> GistMemory:
    """The memory with gists of the top level cut until they fit: by words, at last by characters.

    Only what no model could shorten comes to this.
    """
    if top_tokens(desk, memory) <= room:
        return memory
    reason = "the gist was cut to its first sentences"
    memory = replace(
        memory, fallbacks=(*memory.fallbacks, Fallback(phase="gist", page=1, reason=reason))
    )
    while top_tokens(desk, memory) > room:
        top = memory.levels[-1] if memory.levels else pages_as_sections(memory)
        gists = [_shorter(section.gist) for section in top]
        if gists == [section.gist for section in top]:
            break
        if memory.levels:
            cut = tuple(replace(s, gist=g) for s, g in zip(top, gists, strict=True))
            memory = replace(memory, levels=(*memory.levels[:-1], cut))
        else:
            memory = replace(memory, gists=tuple(gists))
    return memory


def _shorter(text: str) -> str:
    words = count_words(text)
    shorter = first_sentences(text, words * 3 // 4) if words > 1 else text
    return shorter if len(shorter) < len(text) else text[: len(text) * 3 // 4]
