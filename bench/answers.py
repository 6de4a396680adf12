"""How many of the sample's twenty questions a model gets right, by strategy, against full text.

    python bench/answers.py [--model local:] [--json FILE]

Prints a Markdown table. A reply is right when one of the question's `accept` patterns matches and
none of `reject` does.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from reread import config
from reread.library import Library
from reread.types import Answer, GistMemory, Usage

EXAMPLES = Path(__file__).parents[1] / "examples"
METHODS = (
    ("ReadAgent-P", "parallel"),
    ("ReadAgent-S", "sequential"),
    ("gists only", "gists"),
    ("full text", "full"),
)


def right(question: dict[str, Any], text: str) -> bool:
    """Whether the reply is right by the question's own patterns."""

    def found(patterns: list[str]) -> bool:
        return any(re.search(p, text, re.IGNORECASE) for p in patterns)

    return found(question["accept"]) and not found(question["reject"])


def over_everything(memory: GistMemory) -> GistMemory:
    """A memory whose gists are the pages themselves: the full-text baseline."""
    return replace(memory, gists=tuple(page.text.strip() for page in memory.pages))


def shown(answer: Answer) -> int:
    """The words shown for an answer, without the question whether the text answers.

    Its prompt begins as the answer's does, and what was evaluated for the one serves the other.
    """
    whether = answer.usage.phases.get("whether", Usage())
    return answer.usage.words_in - whether.words_in


def ask(library: Library, memory: GistMemory, question: str, method: str) -> Answer:
    """The answer by one method."""
    if method == "full":
        return library.ask(question, over_everything(memory), strategy="gists")
    return library.ask(question, memory, strategy=method)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--prompts")
    parser.add_argument("--methods", default="parallel,sequential,gists,full")
    options = parser.parse_args()
    questions = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        surroundings = config.load(
            model=options.model, library=Path(folder) / "bench.db", prompts=options.prompts
        )
        library = Library(config=surroundings)
        memory = library.read(EXAMPLES / "sample.md")
        used, words = memory.usage, memory.document.words
        speed = f"{used.seconds:.0f} s ({used.seconds / words * 1000:.1f} s per 1,000 words)"
        print(
            f"Read by {memory.model}: {words} words, {len(memory.pages)} pages, "
            f"{used.calls} calls, {speed}, compression rate {memory.compression_rate:.1f}%.\n"
        )
        print("| method | right of 20 | said nothing | words in a question | seconds a question |")
        print("| --- | --- | --- | --- | --- |", flush=True)
        for title, method in METHODS:
            if method not in options.methods.split(","):
                continue
            answers = [ask(library, memory, q["question"], method) for q in questions]
            marks = [right(q, a.text) for q, a in zip(questions, answers, strict=True)]
            rows += [
                {
                    "method": method,
                    "question": q["question"],
                    "right": ok,
                    "answer": a.text,
                    "pages_read": a.pages_read,
                    "seconds": a.usage.seconds,
                }
                for q, ok, a in zip(questions, marks, answers, strict=True)
            ]
            silent = sum(not a.grounded for a in answers)
            words_in = statistics.median(shown(a) for a in answers)
            seconds = statistics.median(a.usage.seconds for a in answers)
            print(
                f"| {title} | {sum(marks)} | {silent} | {words_in:.0f} | {seconds:.1f} |",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
