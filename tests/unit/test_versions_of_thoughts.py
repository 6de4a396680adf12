"""What a thought rests on keeps its place in a new version from the moment it is added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remembering import document, library
from reread.library import Library
from reread.types import Document

LAMP = "The lamp of the tower was lit by Tobias Wrenfield on 3 October 1862 in heavy rain."
LENS = "Hester Dunmore pushed the lens round by hand for nine hours in the spring of 1871."
MILL = "The mill of the village burned down in 1904 with all its flour and both its millers."
FILLER = "The weather of that winter was mild, and nobody in the village thought it worth a word."
Q_LAMP = "When was the lamp of the tower lit by Tobias Wrenfield?"
READING: dict[str, Any] = {"min_words": 20, "max_words": 60, "pagination": "structure"}


def text(*facts: str) -> str:
    return "\n\n".join(f"{fact} {FILLER} So much for page {fact[:9]}." for fact in facts)


class Home:
    """A library with a file about which one question was asked."""

    def __init__(self, folder: Path) -> None:
        self.made: Library = library(folder)[0]
        self.file = folder / "tower.txt"
        self.write(LAMP, LENS)
        self.kept = str(self.made.ask(Q_LAMP, self.file, **READING).thought_kept)

    def write(self, *facts: str) -> None:
        self.file.write_text(text(*facts), encoding="utf-8")

    def read(self) -> Document:
        return self.made.read(self.file, **READING).document

    @property
    def support(self) -> str:
        (thought,) = self.made.thoughts.all()
        return thought.support


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("facts", "support"),
    [
        ((LAMP, LENS, MILL), "sound"),
        ((MILL, LENS, LAMP), "sound"),
        ((LAMP, MILL), "sound"),
        ((LAMP.replace("1862", "1863"), LENS), "stale"),
        ((LENS, MILL), "stale"),
    ],
)
def test_a_file_that_is_read_again_says_what_stands(
    home: Home, facts: tuple[str, ...], support: str
) -> None:
    home.write(*facts)
    new = home.read()
    assert home.support == support
    assert [r["support"] for r in home.made.thoughts.export()] == [support]
    assert home.made.thoughts.report()["support"][support] == 1
    (thought,) = home.made.thoughts.all(new) if support == "sound" else home.made.thoughts.all()
    here = [new.text[p.start : p.end] for p in thought.places if p.document == new.id]
    assert here == [text(LAMP)] * (support == "sound")


def test_it_says_so_while_the_new_version_is_still_being_read(home: Home) -> None:
    home.write(LAMP, LENS, MILL)
    home.made.store.add_document(home.made.load(home.file))
    assert home.support == "sound"


def test_a_page_that_was_away_for_a_version_comes_back(home: Home) -> None:
    for facts, support in (((LENS,), "stale"), ((MILL,), "stale"), ((LENS, LAMP), "sound")):
        home.write(*facts)
        home.read()
        assert home.support == support


def test_pages_that_nothing_rests_on_are_not_looked_for(home: Home) -> None:
    home.write(LAMP, LENS, MILL)
    new = home.read()
    rows = home.made.store._all("SELECT start FROM places WHERE document_id = ?", new.id)
    assert rows == [(0,)]


def test_a_thought_that_comes_in_on_an_earlier_version_is_sound_at_once(home: Home) -> None:
    old = home.made.load(home.file)
    home.write(LAMP, MILL, LENS)
    new = home.read()
    start = old.text.index(LENS)
    place = {"document": old.id, "start": start, "end": len(old.text)}
    (kept,) = home.made.thoughts.take([{"thought": LENS, "sources": [place]}]).sound
    thought = home.made.thoughts.get(kept)
    assert thought.support == "sound"
    assert {p.document for p in thought.places if p.current} == {new.id}


def test_what_came_by_standard_input_is_no_version_of_anything(tmp_path: Path) -> None:
    made, _ = library(tmp_path)
    first = document(text(LAMP, LENS), "-")
    kept = str(made.ask(Q_LAMP, first, **READING).thought_kept)
    made.read(document(text(LAMP, MILL), "-"), **READING)
    assert {p.document for p in made.thoughts.get(kept).places} == {first.id}


def test_a_page_stands_only_where_its_words_begin_and_end(home: Home) -> None:
    home.file.write_text(f"X{text(LAMP)}\n\n{MILL}", encoding="utf-8")
    home.read()
    assert home.support == "stale"
    home.file.write_text(f"X{text(LAMP)}\n\n{MILL}\n\n{text(LAMP)}", encoding="utf-8")
    home.read()
    assert home.support == "sound"
