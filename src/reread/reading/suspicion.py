"""Text that speaks to a model instead of to a reader, found by rule and reported.

Nothing is done about it here: in a prompt such text is data like any other (`prompts.defuse`,
`marks`), and replies are checked against what was offered. A report only tells the user. It finds
what attacks have in common, in ten languages; an attack in other words is not found and is data
all the same. A text about such attacks is reported as well.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Literal

from reread.evidence import Suspicion
from reread.prompts import TOKENS
from reread.reading.render import APPENDED, LOOKED_INTO
from reread.reading.typography import INVISIBLE
from reread.types import Page

Kind = Literal["instruction", "imitation", "token", "hidden"]
_MOST = 100  # reports of one document
_SHOWN = 80  # characters of one report
_INVISIBLE = re.compile(f"[{INVISIBLE}]")

_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f")
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_OVERRIDE = re.compile("[\u202d\u202e]")
_ROW = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_SPLIT = re.compile("[A-Za-z][\u200b\u2060\ufeff\u200c\u200d][A-Za-z]")
_FEWEST_SPLIT = 4  # on a page; a few come with the text of web pages


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """The patterns of `suspicion.toml`, by what they find."""
    data = tomllib.loads(resources.files(__package__).joinpath("suspicion.toml").read_text("utf-8"))
    words = data["words"] | {"APPENDED": re.escape(APPENDED), "LOOKED_INTO": re.escape(LOOKED_INTO)}
    whole = re.compile("|".join(words))
    return {
        kind: re.compile(
            "|".join(whole.sub(lambda m: words[m[0]], pattern) for pattern in patterns),
            re.IGNORECASE | re.MULTILINE,
        )
        for kind, patterns in data["patterns"].items()
    }


def suspicions(pages: Iterable[Page]) -> tuple[Suspicion, ...]:
    """What on these pages looks like an attack: of each kind the first on a page, in order."""
    found: list[Suspicion] = []
    for page in pages:
        for kind, text in _on_page(page.text):
            found.append(Suspicion(page=page.number, kind=kind, text=_shown(text)))
            if len(found) == _MOST:
                return tuple(found)
    return tuple(found)


def _on_page(text: str) -> Iterator[tuple[Kind, str]]:
    visible = text
    if not text.isascii():
        if hidden := _hidden(text):
            yield "hidden", hidden
        visible = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("instruction", _patterns()["instructions"]),
        ("imitation", _patterns()["imitations"]),
        ("token", TOKENS),
    )
    for kind, pattern in kinds:
        if match := pattern.search(visible):
            yield kind, visible[match.start() : match.start() + 2 * _SHOWN]


def _hidden(text: str) -> str:
    """What stands hidden in the text, in words; empty when nothing does."""
    if tags := _TAGS.search(_FLAG.sub("", text)):
        return "tag characters: " + "".join(chr(ord(c) - 0xE0000) for c in tags[0])
    if _OVERRIDE.search(text):
        return "characters that turn the direction of the text"
    if row := _ROW.search(text):
        return f"{len(row[0])} invisible characters in a row"
    split = len(_SPLIT.findall(text))
    return f"invisible characters within {split} words" if split >= _FEWEST_SPLIT else ""


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
