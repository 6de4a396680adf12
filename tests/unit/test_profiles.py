"""Profiles, presets, and how they fill what the settings leave open."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reread.errors import SettingsError
from reread.prompts import Prompts
from reread.reading import PAGINATIONS, STRATEGIES, Profile, preset, profile, resolve
from reread.types import Settings

NAMES = sorted(
    f.name.removesuffix(".toml")
    for f in resources.files("reread.reading.profiles").iterdir()
    if f.name.endswith(".toml")
)


def resolved(
    settings: Settings, words: int = 10_000, window: int = 32_768, suited: str = "default"
) -> Settings:
    return resolve(settings, document_words=words, context_tokens=window, suited=suited)[0]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("quality", 280, 600), ("qmsum", 280, 600), ("gutenberg", 500, 3000), ("movie", 600, 1000)],
)
def test_presets_are_those_of_table_8(name: str, low: int, high: int) -> None:
    made = resolved(preset(name), words=500)
    assert (made.min_words, made.max_words) == (low, high)
    assert made.previous_page is (name == "qmsum")
    assert (made.strategy == "sequential") is (name == "movie") is made.answer_each_step


@pytest.mark.parametrize("name", NAMES)
def test_every_profile_is_whole_and_names_what_there_is(name: str) -> None:
    made = profile(name)
    shipped = Prompts().names()
    assert {made.gist, made.answer} <= set(shipped)
    assert made.pagination in PAGINATIONS
    assert made.layout in ("in-place", "appended")
    assert made.look_up in ("model", "lexical", "both")
    assert made.why
    assert made.max_pages >= 1
    settings, chosen = resolve(Settings(), document_words=10_000, context_tokens=8_192, suited=name)
    assert chosen == made
    assert settings.profile == name
    assert None not in (settings.min_words, settings.max_words, settings.pagination)
    assert None not in (settings.strategy, settings.max_pages)


def test_the_paper_profile_reads_as_published() -> None:
    made = resolved(Settings(profile="paper"), words=1_000_000)
    assert (made.min_words, made.max_words, made.pagination) == (280, 600, "model")
    assert (made.strategy, made.max_pages) == ("parallel", 5)


@pytest.mark.parametrize(
    ("words", "window", "longest"),
    [
        (5_000, 32_768, 600),  # as for QuALITY
        (60_000, 32_768, 1_500),
        (500_000, 32_768, 3_000),  # as for Gutenberg
        (500_000, 8_192, 1_092),  # a fifth of the window
        (5_000, 2_000, 266),
        (5_000, 100, 60),
    ],
)
def test_pages_are_sized_to_document_and_window(words: int, window: int, longest: int) -> None:
    made = resolved(Settings(), words, window)
    assert made.max_words == longest
    assert made.min_words == round(longest * 280 / 600)


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        ({"max_words": 300}, 140, 300),
        ({"min_words": 400}, 400, 600),
        ({"min_words": 700}, 700, 1500),
        ({"min_words": 10, "max_words": 11}, 10, 11),
        ({"max_words": 2}, 1, 2),
    ],
)
def test_one_size_leaves_the_other_to_us(said: dict[str, int], low: int, high: int) -> None:
    made = resolved(Settings(**said))  # type: ignore[arg-type]
    assert (made.min_words, made.max_words) == (low, high)


@pytest.mark.parametrize("name", NAMES)
@given(low=st.integers(1, 5000), words=st.integers(0, 10**6), window=st.integers(1, 10**6))
def test_a_least_size_alone_never_contradicts_the_profile(
    name: str, low: int, words: int, window: int
) -> None:
    made = resolved(Settings(min_words=low), words, window, suited=name)
    assert made.min_words == low
    assert made.max_words is not None
    assert made.max_words > low


def test_what_is_said_wins_over_the_profile() -> None:
    made = resolved(Settings(pagination="uniform", strategy="gists", max_pages=0, profile="paper"))
    assert (made.pagination, made.strategy, made.max_pages) == ("uniform", "gists", 0)


@pytest.mark.parametrize(
    "said",
    [
        {"min_words": 600, "max_words": 600},
        {"min_words": 0, "max_words": 600},
        {"min_words": -5, "max_words": 600},
        {"max_words": 1},
        {"max_pages": -1},
    ],
)
def test_contradictions_are_refused(said: dict[str, int]) -> None:
    with pytest.raises(SettingsError):
        resolved(Settings(**said))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ({"profile": "nope"}, "embedded"),
        ({"pagination": "nope"}, "uniform"),
        ({"strategy": "nope"}, "sequential"),
    ],
)
def test_an_unknown_name_lists_the_known(said: dict[str, Any], known: str) -> None:
    with pytest.raises(SettingsError) as failure:
        resolved(Settings(**said))
    assert "nope" in failure.value.message
    assert known in failure.value.line
    assert not failure.value.retryable


def test_an_unknown_preset_lists_the_known() -> None:
    with pytest.raises(SettingsError, match="nope") as failure:
        preset("nope")
    assert "gutenberg" in failure.value.line


def test_profiles_differ_only_in_data() -> None:
    assert isinstance(profile("default"), Profile)
    assert STRATEGIES == ("parallel", "sequential", "gists")
