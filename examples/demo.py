"""Reads the sample document with the embedded model and asks three questions about it.

Run by `make demo`. The library is a temporary file, so every run shows the whole work.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import reread

HERE = Path(__file__).parent
ASKED = (1, 9, 16)  # which of the twenty questions


def sent_twice(answer: reread.Answer) -> int:
    """The words of the question whether the pages answer, whose prompt begins as the answer's does.

    What the model evaluated for the one it has for the other.
    """
    whether = answer.usage.phases.get("whether")
    return whether.words_in if whether else 0


def main() -> None:
    questions = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        library = reread.Library(Path(folder) / "demo.db")
        started = time.monotonic()
        memory = library.read(HERE / "sample.md")
        document = memory.document
        print(f"{document.title}: {document.words} words, read by {memory.model}")
        for page, gist in zip(memory.pages, memory.gists, strict=True):
            print(f"\npage {page.number}, {page.words} words, remembered as:\n  {gist}")
        print(
            f"\nread in {time.monotonic() - started:.0f} s; the gists hold "
            f"{100 - memory.compression_rate:.0f}% of the words\n"
        )
        words_in = memory.usage.words_in
        for question in (questions[k - 1]["question"] for k in ASKED):
            answer = library.ask(question, memory)
            words_in += answer.usage.words_in - sent_twice(answer)
            print(f"Q: {question}\nA: {answer.text}")
            for citation in answer.citations:
                print(f'   page {citation.page}: "{" ".join(citation.quote.split())}"')
            pages = ", ".join(map(str, answer.pages_read)) or "none"
            again = sent_twice(answer)
            print(
                f"   read again: {pages}; {answer.usage.words_in - again} words against "
                f"{document.words} for the whole text, {again} of them sent twice; "
                f"{answer.usage.seconds:.1f} s\n"
            )
        print(
            f"{words_in} words were consumed in all, reading included; "
            f"reading everything for each question takes {len(ASKED) * document.words}"
        )


if __name__ == "__main__":
    main()
