"""Lines with right-to-left script, from glyphs as they stand to text as it is written.

PDFs hold such lines in whatever order their producer liked; where glyphs stand is what can be
trusted. Glyphs are taken from right to left and runs of left-to-right script and numbers are
turned round.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SPACE_EM = 0.2  # a gap wider than this share of the type size is a space nobody drew
_DRAWN_EM = 0.1  # and one somebody drew needs this much
_APART_EM = 1.8  # and wider than this, another column or cell
_ALEF = "\u0622\u0623\u0625\u0627"
_LAM = "\u0644"


@dataclass(slots=True)
class Glyph:
    """A character and its box, x to the right."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float


def is_rtl(text: str) -> bool:
    """Whether a line reads from right to left: by what most of its letters are."""
    rtl = len(RTL.findall(text))
    return rtl * 2 >= sum(c.isalpha() for c in text)


def runs(glyphs: list[Glyph]) -> list[list[Glyph]]:
    """The glyphs of a line, divided at gaps as wide as between columns; rightmost first."""
    ordered = sorted(glyphs, key=lambda g: -g.x1)
    parted: list[list[Glyph]] = []
    edge = 0.0
    for glyph in ordered:
        if glyph.text.isspace():
            if parted:
                parted[-1].append(glyph)
            continue
        if not parted or edge - glyph.x1 > _APART_EM * glyph.size:
            parted.append([])
            edge = glyph.x0
        parted[-1].append(glyph)
        edge = min(edge, glyph.x0)
    return parted


def logical(glyphs: list[Glyph]) -> str:
    """The text of one run of glyphs in the order it is written."""
    bases = _with_marks(_ligatures_apart(glyphs))
    if not is_rtl("".join(b.text for b in bases)):
        return _spaced(list(reversed(bases)))
    turned: list[Glyph] = []
    held: list[Glyph] = []  # a left-to-right run and the neutrals that may belong to it
    for base in bases:
        if RTL.match(base.text):
            turned.extend(_turn_round(held))
            held = []
            turned.append(base)
        else:
            held.append(base)
    return _spaced([*turned, *_turn_round(held)])


def _turn_round(held: list[Glyph]) -> list[Glyph]:
    """A stretch without right-to-left letters: from its first to its last strong character."""
    strong = [k for k, glyph in enumerate(held) if glyph.text[0].isalnum()]
    if not strong:
        return held
    first, last = strong[0], strong[-1] + 1
    return [*held[:first], *reversed(held[first:last]), *held[last:]]


def _ligatures_apart(glyphs: list[Glyph]) -> list[Glyph]:
    """Letters of one ligature in their order; PDFium hands alef and lam over turned round."""
    ordered = sorted(glyphs, key=lambda g: -(g.x0 + g.x1))
    for k in range(len(ordered) - 1):
        one, other = ordered[k], ordered[k + 1]
        same = abs(one.x0 - other.x0) < 0.05 and abs(one.x1 - other.x1) < 0.05
        if same and one.text in _ALEF and other.text == _LAM:
            ordered[k], ordered[k + 1] = other, one
    return ordered


def _with_marks(ordered: list[Glyph]) -> list[Glyph]:
    """Bases from right to left, each with the marks that stand over or under it."""
    bases = [g for g in ordered if not unicodedata.combining(g.text[0])]
    for mark in ordered:
        if unicodedata.combining(mark.text[0]):
            middle = (mark.x0 + mark.x1) / 2
            letters = [b for b in bases if RTL.match(b.text)]
            if letters:
                base = min(letters, key=lambda b: max(b.x0 - middle, middle - b.x1, 0.0))
                base.text += mark.text
    return bases


def _spaced(glyphs: list[Glyph]) -> str:
    """The glyphs' text, with spaces where gaps say so and none was drawn."""
    pieces: list[str] = []
    before: Glyph | None = None
    drawn = False
    for glyph in glyphs:
        if glyph.text.isspace():
            drawn = True
            continue
        if before is not None:
            gap = max(glyph.x0 - before.x1, before.x0 - glyph.x1) / glyph.size
            # A space is also drawn where a mark was set back over its letter: nothing is apart.
            if gap > (_DRAWN_EM if drawn else _SPACE_EM):
                pieces.append(" ")
        pieces.append(glyph.text)
        before, drawn = glyph, False
    return "".join(pieces)
