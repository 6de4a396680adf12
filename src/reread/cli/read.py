"""`reread read`: documents into the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reread.cli import common
from reread.errors import BudgetReached, LibraryError, ModelError
from reread.types import GistMemory

if TYPE_CHECKING:
    from reread.library import Library


def read(
    sources: Annotated[
        list[str], typer.Argument(help="Paths, folders, patterns, URLs, arXiv ids, or -.")
    ],
    password: common.Password = None,
    no_ocr: common.NoOcr = False,
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    context_tokens: common.ContextTokens = None,
    workers: common.Workers = None,
    timeout: common.Timeout = None,
    budget: common.Budget = None,
    profile: common.Profile = None,
    preset: common.Preset = None,
    min_words: common.MinWords = None,
    max_words: common.MaxWords = None,
    pagination: common.Pagination = None,
    previous_page: common.PreviousPage = None,
    next_paragraph: common.NextParagraph = None,
    kind: common.Kind = None,
    task: common.Task = None,
) -> None:
    """Read documents into the library; say what was read, what could not be, and what it cost."""
    from reread import wire

    chosen = common.settings(
        preset,
        profile=profile,
        min_words=min_words,
        max_words=max_words,
        pagination=pagination,
        previous_page=previous_page,
        next_paragraph=next_paragraph,
        kind=kind,
        task=task,
    )
    config = {
        "model": model,
        "base_url": base_url,
        "context_tokens": context_tokens,
        "workers": workers,
        "timeout_s": timeout,
        "ocr": "off" if no_ocr else None,
    }
    results: list[dict[str, Any]] = []
    done: list[str] = []
    reached = False
    try:
        with common.opened(library, chosen, budget=budget, **config) as opened:
            found = [s for named in sources for s in common.expanded(opened, named, results)]
            for k, source in enumerate(found):
                try:
                    notes, memory = _read(opened, source, password)
                except common.OF_ONE_SOURCE as error:
                    results.append({"source": source, "error": error.line})
                    common.say(f"reread: {error.line}")
                except (ModelError, LibraryError, BudgetReached) as error:
                    reached = isinstance(error, BudgetReached)
                    left = found[k + 1 :]
                    results += [{"source": s, "error": error.line} for s in (source, *left)]
                    after = f". Not read either: {', '.join(left)}" if left else ""
                    common.say(f"reread: {error.line}{after}")
                    break
                else:
                    done.append(source)
                    results.append({"source": source, **wire.memory(memory), "notes": notes})
                    if not as_json:
                        common.out("\n".join([_line(memory), *(f"  {note}" for note in notes)]))
    finally:  # also when stopped: what was read is said
        if as_json:
            common.out_json(results)
    if reached:
        raise typer.Exit(4)
    if len(done) < len(results):
        raise typer.Exit(3 if done else 1)


def _read(library: Library, source: str, password: str | None) -> tuple[list[str], GistMemory]:
    """The memory of a source, and what is to be said of the names its content came by."""
    document = library.load(source, password=password)
    notes = []
    if others := library.other_names(document):
        notes.append(f"the same content as {', '.join(others)}")
    if document.origin != "-" and (before := library.replaced(document)):
        notes.append(f"a new version: {document.origin} was {before} before, which is kept")
    return notes, library.read(document)


def _line(memory: GistMemory) -> str:
    document, used = memory.document, memory.usage
    cost = "read before, nothing sent"
    if used.calls:
        cost = f"{common.many(used.calls, 'call')}, {common.many(used.words_in, 'word')} in"
        cost += f", {used.seconds:.1f} s, {common.paid(used)}"
        if used.cached_calls:
            cost += f", {common.many(used.cached_calls, 'call')} remembered"
    lines = [
        f"{document.id}  {document.title}: {common.many(document.words, 'word')}, "
        f"{common.many(len(memory.pages), 'page')}, "
        f"gists {100 - memory.compression_rate:.0f}% of the words ({cost})"
    ]
    lines += [f"  {gap}" for gap in common.gaps(document.coverage)]
    lines += [f"  left out: {part}: {reason}" for part, reason in document.coverage.left_out]
    lines += [f"  {line}" for line in common.warned(memory.warnings)]
    if memory.fallbacks:
        lines.append(
            f"  {common.many(len(memory.fallbacks), 'fallback')}; see `reread show {document.id}`"
        )
    return "\n".join(lines)
