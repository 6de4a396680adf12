"""What measurements share: the texts they are made on, and a model with a part taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reread import documents
from reread.ports import Capabilities, Model
from reread.types import Call, Completion, Document

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"


class Except:
    """A model that answers like another, but for the phases whose calls go to a function."""

    def __init__(self, model: Model, **instead: Callable[[Call], Completion]) -> None:
        self._model = model
        self._instead = instead
        self.name = model.name
        self.count_tokens = model.count_tokens

    @property
    def capabilities(self) -> Capabilities:
        """Those of the other model."""
        return self._model.capabilities

    def complete(self, call: Call) -> Completion:
        """The reply of the phase's function, or the other model's."""
        return self._instead.get(call.phase, self._model.complete)(call)


def plain(text: str, name: str) -> Document:
    """A document of plain text."""
    return documents.load_bytes(text.encode(), name=f"{name}.txt", origin=f"{name}.txt")


def beginning(document: Document, words: int) -> Document:
    """The document up to the paragraph in which so many words are full."""
    end = len(document.text)
    count = 0
    for paragraph in document.paragraphs:
        count += len(document.text[paragraph.start : paragraph.end].split())
        if count >= words:
            end = paragraph.end
            break
    return plain(document.text[:end], document.title or "text")


def stories(count: int) -> Iterator[tuple[Document, list[str]]]:
    """Stories of SQuALITY, each with its questions."""
    for document, asked in asked_stories(count):
        yield document, [question for question, _ in asked]


def meetings(count: int) -> Iterator[tuple[Document, list[str]]]:
    """Meetings of QMSum, the shortest first, each with its specific questions."""
    for document, asked in asked_meetings(count):
        yield document, [question for question, _ in asked]


def asked_stories(count: int) -> Iterator[tuple[Document, list[tuple[str, list[str]]]]]:
    """Stories of SQuALITY, each with its questions and their answers."""
    with (DATA / "squality/v1-3/txt/train.jsonl").open(encoding="utf-8") as lines:
        for k, line in enumerate(lines):
            if k == count:
                return
            row: dict[str, Any] = json.loads(line)
            asked = [
                (q["question_text"], [r["response_text"] for r in q["responses"]])
                for q in row["questions"]
            ]
            yield plain(row["document"], f"story {row['metadata']['passage_id']}"), asked


def asked_meetings(count: int) -> Iterator[tuple[Document, list[tuple[str, list[str]]]]]:
    """Meetings of QMSum, the shortest first, each with its specific questions and their answers."""
    made = []
    for path in (DATA / "qmsum/data/ALL/train").glob("*.json"):
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        turns = [f"{t['speaker']}: {t['content']}" for t in row["meeting_transcripts"]]
        asked = [(q["query"], [q["answer"]]) for q in row["specific_query_list"]]
        made.append((plain("\n\n".join(turns), path.stem), asked))
    yield from sorted(made, key=lambda one: one[0].words)[:count]
