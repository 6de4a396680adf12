"""Profiles and presets: how reading suits a model and a kind of text, as data.

A profile names the prompts, the layout and the page sizes that suit a model; a preset holds the
settings of one of the paper's datasets. Both fill what `Settings` leaves open, and what came out
is recorded with the memory.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, Literal

from reread.errors import SettingsError
from reread.reading.kinds import GENERAL, known
from reread.types import Settings

PAGINATIONS = ("model", "uniform", "structure")
STRATEGIES = ("parallel", "sequential", "gists")


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """How a kind of model reads best.

    `block_words` of 0 gists a page in one call, otherwise a page is gisted in blocks of about that
    many words, each into `gist_share` of its words. With `check_names` a gist that holds a number
    or a name absent from its block is refused. `layout` says where opened pages stand: `in-place`
    of their gists, or `appended` after all gists. `look_up` is `model`, `lexical` or `both`. With
    `merge` pages are joined before gists get levels (Appendix I). With `by_kind` gists keep what
    matters in the document's kind (Appendix G.2). With `thoughts` questions use thoughts and leave
    them, unless told otherwise. `sampling` are parameters for gisting beyond the common ones. With
    `warm` reading ends with one look-up, so that a back end which keeps evaluated prompts has the
    gists ready for questions. With `read_support` a page whose gist alone supports an answer is
    read, while pages may be, and the question asked again. With `sure` above 0 the model is first
    asked whether what it sees answers, and below that chance the answer is that nothing does.
    """

    name: str
    why: str
    pagination: str
    gist: str
    answer: str
    layout: Literal["in-place", "appended"]
    look_up: Literal["model", "lexical", "both"]
    max_pages: int
    min_words: int | None = None
    max_words: int | None = None
    block_words: int = 0
    gist_share: float = 1.0
    check_names: bool = False
    warm: bool = False
    merge: bool = False
    by_kind: bool = False
    read_support: bool = False
    sure: float = 0.0
    thoughts: bool = True
    sampling: Mapping[str, Any] = field(default_factory=dict)


def profile(name: str) -> Profile:
    """The profile with this name.

    Raises:
        SettingsError: there is none; the message lists the known ones.
    """
    folder = resources.files(__name__)
    names = sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith("toml")
    )
    if name not in names:
        raise SettingsError(f"there is no profile {name!r}", hint=f"Known are {', '.join(names)}")
    return Profile(name=name, **tomllib.loads((folder / f"{name}.toml").read_text("utf-8")))


def preset(name: str) -> Settings:
    """The settings of one of the paper's datasets (Table 8).

    Raises:
        SettingsError: there is none; the message lists the known ones.
    """
    file = resources.files("reread.reading") / "presets.toml"
    presets: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    if name not in presets:
        raise SettingsError(f"there is no preset {name!r}", hint=f"Known are {', '.join(presets)}")
    return Settings(**presets[name])


def resolve(
    settings: Settings,
    *,
    document_words: int,
    context_tokens: int,
    suited: str,
    document_kind: str = GENERAL,
) -> tuple[Settings, Profile]:
    """Settings without None, and the profile they are for.

    `suited` is the profile the model asks for, used when the settings name none.

    Raises:
        SettingsError: a value is unknown or out of range, or values contradict each other.
    """
    for name in ("min_words", "max_words", "max_pages"):
        if not isinstance(getattr(settings, name), int | None):
            raise SettingsError(
                f"{name} is {getattr(settings, name)!r}, but must be a whole number"
            )
    chosen = profile(settings.profile or suited)
    ratio = (chosen.min_words or 280) / (chosen.max_words or 600)
    longest, shortest = settings.max_words, settings.min_words
    if longest is None:
        longest = chosen.max_words or _page_size(document_words, context_tokens)
        if shortest is not None and shortest >= longest:
            longest = max(shortest + 1, round(shortest / ratio))
    if shortest is None:
        shortest = max(1, min(round(longest * ratio), longest - 1))
    complete = replace(
        settings,
        profile=chosen.name,
        min_words=shortest,
        max_words=longest,
        pagination=settings.pagination or chosen.pagination,
        kind=settings.kind or (document_kind if chosen.by_kind else GENERAL),
        task=" ".join((settings.task or "").split()) or None,
        strategy=settings.strategy or "parallel",
        max_pages=chosen.max_pages if settings.max_pages is None else settings.max_pages,
    )
    _check(complete)
    return complete, chosen


def _check(s: Settings) -> None:
    if s.pagination not in PAGINATIONS:
        names = ", ".join(PAGINATIONS)
        raise SettingsError(f"there is no pagination {s.pagination!r}", hint=f"Known are {names}")
    if s.strategy not in STRATEGIES:
        names = ", ".join(STRATEGIES)
        raise SettingsError(f"there is no strategy {s.strategy!r}", hint=f"Known are {names}")
    if s.kind not in known():
        kinds = ", ".join(known())
        raise SettingsError(f"there is no kind of document {s.kind!r}", hint=f"Known are {kinds}")
    if not 1 <= (s.min_words or 0) < (s.max_words or 0):
        raise SettingsError(
            f"page sizes of {s.min_words} to {s.max_words} words cannot be kept",
            hint="min_words must be at least 1 and below max_words",
        )
    if (s.max_pages or 0) < 0:
        raise SettingsError(f"max_pages is {s.max_pages}, but cannot be negative")


def _page_size(document_words: int, context_tokens: int) -> int:
    """Words of the longest page: 600 as for QuALITY, more where the document is long.

    Longer pages compress better, so a book's gists still fit beside an opened page. A page never
    takes more than a fifth of the window, at an estimated 1.5 tokens a word.
    """
    by_document = min(3000, max(600, document_words // 40))
    return max(60, min(by_document, int(context_tokens / 1.5 / 5)))
