"""Lexical ranking by BM25, through SQLite's full-text index: exact, in memory, no dependency.

`bm25s` was the other choice; it needs numpy and scipy, some hundred megabytes, for the same score.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff"  # scripts without spaces
)
_UNSPACED = re.compile(f"[{UNSPACED}]")


def rank(texts: Sequence[str], query: str) -> list[int]:
    """Indices of the texts that share words with the query, the best match first.

    Words are compared by their English stem; in scripts without spaces, pairs of characters are.
    """
    terms = list(dict.fromkeys(re.findall(r"\w+", _spaced(query).casefold())))
    if not terms:
        return []
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61')")
        db.executemany(
            "INSERT INTO t(rowid, body) VALUES (?, ?)",
            ((k, _spaced(text)) for k, text in enumerate(texts)),
        )
        match = " OR ".join(f'"{term}"' for term in terms)
        rows = db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t), rowid", (match,))
        found = [int(rowid) for (rowid,) in rows]
    db.close()
    return found


def _spaced(text: str) -> str:
    """The text with every pair of characters of scripts without spaces as a word."""
    if not _UNSPACED.search(text):
        return text
    out: list[str] = []
    for before, char in zip(" " + text, text, strict=False):
        if _UNSPACED.match(char):
            pair = before + char if _UNSPACED.match(before) else char
            out.append(f" {pair} ")
        else:
            out.append(char)
    return "".join(out)
