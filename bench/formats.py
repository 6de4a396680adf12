"""What loaders keep of real files: a table with a row for each file.

    python bench/formats.py [FILE…] [--against TEXT] [--password WORD]

Without files: the PDFs beside the repository, and one manual in several formats, each compared
with the manual's own plain text. Agreement is twice the words that both have by the words of both,
in percent: as they stand ("same"), in the same order ("in order"), and in the same order when
footnotes are put last on both sides ("notes aside"), since formats differ in where they set them.
Headings are compared in order, as whole titles.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from reread.documents import load_bytes
from reread.errors import Error
from reread.types import Document

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "readerfiles"
MANUAL = DATA / "same-content-formats" / "debian-policy"
_ANCHOR = 6  # words in a row that stand once in either text


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--against", type=Path, help="the same content as plain text")
    parser.add_argument("--password")
    given = parser.parse_args()
    print("| file | words | parts | kept | s | same | in order | notes aside | headings |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in given.files or _default_files():
        text = given.against or (MANUAL / "policy.txt" if path.parent == MANUAL else None)
        print("| " + " | ".join(_row(path, text, given.password)) + " |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nPeak memory: {peak / (1 << 20 if sys.platform == 'darwin' else 1 << 10):.0f} MB")


def _default_files() -> list[Path]:
    pdfs = sorted([*DATA.glob("pdf/**/*.pdf"), *DATA.glob("pdf-scanned/**/*.pdf")])
    return [*pdfs, *sorted(MANUAL.glob("policy.*"))]


def _row(path: Path, text: Path | None, password: str | None) -> list[str]:
    start = time.perf_counter()
    try:
        document = _load(path, password)
    except Error as error:
        seconds = f"{time.perf_counter() - start:.2f}"
        return [path.name, "", "", error.line, seconds, *[""] * 4]
    seconds = f"{time.perf_counter() - start:.2f}"
    kept = ", ".join(f"{n} {k}" for k, n in Counter(p.kind for p in document.paragraphs).items())
    compared = _compared(document, text.read_text(encoding="utf-8")) if text else [""] * 4
    return [path.name, str(document.words), _parts(document), kept, seconds, *compared]


def _compared(document: Document, expected: str) -> list[str]:
    one, other = _words(document.text), _words(expected)
    same = 200.0 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))
    aside = agreement(_words(_notes_last(document)), _words(_footnotes_last(expected)))
    titles = agreement(_headings(document), _underlined(expected))
    return [f"{share:.1f} %" for share in (same, agreement(one, other), aside, titles)]


def _notes_last(document: Document) -> str:
    paragraphs = sorted(document.paragraphs, key=lambda p: p.kind == "note")
    return "\n".join(document.text[p.start : p.end] for p in paragraphs)


def _footnotes_last(text: str) -> str:
    note = re.compile(r"^\[\d+\] .*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*", re.M)
    return note.sub("", text) + "\n" + "\n".join(note.findall(text))


def _load(path: Path, password: str | None) -> Document:
    return load_bytes(path.read_bytes(), name=path.name, password=password)


def _parts(document: Document) -> str:
    c = document.coverage
    said = [f"{c.read}/{c.parts}"]
    for name, parts in (("pictures", c.without_text), ("blank", c.blank), ("failed", c.failed)):
        if parts:
            said.append(f"{len(parts)} {name}")
    return ", ".join(said)


# -- agreement ----------------------------------------------------------------------------------


def agreement(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """How much of two sequences is common and in the same order, in percent of both."""
    if not one or not other:
        return 0.0
    common = i = j = 0
    for a, b in [*_anchors(one, other), (len(one), len(other))]:
        if a >= i and b >= j:
            matcher = SequenceMatcher(None, one[i:a], other[j:b], autojunk=False)
            common += sum(block.size for block in matcher.get_matching_blocks())
            i, j = a, b
    return 200.0 * common / (len(one) + len(other))


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places where both say the same, in the same order: what lies between can be compared."""
    places = _once(one)
    pairs = sorted((places[g], at) for g, at in _once(other).items() if g in places)
    tails: list[int] = []
    chain: list[tuple[int, int]] = []  # (index into pairs, index of the pair before)
    ends: list[int] = []
    for k, (_, at) in enumerate(pairs):
        slot = bisect_left(tails, at)
        chain.append((k, ends[slot - 1] if slot else -1))
        tails[slot : slot + 1] = [at]
        ends[slot : slot + 1] = [k]
    found = []
    k = ends[-1] if ends else -1
    while k >= 0:
        found.append(pairs[k])
        k = chain[k][1]
    return found[::-1]


def _once(words: Sequence[Hashable]) -> dict[tuple[Hashable, ...], int]:
    grams = [tuple(words[i : i + _ANCHOR]) for i in range(len(words) - _ANCHOR + 1)]
    counts = Counter(grams)
    return {gram: at for at, gram in enumerate(grams) if counts[gram] == 1}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _headings(document: Document) -> list[str]:
    shown = [document.text[p.start : p.end] for p in document.paragraphs if p.kind == "heading"]
    return [title for title in map(_bare, shown) if title]


def _underlined(text: str) -> list[str]:
    return [_bare(m[1]) for m in re.finditer(r"^(\S.*)\n([*=~^\"-])\2{3,}$", text, re.M)]


def _bare(title: str) -> str:
    """A title without its number and without what differs between formats."""
    title = re.sub(r"^chapter\s+\w+\s+", "", title.casefold())
    title = re.sub(r"^(?:appendix\s+\w+|[\d.]+)\s+", "", title)
    return "".join(c for c in title if c.isalnum())


if __name__ == "__main__":
    main()
