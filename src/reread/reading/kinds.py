"""The kind of a document, by rule, and what a gist of that kind should keep (Appendix G.2)."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from importlib import resources
from typing import Any

from reread.types import Document

GENERAL = "general"
_CODE = {"text/x-source", "application/x-ipynb+json"}
_CAPTIONS = {"text/vtt", "application/x-subrip"}
_SPOKEN = re.compile(r"(?:[\[(]?\d[\d:.]*[\])]?\s*)?([^\W\d_][\w .'’-]{0,40}):\s")
_DATED = re.compile(  # but no number of a section
    r"[\[(<]?(?:[A-Z][a-z]{2,8},? )?(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[/-]\d\d?[/-]\d{2,4}"
    r"|\d\d?\.\d\d?\.(?:\d{4}|\d\d,? \d\d?:\d\d)|\d\d?:\d\d:\d\d"
    r"|[A-Z][a-z]{2} +\d\d? \d\d:\d\d|\d\d?\.? [A-Z][a-z]{2,8}\.? \d{4})\b"
)
_LEGAL = re.compile(
    r"\b(?:shall|hereby|herein|hereof|hereinafter|thereof|pursuant|notwithstanding)\b",
    re.IGNORECASE,
)
_LEAST_TURNS = _LEAST_ENTRIES = 8
_HEAD = 60_000  # characters looked at


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads((resources.files("reread.reading") / "kinds.toml").read_text("utf-8"))


def known() -> dict[str, str]:
    """What to keep, by kind."""
    return {name: str(entry["keep"]) for name, entry in _entries().items()}


def grows(kind: str | None) -> bool:
    """Whether documents of the kind are of a sort that goes on, as conversations do."""
    return kind in _entries() and bool(_entries()[kind].get("grows", False))


def kind_of(document: Document) -> str:
    """`code`, `meeting`, `log`, `contract`, `paper` or `general`: only what is plain to see."""
    if document.media_type in _CODE:
        return "code"
    if document.media_type in _CAPTIONS or _is_spoken(document):
        return "meeting"
    if _is_dated(document):
        return "log"
    head = document.text[:_HEAD]
    words = max(1, len(head.split()))
    if words > 200 and len(_LEGAL.findall(head)) / words > 0.008:
        return "contract"
    headings = {
        document.text[p.start : p.end].casefold().strip(" #*.:0123456789")
        for p in document.paragraphs
        if p.kind == "heading"
    }
    if "abstract" in headings and (
        document.references or headings & {"references", "bibliography"}
    ):
        return "paper"
    return GENERAL


def _is_spoken(document: Document) -> bool:
    """Whether most paragraphs begin with one of a few names that come again."""
    shown = [p for p in document.paragraphs if p.start < _HEAD and p.kind == "text"]
    turns = [_SPOKEN.match(document.text, p.start, p.end) for p in shown]
    names = Counter(m[1] for m in turns if m)
    again = sum(count for count in names.values() if count > 1)
    return again >= max(_LEAST_TURNS, len(shown) // 2) and len(names) > 1


def _is_dated(document: Document) -> bool:
    """Whether most lines, or most headings, begin with a date or a time."""
    text = document.text
    headings = [text[p.start : p.end] for p in document.paragraphs if p.kind == "heading"]
    for entries in (text[:_HEAD].splitlines(), headings):
        said = [entry.lstrip(" #*-") for entry in entries if entry.strip()]
        dated = sum(_DATED.match(entry) is not None for entry in said)
        if dated >= max(_LEAST_ENTRIES, len(said) // 2):
            return True
    return False
