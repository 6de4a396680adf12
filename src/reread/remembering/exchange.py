"""Thoughts from and for other libraries and models, as JSON lines.

A record that comes in is believed no more than an answer of one's own: a thought must stand in
pages of this library, those it names or those that are found for it. One that stands in none is
kept as `unsupported`, shown as such, and not used in answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from reread.errors import ModelError, UsageError
from reread.ports import Retriever
from reread.reading import quotes
from reread.remembering.round import Round
from reread.store import Store
from reread.store.changes import Draft
from reread.text import clean
from reread.thoughts import loop
from reread.thoughts.grounding import Evidence, grounded
from reread.types import Document, Place, Thought

Opened = Callable[[str], Document | None]  # a document by its id
_MOST_PAGES = 12
_MOST_OPEN = 4  # documents in memory at a time, as their thoughts come
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
    place = _standing(store, page)
    if place is None:
        return {}
    found = document(place.document)
    return {
        "document": place.document,
        "title": found.title if found else "",
        "start": place.start,
        "end": place.end,
    }


def _standing(store: Store, page: str) -> Place | None:
    """Where a page stands, in a current document rather than in an earlier version."""
    places = store.items.places_of(page)
    return next((p for p in places if p.current), places[0] if places else None)


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
        UsageError: a record is neither; those before it are kept.
    """
    taken, names = Taken(), dict[str, int]()
    document = lru_cache(_MOST_OPEN)(store.document)
    once = cache(findable)
    for number, entry in enumerate(entries, 1):
        record = _checked(entry, number)
        if long := [key for key, text in record.items() if len(text) > LONGEST]:
            taken.refused.append((number, f"its {long[0]} has more than {LONGEST:,} characters"))
            continue
        sources = _named(store, entry, names, document)
        if not sources:
            once()
        found = _pages(store, retriever, record["thought"] or record["answer"], sources)
        retriever.add([(e.item, e.text) for e in found])
        if not record["thought"]:
            record["thought"], reason = _distilled(store, distiller, record, found, document)
            if reason:
                taken.refused.append((number, reason))
                continue
        verdict = grounded(record["thought"], record["question"], found)
        rests = tuple(sorted(verdict.items))
        newest = store.items.newest()
        thought, like = _kept(store, retriever, record, rests)
        if thought is None:
            taken.refused.append((number, f"it says nothing new ({like})"))
            continue
        own = store.items.numbers([thought.id]).get(thought.id, 0)  # 0: forgotten meanwhile
        if isinstance(entry.get("id"), str) and own:
            names[str(entry["id"])] = own
        if own <= newest:
            taken.known.append(thought.id)
        else:
            (taken.sound if rests else taken.unsupported).append(thought.id)
    return taken


def _checked(entry: Mapping[str, Any], number: int) -> dict[str, str]:
    record = {}
    if not isinstance(entry, Mapping):
        raise UsageError(f"record {number} is no object", hint="Give a list of them")
    for key in ("thought", "question", "answer"):
        value = entry.get(key, "")
        if not isinstance(value, str):
            raise UsageError(f"record {number}: {key} is no text")
        record[key] = " ".join(clean(value).split())
    if not record["thought"] and not (record["question"] and record["answer"]):
        raise UsageError(
            f"record {number} holds neither a thought nor a question with its answer",
            hint='Lines look like {"question": "…", "answer": "…"} or {"thought": "…"}',
        )
    return record


def _named(
    store: Store, entry: Mapping[str, Any], names: Mapping[str, int], document: Opened
) -> set[int]:
    """The items that a record names as its sources and that are here."""
    found: set[int] = set()
    listed = entry.get("sources", [])
    for source in listed if isinstance(listed, list) else []:
        if not isinstance(source, Mapping):
            continue
        if (number := names.get(str(source.get("thought")))) is not None:
            found.add(number)
        start, end = source.get("start"), source.get("end")
        here = document(str(source.get("document")))
        if not (here and isinstance(start, int) and isinstance(end, int)):
            continue
        if 0 <= start < (end := min(end, len(here.text))):
            found |= set(store.items.pages(here, [(start, end)]))
    return found


def _pages(store: Store, retriever: Retriever, said: str, named: set[int]) -> list[Evidence]:
    """The items named, or the pages most like what is said."""
    numbers = named
    if not named:
        hits = retriever.nearest(retriever.encode(said, "query"), _MOST_PAGES)
        numbers = {hit.item for hit in hits}
    texts = dict(store.vectors.texts(numbers))
    pages = {n for n, i in store.items.ids(numbers).items() if named or i.startswith("p")}
    return [Evidence(item=n, text=texts[n]) for n in sorted(pages) if texts.get(n)]


def _distilled(
    store: Store,
    distiller: Callable[[Document], Round],
    record: Mapping[str, str],
    found: list[Evidence],
    document: Opened,
) -> tuple[str, str]:
    """The thought that a question and its answer teach, or why there is none."""
    ids = store.items.ids([e.item for e in found])
    places = [place for i in ids.values() if (place := _standing(store, i))]
    within = [(p, d) for p in places if (d := document(p.document))]
    if not within:
        return "", "no page of this library is like it"
    shown = [quotes.best(record["answer"], d, p.start, p.end) for p, d in within]
    work = distiller(within[0][1])
    try:
        proposal = loop.propose(
            work.desk,
            work.manner,
            record["question"],
            record["answer"],
            "\n\n".join(dict.fromkeys(s for s in shown if s)),
            found,
        )
    except ModelError as error:
        return "", error.message
    return proposal.text, proposal.reason


def _kept(
    store: Store, retriever: Retriever, record: Mapping[str, str], sources: tuple[int, ...]
) -> tuple[Thought | None, str]:
    encoded = retriever.encode(record["thought"], "passage")
    epsilon = retriever.epsilon
    like: list[str] = []

    def redundant() -> bool:
        hits = retriever.nearest(encoded, 1)
        if hits and hits[0].score >= epsilon:
            like.extend(store.items.ids([hits[0].item]).values())
        return bool(like)

    draft = Draft(
        text=record["thought"],
        question=record["question"],
        answer=record["answer"],
        sources=sources,
        about={"made": "imported", "epsilon": epsilon},
        embedder=retriever.name,
        vectors=retriever.vectors(encoded),
    )
    return store.items.keep(draft, redundant), "".join(like)
