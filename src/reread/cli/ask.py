"""`reread ask`: a question about a document, which is read first if it must be."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from reread.cli import common
from reread.types import Answer, Collection


def ask(
    source: Annotated[
        str,
        typer.Argument(
            help="Path, folder, URL, arXiv id, -, a document's id or title, or library: for all."
        ),
    ],
    question: Annotated[str, typer.Argument(help="What to answer.")],
    strategy: Annotated[Optional[str], typer.Option(help="parallel, sequential or gists.")] = None,
    max_pages: Annotated[
        Optional[int], typer.Option(min=0, help="Most pages to read again.")
    ] = None,
    choice: Annotated[
        Optional[list[str]], typer.Option(help="An option of a multiple choice; repeat it.")
    ] = None,
    as_json: common.AsJson = False,
    no_thoughts: Annotated[
        bool, typer.Option("--no-thoughts", help="Answer from the document alone.")
    ] = False,
    now: Annotated[
        bool,
        typer.Option("--now", help="Do not read first; answer from pages found by words."),
    ] = False,
    also: Annotated[
        Optional[list[str]], typer.Option("--also", help="Another source; repeat it.")
    ] = None,
    password: common.Password = None,
    no_ocr: common.NoOcr = False,
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
    kind: common.Kind = None,
    task: common.Task = None,
) -> None:
    """Answer a question about a document, with the pages the answer rests on."""
    chosen = common.settings(
        preset,
        strategy=strategy,
        max_pages=max_pages,
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
    with common.opened(library, chosen, **config) as opened:
        known = source if password is None else opened.load(source, password=password)
        asked = [known, *also] if also else known
        answer = opened.ask(question, asked, options=choice or (), now=now)
    if as_json:
        from reread import wire

        common.out_json(wire.answer(answer))
    else:
        _print(answer)


def _print(answer: Answer) -> None:
    common.out(answer.text)
    titles: dict[str | None, str] = {}
    if isinstance(answer.memory, Collection):
        titles = {m.document.id: f"{m.document.title}, " for m in answer.memory.members}
    for c in answer.citations:
        title = titles.get(c.document, "")
        place = f"{title}page {c.page}" + (f", {c.locator}" if c.locator else "")
        mark = "" if c.status == "verified" else f" ({c.status})"
        common.out(f'  [{place}]{mark} "{" ".join(c.quote.split())}"')
    if answer.memory.provisional:
        common.say(
            "not read yet: this rests on pages found by words; `reread read` makes it better"
        )
    for gap in common.gaps(answer.document.coverage):
        common.say(gap)
    read = ", ".join(_pages_read(answer)) or "none"
    used = answer.usage
    common.say(
        f"pages read again: {read} of {len(answer.memory.pages)} · {used.calls} calls"
        f" ({used.cached_calls} remembered) · {used.words_in} words in · {used.seconds:.1f} s"
        f" · {answer.model}"
    )


def _pages_read(answer: Answer) -> list[str]:
    """The pages read in full; with the title of their document where there are several."""
    if not isinstance(answer.memory, Collection):
        return [str(number) for number in answer.pages_read]
    located = [answer.memory.located(number) for number in answer.pages_read]
    return [f"{number} of {member.document.title}" for member, number in located]
