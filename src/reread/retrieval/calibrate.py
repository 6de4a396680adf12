"""Where two texts begin to say the same, in the scale of one embedder.

The paper's 0.85 belongs to Contriever. Here the threshold is found from the library's own
sentences: a sentence and the same said with other framing should be above it, a sentence and the
most like other sentence of the library below. The threshold parts the two with the fewest errors,
and what it was found from is recorded with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from reread.ports import Embedder
from reread.text import count_words, sentences

ENOUGH = 60  # sentences; with fewer it is found anew when there are more
MOST_PAGES = 60
_PER_PAGE = 3
_LOWEST, _HIGHEST = 0.6, 0.97
_UNKNOWN = 0.85  # before there is anything to calibrate with
_FRAMES = (
    "According to the text, {}",
    "It is said that {}",
    "{} This is what the document states.",
)


def epsilon(embedder: Embedder, texts: Sequence[str]) -> dict[str, Any]:
    """The threshold and what it was found from, for a record: `epsilon`, `texts`, quantiles."""
    import numpy as np

    if len(texts) < ENOUGH // 4:
        return {"epsilon": _UNKNOWN, "texts": len(texts), "by": "the paper's, uncalibrated"}
    vectors = unit(embedder.embed(texts, "passage"))
    again = unit(embedder.embed([_again(text, k) for k, text in enumerate(texts)], "passage"))
    same = (vectors * again).sum(axis=1)
    others = vectors @ vectors.T
    np.fill_diagonal(others, -1.0)
    near = others.max(axis=1)
    grid = np.linspace(_LOWEST, _HIGHEST, 75)
    errors = [float((same < e).mean() + (near >= e).mean()) for e in grid]
    best = [e for e, wrong in zip(grid, errors, strict=True) if wrong <= min(errors) + 1e-9]
    return {
        "epsilon": round(float(np.mean(best)), 3),
        "texts": len(texts),
        "by": "parting repeats from neighbours",
        "errors": round(min(errors) / 2, 3),
        "repeats": [round(float(q), 3) for q in np.quantile(same, (0.05, 0.5))],
        "neighbours": [round(float(q), 3) for q in np.quantile(near, (0.5, 0.95))],
    }


def unit(vectors: Any) -> Any:
    """The vectors at length 1, so that their inner products are cosines."""
    import numpy as np

    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def chosen(texts: Sequence[str]) -> list[str]:
    """Some sentences of each text, chosen by hash so that the choice is the same each time."""
    found: list[str] = []
    for text in texts:
        whole = {" ".join(text[a:b].split()) for a, b in sentences(text)}
        fit = [s for s in whole if 8 <= count_words(s) <= 60]
        found += sorted(fit, key=lambda s: hashlib.sha256(s.encode()).digest())[:_PER_PAGE]
    return list(dict.fromkeys(found))


def _again(sentence: str, k: int) -> str:
    """The same said once more: framed in turn in other words."""
    frame = _FRAMES[k % len(_FRAMES)]
    return frame.format(sentence if frame.startswith("{") else sentence[0].lower() + sentence[1:])
