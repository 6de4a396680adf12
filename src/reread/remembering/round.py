"""One question put to one document or several: recalled for, answered, and learned from.

What the gists lead to and what the thoughts know come into one prompt under one budget. A question
costs one call more than without thoughts; one that was asked before is answered with the thoughts
of that time, so all its calls are kept ones. Failing to learn from an answer never loses it.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reread import reading
from reread.errors import MalformedReply, ModelError
from reread.evidence import Note
from reread.ports import Retriever
from reread.reading import Desk
from reread.remembering.keeping import Scope, keep
from reread.remembering.members import (
    bounds,
    chunked,
    documents_of,
    numbers_of,
    pages_at,
    reached,
    standing,
)
from reread.store import Store
from reread.store.books import DocumentCalls
from reread.store.changes import Draft
from reread.store.questions import Asked
from reread.text import count_words, plain, sentences
from reread.thoughts import loop, retrieved
from reread.thoughts.grounding import Evidence
from reread.thoughts.settings import Manner
from reread.types import Answer, Citation, Fallback, GistMemory, Thought

_log = logging.getLogger(__name__)

Hear = Callable[[str], None]
_PARTIAL = " (Some of what this rests on is gone or has changed since.)"
_MOST_SHOWN_CHARS = 3_000
_AT_ONCE = 32  # pages embedded before it is told how far that is


@dataclass(slots=True, kw_only=True)
class Round:
    """What a question is worked on with.

    `calls` sees the key of every call that `desk` makes. `made` is recorded with the thought.
    """

    store: Store
    retriever: Retriever
    manner: Manner
    desk: Desk
    calls: DocumentCalls
    memory: GistMemory
    made: str = "asked"
    _failed: Fallback | None = field(default=None, init=False)

    def ask(self, question: str, options: Sequence[str] = (), hear: Hear | None = None) -> Answer:
        """The answer, with the thoughts it was made with and the one it left.

        `hear` is told the answer's reply as it comes.

        Raises:
            Error: as `reading.answer` does.
        """
        key = self._key(question, options)
        before = self.store.questions.asked(key)
        known = self._still(before) if before else None
        question = before.question if before else question
        answer = self._answered(question, options, known, hear)
        if self._failed is not None:
            return replace(answer, fallbacks=(*answer.fallbacks, self._failed))
        if before and known is not None:
            return replace(answer, thought_kept=before.kept)
        if answer.grounded:
            answer = self._learned(question, answer)
        if self._failed is not None:
            return answer  # asked again it is learned from, its calls being kept
        asked = Asked(question, answer.thoughts_used, answer.thought_kept)
        about = documents_of(self.memory)
        self.store.questions.put_asked(key, about, asked, list(self.calls.keys))
        return answer

    def _answered(
        self,
        question: str,
        options: Sequence[str],
        known: dict[int, Thought] | None,
        hear: Hear | None,
    ) -> Answer:
        if self.manner.chunk_tokens:
            return self._answered_from_chunks(question, known)
        thoughts = self._helpful(question) if known is None else known
        found = [self._note(number, thought) for number, thought in thoughts.items()]
        notes = loop.within_budget(self.desk, self.manner, found)
        self.calls.tell([note.id for note in notes])
        return reading.answer(self.desk, self.memory, question, options, hear, notes)

    def _answered_from_chunks(self, question: str, known: dict[int, Thought] | None) -> Answer:
        """The paper's own way: chunks and thoughts retrieved together, no gists."""
        self.memory = chunked(self.memory, self.manner.chunk_tokens)
        ranked, thoughts = self._recalled(question)
        if known is not None:  # as then, the pages being as they were
            thoughts = known
        pages = self.memory.pages
        by_number = dict(zip(numbers_of(self.store, self.memory), pages, strict=True))
        notes = {number: self._note(number, thought) for number, thought in thoughts.items()}
        items = [by_number[n] if n in by_number else notes.get(n) for n in ranked]
        chosen = [item for item in items if item is not None]
        self.calls.tell([item.id for item in chosen if isinstance(item, Note)])
        return retrieved.answer(self.desk, self.manner, self.memory, question, chosen)

    def _helpful(self, question: str) -> dict[int, Thought]:
        """The thoughts recalled; none, which is recorded, where the embedder cannot be had."""
        try:
            return self._recalled(question)[1]
        except ModelError as error:
            self._failed = Fallback(phase="recall", page=0, reason=error.message)
            return {}

    # -- recall ---------------------------------------------------------------------------------

    def _still(self, before: Asked) -> dict[int, Thought] | None:
        """The thoughts it was answered with then, None when one of them is not as it was."""
        found = self._used(before.used)
        as_then = all(t.support in ("sound", "unsupported") for t in found.values())
        return found if as_then and len(found) == len(before.used) else None

    def _used(self, ids: Sequence[str]) -> dict[int, Thought]:
        """The thoughts of these ids that are still there, in this order."""
        numbers = self.store.items.numbers(ids)
        found = self._thoughts(numbers.values())
        return {numbers[i]: found[numbers[i]] for i in ids if numbers.get(i) in found}

    def _recalled(self, question: str) -> tuple[list[int], dict[int, Thought]]:
        """The items most like the question in their order, and the usable thoughts among them."""
        numbers = numbers_of(self.store, self.memory)
        resting = self._resting()
        if not (resting or self.manner.chunk_tokens):
            return numbers, {}  # nothing to recall: nothing is embedded, nothing differs
        self._add({numbers[k]: self.memory.pages[k].text for k in self._near(question)})
        hits = loop.recall(self.manner, self.retriever, question, resting | set(numbers))
        order = [hit.item for hit in hits]
        found = self._thoughts(order)
        return order, {n: found[n] for n in order if n in found and self._usable(found[n])}

    def _usable(self, thought: Thought) -> bool:
        """Whether it stands, or nothing that it rests on is known where that is not asked for."""
        stands = thought.support in ("sound", "partial")
        return stands or (thought.support == "unsupported" and not self.manner.grounding)

    def _resting(self) -> set[int]:
        """The thoughts that may be recalled, by their numbers."""
        if self.manner.everywhere:
            return self.store.items.resting_anywhere()
        resting = self.store.items.resting_on(documents_of(self.memory))
        return resting if self.manner.grounding else resting | self.store.items.rootless()

    def _note(self, number: int, thought: Thought) -> Note:
        mark = _PARTIAL if thought.support == "partial" else ""
        others = self.store.items.elsewhere([number], documents_of(self.memory))
        return Note(
            id=thought.id,
            text=thought.text + mark,
            pages=pages_at(self.memory, thought.places),
            elsewhere=others.get(number, ()),
        )

    def _thoughts(self, numbers: Collection[int]) -> dict[int, Thought]:
        return self.store.items.thoughts_by_number(numbers, documents_of(self.memory))

    def _near(self, question: str) -> Iterable[int]:
        """The pages that are compared with it, by index.

        Chunks are found by their vectors, so all of them are. Pages are found by their gists; those
        whose gists share most words with it suffice to tell how near a thought must be.
        """
        if self.manner.chunk_tokens:
            return range(len(self.memory.pages))
        return self.desk.rank(self.memory.gists, question)[: self.manner.k]

    def _add(self, pages: Mapping[int, str]) -> None:
        """Makes these texts findable by the numbers of their items; of many it is told how far."""
        texts = [(n, text.strip()) for n, text in pages.items() if text.strip()]
        total, done = sum(count_words(text) for _, text in texts), 0
        for at in range(0, len(texts), _AT_ONCE):
            some = texts[at : at + _AT_ONCE]
            self.retriever.add(some)
            done += sum(count_words(text) for _, text in some)
            if len(texts) > _AT_ONCE:
                self.desk.report("embed", done, total)

    def _key(self, question: str, options: Sequence[str]) -> str:
        """What makes a question the same one again, its spelling aside."""
        settings = self.desk.settings
        parts = [
            self.memory.document.id,
            hashlib.sha256("\0".join(self.memory.gists).encode()).hexdigest(),
            [plain(question), *options],
            [settings.strategy, settings.max_pages, settings.answer_each_step],
            [self.desk.profile.name, self.desk.model.name],
            [self.manner.name, self.retriever.name],
            [str(self.desk.prompts[n].id) for n in (self.manner.distil, self.desk.profile.answer)],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    # -- learning -------------------------------------------------------------------------------

    def _learned(self, question: str, answer: Answer) -> Answer:
        """The answer with the thought it left, or with the reason why it left none, if unusual."""
        try:
            kept = self._distilled(question, answer)
        except ModelError as error:
            lost = Fallback(phase="distil", page=0, reason=error.message)
            self._failed = None if isinstance(error, MalformedReply) else lost
            return replace(answer, fallbacks=(*answer.fallbacks, lost))
        return replace(answer, thought_kept=kept.id if kept else None)

    def _distilled(self, question: str, answer: Answer) -> Thought | None:
        evidence, shown = self._evidence(answer)
        if not evidence or (self.manner.grounding and not shown):
            return None
        beside = "\n".join(answer.memory.gists)
        proposal = loop.propose(
            self.desk, self.manner, question, answer.text, shown, evidence, beside
        )
        if proposal.reason:
            _log.info("not kept: %s", proposal.reason)
            return None
        sources = set(proposal.sources)
        if self.manner.grounding:
            sources |= {e.item for e in evidence if self._cited(e, answer)}
        return self.keep(proposal.text, question, answer.text, tuple(sorted(sources)))

    def keep(
        self, text: str, question: str, answer: str, sources: tuple[int, ...]
    ) -> Thought | None:
        """The thought, if it does not stand too far from pages and says something new."""
        draft = Draft(
            text=text,
            question=question,
            answer=answer,
            sources=sources,
            about={
                "made": self.made,
                "model": self.desk.model.name,
                "manner": self.manner.name,
                "prompts": [str(self.desk.prompts[self.manner.distil].id)],
            },
            said_in=tuple(self.calls.keys),
        )
        scope = Scope(items=self._scope, asked_about=documents_of(self.memory))
        kept, reason = keep(self.store, self.retriever, self.manner, draft, scope)
        if reason:
            _log.info("not kept: %s", reason)
        return kept

    def _scope(self) -> set[int]:
        return self._resting() | set(numbers_of(self.store, self.memory))

    def _evidence(self, answer: Answer) -> tuple[list[Evidence], str]:
        """What the thought is checked against, and what of it the model is shown."""
        memory = answer.memory
        self.memory = memory  # its pages may have been merged to fit
        named = numbers_of(self.store, memory)
        numbers = dict(zip((p.number for p in memory.pages), named, strict=True))
        used = self._used(answer.thoughts_used)
        pages = {p.number: p for p in memory.pages}
        found = [Evidence(item=numbers[n], text=pages[n].text) for n in answer.pages_read]
        cited = standing(memory, answer.citations)
        looked = {*answer.pages_read, *(c.page for c in cited)}
        self._add({numbers[n]: pages[n].text for n in sorted(looked)})
        found += [Evidence(item=number, text=t.text) for number, t in used.items()]
        if not self.manner.grounding:
            return found, ""
        for number in dict.fromkeys(c.page for c in cited if c.page not in answer.pages_read):
            gist = self.store.items.gist(reached(answer, number, numbers))
            found += [Evidence(item=gist, text=pages[number].text)] if gist else []
        passages = [_around(memory, c) for c in cited]
        passages += [t.text for t in used.values()]
        return found, "\n\n".join(dict.fromkeys(passages))[:_MOST_SHOWN_CHARS] if cited else ""

    def _cited(self, evidence: Evidence, answer: Answer) -> bool:
        """Whether a quote that stands was found in this page or through this gist."""
        quoted = [c.quote for c in standing(answer.memory, answer.citations)]
        return any(q in evidence.text for q in quoted) and not self._is_thought(evidence.item)

    def _is_thought(self, number: int) -> bool:
        return bool(self.store.items.thoughts([number]))


def _around(memory: GistMemory, citation: Citation) -> str:
    """The sentences that a quote stands in, with one before and one after."""
    document = memory.document
    first, last = bounds(memory, citation.start)  # what follows may be another document
    low, high = max(first, citation.start - 400), min(last, citation.end + 400)
    spans = sentences(document.text, low, high)
    touched = [k for k, (a, b) in enumerate(spans) if a < citation.end and b > citation.start] or [
        0
    ]
    first, last = max(0, touched[0] - 1), min(len(spans) - 1, touched[-1] + 1)
    return " ".join(document.text[spans[first][0] : spans[last][1]].split()) if spans else ""
