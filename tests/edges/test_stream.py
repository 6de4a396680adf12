"""Answers as they come: in Python as events, on a terminal as text, in a pipe as before."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import PROGRAM, environ, run, story
from endpoint import Endpoint
from weather import Fault, Made

from reread import documents
from reread.errors import ModelRefused
from reread.library import Library
from reread.types import Answer, Piece

QUESTION = "Who repaired the violin near the old bridge on day 9?"
PROSE = "Anna repaired the violin near the old bridge, as she had said that she would."


def answering(text: str, base: Callable[[str, str], str]) -> Callable[[str, str], str]:
    return lambda phase, user: text if phase == "answer" else base(phase, user)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        quote = re.search(r"On day 2,[^.]*\.", story(300))
        assert quote
        endpoint.reply = answering(f'{PROSE}\n[1] "{quote[0]}"', endpoint.reply)
        yield endpoint


@pytest.fixture
def library(endpoint: Endpoint, tmp_path: Path) -> Iterator[Library]:
    library = Library(config=endpoint.config(tmp_path))
    yield library
    library.close()


def source() -> Any:
    return documents.load_bytes(story(300).encode(), name="story.txt", origin="story.txt")


def parted(events: list[Piece | Answer]) -> tuple[str, Answer]:
    """The text that the pieces make up, and the answer after them."""
    *pieces, answer = events
    assert isinstance(answer, Answer)
    text = ""
    for piece in pieces:
        assert isinstance(piece, Piece)
        text = piece.text if piece.anew else text + piece.text
    return text, answer


def test_pieces_come_and_then_the_same_answer(library: Library, endpoint: Endpoint) -> None:
    events = list(library.stream(QUESTION, source()))
    text, answer = parted(events)
    assert len(events) > 3
    assert text == answer.text == PROSE
    assert answer.citations[0].status == "verified"
    again = library.ask(QUESTION, source())
    assert (again.text, again.citations) == (answer.text, answer.citations)
    assert again.usage.calls == 0


def test_a_remembered_answer_is_one_piece(library: Library, endpoint: Endpoint) -> None:
    library.ask(QUESTION, source())
    events = list(library.stream(QUESTION, source()))
    assert len(events) == 2
    assert parted(events)[0] == PROSE


def test_an_option_is_shown_whole(library: Library) -> None:
    events = list(library.stream(QUESTION, source(), options=["Anna", "Bertil"]))
    text, answer = parted(events)
    assert len(events) == 2
    assert text == answer.text
    assert answer.choice in (0, 1)


@pytest.mark.parametrize("kind", ["cut", "garbage", "error"])
def test_a_broken_answer_is_shown_once(library: Library, endpoint: Endpoint, kind: Any) -> None:
    library.read(source())
    library.ask("What is the map?", source(), strategy="gists")
    endpoint.faults = [Fault(within=kind, after=3, message="gone")]
    events = list(library.stream(QUESTION, source(), strategy="gists"))
    assert parted(events)[0] == PROSE
    assert not any(isinstance(e, Piece) and e.anew for e in events)


def test_a_malformed_answer_is_taken_back(library: Library, endpoint: Endpoint) -> None:
    library.read(source())
    replies = ["I am sorry, but I cannot help.", PROSE]
    base = endpoint.reply
    endpoint.reply = lambda phase, user: replies.pop(0) if phase == "answer" else base(phase, user)
    text, answer = parted(list(library.stream(QUESTION, source())))
    assert text == answer.text == PROSE


def test_a_failure_is_raised_where_the_events_are_taken(
    library: Library, endpoint: Endpoint
) -> None:
    endpoint.faults = [Fault(status=401)] * 9
    with pytest.raises(ModelRefused):
        list(library.stream(QUESTION, source()))


def test_a_stopped_generator_closes_the_connection(library: Library, endpoint: Endpoint) -> None:
    library.read(source())
    endpoint.event_s = 0.3
    events = library.stream(QUESTION, source(), strategy="gists")
    first = next(events)
    assert isinstance(first, Piece)
    assert PROSE.startswith(first.text)
    stopped = time.monotonic()
    events.close()  # type: ignore[attr-defined]
    while not endpoint.seen[-1].gone:
        assert time.monotonic() - stopped < 2.0
        time.sleep(0.01)
    endpoint.event_s = 0.0
    assert library.ask(QUESTION, source(), strategy="gists").text == PROSE


# -- the command line -----------------------------------------------------------------------------


def on_a_terminal(args: list[str], env: dict[str, str], columns: int = 80) -> tuple[int, bytes]:
    """The exit code and everything that was written to the terminal."""
    master, slave = pty.openpty()
    env = env | {"TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        [*PROGRAM, *args], env=env, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    )
    os.close(slave)
    written = b""
    while select.select([master], [], [], 30)[0]:
        try:
            written += os.read(master, 65_536)
        except OSError:
            break
    os.close(master)
    return process.wait(30), written


def screen(written: bytes, columns: int = 80) -> list[str]:
    """The lines that stand there in the end, as far as our own output goes."""
    rows, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]", written.decode()):
        if token == "\r":
            column = 0
        elif token == "\n":
            row, column = row + 1, 0
        elif token.endswith("A") and token.startswith("\x1b"):
            row -= int(token[2:-1] or 1)
        elif token.endswith("K"):
            rows[row] = ""
        elif not token.startswith("\x1b"):
            if column == columns:
                row, column = row + 1, 0
            rows.extend([""] * (row + 1 - len(rows)))
            rows[row] = rows[row][:column].ljust(column) + token + rows[row][column + 1 :]
            column += 1
        rows.extend([""] * (row + 1 - len(rows)))
    return [line.rstrip() for line in rows if line.strip()]


@pytest.fixture
def env(endpoint: Endpoint, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "story.txt").write_text(story(300), encoding="utf-8")
    env = environ(tmp_path, endpoint.environ(tmp_path))
    assert run("read", tmp_path / "story.txt", env=env).code == 0
    return env


def test_a_terminal_shows_the_answer_as_it_comes(env: dict[str, str], endpoint: Endpoint) -> None:
    endpoint.event_s = 0.05
    code, written = on_a_terminal(["ask", "story", QUESTION], env)
    assert code == 0
    lines = screen(written)
    assert lines[0] == PROSE[:80].rstrip()
    assert lines[1].startswith("  [page 1") or lines[2].startswith("  [page 1")
    assert written.count(b"Anna repaired the violin") == 1


def test_a_terminal_shows_a_changed_answer_in_place_of_the_first(
    env: dict[str, str], endpoint: Endpoint
) -> None:
    cut = "Bertil lost the violin " * 30
    replies = [cut, PROSE]
    base = endpoint.reply
    made = endpoint.made

    def limited(seen: Any) -> Any:
        reply = made(seen)
        if isinstance(reply, Made) and reply.text == cut:
            return replace(reply, finish_reason="length")
        return reply

    endpoint.made = limited  # type: ignore[method-assign]
    endpoint.reply = lambda phase, user: replies.pop(0) if phase == "answer" else base(phase, user)
    code, written = on_a_terminal(["ask", "story", QUESTION], env)
    assert code == 0
    assert b"Bertil lost the violin" in written
    lines = screen(written)
    assert not any("Bertil lost" in line for line in lines)
    assert lines[0] == PROSE[:80].rstrip()


def test_a_pipe_gets_the_same_as_ever(env: dict[str, str], endpoint: Endpoint) -> None:
    done = run("ask", "story", QUESTION, env=env)
    assert done.code == 0
    assert done.out.splitlines()[0] == PROSE
    assert "\x1b" not in done.out + done.err
