"""A document asked before it is read to its end: what its reading has made of it up to now.

It is read by the same rules as ever, with a model that has no replies but those kept in the
library, be they from a reading that was interrupted or from one that is under way elsewhere. Where
none is kept, pages end by structure and have no gist. Nothing is ever sent for it.
"""

from __future__ import annotations

from dataclasses import replace

from reread.errors import MalformedReply
from reread.ports import Model
from reread.reading.desk import Desk
from reread.reading.fit import fitted
from reread.reading.gist import Gist, kept_gists, of_page
from reread.reading.paginate import (
    Chooser,
    PageShown,
    Pause,
    Window,
    by_structure,
    chooser,
    keeping,
    paginate,
)
from reread.reading.suspicion import suspicions
from reread.types import Call, Completion, Document, GistMemory, Page

_MOST_MISSING = 12  # pages in a row without a gist, beyond those that may be in flight


class NotKept(Exception):
    """The reply is not kept."""


class Silent:
    """A model that has no reply to anything; in place of the one that it is named after."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.capabilities = model.capabilities
        self.count_tokens = model.count_tokens

    def complete(self, call: Call) -> Completion:
        """Never replies.

        Raises:
            MalformedReply: the reply to the same call sent again may be kept.
            NotKept: it is not.
        """
        if call.sample == 0:
            raise MalformedReply("no reply is kept")
        raise NotKept


class _Unusable(Silent):
    """Kept replies, and where none is kept, one that could not be used."""

    def __init__(self, kept: Model) -> None:
        super().__init__(kept)
        self._kept = kept

    def complete(self, call: Call) -> Completion:
        try:
            return self._kept.complete(call)
        except NotKept:
            raise MalformedReply("no usable reply is kept") from None


def so_far(desk: Desk, document: Document, earlier: GistMemory | None = None) -> GistMemory:
    """The document's memory as far as its kept calls go; provisional unless that is to the end.

    `desk` has a model that answers kept calls and is `Silent` otherwise. `earlier` is as in `read`.
    """
    kept = kept_gists(earlier)
    shown = list(paginate(document, desk.settings, _chooser(desk, document, earlier)))
    gists = _gists(desk, shown, kept)
    pages = tuple(one.page for one in shown)
    memory = GistMemory(
        document=document,
        pages=pages,
        gists=tuple(gist.text if gist else "" for gist in gists),
        settings=replace(desk.settings, strategy=None, max_pages=None),
        model=desk.model.name,
        fallbacks=tuple(gist.fallback for gist in gists if gist and gist.fallback),
        warnings=suspicions(pages),
        provisional=True,
    )
    if not all(memory.gists):
        return memory
    try:
        return replace(fitted(desk, memory), provisional=False)
    except NotKept:
        return memory


def _chooser(desk: Desk, document: Document, earlier: GistMemory | None) -> Chooser:
    """Chooses as reading does while calls are kept, and then by structure.

    No reply that could be used is kept either: reading then takes the window's end and goes on.
    """
    as_ever, structure = chooser(desk, document), by_structure(document)
    missed = 0

    def choose(window: Window, previous: Page | None) -> Pause:
        nonlocal missed
        if missed > 1:
            return structure(window, previous)
        try:
            pause = as_ever(window, previous)
        except NotKept:
            missed += 1
            return Pause(window.last)
        missed = 0
        return pause

    return keeping(earlier, document, choose) if earlier else choose


def _gists(desk: Desk, shown: list[PageShown], kept: dict[str, str]) -> list[Gist | None]:
    """The pages' gists, None for those that were not read."""
    known = [one.page.text.strip() in kept for one in shown]
    found = _found(desk, shown, known, kept)
    # How far reading came is told by pages that took a call, and it takes the others on its way.
    read = 0
    for k, (gist, one) in enumerate(zip(found, shown, strict=True)):
        if gist and (k == read or not (known[k] or _is_own(gist, one))):
            read = k + 1
    # What it went past without a usable reply stands with what reading puts in its place.
    standing_in = replace(desk, model=_Unusable(desk.model))
    return [
        gist or _gist(standing_in, one, kept) if k < read else (gist if known[k] else None)
        for k, (gist, one) in enumerate(zip(found, shown, strict=True))
    ]


def _found(
    desk: Desk, shown: list[PageShown], known: list[bool], kept: dict[str, str]
) -> list[Gist | None]:
    """The gists that can be had without asking; after many misses in a row no more are tried."""
    tries = left = _MOST_MISSING + desk.threads
    found: list[Gist | None] = []
    for one, free in zip(shown, known, strict=True):
        found.append(_gist(desk, one, kept) if left or free else None)
        left = tries if found[-1] else max(0, left - 1)
    return found


def _is_own(gist: Gist, shown: PageShown) -> bool:
    """Whether a page was too short to be shortened."""
    return gist.text.split() == shown.page.text.split()


def _gist(desk: Desk, shown: PageShown, kept: dict[str, str]) -> Gist | None:
    try:
        return of_page(desk, shown, kept)
    except NotKept:
        return None
