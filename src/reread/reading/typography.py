"""Text in one typography, so that a quote is found however its characters were set.

Equal are: compatibility forms (NFKC), kinds of quotation marks and of dashes, ligatures, soft
hyphens and hyphens at a line's end, kinds and numbers of spaces, full-width forms and the brackets
of Chinese and Japanese, and what cannot be seen. Letters, digits, their order and their case are
not touched. A number set small or in a circle stays what it is, or "10²" would become "102".

Invariant: `Plain.offsets` names for each character of the plain text the character of the source
that it came from, so what is found can be shown as it stands there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}\u0640]")  # with the stroke that lengthens Arabic words
SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´＇׳ʹʼ❛❜", "'"),
        **dict.fromkeys("“”„‟″«»＂「」『』《》〈〉〝〞〟״❝❞", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣－⁃־֊﹘⸺⸻", "-"),
        **dict.fromkeys("【〔〖〘〚⁅", "["),
        **dict.fromkeys("】〕〗〙〛⁆", "]"),
        **dict.fromkeys("‹⟨", "<"),
        **dict.fromkeys("›⟩", ">"),
        "〜": "~",
        "⁄": "/",
    }
)
# Scripts where a space or line break stands for nothing, and those that do not show where a word
# ends.
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
_LINE_END_HYPHEN = re.compile(r"[-\u00ad‐][ \t]*\n\s*(?=\w)")
OPTIONAL = "\u00ad"  # in plain text: a hyphen at a line's end, which may belong to the word
# Their digits would become digits of the number beside them.
_KEPT_APART = ("<super>", "<sub>", "<fraction>", "<circle>")
_MOST_ACCENTS = 30  # on one letter; no writing has more
_MOST_PLACES = 200  # a text where so many places are no whole words is made to waste time


@dataclass(frozen=True, slots=True)
class Plain:
    """A source in one typography.

    `key` is the plain text without hyphens and `places` the index in the plain text of each of its
    characters; `hyphens` are the indices into `key` before which hyphens stand, `kinds` which.
    """

    source: str
    text: str
    offsets: list[int]
    key: str = field(init=False)
    places: list[int] = field(init=False)
    hyphens: list[int] = field(init=False)
    kinds: dict[int, str] = field(init=False)

    def __post_init__(self) -> None:
        places = [k for k, c in enumerate(self.text) if c not in ("-", OPTIONAL)]
        kinds: dict[int, str] = {}
        if len(places) < len(self.text):
            count = 0
            for c in self.text:
                if c in ("-", OPTIONAL):
                    kinds[count] = "-" if kinds.get(count, c) == "-" else OPTIONAL
                else:
                    count += 1
        object.__setattr__(self, "key", self.text.replace("-", "").replace(OPTIONAL, ""))
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "hyphens", sorted(kinds))

    def parted(self, k: int) -> bool:
        """Whether white space stood before this character that the plain text leaves out."""
        between = self.source[self.offsets[k - 1] + 1 : self.offsets[k]]
        return any(c.isspace() for c in between)


def plain(text: str) -> Plain:
    """The text in one typography.

    A hyphen at a line's end, which may be the word's own or not, becomes a soft one.
    """
    out: list[str] = []
    offsets: list[int] = []
    skip_to = 0
    for k, char in enumerate(text):
        if k < skip_to:
            continue
        if char in "-\u00ad‐" and (broken := _line_end_hyphen(text, k)):
            skip_to = broken
            sure = char != "\u00ad" and not text[broken].islower()
            out.append("-" if sure else OPTIONAL)
            offsets.append(k)
            continue
        for c in _one(char):
            _append(out, offsets, c, k, text)
    return Plain(text, "".join(out), offsets)


def _line_end_hyphen(text: str, k: int) -> int:
    """Where the word goes on that the hyphen breaks over a line's end; 0 when it breaks none."""
    broken = _LINE_END_HYPHEN.match(text, k)
    return broken.end() if broken and k and _wordlike(text[k - 1]) else 0


def _append(out: list[str], offsets: list[int], c: str, k: int, text: str) -> None:
    """Adds one plain character that came from `text[k]`, or leaves it out."""
    last = out[-1] if out else " "
    if c.isspace():
        if last == " ":
            return
        c = " "
    elif c == "-" == last:
        return  # two hyphens are how typewriters write a dash
    elif c in "'\"" and not _after_a_number(out):
        c = "'"
        if last == "'":
            return
    if last == " " and len(out) > 1 and _space_counts_for_nothing(out[-2], c, k, text):
        out.pop()
        offsets.pop()
    if c == " " and text[k - 1] == "«" and _opens(text, k - 1):
        return
    out.append(c)
    offsets.append(k)
    if unicodedata.combining(c):
        _in_canonical_order(out, offsets)


def _after_a_number(out: list[str]) -> bool:
    """Whether a mark would mean feet or inches here."""
    return "".join(out[-2:]).rstrip("'\"")[-1:].isdigit()


def _space_counts_for_nothing(before: str, c: str, k: int, text: str) -> bool:
    """Whether the space between the two is a matter of typesetting alone."""
    if _WIDE.match(before) or _WIDE.match(c) or before == "." == c:
        return True
    if c == "-":
        return not text[k + 1 : k + 2].isdigit() and not before.isdigit()
    if before == "-":
        return not c.isdigit()
    if c in "?!;:" or (c == "." and (text[k] == "…" or text[k + 1 : k + 3] in (" .", ".."))):
        return True
    return text[k] == "»" and not text[k + 1 : k + 2].isalnum()


def _opens(text: str, k: int) -> bool:
    """Whether the mark opens a quotation in the French way."""
    return k == 0 or not text[k - 1].isalnum()


def _in_canonical_order(out: list[str], offsets: list[int]) -> None:
    """Moves the last accent before those of a higher class, as canonical order wants."""
    k = len(out) - 1
    lowest = max(0, k - _MOST_ACCENTS)
    while k > lowest and unicodedata.combining(out[k - 1]) > unicodedata.combining(out[k]):
        out[k - 1], out[k] = out[k], out[k - 1]
        offsets[k - 1], offsets[k] = offsets[k], offsets[k - 1]
        k -= 1


@lru_cache(maxsize=8192)
def _one(char: str) -> str:
    if _INVISIBLE.match(char):
        return ""
    if unicodedata.decomposition(char).startswith(_KEPT_APART):
        return char
    if "㈀" <= char <= "㋿":  # numbers and letters in circles and brackets that are no <circle>
        return char
    return unicodedata.normalize("NFKD", char).translate(SAME)


_NO_LETTER = bytes(k for k in range(128) if not chr(k).isalnum())


def letters(text: str) -> str:
    """The letters and digits alone: where a quote is found, its letters stand in those of the text.

    Cheap, so that a long document can be passed over page by page.
    """
    if text.isascii():
        return text.encode().translate(None, _NO_LETTER).decode()
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text))


# -- finding ------------------------------------------------------------------------------------


def places(wanted: Plain, text: Plain) -> Iterator[tuple[int, int]]:
    """Half-open spans of the source where the wanted stands in whole words, in order."""
    size, tried = len(wanted.key), 0
    at = text.key.find(wanted.key) if size else -1
    while at >= 0 and tried < _MOST_PLACES:
        if _same_hyphens(wanted, text, at):
            first, last = text.places[at], text.places[at + size - 1]
            first -= 1 if wanted.text[0] == "-" else 0
            last += 1 if wanted.text[-1] == "-" else 0
            if _edge(text, first) and _edge(text, last + 1):
                start, end = text.offsets[first], text.offsets[last] + 1
                yield start, _with_accents(text.source, end)
        at, tried = text.key.find(wanted.key, at + 1), tried + 1


def _with_accents(source: str, end: int) -> int:
    while end < len(source) and unicodedata.combining(source[end]):
        end += 1
    return end


def _same_hyphens(wanted: Plain, text: Plain, at: int) -> bool:
    """Whether hyphens stand at the same places; a line's end may have added one or not."""
    size = len(wanted.key)
    low, high = bisect_left(text.hyphens, at), bisect_left(text.hyphens, at + size + 1)
    there = {k - at: text.kinds[k] for k in text.hyphens[low:high]}
    for k, kind in wanted.kinds.items():
        if there.get(k, "") != kind and OPTIONAL not in (kind, there.get(k)):
            return False
    return all(k in wanted.kinds or k in (0, size) or kind == OPTIONAL for k, kind in there.items())


_JOINS = "-‐‑־'’ʼ"
_SIGNS = "-−–‐‑±≤≥."
_NO_BREAK = "\u00a0\u2007\u2009\u202f"
_HAN_NUMBER = re.compile("[〇零一二三四五六七八九十百千万萬亿億]")
_SCALE = re.compile(
    r"(?:[%‰°]|(?:percent|per cent|hundred|thousand|[mbt]r?illion|million|millones|milliard|"
    r"Mio|Mrd|Million|Milliard|Prozent|mille|mil|pour cent|por ciento|тыс|млн|млрд|процент))"
)


def _edge(text: Plain, k: int) -> bool:
    """Whether no word and no number runs on over the place before plain character `k`."""
    if not 0 < k < len(text.text):
        return True
    a, b = text.text[k - 1], text.text[k]
    if text.offsets[k - 1] == text.offsets[k] or unicodedata.category(b)[0] == "M":
        return False
    if OPTIONAL in (a, b):
        return False
    if " " in (a, b) or text.parted(k):
        return not _number_goes_on(text, k) and not _broken_at_its_hyphen(text, k)
    if a.isdigit() and (b.isdigit() or b in "%‰°" or _HAN_NUMBER.match(b)):
        return False
    if UNSPACED.match(a) or UNSPACED.match(b):
        return not (_HAN_NUMBER.match(a) and _HAN_NUMBER.match(b))
    if _wordlike(a) and _wordlike(b):
        return False
    if b.isdigit() and text.source[text.offsets[k - 1]] in _SIGNS:
        return False
    return not _runs_on(text, k, 1) and not _runs_on(text, k - 1, -1)


def _broken_at_its_hyphen(text: Plain, k: int) -> bool:
    """Whether the place is the line's end at which a word breaks at a hyphen of its own."""
    if k < 2 or text.parted(k - 1) or not _wordlike(text.text[k - 2]):
        return False
    end = text.source[text.offsets[k - 1] : text.offsets[k]]
    return end[0] in "-‐" and "\n" in end


def _number_goes_on(text: Plain, k: int) -> bool:
    """Whether a space stands inside a number: between its thousands, or before its scale."""
    at = k if text.text[k] == " " else k - 1
    if text.text[at] != " " or not 0 < at < len(text.text) - 1 or not text.text[at - 1].isdigit():
        return False
    if text.text[at + 1].isdigit():
        return text.source[text.offsets[at]] in _NO_BREAK
    return at == k and bool(_SCALE.match(text.text, at + 1))


def _runs_on(text: Plain, k: int, step: int) -> bool:
    """Whether a word or number goes on over the mark at `k`: "can't", "non-stop", "1,500"."""
    before, beyond = k - step, k + step
    if not (0 <= before < len(text.text) and 0 <= beyond < len(text.text)):
        return False
    one, other = text.text[before], text.text[beyond]
    if not _wordlike(one) or not _wordlike(other) or text.parted(max(k, beyond)):
        return False
    mark = text.source[text.offsets[k]]
    return mark in _JOINS or (one.isdigit() and other.isdigit() and text.text[k] in ".,:/-")


def _wordlike(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"
