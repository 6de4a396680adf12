"""What citations and sentences of answers are worth, on stories and meetings.

    python bench/citations.py [--model local:] [--stories 10] [--meetings 5] [--questions 2]
                              [--library FILE] [--json FILE]

Prints Markdown: citations by status and sentences by support, for ReadAgent-P and -S. Quotes that a
rule found because the model gave none count apart; they stand in the text by construction. Needs
`../shared/data`. `--json` keeps every answer, to be read.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from real_texts import meetings, stories
from reread import config
from reread.library import Library
from reread.reading.replies import NOT_IN_DOCUMENT
from reread.types import Answer

METHODS = {"ReadAgent-P": "parallel", "ReadAgent-S": "sequential"}
COLUMNS = ("answers", "silent", "ungrounded", "verified", "repaired", "unverified")
SUPPORT = ("page", "gist", "none")


def row(kind: str, title: str, method: str, question: str, answer: Answer) -> dict[str, Any]:
    """What is kept of one answer."""
    return {
        "kind": kind,
        "document": title,
        "method": method,
        "question": question,
        "answer": answer.text,
        "grounded": answer.grounded,
        "sentences": [{"text": s.text, "support": s.support} for s in answer.sentences],
        "citations": [
            {"page": c.page, "status": c.status, "quote": c.quote} for c in answer.citations
        ],
        "opened": [{"page": o.page, "by": o.by} for o in answer.trace.opened],
        "calls": answer.usage.calls + answer.usage.cached_calls,
    }


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    """How many answers, citations and sentences of each kind."""
    counts: Counter[str] = Counter(answers=len(rows))
    for one in rows:
        silent = one["answer"] == NOT_IN_DOCUMENT
        counts["silent"] += silent
        counts["ungrounded"] += not one["grounded"] and not silent
        counts.update(c["status"] for c in one["citations"])
        counts.update(s["support"] for s in one["sentences"])
    return counts


def table(rows: list[dict[str, Any]]) -> str:
    """The Markdown table."""
    heads = [*COLUMNS, *(f"on {s}" for s in SUPPORT)]
    lines = [f"| | | {' | '.join(heads)} |", "| --- | --- |" + " --: |" * len(heads)]
    for kind in dict.fromkeys(r["kind"] for r in rows):
        for method in METHODS:
            counts = counted([r for r in rows if (r["kind"], r["method"]) == (kind, method)])
            cells = [str(counts[name]) for name in (*COLUMNS, *SUPPORT)]
            lines.append(f"| {kind} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Reads, asks and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--stories", type=int, default=10)
    parser.add_argument("--meetings", type=int, default=5)
    parser.add_argument("--questions", type=int, default=2, help="Of each text.")
    parser.add_argument("--library", type=Path, help="Kept, so that a second run pays nothing.")
    parser.add_argument("--json", type=Path)
    said = parser.parse_args()
    rows: list[dict[str, Any]] = []
    sources = [("stories", *s) for s in stories(said.stories)]
    sources += [("meetings", *m) for m in meetings(said.meetings)]
    with tempfile.TemporaryDirectory() as folder:
        path = said.library or Path(folder) / "bench.db"
        library = Library(config=config.load(model=said.model, library=path))
        for kind, document, questions in sources:
            memory = library.read(document)
            for question in questions[: said.questions]:
                for title, method in METHODS.items():
                    answer = library.ask(question, memory, strategy=method)
                    rows.append(row(kind, document.title, title, question, answer))
            if said.json:
                said.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
        print(f"Model {library.model.name}.\n\n{table(rows)}")
        library.close()


if __name__ == "__main__":
    main()
