"""A changed file: pages that are still the same are kept, and only the others are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import story
from hypothesis import given, settings
from hypothesis import strategies as st

from reread.library import Library
from reread.llm.scripted import Scripted
from reread.types import GistMemory


class Read:
    """A library with one file, which is written and read again and again."""

    def __init__(self, folder: Path, pagination: str) -> None:
        self.model = Scripted(workers=1, context_tokens=64_000)
        self.library = Library(folder / "library.db", model=self.model)
        self.file = folder / "story.txt"
        self.pagination = pagination

    def __call__(self, text: str) -> tuple[GistMemory, int]:
        """The memory of the file with this text, and the calls it took."""
        self.file.write_text(text, encoding="utf-8")
        before = len(self.model.calls)
        memory = self.library.read(self.file, pagination=self.pagination)
        assert "".join(page.text for page in memory.pages) == memory.document.text
        return memory, len(self.model.calls) - before


def changed(text: str, paragraph: int, to: str) -> str:
    paragraphs = text.split("\n\n")
    paragraphs[paragraph] = to
    return "\n\n".join(p for p in paragraphs if p)


@pytest.mark.parametrize(("pagination", "most"), [("structure", 1), ("model", 1)])
def test_a_changed_sentence_costs_the_gist_of_its_page(
    tmp_path: Path, pagination: str, most: int
) -> None:
    read = Read(tmp_path, pagination)
    text = story(6_000)
    old, first = read(text)
    assert first >= len(old.pages)
    new, calls = read(changed(text, 40, "Nobody expected the flood that came in the night."))
    assert calls <= most
    assert sum(a.text == b.text for a, b in zip(old.pages, new.pages, strict=True)) == (
        len(old.pages) - 1
    )


def test_a_new_paragraph_costs_no_more_than_its_page(tmp_path: Path) -> None:
    read = Read(tmp_path, "model")
    text = story(6_000)
    old, _ = read(text)
    new, calls = read(changed(text, 0, "A beginning.\n\n" + text.split("\n\n")[0]))
    assert calls <= 2
    kept = {page.text.strip() for page in old.pages} & {page.text.strip() for page in new.pages}
    assert len(kept) >= len(old.pages) - 2


def test_text_added_at_the_end_costs_the_last_pages(tmp_path: Path) -> None:
    read = Read(tmp_path, "model")
    old, first = read(story(6_000))
    new, calls = read(story(6_000).rstrip() + "\n\n" + story(400, seed=9))
    assert calls <= 4 < first
    assert [p.text for p in new.pages[: len(old.pages) - 1]] == [p.text for p in old.pages[:-1]]
    assert new.gists[: len(old.pages) - 1] == old.gists[:-1]


def test_page_sizes_stay_those_of_the_version_before(tmp_path: Path) -> None:
    """A book's pages are sized by its length, which an edit changes."""
    read = Read(tmp_path, "model")
    text = story(30_000)
    old, _ = read(text)
    assert old.settings.max_words != 600
    new, calls = read(text.rstrip() + "\n\n" + story(1_000, seed=9))
    assert new.settings == old.settings
    assert calls <= 6


def test_a_version_that_was_read_before_costs_nothing(tmp_path: Path) -> None:
    read = Read(tmp_path, "model")
    old, _ = read(story(3_000))
    read(story(3_000, seed=2))
    again, calls = read(story(3_000))
    assert calls == 0
    assert again.pages == old.pages


def test_a_gist_that_could_not_be_had_is_not_kept(tmp_path: Path) -> None:
    read = Read(tmp_path, "structure")
    text = story(3_000)
    bad = iter(["", ""])  # the first page's gist is empty twice

    def reply(call: object) -> str:
        return next(bad, "A short gist of what happens on this page.")

    read.model = Scripted(reply, workers=1)
    read.library = Library(tmp_path / "other.db", model=read.model)
    old, _ = read(text)
    assert [f.page for f in old.fallbacks if f.phase == "gist"] == [1]
    new, calls = read(text.rstrip() + "\n\nThe end.")
    assert not new.fallbacks
    assert calls == 2  # the first page and the last


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_edit_leaves_pages_that_partition_the_text(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    read = Read(tmp_path_factory.mktemp("v"), "structure")
    text = story(2_500)
    read(text)
    for _ in range(2):
        count = text.count("\n\n")
        at = data.draw(st.integers(0, count))
        to = data.draw(st.sampled_from(["", "One line.", story(700, seed=5).strip()]))
        text = changed(text, at, to)
        memory, _ = read(text)
        s = memory.settings
        for page in memory.pages[:-1]:
            assert (s.min_words or 0) <= page.words <= (s.max_words or 0)
