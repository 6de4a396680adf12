"""What is done to items inside a transaction: made, derived from their sources, erased.

Whoever erases an item erases here what rested on it alone and what else tells of it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from reread.store.forgetting import Gone, drop_words
from reread.store.rows import listed, now
from reread.store.vectors import put_vectors


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A thought that may be kept: what it says and what it rests on, by item numbers."""

    text: str
    question: str
    answer: str
    sources: tuple[int, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    embedder: str = "lexical"
    vectors: Sequence[bytes] = ()
    said_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gisted:
    """A gist and what it was made from: pages by their item numbers, or other gists."""

    text: str
    sources: tuple[int | Gisted, ...]

    def pages(self) -> Iterator[int]:
        """The numbers of all pages under it."""
        for source in self.sources:
            yield from source.pages() if isinstance(source, Gisted) else (source,)


def gist(db: Connection, made: Gisted) -> int:
    """The number of a gist, after those it was made from."""
    below = [gist(db, s) if isinstance(s, Gisted) else s for s in made.sources]
    gist_id = "g" + digest(made.text, *map(str, sorted(below)))
    return number_of(db, gist_id) or insert(db, gist_id, "gist", made.text, below, {})


def erase_document(db: Connection, document_id: str) -> list[str]:
    """Removes what rests on this document alone; returns the ids of the thoughts that are gone."""
    db.execute("DELETE FROM places WHERE document_id = ?", (document_id,))
    pages = db.execute(
        "SELECT number FROM items i WHERE kind = 'page' AND NOT EXISTS "
        "(SELECT 1 FROM places p WHERE p.item = i.number)"
    )
    return erase(db, [number for (number,) in pages.fetchall()])


def erase(db: Connection, numbers: Iterable[int], heirs: Sequence[int] = ()) -> list[str]:
    """Erases items and what rested on them alone; the ids of the thoughts among them.

    `heirs` are thoughts whose answer was made for one of these.
    """
    gone: dict[str, Gone] = {}
    above: set[int] = set()
    left = set(numbers)
    while left:
        number = min(left)
        left.discard(number)
        row = db.execute(
            "SELECT id, kind, text, json_extract(about, '$.question'), "
            "json_extract(about, '$.answer') FROM items WHERE number = ?",
            (number,),
        ).fetchone()
        if row is None:
            continue
        upward = [item for (item,) in db.execute(_UPWARD, (number,))]
        above.update(upward)
        db.executemany("UPDATE items SET lost = lost + 1 WHERE number = ?", [(n,) for n in upward])
        if row[1] == "thought":
            heard = [item for (item,) in db.execute(_HEARD, (number,))]
            gone[row[0]] = Gone(row[2], row[3], row[4], [*heard, *heirs])
        _drop_told(db, number, row[0])
        db.execute("DELETE FROM items WHERE number = ?", (number,))
        sourceless = "SELECT 1 FROM sources WHERE item = ?"
        left.update(n for n in upward if not db.execute(sourceless, (n,)).fetchone())
    for number in sorted(above):  # what is below comes first
        _derive(db, number)
    drop_words(db, gone.values())
    return list(gone)


_UPWARD = """
    WITH RECURSIVE up(item) AS (
        SELECT item FROM sources WHERE source = ?
        UNION SELECT s.item FROM sources s JOIN up ON s.source = up.item
    ) SELECT item FROM up
"""


def _derive(db: Connection, number: int) -> None:
    """Level and roots of an item from its sources; nothing where it is gone."""
    rows = db.execute(
        "SELECT i.number, i.kind, i.level FROM sources s JOIN items i ON i.number = s.source "
        "WHERE s.item = ?",
        (number,),
    ).fetchall()
    if not rows:
        return
    level = math.fsum(row[2] for row in rows) / len(rows) + 1
    db.execute("UPDATE items SET level = ? WHERE number = ?", (level, number))
    db.execute("DELETE FROM roots WHERE item = ?", (number,))
    db.execute(
        "INSERT OR IGNORE INTO roots SELECT s.item, s.source FROM sources s JOIN items i ON "
        "i.number = s.source WHERE s.item = ? AND i.kind = 'page'",
        (number,),
    )
    db.execute(
        "INSERT OR IGNORE INTO roots SELECT s.item, r.page FROM sources s JOIN roots r ON "
        "r.item = s.source WHERE s.item = ?",
        (number,),
    )


def insert(
    db: Connection, item_id: str, kind: str, text: str, sources: Iterable[int], about: object
) -> int:
    """The number of a new item, its level and roots as they follow from its sources."""
    cursor = db.execute(
        "INSERT INTO items (id, kind, level, text, about, at) VALUES (?,?,1,?,?,?)",
        (item_id, kind, text, json.dumps(about, ensure_ascii=False), now()),
    )
    number = int(cursor.lastrowid or 0)
    pairs = [(number, source) for source in sorted(set(sources))]
    db.executemany("INSERT INTO sources VALUES (?,?)", pairs)
    _derive(db, number)
    db.execute(  # what rests on something that lost a source is no sounder than that
        "UPDATE items SET lost = (SELECT COUNT(*) FROM sources s JOIN items i ON "
        "i.number = s.source WHERE s.item = ? AND i.lost > 0) WHERE number = ?",
        (number, number),
    )
    return number


def insert_thought(db: Connection, thought_id: str, draft: Draft, sources: Iterable[int]) -> int:
    """The number of a new thought, its vectors kept with it."""
    own = {"question": draft.question, "answer": draft.answer, "embedder": draft.embedder}
    number = insert(db, thought_id, "thought", draft.text, sources, {**draft.about, **own})
    rows = [(number, part, vector) for part, vector in enumerate(draft.vectors)]
    put_vectors(db, draft.embedder, rows)
    return number


_HEARD = (
    "SELECT DISTINCT o.item FROM said_in s JOIN said_in o ON o.key = s.key AND o.item != s.item "
    "WHERE s.item = ?"
)


def page(db: Connection, item_id: str) -> int:
    """The number of the page with this id, made where it is new."""
    return number_of(db, item_id) or insert(db, item_id, "page", "", (), {})


def there(db: Connection, number: int) -> bool:
    """Whether there is an item with this number."""
    return bool(db.execute("SELECT 1 FROM items WHERE number = ?", (number,)).fetchone())


def number_of(db: Connection, item_id: str) -> int | None:
    """The number of the item with this id, None when it is not there."""
    row = db.execute("SELECT number FROM items WHERE id = ?", (item_id,)).fetchone()
    return int(row[0]) if row else None


def tell(db: Connection, numbers: Iterable[int], keys: Iterable[str]) -> None:
    """Records that the kept calls with these keys hold or may hold what these items say."""
    pairs = [(number, key) for number in numbers for key in keys]
    db.executemany("INSERT OR IGNORE INTO said_in VALUES (?,?)", pairs)


def put_about(db: Connection, name: str, documents: Sequence[str]) -> bool:
    """Records which documents something is about besides the first; False when one is gone."""
    there = "SELECT COUNT(*) FROM documents WHERE id IN (SELECT value FROM json_each(?))"
    if db.execute(there, (listed(documents),)).fetchone()[0] < len(set(documents)):
        return False
    pairs = [(name, document_id) for document_id in documents[1:]]
    db.executemany("INSERT OR IGNORE INTO about VALUES (?,?)", pairs)
    return True


def drop_calls(db: Connection, keys: Iterable[str]) -> None:
    """Removes kept calls."""
    db.executemany("DELETE FROM calls WHERE key = ?", [(key,) for key in keys])


def _drop_told(db: Connection, number: int, item_id: str) -> None:
    """Removes whatever else holds what an item says: calls, answers, comparisons."""
    keys = db.execute("SELECT key FROM said_in WHERE item = ?", (number,)).fetchall()
    drop_calls(db, [key for (key,) in keys])
    within = f'%"{item_id}"%'
    db.execute("DELETE FROM asked WHERE kept = ? OR used LIKE ?", (item_id, within))
    db.execute("DELETE FROM comparisons WHERE record LIKE ?", (within,))


def digest(*texts: str) -> str:
    """What ids are made of: the same for the same texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
