"""Memory gisting (Section 3.1): each page shortened, without a question in mind.

A page is gisted in one call, or in blocks where the profile or the window asks for it. A gist that
cannot be had is replaced by the page's own words, and that is recorded, never hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reread.errors import MalformedReply
from reread.reading import replies
from reread.reading.desk import Desk
from reread.reading.kinds import GENERAL, known
from reread.reading.marks import Marked
from reread.reading.paginate import PageShown
from reread.text import count_words, cut_within, sentences, word_shares
from reread.types import Completion, Fallback, GistMemory

_NOTHING_TO_SHORTEN_WORDS = 30  # a page this short is its own gist
_TOKENS_A_WORD = 2.2


@dataclass(frozen=True, slots=True)
class Gist:
    """A gist, and the fallback taken when a reply could not be used."""

    text: str
    fallback: Fallback | None = None


def of_page(desk: Desk, shown: PageShown, kept: Mapping[str, str]) -> Gist:
    """The gist of a page: that of the same text in `kept`, without a call, or one made now."""
    page = shown.page
    if (known := kept.get(page.text.strip())) is not None:
        return Gist(known)
    return gist(desk, page.number, page.text, shown.shown)


def kept_gists(memory: GistMemory | None) -> dict[str, str]:
    """The gist of each page's text; without those that stand in for one that could not be had."""
    if memory is None:
        return {}
    failed = {f.page for f in memory.fallbacks if f.phase != "paginate"}
    pairs = zip(memory.pages, memory.gists, strict=True)
    return {page.text.strip(): gist for page, gist in pairs if page.number not in failed}


def gist(desk: Desk, number: int, text: str, shown: Marked | None = None) -> Gist:
    """The gist of page `number`, whose text is `text`.

    `shown` is that text as the call that chose the page's end saw it, so that both calls share it.
    """
    text = text.strip()
    if count_words(text) <= _NOTHING_TO_SHORTEN_WORDS:
        return Gist(text)
    if desk.profile.block_words:
        return _in_blocks(desk, number, text, desk.profile.block_words)
    room = _page_room(desk, text)
    if not desk.fits("gist-page", _values(desk, shown.text if shown else text), room):
        return _in_blocks(desk, number, text, _block_that_fits(desk))
    try:
        return Gist(_whole(desk, text, shown, room))
    except MalformedReply as error:
        return Gist(text, Fallback(phase="gist", page=number, reason=error.message))


def _whole(desk: Desk, text: str, shown: Marked | None, room: int) -> str:
    return str(
        desk.ask(
            "gist-page",
            _values(desk, shown.text if shown else text),
            lambda reply: replies.gist(reply, text, shown.marks if shown else None),
            max_tokens=room,
            extra=desk.profile.sampling,
        )
    )


def _values(desk: Desk, text: str) -> dict[str, str]:
    """The text, and what a gist of it should keep: by its kind, and for a task (Appendix G)."""
    kept = [known()[desk.settings.kind or GENERAL]]
    if desk.settings.task:
        kept.append(
            f"It will be used for this task, so keep what bears on it: {desk.settings.task}"
        )
    return {"text": text, "keep": "".join(f" {sentence}" for sentence in kept if sentence)}


def _page_room(desk: Desk, text: str) -> int:
    """Tokens for a gist: as long as the page at most, since a longer one is refused anyway."""
    return min(desk.tokens(text) + 64, desk.model.capabilities.context_tokens // 2)


def _block_that_fits(desk: Desk) -> int:
    return max(20, desk.model.capabilities.context_tokens // 8)


def _in_blocks(desk: Desk, number: int, text: str, block_words: int) -> Gist:
    """One sentence or so for each block, joined in order."""
    parts: list[str] = []
    failed: list[str] = []
    for block in (part for whole in blocks(text, block_words) for part in _fitting(desk, whole)):
        words = _words_of_gist(desk, block)
        try:
            parts.append(_of_block(desk, block, words))
        except MalformedReply as error:
            failed.append(error.message)
            parts.append(_opening(block, words))
    reason = f"{len(failed)} of {len(parts)} blocks: {failed[0]}" if failed else ""
    fallback = Fallback(phase="gist", page=number, reason=reason) if failed else None
    return Gist(" ".join(parts), fallback)


def _words_of_gist(desk: Desk, block: str) -> int:
    return max(8, round(count_words(block) * min(desk.profile.gist_share, 0.5)))


def _room_of_gist(words: int) -> int:
    return int(words * _TOKENS_A_WORD) + 32


def _fitting(desk: Desk, block: str) -> Iterator[str]:
    """The block, or its parts where it takes more tokens than the window holds."""
    words = _words_of_gist(desk, block)
    values = _values(desk, block) | {"words": str(words)}
    if count_words(block) <= _NOTHING_TO_SHORTEN_WORDS or desk.fits(
        "gist-block", values, _room_of_gist(words)
    ):
        yield block
        return
    shares = word_shares(block)
    at = cut_within(block, 0, len(block), shares // 3, shares * 2 // 3)
    for part in (block[:at].strip(), block[at:].strip()):
        if part:
            yield from _fitting(desk, part)


def _of_block(desk: Desk, block: str, words: int) -> str:
    if count_words(block) <= _NOTHING_TO_SHORTEN_WORDS:
        return " ".join(block.split())

    def parse(reply: Completion) -> str:
        text = replies.gist(reply, block)
        if desk.profile.check_names and (absent := replies.invented(text, block)):
            raise MalformedReply(f"the gist invents {', '.join(absent[:3])}", reply=text)
        return " ".join(text.split())

    return str(
        desk.ask(
            "gist-block",
            _values(desk, block) | {"words": str(words)},
            parse,
            max_tokens=_room_of_gist(words),
            extra=desk.profile.sampling,
        )
    )


def blocks(text: str, words: int) -> Iterator[str]:
    """Consecutive parts of about `words` words, cut at sentence ends where there are some."""
    start, shares, left = 0, words * 12, word_shares(text)
    count = max(1, round(left / shares))
    even = max(12, left // count)
    while start < len(text):
        if left <= even * 4 // 3:
            end = len(text)
        else:
            end = cut_within(text, start, len(text), even * 2 // 3, max(even, shares))
        if piece := text[start:end].strip():
            yield piece
        start, left = end, left - word_shares(text[start:end])


def _opening(block: str, words: int) -> str:
    """The block's own first sentence, cut to twice `words`: the visible stand-in for its gist."""
    start, end = sentences(block)[0]
    if count_words(block[start:end]) > 2 * words:
        end = cut_within(block, start, end, 0, 2 * words * 12)
    return " ".join(block[start:end].split())
