"""Thoughts from and for other libraries and models, as JSON lines.

A record that comes in is believed no more than an answer of one's own: a thought must stand in
pages of this library, those it names or those that are found for it. One that stands in none is
kept as `unsupported`, shown as such, and not used in answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from reread.errors import ModelError, UsageError
from reread.ports import Retriever
from reread.reading import quotes
from reread.remembering.keeping import Scope, keep
from reread.remembering.round import Round
from reread.store import Store
from reread.store.changes import Draft
from reread.text import one_line
from reread.thoughts import loop
from reread.thoughts.grounding import Evidence, grounded
from reread.thoughts.settings import manner
from reread.types import Document, Thought

Opened = Callable[[str], Document | None]  # a document by its id
_MOST_PAGES = 12
_MOST_OPEN = 4  # documents in memory at a time, as their thoughts come
_MOST_SOURCES = 64  # of one record
_LONGEST_PAGE = 50_000  # characters; a longer span is no page that anyone read
LONGEST = 4_000  # characters of a thought, a question or an answer that comes in


@dataclass(slots=True)
class Taken:
    """What became of records: ids of the thoughts kept, and (record, reason) of those that not."""

    sound: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)


def records(store: Store) -> Iterator[dict[str, Any]]:
    """Every thought as a record; what it rests on stands before it."""
    document = lru_cache(_MOST_OPEN)(store.document)
    for thought in store.items.thoughts():
        sources: list[dict[str, Any]] = []
        for source in thought.sources:
            if source.startswith("t"):
                sources.append({"thought": source})
            elif source.startswith("g"):
                sources += [_place(store, p, document) for p in store.items.roots_of(source)]
            else:
                sources.append(_place(store, source, document))
        yield {
            "id": thought.id,
            "thought": thought.text,
            "question": thought.question,
            "answer": thought.answer,
            "level": thought.level,
            "support": thought.support,
            "sources": [s for s in sources if s],
            "made": thought.made,
            "model": thought.model,
            "embedder": thought.embedder,
            "prompts": list(thought.prompts),
            "at": thought.at,
        }


def _place(store: Store, page: str, document: Opened) -> dict[str, Any]:
    place = store.items.place_of(page)
    if place is None:
        return {}
    found = document(place.document)
    return {
        "document": place.document,
        "title": found.title if found else "",
        "start": place.start,
        "end": place.end,
    }


def take(
    store: Store,
    retriever: Retriever,
    distiller: Callable[[Document], Round],
    findable: Callable[[], None],
    entries: Iterable[Mapping[str, Any]],
) -> Taken:
    """Takes thoughts as they are, and distils questions with answers where the model agrees.

    Args:
        store: Where they go.
        retriever: Finds pages for those that name none.
        distiller: Makes what a question and answer about a document are distilled with.
        findable: Makes every page findable; called when the first record names none.
        entries: Records with `thought`, or with `question` and `answer`.

    Raises:
        UsageError: a record is neither; nothing was taken.
    """
    checked = [(entry, _checked(entry, number)) for number, entry in enumerate(entries, 1)]
    work = _Taking(store, retriever, distiller, cache(findable))
    for number, (entry, record) in enumerate(checked, 1):
        if reason := work.take(entry, record):
            work.taken.refused.append((number, reason))
    return work.taken


def _checked(entry: Mapping[str, Any], number: int) -> dict[str, str]:
    record = {}
    if not isinstance(entry, Mapping):
        raise UsageError(
            f"record {number} is no object, so nothing was taken", hint="Give a list of them"
        )
    for key in ("thought", "question", "answer"):
        value = entry.get(key, "")
        if not isinstance(value, str):
            raise UsageError(f"record {number}: {key} is no text, so nothing was taken")
        record[key] = one_line(value)
    if not record["thought"] and not (record["question"] and record["answer"]):
        raise UsageError(
            f"record {number} holds neither a thought nor a question with its answer, so nothing "
            "was taken",
            hint='Lines look like {"question": "…", "answer": "…"} or {"thought": "…"}',
        )
    return record


@dataclass(frozen=True, slots=True)
class _Source:
    """What a record may rest on: an item, or a span of a document that becomes one when it does."""

    text: str
    item: int = 0
    document: Document | None = None
    span: tuple[int, int] = (0, 0)


class _Taking:
    """The records of one import, taken one after the other."""

    def __init__(
        self,
        store: Store,
        retriever: Retriever,
        distiller: Callable[[Document], Round],
        findable: Callable[[], None],
    ) -> None:
        self.taken = Taken()
        self._store = store
        self._retriever = retriever
        self._distiller = distiller
        self._findable = findable
        self._document = lru_cache(_MOST_OPEN)(store.document)
        self._names: dict[str, int] = {}  # the items that earlier records became, by their ids

    def take(self, entry: Mapping[str, Any], record: dict[str, str]) -> str:
        """Takes one record; the reason why not, where it is not taken."""
        if long := [key for key, text in record.items() if len(text) > LONGEST]:
            return f"its {long[0]} has more than {LONGEST:,} characters"
        listed = entry.get("sources", [])
        if isinstance(listed, list) and len(listed) > _MOST_SOURCES:
            return f"it names more than {_MOST_SOURCES} sources"
        if there := self._there(entry, record["thought"]):
            self.taken.known.append(there)
            return ""
        sources = self._named(listed) or self._found(record["thought"] or record["answer"])
        evidence = [Evidence(item=k, text=source.text) for k, source in enumerate(sources)]
        if not record["thought"]:
            record["thought"], reason = self._distilled(record, sources, evidence)
            if reason:
                return reason
        verdict = grounded(record["thought"], record["question"], evidence)
        rests = tuple(sorted({self._item(sources[k]) for k in verdict.items}))
        newest = self._store.items.newest()  # the pages it rests on are there
        thought, reason = self._kept(record, rests)
        if thought is None:
            return reason
        own = self._store.items.numbers([thought.id]).get(thought.id, 0)  # 0: forgotten meanwhile
        if isinstance(entry.get("id"), str) and own:
            self._names[str(entry["id"])] = own
        if own <= newest:
            self.taken.known.append(thought.id)
        else:
            (self.taken.sound if rests else self.taken.unsupported).append(thought.id)
        return ""

    def _there(self, entry: Mapping[str, Any], text: str) -> str:
        """The id of a record that is a thought of this library, as it stands; else ""."""
        own = str(entry.get("id"))
        number = self._store.items.numbers([own]).get(own, 0)
        said = dict(self._store.vectors.texts(self._store.items.standing([number])))
        if said.get(number) != text:
            return ""
        self._names[own] = number
        return own

    def _named(self, listed: Any) -> list[_Source]:
        """The sources that a record names and that are here."""
        found: list[_Source] = []
        for source in listed if isinstance(listed, list) else []:
            if not isinstance(source, Mapping):
                continue
            if (number := self._names.get(str(source.get("thought")))) is not None:
                found += self._items(self._store.items.standing([number]))
            start, end = source.get("start"), source.get("end")
            here = self._document(str(source.get("document")))
            if not (here and isinstance(start, int) and isinstance(end, int)):
                continue
            end = min(end, len(here.text))
            if 0 <= start < end <= start + _LONGEST_PAGE:
                found.append(_Source(here.text[start:end], document=here, span=(start, end)))
        return found

    def _found(self, said: str) -> list[_Source]:
        """The pages most like what is said."""
        self._findable()
        hits = self._retriever.nearest(self._retriever.encode(said, "query"), _MOST_PAGES)
        ids = self._store.items.ids([hit.item for hit in hits])
        return self._items([number for number, i in ids.items() if i.startswith("p")])

    def _items(self, numbers: Collection[int]) -> list[_Source]:
        texts = self._store.vectors.texts(set(numbers))
        return [_Source(text, item=number) for number, text in texts if text]

    def _item(self, source: _Source) -> int:
        """The number of the item that a source is, findable from now on."""
        number = source.item
        if source.document is not None:
            (number,) = self._store.items.pages(source.document, [source.span])
            self._retriever.add([(number, source.text.strip())])
        return number

    def _distilled(
        self, record: Mapping[str, str], sources: Sequence[_Source], evidence: Sequence[Evidence]
    ) -> tuple[str, str]:
        """The thought that a question and its answer teach, or why there is none."""
        within = [place for source in sources if (place := self._standing(source))]
        if not within:
            return "", "no page of this library is like it"
        shown = [quotes.best(record["answer"], d, start, end) for d, start, end in within]
        work = self._distiller(within[0][0])
        try:
            proposal = loop.propose(
                work.desk,
                work.manner,
                record["question"],
                record["answer"],
                "\n\n".join(dict.fromkeys(s for s in shown if s)),
                evidence,
            )
        except ModelError as error:
            return "", error.message
        return proposal.text, proposal.reason

    def _standing(self, source: _Source) -> tuple[Document, int, int] | None:
        """Where a source stands, if it is a page."""
        if source.document is not None:
            return source.document, *source.span
        (page,) = self._store.items.ids([source.item]).values() or ("",)
        place = self._store.items.place_of(page)
        here = self._document(place.document) if place else None
        return (here, place.start, place.end) if here and place else None

    def _kept(
        self, record: Mapping[str, str], rests: tuple[int, ...]
    ) -> tuple[Thought | None, str]:
        draft = Draft(
            text=record["thought"],
            question=record["question"],
            answer=record["answer"],
            sources=rests,
            about={"made": "imported"},
        )
        if known := self._store.items.known(draft):
            return known, ""
        return keep(self._store, self._retriever, manner("default"), draft, Scope())
