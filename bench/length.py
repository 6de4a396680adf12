"""Documents of any length behind a small window: calls, words and seconds, with a scripted model.

    python bench/length.py [--words 1000000 10000000] [--window 8000]

The text is made by rule, with one fact in its last sentence; the scripted model keeps what is rare
in a gist. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from reread.library import Library
from reread.llm.scripted import Scripted, reply_to
from reread.types import Call

FACT = "The lighthouse keeper hid the amber compass inside the clock."
QUESTION = "Where did the lighthouse keeper hide the amber compass?"
PLACES = "harbour library garden mill station bridge market tower cellar orchard".split()
NAMES = "Anna Bertil Clara David Elsa Folke Greta Hugo Ida Johan".split()
THINGS = "letter lantern map ledger key violin coat telescope basket ladder".split()


def text(words: int) -> str:
    """Chapters of paragraphs; no two sentences are the same, and the last one holds the fact."""
    rng = random.Random(7)
    parts: list[str] = []
    count = number = 0
    while count < words:
        if number % 600 == 0:
            parts.append(f"Chapter {number // 600 + 1}")
        sentences = []
        for _ in range(5):
            number += 1
            sentences.append(
                f"On day {number}, {rng.choice(NAMES)} carried the {rng.choice(THINGS)} numbered "
                f"{rng.randint(100, 999)} past the old {rng.choice(PLACES)} and said nothing."
            )
        parts.append(" ".join(sentences))
        count += 5 * 17
    return "\n\n".join([*parts, FACT])


def reply(call: Call) -> str:
    """What a model does that keeps in a gist what is rare: here, the fact."""
    if call.phase == "gist":
        gist = reply_to("gist", call.user)
        words = gist.split()[:40]
        return f"{FACT} {' '.join(words)}" if FACT in call.user else " ".join(words)
    return reply_to(call.phase, call.user)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--window", type=int, default=8_000)
    options = parser.parse_args()
    print(
        "| words | pages | levels | reading: calls, words in, s | longest prompt, tokens |", end=""
    )
    print(" P: calls, words in, s | S: calls, words in, s | found |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for words in options.words:
        with tempfile.TemporaryDirectory() as home:
            row(words, options.window, Path(home))
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


def row(words: int, window: int, home: Path) -> None:
    """One length, read and asked in both ways."""
    file = home / "long.txt"
    file.write_text(text(words), encoding="utf-8")
    model = Scripted(reply, context_tokens=window)
    library = Library(home / "library.db", model=model)
    started = time.monotonic()
    memory = library.read(file, profile="default", pagination="structure")
    seconds = time.monotonic() - started
    asked = []
    for strategy in ("parallel", "sequential"):
        began = time.monotonic()
        answer = library.ask(QUESTION, memory, strategy=strategy)
        asked.append(
            f"{answer.usage.calls}, {answer.usage.words_in}, {time.monotonic() - began:.1f}"
        )
        found = "inside the clock" in answer.text
        if not found:
            sys.exit(f"{strategy} did not find the fact: {answer.text!r}")
    longest = max(
        model.count_tokens(c.system) + model.count_tokens(c.user) + c.max_tokens
        for c in model.calls
    )
    levels = "+".join(str(len(level)) for level in memory.levels) or "none"
    print(
        f"| {memory.document.words:,} | {len(memory.pages):,} | {levels} | "
        f"{memory.usage.calls:,}, {memory.usage.words_in:,}, {seconds:.1f} | {longest:,} | "
        f"{asked[0]} | {asked[1]} | yes |",
        flush=True,
    )


if __name__ == "__main__":
    main()
