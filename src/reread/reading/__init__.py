"""ReadAgent: reading a document into a gist memory, and answering from it.

`read` paginates and gists; where the back end takes several calls at once, the gist of a page is
made while the next page is being chosen. `answer` looks pages up again and answers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

from reread import parallel
from reread.reading import look_up
from reread.reading.answering import answer
from reread.reading.collection import collected, joined, towered, traced_back
from reread.reading.desk import Desk
from reread.reading.fit import fitted, gist_room
from reread.reading.gist import Gist, kept_gists, of_page
from reread.reading.kinds import kind_of
from reread.reading.paginate import PageShown, chooser, paginate
from reread.reading.profiles import PAGINATIONS, STRATEGIES, Profile, preset, profile, resolve
from reread.reading.showing import Shown
from reread.reading.suspicion import suspicions
from reread.reading.unread import Silent, so_far
from reread.reading.view import viewed
from reread.types import Document, Fallback, GistMemory

__all__ = [
    "PAGINATIONS",
    "STRATEGIES",
    "Desk",
    "Profile",
    "Shown",
    "Silent",
    "answer",
    "collected",
    "joined",
    "kind_of",
    "memory_key",
    "preset",
    "profile",
    "prompt_ids",
    "read",
    "resolve",
    "so_far",
    "towered",
    "traced_back",
]


def read(desk: Desk, document: Document, earlier: GistMemory | None = None) -> GistMemory:
    """The document's gist memory, fitted to the model's window (Section 3.1, Appendix I).

    Of `earlier`, the memory of another version read in the same way, the pages whose text is
    still there are kept with their gists and cost no call.

    Raises:
        ContextExceeded: the window is too small to read with; nothing was sent.
    """
    gist_room(desk)
    kept = kept_gists(earlier)

    def made(shown: PageShown) -> tuple[PageShown, Gist]:
        return shown, of_page(desk, shown, kept)

    pages = []
    gists = []
    fallbacks: list[Fallback] = []
    words = 0
    chosen = paginate(document, desk.settings, chooser(desk, document, earlier))
    desk.report("read", 0, document.words)
    for shown, its_gist in parallel.map_ordered(made, chosen, workers=desk.threads):
        pages.append(shown.page)
        gists.append(its_gist.text)
        if shown.fallback:
            fallbacks.append(
                Fallback(phase="paginate", page=shown.page.number, reason=shown.fallback)
            )
        if its_gist.fallback:
            fallbacks.append(its_gist.fallback)
        words += shown.page.words
        desk.report("read", min(words, document.words), document.words, f"page {len(pages)}")
    memory = GistMemory(
        document=document,
        pages=tuple(pages),
        gists=tuple(gists),
        settings=replace(desk.settings, strategy=None, max_pages=None),
        model=desk.model.name,
        prompts=tuple(map(str, prompt_ids(desk))),
        fallbacks=tuple(fallbacks),
    )
    memory = fitted(desk, memory)
    memory = replace(memory, warnings=suspicions(memory.pages))
    if desk.profile.warm:
        look_up.warm(desk, viewed(desk, memory, ""))
    return memory


def prompt_ids(desk: Desk) -> list[object]:
    """The ids of the prompts that reading with this desk may use."""
    names = [desk.profile.gist, "merge"]
    if desk.settings.pagination == "model":
        names.insert(0, "paginate")
    return [desk.prompts[name].id for name in names]


def memory_key(desk: Desk, document: Document) -> str:
    """A hash of all that makes a memory what it is: document, settings, prompts, model."""
    settings = replace(desk.settings, strategy=None, max_pages=None, answer_each_step=False)
    profile = {**asdict(desk.profile), "why": ""}
    parts = [
        document.id,
        asdict(settings),
        {k: profile[k] for k in ("gist", "block_words", "gist_share", "check_names")},
        dict(desk.profile.sampling),
        [str(i) for i in prompt_ids(desk)],
        desk.model.name,
        desk.model.capabilities.context_tokens,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
