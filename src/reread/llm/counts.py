"""What a reply took, as its endpoint reports it: servers count differently, and some wrongly.

Invariant: the tokens of the prompt include those that were evaluated before, and the tokens of the
reply include what was thought and not said, whoever counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Tokens of one call; None where the endpoint reports nothing that can be."""

    prompt: int | None = None
    completion: int | None = None
    reused: int = 0
    reasoning: int = 0


def counts(usage: Mapping[str, Any] | None, fewest: int) -> Counts:
    """The counts in the `usage` of a reply to a prompt of at least `fewest` tokens."""
    if not usage:
        return Counts()
    prompt = _count(usage.get("prompt_tokens")) or None
    reused = (
        _in(usage, "prompt_tokens_details", "cached_tokens")
        or _count(usage.get("prompt_cache_hit_tokens"))
        or _count(usage.get("cache_read_input_tokens"))
        or 0
    )
    if prompt is not None and (reused > prompt or prompt < fewest <= prompt + reused):
        prompt += reused  # only what was new had been counted
    completion = _count(usage.get("completion_tokens"))
    reasoning = _in(usage, "completion_tokens_details", "reasoning_tokens")
    if prompt is not None and completion is not None:
        unsaid = (_count(usage.get("total_tokens")) or 0) - prompt - completion
        if unsaid > 0 and unsaid == (reasoning or unsaid):
            completion, reasoning = completion + unsaid, unsaid
    return Counts(prompt=prompt, completion=completion, reused=reused, reasoning=reasoning)


def _in(usage: Mapping[str, Any], details: str, name: str) -> int:
    found = usage.get(details)
    return _count(found.get(name)) or 0 if isinstance(found, Mapping) else 0


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
