"""A question about a document that was not read yet."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import environ, run, story

from making import desk, memory, sentence
from reread import wire
from reread.errors import ModelRefused
from reread.evidence import Opened
from reread.library import Library
from reread.llm.scripted import Scripted, reply_to
from reread.reading import answer
from reread.types import Answer, Call, Collection, GistMemory

LAMPS = "Sixteen lamps hung in the ferry house."
FACT = "The gardener of Umea planted ninety pear trees."
QUESTION = "How many pear trees did the gardener plant?"


def book(folder: Path, words: int = 20_000) -> Path:
    paragraphs = story(words).strip().split("\n\n")
    paragraphs.insert(len(paragraphs) * 2 // 3, FACT)
    paragraphs.insert(8, LAMPS)
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


# -- read in part -------------------------------------------------------------------------------

ITS_GIST = "The boatman of Ulm owned sixteen lanterns."  # shares no word with the page
LANTERNS = "What lanterns did the boatman of Ulm own?"


class Reading:
    """A model that gists by rule, but the page of the lamps in words of its own.

    Before its gist number `stops_at` it does `then`, once.
    """

    def __init__(self, stops_at: int, then: Callable[[], None]) -> None:
        self._stops_at = stops_at
        self._then: Callable[[], None] | None = then
        self.gists = 0

    def __call__(self, call: Call) -> str:
        if call.phase != "gist":
            return reply_to(call.phase, call.user)
        self.gists += 1
        if self.gists == self._stops_at and self._then:
            then, self._then = self._then, None
            then()
        return ITS_GIST if LAMPS in call.user else reply_to(call.phase, call.user)


def answering(call: Call) -> str:
    """The lamps where their page is read, else what the rule says."""
    if call.phase == "answer" and LAMPS in call.user:
        return LAMPS
    return reply_to(call.phase, call.user)


def refuse() -> None:
    raise ModelRefused("enough")


def interrupted(folder: Path, stops_at: int, **how: Any) -> Path:
    """A book whose reading into the folder's library ended before page `stops_at` was gisted."""
    file = book(folder)
    library = Library(folder / "library.db", model=Scripted(Reading(stops_at, refuse), **how))
    with pytest.raises(ModelRefused):
        library.read(file)
    library.close()
    return file


def asked_now(folder: Path, question: str, **how: Any) -> tuple[Answer, Scripted]:
    model = Scripted(answering, **how)
    library = Library(folder / "library.db", model=model)
    answer = library.ask(question, folder / "book.txt", now=True, thoughts=False)
    assert library.memories(library.find("book")) == []
    return answer, model


def gists_there(memory: GistMemory) -> list[int]:
    return [page.number for page, gist in zip(memory.pages, memory.gists, strict=True) if gist]


@pytest.mark.parametrize("pagination", ["model", "structure"])
def test_the_gists_of_what_was_read_count(tmp_path: Path, pagination: str) -> None:
    how: dict[str, Any] = {"profile": "default" if pagination == "model" else "embedded"}
    stops_at = 6 if pagination == "model" else 24  # in blocks, some of a page
    file = interrupted(tmp_path, stops_at, **how)
    answer, model = asked_now(tmp_path, QUESTION, **how)
    memory = answer.memory
    assert memory.provisional
    read = gists_there(memory)
    assert read == list(range(1, len(read) + 1))
    if pagination == "model":
        assert len(read) == 5
    asked = [call.phase for call in model.calls if call.phase != "whether"]
    assert asked == ["lookup", "answer"]
    assert "<Page 1>" in model.calls[0].user
    assert f"<Page {len(read) + 1}>" not in model.calls[0].user
    first, last = len(read) + 1, len(memory.pages)
    assert f"\nPages {first} to {last}: not read yet." in model.calls[0].user
    assert "ninety pear trees" in answer.text
    finished = Library(tmp_path / "library.db", model=Scripted(**how)).read(file)
    ends = [(page.start, page.end) for page in memory.pages]
    assert ends[: len(read)] == [(page.start, page.end) for page in finished.pages[: len(read)]]
    text = "".join(page.text for page in memory.pages)
    assert text == memory.document.text


def test_a_fact_that_only_a_gist_leads_to_is_found(tmp_path: Path) -> None:
    interrupted(tmp_path, 6)
    answer, _ = asked_now(tmp_path, LANTERNS)
    assert (answer.text, answer.grounded) == (LAMPS, True)
    (lamps,) = (page.number for page in answer.memory.pages if LAMPS in page.text)
    assert lamps <= 5
    assert answer.trace.opened[0] == Opened(page=lamps, by=("model", "words"))
    told = wire.answer(answer)
    assert told["provisional"]
    assert told["read_so_far"] == {
        "pages": 5,
        "words": sum(page.words for page in answer.memory.pages[:5]),
    }


def test_a_reading_under_way_elsewhere_counts(tmp_path: Path) -> None:
    file = book(tmp_path, 6_000)
    answers: list[Answer] = []
    reading = Reading(4, lambda: answers.append(asked_now(tmp_path, LANTERNS)[0]))
    memory = Library(tmp_path / "library.db", model=Scripted(reading)).read(file)
    assert gists_there(answers[0].memory) == [1, 2, 3]
    assert answers[0].text == LAMPS
    assert answers[0].memory.pages[:3] == memory.pages[:3]


def test_what_is_read_to_its_end_but_not_kept_as_such_is_an_ordinary_memory(tmp_path: Path) -> None:
    file = book(tmp_path, 3_000)
    library = Library(tmp_path / "library.db", model=Scripted())
    memory = library.read(file)
    with library.store._writing() as db:
        db.execute("DELETE FROM memories")
    answer, model = asked_now(tmp_path, QUESTION)
    assert not answer.memory.provisional
    assert answer.memory.gists == memory.gists
    assert {call.phase for call in model.calls}.isdisjoint({"paginate", "gist"})


def test_gists_kept_from_pages_that_were_read_at_once_count(tmp_path: Path) -> None:
    """With several calls in flight, later pages may be read before an earlier one is."""
    file = book(tmp_path)

    def reply(call: Call) -> str:
        if call.phase == "gist" and "On day 60," in call.user:
            raise ModelRefused("enough")
        return reply_to(call.phase, call.user)

    how: dict[str, Any] = {"workers": 4, "profile": "default"}
    library = Library(tmp_path / "library.db", model=Scripted(reply, **how))
    with pytest.raises(ModelRefused):
        library.read(file, pagination="structure")
    answer = Library(tmp_path / "library.db", model=Scripted(**how)).ask(
        QUESTION, file, now=True, pagination="structure"
    )
    kept = gists_there(answer.memory)
    missing = next(n for n, page in enumerate(answer.memory.pages, 1) if "On day 60," in page.text)
    assert kept == list(range(1, len(kept) + 1))
    assert answer.memory.gists[missing - 1] == (
        answer.memory.pages[missing - 1].text.strip() if missing < len(kept) else ""
    )


def test_unchanged_pages_of_a_changed_file_count_as_read(tmp_path: Path) -> None:
    file = book(tmp_path, 6_000)
    library = Library(tmp_path / "library.db", model=Scripted())
    before = library.read(file)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(before.pages[3].text.strip(), story(300, seed=5)), "utf-8")
    model = Scripted()
    answer = Library(tmp_path / "library.db", model=model).ask(LANTERNS, file, now=True)
    assert answer.memory.provisional
    assert {1, 2, 3, len(answer.memory.pages)} <= set(gists_there(answer.memory))
    assert 4 not in gists_there(answer.memory)
    assert {call.phase for call in model.calls} <= {"lookup", "answer"}


@pytest.mark.parametrize("strategy", ["sequential", "gists"])
def test_every_strategy_asks_only_about_what_was_read(tmp_path: Path, strategy: str) -> None:
    file = interrupted(tmp_path, 6)
    model = Scripted()
    library = Library(tmp_path / "library.db", model=model)
    answer = library.ask(QUESTION, file, now=True, strategy=strategy)
    assert {call.phase for call in model.calls} <= {"lookup", "answer"}
    assert answer.memory.provisional
    if strategy == "sequential":
        assert "ninety pear trees" in answer.text


def test_sequential_finds_pages_by_words_where_nothing_was_read(tmp_path: Path) -> None:
    model = Scripted()
    library = Library(tmp_path / "library.db", model=model)
    answer = library.ask(QUESTION, book(tmp_path), now=True, strategy="sequential")
    assert [call.phase for call in model.calls] == ["answer"]
    assert "ninety pear trees" in answer.text


def test_of_many_gists_those_like_the_question_are_shown(tmp_path: Path) -> None:
    made, model = desk(context_tokens=2_500)
    pages = [sentence(60, k) for k in range(200)]
    gists = [f"{k} {sentence(12, k)}" for k in range(199)] + [""]
    gists[150] = f"{ITS_GIST} {sentence(12)}"
    half = replace(memory(pages, gists), provisional=True)
    done = answer(made, half, LANTERNS)
    assert 151 in done.pages_read
    shown = model.calls[0].user
    assert made.tokens(shown) < 1_000
    assert "<Page 1>" in shown
    assert "<Page 151>" in shown
    assert "Page 200: not read yet." in shown
    assert "to 150: read, but not shown here." in shown


def test_pages_too_short_to_be_shortened_do_not_pass_for_read(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text("\n\n".join(sentence(100 if k < 30 else 12, k) for k in range(31)), "utf-8")
    how: dict[str, Any] = {"min_words": 10, "max_words": 105, "pagination": "structure"}
    model = Scripted()
    library = Library(tmp_path / "library.db", model=model)
    answer = library.ask("What of the candle?", file, now=True, **how)
    assert answer.memory.pages[-1].words == 12
    assert gists_there(answer.memory) == []
    assert [call.phase for call in model.calls] == ["answer"]


def test_a_reply_that_could_not_be_used_does_not_end_what_was_read(tmp_path: Path) -> None:
    """No reply is kept for it, but reading went on, and so does what is seen of it."""
    file = book(tmp_path)

    def unsteady(call: Call) -> str:
        if call.phase == "paginate" and "On day 29," in call.user and "On day 30," in call.user:
            return "no idea"
        if call.phase == "gist" and LAMPS in call.user:
            return ""
        return reply_to(call.phase, call.user)

    def refusing(call: Call) -> str:
        if call.phase == "gist" and "On day 200," in call.user:
            raise ModelRefused("enough")
        return unsteady(call)

    library = Library(tmp_path / "library.db", model=Scripted(refusing))
    with pytest.raises(ModelRefused):
        library.read(file)
    answer, _ = asked_now(tmp_path, QUESTION)
    memory = answer.memory
    last = next(n for n, page in enumerate(memory.pages, 1) if "On day 200," in page.text)
    assert last > 6
    assert gists_there(memory) == list(range(1, last))
    (lamps,) = (page for page in memory.pages if LAMPS in page.text)
    assert memory.gists[lamps.number - 1] == lamps.text.strip()
    assert [fallback.page for fallback in memory.fallbacks] == [lamps.number]
    finished = Library(tmp_path / "library.db", model=Scripted(unsteady)).read(file)
    assert [p.end for p in finished.pages[: last - 1]] == [p.end for p in memory.pages[: last - 1]]


def test_the_command_line_says_how_far_it_was_read(tmp_path: Path) -> None:
    file = interrupted(tmp_path, 6)
    env = environ(tmp_path)
    command = ("ask", file, LANTERNS, "--now", "--model", "scripted:extractive", "--no-thoughts")
    told = json.loads(run(*command, "--library", tmp_path / "library.db", "--json", env=env).out)
    pages = told["document"]["pages"]
    assert (told["provisional"], told["read_so_far"]["pages"]) == (True, 5)
    shown = run(*command, "--library", tmp_path / "library.db", env=env)
    assert f"5 of {pages} pages read so far: this rests on their gists" in shown.err


def test_of_several_documents_those_that_were_read_stand_with_their_gists(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    unread = book(tmp_path / "shelf", 3_000)
    read = tmp_path / "shelf" / "notes.txt"
    read.write_text(story(2_500, seed=7), "utf-8")
    Library(tmp_path / "library.db", model=Scripted()).read(read)
    model = Scripted()
    library = Library(tmp_path / "library.db", model=model)
    answer = library.ask(QUESTION, tmp_path / "shelf", now=True, thoughts=False)
    assert {call.phase for call in model.calls} <= {"lookup", "answer"}
    assert answer.memory.provisional
    assert isinstance(answer.memory, Collection)
    by_title = {member.document.title: member for member in answer.memory.members}
    assert all(by_title[read.stem].gists)
    assert not any(by_title[unread.stem].gists)
    (citation,) = answer.citations
    assert (citation.document, citation.status) == (by_title[unread.stem].document.id, "verified")
    library.read(unread)
    whole = library.ask(QUESTION, tmp_path / "shelf", now=True, thoughts=False)
    assert not whole.memory.provisional
    assert "ninety pear trees" in whole.text
