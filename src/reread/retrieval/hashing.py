"""An embedder without a model: words hashed to directions, the same on every machine.

It ships for tests and for trying things out. Texts are alike as far as they share words and parts
of words; it knows nothing of meaning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from reread.ports import Metric, Side

_WIDTH = 256
_PART = 4  # characters: parts of words bring inflected forms together


class Hashing:
    """The embedder, of any `name` so that tests can have several."""

    metric: Metric = "cosine"
    max_words = 150

    def __init__(self, name: str = "hashing:words") -> None:
        self.name = name
        self.embedded = 0  # texts so far

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """One vector of length 1 a text, in order; a text without words has the first axis."""
        import numpy as np

        self.embedded += len(texts)
        out = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for k, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                for axis, sign in _directions(word):
                    out[k, axis] += sign
            if not out[k].any():
                out[k, 0] = 1.0
            out[k] /= np.linalg.norm(out[k])
        return out


@lru_cache(maxsize=65_536)
def _directions(word: str) -> tuple[tuple[int, float], ...]:
    features = [word] * 3 + [word[:_PART]]
    found = []
    for k, feature in enumerate(features):
        digest = hashlib.blake2b(f"{k}{feature}".encode(), digest_size=8).digest()
        found.append((int.from_bytes(digest[:4], "big") % _WIDTH, 1.0 if digest[4] & 1 else -1.0))
    return tuple(found)
