"""`reread show`: one document, how it was read, or its text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from reread.cli import common
from reread.types import Usage


def show(
    doc: Annotated[str, typer.Argument(help="A document's id, title or path.")],
    text: Annotated[bool, typer.Option("--text", help="Print the whole text.")] = False,
    references: Annotated[
        bool, typer.Option("--references", help="Print the bibliography, which is kept apart.")
    ] = False,
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
) -> None:
    """Show a document: what it is, what of it was read, and its memories."""
    from reread import wire

    with common.opened(library) as opened:
        document = opened.find(doc)
        memories = opened.memories(document)
        ledger = opened.spent(document)
    if text or references:
        typer.echo(document.text if text else document.references, nl=True)
        return
    if as_json:
        common.out_json(
            wire.document(document)
            | {
                "origin": document.origin,
                "media_type": document.media_type,
                "coverage": asdict(document.coverage),
                "memories": [wire.memory(m) for m in memories],
                "spent": wire.spent(ledger),
            }
        )
        return
    coverage = document.coverage
    common.out(f"{document.id}  {document.title}")
    common.out(
        f"from {document.origin} ({document.media_type}), {common.many(document.words, 'word')}"
    )
    common.out(f"parts read: {coverage.read} of {coverage.parts}")
    for gap in common.gaps(coverage):
        common.out(f"  {gap}")
    for part, reason in coverage.left_out:
        common.out(f"  left out: {part}: {reason}")
    for m in memories:
        s = m.settings
        common.out(
            f"memory by {m.model}: {common.many(len(m.pages), 'page')} of {s.min_words} to "
            f"{s.max_words} words by {s.pagination}, profile {s.profile}, "
            f"compression {m.compression_rate:.1f}%"
        )
        for w in m.warnings:
            common.out(f'  speaks to the model at page {w.page}, {w.kind}: "{w.text}"')
        for f in m.fallbacks:
            common.out(f"  fallback at page {f.page}, {f.phase}: {f.reason}")
    if ledger:
        common.out(f"spent so far: {common.used(sum((w.usage for w in ledger), Usage()))}")
    for work in ledger:
        asked = f'asked "{work.question}"' if work.question else "asked what is forgotten"
        what = "read" if work.question is None else asked
        when = work.at[:16].replace("T", " ")
        common.out(f"  {when} {what} by {work.model}: {common.used(work.usage)}")
