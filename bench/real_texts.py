"""The texts that measurements are made on: where they lie, and how they become documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reread import documents
from reread.types import Document

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"


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
    with (DATA / "squality/v1-3/txt/train.jsonl").open(encoding="utf-8") as lines:
        for k, line in enumerate(lines):
            if k == count:
                return
            row: dict[str, Any] = json.loads(line)
            asked = [q["question_text"] for q in row["questions"]]
            yield plain(row["document"], f"story {row['metadata']['passage_id']}"), asked


def meetings(count: int) -> Iterator[tuple[Document, list[str]]]:
    """Meetings of QMSum, each with its specific questions."""
    for path in sorted((DATA / "qmsum/data/ALL/train").glob("*.json"))[:count]:
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        turns = [f"{t['speaker']}: {t['content']}" for t in row["meeting_transcripts"]]
        asked = [q["query"] for q in row["specific_query_list"]]
        yield plain("\n\n".join(turns), path.stem), asked
