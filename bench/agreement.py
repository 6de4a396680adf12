"""How far two texts agree, word by word and in order; one manual measured in all its formats.

Agreement is twice the words both have in the same order (their longest common subsequence) by the
words of both, in percent: 100 where they are equal, and nothing is forgiven: words left out, words
too many, words in another place. A word is a run of letters and digits, without regard to case.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

from reread.documents import load_bytes
from reread.types import Document

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "readerfiles"
MANUAL = DATA / "same-content-formats" / "debian-policy"
_NO_CHAPTERS = {"index.html", "genindex.html", "search.html"}


def words_of(text: str) -> list[str]:
    """The words of a text, folded."""
    return re.findall(r"\w+", text.casefold())


def in_common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence.

    Each bit of `row` is a place in `one` (Crochemore and others 2001), so that a word of `other`
    costs four operations on one long number and a book takes a second.
    """
    places: dict[Hashable, int] = {}
    for k, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << k
    whole = row = (1 << len(one)) - 1
    for word in other:
        met = row & places.get(word, 0)
        if met:
            row = ((row + met) | (row - met)) & whole
    return len(one) - row.bit_count()


def agreement(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """How much of two sequences is common and in the same order, in percent of both."""
    total = len(one) + len(other)
    return 200.0 * in_common(one, other) / total if total else 100.0


def in_any_order(one: Iterable[Hashable], other: Iterable[Hashable]) -> float:
    """How much of two sequences is common wherever it stands, in percent of both."""
    a, b = Counter(one), Counter(other)
    return 200.0 * (a & b).total() / max(1, a.total() + b.total())


# -- the manual ---------------------------------------------------------------------------------


def manual_table() -> str:
    """Markdown: each format of the manual against the manual's own plain text."""
    expected = (MANUAL / "policy.txt").read_text(encoding="utf-8")
    rows = [
        "| format | words | in order | in any order | headings in order | s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        f"| the plain text itself | {len(words_of(expected)):,} | | | {len(_titles(expected))} | |",
    ]
    for name, read in _editions().items():
        start = time.perf_counter()
        documents = read()
        seconds = time.perf_counter() - start
        text = "\n\n".join(d.text for d in documents)
        one, other = words_of(text), words_of(expected)
        titles = [title for document in documents for title in _headings(document)]
        shares = (
            agreement(one, other),
            in_any_order(one, other),
            agreement(titles, _titles(expected)),
        )
        shown = " | ".join(f"{share:.1f} %" for share in shares)
        rows.append(f"| {name} | {len(one):,} | {shown} | {seconds:.2f} |")
    return "\n".join(rows)


def _editions() -> dict[str, Callable[[], list[Document]]]:
    return {
        "TXT": lambda: [_load(MANUAL / "policy.txt")],
        "HTML, 24 files": _html,
        "EPUB": lambda: [_load(MANUAL / "policy.epub")],
        "PDF": lambda: [_load(MANUAL / "policy.pdf")],
    }


def _html() -> list[Document]:
    """The index and the chapters in the order in which it names them."""
    folder = MANUAL / "html"
    index = (folder / "index.html").read_text(encoding="utf-8")
    named = dict.fromkeys(re.findall(r'href="([\w.-]+\.html)', index))
    chapters = [name for name in named if name not in _NO_CHAPTERS]
    return [_load(folder / name) for name in ("index.html", *chapters)]


def _load(path: Path) -> Document:
    return load_bytes(path.read_bytes(), name=path.name)


def _headings(document: Document) -> list[str]:
    shown = [document.text[p.start : p.end] for p in document.paragraphs if p.kind == "heading"]
    return [title for title in map(_bare, shown) if title]


def _titles(text: str) -> list[str]:
    """The headings of a plain text whose lines are underlined."""
    return [_bare(m[1]) for m in re.finditer(r"^(\S.*)\n([*=~^\"-])\2{3,}$", text, re.M)]


def _bare(title: str) -> str:
    """A title without its number and without what differs between formats."""
    title = re.sub(r"^chapter\s+\w+\s+", "", title.casefold())
    title = re.sub(r"^(?:appendix\s+\w+|[\d.]+)\s+", "", title)
    return "".join(c for c in title if c.isalnum())
