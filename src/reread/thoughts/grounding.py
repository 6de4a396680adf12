"""Whether a thought stands in its evidence; no model is asked.

The confidence of the paper sees a question and an answer, so a fluent invention passes. Here each
sentence of a thought needs one sentence of the evidence that says all of it: every word, in that
form or another, every number and every name, and what it denies. Only three things may be added:
words that say nothing by themselves (`languages`), a name from the sentence before where this one
points there, and words of the question where this one names nobody and nothing else. A true thought
in other words is refused: what is lost is a thought, what would be kept is an invention.

What the rule cannot see: who of two did it to whom where all words are the same, a word of the
sentence itself in another's place, and what only the question holds ("stolen" for "lit", where it
asks when the lamp was stolen).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import inf

from reread.reading.replies import in_digits
from reread.reading.typography import SAME, UNSPACED
from reread.text import count_words, sentences
from reread.thoughts.inflection import forms, language_of
from reread.thoughts.languages import (
    CLAUSE,
    FREE_CHARACTERS,
    NUMERALS,
    SYLLABIC,
    TURNING,
    WORD,
    Language,
)

_COVERED = 0.7  # share of a sentence's words that its evidence must hold without the question
_SHORTEST, _LONGEST = 4, 80  # words; a thought is a point, neither a title nor an essay
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)(?<![\"'(])\b[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'-]{2,}")
_NUMBER = re.compile(r"(?:(?<![\w.])-)?(?:[£$€¥₹₽]\s?)?\d+(?:[.,]\d+)*(?:\s?[%‰°£$€¥₹₽])?")
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}\b)")
_VOWEL_SIGNS = re.compile("[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")  # written or not
_CLIPPED = (
    (re.compile(r"\bcan(?:'t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"\bn'(?=\w)", re.IGNORECASE), "ne "),
    (re.compile(r"(?<=\w)'[^\W\d_]\b|\b[^\W\d_]'(?=\w)"), " "),  # "keeper's", "l'homme"
)
_LEAST_SHARED = 2  # words by which two clauses are about the same


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A text that a thought may rest on, and the number of the item it belongs to."""

    item: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The items that the thought stands in, and why it does not stand; one of both is empty."""

    items: frozenset[int] = frozenset()
    reason: str = ""


def grounded(
    thought: str, question: str, evidence: Sequence[Evidence], beside: str = ""
) -> Verdict:
    """Where each sentence of the thought stands, or why one does not.

    `beside` is what else its author was shown: words that may have been mixed up with others.
    """
    spans = sentences(thought)
    if not spans or not _SHORTEST <= count_words(thought) <= _LONGEST:
        return Verdict(reason="it is a mere title, or an essay")
    shown = " ".join([beside, *(e.text for e in evidence)])
    places = [_Place(e, question, shown) for e in evidence]
    items: set[int] = set()
    for start, end in spans:
        said = thought[start:end]
        found = {place.item for place in places if place.says(said)}
        if not found:
            return Verdict(reason=f"the evidence does not say: {said}")
        items |= found
    return Verdict(frozenset(items))


class _Place:
    """A piece of evidence, with the sentences that it is made of."""

    def __init__(self, evidence: Evidence, question: str, shown: str) -> None:
        self.item = evidence.item
        self.language = language_of(evidence.text)
        self.asked = _parsed(question, self.language)
        self._sentences = list(_pointed(evidence.text, self.language))
        self._shown = shown

    @cached_property
    def _known(self) -> frozenset[str]:
        return _parsed(self._shown, self.language).keys

    def says(self, sentence: str) -> bool:
        """Whether one of its sentences, read with the one before, says this."""
        frames = self.language.frames
        said = _parsed(frames.sub("", sentence) if frames else sentence, self.language)
        return any(self._holds(said, *two) for two in self._sentences)

    def _holds(self, said: _Sentence, near: _Sentence, pointed: Set[str]) -> bool:
        if not said.numbers <= near.numbers or not _agree(said, near):
            return False
        if not _bound_alike(said, near):
            return False
        absent = [word for word in said.words if not near.has(word)]
        borrowed = [w for w in absent if w not in said.named or pointed.isdisjoint(self._forms(w))]
        if not all(self.asked.has(word) for word in borrowed):
            return False
        if any(not said.has(name) for name in near.names) and (
            len(borrowed) < len(absent) or self._mixed_up(borrowed)
        ):
            return False
        strange = _not_covered(said.runs, near, self.asked)
        if strange is None:
            return False
        size = len(said.words) + len(said.numbers) + sum(map(len, said.runs))
        return len(borrowed) + strange <= (1 - _COVERED) * size and size > 0

    def _mixed_up(self, words: Iterable[str]) -> bool:
        """Whether one of the words stands elsewhere in what was shown."""
        return any(not self._known.isdisjoint(self._forms(word)) for word in words)

    def _forms(self, word: str) -> frozenset[str]:
        return forms(word, self.language)


# -- what a sentence is made of -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause that something turns, such as "not": its other words, and what turns it."""

    words: frozenset[str]
    turning: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What a sentence says, word for word.

    `words` are those that say something, in their order, `keys` the forms of all. `named` are words
    with a capital and `capitals` their forms; `names` are the names among them. Where nothing parts
    words, `runs` are the stretches between marks, as characters and whole numbers.
    """

    language: Language
    words: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    points: bool = False
    runs: tuple[tuple[str, ...], ...] = ()
    flow: str = ""
    turned: tuple[_Clause, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()

    def has(self, word: str) -> bool:
        """Whether the word stands here in some form."""
        return not self.keys.isdisjoint(forms(word, self.language))


def _pointed(text: str, language: Language) -> Iterator[tuple[_Sentence, frozenset[str]]]:
    """Each sentence, and the forms of the names that it may point to.

    They stand in the sentence before, or where that only points too, in the one it points to.
    """
    names = frozenset[str]()
    for start, end in sentences(text):
        near = _parsed(text[start:end], language)
        names = names if near.points else frozenset()
        yield near, names
        names = near.capitals or names


def _parsed(text: str, language: Language) -> _Sentence:
    flat = _flat(text, language)
    spaced = UNSPACED.sub(" ", flat)
    written = WORD.findall(spaced)
    tokens = [word.casefold() for word in written]
    words = tuple(w for w in tokens if _says(w, language))
    named = {w.casefold() for w in written if w[0].isupper()} & set(words)
    numbers = {re.sub(r"\s", "", number) for number in _NUMBER.findall(spaced)}
    runs = tuple(_runs(flat))
    pairs = {a + b for run in runs for a, b in zip(run, run[1:], strict=False)}
    return _Sentence(
        language=language,
        words=words,
        keys=_keys(words, language) | pairs,
        numbers=frozenset(numbers | {w for w in tokens if language.counts(w)}),
        named=frozenset(named),
        capitals=_keys(named, language),
        names=frozenset(w for n in _NAME.findall(spaced) for w in _words(n, language)),
        points=not language.pointing.isdisjoint(tokens),
        runs=runs,
        flow=_END.join(_flow(run) for run in runs),
        turned=tuple(_turned(flat, language)),
        bound=tuple(_bound(tokens, language)),
    )


def _flat(text: str, language: Language) -> str:
    """The text in one typography, with its numbers in plain digits."""
    text = unicodedata.normalize("NFKC", text).translate(SAME)
    text = _VOWEL_SIGNS.sub("", text)
    text = re.sub(r"\d", lambda m: str(unicodedata.decimal(m[0])), text)
    for clipped, whole in _CLIPPED:
        text = clipped.sub(whole, text)
    return in_digits(text) if language.digits else _THOUSANDS.sub("", text)


def _words(text: str, language: Language) -> list[str]:
    return [w for w in map(str.casefold, WORD.findall(text)) if _says(w, language)]


def _says(word: str, language: Language) -> bool:
    """Whether the word says something by itself; numbers and what turns are looked at apart."""
    return not (word in language.free or language.turns(word) or language.counts(word))


def _bound(tokens: Iterable[str], language: Language) -> Iterator[tuple[str, str]]:
    """Words such as "by" and "for", each with the word that it binds."""
    binding = ""
    for word in tokens:
        if word in language.binding:
            binding = word
        elif binding and _says(word, language):
            yield binding, word
            binding = ""


def _bound_alike(said: _Sentence, near: _Sentence) -> bool:
    """Whether nothing that is "for" somebody has become "by" them."""
    for binding, word in said.bound:
        keys = forms(word, said.language)
        theirs = {b for b, other in near.bound if not keys.isdisjoint(forms(other, said.language))}
        if theirs and binding not in theirs:
            return False
    return True


# -- what turns a sentence ----------------------------------------------------------------------


def _turned(flat: str, language: Language) -> Iterator[_Clause]:
    for clause in CLAUSE.split(flat):
        tokens = set(map(str.casefold, WORD.findall(UNSPACED.sub(" ", clause))))
        turning = {word for word in tokens if language.turns(word)}
        if turning or TURNING.search(clause):
            pairs = {a + b for run in _runs(clause) for a, b in zip(run, run[1:], strict=False)}
            words = {word for word in tokens if _says(word, language)} | pairs
            yield _Clause(frozenset(words), frozenset(turning))


def _agree(said: _Sentence, near: _Sentence) -> bool:
    """Whether what turns one of the two turns the same in the other."""
    used = [theirs for theirs in near.turned if _shared(theirs, said.keys, said.language)]
    return all(
        any(_same(own, theirs, said.language) for theirs in near.turned) for own in said.turned
    ) and (all(any(_same(own, theirs, said.language) for own in said.turned) for theirs in used))


def _same(own: _Clause, theirs: _Clause, language: Language) -> bool:
    """Whether the same turns the same; "not" may stand for "never", and for nothing else."""
    extra, missing = own.turning - theirs.turning, theirs.turning - own.turning
    if not extra <= language.plain or (missing and not extra):
        return False
    keys = _keys(theirs.words, language)
    return not own.words or not theirs.words or _shared(own, keys, language, len(theirs.words))


def _shared(clause: _Clause, keys: Set[str], language: Language, most: int = 2) -> bool:
    """Whether so many of the clause's words are there that it says what they say."""
    found = sum(not keys.isdisjoint(forms(word, language)) for word in clause.words)
    return found > 0 and found >= min(most, _LEAST_SHARED, len(clause.words))


def _keys(words: Iterable[str], language: Language) -> frozenset[str]:
    return frozenset[str]().union(*(forms(word, language) for word in words))


# -- where nothing parts words ------------------------------------------------------------------

_PIECE = re.compile(r"[0-9]+(?:[.,][0-9]+)*|.", re.DOTALL)
_BETWEEN, _END = "\x1f", "\x1e"


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Each stretch between marks, as characters and whole numbers."""
    run: list[str] = []
    for piece in [*_PIECE.findall(text), _END] if UNSPACED.search(text) else ():
        if not (piece[0].isdigit() or _is_unspaced(piece)):
            if any(map(_is_unspaced, run)):
                yield tuple(run)
            run = []
        elif run and piece in NUMERALS and run[-1][-1] in NUMERALS:
            run[-1] += piece
        else:
            run.append(piece)


def _is_unspaced(piece: str) -> bool:
    letter = piece[0].isalnum() or unicodedata.category(piece[0])[0] == "M"
    return letter and bool(UNSPACED.match(piece))


def _flow(run: Sequence[str]) -> str:
    return f"{_BETWEEN}{_BETWEEN.join(run)}{_BETWEEN}"


def _not_covered(runs: Iterable[Sequence[str]], near: _Sentence, asked: _Sentence) -> int | None:
    """How many characters only the question holds; None when one stands in neither.

    A single character is found by chance, so pieces of two or more must be found as they stand.
    """
    total = 0
    for run in runs:
        least = 4 if SYLLABIC.match(run[0]) else 2
        costs: list[float] = [0.0]
        for end, last in enumerate(run, 1):
            cost = costs[-1] if last in FREE_CHARACTERS else inf
            for start in range(max(0, end - 2 * least + 1), end - least + 1):
                piece = run[start:end]
                if _flow(piece) in near.flow:
                    cost = min(cost, costs[start])
                elif _flow(piece) in asked.flow and not any(
                    c[0] in NUMERALS or c[0].isdigit() for c in piece
                ):
                    cost = min(cost, costs[start] + len(piece))
            costs.append(cost)
        if costs[-1] == inf:
            return None
        total += int(costs[-1])
    return total
