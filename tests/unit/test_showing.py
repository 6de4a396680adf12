"""An answer shown while it comes: never more than the finished reply says, never twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import said
from reread.reading import replies
from reread.reading.showing import Shown, so_far
from reread.types import Piece

REPLIES = {
    "plain": "Anna found the map near the old tower.",
    "quotes": 'Anna found the map near the tower.\n[2] "Anna found the map"\n[3] "the tower"',
    "quotes between": 'Anna found it there.\n[2] "Anna found it"\nThen Bertil lost it again.',
    "heading": "**Answer:** Anna found the map near the old tower.",
    "fence": "```text\nAnna found the map near the old tower.\n```",
    "json": '{"answer": "Anna found \\"the map\\" in the caf\\u00e9 near the tower."}',
    "fenced json": '```json\n{"answer": "Anna found the map near the old tower."}\n```',
    "bullet": '- Anna found the map.\n- Bertil lost it.\n- [4] "Bertil lost it"',
    "begins with p": 'Paul found the page in the tower.\np. 4: "Paul found the page"',
    "silent": "NOT IN THE DOCUMENT",
    "silent in words": "The document does not say who found the map.",
    "silent with quotes": 'The document does not say who, but how.\n[2] "Anna found the map"',
    "about the text": "The text was written by Anna in the old tower.",
    "about an answer": "The answer to this is that Anna found the map.",
    "refuses no answer": "I believe that Anna found the map.",
}


def finished(reply: str) -> str:
    return replies.answer(said(reply))[0] or replies.NOT_IN_DOCUMENT


def shown(reply: str, sizes: int = 1) -> list[Piece]:
    pieces: list[Piece] = []
    screen = Shown(pieces.append)
    for end in range(sizes, len(reply) + sizes, sizes):
        screen.hear(reply[:end])
    screen.finish(finished(reply))
    return pieces


def text(pieces: list[Piece]) -> str:
    """What stands there in the end."""
    out = ""
    for piece in pieces:
        out = piece.text if piece.anew else out + piece.text
    return out


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("sizes", [1, 5])
def test_nothing_is_shown_that_the_answer_does_not_say(name: str, sizes: int) -> None:
    pieces = shown(REPLIES[name], sizes)
    assert not any(piece.anew for piece in pieces)
    assert text(pieces) == finished(REPLIES[name])


@pytest.mark.parametrize("name", ["plain", "quotes", "heading", "fence", "json", "fenced json"])
def test_an_answer_is_shown_as_it_comes(name: str) -> None:
    assert len(shown(REPLIES[name], 3)) > 5
    assert 0 < len(so_far(REPLIES[name][: len(REPLIES[name]) // 2 + 12])) < len(REPLIES[name])


def test_a_call_sent_again_shows_nothing_twice() -> None:
    pieces: list[Piece] = []
    screen = Shown(pieces.append)
    reply = REPLIES["plain"]
    for end in [*range(1, 30), *range(1, len(reply) + 1)]:
        screen.hear(reply[:end])
    screen.finish(reply)
    assert not any(piece.anew for piece in pieces)
    assert "".join(piece.text for piece in pieces) == reply


def test_another_reply_begins_anew() -> None:
    pieces: list[Piece] = []
    screen = Shown(pieces.append)
    screen.hear("Anna found the map near the ")
    screen.hear("Anna found a map in the cellar.")
    screen.finish("Anna found a map in the cellar.")
    assert [piece.anew for piece in pieces] == [False, True]
    assert text(pieces) == "Anna found a map in the cellar."


def test_what_turns_out_not_to_be_the_answer_is_taken_back() -> None:
    pieces: list[Piece] = []
    screen = Shown(pieces.append)
    screen.hear("Anna found the map near the tower.\nAnd more")
    screen.finish("Anna found the map.")
    assert text(pieces) == "Anna found the map."
    screen.finish("Anna found the map.")
    assert len(pieces) == 2


@given(st.text(alphabet='a b.\n"[1]{:}`*NOT', max_size=60), st.text(max_size=60))
def test_whatever_comes_the_pieces_are_the_answer(reply: str, answer: str) -> None:
    pieces: list[Piece] = []
    screen = Shown(pieces.append)
    for end in range(len(reply) + 1):
        screen.hear(reply[:end])
    screen.finish(answer)
    assert text(pieces) == answer
