"""Texts as the numbers of BERT's vocabulary: as the published tokenizer gives them."""

from __future__ import annotations

import pytest

from reread.retrieval.wordpiece import encode


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("The lamp was lit.", [1996, 10437, 2001, 5507, 1012]),
        ("unaffable", [14477, 20961, 3468]),
        ("don't", [2123, 1005, 1056]),
        ("Ünïcode façade", [27260, 8508]),
        ("x" * 101, [100]),
        ("a\u0000b\ufffd c", [11113, 1039]),
    ],
)
def test_pieces(text: str, numbers: list[int]) -> None:
    assert encode(text, 256) == [101, *numbers, 102]


def test_no_more_than_asked_for() -> None:
    assert encode("lamp " * 500, 10) == [101, *[10437] * 8, 102]


def test_marks_of_the_vocabulary_are_only_text_in_a_document() -> None:
    assert 102 not in encode("[SEP]", 256)[1:-1]
    assert 103 not in encode("[MASK]", 256)
