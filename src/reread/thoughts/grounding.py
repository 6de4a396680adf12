"""Whether a thought stands in its evidence; no model is asked.

The confidence of the paper sees a question and an answer, so a fluent invention passes. Here each
sentence of a thought needs a sentence of the evidence that holds its numbers and most of its
words, and none of its names against others; a word that stands elsewhere in the evidence, but not
there, is what a mixed-up fact looks like and counts against it. A true thought in quite other words
is refused too: what is lost is a thought, what would be kept is an invention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reread.reading.quotes import content
from reread.text import count_words, sentences

_COVERED = 0.7  # share of a sentence's content words that its evidence must hold
_SHORTEST, _LONGEST = 4, 80  # words; a thought is a point, neither a title nor an essay
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t)\b", re.IGNORECASE
)
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|that|these|those|there|then|"
    r"who|which|such|both)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)(?<![\"“‘(])\b[A-Z][\w’'-]{2,}")


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
    known = _words(" ".join([beside, *(e.text for e in evidence)]))
    asked = _words(question)
    windows = [(e.item, *w) for e in evidence for w in _windows(e.text)]
    items: set[int] = set()
    for start, end in spans:
        said = thought[start:end]
        found = {item for item, near, wide in windows if _holds(said, near, wide, known, asked)}
        if not found:
            return Verdict(reason=f"the evidence does not say: {said}")
        items |= found
    return Verdict(frozenset(items))


def _windows(text: str) -> list[tuple[str, str]]:
    """Each sentence alone, and together with its neighbours."""
    spans = sentences(text)
    last = len(spans) - 1
    return [
        (text[a:b], text[spans[max(0, k - 1)][0] : spans[min(last, k + 1)][1]])
        for k, (a, b) in enumerate(spans)
    ]


def _holds(said: str, near: str, wide: str, known: set[str], asked: set[str]) -> bool:
    """Whether a sentence of the evidence, read with its neighbours, says this."""
    if not _numbers(said) <= _numbers(near):
        return False
    if bool(_NEGATION.search(said)) != bool(_NEGATION.search(near)):
        return False
    words, held, names = _words(said), _words(near), _names(said)
    plain = words - names
    if len(plain & held) < _COVERED * len(plain):
        return False
    around = held | _words(wide) if _POINTING.search(near) else held
    if len(words & around) < _COVERED * len(words):
        return False
    # A name or a word may stand beside a sentence that points there, or come from the question
    # where it is about this; not where the sentence names somebody or something else.
    others = bool(_names(near) - words)
    borrowed, missing = (words & known) - around, names - held
    if borrowed - asked or (borrowed and others):
        return False
    return not missing or (missing <= around | asked and not others)


def _numbers(text: str) -> set[str]:
    return {re.sub(r"(?<=\d),(?=\d{3})", "", n) for n in _NUMBER.findall(text)}


def _names(text: str) -> set[str]:
    return {word for name in _NAME.findall(text) for word in _words(name)}


def _words(text: str) -> set[str]:
    """Content words, but for single letters, which are what an apostrophe leaves."""
    return {word for word in content(text) if len(word) > 1 or not word.isascii()}
