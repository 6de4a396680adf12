"""`reread models`: the embedded models, and a test of whatever model is configured."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from reread.cli import common

app = typer.Typer(help="List, pull and test models.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_(as_json: common.AsJson = False) -> None:
    """List the embedded models and whether their weights are here."""
    from reread import config as configuration
    from reread.llm import weights

    folder = configuration.load().weights
    entries: list[dict[str, Any]] = [
        {
            "name": f"local:{w.name}",
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
    common.out(f"local:{chosen.name} {done}: {path}")


@app.command("test")
def try_out(
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    timeout: common.Timeout = None,
    as_json: common.AsJson = False,
) -> None:
    """Send one small call to the model and say what came back."""
    from reread import config as configuration
    from reread.llm import choose, probe

    config = configuration.load(model=model, base_url=base_url, timeout_s=timeout)
    result = probe(choose(config))
    if as_json:
        common.out_json(result)
        return
    for key, value in result.items():
        common.out(f"{key.replace('_', ' '):<16} {value}")
