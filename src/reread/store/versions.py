"""Pages that stand unchanged in the next version of a document keep their place there.

Invariant: where a name stands for new content, each page of earlier content that something rests on
and that the new content still says has a place in it, from the same transaction on. What came by
standard input has no versions.
"""

from __future__ import annotations

import itertools
from sqlite3 import Connection

_SHORTEST_PAGE = 40  # characters; a shorter page may stand anywhere by chance


def carry(db: Connection, origin: str) -> None:
    """Gives pages of earlier versions a place in the document that the name stands for now."""
    rows = db.execute(_UNPLACED, (origin,)).fetchall()
    if not rows:
        return
    document_id, text = db.execute(_CURRENT, (origin,)).fetchone()
    for old, places in itertools.groupby(rows, key=lambda row: str(row[0])):
        before = db.execute("SELECT text FROM documents WHERE id = ?", (old,)).fetchone()[0]
        last = 0
        for _, item, start, end in places:
            page = before[start:end].strip()
            at = _found(text, page, last)
            if at is not None:
                last = at
                place = (item, document_id, at, at + len(page))
                db.execute("INSERT OR IGNORE INTO places VALUES (?,?,?,?)", place)


def carry_roots(db: Connection, number: int) -> None:
    """The same for the pages that this item rests on, which may stand in an earlier version."""
    origins = db.execute(
        "SELECT DISTINCT v.origin FROM roots r JOIN places p ON p.item = r.page "
        "JOIN versions v ON v.document_id = p.document_id WHERE r.item = ?",
        (number,),
    )
    for (origin,) in origins.fetchall():
        carry(db, origin)


_CURRENT = (
    "SELECT d.id, d.text FROM aliases a JOIN documents d ON d.id = a.document_id WHERE a.origin = ?"
)
_UNPLACED = """
    SELECT p.document_id, p.item, MIN(p.start), p.end
    FROM aliases a
    JOIN versions v ON v.origin = a.origin AND v.document_id != a.document_id
    JOIN places p ON p.document_id = v.document_id
    WHERE a.origin = ? AND a.origin != '-'
    AND EXISTS (SELECT 1 FROM roots r WHERE r.page = p.item)
    AND NOT EXISTS (
        SELECT 1 FROM places q WHERE q.item = p.item AND q.document_id = a.document_id
    )
    GROUP BY p.item ORDER BY p.document_id, p.start
"""


def _found(text: str, page: str, last: int) -> int | None:
    """Where the page stands by itself in the text, looked for from `last` on first."""
    if len(page) < _SHORTEST_PAGE:
        return None
    for first in dict.fromkeys((last, 0)):
        at = text.find(page, first)
        while at >= 0:
            if _whole(text, at, at + len(page)):
                return at
            at = text.find(page, at + 1)
    return None


def _whole(text: str, start: int, end: int) -> bool:
    """Whether the span begins and ends where no word runs on."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (
        after.isalnum() and text[end - 1].isalnum()
    )
