"""`reread models`: the embedded models, and a test of whatever model is configured."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reread.cli import common

if TYPE_CHECKING:
    from reread.llm.probe import Report

app = typer.Typer(help="List, pull and test models.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_(as_json: common.AsJson = False) -> None:
    """List the embedded models and whether their weights are here."""
    from reread import config as configuration
    from reread.llm import weights

    folder = configuration.load().weights
    entries: list[dict[str, Any]] = [
        {
            "name": w.name if w.embedder else f"local:{w.name}",
            "size_bytes": w.size_bytes,
            "licence": w.licence,
            "default": w.default,
            "installed": weights.installed(w, folder) is not None,
        }
        for w in weights.known().values()
    ]
    if as_json:
        common.out_json(entries)
        return
    for e in entries:
        state = "here" if e["installed"] else "not here"
        mark = ", the default" if e["default"] else ""
        common.out(f"{e['name']}  {e['size_bytes'] / 1e6:,.0f} MB, {e['licence']}, {state}{mark}")


@app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help="An embedded model; the default when left out.")] = "",
) -> None:
    """Fetch the weights of an embedded model, checked against the hash in our source."""
    from reread import config as configuration
    from reread.llm import weights

    config = configuration.load()
    chosen = weights.find(name.removeprefix("local:"))
    started = time.monotonic()
    before = weights.installed(chosen, config.weights)
    with common.drawn() as progress:
        if progress is None and before is None:
            common.say(f"fetching {chosen.name}, {chosen.size_bytes / 1e6:,.0f} MB")
        path = weights.pull(chosen, config.weights, progress=progress, hub=config.hub)
    done = "already here" if before else f"fetched in {common.seconds(started)}"
    common.out(f"{'' if chosen.embedder else 'local:'}{chosen.name} {done}: {path}")


@app.command("test")
def try_out(
    again: Annotated[
        bool, typer.Option("--again", help="Test anew, though it was tested before.")
    ] = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    timeout: common.Timeout = None,
    as_json: common.AsJson = False,
) -> None:
    """Find out once what a model can do: some ten calls and 3,000 to 7,000 tokens."""
    config: dict[str, Any] = {"model": model, "base_url": base_url, "timeout_s": timeout}
    with common.opened(library, **config) as opened:
        found = opened.test_model(again=again)
    if as_json:
        common.out_json(asdict(found))
        return
    common.out(f"{found.model} at {found.endpoint}")
    for what, told in _rows(found):
        common.out(f"  {what:<18} {told}")
    when = found.at[:16].replace("T", " ")
    common.say(
        f"tested {when} UTC with {found.calls} calls, {found.prompt_tokens:,} tokens in and "
        f"{found.completion_tokens:,} out; `reread models test --again` tests anew"
    )


def _rows(found: Report) -> list[tuple[str, str]]:
    """What was found, in words."""
    sent = {"max_tokens": "max_completion_tokens is sent", "system": "it stands in the message"}
    refused = [f"{name} ({sent.get(name, 'left out')})" for name in found.refused]
    return [
        ("window", _window(found)),
        ("structured output", _STRUCTURED[found.structured]),
        ("system role", _SYSTEM_ROLE[found.system_role]),
        ("refuses", ", ".join(refused) or "no parameter"),
        ("reasoning", _REASONING[found.reasoning]),
        ("streaming", "yes" if found.streaming else "no, replies come in one piece"),
        ("prompt caching", _caching(found)),
        ("speed", _speed(found)),
    ]


_STRUCTURED = {
    "json_schema": "JSON schema",
    "grammar": "grammar",
    "json_object": "JSON mode, without a schema",
    "none": "none; replies are read as they come",
}
_SYSTEM_ROLE = {
    "taken": "taken",
    "ignored": "not heeded; it stands in the message",
    "refused": "refused; it stands in the message",
}
_REASONING = {
    "none": "none seen",
    "in the reply": "at the head of the reply, in tags; it is removed",
    "apart": "apart from the reply",
}


def _window(found: Report) -> str:
    tokens = f"{found.window_tokens:,} tokens"
    if found.window_tokens < found.window_declared:
        return f"{tokens}, though {found.window_declared:,} are declared"
    if found.window_checked is None:
        return f"{tokens} as declared; not measured"
    return f"{tokens} as declared; a prompt of {found.window_checked:,} was read whole"


def _caching(found: Report) -> str:
    if found.reused_tokens is None or found.repeated_tokens is None:
        return "not known: the server counts no tokens"
    if not found.reused_tokens:
        return "none reported"
    return f"yes, {found.reused_tokens:,} of {found.repeated_tokens:,} tokens came from the cache"


def _speed(found: Report) -> str:
    def told(speed: float | None) -> str:
        return "an unknown number of" if speed is None else f"{speed:,.0f}"

    if found.prompt_speed is None and found.reply_speed is None:
        return "not known"
    return f"{told(found.prompt_speed)} prompt and {told(found.reply_speed)} reply tokens a second"
