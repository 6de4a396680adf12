"""Context control (Appendix I): a gist memory that fits the model's window.

When the gists outgrow the room that a look-up has for them, neighbouring pages are merged where
the model finds that the second begins nothing new, and the merged pages are gisted again; larger
pages compress better (Figure 7). When the model keeps too many apart, the shortest neighbours are
merged all the same and that is recorded, so the memory always fits in the end.
"""

from __future__ import annotations

from dataclasses import replace

from reread.errors import ContextExceeded, MalformedReply
from reread.reading import replies
from reread.reading.desk import Desk
from reread.reading.gist import Gist, gist
from reread.reading.render import render, tags
from reread.text import count_words, sentences
from reread.types import Fallback, GistMemory, Page

_RESERVED_TOKENS = 1_000  # instruction, question and reply
_MERGE_TOKENS = 64


def fitted(desk: Desk, memory: GistMemory) -> GistMemory:
    """The memory itself when its gists leave room for a page, else one of fewer, larger pages.

    Raises:
        ContextExceeded: the window is too small for one gist.
    """
    room = _room(desk)
    willing = True
    while (excess := _gist_tokens(desk, memory) - room) > 0:
        if len(memory.pages) == 1:
            return _cut_gist(desk, memory, room)
        joined = _joined(desk, memory, excess, willing=willing)
        forced = not joined
        if forced:
            willing = False  # the model keeps apart what is left: asking it again changes nothing
            joined = _joined(desk, memory, excess, willing=False)
        memory = _merged(desk, memory, joined, forced=forced or not willing)
        desk.report("merge", 0, memory.document.words, f"{len(memory.pages)} pages")
    return memory


def _room(desk: Desk) -> int:
    """Tokens for the gists: half of what the window leaves, the rest is for opened pages."""
    room = (desk.model.capabilities.context_tokens - _RESERVED_TOKENS) * 3 // 5
    if room < 100:
        raise ContextExceeded(
            f"a window of {desk.model.capabilities.context_tokens} tokens is too small",
            hint="Use a model with a window of at least 2,000 tokens",
        )
    return room


def _gist_tokens(desk: Desk, memory: GistMemory) -> int:
    return desk.tokens(render(memory, tags(memory), layout="in-place"))


def _joined(desk: Desk, memory: GistMemory, excess: int, *, willing: bool) -> set[int]:
    """Indices of pages that join the page after them, the shortest pairs first.

    Enough to save `excess` tokens at an estimated third of each pair's gists; no page joins twice.
    With `willing` only pairs of which the model says that the second begins nothing new.
    """
    pages = memory.pages
    joined: set[int] = set()
    saved = 0.0
    for k in sorted(range(len(pages) - 1), key=lambda k: pages[k].words + pages[k + 1].words):
        if {k - 1, k, k + 1} & joined:
            continue
        if willing and _begins_anew(desk, memory, k):
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
    try:
        return bool(desk.ask("merge", values, replies.new_section, max_tokens=_MERGE_TOKENS))
    except MalformedReply:
        return True


def _merged(desk: Desk, memory: GistMemory, joined: set[int], *, forced: bool) -> GistMemory:
    pages: list[Page] = []
    gists: list[str] = []
    fallbacks = [f for f in memory.fallbacks if f.phase not in ("gist", "merge")]
    k = 0
    while k < len(memory.pages):
        first, number = memory.pages[k], len(pages) + 1
        if k not in joined:
            pages.append(replace(first, number=number))
            gists.append(memory.gists[k])
            fallbacks += [replace(f, page=number) for f in memory.fallbacks if _of(f, first)]
            k += 1
            continue
        second = memory.pages[k + 1]
        page = Page.of(memory.document, number, first.start, second.end)
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


def _of(fallback: Fallback, page: Page) -> bool:
    return fallback.phase in ("gist", "merge") and fallback.page == page.number


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
    kept: list[str] = []
    left = words
    for start, end in sentences(text):
        size = count_words(text[start:end])
        if size > left and kept:
            break
        kept.append(" ".join(text[start:end].split()[: max(1, left)]))
        left -= size
        if left <= 0:
            break
    return " ".join(kept)


def _cut_gist(desk: Desk, memory: GistMemory, room: int) -> GistMemory:
    words = count_words(memory.gists[0])
    text = memory.gists[0]
    while desk.tokens(text) > room - 32 and words > 1:
        words //= 2
        text = _first_sentences(memory.gists[0], words)[: room * 2]
    reason = "the gist was cut to its first sentences"
    return replace(
        memory,
        gists=(text,),
        fallbacks=(*memory.fallbacks, Fallback(phase="gist", page=1, reason=reason)),
    )
