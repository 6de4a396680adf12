"""Quotes looked for in the text they are said to come from; no model is asked.

A quote is found when it is equal to a stretch of the text up to typography: compatibility forms,
quotation marks, dashes, ligatures, soft and line-end hyphens, and white space. Words, numbers and
their order must be the same, and a stretch begins and ends at a word's edge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from reread.reading.replies import NOT_IN_DOCUMENT
from reread.text import sentences
from reread.types import Citation, Document, Page, Status

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
# Scripts where a line break stands for nothing, and those that do not show where a word ends.
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
_LINE_END_HYPHEN = re.compile(r"[-\u00ad‐][ \t]*\n\s*(?=\w)")
_OPTIONAL = "\u00ad"  # in normalised text: a hyphen at a line's end, which may belong to the word
# Their digits would become digits of the number beside them.
_KEPT_APART = ("<super>", "<sub>", "<fraction>", "<circle>")


def normalised(text: str) -> tuple[str, list[int]]:
    """The text in one typography, and for each of its characters the offset it came from.

    A hyphen at a line's end, which may be the word's own or not, becomes a soft one.
    """
    out: list[str] = []
    offsets: list[int] = []
    skip_to = 0
    for k, char in enumerate(text):
        if k < skip_to:
            continue
        broken = _LINE_END_HYPHEN.match(text, k) if char in "-\u00ad‐" else None
        if broken and text[broken.end()].islower():
            skip_to = broken.end()
            out.append(_OPTIONAL)
            offsets.append(k)
            continue
        for c in _plain(char):
            last = out[-1] if out else " "
            if c.isspace():
                if last == " ":
                    continue
                c = " "
            elif c == "-" == last:
                continue  # two hyphens are how typewriters write a dash
            elif last == " " and len(out) > 1 and _WIDE.match(c) and _WIDE.match(out[-2]):
                out.pop()  # a line break inside a script without spaces
                offsets.pop()
            out.append(c)
            offsets.append(k)
    return "".join(out), offsets


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    if unicodedata.decomposition(char).startswith(_KEPT_APART):
        return char
    return unicodedata.normalize("NFKD", char).translate(_SAME)


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The half-open span of the quote in the text, None when it is not there.

    Quotation marks and dots around the quote do not count. Shorter than `SHORTEST_QUOTE`
    characters is never found.
    """
    return _locate(_wanted(quote), text, normalised(text))


def _wanted(quote: str) -> list[str]:
    """The quote in one typography, whole and without the dots around it; [] when too short."""
    whole = normalised(quote)[0].strip(" \"'")
    bare = whole.strip(" \"'.")
    return list(dict.fromkeys([whole, bare])) if len(bare) >= SHORTEST_QUOTE else []


def _locate(
    wanted: Sequence[str], text: str, normal: tuple[str, list[int]]
) -> tuple[int, int] | None:
    plain, offsets = normal
    for form in wanted:
        for at, end in _places(form, plain):
            if _cuts_character(plain, offsets, at) or _cuts_character(plain, offsets, end):
                continue
            first, last = offsets[at], offsets[end - 1] + 1
            if _edge(text, first) and _edge(text, last):
                return first, last
    return None


def _places(wanted: str, plain: str) -> Iterator[tuple[int, int]]:
    """Where the quote stands in normalised text, a hyphen at a line's end being there or not."""
    if _OPTIONAL not in plain and _OPTIONAL not in wanted:
        at = plain.find(wanted)
        while at >= 0:
            yield at, at + len(wanted)
            at = plain.find(wanted, at + 1)
        return
    parts = [f"[-{_OPTIONAL}]" if c == "-" else re.escape(c) for c in wanted if c != _OPTIONAL]
    for match in re.finditer(f"{_OPTIONAL}?".join(parts), plain):
        yield match.span()


def _cuts_character(plain: str, offsets: list[int], at: int) -> bool:
    """Whether the place lies between a letter and its accent, or inside a ligature."""
    if not 0 < at < len(plain):
        return False
    return offsets[at] == offsets[at - 1] or bool(unicodedata.combining(plain[at]))


_JOINS = "-‐‑\u00ad'’\u200c\u200d"
_BROKEN_BEFORE = re.compile(r"\w[-\u00ad‐][ \t]*\n\s*\Z")


def _edge(text: str, at: int) -> bool:
    """Whether no word and no number runs across the offset."""
    before, after = text[max(0, at - 2) : at][::-1], text[at : at + 2]
    if not before or not after or _UNSPACED.match(before) or _UNSPACED.match(after):
        return True
    if _wordlike(before[0]) and _wordlike(after[0]):
        return False
    if _runs_on(before[0], after) or _runs_on(after[0], before):
        return False
    if (after[0].isdigit() and before[0] in "-−") or (before[0].isdigit() and after[0] in "%‰°"):
        return False
    if _wordlike(before[0]) and (broken := _LINE_END_HYPHEN.match(text, at)):
        return not text[broken.end()].islower()
    return not (after[0].islower() and _BROKEN_BEFORE.search(text[max(0, at - 40) : at]))


def _wordlike(char: str) -> bool:
    return char.isalnum() or bool(unicodedata.combining(char))


def _runs_on(char: str, further: str) -> bool:
    """Whether a word or number with `char` at its end goes on over a mark: "can't", "1,500"."""
    if len(further) < 2 or not _wordlike(char) or not _wordlike(further[1]):
        return False
    return further[0] in _JOINS or (
        char.isdigit() and further[1].isdigit() and further[0] in ".,:/–"
    )


def cite(
    quotes: Iterable[tuple[int, str]], pages: Sequence[Page], document: Document
) -> tuple[Citation, ...]:
    """Each quote checked: on the page it names, else on any other, else marked as unverified.

    A page that does not exist is never shown: its quote is found elsewhere or left out.
    """
    normal: dict[int, tuple[str, list[int]]] = {}

    def place(wanted: Sequence[str], page: Page) -> tuple[int, int] | None:
        if page.number not in normal:
            normal[page.number] = normalised(page.text)
        span = _locate(wanted, page.text, normal[page.number]) if wanted else None
        return (page.start + span[0], page.start + span[1]) if span else None

    def across(wanted: Sequence[str], page: Page) -> tuple[int, int] | None:
        """The span of a quote that begins on this page and ends on the next."""
        reach = 2 * len(wanted[0]) + 20 if wanted and page.end < len(document.text) else 0
        start = max(page.start, page.end - reach)
        joint = document.text[start : page.end + reach]
        span = _locate(wanted, joint, normalised(joint)) if reach else None
        if not span or not start + span[0] < page.end < start + span[1]:
            return None
        return start + span[0], start + span[1]

    def found(number: int, quote: str) -> Citation | None:
        wanted = _wanted(quote)
        named = pages[number - 1] if 1 <= number <= len(pages) else None
        others = [page for page in pages if page is not named]
        for look in (place, across):
            for page in [named, *others] if named else others:
                if span := look(wanted, page):
                    holds = named is not None and span[0] < named.end and span[1] > named.start
                    status: Status = "verified" if holds else "repaired"
                    return _citation(page.number, span, document, status)
        return Citation(page=number, quote=quote, status="unverified") if named else None

    checked: dict[tuple[int, str], Citation] = {}
    for number, quote in quotes:
        if one := found(number, quote):
            checked.setdefault((one.page, one.quote), one)
    return tuple(checked.values())


def _citation(page: int, span: tuple[int, int], document: Document, status: Status) -> Citation:
    return Citation(
        page=page,
        quote=document.text[span[0] : span[1]],
        status=status,
        start=span[0],
        end=span[1],
        locator=document.locator_at(span[0]),
    )


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
    said, asked = content(answer), content(question)
    own = said - asked or said
    if not own or answer == NOT_IN_DOCUMENT:
        return ()
    scored: list[tuple[float, int, int, Page]] = []
    for page in pages:
        for start, end in sentences(page.text):
            words = content(page.text[start:end])
            if (shared := own & words) and end - start >= SHORTEST_QUOTE:
                score = 3 * len(shared) / len(own) + len(words & asked) / max(1, len(asked))
                scored.append((score, page.start + start, page.start + end, page))
    scored.sort(key=lambda s: (-s[0], s[1]))
    best = [s for s in scored[:most] if s[0] >= 0.75 * scored[0][0]]
    return tuple(
        _citation(page.number, (start, end), document, "verified") for _, start, end, page in best
    )


def best(said: str, document: Document, start: int, end: int) -> str:
    """The sentence of the span that shares most words with what is said; "" when none does."""
    words = content(said)
    spans = sentences(document.text, start, end)
    scored = [(len(words & content(document.text[a:b])), -a, b) for a, b in spans]
    score, at, stop = max(scored, default=(0, 0, 0))
    return document.text[-at:stop] if score else ""


def content(text: str) -> set[str]:
    """The content words of a text by their stem; pairs of characters where nothing parts words."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_SAME)
    words = re.findall(r"\w+", _UNSPACED.sub(" ", plain))
    found = {re.sub(r"(?:ing|ed|es|s)$", "", w) if len(w) > 4 else w for w in words} - _COMMON
    for run in re.findall(f"(?:{_UNSPACED.pattern})+", plain):
        found |= {run[k : k + 2] for k in range(max(1, len(run) - 1))}
    return found
