"""What replies took, in the words of each server; the numbers are ours."""

from __future__ import annotations

from typing import Any

import pytest

from reread.llm.counts import Counts, counts

CASES: dict[str, tuple[dict[str, Any] | None, int, Counts]] = {
    "nothing": (None, 10, Counts()),
    "empty": ({}, 10, Counts()),
    "plain": (
        {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        80,
        Counts(prompt=100, completion=20),
    ),
    "OpenAI": (
        {
            "prompt_tokens": 1_500,
            "completion_tokens": 300,
            "total_tokens": 1_800,
            "prompt_tokens_details": {"cached_tokens": 1_024, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 256},
        },
        1_000,
        Counts(prompt=1_500, completion=300, reused=1_024, reasoning=256),
    ),
    "DeepSeek": (
        {
            "prompt_tokens": 1_500,
            "completion_tokens": 30,
            "total_tokens": 1_530,
            "prompt_cache_hit_tokens": 1_024,
            "prompt_cache_miss_tokens": 476,
        },
        1_000,
        Counts(prompt=1_500, completion=30, reused=1_024),
    ),
    "a gateway to Anthropic, which counts only what was new": (
        {
            "prompt_tokens": 90,
            "completion_tokens": 30,
            "total_tokens": 1_120,
            "cache_read_input_tokens": 1_000,
        },
        900,
        Counts(prompt=1_090, completion=30, reused=1_000),
    ),
    "new and cached apart": (
        {
            "prompt_tokens": 700,
            "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 600},
        },
        1_000,
        Counts(prompt=1_300, completion=30, reused=600),
    ),
    "Gemini, whose total holds the thoughts": (
        {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 420},
        80,
        Counts(prompt=100, completion=320, reasoning=300),
    ),
    "thoughts beside the reply, and named": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 420,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        80,
        Counts(prompt=100, completion=320, reasoning=300),
    ),
    "nulls": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": None,
            "completion_tokens_details": {"reasoning_tokens": None},
        },
        80,
        Counts(prompt=100, completion=20),
    ),
    "zero for what was not counted": (
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        80,
        Counts(prompt=None, completion=0),
    ),
    "nonsense": (
        {"prompt_tokens": "100", "completion_tokens": -5, "total_tokens": True},
        80,
        Counts(),
    ),
}


@pytest.mark.parametrize("server", CASES)
def test_what_each_server_reports_means_the_same(server: str) -> None:
    usage, fewest, right = CASES[server]
    assert counts(usage, fewest) == right
