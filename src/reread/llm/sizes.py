"""How many tokens a text takes at one model, learned by script from what its server reports.

No tokenizer is fetched: `text.estimate_tokens` is an upper guess for a common vocabulary, and each
script has a factor by which this model differs from it, the largest one seen. Invariant: a factor
grows at once, since what was planned too small fails; it shrinks only by `keep`, between pieces of
work, so that an interrupted one is planned again as it was before.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping
from typing import Any

from reread.text import estimate_tokens

LATIN = "Latin"
_SCRIPTS = {
    "Cyrillic or Greek": re.compile("[\u0370-\u052f\u1f00-\u1fff]"),
    "Hebrew or Arabic": re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"),
    "Indic or Thai": re.compile("[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff]"),
    "Korean": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "Chinese or Japanese": re.compile(
        "[\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
    ),
}
_MOST_FACTOR = 4.0
_WORTH_LEARNING_TOKENS = 400  # below it, what the server adds around a prompt weighs too much
_ENOUGH_TOKENS = 2_000  # evidence before a factor may shrink
_MAINLY = 0.8
_FIRST, _LATER_ONE_IN = 32, 8  # prompts that are looked at, which takes half a millisecond each


class Sizes:
    """The factors of one model; `kept` is what an earlier `keep` returned."""

    def __init__(self, kept: Mapping[str, Any] | None = None) -> None:
        self._lock = threading.Lock()
        self._factors: dict[str, float] = {}
        self._most: dict[str, float] = {}
        self._evidence: dict[str, int] = {}
        self._seen = 0
        for script, known in (kept or {}).items():
            self._factors[script], self._most[script], self._evidence[script] = known

    def count(self, text: str) -> int:
        """How many tokens the text takes, an upper estimate."""
        with self._lock:
            factors = dict(self._factors)
        if not factors:
            return estimate_tokens(text)
        parts = by_script(text)
        return math.ceil(sum(factors.get(s, 1.0) * guessed for s, guessed in parts.items()))

    def saw(self, texts: tuple[str, ...], tokens: int) -> None:
        """Learns from a prompt of these texts that the server counted as so many tokens.

        Counts that cannot be, because a word takes a token at least, teach nothing: some servers
        leave out what they had evaluated before.
        """
        with self._lock:
            self._seen += 1
            if self._seen > _FIRST and self._seen % _LATER_ONE_IN:
                return
        parts = _together(texts)
        total = sum(parts.values())
        script = max(parts, key=lambda s: parts[s])
        if total < _WORTH_LEARNING_TOKENS or parts[script] < _MAINLY * total:
            return
        if tokens < sum(map(fewest_tokens, texts)):
            return
        with self._lock:
            others = sum(self._factors.get(s, 1.0) * n for s, n in parts.items() if s != script)
            factor = math.ceil(100 * (tokens - others) / parts[script]) / 100
            if not 0 < factor <= _MOST_FACTOR:
                return
            self._evidence[script] = self._evidence.get(script, 0) + round(parts[script])
            self._most[script] = max(self._most.get(script, 0.0), factor)
            if factor > self._factors.get(script, 1.0):
                self._factors[script] = factor

    def exceeded(self, texts: tuple[str, ...]) -> bool:
        """Counts such texts higher, since they did not fit; False when that would go too far."""
        with self._lock:
            grown = {s: 1.3 * self._factors.get(s, 1.0) for s in _together(texts)}
            if max(grown.values()) > _MOST_FACTOR:
                return False
            self._factors |= grown
            self._most |= {s: max(f, self._most.get(s, 0.0)) for s, f in grown.items()}
            return True

    def keep(self) -> dict[str, list[float]]:
        """What is known, which counts from now on."""
        with self._lock:
            for script, most in self._most.items():
                if self._evidence.get(script, 0) >= _ENOUGH_TOKENS:
                    self._factors[script] = most
            return {
                s: [self._factors.get(s, 1.0), most, self._evidence.get(s, 0)]
                for s, most in self._most.items()
            }


def by_script(text: str) -> dict[str, float]:
    """The guessed tokens of a text by script; together they are `estimate_tokens(text)`."""
    parts: dict[str, float] = {}
    if not text.isascii():
        for script, pattern in _SCRIPTS.items():
            found = pattern.findall(text)
            if found:
                wide = sum(1 for c in found if ord(c) > 0x2E7F)
                parts[script] = len(found) + wide / 3
    parts[LATIN] = max(0.0, estimate_tokens(text) - sum(parts.values()))
    return parts


def fewest_tokens(text: str) -> int:
    """Tokens that the text takes at the very least: one a word, and a third of one a wide sign."""
    wide = 0 if text.isascii() else len(_SCRIPTS["Chinese or Japanese"].findall(text))
    return max(len(text.split()), wide // 3)


def _together(texts: tuple[str, ...]) -> dict[str, float]:
    total: dict[str, float] = {LATIN: 0.0}
    for text in texts:
        for script, guessed in by_script(text).items():
            total[script] = total.get(script, 0.0) + guessed
    return total
