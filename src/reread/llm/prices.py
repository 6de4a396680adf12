"""What a model's tokens cost. Unknown is None, never zero; a model that runs here costs nothing.

The table that ships, `prices.toml`, is dated; the user's own prices win. A price belongs to a model
at a host: the same name elsewhere may be sold for something else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from urllib.parse import urlsplit

from reread.llm.windows import is_local
from reread.types import Completion

_MILLION = 1_000_000
# Sold by their makers only, so a server on this machine that offers one is a gateway.
_SOLD = re.compile(r"(?:^|/)(?:gpt-[345]|chatgpt|o[134]\b|claude|gemini-)|[:-]cloud$", re.I)
_VARIANT = re.compile(r"-(?:\d{4}-\d\d-\d\d|\d{8}|latest)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens, and when that was so; None when the user said it."""

    prompt: float
    completion: float
    cached: float
    dated: str | None = None

    def of(self, completion: Completion) -> float | None:
        """What a reply cost; None when the endpoint did not say how many tokens it took."""
        if completion.prompt_tokens is None or completion.completion_tokens is None:
            return None if self.prompt or self.completion else 0.0
        return self.at(
            completion.prompt_tokens, completion.completion_tokens, completion.reused_tokens
        )

    def at(self, prompt: float, completion: float, cached: float = 0) -> float:
        """What so many tokens cost, of which the `cached` ones are among those of the prompt."""
        fresh = max(0, prompt - cached)
        dollars = fresh * self.prompt + cached * self.cached + completion * self.completion
        return dollars / _MILLION


FREE = Price(prompt=0.0, completion=0.0, cached=0.0)


def price(name: str, base_url: str | None, own: Mapping[str, Mapping[str, float]]) -> Price | None:
    """The price of the model with this name at this endpoint, None when it is not known.

    `own` are the user's prices, by the model's name with or without its `openai:`.
    """
    kind, _, model = name.partition(":")
    for called in (name, model):
        if called in own:
            return _price(own[called], None)
    if kind in ("local", "scripted"):
        return FREE
    if base_url is None:
        return None
    if is_local(base_url):
        return None if _SOLD.search(model) else FREE
    table = tomllib.loads((resources.files(__package__) / "prices.toml").read_text("utf-8"))
    listed = table.get(urlsplit(base_url).hostname or "", {})
    entry = listed.get(model.removeprefix("models/")) or listed.get(_VARIANT.sub("", model))
    return _price(entry, table["dated"]) if entry else None


def _price(entry: Mapping[str, float], dated: str | None) -> Price:
    return Price(
        prompt=entry["prompt"],
        completion=entry["completion"],
        cached=entry.get("cached", entry["prompt"]),
        dated=dated,
    )
