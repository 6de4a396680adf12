"""How often the rule of `reading/grounding.py` is right: FairytaleQA with the right page open.

    python bench/grounding.py

No model is asked. Prints, for answers that stand in the text and for those that must be inferred,
the share that the rule finds supported: of the right answers, of answers to questions about other
stories, and of answers to other questions about the same story. Needs `../shared/data`.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from real_texts import DATA
from reread.reading.grounding import grounds
from reread.types import Document, GistMemory, Page, Settings

STORIES = DATA / "fairytaleqa/data-by-train-split/section-stories/val"
QUESTIONS = DATA / "fairytaleqa/data-by-train-split/questions/val"


@dataclass(frozen=True)
class Question:
    """A question, its answer, and the pages of the story that hold it."""

    story: str
    pages: tuple[int, ...]
    text: str
    answer: str
    kind: str


def story(path: Path) -> GistMemory:
    """A story whose sections are its pages; gists play no part here."""
    with path.open(encoding="utf-8") as file:
        sections = [row["text"] for row in csv.DictReader(file)]
    pages: list[Page] = []
    at = 0
    for number, text in enumerate(sections, 1):
        pages.append(Page(number=number, start=at, end=at + len(text), text=text, words=1))
        at += len(text)
    source = Document(title=path.stem, text="".join(sections), paragraphs=(), origin=path.name)
    gists = ("",) * len(pages)
    return GistMemory(
        document=source, pages=tuple(pages), gists=gists, settings=Settings(), model=""
    )


def questions(name: str, count: int) -> list[Question]:
    """The questions about a story of so many pages whose pages are named."""
    found = []
    with (QUESTIONS / f"{name}-questions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            named = [int(n) for n in row["cor_section"].split(",") if n.strip().isdigit()]
            pages = tuple(n for n in named if 1 <= n <= count)
            if pages:
                kind = row["ex-or-im1"]
                found.append(Question(name, pages, row["question"], row["answer1"], kind))
    return found


def main() -> None:
    """Measures and prints."""
    chance = random.Random(1)
    memories = {p.stem.removesuffix("-story"): story(p) for p in sorted(STORIES.glob("*.csv"))}
    asked = [q for name, m in memories.items() for q in questions(name, len(m.pages))]
    given: dict[str, Callable[[Question], str]] = {
        "right": lambda q: q.answer,
        "of another story": lambda q: chance.choice(
            [o.answer for o in asked if o.story != q.story]
        ),
        "of the same story": lambda q: chance.choice(
            [o.answer for o in asked if o.story == q.story and o.text != q.text]
        ),
    }
    print("| answers | stand in the text | must be inferred |\n| --- | --: | --: |")
    for title, answer in given.items():
        passed: dict[str, list[bool]] = defaultdict(list)
        for q in asked:
            on = grounds(q.text, answer(q), (), memories[q.story], q.pages, ())
            whole = all(s.support == "page" for s in on.sentences)
            passed[q.kind].append(bool(on.sentences) and whole)
        cells = [
            f"{100 * sum(passed[kind]) / len(passed[kind]):.1f} % of {len(passed[kind])}"
            for kind in ("explicit", "implicit")
        ]
        print(f"| {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
