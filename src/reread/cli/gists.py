"""`reread gists`: what is remembered of each page."""

from __future__ import annotations

from typing import Annotated

import typer

from reread.cli import common


def gists(
    doc: Annotated[str, typer.Argument(help="A document's id, title or path.")],
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
) -> None:
    """Print the gist of every page of a document."""
    with common.opened(library) as opened:
        memory = opened.memory(doc)
    numbered = list(enumerate(memory.gists, 1))
    if as_json:
        common.out_json([{"page": n, "gist": g} for n, g in numbered])
        return
    for n, g in numbered:
        common.out(f"--- page {n} ---\n{g}\n")
