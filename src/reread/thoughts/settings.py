"""How thoughts are recalled and kept, as data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from reread.errors import SettingsError


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How thoughts are recalled and kept (Section 4.1 for the paper's values).

    `k` items are retrieved, pages and thoughts together, and put into a prompt within
    `budget_tokens`. From a similarity of `epsilon` on a thought says nothing new; 0 means the
    embedder's own. `chunk_tokens` of 0 takes the pages that were read as chunks. `distil` names the
    prompt. With `grounding` a thought is checked against its evidence. A thought above `level_cap`,
    or with less than `raw_share` of its sources being pages or gists, is not kept. Of what is
    retrieved, only what is `nearness` times as like the question as the best is used. With
    `everywhere` thoughts are recalled that rest on other documents alone, too.
    """

    name: str
    why: str
    k: int
    epsilon: float
    chunk_tokens: int
    budget_tokens: int
    distil: str
    grounding: bool
    level_cap: float = float("inf")
    raw_share: float = 0.0
    nearness: float = 0.0
    everywhere: bool = False


def manner(name: str) -> Manner:
    """The manner with this name.

    Raises:
        SettingsError: there is none; the message lists the known ones.
    """
    text = resources.files(__package__).joinpath("presets.toml").read_text("utf-8")
    known = tomllib.loads(text)
    if name not in known:
        raise SettingsError(
            f"thoughts know no manner {name!r}", hint=f"Known are {', '.join(known)}"
        )
    return Manner(name=name, **known[name])
