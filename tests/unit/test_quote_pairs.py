"""Hundreds of quotes made by rule: every typographic variant is found, no altered one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from quote_pairs import TEXTS, Pair, altered, same
from reread.documents import load
from reread.reading.quotes import locate


def _wrong(pairs: list[Pair]) -> list[tuple[str, str, str]]:
    wrong = []
    for pair in pairs:
        found = locate(pair.quote, pair.text)
        if not _right(pair, found):
            shown = pair.text[slice(*found)] if found else "nothing"
            wrong.append((pair.what, pair.quote, shown))
    return wrong


def _right(pair: Pair, found: tuple[int, int] | None) -> bool:
    """Whether it was found where it stands; marks around a quote do not belong to it."""
    if pair.span is None or found is None:
        return found is pair.span
    lead = pair.text[pair.span[0] : found[0]] if pair.span[0] <= found[0] else "?"
    tail = pair.text[found[1] : pair.span[1]] if found[1] <= pair.span[1] else "?"
    return not any(c.isalnum() or c == "?" for c in lead + tail)


@pytest.mark.parametrize("language", TEXTS)
def test_typographic_variants_are_found_where_they_stand(language: str) -> None:
    pairs = list(same(language, TEXTS[language]))
    assert len(pairs) >= 20
    assert _wrong(pairs) == []


@pytest.mark.parametrize("language", TEXTS)
def test_altered_quotes_are_not_found(language: str) -> None:
    pairs = list(altered(language, TEXTS[language]))
    assert len(pairs) >= 20
    assert _wrong(pairs) == []


# -- real texts ---------------------------------------------------------------------------------

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = {
    "novel in English": ("en", "narrativeqa/books/gitenberg/The-Time-Machine_35/35-0.txt"),
    "paper in English": ("en", "readerfiles/pdf/papers/acl20-wcep-paper.pdf"),
    "policy as PDF": ("en", "readerfiles/same-content-formats/debian-policy/policy.pdf"),
    "novel in Chinese": ("zh", "readerfiles/cjk-novel/zh/三国演义.txt"),
    "handbook in Arabic": (
        "ar",
        "readerfiles/multilingual/debian-handbook/ar-MA/basic-configuration.html",
    ),
}


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the real texts of ../shared/data")
@pytest.mark.parametrize("name", REAL)
def test_the_same_holds_for_real_texts(name: str) -> None:
    language, path = REAL[name]
    document = load(DATA / path)
    long = [p for p in document.paragraphs if p.kind == "text" and p.end - p.start > 250]
    chosen = long[:: max(1, len(long) // 8)][:8]
    texts = [document.text[p.start : min(p.end, p.start + 1500)] for p in chosen]
    found = [pair for text in texts for pair in same(language, text)]
    absent = [pair for text in texts for pair in altered(language, text)]
    assert len(found) >= 100
    assert len(absent) >= 50
    assert _wrong(found) == []
    assert _wrong(absent) == []
