"""Documents, memories and desks for tests, made from plain text and scripted replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reread.llm.scripted import Scripted
from reread.prompts import Prompts
from reread.reading import Desk, resolve
from reread.store.lexical import rank
from reread.text import paragraph_spans
from reread.types import Call, Completion, Document, GistMemory, Page, Paragraph, Settings

FILLER = "stone river window garden letter market winter candle harbour orchard".split()


def document(text: str, title: str = "Test") -> Document:
    """The text as a document, with the paragraphs that its style shows."""
    spans = paragraph_spans(text)
    paragraphs = tuple(Paragraph(start=a, end=b) for a, b in spans)
    return Document(title=title, text=text, paragraphs=paragraphs, origin="test")


def sentence(words: int, seed: int = 0) -> str:
    """One English sentence of so many words."""
    chosen = [FILLER[(seed * 3 + k * 7) % len(FILLER)] for k in range(words)]
    return " ".join(chosen).capitalize() + "."


def prose(words: Sequence[int]) -> str:
    """Paragraphs of these many words, apart by blank lines, in sentences of ten words."""
    paragraphs = []
    for seed, size in enumerate(words):
        lengths = [10] * (size // 10) + ([size % 10] if size % 10 else [])
        paragraphs.append(" ".join(sentence(n, seed + k) for k, n in enumerate(lengths)))
    return "\n\n".join(paragraphs)


def memory(
    pages: Sequence[str], gists: Sequence[str], settings: Settings | None = None
) -> GistMemory:
    """A gist memory with these pages and gists."""
    text = "\n\n".join(pages)
    source = document(text)
    made: list[Page] = []
    at = 0
    for number, page in enumerate(pages, 1):
        end = len(text) if number == len(pages) else at + len(page) + 2
        made.append(Page.of(source, number, at, end))
        at = end
    return GistMemory(
        document=source,
        pages=tuple(made),
        gists=tuple(gists),
        settings=settings or Settings(),
        model="scripted",
    )


def by_phase(replies: Mapping[str, str | Callable[[Call], str]]) -> Callable[[Call], str]:
    """A reply function that answers each phase with its text, or with what its function says."""

    def reply(call: Call) -> str:
        made = {"whether": "yes", **replies}[call.phase]
        return made if isinstance(made, str) else made(call)

    return reply


def scripted(replies: Mapping[str, str | Callable[[Call], str]], **options: Any) -> Scripted:
    """A scripted model that answers by phase."""
    return Scripted(by_phase(replies), **options)


class Parsing(Scripted):
    """A scripted model that parses its replies, as the wrapper around a real back end does."""

    def complete(self, call: Call) -> Completion:
        done = super().complete(call)
        return replace(done, value=call.parse(done))


def desk(
    reply: Mapping[str, str | Callable[[Call], str]] | None = None,
    *,
    words: int = 10_000,
    context_tokens: int = 8_192,
    workers: int = 1,
    **settings: Any,
) -> tuple[Desk, Scripted]:
    """A desk with a scripted model that parses, and that model."""
    model = Parsing(
        by_phase(reply) if reply is not None else None,
        context_tokens=context_tokens,
        workers=workers,
    )
    resolved, profile = resolve(
        Settings(**settings),
        document_words=words,
        context_tokens=context_tokens,
        suited="paper",
    )
    made = Desk(model=model, prompts=Prompts(), profile=profile, settings=resolved, rank=rank)
    return made, model


def said(text: str) -> Completion:
    """A completion with this text."""
    return Completion(text=text)
