"""How often a model says that the document does not say: sixty questions without an answer in it.

    python bench/silence.py [--model local:] [--methods parallel,sequential,full] [--library FILE]
                            [--json FILE]

Six texts of about 2,500 words, ten questions each, by ReadAgent-P and -S and by the same model
answering over the full text. `refused`: the model itself found nothing. `ungrounded`: it refused,
or the rule found that nothing it read supports its answer, so that nothing is cited. The rest was
invented. Texts of `../shared/data` are left out where it is absent.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from answers import over_everything
from real_texts import DATA, ROOT, Except, beginning
from reread import config, documents, llm
from reread.library import Library
from reread.reading.replies import NOT_IN_DOCUMENT
from reread.types import Call, Completion

WORDS = 2_500
METHODS = {"ReadAgent-P": "parallel", "ReadAgent-S": "sequential", "full text": "full"}


def sure(call: Call) -> Completion:
    """Yes, whatever the text."""
    return Completion(text="yes")


def rows(library: Library, plain: Library, methods: dict[str, str]) -> Iterator[dict[str, Any]]:
    """One row for each question and method."""
    for entry in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")):
        place = str(entry["source"])
        path = DATA / place.removeprefix("data/") if place.startswith("data/") else ROOT / place
        if not path.exists():
            continue
        memory = library.read(beginning(documents.load(path), WORDS))
        for question in entry["questions"]:
            for title, method in methods.items():
                if method == "full":
                    answer = plain.ask(question, over_everything(memory), strategy="gists")
                else:
                    answer = library.ask(question, memory, strategy=method)
                yield {
                    "source": path.name,
                    "question": question,
                    "method": title,
                    "answer": answer.text,
                    "refused": answer.text == NOT_IN_DOCUMENT,
                    "grounded": answer.grounded,
                    "chance": answer.trace.chance,
                    "support": [s.support for s in answer.sentences],
                    "cited": [c.quote for c in answer.citations],
                    "kept": answer.thought_kept,
                }


def table(made: list[dict[str, Any]]) -> str:
    """A Markdown table of refusals by method."""
    lines = [
        "| method | questions | refused | ungrounded | rate |",
        "| --- | --: | --: | --: | --: |",
    ]
    for title in dict.fromkeys(r["method"] for r in made):
        mine = [r for r in made if r["method"] == title]
        counts = Counter(refused=0, ungrounded=0)
        for row in mine:
            counts["refused"] += row["refused"]
            counts["ungrounded"] += not row["grounded"]
        rate = 100 * counts["ungrounded"] / max(1, len(mine))
        lines.append(
            f"| {title} | {len(mine)} | {counts['refused']} | {counts['ungrounded']} "
            f"| {rate:.0f} % |"
        )
    return "\n".join(lines)


def main() -> None:
    """Asks and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--library", type=Path, help="Kept, so that a second run pays nothing.")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS.values()))
    said = parser.parse_args()
    methods = {t: m for t, m in METHODS.items() if m in said.methods.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        path = said.library or Path(folder) / "bench.db"
        said_so = config.load(model=said.model, library=path)
        model = llm.choose(said_so)
        library = Library(model=model, config=said_so)
        plain = Library(model=Except(model, whether=sure), config=said_so)
        made: list[dict[str, Any]] = []
        for row in rows(library, plain, methods):
            made.append(row)
            if said.json:
                said.json.write_text(json.dumps(made, ensure_ascii=False, indent=1), "utf-8")
        print(f"Model {library.model.name}.\n\n{table(made)}")
        library.close()
        plain.close()


if __name__ == "__main__":
    main()
