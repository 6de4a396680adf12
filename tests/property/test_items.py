"""After any sequence of reads, thoughts, edits, removals and forgetting, the promises hold.

The model here is the definition itself, followed through the sources from scratch.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from remembering import document
from reread.store import Store
from reread.store.changes import Draft, Gisted
from reread.types import Call, Completion, Document, PromptId, Thought

PARAGRAPHS = tuple(
    f"Paragraph {name} tells of {what}, at such length that it cannot stand anywhere by chance."
    for name, what in zip("abcdef", "mills lamps wells barns gates roads".split(), strict=True)
)
NAMES = ("one.txt", "two.txt", "-")


DRAFT = Draft(text="", question="", answer="", sources=(), vectors=(b"ab",))
FORMS: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda text: f"As was said: {text.replace(' ', '  ')} And so on.",
    lambda text: json.dumps({"thought": f'"{text}"', "confidence": 1}),
)
WAYS = ("answer-free", "distil-grounded", "questions", "lookup-parallel")


def call(prompt: str) -> Call:
    name = PromptId(name=prompt, version=1, digest="d")
    return Call(prompt=name, system="s", user="u", parse=lambda c: c.text, max_tokens=9)


class Remembering(RuleBasedStateMachine):
    """A library that is used at random."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "library.db"
        self.store = Store(self.path)
        self.said = 0
        self.erased: set[str] = set()
        self.documents: dict[str, Document] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    # -- what happens ---------------------------------------------------------------------------

    @rule(name=st.sampled_from(NAMES), chosen=st.lists(st.sampled_from(PARAGRAPHS), max_size=4))
    def read(self, name: str, chosen: list[str]) -> None:
        made = document("\n\n".join(dict.fromkeys(chosen)) or "Nothing.", name)
        self.store.add_document(made)
        self.documents[made.id] = made
        spans = [(p.start, p.end) for p in made.paragraphs]
        self.store.items.pages(made, spans)

    @rule(data=st.data())
    def think(self, data: st.DataObject) -> None:
        there = [number for (number,) in self.rows("SELECT number FROM items")]
        sources = (
            data.draw(st.lists(st.sampled_from(there), max_size=3, unique=True)) if there else []
        )
        self.keep(f"Thought {self.number()} says so.", tuple(sources))

    @rule(data=st.data())
    def gist(self, data: st.DataObject) -> None:
        pages = [n for (n,) in self.rows("SELECT number FROM items WHERE kind = 'page'")]
        if pages:
            made = data.draw(gists(pages))
            number = self.store.items.gist(made)
            assert number is not None
            assert self.store.items.gist(made) == number
            assert abs(self.store.items.levels([number])[number] - level(made)) < 1e-9

    @rule(data=st.data())
    def gist_of_a_page_that_went(self, data: st.DataObject) -> None:
        before = self.rows("SELECT number FROM items ORDER BY number")
        gone = max([0, *(number for (number,) in before)]) + 1_000
        assert self.store.items.gist(Gisted("Of nothing.", (Gisted("So.", (gone,)),))) is None
        assert self.rows("SELECT number FROM items ORDER BY number") == before

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        found = self.store.items.thoughts()
        if found:
            old = data.draw(st.sampled_from(found))
            text = f"Edited {self.number()} in place of it."
            draft = replace(DRAFT, text=text, question=old.question, answer=old.answer)
            new = self.store.items.edit(old, draft)
            assert (new.text, new.lost) == (text, old.lost)
            assert new.sources == old.sources
            assert new.answer == old.answer.replace(old.text, "").strip()
            self.erased.add(old.text)

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        before = {t.id: t for t in self.store.items.thoughts()}
        if before:
            gone = self.store.items.forget([data.draw(st.sampled_from(sorted(before)))])
            self.erase(before[i] for i in gone)

    @rule(data=st.data(), form=st.sampled_from(FORMS), way=st.sampled_from(WAYS))
    def say_again(self, data: st.DataObject, form: Callable[[str], str], way: str) -> None:
        """A reply repeats something of a thought, and nobody recorded that it was told it."""
        found = self.store.items.thoughts()
        if found and self.documents:
            thought = data.draw(st.sampled_from(found))
            about = data.draw(st.sampled_from(sorted(self.documents)))
            words = data.draw(st.sampled_from([thought.text, thought.question, thought.answer]))
            work = self.store.calls(about, f"Is it so that {words} {self.number()}?")
            work.put(str(self.number()), call(way), "m", Completion(text=form(words)))

    @rule(data=st.data())
    def hear(self, data: st.DataObject) -> None:
        """A thought whose author was shown another one repeats its words in the answer."""
        found = [t for t in self.store.items.thoughts() if t.roots]
        if found and self.documents:
            heard = data.draw(st.sampled_from(found))
            key = str(self.number())
            work = self.store.calls(data.draw(st.sampled_from(sorted(self.documents))))
            work.tell([heard.id])
            work.put(key, call("answer-free"), "m", Completion(text="So it is."))
            sources = self.store.items.numbers(heard.roots).values()
            self.keep(f"Heard {self.number()} says so.", tuple(sources), heard.text, (key,))

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.documents:
            before = {t.id: t for t in self.store.items.thoughts()}
            chosen = data.draw(st.sampled_from(sorted(self.documents)))
            del self.documents[chosen]
            assert self.store.remove(chosen)
            after = {t.id for t in self.store.items.thoughts()}
            self.erase(before[i] for i in before.keys() - after)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.path)

    def keep(
        self, text: str, sources: tuple[int, ...], heard: str = "", told: tuple[str, ...] = ()
    ) -> None:
        number = self.number()
        answer = f"Answer {number} was given then. {heard or text}"
        question = f"Question {number} was put then?"
        draft = replace(DRAFT, text=text, question=question, answer=answer, sources=sources)
        assert self.store.items.keep(replace(draft, said_in=told)) is not None

    def erase(self, thoughts: Iterable[Thought]) -> None:
        for thought in thoughts:
            self.erased |= {thought.text, thought.question, thought.answer}

    def number(self) -> int:
        self.said += 1
        return 1_000 + self.said

    def rows(self, statement: str, *values: object) -> list[Any]:
        return self.store._all(statement, *values)

    # -- what holds -----------------------------------------------------------------------------

    @invariant()
    def nothing_rests_on_itself(self) -> None:
        assert self.rows("SELECT 1 FROM sources WHERE source >= item") == []

    @invariant()
    def roots_and_levels_follow_from_sources(self) -> None:
        below: dict[int, set[int]] = {}
        for item, source in self.rows("SELECT item, source FROM sources"):
            below.setdefault(item, set()).add(source)
        roots: dict[int, set[int]] = {}
        for item, page in self.rows("SELECT item, page FROM roots"):
            roots.setdefault(item, set()).add(page)
        levels = dict(self.rows("SELECT number, level FROM items"))
        kinds = dict(self.rows("SELECT number, kind FROM items"))
        for item in kinds:
            sources = below.get(item, set())
            assert roots.get(item, set()) == pages_under(item, below, kinds)
            mean = sum(levels[s] for s in sources) / len(sources) if sources else 0
            assert abs(levels[item] - (mean + 1)) < 1e-9

    @invariant()
    def support_is_what_stands_now(self) -> None:
        current = {i for i in self.documents if self.stands(i)}
        for thought in self.store.items.thoughts():
            standing = [any(self.says(d, root) for d in current) for root in thought.roots]
            if thought.support == "sound":
                assert standing
                assert all(standing)
                assert thought.lost == 0
            elif thought.support == "partial":
                assert any(standing)
                assert thought.lost or not all(standing)
            elif thought.support == "stale":
                assert not any(standing)
            else:
                assert not thought.roots
                assert not thought.lost
            for place in thought.places:
                assert place.document in self.documents
                assert place.current == (place.document in current)

    def stands(self, document_id: str) -> bool:
        """Whether a name stands for this content now, or it came by standard input."""
        first = self.store.document(document_id)
        return bool(self.store.origins(document_id)) or (first is not None and first.origin == "-")

    def says(self, document_id: str, page: str) -> bool:
        text, _ = self.store.items.text_of(page)
        return text.strip() in self.documents[document_id].text

    @invariant()
    def what_lost_a_source_is_never_sound_above_either(self) -> None:
        lost = dict(self.rows("SELECT number, lost FROM items"))
        for item, source in self.rows("SELECT item, source FROM sources"):
            assert not lost[source] or lost[item]

    @invariant()
    def what_is_forgotten_is_gone_from_the_file(self) -> None:
        files = [f.read_bytes() for f in Path(self.folder.name).iterdir()]
        held = " ".join(b"".join(files).decode("utf-8", "replace").lower().split())
        for text in self.erased - {""}:
            assert text.lower() not in held
        assert self.rows("SELECT 1 FROM vectors WHERE item NOT IN (SELECT number FROM items)") == []


def gists(pages: list[int]) -> st.SearchStrategy[Gisted]:
    """Gists of pages, of gists, of gists of gists, by words that may be the same twice."""
    words = st.sampled_from(["It tells of mills.", "It tells of lamps.", "Little happens."])
    page = st.sampled_from(pages)
    lowest = st.builds(Gisted, words, st.tuples(page))
    above = st.lists(lowest, min_size=2, max_size=3).map(tuple)
    sections = st.builds(Gisted, words, above)
    return st.one_of(
        lowest, sections, st.builds(Gisted, words, st.tuples(sections, st.one_of(lowest, sections)))
    )


def level(made: int | Gisted) -> float:
    """1 for a page; of a gist, the mean of what it was made from, each once, plus 1."""
    if isinstance(made, int):
        return 1.0
    each = [level(source) for source in dict.fromkeys(made.sources)]
    return sum(each) / len(each) + 1


def pages_under(item: int, below: dict[int, set[int]], kinds: dict[int, Iterable[str]]) -> set[int]:
    found: set[int] = set()
    for source in below.get(item, ()):
        found |= {source} if kinds[source] == "page" else pages_under(source, below, kinds)
    return found


Remembering.TestCase.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, phases=[Phase.explicit, Phase.generate]
)
TestRemembering = Remembering.TestCase
