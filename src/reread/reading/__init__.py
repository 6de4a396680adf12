"""ReadAgent: reading a document into a gist memory, and answering from it.

`read` paginates and gists; where the back end takes several calls at once, the gist of a page is
made while the next page is being chosen. `answer` looks pages up again and answers.
"""

from __future__ import annotations

from dataclasses import replace

from reread import parallel
from reread.reading import look_up
from reread.reading.answering import answer
from reread.reading.desk import Desk
from reread.reading.fit import fitted, gist_room
from reread.reading.gist import Gist, gist
from reread.reading.paginate import PageShown, chooser, paginate
from reread.reading.profiles import PAGINATIONS, STRATEGIES, Profile, preset, profile, resolve
from reread.types import Document, Fallback, GistMemory

__all__ = [
    "PAGINATIONS",
    "STRATEGIES",
    "Desk",
    "Profile",
    "answer",
    "preset",
    "profile",
    "prompt_ids",
    "read",
    "resolve",
]


def read(desk: Desk, document: Document) -> GistMemory:
    """The document's gist memory, fitted to the model's window (Section 3.1, Appendix I).

    Raises:
        ContextExceeded: the window is too small to read with; nothing was sent.
    """
    gist_room(desk)

    def made(shown: PageShown) -> tuple[PageShown, Gist]:
        return shown, gist(desk, shown.page.number, shown.page.text, shown.shown)

    pages = []
    gists = []
    fallbacks: list[Fallback] = []
    words = 0
    chosen = paginate(document, desk.settings, chooser(desk, document))
    desk.report("read", 0, document.words)
    workers = desk.model.capabilities.workers
    for shown, its_gist in parallel.map_ordered(made, chosen, workers=workers):
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
    if desk.profile.warm:
        look_up.warm(desk, memory)
    return memory


def prompt_ids(desk: Desk) -> list[object]:
    """The ids of the prompts that reading with this desk may use."""
    names = [desk.profile.gist, "merge"]
    if desk.settings.pagination == "model":
        names.insert(0, "paginate")
    return [desk.prompts[name].id for name in names]
