"""What is remembered: pages, gists and thoughts as items with sources, in the library's file.

    item ── sources ──> items with smaller numbers          (so nothing rests on itself)
     └───── roots ────> pages ── places ──> spans of documents

An item's level is the mean of its sources' plus 1, a page's is 1; its roots are the pages that its
sources lead to. A page is known by its text, so the same page in two documents, or in two versions
of one, is one item with several places. Whether a thought's evidence still stands is never stored:
it follows from the places of its roots, so nothing is marked sound by oversight. A document is
current while its name stands for it; what came by standard input shares its name with everything
else that did, so there a later text replaces nothing.

Invariant: what is erased takes along, in one transaction, every item that rests on nothing else,
its vectors, and the kept calls that told of it. What still rests on something else stays, with
`lost` counting what is gone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reread.errors import SourceNotFound, UsageError
from reread.store import changes
from reread.store.changes import Draft, Gisted, number_of
from reread.store.rows import listed
from reread.store.versions import carry_roots
from reread.types import Document, Place, Support, Thought

if TYPE_CHECKING:
    from reread.store import Store

Pair = tuple[int, str]  # an item's number and id
_BELOW = {
    table: f"SELECT x.item, x.{column}, i.id FROM {table} x JOIN items i ON i.number = x.{column} "  # noqa: S608
    f"WHERE ?1 IS NULL OR x.item IN (SELECT value FROM json_each(?1)) ORDER BY x.item, x.{column}"
    for table, column in (("sources", "source"), ("roots", "page"))
}


class Items:
    """The items of an open library file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # -- pages and gists ------------------------------------------------------------------------

    def pages(self, document: Document, spans: Sequence[tuple[int, int]]) -> list[int]:
        """The numbers of the pages that stand at these spans, made where they are new."""
        ids = [page_id(document.text[a:b]) for a, b in spans]
        known = self._placed(document.id)
        if all((i, a) in known for i, (a, _) in zip(ids, spans, strict=True)):
            return [known[i, a] for i, (a, _) in zip(ids, spans, strict=True)]
        with self._store._writing() as db:
            if not db.execute("SELECT 1 FROM documents WHERE id = ?", (document.id,)).fetchone():
                raise SourceNotFound(f"{document.title!r} is no longer in the library")
            numbers = [changes.page(db, i) for i in ids]
            db.executemany(
                "INSERT OR IGNORE INTO places VALUES (?,?,?,?)",
                [(n, document.id, a, b) for n, (a, b) in zip(numbers, spans, strict=True)],
            )
        return numbers

    def gist(self, made: Gisted) -> int | None:
        """The number of a gist, it and the gists that it was made from made where they are new.

        None when a page under it was removed meanwhile; nothing is made then.
        """
        with self._store._writing() as db:
            if not all(changes.there(db, page) for page in made.pages()):
                return None
            return changes.gist(db, made)

    def _placed(self, document_id: str) -> dict[tuple[str, int], int]:
        rows = self._store._all(
            "SELECT i.id, p.start, i.number FROM places p JOIN items i ON i.number = p.item "
            "WHERE p.document_id = ?",
            document_id,
        )
        return {(i, start): number for i, start, number in rows}

    # -- thoughts -------------------------------------------------------------------------------

    def keep(self, draft: Draft, refused: Callable[[], Any] = lambda: None) -> Thought | None:
        """The thought, kept; None when `refused`, asked inside the transaction, says why not.

        None too when something it rests on was forgotten meanwhile. One that is there already
        word for word is returned as it is.
        """
        thought_id = self._id_of(draft)
        with self._store._writing() as db:
            number = number_of(db, thought_id)
            if number is None:
                there = [n for n in set(draft.sources) if changes.there(db, n)]
                if len(there) < len(set(draft.sources)) or refused():
                    return None
                number = changes.insert_thought(db, thought_id, draft, draft.sources)
                carry_roots(db, number)
            changes.tell(db, [number], draft.said_in)
        kept = self.thoughts([number])  # none where another process has forgotten it already
        return kept[0] if kept else None

    def known(self, draft: Draft) -> Thought | None:
        """The thought that says the same word for word, on the same sources."""
        return next(iter(self.thoughts(self.numbers([self._id_of(draft)]).values())), None)

    def _id_of(self, draft: Draft) -> str:
        sources = sorted(self.ids(draft.sources).values())
        return "t" + changes.digest(draft.text, draft.question, *sources)

    def thought(self, thought_id: str) -> Thought:
        """The thought with this id, or the one whose id begins so.

        Raises:
            SourceNotFound: there is none.
            UsageError: several begin so.
        """
        begins = thought_id.replace("%", "").replace("_", "") + "%"
        rows = self._store._all(
            "SELECT number, id FROM items WHERE kind = 'thought' AND id LIKE ? LIMIT 9", begins
        )
        exact = [row for row in rows if row[1] == thought_id] or rows
        if not exact or len(thought_id) < 2:
            raise SourceNotFound(f"there is no thought {thought_id!r}", hint="See `thoughts list`")
        if len(exact) > 1:
            raise UsageError(f"{thought_id!r} could mean {len(exact)} thoughts", hint="Say more")
        found = self.thoughts([exact[0][0]])
        if not found:  # forgotten since
            raise SourceNotFound(f"there is no thought {thought_id!r}", hint="See `thoughts list`")
        return found[0]

    def thoughts(
        self, numbers: Collection[int] | None = None, *, asked_about: Collection[str] = ()
    ) -> list[Thought]:
        """These thoughts, or all, in the order they came.

        Documents `asked_about` count as current whatever their names stand for by now.
        """
        return list(self.thoughts_by_number(numbers, asked_about).values())

    def thoughts_by_number(
        self, numbers: Collection[int] | None, asked_about: Collection[str] = ()
    ) -> dict[int, Thought]:
        """The same under their numbers; those forgotten meanwhile are not among them."""
        wanted = None if numbers is None else listed(numbers)
        chosen = self._store._all(
            "SELECT * FROM items WHERE kind = 'thought' "
            "AND (?1 IS NULL OR number IN (SELECT value FROM json_each(?1))) ORDER BY number",
            wanted,
        )
        sources = self._below("sources", wanted)
        roots = self._below("roots", wanted)
        pages = {page for pairs in roots.values() for page, _ in pairs}
        places = self._places(pages, asked_about)
        return {
            row[0]: _thought(row, sources.get(row[0], []), roots.get(row[0], []), places)
            for row in chosen
        }

    def resting_on(self, documents: Collection[str]) -> set[int]:
        """The numbers of the thoughts with a root in one of these documents."""
        rows = self._store._all(
            "SELECT DISTINCT r.item FROM places p JOIN roots r ON r.page = p.item "
            "JOIN items i ON i.number = r.item WHERE i.kind = 'thought' "
            "AND p.document_id IN (SELECT value FROM json_each(?))",
            listed(documents),
        )
        return {number for (number,) in rows}

    def resting_anywhere(self) -> set[int]:
        """The numbers of all thoughts."""
        rows = self._store._all("SELECT number FROM items WHERE kind = 'thought'")
        return {number for (number,) in rows}

    def elsewhere(
        self, numbers: Collection[int], documents: Collection[str]
    ) -> dict[int, tuple[tuple[str, str], ...]]:
        """(id, title) of the current documents that roots stand in which stand in none of these."""
        rows = self._store._all(
            "SELECT DISTINCT r.item, d.id, d.title FROM roots r JOIN places p ON p.item = r.page "
            "JOIN documents d ON d.id = p.document_id "
            "WHERE r.item IN (SELECT value FROM json_each(?1)) "
            "AND (d.origin = '-' OR EXISTS (SELECT 1 FROM aliases a WHERE a.document_id = d.id)) "
            "AND NOT EXISTS (SELECT 1 FROM places q WHERE q.item = r.page "
            "AND q.document_id IN (SELECT value FROM json_each(?2))) ORDER BY d.added_at, d.id",
            listed(numbers),
            listed(documents),
        )
        found: dict[int, list[tuple[str, str]]] = {}
        for item, document_id, title in rows:
            found.setdefault(item, []).append((document_id, title))
        return {item: tuple(others) for item, others in found.items()}

    def numbers(self, ids: Collection[str]) -> dict[str, int]:
        """The number of each of these ids that is there."""
        return dict(
            self._store._all(
                "SELECT id, number FROM items WHERE id IN (SELECT value FROM json_each(?))",
                listed(ids),
            )
        )

    def ids(self, numbers: Collection[int]) -> dict[int, str]:
        """The id of each of these numbers that is there."""
        return dict(
            self._store._all(
                "SELECT number, id FROM items WHERE number IN (SELECT value FROM json_each(?))",
                listed(numbers),
            )
        )

    def newest(self) -> int:
        """The number of the newest item, 0 where there is none."""
        return self._store._one("SELECT MAX(number) FROM items")[0] or 0

    def place_of(self, item_id: str) -> Place | None:
        """Where a page stands, in a current document rather than in an earlier version."""
        places = self._places_of(item_id)
        return next((p for p in places if p.current), places[0] if places else None)

    def _places_of(self, item_id: str) -> list[Place]:
        numbers = set(self.numbers([item_id]).values())
        return next(iter(self._places(numbers, ()).values()), [])

    def text_of(self, item_id: str) -> tuple[str, list[Place]]:
        """What an item says, and where it stands if it is a page."""
        text = dict(self._store.vectors.texts(set(self.numbers([item_id]).values())))
        return next(iter(text.values()), "") or "", self._places_of(item_id)

    def sources_of(self, item_id: str) -> list[str]:
        """The ids of the direct sources of an item."""
        pairs = self._below("sources", listed(self.numbers([item_id]).values()))
        return [source for group in pairs.values() for _, source in group]

    def roots_of(self, item_id: str) -> list[str]:
        """The ids of the pages that an item rests on in the end."""
        pairs = self._below("roots", listed(self.numbers([item_id]).values()))
        return [page for group in pairs.values() for _, page in group]

    def standing(self, numbers: Collection[int], asked_about: Collection[str] = ()) -> set[int]:
        """Those of these items that answers may rest on: pages as they are now, and thoughts."""
        thoughts = self.thoughts_by_number(numbers, asked_about)
        places = self._places(set(numbers) - thoughts.keys(), asked_about)
        pages = {number for number, found in places.items() if any(p.current for p in found)}
        return pages | {n for n, t in thoughts.items() if t.support in ("sound", "partial")}

    def rootless(self) -> set[int]:
        """The numbers of the thoughts that never rested on anything."""
        rows = self._store._all(
            "SELECT number FROM items WHERE kind = 'thought' AND lost = 0 "
            "AND number NOT IN (SELECT item FROM sources)"
        )
        return {number for (number,) in rows}

    def levels(self, numbers: Collection[int]) -> dict[int, float]:
        """The level of each of these items that is there."""
        return dict(
            self._store._all(
                "SELECT number, level FROM items WHERE number IN (SELECT value FROM json_each(?))",
                listed(numbers),
            )
        )

    def level_of(self, item_id: str) -> float:
        """The level of an item; 1 where it is not there."""
        row = self._store._one("SELECT level FROM items WHERE id = ?", item_id)
        return float(row[0]) if row else 1.0

    def _below(self, table: str, wanted: str | None) -> dict[int, list[Pair]]:
        """The (number, id) of what each item rests on, by the item's number."""
        found: dict[int, list[Pair]] = {}
        for item, number, item_id in self._store._all(_BELOW[table], wanted):
            found.setdefault(item, []).append((number, item_id))
        return found

    def _places(
        self, pages: Collection[int], asked_about: Collection[str]
    ) -> dict[int, list[Place]]:
        rows = self._store._all(
            "SELECT p.item, p.document_id, p.start, p.end, (d.origin = '-' OR EXISTS "
            "(SELECT 1 FROM json_each(?) WHERE value = d.id) OR EXISTS "
            "(SELECT 1 FROM aliases a WHERE a.document_id = d.id)) "
            "FROM places p JOIN documents d ON d.id = p.document_id "
            "WHERE p.item IN (SELECT value FROM json_each(?)) ORDER BY d.added_at DESC, p.start",
            listed(asked_about),
            listed(pages),
        )
        found: dict[int, list[Place]] = {}
        for item, document, start, end, current in rows:
            place = Place(document=document, start=start, end=end, current=bool(current))
            found.setdefault(item, []).append(place)
        return found

    # -- forgetting -----------------------------------------------------------------------------

    def forget(self, thought_ids: Sequence[str]) -> list[str]:
        """The ids of all thoughts that are gone now: these, and those that rested on them alone."""
        numbers = self.numbers(thought_ids)
        with self._store._writing() as db:
            gone = changes.erase(db, numbers.values())
            self._store._to_shred()
        self._store._shred()
        return gone

    def edit(self, thought: Thought, draft: Draft) -> Thought:
        """The thought with other words, under another id; what rested on the old words lost them.

        Raises:
            SourceNotFound: it was forgotten meanwhile.
            UsageError: the new words are the old ones.
        """
        if draft.text == thought.text:
            raise UsageError("the thought says that already", hint="Give other words")
        with self._store._writing() as db:
            old = number_of(db, thought.id)
            if old is None:
                raise SourceNotFound(f"the thought {thought.id} was forgotten meanwhile")
            rows = db.execute("SELECT source FROM sources WHERE item = ?", (old,))
            sources = [row[0] for row in rows]
            thought_id = "t" + changes.digest(draft.text, draft.question, *sorted(thought.sources))
            number = number_of(db, thought_id) or changes.insert_thought(
                db, thought_id, draft, sources
            )
            db.execute("UPDATE items SET lost = ? WHERE number = ?", (thought.lost, number))
            changes.erase(db, [old], heirs=[number])
            self._store._to_shred()
        self._store._shred()
        return self.thought(thought_id)


def page_id(text: str) -> str:
    """The id of the page that says this: the same wherever it stands."""
    return "p" + changes.digest(text.strip())


def _thought(
    row: Any,
    sources: Sequence[Pair],
    roots: Sequence[Pair],
    places: Mapping[int, list[Place]],
) -> Thought:
    about = json.loads(row[6])
    standing = [any(p.current for p in places.get(page, [])) for page, _ in roots]
    support: Support = "sound" if not row[5] else "partial"
    if not roots:
        support = "unsupported" if not row[5] else "stale"
    elif not all(standing):
        support = "partial" if any(standing) else "stale"
    return Thought(
        id=row[1],
        text=row[4],
        question=about["question"],
        answer=about["answer"],
        level=row[3],
        sources=tuple(item_id for _, item_id in sources),
        roots=tuple(item_id for _, item_id in roots),
        places=tuple(place for page, _ in roots for place in places.get(page, [])),
        support=support,
        lost=row[5],
        made=about.get("made", "asked"),
        model=about.get("model", ""),
        embedder=about.get("embedder", ""),
        prompts=tuple(about.get("prompts", ())),
        nearest=about.get("nearest", 0.0),
        at=row[7],
    )
