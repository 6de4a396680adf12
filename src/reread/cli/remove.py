"""`reread remove`: a document and all that rests on it."""

from __future__ import annotations

from typing import Annotated

import typer

from reread.cli import common


def remove(
    doc: Annotated[str, typer.Argument(help="A document's id, title or path.")],
    library: common.LibraryPath = None,
) -> None:
    """Remove a document, its memories and every remembered call about it."""
    with common.opened(library) as opened:
        document = opened.remove(doc)
    common.out(f"removed {document.id}  {document.title}")
