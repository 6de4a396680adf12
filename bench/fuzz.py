"""Damaged files of every format through all loaders: nothing but documents and our own errors.

    python bench/fuzz.py [--files 100000] [--workers 2] [--first 0]

File number n is made from seed n by rule (`tests/seeds.py`), so a failure is found again by its
number. A failure is any other exception, a file that takes over 5 s, or a process over 500 MB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from reread.documents import load_bytes
from reread.errors import Error
from seeds import mutated, seeds

MOST_SECONDS, MOST_BYTES = 5.0, 500_000_000


def attempt(number: int, files: dict[str, bytes]) -> tuple[str, str | None, float]:
    """The outcome of one damaged file, the failure if it is one, and its seconds."""
    rng = random.Random(number)
    name = rng.choice(list(files))
    data = mutated(files[name], rng)
    started = time.process_time()
    try:
        load_bytes(data, name=name)
        outcome, failure = "read", None
    except Error as error:
        outcome, failure = type(error).__name__, None
    except Exception as error:  # noqa: BLE001 - anything else is what is looked for
        outcome = "crash"
        failure = f"{number} {name}: {type(error).__name__}: {error}"
    seconds = time.process_time() - started
    if seconds > MOST_SECONDS:
        failure = f"{number} {name}: took {seconds:.1f} s"
    return outcome, failure, seconds


def share(numbers: range) -> tuple[Counter[str], list[str], float, int]:
    """What came of these files; the slowest's seconds; the process's peak memory in bytes."""
    files = seeds()
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    slowest = 0.0
    for number in numbers:
        outcome, failure, seconds = attempt(number, files)
        outcomes[outcome] += 1
        slowest = max(slowest, seconds)
        if failure:
            failures.append(failure)
            print(failure, file=sys.stderr, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return outcomes, failures, slowest, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    last = options.first + options.files
    shares = [range(options.first + k, last, options.workers) for k in range(options.workers)]
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        done = pool.map(share, shares, chunksize=1)
    outcomes: Counter[str] = Counter()
    for counted, _, _, _ in done:
        outcomes += counted
    failures = [f for _, failed, _, _ in done for f in failed]
    peak = max(p for _, _, _, p in done)
    said = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    print(f"{options.files} files in {time.monotonic() - started:.0f} s: {said}")
    print(f"slowest {max(s for _, _, s, _ in done):.2f} s, peak memory {peak / 1e6:.0f} MB")
    print(f"{len(failures)} failures")
    sys.exit(1 if failures or peak > MOST_BYTES else 0)


if __name__ == "__main__":
    main()
