"""Marks that nothing in a text can imitate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import memory
from reread.reading.marks import Marks
from reread.reading.render import APPENDED, render, tags


@pytest.mark.parametrize(
    ("text", "stem", "mark"),
    [
        ("plain text", "", "<3>"),
        ("see <12> there", "", "<#3>"),
        ("see < 12 > and <#4>", "", "<##3>"),
        ("a<b and 1<2", "", "<#3>"),
        ("plain text", "Page ", "<Page 3>"),
        ("<Page 9>", "Page ", "<Page# 3>"),
        ("<page 9 and <PAGE# 2>", "Page ", "<Page## 3>"),
        ("<12>", "Page ", "<Page 3>"),
    ],
)
def test_the_plainest_form_that_the_text_does_not_hold(text: str, stem: str, mark: str) -> None:
    assert Marks.absent_from([text], stem=stem)(3) == mark


@given(
    st.lists(st.text(alphabet="<>#~ Pagep12\n", max_size=40), max_size=4),
    st.sampled_from(["", "Page "]),
)
def test_no_text_holds_what_reads_as_a_mark(texts: list[str], stem: str) -> None:
    marks = Marks.absent_from(texts, stem=stem)
    assert all(not marks.pattern.search(text) for text in texts)
    assert marks.pattern.fullmatch(marks(17))


@pytest.mark.parametrize("reply", ["<Page 7>", "< page 7 >", "<PAGE7>"])
def test_a_model_may_write_a_mark_in_its_own_way(reply: str) -> None:
    found = Marks("Page ").pattern.search(reply)
    assert found
    assert found[1] == "7"


def test_tags_avoid_the_document_its_gists_and_the_question() -> None:
    plain = memory(("one", "two"), ("a", "b"))
    assert tags(plain).page(1) == "<Page 1>"
    assert tags(plain, "What does <Page 2> say?").page(1) == "<Page# 1>"
    assert tags(memory(("a <Page 1> b", "two"), ("a", "<page# 3>"))).page(1) == "<Page## 1>"


def test_opened_pages_stand_in_place_of_their_gists() -> None:
    made = memory(("one", "two", "three"), ("1", "2", "3"))
    shown = render(made, tags(made), [3, 1], layout="in-place")
    assert shown == "<Page 1>\none\n\n<Page 2>\n2\n\n<Page 3>\nthree"


def test_or_after_all_gists_in_the_order_given() -> None:
    made = memory(("one", "two", "three"), ("1", "2", "3"))
    shown = render(made, tags(made), [3, 1], layout="appended")
    gists = "<Page 1>\n1\n\n<Page 2>\n2\n\n<Page 3>\n3"
    assert shown == f"{gists}\n\n{APPENDED}\n\n<Page 3>\nthree\n\n<Page 1>\none"
    assert shown.startswith(render(made, tags(made), layout="appended"))
