"""A question about a document that was not read yet."""

from __future__ import annotations

import json
from pathlib import Path

from command import environ, run, story

from reread.library import Library
from reread.llm.scripted import Scripted

FACT = "The gardener of Umea planted ninety pear trees."
QUESTION = "How many pear trees did the gardener plant?"


def book(folder: Path, words: int = 20_000) -> Path:
    paragraphs = story(words).strip().split("\n\n")
    paragraphs.insert(len(paragraphs) * 2 // 3, FACT)
    file = folder / "book.txt"
    file.write_text("\n\n".join(paragraphs), encoding="utf-8")
    return file


def test_it_is_answered_in_one_call_from_pages_found_by_words(tmp_path: Path) -> None:
    model = Scripted()
    library = Library(tmp_path / "library.db", model=model)
    answer = library.ask(QUESTION, book(tmp_path), now=True)
    assert "ninety pear trees" in answer.text
    assert [call.phase for call in model.calls] == ["answer"]
    assert answer.memory.provisional
    (citation,) = answer.citations
    assert citation.status == "verified"
    assert citation.page in answer.pages_read
    assert "(not read yet)" not in model.calls[0].user


def test_what_was_read_is_answered_from_its_memory(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db", model=Scripted())
    file = book(tmp_path, 3_000)
    memory = library.read(file)
    answer = library.ask(QUESTION, file, now=True)
    assert not answer.memory.provisional
    assert answer.memory.pages == memory.pages


def test_nothing_of_it_is_kept_as_a_memory(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db", model=Scripted())
    file = book(tmp_path, 3_000)
    library.ask(QUESTION, file, now=True)
    assert library.memories(library.find("book")) == []


def test_the_command_line_says_so(tmp_path: Path) -> None:
    env = environ(tmp_path)
    model = ("--model", "scripted:extractive")
    file = book(tmp_path, 3_000)
    shown = run("ask", file, QUESTION, "--now", *model, env=env)
    assert "ninety" in shown.out
    assert "not read yet" in shown.err
    assert json.loads(run("ask", file, QUESTION, "--now", *model, "--json", env=env).out)[
        "provisional"
    ]
