"""Rows of the library as the values they were made from."""

from __future__ import annotations

import json
from typing import Any

from reread.evidence import Suspicion
from reread.types import (
    Coverage,
    Document,
    Fallback,
    GistMemory,
    Page,
    Paragraph,
    Section,
    Settings,
    Usage,
)


def document(row: Any) -> Document:
    """The document of a row of `documents`."""
    coverage = json.loads(row[6])
    return Document(
        id=row[0],
        title=row[1],
        text=row[2],
        paragraphs=tuple(
            Paragraph(start=a, end=b, kind=kind, locator=locator)
            for a, b, kind, locator in json.loads(row[3])
        ),
        origin=row[4],
        media_type=row[5],
        coverage=Coverage(
            parts=coverage["parts"],
            read=coverage["read"],
            without_text=tuple(coverage["without_text"]),
            blank=tuple(coverage["blank"]),
            failed=tuple((part, reason) for part, reason in coverage["failed"]),
            # older libraries hold documents that say nothing of these
            recognised=tuple(coverage.get("recognised", ())),
            left_out=tuple((part, reason) for part, reason in coverage.get("left_out", ())),
            remedy=coverage.get("remedy", ""),
        ),
        references=row[7],
        words=row[8],
    )


def memory(row: Any, document: Document) -> GistMemory:
    """The memory of a row of `memories`; `document` is what it is of."""
    return GistMemory(
        document=document,
        model=row[2],
        settings=Settings(**json.loads(row[3])),
        prompts=tuple(json.loads(row[4])),
        pages=tuple(
            Page.of(document, number, start, end, fallback=fallback)
            for number, (start, end, fallback) in enumerate(json.loads(row[5]), 1)
        ),
        gists=tuple(json.loads(row[6])),
        fallbacks=tuple(Fallback(**f) for f in json.loads(row[7])),
        usage=_usage(json.loads(row[8])),
        levels=tuple(
            tuple(Section(first=a, last=b, gist=g) for a, b, g in level)
            for level in json.loads(row[10])
        ),
        warnings=tuple(Suspicion(page=n, kind=k, text=t) for n, k, t in json.loads(row[11])),
    )


def _usage(data: dict[str, Any]) -> Usage:
    phases = {name: _usage(part) for name, part in data.pop("phases").items()}
    return Usage(**data, phases=phases)
