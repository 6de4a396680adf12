"""What each sentence of an answer rests on: a page read in full, a gist only, or nothing.

A rule over words, without a model. A sentence rests on a page when the page holds all its numbers
and names, and a passage of the page most of the words that the sentence adds to the question. A
checked quote that the model gave from the page may stand in for the words. A sentence that adds
nothing, such as "Yes.", is judged by the words of the question. Gists are judged in the same way.

What the rule cannot see: a negation, who did what to whom, and an answer in another language than
the text (there names and numbers decide, with a quote). It believes a true quote to be to the
point. A free paraphrase without a quote may count as resting on nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reread.evidence import Basis, Note, Sentence
from reread.reading import replies
from reread.reading.quotes import content
from reread.reading.render import parts
from reread.text import sentences
from reread.types import Citation, GistMemory, Page

_PASSAGE_SENTENCES = 3
_OF_PASSAGE, _OF_PAGE = 0.6, 0.8  # shares of a sentence's own words that must be found there
_LIKELY_PAGES = 20  # of a section, looked at closely
_STEM = 6  # letters by which inflected forms of a word meet
_ASSENT = frozenset(
    "yes no not true false correct ja nein oui non sí si da нет да はい いい いえ 是 不是".split()
)
_CAPITAL = re.compile(r"(?<=[^\W\d_,;] )([^\W\d_])")


@dataclass(frozen=True, slots=True)
class Grounds:
    """An answer's sentences with what they rest on.

    `unread` are pages that a sentence would rest on which only a gist supports, their own or that
    of a section that holds them; the first needed first.
    """

    sentences: tuple[Sentence, ...]
    unread: tuple[int, ...] = ()

    @property
    def any(self) -> bool:
        """Whether anything that was read supports any of the answer."""
        return any(sentence.support != "none" for sentence in self.sentences)


def grounds(
    question: str,
    answer: str,
    quoted: Sequence[Citation],
    memory: GistMemory,
    opened: Sequence[int],
    visible: Iterable[int],
    notes: Sequence[Note] = (),
) -> Grounds:
    """What the answer's sentences rest on.

    `quoted` are checked quotes that the model gave itself, `opened` the pages read in full,
    `visible` those whose gists were shown. A note that was shown counts as a gist of its pages; one
    from other documents alone is asked last.
    """
    pages = [_Source(memory.pages[n - 1].text, (n,)) for n in opened]
    gists = [_Source(memory.gists[n - 1], (n,)) for n in visible if n not in opened]
    if not memory.provisional:
        gists += [_Source(s.gist, range(s.first, s.last + 1)) for s in parts(memory)]
    others = [_Source(n.text, ()) for n in notes if n.elsewhere and not n.pages]
    gists += [_Source(n.text, n.pages[:1]) for n in notes if n.pages or not n.elsewhere]
    spans = sentences(answer)
    found: list[Sentence] = []
    unread: list[int] = []
    for start, end in spans:
        claim = _claim(question, answer[start:end])
        standing = [c for c in quoted if c.status != "unverified"]
        if len(spans) > 1:
            standing = [c for c in standing if claim.own & _stems(c.quote)]
        support, on = _basis(claim, standing, pages, gists, memory.pages)
        if support == "none" and any(_supports(claim, other) for other in others):
            support = "elsewhere"
        unread += [n for source in on if (n := _to_read(claim, source, memory.pages, opened))]
        found.append(Sentence(text=answer[start:end], start=start, end=end, support=support))
    return Grounds(tuple(found), tuple(dict.fromkeys(unread)))


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a sentence says: its own words, and the sentence without what the question holds."""

    text: str
    own: frozenset[str]
    question: str
    whole: bool  # whether every word counts, as in an answer that is a name


class _Source:
    """A page, or a gist of `pages`, its words counted when first asked for."""

    def __init__(self, text: str, pages: Sequence[int]) -> None:
        self.text = text
        self.pages = pages
        self._passages: list[frozenset[str]] | None = None

    @property
    def passages(self) -> list[frozenset[str]]:
        """The stems of each few sentences that follow one another."""
        if self._passages is None:
            each = [_stems(self.text[a:b]) for a, b in sentences(self.text)]
            last = max(1, len(each) - _PASSAGE_SENTENCES + 1)
            self._passages = [
                frozenset().union(*each[k : k + _PASSAGE_SENTENCES]) for k in range(last)
            ]
        return self._passages

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the whole."""
        return frozenset().union(*self.passages)


def _claim(question: str, sentence: str) -> _Claim:
    asked, said = _stems(question), _stems(sentence) - _ASSENT
    words = [w for w in re.findall(r"[^\W\d_]+", sentence) if content(w)]
    named = bool(words) and all(w[0].isupper() for w in words)
    own = said - asked
    return _Claim(sentence, frozenset(own or asked), question, bool(own) and named)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in content(replies.in_digits(text)))


def _basis(
    claim: _Claim,
    quoted: Sequence[Citation],
    pages: Sequence[_Source],
    gists: Sequence[_Source],
    all_pages: Sequence[Page],
) -> tuple[Basis, list[_Source]]:
    """What the claim rests on, and the gists where it rests on these."""
    by_number = {page.pages[0]: page for page in pages}
    for citation in quoted:
        if citation.page in by_number and _holds(claim, by_number[citation.page].text):
            return "page", []
    if any(_supports(claim, page) for page in pages):
        return "page", []
    if len(pages) > 1 and _supports_whole(claim, [page.text for page in pages], pages):
        return "page", []
    for citation in quoted:
        if 1 <= citation.page <= len(all_pages) and _holds(
            claim, all_pages[citation.page - 1].text
        ):
            return "gist", [_Source(all_pages[citation.page - 1].text, (citation.page,))]
    if on := [gist for gist in gists if _supports(claim, gist)]:
        return "gist", [gist for gist in on if len(gist.pages) == 1] or on
    near = sorted(gists, key=lambda g: -len(claim.own & g.stems))[:2]
    if _supports_whole(claim, [s.text for s in (*pages, *near)], (*pages, *near)):
        return "gist", [g for g in near if claim.own & g.stems]
    return "none", []


def _to_read(
    claim: _Claim, gist: _Source, pages: Sequence[Page], opened: Sequence[int]
) -> int | None:
    """The page behind a gist that would support the claim, None where it was read or is not known.

    Of the pages of a section, the one that supports the claim itself, else that shares most words
    with it.
    """
    if len(gist.pages) == 1:
        return gist.pages[0] if gist.pages[0] not in opened else None
    shared: dict[int, int] = {}
    for number in gist.pages:
        text = pages[number - 1].text.casefold()
        shared[number] = sum(stem in text for stem in claim.own)
    ranked = sorted((n for n in shared if shared[n] and n not in opened), key=lambda n: -shared[n])
    for number in ranked[:_LIKELY_PAGES]:
        if _supports(claim, _Source(pages[number - 1].text, (number,))):
            return number
    return ranked[0] if ranked else None


def _supports(claim: _Claim, source: _Source) -> bool:
    """Whether a passage holds most of the claim's own words, and the whole its facts."""
    if not claim.own:
        return False
    share = max(len(claim.own & passage) for passage in source.passages) / len(claim.own)
    wide = len(claim.own & source.stems) / len(claim.own)
    return (share >= _needed(claim, _OF_PASSAGE) or wide >= _needed(claim, _OF_PAGE)) and _holds(
        claim, source.text
    )


def _supports_whole(claim: _Claim, texts: Sequence[str], sources: Sequence[_Source]) -> bool:
    if not claim.own:
        return False
    held: frozenset[str] = frozenset().union(*(source.stems for source in sources))
    wide = len(claim.own & held) / len(claim.own)
    return wide >= _needed(claim, _OF_PAGE) and _holds(claim, "\n".join(texts))


def _needed(claim: _Claim, share: float) -> float:
    """The share of its own words that must be found: of few words, all but none."""
    count = len(claim.own)
    return 1.0 if claim.whole else math.ceil(share * count) / count


def _holds(claim: _Claim, text: str) -> bool:
    """Whether the text holds the claim's numbers and, where they can be told, its names.

    Where all nouns are written with a capital, names cannot be told from them.
    """
    asked = set(re.findall(r"\w+", claim.question))
    absent = [x for x in replies.invented(claim.text, text) if x not in asked]
    if claim.whole:
        stems = _stems(text)
        return not absent and claim.own <= stems
    return not any(x.isdigit() for x in absent) and (not absent or _capitalises(text))


def _capitalises(text: str) -> bool:
    """Whether the language of the text writes common nouns with a capital."""
    starts = _CAPITAL.findall(text[:4000])
    return len(starts) >= 40 and sum(c.isupper() for c in starts) > 0.2 * len(starts)


def with_citations(
    sentences_: Sequence[Sentence], citations: Sequence[Citation]
) -> tuple[Sentence, ...]:
    """The sentences, each with the indices of the citations that bear on it.

    Of several sentences, a citation bears on those that share most words with its quote.
    """
    bearing: dict[int, list[int]] = {k: [] for k in range(len(sentences_))}
    for index, citation in enumerate(citations):
        quote = _stems(citation.quote)
        shared = [len(quote & _stems(sentence.text)) for sentence in sentences_]
        most = max(shared, default=0)
        for k, count in enumerate(shared):
            if len(sentences_) == 1 or (count and count == most):
                bearing[k].append(index)
    return tuple(
        Sentence(
            text=s.text, start=s.start, end=s.end, support=s.support, citations=tuple(bearing[k])
        )
        for k, s in enumerate(sentences_)
    )
