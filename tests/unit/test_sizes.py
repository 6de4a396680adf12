"""Tokens of a text, learned by script from what servers report."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from making import prose
from reread.llm.sizes import LATIN, Sizes, by_script, fewest_tokens
from reread.text import estimate_tokens

ENGLISH = prose([400] * 3)
RUSSIAN = "Карта лежала в старом саду под окном. " * 60
CHINESE = "安娜在旧港口附近找到了那张地图。" * 60
KOREAN = "안나는 옛 항구 근처에서 지도를 찾았다. " * 60
SAMPLES = {
    LATIN: ENGLISH,
    "Cyrillic or Greek": RUSSIAN,
    "Chinese or Japanese": CHINESE,
    "Korean": KOREAN,
    "Hebrew or Arabic": "وجدت آنا الخريطة بالقرب من الميناء القديم. " * 60,
    "Indic or Thai": "แอนนาพบแผนที่ใกล้ท่าเรือเก่า " * 60,
}


@pytest.mark.parametrize("script", SAMPLES)
def test_the_parts_of_a_text_are_its_estimate(script: str) -> None:
    parts = by_script(SAMPLES[script])
    assert sum(parts.values()) == pytest.approx(estimate_tokens(SAMPLES[script]), abs=1)
    assert max(parts, key=lambda s: parts[s]) == script


@pytest.mark.parametrize("script", SAMPLES)
@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5])
def test_what_is_reported_is_counted_afterwards(script: str, factor: float) -> None:
    text = SAMPLES[script]
    tokens = max(round(estimate_tokens(text) * factor), fewest_tokens(text))
    sizes = Sizes()
    for _ in range(10):
        sizes.saw((text,), tokens)
    sizes.keep()
    assert sizes.count(text) == pytest.approx(tokens, rel=0.02)
    assert sizes.count(text) >= tokens - 1


def test_one_script_teaches_nothing_of_another() -> None:
    sizes = Sizes()
    for _ in range(10):
        sizes.saw((RUSSIAN,), estimate_tokens(RUSSIAN) // 2)
    sizes.keep()
    assert sizes.count(ENGLISH) == estimate_tokens(ENGLISH)
    assert sizes.count(RUSSIAN) < estimate_tokens(RUSSIAN) * 0.6


def test_less_counts_only_between_pieces_of_work_and_more_at_once() -> None:
    sizes, guessed = Sizes(), estimate_tokens(RUSSIAN)
    for _ in range(10):
        sizes.saw((RUSSIAN,), guessed // 2)
    assert sizes.count(RUSSIAN) == guessed
    sizes.keep()
    assert sizes.count(RUSSIAN) < guessed * 0.6
    sizes.saw((RUSSIAN,), guessed * 2)
    assert sizes.count(RUSSIAN) == pytest.approx(guessed * 2, rel=0.02)


def test_little_evidence_lowers_nothing() -> None:
    sizes = Sizes()
    sizes.saw((RUSSIAN,), estimate_tokens(RUSSIAN) // 2)
    sizes.keep()
    assert estimate_tokens(RUSSIAN) < 2_000 + 400
    assert sizes.count(RUSSIAN[:900]) == estimate_tokens(RUSSIAN[:900])


def test_the_largest_factor_seen_is_the_one_that_counts() -> None:
    sizes, guessed = Sizes(), estimate_tokens(RUSSIAN)
    for tokens in (guessed // 2, guessed * 3 // 4, guessed // 2):
        sizes.saw((RUSSIAN,), tokens)
    sizes.keep()
    assert sizes.count(RUSSIAN) == pytest.approx(guessed * 3 / 4, rel=0.02)


@pytest.mark.parametrize(
    "tokens",
    [0, 3, len(ENGLISH.split()) - 1, 50 * estimate_tokens(ENGLISH)],
    ids=["nothing", "only what was new", "fewer than words", "nonsense"],
)
def test_counts_that_cannot_be_teach_nothing(tokens: int) -> None:
    sizes = Sizes()
    for _ in range(10):
        sizes.saw((ENGLISH,), tokens)
    assert sizes.keep() == {}
    assert sizes.count(ENGLISH) == estimate_tokens(ENGLISH)


def test_short_prompts_and_mixed_ones_teach_nothing() -> None:
    sizes = Sizes()
    sizes.saw(("A short prompt.",), 90)
    sizes.saw((ENGLISH, CHINESE * 3), 90_000)
    assert sizes.keep() == {}


def test_what_is_kept_is_known_to_the_next() -> None:
    first = Sizes()
    for _ in range(10):
        first.saw((CHINESE,), estimate_tokens(CHINESE) // 2)
    second = Sizes(first.keep())
    assert second.count(CHINESE) == first.count(CHINESE) < estimate_tokens(CHINESE)


def test_what_did_not_fit_is_counted_higher_and_stays_so() -> None:
    sizes, guessed = Sizes(), estimate_tokens(ENGLISH)
    assert sizes.exceeded((ENGLISH,))
    assert sizes.count(ENGLISH) == pytest.approx(1.3 * guessed, rel=0.01)
    kept = sizes.keep()
    assert Sizes(kept).count(ENGLISH) == sizes.count(ENGLISH)
    for _ in range(10):
        sizes.saw((ENGLISH,), guessed)
    sizes.keep()
    assert sizes.count(ENGLISH) == pytest.approx(1.3 * guessed, rel=0.01)


def test_counting_higher_has_an_end() -> None:
    sizes = Sizes()
    raised = [sizes.exceeded((ENGLISH,)) for _ in range(8)]
    assert raised == [True] * 5 + [False] * 3


@pytest.mark.parametrize(
    ("text", "fewest"), [("", 0), ("three small words", 3), ("安娜在旧港口", 2), ("a" * 99, 1)]
)
def test_the_fewest_tokens_are_certain(text: str, fewest: int) -> None:
    assert fewest_tokens(text) == fewest


@pytest.fixture
def sure() -> Callable[[str], bool]:
    return lambda text: fewest_tokens(text) <= estimate_tokens(text)


@pytest.mark.parametrize("script", SAMPLES)
def test_the_fewest_are_never_more_than_the_guess(script: str, sure: Callable[[str], bool]) -> None:
    assert sure(SAMPLES[script])
