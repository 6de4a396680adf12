"""Context control (Appendix I): a gist memory that fits the model's window.

When the gists outgrow the room that a look-up has for them, neighbouring pages are merged where
the model finds that the second begins nothing new, and the merged pages are gisted again; larger
pages compress better (Figure 7). When the model keeps too many apart, the shortest neighbours are
merged all the same and that is recorded, so the memory always fits in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reread.errors import ContextExceeded, MalformedReply
from reread.reading import replies
from reread.reading.desk import Desk
from reread.reading.gist import Gist, gist
from reread.reading.render import render, tags
from reread.text import count_words, cut_within, word_shares
from reread.types import Fallback, GistMemory, Page

_RESERVED_TOKENS = 1_000  # instruction, question and reply
_MERGE_TOKENS = 64


def fitted(desk: Desk, memory: GistMemory) -> GistMemory:
    """The memory itself when its gists leave room for a page, else one of fewer, larger pages.

    Raises:
        ContextExceeded: the window is too small for one gist.
    """
    room = gist_room(desk)
    willing = True
    while (excess := _gist_tokens(desk, memory) - room) > 0:
        if len(memory.pages) == 1:
            return _cut_gist(desk, memory, room)
        joined: set[int] = set()
        if willing:
            joined, unclear = _joined(desk, memory, excess)
            memory = replace(memory, fallbacks=tuple(dict.fromkeys((*memory.fallbacks, *unclear))))
        if not joined:
            willing = False  # the model keeps apart what is left: asking it again changes nothing
            joined = _shortest(desk, memory, excess, lambda k: False)
        memory = _merged(desk, memory, joined, forced=not willing)
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


def _gist_tokens(desk: Desk, memory: GistMemory) -> int:
    return desk.tokens(render(memory, tags(memory), layout="in-place"))


def _joined(desk: Desk, memory: GistMemory, excess: int) -> tuple[set[int], list[Fallback]]:
    """Those that the model lets join, since the second begins nothing new, and unclear replies."""
    unclear: list[Fallback] = []

    def apart(k: int) -> bool:
        try:
            return _begins_anew(desk, memory, k)
        except MalformedReply as error:
            reason = f"{error.message}: kept apart from the next page"
            unclear.append(Fallback(phase="merge", page=k + 1, reason=reason))
            return True

    return _shortest(desk, memory, excess, apart), unclear


def _shortest(
    desk: Desk, memory: GistMemory, excess: int, apart: Callable[[int], bool]
) -> set[int]:
    """Indices of pages that join the page after them, the shortest pairs first.

    Enough to save `excess` tokens at an estimated third of each pair's gists; no page joins twice.
    """
    pages = memory.pages
    joined: set[int] = set()
    saved = 0.0
    for k in sorted(range(len(pages) - 1), key=lambda k: pages[k].words + pages[k + 1].words):
        if {k - 1, k, k + 1} & joined:
            continue
        if apart(k):
            continue
        joined.add(k)
        saved += desk.tokens(memory.gists[k], memory.gists[k + 1]) / 3
        if saved >= excess:
            break
    return joined


def _begins_anew(desk: Desk, memory: GistMemory, k: int) -> bool:
    first, second = memory.pages[k].text.strip(), memory.pages[k + 1].text.strip()
    values = {"first": first, "second": second}
    if not desk.fits("merge", values, _MERGE_TOKENS):
        values = {"first": memory.gists[k], "second": memory.gists[k + 1]}
        if not desk.fits("merge", values, _MERGE_TOKENS):
            return True
    return bool(desk.ask("merge", values, replies.new_section, max_tokens=_MERGE_TOKENS))


def _merged(desk: Desk, memory: GistMemory, joined: set[int], *, forced: bool) -> GistMemory:
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
        elif forced:
            reason = "merged to fit the window, though the model kept the pages apart"
            fallbacks.append(Fallback(phase="merge", page=number, reason=reason))
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
        if source is whole and not desk.fits("gist-page", {"text": source}, 512):
            continue
        made = gist(desk, page.number, source)
        if made.fallback is None and count_words(made.text) <= limit:
            return made
    reason = "the gists it was merged from were cut to their first sentences"
    return Gist(
        _first_sentences(both, limit), Fallback(phase="gist", page=page.number, reason=reason)
    )


def _first_sentences(text: str, words: int) -> str:
    """The text's beginning, at most `words` long, up to a sentence's end where there is one."""
    shares = max(1, words) * 12
    if word_shares(text) > shares:
        text = text[: cut_within(text, 0, len(text), shares // 2, shares)]
    return " ".join(text.split())


def _cut_gist(desk: Desk, memory: GistMemory, room: int) -> GistMemory:
    """The memory of one page, its gist cut until it fits: by words, at last by characters."""
    reason = "the gist was cut to its first sentences"
    fallback = Fallback(phase="gist", page=1, reason=reason)
    memory = replace(memory, fallbacks=(*memory.fallbacks, fallback))
    while _gist_tokens(desk, memory) > room and memory.gists[0]:
        text = memory.gists[0]
        words = count_words(text)
        shorter = _first_sentences(text, words * 3 // 4) if words > 1 else text
        if len(shorter) >= len(text):
            shorter = text[: len(text) * 3 // 4]
        memory = replace(memory, gists=(shorter,))
    return memory
