"""WordPiece: a text as the numbers that BERT's uncased vocabulary gives its pieces.

The vocabulary is a file of this package, 0.2 MB, Apache-2.0, whose hash is its publisher's own
(`SHA256`). The `tokenizers` package was the other choice: it brings a client for a model hub and
40 MB for these sixty lines; the numbers are the same.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources

from reread.errors import SettingsError

SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_UNKNOWN, _FIRST, _LAST = 100, 101, 102
_LONGEST_WORD = 100


@cache
def _pieces() -> dict[str, int]:
    data = resources.files(__package__).joinpath("wordpieces.txt").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SettingsError("the vocabulary of the embedder was changed", hint="Install anew")
    return {piece: number for number, piece in enumerate(data.decode().split("\n"))}


def encode(text: str, most: int) -> list[int]:
    """The numbers of the text's pieces between those for its beginning and its end.

    Args:
        text: Any text.
        most: How many numbers at most; what goes beyond is left out.
    """
    numbers = [_FIRST]
    for word in _words(text):
        numbers += _numbers(word)
        if len(numbers) >= most:
            break
    return [*numbers[: most - 1], _LAST]


def _words(text: str) -> Iterator[str]:
    """The text in lower case without accents, cut at white space, marks and Chinese characters."""
    word: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        kind = _kind(char)
        if kind == "part":
            word.append(char)
        elif kind != "none":
            if word:
                yield "".join(word)
                word.clear()
            if kind == "alone":
                yield char
    if word:
        yield "".join(word)


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    """Whether a character is `part` of a word, stands `alone`, is a `gap`, or is `none`."""
    if char in "\t\n\r":
        return "gap"
    category = unicodedata.category(char)
    if category in ("Mn", "Cc", "Cf", "Co") or char == "\ufffd":
        return "none"
    if category[0] == "Z":
        return "gap"
    ascii_mark = char.isascii() and not char.isalnum()
    return "alone" if ascii_mark or category[0] == "P" or _chinese(ord(char)) else "part"


def _chinese(code: int) -> bool:
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF
        or 0x2F800 <= code <= 0x2FA1F
    )


@lru_cache(maxsize=32_768)
def _numbers(word: str) -> tuple[int, ...]:
    """The longest pieces of a word from the left, or the one for a word that has none."""
    if len(word) > _LONGEST_WORD:
        return (_UNKNOWN,)
    known, found, at = _pieces(), list[int](), 0
    while at < len(word):
        lead = "##" if at else ""
        for end in range(len(word), at, -1):
            number = known.get(lead + word[at:end])
            if number is not None:
                break
        else:
            return (_UNKNOWN,)
        found.append(number)
        at = end
    return tuple(found)
