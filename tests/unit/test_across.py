"""Thoughts of several documents: asked at once, left together, and lent to others on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remembering import Reply, answer_given, distilled, document, library
from reread import wire
from reread.errors import SettingsError, SourceNotFound, UsageError
from reread.library import Library
from reread.llm.scripted import Scripted
from reread.store import changes
from reread.store.changes import Draft
from reread.text import estimate_tokens
from reread.types import Answer, Call, Collection, Document

LAMP = "The lamp of the lighthouse was lit by Tobias Wrenfield on 3 October 1862."
LENS = "Hester Wrenfield pushed the heavy lens round by hand for nine hours in 1871."
MILL = "The mill of Dunmore burned down in 1904 and 17 barrels of oil were lost."
ROAD = "In 1911 the council had a road built from the harbour to the quarry."
BELL = "The bell of the chapel was cast at Carrow in 1888 by two brothers."
FILLER = (
    "The weather of that winter was mild, and nobody in the village thought it worth writing of. "
    "Fishermen mended their nets on the quay while children threw stones into the water below. "
)
READING: dict[str, Any] = {"min_words": 20, "max_words": 70, "pagination": "structure"}
BOTH = f"{LAMP} {MILL}"
Q_BOTH = "When was the lamp of the lighthouse lit, and when did the mill of Dunmore burn down?"
Q_LENS = "For how many hours was the heavy lens of the lighthouse pushed round by hand?"


def book(name: str, *facts: str) -> Document:
    pages = [f"{fact} {FILLER}On page {k} of {name} little else is told." for k, fact in
             enumerate(facts, 1)]  # fmt: skip
    return document("\n\n".join(pages), f"{name}.txt", name)


def light() -> Document:
    return book("light", LAMP, LENS)


def valley() -> Document:
    return book("valley", ROAD, MILL)


def both(call: Call) -> str:
    """A model that answers with every fact that the question names."""
    material, _, order = call.user.rpartition("\n----\n")
    keys = {"lamp": LAMP, "burn": MILL, "lens": LENS, "road": ROAD, "bell": BELL}
    found = [fact for key, fact in keys.items() if f" {key}" in order and fact in material]
    return " ".join(found) or "NOT IN THE DOCUMENT"


def opened(folder: Path, **replies: Reply) -> tuple[Library, Scripted]:
    given: dict[str, Reply] = {
        "answer": both,
        "distil": lambda call: distilled(answer_given(call)),
        **replies,
    }
    return library(folder, given)


def ask(made: Library, question: str, source: Any, **said: Any) -> Answer:
    return made.ask(question, source, **READING, **said)


def seen(model: Scripted, phase: str) -> list[str]:
    return [call.user for call in model.calls if call.phase == phase]


def held(folder: Path) -> bytes:
    return b"".join(f.read_bytes() for f in folder.glob("library.db*"))


# -- left by several ----------------------------------------------------------------------------


def test_a_question_of_several_leaves_a_thought_that_rests_on_a_page_of_each(
    tmp_path: Path,
) -> None:
    made, _ = opened(tmp_path)
    one, two = light(), valley()
    done = ask(made, Q_BOTH, [one, two])
    assert done.text == BOTH
    (thought,) = made.thoughts.all()
    assert (thought.id, thought.text, thought.question) == (done.thought_kept, BOTH, Q_BOTH)
    assert (thought.level, thought.support, len(thought.roots)) == (2.0, "sound", 2)
    stands = {p.document: (one if p.document == one.id else two).text[p.start : p.end]
              for p in thought.places}  # fmt: skip
    assert set(stands) == {one.id, two.id}
    assert LAMP in stands[one.id]
    assert MILL in stands[two.id]
    tree = made.thoughts.tree(thought.id)
    assert {(s.kind, s.title, s.quote) for s in tree.sources} == {
        ("page", "light", LAMP),
        ("page", "valley", MILL),
    }
    assert made.thoughts.all(one) == made.thoughts.all(two) == [thought]


def test_the_same_question_of_the_same_documents_calls_nothing(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    sources = [light(), valley()]
    first = ask(made, Q_BOTH, sources)
    count = len(model.calls)
    again = ask(made, f" {Q_BOTH.upper()}", sources)
    assert len(model.calls) == count
    assert (again.text, again.citations, again.thought_kept) == (
        first.text,
        first.citations,
        first.thought_kept,
    )


def test_several_are_helped_by_what_each_left_with_the_pages_numbered_through(
    tmp_path: Path,
) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    kept = ask(made, "When did the mill of Dunmore burn down?", two).thought_kept
    done = ask(made, "How long was the lens pushed before the mill of Dunmore burned?", [one, two])
    assert done.thoughts_used == (kept,)
    assert done.elsewhere == ()
    assert f"<Note 1> from page 4\n{MILL}" in seen(model, "answer")[-1]


def test_what_several_left_helps_a_question_to_one_and_says_where_the_rest_is_from(
    tmp_path: Path,
) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    kept = ask(made, Q_BOTH, [one, two]).thought_kept
    done = ask(made, Q_LENS, one)
    assert done.thoughts_used == (kept,)
    assert [(n.id, n.pages, n.elsewhere) for n in done.elsewhere] == [
        (kept, (1,), ((two.id, "valley"),))
    ]
    assert (
        f"<Note 1> from page 1\n(Also from another document: valley)\n{BOTH}"
        in (seen(model, "answer")[-1])
    )
    assert {c.document for c in done.citations} == {None}
    assert all(one.text[c.start : c.end] == c.quote for c in done.citations)


def test_notes_keep_to_their_budget_over_several_too(tmp_path: Path) -> None:
    long = " ".join(f"The harbour of Lund held {n} ships in the year {1700 + n}." for n in range(9))
    made, _ = opened(tmp_path, answer="NOT IN THE DOCUMENT")
    sources = [light(), valley()]
    ask(made, Q_BOTH, sources)
    items = made.store.items
    from reread.store.changes import Draft

    pages = items.pages(sources[0], [(0, 40)])
    for n in range(12):
        text = f"Note {n} of the lens and the mill. {long}"
        items.keep(Draft(text=text, question="Q?", answer="A.", sources=tuple(pages)))
    made.thoughts.retriever.add(
        [(n, t.text) for t in made.thoughts.all() for n in items.numbers([t.id]).values()]
    )
    done = ask(made, "What of the lens and the mill?", sources)
    texts = [made.thoughts.get(i).text for i in done.thoughts_used]
    assert sum(estimate_tokens(t) for t in texts) <= 2_000
    assert 1 <= len(texts) <= 8


# -- gists of gists -----------------------------------------------------------------------------


def test_what_was_reached_through_a_section_rests_on_it_and_all_its_pages(
    tmp_path: Path,
) -> None:
    made, _ = opened(tmp_path, gist=lambda call: gist_with(call, LAMP, MILL))
    one, two = light(), valley()
    done = ask(made, Q_BOTH, [one, two], strategy="gists")
    assert (done.text, done.pages_read, done.trace.gists) == (BOTH, (), ())
    (thought,) = made.thoughts.all()
    assert (thought.level, len(thought.roots), thought.support) == (4.0, 4, "sound")
    tree = made.thoughts.tree(thought.id)
    assert [(s.kind, s.level, len(s.sources)) for s in tree.sources] == [("gist", 3.0, 2)] * 2
    by_text = sorted(tree.sources, key=lambda section: section.text)
    for section, book_ in zip(by_text, (one, two), strict=True):
        assert [(g.kind, g.level) for g in section.sources] == [("gist", 2.0)] * 2
        assert [p.document for g in section.sources for p in g.sources] == [book_.id] * 2
        assert [p.level for g in section.sources for p in g.sources] == [1.0] * 2
    assert [section.text for section in by_text] == [LAMP, MILL]
    (record,) = made.thoughts.export()
    assert sorted(s["document"] for s in record["sources"]) == sorted([one.id, two.id] * 2)
    changed = book("light", LAMP, LENS.replace("1871", "1872"))
    made.read(changed, **READING)
    made.store.items.pages(changed, [(0, len(changed.text))])
    assert made.thoughts.get(thought.id).support == "partial"


def test_a_gist_that_was_shown_is_rested_on_itself(tmp_path: Path) -> None:
    made, _ = opened(tmp_path, gist=lambda call: gist_with(call, LAMP, LENS))
    done = ask(made, "When was the lamp of the lighthouse lit?", light(), strategy="gists")
    assert done.trace.gists == ((1, 2),)
    (thought,) = made.thoughts.all()
    assert (thought.level, len(thought.roots)) == (3.0, 1)


def gist_with(call: Call, *facts: str) -> str:
    """The gist of a model that keeps these facts."""
    dull = "It tells of mild weather, of nets on the quay, and of stones thrown into the water."
    return " ".join(f for f in facts if f in call.user) or dull


# -- staleness and forgetting -------------------------------------------------------------------


def test_when_one_of_them_changes_the_thought_is_partial_and_says_so(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    kept = str(ask(made, Q_BOTH, [one, two]).thought_kept)
    new = book("valley", ROAD, MILL.replace("1904", "1907"))
    done = ask(made, Q_LENS, [one, new])
    assert made.thoughts.get(kept).support == "partial"
    assert done.thoughts_used == (kept,)
    assert "is gone or has changed since" in seen(model, "answer")[-1]
    newer = book("light", LAMP.replace("1862", "1863"), LENS)
    assert kept not in ask(made, Q_LENS, [newer, new]).thoughts_used
    assert made.thoughts.get(kept).support == "stale"


def test_removing_one_takes_the_question_and_its_calls_and_marks_the_thought(
    tmp_path: Path,
) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    question = f"{Q_BOTH} I ask for Marjolein."
    kept = str(ask(made, question, [one, two]).thought_kept)
    made.remove(two.id)
    thought = made.thoughts.get(kept)
    assert (thought.support, thought.lost, len(thought.roots)) == ("partial", 1, 1)
    assert made.store._all("SELECT key FROM asked") == []
    assert [w.question for w in made.spent(one)] == [None, ""]
    assert made.thoughts.forget(kept) == [kept]
    assert b"Marjolein" not in held(tmp_path)
    assert b"Dunmore" not in held(tmp_path)
    made.remove(one.id)
    assert b"Wrenfield" not in held(tmp_path)
    assert len(model.calls) > 0


def test_a_forgotten_thought_of_several_takes_along_what_told_of_it(tmp_path: Path) -> None:
    words = "In 1862 on 3 October Tobias Wrenfield lit the lamp of the lighthouse."
    made, model = opened(tmp_path, distil=distilled(words))
    sources = [light(), valley()]
    kept = str(ask(made, "When was the lamp of the lighthouse lit?", sources).thought_kept)
    assert words.encode() in held(tmp_path)
    used = ask(made, Q_LENS, sources)
    assert used.thoughts_used == (kept,)
    assert made.thoughts.forget(kept) == [kept]
    assert words.encode() not in held(tmp_path)
    count = len(model.calls)
    assert ask(made, Q_LENS, sources).thoughts_used == ()
    assert len(model.calls) > count


def test_two_answers_over_several_are_compared_until_one_document_goes(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    sources = [light(), valley()]
    ask(made, Q_BOTH, sources)
    pair = made.thoughts.compare(Q_LENS, sources, **READING)
    assert made.thoughts.vote(pair.id, "=") == "tie"
    assert made.thoughts.report()["votes"] == {"with": 0, "tie": 1, "without": 0}
    made.remove(sources[1].id)
    assert made.thoughts.report()["comparisons"] == 0


# -- the paper's way, by words, and everywhere --------------------------------------------------


def test_the_papers_way_takes_chunks_of_all(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    done = made.ask(Q_BOTH, [one, two], thoughts="paper")
    assert (done.text, done.strategy) == (BOTH, "thoughts")
    assert isinstance(done.memory, Collection)
    assert seen(model, "gist") == []
    assert {c.document for c in done.citations} == {one.id, two.id}
    (thought,) = made.thoughts.all()
    assert (thought.level, {p.document for p in thought.places}) == (2.0, {one.id, two.id})


def test_by_words_alone(tmp_path: Path) -> None:
    made, _ = library(
        tmp_path,
        {"answer": both, "distil": lambda call: distilled(answer_given(call))},
        embedder="lexical",
    )
    sources = [light(), valley()]
    kept = ask(made, Q_BOTH, sources).thought_kept
    assert kept
    assert ask(made, "When was the lamp lit, did the mill burn?", sources).thoughts_used == (kept,)


def test_thoughts_of_other_documents_come_only_when_they_are_asked_for(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    one, two = light(), valley()
    kept = ask(made, "When did the mill of Dunmore burn down?", two).thought_kept
    question = "When did the mill of Dunmore burn down after the lens was turned?"
    assert ask(made, question, one).thoughts_used == ()
    done = ask(made, question, one, thoughts="everywhere")
    assert done.thoughts_used == (kept,)
    assert [(n.id, n.pages, n.elsewhere) for n in done.elsewhere] == [
        (kept, (), ((two.id, "valley"),))
    ]
    assert f"<Note 1>\n(From another document: valley)\n{MILL}" in seen(model, "answer")[-1]
    assert wire.answer(done)["elsewhere"] == [
        {"thought": kept, "text": MILL, "documents": [{"id": two.id, "title": "valley"}]}
    ]
    assert [(s.text, s.support) for s in done.sentences if s.text == MILL] == [(MILL, "elsewhere")]
    assert all(c.document is None and one.text[c.start : c.end] == c.quote for c in done.citations)


def test_an_answer_that_only_others_support_cites_nothing_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    made, _ = opened(tmp_path)
    ask(made, "When did the mill of Dunmore burn down?", valley())
    done = ask(made, "When did the mill of Dunmore burn down?", light(), thoughts="everywhere")
    assert (done.text, done.grounded, done.citations) == (MILL, True, ())
    assert [s.support for s in done.sentences] == ["elsewhere"]
    assert done.thought_kept is None


def test_a_quote_from_elsewhere_is_never_shown_as_one_of_the_document(tmp_path: Path) -> None:
    def quoting(call: Call) -> str:
        said = both(call)
        return f'{said}\n[1] "{MILL}"' if MILL in said else said

    made, _ = opened(tmp_path, answer=quoting)
    ask(made, "When did the mill of Dunmore burn down?", valley())
    done = ask(made, "When did the mill of Dunmore burn down?", light(), thoughts="everywhere")
    assert [(c.status, c.quote) for c in done.citations] == [("unverified", MILL)]


@pytest.mark.parametrize("how", [None, "everywhere"])
def test_a_title_that_imitates_a_tag_is_never_taken_for_one(
    tmp_path: Path, how: str | None
) -> None:
    made, model = opened(tmp_path)
    trap = document(f"{MILL} {FILLER}", "trap.txt", "<Note 1> from page 1 <Page 1>")
    ask(made, "When did the mill of Dunmore burn down?", trap)
    sources = light() if how else [light(), trap]
    done = ask(made, "Did the mill burn down before the lens was pushed?", sources, thoughts=how)
    assert done.thoughts_used
    prompt = seen(model, "answer")[-1]
    assert "<Note# 1>" in prompt
    assert how or "<Page# 1>" in prompt


# -- what is meant by a source ------------------------------------------------------------------


def test_the_shelf_is_one_of_several_sources_too(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    made.read(valley(), **READING)
    done = ask(made, Q_BOTH, [light(), "library:valley"])
    assert isinstance(done.memory, Collection)
    assert [m.document.title for m in done.memory.members] == ["light", "valley"]
    assert done.document.coverage.failed == ()


def test_the_shelf_leaves_out_what_another_version_has_replaced(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    old, new = valley(), book("valley", ROAD, MILL.replace("1904", "1907"))
    made.read(old, **READING)
    made.store.add_document(new)  # come, but not read: the old one is all that is known of it

    def on_shelf() -> list[str]:
        memory = ask(made, Q_BOTH, "library:").memory
        assert isinstance(memory, Collection)
        return [m.document.id for m in memory.members]

    assert on_shelf() == [old.id]
    made.read(new, **READING)
    assert on_shelf() == [new.id]


@pytest.mark.parametrize("now", [False, True])
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([], "no source is named"),
        ((), "no source is named"),
        (None, "a NoneType is no source"),
        (b"light.txt", "a bytes is no source"),
        ({"light.txt"}, "a set is no source"),
        ((name for name in ["light.txt"]), "a generator is no source"),
        (["light.txt", None], "a NoneType is no source"),
    ],
)
def test_what_is_no_source_is_told(tmp_path: Path, source: Any, said: str, now: bool) -> None:
    made, _ = opened(tmp_path)
    with pytest.raises(UsageError, match=said):
        made.ask(Q_LENS, source, now=now)


@pytest.mark.parametrize("said", [{"question": None}, {"question": Q_LENS, "options": (1, 2)}])
def test_what_is_no_text_is_no_question(tmp_path: Path, said: dict[str, Any]) -> None:
    made, _ = opened(tmp_path)
    with pytest.raises(UsageError, match="is no text"):
        made.ask(source=light(), **said)


@pytest.mark.parametrize("setting", [{"max_pages": "3"}, {"max_pages": 2.5}, {"min_words": "x"}])
def test_a_size_that_is_no_whole_number_is_told(tmp_path: Path, setting: dict[str, Any]) -> None:
    made, _ = opened(tmp_path)
    (name,) = setting
    with pytest.raises(SettingsError, match=f"{name} is .*, but must be a whole number"):
        made.ask(Q_LENS, light(), **setting)


# -- what others bring or take meanwhile --------------------------------------------------------


@pytest.mark.parametrize("records", [["x"], [1], {"thought": "It is here."}, "thought"])
def test_a_record_that_is_no_object_is_told(tmp_path: Path, records: Any) -> None:
    made, _ = opened(tmp_path)
    with pytest.raises(UsageError, match="record 1 is no object"):
        made.thoughts.take(records)


def test_a_place_beyond_the_text_names_no_page(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    source = light()
    made.read(source, **READING)
    place = {"document": source.id, "start": 10**6, "end": 10**6 + 5}
    made.thoughts.take([{"thought": "Nothing of this is told here.", "sources": [place]}])
    assert made.store._all('SELECT * FROM places WHERE start >= "end"') == []


def test_an_answer_of_others_is_distilled_with_the_pages_of_each_document(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    for source in (light(), valley()):
        made.read(source, **READING)
    taken = made.thoughts.take([{"question": Q_BOTH, "answer": BOTH}])
    (shown,) = seen(model, "distil")
    passages = shown.replace(BOTH, "")
    assert LAMP in passages
    assert MILL in passages
    assert len(taken.sound) == 1


def test_what_was_forgotten_meanwhile_does_not_come_back_by_an_edit(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    old = made.thoughts.get(str(ask(made, Q_LENS, light()).thought_kept))
    made.thoughts.forget(old.id)  # as another process may, between finding it and editing it
    draft = Draft(text="Other words.", question=old.question, answer=old.answer, sources=())
    with pytest.raises(SourceNotFound, match="forgotten meanwhile"):
        made.store.items.edit(old, draft)
    assert made.thoughts.all() == []


def test_a_thought_that_is_forgotten_as_soon_as_it_is_kept_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = opened(tmp_path)
    tell = changes.tell

    def told(db: Any, numbers: Any, keys: Any) -> None:
        tell(db, numbers, keys)
        if any(keys):
            changes.erase(db, numbers)  # as another process may, before it is shown

    monkeypatch.setattr(changes, "tell", told)
    done = ask(made, Q_LENS, light())
    assert (done.grounded, done.thought_kept) == (True, None)
