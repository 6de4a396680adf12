"""The scripted month: 3,000 questions over 30 documents, and what the memory made of them.

python bench/replay.py [--questions N] [--documents N] [--embedder NAME] [--seed N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from month import play


def main() -> None:
    """Plays it and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=int, default=3_000)
    parser.add_argument("--documents", type=int, default=30)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        month, made = play(
            Path(folder),
            questions=said.questions,
            documents=said.documents,
            embedder=said.embedder,
            seed=said.seed,
        )
        made.close()
        size = sum(file.stat().st_size for file in Path(folder).glob("library.db*"))
    tenth = max(1, said.questions // 10)
    first, last = month.seconds[:tenth], month.seconds[-tenth:]
    print(f"questions by kind: {dict(month.kinds)}")
    calls = {kind: round(count / month.kinds[kind], 2) for kind, count in month.calls.items()}
    print(f"calls a question: {calls}; answered with thoughts: {month.used}")
    print(f"thoughts kept: {month.kept}; after each tenth: {month.growth[tenth - 1 :: tenth]}")
    print(f"answers invented: {dict(month.invented)}; kept: {month.invented_kept}")
    print(f"kept without being a fact: {len(month.untrue)}")
    print(f"pairs kept at or above epsilon {month.epsilon}: {month.near_duplicates}")
    print(
        f"median ms a question: {1000 * statistics.median(first):.1f} in the first tenth, "
        f"{1000 * statistics.median(last):.1f} in the last; library {size / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
