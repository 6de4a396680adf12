"""`reread read`: documents into the library."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reread.cli import common
from reread.errors import DocumentError, MalformedReply
from reread.types import GistMemory


def read(
    sources: Annotated[list[str], typer.Argument(help="Paths, URLs, arXiv ids, or -.")],
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    context_tokens: common.ContextTokens = None,
    workers: common.Workers = None,
    timeout: common.Timeout = None,
    profile: common.Profile = None,
    preset: common.Preset = None,
    min_words: common.MinWords = None,
    max_words: common.MaxWords = None,
    pagination: common.Pagination = None,
    previous_page: common.PreviousPage = None,
    next_paragraph: common.NextParagraph = None,
) -> None:
    """Read documents into the library; say what was read, what could not be, and what it cost."""
    chosen = common.settings(
        preset,
        profile=profile,
        min_words=min_words,
        max_words=max_words,
        pagination=pagination,
        previous_page=previous_page,
        next_paragraph=next_paragraph,
    )
    config = {
        "model": model,
        "base_url": base_url,
        "context_tokens": context_tokens,
        "workers": workers,
        "timeout_s": timeout,
    }
    results: list[dict[str, Any]] = []
    failed = 0
    with common.opened(library, chosen, **config) as opened:
        for source in sources:
            try:
                memory = opened.read(source)
            except (DocumentError, MalformedReply) as error:
                # What is wrong with one source says nothing about the next.
                failed += 1
                results.append({"source": source, "error": error.line})
                common.say(f"reread: {error.line}")
            else:
                results.append(_result(source, memory))
                if not as_json:
                    common.out(_line(memory))
    if as_json:
        common.out_json(results)
    if failed:
        raise typer.Exit(1 if failed == len(sources) else 3)


def _result(source: str, memory: GistMemory) -> dict[str, Any]:
    from reread import wire

    return {"source": source, **wire.memory(memory)}


def _line(memory: GistMemory) -> str:
    document, used = memory.document, memory.usage
    cost = "read before, nothing sent"
    if used.calls:
        cost = f"{used.calls} calls, {used.words_in} words in, {used.seconds:.1f} s"
        if used.cached_calls:
            cost += f", {used.cached_calls} calls remembered"
    lines = [
        f"{document.id}  {document.title}: {document.words} words, {len(memory.pages)} pages, "
        f"gists {100 - memory.compression_rate:.0f}% of the words ({cost})"
    ]
    coverage = document.coverage
    lines += [f"  not read: {part}: {reason}" for part, reason in coverage.failed]
    lines += [f"  without text: {part}" for part in coverage.without_text]
    if memory.fallbacks:
        lines.append(f"  {len(memory.fallbacks)} fallbacks; see `reread show {document.id}`")
    return "\n".join(lines)
