"""Whether thoughts help: F1 with them and without, at equal tokens, as their number grows from 0.

    python bench/growing.py [--model local:] [--stories 4] [--meetings 4] [--questions 6]
                            [--embedder minilm] [--folder DIR] [--json FILE]

The questions of each text are asked in their order, in the manner `paper` (chunks of 500 tokens and
thoughts together, eight at most, behind one budget of 2,000 tokens): once by a library that keeps
what it learns, once by one whose model refuses to distil, so that it never has a thought. F1 is
ROUGE-L with stemming, the best over the references. Differences are paired by question, intervals
drawn over documents. Needs `../shared/data`; `--folder` keeps both libraries.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from real_texts import Except, asked_meetings, asked_stories
from reread import config, llm
from reread.errors import MalformedReply, ModelError
from reread.library import Library
from reread.remembering.compare import interval
from reread.types import Answer, Call, Completion, Document

SCORER = RougeScorer(["rougeL"], use_stemmer=True)
Asked = tuple[str, list[str]]  # a question and its reference answers


def refuse(call: Call) -> Completion:
    """No thought."""
    raise ModelError("this model distils nothing")


def f1(text: str, references: Sequence[str]) -> float:
    """ROUGE-L F against the nearest reference, in percent."""
    return max(100 * float(SCORER.score(one, text)["rougeL"].fmeasure) for one in references)


def asked(
    library: Library, question: str, document: Document, references: Sequence[str]
) -> dict[str, Any]:
    """What is kept of an answer; a question that twice had no usable reply scores 0."""
    try:
        answer = library.ask(question, document, thoughts="paper")
    except MalformedReply as error:
        unusable = {"text": "", "f1": 0.0, "words": 0, "used": 0, "kept": False, "seconds": 0.0}
        return unusable | {"unusable": error.message}
    return said(answer, references)


def said(answer: Answer, references: Sequence[str]) -> dict[str, Any]:
    """What is kept of an answer."""
    return {
        "text": answer.text,
        "f1": f1(answer.text, references) if answer.grounded else 0.0,
        "words": round(answer.document.words * (1 - answer.compression_rate / 100)),
        "used": len(answer.thoughts_used),
        "kept": bool(answer.thought_kept),
        "seconds": answer.usage.seconds,
    }


def texts(stories: int, meetings: int) -> Iterator[tuple[str, Document, list[Asked]]]:
    """Stories and meetings in turn."""
    told = (("story", *one) for one in asked_stories(stories))
    held = (("meeting", *one) for one in asked_meetings(meetings))
    for pair in itertools.zip_longest(told, held):
        yield from (one for one in pair if one)


def rows_of(
    learns: Library, plain: Library, kind: str, document: Document, questions: Sequence[Asked]
) -> Iterator[dict[str, Any]]:
    """One row for each question: with the thoughts that the earlier ones left, and without any."""
    known = 0  # not what the library holds, which may be more when a run goes on
    for question, references in questions:
        helped = asked(learns, question, document, references)
        # With no thought recalled both see the same chunks: one answer serves for both.
        recalled = helped["used"] or "unusable" in helped
        without = asked(plain, question, document, references) if recalled else helped
        yield {
            "kind": kind,
            "document": document.title,
            "question": question,
            "known": known,
            "with": helped,
            "without": without,
        }
        known += helped["kept"]


def within(found: dict[str, float | None]) -> str:
    """The interval as the table shows it."""
    low, high = found["low"], found["high"]
    return "too few" if low is None or high is None else f"{low:+.1f} to {high:+.1f}"


def line(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """A line of the table."""
    score, words = (
        {side: statistics.mean(r[side][key] for r in rows) for side in ("with", "without")}
        for key in ("f1", "words")
    )
    found = interval([(r["document"], r["with"]["f1"] - r["without"]["f1"]) for r in rows])
    assert found is not None
    cells = [
        name,
        f"{len(rows)}",
        f"{statistics.mean(r['with']['used'] for r in rows):.1f}",
        f"{words['with']:.0f}, {words['without']:.0f}",
        f"{score['with']:.1f}",
        f"{score['without']:.1f}",
        f"{found['mean']:+.1f} ({within(found)})",
    ]
    return f"| {' | '.join(cells)} |"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The Markdown table, by thoughts known, and by kind where there were any."""
    heads = ("", "questions", "used", "words shown, with and without", "F1 with", "F1 without")
    lines = [f"| {' | '.join(heads)} | difference |", "| --- |" + " --: |" * len(heads)]
    for known in sorted({min(r["known"], 4) for r in rows}):
        chosen = [r for r in rows if min(r["known"], 4) == known]
        name = f"{known}{' or more' * (known == 4)} known"
        lines.append(line(name, chosen))
    for kind in dict.fromkeys(r["kind"] for r in rows):
        if chosen := [r for r in rows if r["kind"] == kind and r["known"]]:
            lines.append(line(f"{kind}, 1 or more", chosen))
    if chosen := [r for r in rows if r["known"]]:
        lines.append(line("all, 1 or more", chosen))
    if chosen := [r for r in rows if r["with"]["used"]]:
        lines.append(line("a thought in the prompt", chosen))
    return "\n".join(lines)


def main() -> None:
    """Asks and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--embedder")
    parser.add_argument("--stories", type=int, default=4)
    parser.add_argument("--meetings", type=int, default=4)
    parser.add_argument("--questions", type=int, default=6, help="Of each text.")
    parser.add_argument("--folder", type=Path, help="Kept, so that a second run pays nothing.")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        ours, bare = (
            config.load(model=options.model, embedder=options.embedder, library=folder / name)
            for name in ("with.db", "without.db")
        )
        model = llm.choose(ours)
        learns = Library(model=model, config=ours)
        plain = Library(model=Except(model, distil=refuse), config=bare)
        for kind, document, questions in texts(options.stories, options.meetings):
            rows += rows_of(learns, plain, kind, document, questions[: options.questions])
            if options.json:
                options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
        print(f"Model {model.name}, embedder {learns.thoughts.retriever.name}.\n\n{table(rows)}")
        learns.close()
        plain.close()


if __name__ == "__main__":
    main()
