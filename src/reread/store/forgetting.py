"""What still says a forgotten thought's words when its kept calls and vectors are gone.

A thought records which kept calls told of it (`said_in`), but others may say the same: the answer
without thoughts, one that was refused as known, the questions made up for a document. So the words
of thought, question and answer are looked for in all kept replies, in one pass, and what holds them
goes. A reply only saves money, so one too many may go. Those from before any question is known are
the reading itself and stay, as does what another thought or the document says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from sqlite3 import Connection

from reread.evidence import READING
from reread.store.lexical import UNSPACED
from reread.text import plain, sentence_ends

Run = tuple[str, ...]

_UNIT = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_NO_WORDS = {k: " " for k in range(128) if not re.match(r"\w", chr(k))}
_ESCAPED = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')
_PIECE = re.compile(r'[\n"“”]+')
_HEAD = 3  # words; fewer stand anywhere by chance and count only where they stand alone
_TOLD_CHARS = 4  # a letter, "yes" or "no" tells nothing
_REPLY_RUN = 8  # words in a row that a reply has from a thought, and not by chance
_HEARD_RUN = 4  # the same where the author was shown the thought


@dataclass(frozen=True, slots=True)
class Gone:
    """A thought that is erased, and the items whose authors may have been shown its text."""

    text: str
    question: str
    answer: str
    heard: Collection[int]


class Words:
    """The words of some texts, to be found in others however these are spelt.

    A text stands where its words do in their order, or any `longest` of them in a row. One that is
    shorter than three words stands where nothing else does: as a line, or between quotation marks.
    """

    def __init__(self, texts: Iterable[str], longest: int | None = None) -> None:
        self._runs: dict[int, set[Run]] = {}
        self._short: set[Run] = set()
        for text in texts:
            said = units(text)
            size = min(len(said), longest or len(said))
            if size >= _HEAD:
                self._runs.setdefault(size, set()).update(runs(said, size))
            elif sum(map(len, said)) >= _TOLD_CHARS:
                self._short.add(tuple(said))
        self._heads = {run[:_HEAD] for found in self._runs.values() for run in found}

    def stand_in(self, text: str) -> bool:
        """Whether any of the texts stands in this one, as it is or with JSON's escapes undone."""
        if self._stand_in(text):
            return True
        return "\\" in text and self._stand_in(_ESCAPED.sub(_unescaped, text))

    def _stand_in(self, text: str) -> bool:
        said = units(text)
        if not self._heads.isdisjoint(runs(said, _HEAD)):  # few get further
            for size, found in self._runs.items():
                if not found.isdisjoint(runs(said, size)):
                    return True
        pieces = _PIECE.split(text) if self._short else ()
        return any(tuple(units(piece)) in self._short for piece in pieces)


def _unescaped(match: re.Match[str]) -> str:
    return str(json.loads(f'"{match[0]}"'))


def units(text: str) -> list[str]:
    """The words of a text; in scripts without spaces, its characters."""
    if text.isascii():  # the same, five times as fast
        return text.lower().translate(_NO_WORDS).split()
    return [unit.casefold() for unit in _UNIT.findall(text)]


def runs(said: Sequence[str], size: int) -> Iterator[Run]:
    """All runs of so many words."""
    return zip(*(said[k:] for k in range(size)), strict=False)


def drop_words(db: Connection, gone: Collection[Gone]) -> None:
    """Removes the words of forgotten thoughts from all that is left.

    What a question cost stays in the ledger without the question. One that led to another thought,
    too, keeps its words, which are that thought's.
    """
    if not gone:
        return
    _silence(db, gone)
    rows = db.execute("SELECT json_extract(about, '$.question') FROM items WHERE kind = 'thought'")
    standing = {plain(question) for (question,) in rows}
    asked = {plain(one.question) for one in gone} - standing - {""}
    texts = [one.text for one in gone]
    texts += [one.question for one in gone if plain(one.question) in asked]
    answers = [one.answer for one in gone]
    # few words of an answer, such as a name, are another question's own
    whole = Words([*texts, *(a for a in answers if len(units(a)) >= _REPLY_RUN)])

    def told(question: str) -> bool:
        words = plain(question)
        return words not in standing and (words in asked or whole.stand_in(question))

    _drop_questions(db, told, whole)
    _drop_replies(db, Words([*texts, *answers], _REPLY_RUN))


def _drop_questions(db: Connection, told: Callable[[str], bool], whole: Words) -> None:
    for listed, done in _ASKED:
        found = [q for (q,) in db.execute(listed).fetchall() if q and told(q)]
        db.executemany(done, [(question,) for question in found])
    for comparison, record in db.execute("SELECT id, record FROM comparisons").fetchall():
        made = json.loads(record)
        if told(made["question"]) or any(whole.stand_in(answer) for answer in made["answers"]):
            db.execute("DELETE FROM comparisons WHERE id = ?", (comparison,))


_ASKED = (
    (
        "SELECT DISTINCT question FROM ledger",
        "UPDATE ledger SET question = '' WHERE question = ?",
    ),
    ("SELECT DISTINCT question FROM asked", "DELETE FROM asked WHERE question = ?"),
)


def _drop_replies(db: Connection, words: Words) -> None:
    rows = db.execute(f"SELECT key, text FROM calls WHERE {_ANSWERING}")  # noqa: S608 - our own
    found = [(key,) for key, text in rows if words.stand_in(text)]
    db.executemany("DELETE FROM calls WHERE key = ?", found)


# a prompt is named by its phase, then what sets it apart, then its version
_ANSWERING = " AND ".join(f"prompt NOT GLOB '{phase}[-@]*'" for phase in sorted(READING))


def _silence(db: Connection, gone: Collection[Gone]) -> None:
    """Cuts what repeats forgotten thoughts from kept answers whose authors were shown them.

    A sentence goes with a few words in a row that neither the thought it led to nor its documents
    say.
    """
    heard: dict[int, set[Run]] = {}
    for one in gone:
        said = units(one.text)
        for item in one.heard:
            heard.setdefault(item, set()).update(runs(said, min(_HEARD_RUN, len(said))))
    every = set().union(*heard.values())

    @cache
    def says(document: str) -> set[Run]:
        row = db.execute("SELECT text FROM documents WHERE id = ?", (document,)).fetchone()
        return _among(every, row[0])

    for item, told in heard.items():
        kept = "SELECT text, json_extract(about, '$.answer') FROM items WHERE number = ?"
        row = db.execute(f"{kept} AND kind = 'thought'", (item,)).fetchone()
        if row is None:
            continue
        documents = db.execute(_DOCUMENTS, (item,)).fetchall()
        own = told - _among(told, row[0])
        answer = _without(row[1], own.difference(*(says(document) for (document,) in documents)))
        if answer != row[1]:
            changed = "UPDATE items SET about = json_set(about, '$.answer', ?) WHERE number = ?"
            db.execute(changed, (answer, item))


_DOCUMENTS = (
    "SELECT DISTINCT p.document_id FROM roots r JOIN places p ON p.item = r.page WHERE r.item = ?"
)


def _among(wanted: set[Run], text: str) -> set[Run]:
    """Those of the runs that stand in the text."""
    said = units(text)
    sizes = {len(run) for run in wanted}
    return set().union(*(wanted.intersection(runs(said, size)) for size in sizes))


def _without(answer: str, told: set[Run]) -> str:
    """The answer without the sentences that any of the runs touches."""
    found = list(_UNIT.finditer(answer))
    said = [match[0].casefold() for match in found]
    hits = [
        (found[k].start(), found[k + size - 1].end())
        for size in {len(run) for run in told}
        for k, run in enumerate(runs(said, size))
        if run in told
    ]
    left, start = list[str](), 0
    for end in sentence_ends(answer) if hits else (len(answer),):
        if not any(a < end and b > start for a, b in hits):
            left.append(answer[start:end])
        start = end
    return "".join(left).strip() if hits else answer
