"""What counts as standing in the evidence, and what does not."""

from __future__ import annotations

import pytest

from reread.thoughts.grounding import Evidence, grounded

PAGE = (
    "The lighthouse of Scarrow Head was lit on 3 October 1862. Its first keeper, Tobias Wrenfield, "
    "served for twenty-nine years. He never missed a night. His daughter Hester pushed the lens "
    "round by hand for nine hours in 1871. The council did not pay her for it. "
    "In 1904 the mill of Dunmore burned down and 17 barrels of oil were lost."
)
QUESTION = "What is known of the lighthouse?"


def reason(thought: str, page: str = PAGE, question: str = QUESTION) -> str:
    return grounded(thought, question, [Evidence(item=1, text=page)]).reason


@pytest.mark.parametrize(
    "thought",
    [
        "The lighthouse of Scarrow Head was lit on 3 October 1862.",
        "Scarrow Head's lighthouse was lit in October 1862.",
        "Tobias Wrenfield served as its first keeper for twenty-nine years.",
        "Tobias Wrenfield never missed a night.",
        "In 1871 Hester pushed the lens round by hand for nine hours.",
        "The council did not pay Hester for it.",
        "The lighthouse was lit in 1862. The mill of Dunmore burned down in 1904.",
    ],
)
def test_what_the_evidence_says_stands(thought: str) -> None:
    assert reason(thought) == ""


@pytest.mark.parametrize(
    "thought",
    [
        "The lighthouse of Scarrow Head was lit on 3 October 1863.",  # another number
        "The lighthouse of Dunmore was lit on 3 October 1862.",  # a name from elsewhere
        "The mill of Scarrow Head burned down in 1904.",
        "Hester served as keeper for twenty-nine years.",
        "The council did pay Hester for it.",  # the contrary
        "Tobias Wrenfield missed a night.",
        "The lighthouse was not lit on 3 October 1862.",
        "Admiral Pelham gave the lens to the parish as a gift.",  # nothing of it
        "In 1904 the lighthouse burned down and 17 barrels of oil were lost.",  # a word moved
        "The lighthouse was lit in 1862. Queen Victoria came to see it.",  # half of it
        "",
        " ".join(["The lighthouse of Scarrow Head was lit on 3 October 1862."] * 12),
    ],
)
def test_what_the_evidence_does_not_say_does_not(thought: str) -> None:
    assert reason(thought) != ""


def test_the_items_are_those_that_say_it() -> None:
    pages = [
        Evidence(item=4, text="The lamp was lit in 1862."),
        Evidence(item=7, text="The mill burned down in 1904."),
        Evidence(item=9, text="Nothing else was written down."),
    ]
    verdict = grounded("The lamp was lit in 1862. The mill burned down in 1904.", "What?", pages)
    assert verdict.items == {4, 7}


def test_scripts_without_spaces_are_compared_by_pairs_of_characters() -> None:
    page = "灯台は一八六二年十月三日に初めて点灯された。最初の灯台守は二十九年間勤めた。"
    assert reason("灯台は一八六二年十月三日に初めて点灯された。", page, "いつ？") == ""
    assert reason("市長は新しい橋を建てさせた。", page, "いつ？") != ""
