"""How often the check of a thought is right: true sentences, and the same with one word changed.

    python bench/inventions.py

No model is asked. The evidence is a section of a tale of FairytaleQA. True are its sentences, as
they stand, without their second half, with their halves turned round or after "According to the
story", and the annotators' answers that are sentences. Inventions are the same with one word
changed for one that no tale's section holds near it: from outside the section, or from elsewhere in
it. Needs `../shared/data`.
"""

from __future__ import annotations

import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from grounding import QUESTIONS, STORIES
from reread.reading.quotes import content
from reread.text import sentences
from reread.thoughts.grounding import Evidence, grounded

_WORD = re.compile(r"[A-Za-z]{4,}")
_LEAD = "According to the story, "


class Said(NamedTuple):
    """A thought that its evidence says, with the question it came from."""

    kind: str
    text: str
    question: str
    evidence: str


def sections(path: Path) -> dict[str, str]:
    """The sections of a tale by their numbers."""
    with path.open(encoding="utf-8") as file:
        return {row["section"]: row["text"] for row in csv.DictReader(file)}


def capital(text: str) -> str:
    """The text with a capital at its head."""
    return text[:1].upper() + text[1:]


def of_sentence(text: str) -> Iterator[tuple[str, str]]:
    """A sentence of a section, and what it says as well."""
    yield "as it stands", text
    first = text[0] if text.startswith("I ") else text[0].lower()
    yield "framed", f"{_LEAD}{first}{text[1:]}"
    halves = re.fullmatch(r"([^,;]+), ([^,;]+)\.", text)
    if halves and min(len(half.split()) for half in halves.groups()) >= 4:
        yield "cut", f"{halves[1]}."
        yield "turned round", f"{capital(halves[2])}, {halves[1][0].lower()}{halves[1][1:]}."


def true() -> Iterator[Said]:
    """Everything that is true."""
    for path in sorted(STORIES.glob("*.csv")):
        told = sections(path)
        name = path.name.replace("-story.csv", "-questions.csv")
        with (QUESTIONS / name).open(encoding="utf-8") as file:
            asked = list(csv.DictReader(file))
        for number, text in told.items():
            own = [q["question"] for q in asked if number in q["cor_section"].split(",")]
            for start, end in sentences(text):
                said = text[start:end]
                if 6 <= len(said.split()) <= 45 and not re.search(r'["“”]', said):
                    for kind, thought in of_sentence(said):
                        yield Said(kind, thought, (own or ["What happened?"])[0], text)
        for row in asked:
            answer = capital(row["answer4"].strip().rstrip("."))
            whole = re.match(r"(?:He|She|They|It|The \w+|His \w+|Her \w+) \w+", answer)
            if row["ex-or-im2"] == "explicit" and whole and len(answer.split()) >= 5:
                evidence = " ".join(told.get(n.strip(), "") for n in row["cor_section"].split(","))
                yield Said("an answer", f"{answer}.", row["question"], evidence)


def changed(said: Said, pool: list[str], known: str, rng: random.Random) -> str | None:
    """The thought with one word changed for one of the pool; None where there is none."""
    words = [m for m in _WORD.finditer(said.text) if content(m[0])]
    stems = {word[:4].lower() for word in _WORD.findall(known)}
    fit = [w for w in rng.sample(pool, min(len(pool), 200)) if w[:4] not in stems and content(w)]
    if not words or not fit:
        return None
    at, word = rng.choice(words), fit[0]
    word = capital(word) if at[0][0].isupper() else word
    return said.text[: at.start()] + word + said.text[at.end() :]


def nearest(said: Said) -> str:
    """The sentence of the evidence that shares most words with the thought."""
    spans = [said.evidence[a:b] for a, b in sentences(said.evidence)]
    return max(spans, key=lambda span: len(content(span) & content(said.text)))


def kept(said: Said, thought: str) -> bool:
    """Whether the check lets it pass."""
    return not grounded(thought, said.question, [Evidence(item=1, text=said.evidence)]).reason


def main() -> None:
    """Checks and prints."""
    rng = random.Random(7)
    found = list(true())
    tales = sorted({w for s in found for w in _WORD.findall(s.evidence) if w.islower()})
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for said in found:
        count = counts[said.kind]
        count["true"] += 1
        count["true kept"] += kept(said, said.text)
        if said.kind == "framed":
            continue
        inside = sorted({w for w in _WORD.findall(said.evidence) if w.islower()})
        near = f"{nearest(said)} {said.text} {said.question}"
        for place, pool, known in (
            ("outside", tales, f"{said.evidence} {said.question}"),
            ("inside", inside, near),
        ):
            if thought := changed(said, pool, known, rng):
                count[place] += 1
                count[f"{place} kept"] += kept(said, thought)
    print("| thoughts | true, kept | a word from outside, kept | from elsewhere in it, kept |")
    print("| --- | ---: | ---: | ---: |")
    counts["all"] = sum(counts.values(), Counter())
    for kind, count in counts.items():
        cells = [f"{count[f'{k} kept']:,} of {count[k]:,}" for k in ("true", "outside", "inside")]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
