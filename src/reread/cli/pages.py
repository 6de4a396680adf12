"""`reread pages`: the pages of a document as they were read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Optional

import typer

from reread.cli import common
from reread.errors import UsageError


def pages(
    doc: Annotated[str, typer.Argument(help="A document's id, title or path.")],
    page: Annotated[Optional[int], typer.Option("--page", help="Only this page.")] = None,
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
) -> None:
    """Print the pages of a document."""
    with common.opened(library) as opened:
        memory = opened.memory(doc)
    chosen = [p for p in memory.pages if page in (None, p.number)]
    if not chosen:
        raise UsageError(f"there is no page {page}", hint=f"Pages are 1 to {len(memory.pages)}")
    if as_json:
        common.out_json([asdict(p) for p in chosen])
        return
    for p in chosen:
        common.out(f"--- page {p.number}, {common.many(p.words, 'word')} ---\n{p.text.strip()}\n")
