"""`reread estimate`: what reading and asking will take, before anything is spent."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from reread.cli import common
from reread.estimating import Estimate, Needs, Range


def estimate(
    source: Annotated[
        str, typer.Argument(help="Path, URL, arXiv id, -, or a document's id or title.")
    ],
    strategy: Annotated[Optional[str], typer.Option(help="parallel, sequential or gists.")] = None,
    max_pages: Annotated[
        Optional[int], typer.Option(min=0, help="Most pages to read again.")
    ] = None,
    as_json: common.AsJson = False,
    password: common.Password = None,
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
    )
    config: dict[str, Any] = {
        "model": model,
        "base_url": base_url,
        "context_tokens": context_tokens,
        "workers": workers,
    }
    with common.opened(library, chosen, **config) as opened:
        found = opened.estimate(opened.load(source, password=password))
    if as_json:
        from reread import wire

        common.out_json(wire.estimate(found))
    else:
        _print(found)


def _print(found: Estimate) -> None:
    document = found.document
    common.out(
        f"{document.id}  {document.title}: {document.words:,} words, {_range(found.pages)} pages, "
        f"by {found.model}"
    )
    for what, needs in (("reading", found.reading), ("one question", found.question)):
        common.out(f"{what:<13} {_needs(needs)}")
    if found.price is None:
        common.say("the price is not known; put it into config.toml under [prices]")
    elif found.price.dated:
        common.say(f"prices as of {found.price.dated}; yours in config.toml under [prices] win")
    if found.reading.seconds is None:
        common.say("the speed is not known; `reread models test` measures it")
    common.say("replies asked again, and reasoning, come on top")


def _needs(needs: Needs) -> str:
    calls = f"{_range(needs.calls)} calls"
    if needs.remembered[1]:
        calls += f" ({_range(needs.remembered)} more are remembered)"
    time = _time(needs.seconds) if needs.seconds else "time not known"
    cost = "price not known"
    if needs.cost:
        low, high = map(common.dollars, needs.cost)
        cost = low if low == high else f"{low} to {high}"
    return (
        f"{calls}, {_range(needs.words_in)} words in, {_range(needs.prompt_tokens)} tokens in, "
        f"{_range(needs.completion_tokens)} out, {time}, {cost}"
    )


def _time(seconds: Range) -> str:
    if seconds[1] < 180:
        return f"{_range(seconds)} s"
    return f"{_range((seconds[0] / 60, seconds[1] / 60))} min"


def _range(between: Range) -> str:
    low, high = (f"{figure:,.0f}" for figure in between)
    return low if low == high else f"{low} to {high}"
