"""`reread estimate`: what reading and asking will take, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from reread.cli import common
from reread.estimating import Estimate, Needs, Range, Total, total

if TYPE_CHECKING:
    from reread.library import Library


def estimate(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Paths, folders, patterns, URLs, arXiv ids, -, or documents' ids or titles."
        ),
    ],
    strategy: Annotated[Optional[str], typer.Option(help="parallel, sequential or gists.")] = None,
    max_pages: Annotated[
        Optional[int], typer.Option(min=0, help="Most pages to read again.")
    ] = None,
    as_json: common.AsJson = False,
    password: common.Password = None,
    no_ocr: common.NoOcr = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    context_tokens: common.ContextTokens = None,
    workers: common.Workers = None,
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
    """Say how many calls, words, tokens, seconds and dollars reading and a question will take."""
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
    config: dict[str, Any] = {
        "model": model,
        "base_url": base_url,
        "context_tokens": context_tokens,
        "workers": workers,
        "ocr": "off" if no_ocr else None,
    }
    with common.opened(library, chosen, **config) as opened:
        if len(sources) == 1 and _is_one(opened, sources[0]):
            found = opened.estimate(opened.load(sources[0], password=password))
            _print_one(found, as_json)
        else:
            _several(opened, sources, password, as_json)


def _is_one(library: Library, source: str) -> bool:
    """Whether the name stands for itself and not for what a folder or a pattern holds."""
    return library.sources(source) == [source]


def _several(library: Library, sources: list[str], password: str | None, as_json: bool) -> None:
    """A line for each source and one for all; a source that cannot be loaded is named."""
    from reread import wire

    results: list[dict[str, Any]] = []
    found: list[Estimate] = []
    for source in [s for named in sources for s in common.expanded(library, named, results)]:
        try:
            one = library.estimate(library.load(source, password=password))
        except common.OF_ONE_SOURCE as error:
            results.append({"source": source, "error": error.line})
            common.say(f"reread: {error.line}")
            continue
        known = any(one.document.id == other.document.id for other in found)
        found.append(one)
        results.append({"source": source, "again": known, **wire.estimate(one)})
        if not as_json:
            common.out(_line(one) + (" (the same content again, read once)" if known else ""))
    together = total(found) if found else None
    if as_json:
        common.out_json(wire.estimates(results, together))
    elif together:
        _print_total(together, found[0].model)
        _say_unknown(found[0], together.reading)
    if len(found) < len(results):
        raise typer.Exit(3 if found else 1)


def _line(one: Estimate) -> str:
    return f"{_document(one)}: {_needs(one.reading)}"


def _document(one: Estimate) -> str:
    document = one.document
    size = f"{common.many(document.words, 'word')}, {_many(one.pages, 'page')}"
    return f"{document.id}  {document.title}: {size}"


def _print_one(found: Estimate, as_json: bool) -> None:
    if as_json:
        from reread import wire

        common.out_json(wire.estimate(found))
        return
    common.out(f"{_document(found)}, by {found.model}")
    for what, needs in (("reading", found.reading), ("one question", found.question)):
        common.out(f"{what:<13} {_needs(needs)}")
    _say_unknown(found, found.reading)


def _print_total(together: Total, model: str) -> None:
    common.out(
        f"together {common.many(together.documents, 'document')}, "
        f"{common.many(together.words, 'word')}, {_many(together.pages, 'page')}, "
        f"by {model}: {_needs(together.reading)}"
    )
    common.out(f"one question about one of them: {_needs(together.question)}")


def _say_unknown(found: Estimate, reading: Needs) -> None:
    """What the figures do not hold, on standard error."""
    if found.price is None:
        common.say("the price is not known; put it into config.toml under [prices]")
    elif found.price.dated:
        common.say(f"prices as of {found.price.dated}; yours in config.toml under [prices] win")
    if reading.seconds is None:
        common.say("the speed is not known; `reread models test` measures it")
    common.say("replies asked again, and reasoning, come on top")


def _needs(needs: Needs) -> str:
    calls = _many(needs.calls, "call")
    if needs.remembered[1]:
        calls += f" ({_range(needs.remembered)} more are remembered)"
    time = _time(needs.seconds) if needs.seconds else "time not known"
    cost = "price not known"
    if needs.cost:
        low, high = map(common.dollars, needs.cost)
        cost = low if low == high else f"{low} to {high}"
    return (
        f"{calls}, {_many(needs.words_in, 'word')} in, {_many(needs.prompt_tokens, 'token')} in, "
        f"{_range(needs.completion_tokens)} out, {time}, {cost}"
    )


def _time(seconds: Range) -> str:
    if seconds[1] < 180:
        return f"{_range(seconds)} s"
    return f"{_range((seconds[0] / 60, seconds[1] / 60))} min"


def _many(between: Range, noun: str) -> str:
    return f"{_range(between)} {noun if between[1] == 1 else noun + 's'}"


def _range(between: Range) -> str:
    low, high = (f"{figure:,.0f}" for figure in between)
    return low if low == high else f"{low} to {high}"
