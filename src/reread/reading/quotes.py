"""Quotes looked for in the text they are said to come from; no model is asked.

A quote is found when it is equal to a stretch of the text up to typography (`typography`). Words,
numbers and their order must be the same, and a stretch begins and ends at a word's edge: so a
paraphrase, two sentences stitched together, a dropped negation and a changed number are not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from reread.reading.replies import NOT_IN_DOCUMENT
from reread.reading.typography import SAME, UNSPACED, Plain, letters, places, plain
from reread.text import sentences
from reread.types import Citation, Document, Page, Status

SHORTEST_QUOTE = 12  # characters; anything shorter is found by chance
_LEAST_SHARED = 0.2  # of an answer's own words; one of many is shared by chance
_FEWEST_LETTERS = 6  # or it is a row of marks


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The half-open span of the quote in the text, None when it is not there.

    Quotation marks and dots around the quote do not count. Shorter than `SHORTEST_QUOTE`
    characters is never found.
    """
    return next(_spans(_wanted(quote), plain(text)), None)


def _wanted(quote: str) -> list[Plain]:
    """The quote in one typography, whole and without the dots around it; [] when too short."""
    whole = plain(quote).text.strip()
    if whole[:1] in ("'", '"'):
        whole = whole.strip(" \"'")
    elif not whole[-2:-1].isdigit():  # or the mark may be inches
        whole = whole.rstrip(" \"'")
    bare = whole.rstrip(" .。")
    if not whole.lstrip(" .")[:1].isdigit():  # or the dot may be a decimal point
        bare = bare.lstrip(" .")
    composed = unicodedata.normalize("NFC", bare)
    if len(composed) < SHORTEST_QUOTE or sum(map(str.isalnum, composed)) < _FEWEST_LETTERS:
        return []
    return [Plain(form, form, list(range(len(form)))) for form in dict.fromkeys((whole, bare))]


def _spans(wanted: Sequence[Plain], text: Plain) -> Iterator[tuple[int, int]]:
    for form in wanted:
        yield from places(form, text)


def cite(
    quotes: Iterable[tuple[int, str]], pages: Sequence[Page], document: Document
) -> tuple[Citation, ...]:
    """Each quote checked: on the page it names, else on any other, else marked as unverified.

    A page that does not exist is never shown: its quote is found elsewhere or left out.
    """
    text = _Text(pages, document)
    checked: dict[tuple[int, str], Citation] = {}
    for number, quote in quotes:
        if one := _checked(text, number, quote):
            checked.setdefault((one.page, one.quote), one)
    return tuple(checked.values())


def _checked(text: _Text, number: int, quote: str) -> Citation | None:
    wanted = _wanted(quote)
    named = text.pages[number - 1] if 1 <= number <= len(text.pages) else None
    if named and (span := text.on(named, wanted) or text.about(named, wanted)):
        return _citation(text.page_at(span[0], named), span, text.document, "verified")
    if found := text.anywhere(wanted):
        return _citation(found[0].number, found[1], text.document, "repaired")
    return Citation(page=number, quote=quote, status="unverified") if named else None


class _Text:
    """A document's pages, each brought into one typography when it is first looked at."""

    def __init__(self, pages: Sequence[Page], document: Document) -> None:
        self.pages = pages
        self.document = document
        self._plain: dict[int, Plain] = {}
        self._letters: list[str] | None = None

    def on(self, page: Page, wanted: Sequence[Plain]) -> tuple[int, int] | None:
        """The span of a quote that stands on this page."""
        if not wanted:
            return None
        if page.number not in self._plain:
            self._plain[page.number] = plain(page.text)
        span = next(_spans(wanted, self._plain[page.number]), None)
        return (page.start + span[0], page.start + span[1]) if span else None

    def about(self, page: Page, wanted: Sequence[Plain]) -> tuple[int, int] | None:
        """The span of a quote of which a part stands on this page and the rest beside it."""
        reach = _reach(wanted)
        for edge in (page.start, page.end):
            start, end = max(0, edge - reach), min(len(self.document.text), edge + reach)
            if span := self._over(start, end, edge, wanted):
                return span
        return None

    def _over(
        self, start: int, end: int, edge: int, wanted: Sequence[Plain]
    ) -> tuple[int, int] | None:
        """The span of a quote that runs over `edge` within `[start, end)`."""
        joint = self.document.text[start:end]
        if not wanted or not start < edge < end or letters(wanted[0].text) not in letters(joint):
            return None
        for a, b in _spans(wanted, plain(joint)):
            if start + a < edge < start + b:
                return start + a, start + b
        return None

    def anywhere(self, wanted: Sequence[Plain]) -> tuple[Page, tuple[int, int]] | None:
        """The first page that holds the quote, or its beginning, and the span."""
        if not wanted:
            return None
        if self._letters is None:
            self._letters = [letters(page.text) for page in self.pages]
        sought, reach = letters(wanted[0].text), _reach(wanted)
        running: tuple[Page, tuple[int, int]] | None = None
        for k, page in enumerate(self.pages):
            if sought in self._letters[k] and (span := self.on(page, wanted)):
                return page, span
            if running is None and sought in self._tail(k, len(sought)):
                end = min(len(self.document.text), page.end + reach)
                start = max(page.start, page.end - reach)
                over = self._over(start, end, page.end, wanted)
                running = (page, over) if over else None
        return running

    def _tail(self, k: int, size: int) -> str:
        """The letters about the end of a page, `size` on either side."""
        assert self._letters is not None
        after = ""
        for further in self._letters[k + 1 :]:
            if len(after) >= size:
                break
            after += further[:size]
        return self._letters[k][-size:] + after[:size]

    def page_at(self, offset: int, named: Page) -> int:
        """The number of the page that holds the offset, which is the named one or before it."""
        number = named.number
        while number > 1 and self.pages[number - 1].start > offset:
            number -= 1
        return number


def _reach(wanted: Sequence[Plain]) -> int:
    """How many characters beyond a page's end a quote may take there, line breaks included."""
    return 2 * len(wanted[0].text) + 40 if wanted else 0


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

    A sentence counts only when it shares a fifth of the words with the answer that the question
    does not hold already, or of all its words when there are no such.
    """
    said, asked = content(answer), content(question)
    own = said - asked or said
    if not own or answer == NOT_IN_DOCUMENT:
        return ()
    scored: list[tuple[float, int, int, Page]] = []
    for page in pages:
        for start, end in sentences(page.text):
            words = content(page.text[start:end])
            shared = len(own & words) / len(own)
            if shared >= _LEAST_SHARED and end - start >= SHORTEST_QUOTE:
                score = 3 * shared + len(words & asked) / max(1, len(asked))
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
    folded = unicodedata.normalize("NFKC", text).casefold().translate(SAME)
    words = re.findall(r"\w+", UNSPACED.sub(" ", folded))
    found = {re.sub(r"(?:ing|ed|es|s)$", "", w) if len(w) > 4 else w for w in words} - _COMMON
    for run in re.findall(f"(?:{UNSPACED.pattern})+", folded):
        found |= {run[k : k + 2] for k in range(max(1, len(run) - 1))}
    return found
