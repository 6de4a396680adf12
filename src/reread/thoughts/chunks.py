"""A document in raw chunks of about equal length, as the paper cuts it (Section 4.1)."""

from __future__ import annotations

from reread.text import estimate_tokens, sentences
from reread.types import Document, Page


def chunks(document: Document, most_tokens: int) -> tuple[Page, ...]:
    """Consecutive spans of whole sentences of at most `most_tokens`, by estimate, each a page.

    Together they are the whole text. A sentence longer than that is a chunk of its own.
    """
    text, starts, size = document.text, [0], 0
    for start, end in sentences(text):
        tokens = estimate_tokens(text[start:end])
        if size and size + tokens > most_tokens:
            starts.append(start)
            size = 0
        size += tokens
    ends = [*starts[1:], len(text)]
    return tuple(
        Page.of(document, number, a, b)
        for number, (a, b) in enumerate(zip(starts, ends, strict=True), 1)
    )
