"""arXiv papers by id or link, through the HTML that LaTeXML made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reread.documents.fetch import Fetched, HttpStatus
from reread.documents.registry import LOADERS
from reread.documents.source import Source
from reread.errors import SourceNotFound
from reread.types import Document

BASES = ("https://arxiv.org/html/", "https://ar5iv.labs.arxiv.org/html/")
"""Where HTML of papers is found, in the order it is asked for."""

_ID = r"(?P<id>\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z]+(?:-[a-z]+)?(?:\.[a-z]{2})?/\d{7})(?P<v>v\d+)?"
_BARE = re.compile(rf"(?:arxiv:\s*)?{_ID}", re.IGNORECASE)
_LINK = re.compile(
    r"(?:https?://)?(?:(?:(?:www\.|export\.|[a-z]{2}\.)?arxiv\.org|(?:www\.)?ar5iv(?:\.labs\.arxiv)?\.org)"
    r"/(?:abs|pdf|html|format|ps)/|(?:dx\.)?doi\.org/10\.48550/arxiv\.)"
    rf"{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)


def parse_id(source: str) -> str | None:
    """The arXiv id in an id or link, with its version if it has one; None for anything else.

    The subject class of an old id (`math.GT/0309136`) is dropped: arXiv's addresses have none.
    """
    match = _BARE.fullmatch(source.strip()) or _LINK.fullmatch(source.strip())
    if not match:
        return None
    archive, slash, number = match["id"].lower().rpartition("/")
    return archive.partition(".")[0] + slash + number + (match["v"] or "").lower()


def load(paper: str, fetch: Callable[[str], Fetched], bases: Sequence[str] = BASES) -> Document:
    """The document of a paper, from the first address that has it in HTML.

    Raises:
        SourceNotFound: no address has it.
        FetchError: an address could not be asked.
    """
    for base in bases:
        try:
            page = fetch(base + paper)
        except HttpStatus as error:
            if error.status in (404, 410):
                continue
            raise
        if b"ltx_document" not in page.body:
            continue  # some answer with the paper's abstract page instead
        return LOADERS["text/html"](
            Source(
                data=page.body,
                name=paper,
                origin=f"https://arxiv.org/abs/{paper}",
                media_type="text/html",
                charset=page.charset,
            )
        )
    raise SourceNotFound(
        f"arXiv has no HTML of {paper}", hint="Download another form of it and name that file"
    )
