"""Quotes looked for in the text they are said to come from; no model is asked.

A quote is found when it is equal to a stretch of the text up to typography: compatibility forms,
quotation marks, dashes, ligatures, soft and line-end hyphens, and white space. Words, numbers and
their order must be the same, and a stretch begins and ends at a word's edge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from reread.reading.replies import NOT_IN_DOCUMENT
from reread.text import sentences
from reread.types import Citation, Document, Page

SHORTEST_QUOTE = 12  # characters; anything shorter is found by chance
_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´＇", "'"),
        **dict.fromkeys("“”„‟″«»＂「」『』", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f", None),
        "‹": "<",
        "›": ">",
        "⁅": "[",
    }
)
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def normalised(text: str) -> tuple[str, list[int]]:
    """The text in one typography, and for each of its characters the offset it came from."""
    out: list[str] = []
    offsets: list[int] = []
    skip_to = 0
    for k, char in enumerate(text):
        if k < skip_to:
            continue
        if char in "-\u00ad‐" and (broken := _LINE_END_HYPHEN.match(text, k)):
            skip_to = broken.end()
            continue
        for c in unicodedata.normalize("NFKC", char).translate(_SAME):
            if c.isspace():
                if not out or out[-1] == " ":
                    continue
                c = " "
            elif (
                out and out[-1] == " " and len(out) > 1 and _WIDE.match(c) and _WIDE.match(out[-2])
            ):
                out.pop()  # a line break inside a script without spaces
                offsets.pop()
            out.append(c)
            offsets.append(k)
    return "".join(out), offsets


_LINE_END_HYPHEN = re.compile(r"[-\u00ad‐][ \t]*\n\s*(?=[a-zà-ÿ])")


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The half-open span of the quote in the text, None when it is not there.

    Quotation marks and dots around the quote do not count. Shorter than `SHORTEST_QUOTE`
    characters is never found.
    """
    wanted = normalised(quote)[0].strip(" \"'").removesuffix("...").removeprefix("...").strip()
    if len(wanted) < SHORTEST_QUOTE:
        return None
    plain, offsets = normalised(text)
    at = plain.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if _edge(plain, at) and _edge(plain, end):
            return offsets[at], offsets[end - 1] + 1
        at = plain.find(wanted, at + 1)
    return None


def _edge(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    return not (before.isalnum() and after.isalnum()) or bool(_WIDE.match(before + after))


def cite(
    quotes: Iterable[tuple[int, str]], pages: Sequence[Page], document: Document
) -> tuple[Citation, ...]:
    """Each quote checked: on the page it names, else on any other, else marked as unverified."""
    checked: dict[tuple[int, str], Citation] = {}
    for number, quote in quotes:
        citation = _checked(number, quote, pages, document)
        if citation is not None:
            checked.setdefault((citation.page, citation.quote), citation)
    return tuple(checked.values())


def _checked(number: int, quote: str, pages: Sequence[Page], document: Document) -> Citation | None:
    named = pages[number - 1] if 1 <= number <= len(pages) else None
    for page in ([named] if named else []) + [p for p in pages if p is not named]:
        if span := locate(quote, page.text):
            start, end = page.start + span[0], page.start + span[1]
            return Citation(
                page=page.number,
                quote=document.text[start:end],
                status="verified" if page is named else "repaired",
                start=start,
                end=end,
                locator=document.locator_at(start),
            )
    if named is None:
        return None  # a page that does not exist is never shown
    return Citation(page=number, quote=quote, status="unverified")


# -- support found by rule ----------------------------------------------------------------------

_COMMON = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his how i in into "
    "is it its no not of on or our she so than that the their them then there these they this to "
    "was we were what when where which who whom whose why will with would you your".split()
)


def support(
    question: str, answer: str, pages: Sequence[Page], document: Document, most: int = 2
) -> tuple[Citation, ...]:
    """The sentences of the pages that say most of what the answer says, verbatim, best first.

    A sentence counts only when it shares a word with the answer that the question does not hold
    already, or when the answer holds no such word.
    """
    said, asked = _content(answer), _content(question)
    own = said - asked or said
    if not own or answer == NOT_IN_DOCUMENT:
        return ()
    scored: list[tuple[float, int, int, Page]] = []
    for page in pages:
        for start, end in sentences(page.text):
            words = _content(page.text[start:end])
            if (shared := own & words) and end - start >= SHORTEST_QUOTE:
                score = 3 * len(shared) / len(own) + len(words & asked) / max(1, len(asked))
                scored.append((score, page.start + start, page.start + end, page))
    scored.sort(key=lambda s: (-s[0], s[1]))
    best = [s for s in scored[:most] if s[0] >= 0.75 * scored[0][0]]
    return tuple(
        Citation(
            page=page.number,
            quote=document.text[start:end],
            status="verified",
            start=start,
            end=end,
            locator=document.locator_at(start),
        )
        for _, start, end, page in best
    )


def _content(text: str) -> set[str]:
    words = re.findall(r"\w+", normalised(text)[0].casefold())
    return {re.sub(r"(?:ing|ed|es|s)$", "", w) if len(w) > 4 else w for w in words} - _COMMON
