"""How fast and how exact recall is over many vectors, and what they take.

    python bench/recall.py [--vectors FILE.npy] [COUNT …]

`built` is what making the index takes, without reading the vectors from a library.

Vectors are made from those in the file, mixed in pairs with noise, or from random directions
where no file is given; the real ones are harder to tell apart. Queries lie near stored vectors.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from reread.retrieval.index import Index

WIDTH, QUERIES, K, BATCH = 384, 200, 8, 50_000


def main() -> None:
    """Measures and prints one line a count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("counts", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--vectors", type=Path)
    said = parser.parse_args()
    base = np.load(said.vectors) if said.vectors else None
    for count in said.counts:
        measure(count, base)


def measure(count: int, base: np.ndarray | None) -> None:
    """Prints median, p95, recall and memory of searches among so many vectors."""
    rng = np.random.default_rng(1)
    index, kept, queries = Index(), [], []
    started = time.perf_counter()
    for at in range(0, count, BATCH):
        part = vectors(rng, min(BATCH, count - at), base)
        half = part.astype("<f2")
        index.add(range(at, at + len(part)), [v.tobytes() for v in half], count - at - len(part))
        kept.append(half)
        queries.append(part[: max(1, QUERIES * BATCH // count + 1)])
    built = time.perf_counter() - started
    asked = np.concatenate(queries)[:QUERIES]
    asked = asked + rng.standard_normal(asked.shape).astype(np.float32) * 0.5 / WIDTH**0.5
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    seconds, found = [], []
    for query in asked:
        started = time.perf_counter()
        found.append({item for item, _ in index.search(query, K)})
        seconds.append(time.perf_counter() - started)
    same = [len(hits & exact(kept, q)) / K for hits, q in zip(found[:60], asked, strict=False)]
    middle, late = np.quantile(seconds, (0.5, 0.95)) * 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{count:>9,} vectors: median {middle:.1f} ms, p95 {late:.1f} ms, recall@{K} "
        f"{np.mean(same):.4f}, built in {built:.1f} s, peak {peak:,.0f} MB"
    )


def vectors(rng: np.random.Generator, count: int, base: np.ndarray | None) -> np.ndarray:
    """So many vectors of length 1."""
    if base is None:
        made = rng.standard_normal((count, WIDTH)) * np.geomspace(3, 0.2, WIDTH)
    else:
        a, b = base[rng.integers(0, len(base), (2, count))]
        weight = rng.uniform(0.3, 0.5, (count, 1))
        made = a * (1 - weight) + b * weight
        made = made + rng.standard_normal(made.shape) * 0.35 / WIDTH**0.5
    unit: np.ndarray = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit.astype(np.float32)


def exact(kept: list[np.ndarray], query: np.ndarray) -> set[int]:
    """The best items by brute force over all that is kept."""
    scores = np.concatenate([part.astype(np.float32) @ query for part in kept])
    return set(map(int, np.argpartition(scores, -K)[-K:]))


if __name__ == "__main__":
    main()
