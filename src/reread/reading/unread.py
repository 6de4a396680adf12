"""A document asked before it is read: its pages by structure, and no gists yet.

Nothing is sent to a model for it. A look-up over it can only go by words, and the answer says that
it rests on the pages so found and on nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from reread.reading.desk import Desk
from reread.reading.paginate import by_structure, paginate
from reread.reading.suspicion import suspicions
from reread.types import Document, GistMemory, Section

_NOT_YET = "(not read yet)"


def unread(desk: Desk, document: Document) -> GistMemory:
    """The document's pages, each with a note in place of its gist."""
    shown = paginate(document, desk.settings, by_structure(document))
    pages = tuple(one.page for one in shown)
    whole = f"{document.title}: a text of {len(pages)} pages that was not read yet."
    return GistMemory(
        document=document,
        pages=pages,
        gists=(_NOT_YET,) * len(pages),
        settings=replace(desk.settings, strategy=None, max_pages=None),
        model=desk.model.name,
        levels=((Section(first=1, last=len(pages), gist=whole),),),
        warnings=suspicions(pages),
        provisional=True,
    )


def by_words(desk: Desk) -> Desk:
    """The desk for a question about an unread document: pages are found by words alone."""
    return replace(desk, profile=replace(desk.profile, look_up="lexical"))
