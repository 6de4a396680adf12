"""Which language a text is in, and what the forms of a word have in common.

Endings go by paradigm, so that "paid" is not taken for "pad" nor "farm" for "farmer". A stemmer
(snowballstemmer) was the other choice: it knows as many languages, but joins words of different
meaning ("general", "generous"), and here a word too few loses a thought where a word too many keeps
an invention.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

from reread.thoughts.languages import LANGUAGES, WORD, Language

_ENOUGH = 4_000  # characters that show which language it is
_FEWEST, _AHEAD = 3, 1.5  # free words that make it sure, and how many times those of another
_RARE = 12  # words for one that is free: more, and it is another language

# Where it is not clear which language it is, whatever turns a sentence in one of them turns it.
_TURNING = frozenset[str]().union(*(x.plain | x.strong for x in LANGUAGES.values()))
_OTHER = Language(strong=_TURNING, unknown=5)
_UNSURE = {x: replace(x, strong=_TURNING - x.plain - x.free) for x in LANGUAGES.values()}


def language_of(text: str) -> Language:
    """The language of the text by its letters, or where many share these, by its free words."""
    folded = text[:_ENOUGH].casefold()
    scripts = {x.script: len(re.findall(f"[{x.script}]", folded)) for x in LANGUAGES.values()}
    script = max(scripts, key=lambda script: scripts[script])
    written = [x for x in LANGUAGES.values() if x.script == script and scripts[script]]
    if len(written) < 2:
        return written[0] if written else _OTHER
    words = WORD.findall(folded)
    found = [sum(word in language.free for word in words) for language in written]
    second, most = sorted(found)[-2:]
    best = written[found.index(most)]
    if most * _RARE < len(words) or not most:
        return _OTHER
    return best if most >= _FEWEST and most > _AHEAD * second else _UNSURE[best]


@lru_cache(20_000)
def forms(word: str, language: Language) -> frozenset[str]:
    """What a word has in common with the inflected forms of the same word."""
    stems = _stems(word, language)
    return stems.union(*(group for stem in stems if (group := _groups(language).get(stem))))


@cache
def _groups(language: Language) -> dict[str, set[str]]:
    """For each form that no ending explains, its groups."""
    found: dict[str, set[str]] = {}
    for number, (first, *others) in enumerate(language.same):
        for form in (*_stems(first, language), *others):
            found.setdefault(form, set()).add(f"={number}")
    return found


def _stems(word: str, language: Language) -> frozenset[str]:
    """The word, and what each ending leaves of it, with the number of the ending's paradigm."""
    found = {word}
    for bare in {word, *_without(word, language)}:
        found.add(bare)
        for number, paradigm in enumerate(language.paradigms):
            for ending in paradigm:
                stem = bare.removesuffix(ending)
                if not bare.endswith(ending) or len(stem) < language.least:
                    continue
                found.add(f"{stem}+{number}")
                if stem[-2:-1] == stem[-1:] and ending in ("ed", "ing"):  # "stopped"
                    found.add(f"{stem[:-1]}+{number}")
    return frozenset(found)


def _without(word: str, language: Language) -> set[str]:
    """The word without what is written onto its beginning."""
    return {
        word[len(head) :]
        for head in language.before
        if word.startswith(head) and len(word) - len(head) >= max(2, language.least)
    }
