"""Quotes hold for any text: what is cut out of it at its words is found, and nothing breaks."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from reread.reading.quotes import SHORTEST_QUOTE, locate
from reread.reading.typography import letters, plain

ANY = st.text(max_size=200)
MARKS = st.text(alphabet="ab é-—–'\"“”«» .,1\u00ad\u200b\u00a0\n中。「」\u0301ﬁ½²", max_size=120)
WORDS = st.lists(st.text(alphabet="abcdéñ", min_size=3, max_size=9), min_size=8, max_size=30)


@given(st.one_of(ANY, MARKS))
def test_the_plain_text_knows_where_each_character_came_from(text: str) -> None:
    made = plain(text)
    assert len(made.text) == len(made.offsets)
    assert all(0 <= k < len(text) for k in made.offsets)
    bases = [
        k for k, c in zip(made.offsets, made.text, strict=True) if not unicodedata.combining(c)
    ]
    assert bases == sorted(bases)
    assert letters(made.text) == letters(made.key)


@given(st.one_of(ANY, MARKS), st.one_of(ANY, MARKS))
def test_what_is_found_has_the_letters_of_the_quote(quote: str, text: str) -> None:
    for within in (text, f"{text} {quote} {text}"):
        if span := locate(quote, within):
            assert 0 <= span[0] < span[1] <= len(within)
            assert plain(within[slice(*span)]).key.strip(" .'\"。") in plain(quote).key


@given(WORDS, st.data())
def test_words_cut_out_of_a_text_are_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 6))
    last = data.draw(st.integers(first + 5, len(words)))
    quote, text = " ".join(words[first:last]), " ".join(words)
    assert len(quote) >= SHORTEST_QUOTE
    span = locate(quote, text)
    assert span is not None
    assert text[slice(*span)] == quote
