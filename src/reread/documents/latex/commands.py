"""What LaTeX commands do, by name: each is a function that reads on from its arguments.

A handler is given where the command's name ends and returns where the text goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from reread.documents.latex import environments
from reread.documents.latex.numbers import SECTIONS

if TYPE_CHECKING:
    from reread.documents.latex.reader import Reader

    Handler = Callable[[Reader, str, int, int], int]

MAIN_TITLE_LEVEL = 1  # sections stand below
_DIMENSION = re.compile(
    r"[ \t]*=?[ \t]*[-+]?[\d.,]*[ \t]*(?:\\[a-zA-Z]+|(?:pt|em|ex|cm|mm|in|bp|sp|pc|dd|cc|mu)\b)"
    r"(?:[ \t]*(?:plus|minus)[ \t]*[\d.]+[ \t]*[a-z]{2,4})*[ \t]?"
)
_TRIMMED = re.compile(r"(?:\[[^\]\n]{0,20}\])?[ \t]*(?:\([^()\n]{0,20}\))?")
_FILE = re.compile(r"[ \t]*([^\s{}\\]{1,200})")


def _section(reader: Reader, word: str, at: int, end: int) -> int:
    starred = reader.cursor.text[at : at + 1] == "*"
    at = reader.cursor.after_options(at, end)
    reader.flush()
    number = "" if starred else reader.numbers.step(word)
    reader.current = ("Section" if word != "chapter" else "Chapter", number)
    text, at = reader.argument(at, end)
    if word in ("part", "chapter") and number:
        text = f"{word.capitalize()} {number} {text}"
    elif number:
        text = f"{number} {text}"
    reader.heading(MAIN_TITLE_LEVEL + 1 + SECTIONS.index(word), text)
    return at


def _footnote(reader: Reader, word: str, at: int, end: int) -> int:
    given = reader.cursor.option(at, end)
    at = given[2] if given else at
    if word != "footnotetext":
        reader.note_count += 1
        reader.say(f"[^{reader.note_count}]")
    mark = str(reader.note_count)
    if word == "footnotemark":
        return at
    text, at = reader.argument(at, end)
    reader.note(mark, text)
    return at


def _thanks(reader: Reader, word: str, at: int, end: int) -> int:
    text, at = reader.argument(at, end)
    reader.note("", text)
    return at


def _caption(reader: Reader, word: str, at: int, end: int) -> int:
    starred = reader.cursor.text[at : at + 1] == "*"
    kind = reader.floats[-1] if reader.floats else ""
    if word == "captionof":
        kind, at = reader.name(at, end)
    at = reader.cursor.after_options(at, end)
    if kind == environments.PART:
        return _caption_of_part(reader, at, end)
    number = reader.numbers.step(kind) if kind and not starred else ""
    reader.current = (kind.capitalize(), number)
    text, at = reader.argument(at, end)
    reader.caption(f"{kind.capitalize()} {number}: {text}" if number else text)
    return at


def _caption_of_part(reader: Reader, at: int, end: int) -> int:
    """The caption of one of the pictures in a figure, which has a letter."""
    reader.parts += 1
    letter = environments.letter(reader.parts)
    kind = next((k for k in reversed(reader.floats) if k != environments.PART), "figure")
    reader.current = (kind.capitalize(), reader.numbers.following(kind) + letter)
    text, at = reader.argument(at, end)
    reader.caption(f"({letter}) {text}")
    return at


def _label(reader: Reader, word: str, at: int, end: int) -> int:
    label, at = reader.name(at, end)
    reader.known.labels[label] = reader.current
    return at


def _reference(reader: Reader, word: str, at: int, end: int) -> int:
    at = reader.cursor.after_options(at, end)
    labels, at = reader.name(at, end)
    shown = [_shown(reader, word, label.strip()) for label in labels.split(",")]
    reader.say(", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1])
    return at


def _shown(reader: Reader, word: str, label: str) -> str:
    kind, number = reader.known.labels.get(label, ("", ""))
    if not number:
        return f"[{label}]"
    number = f"({number})" if word == "eqref" or (kind == "Equation" and word != "ref") else number
    return f"{kind} {number}" if word.lower() in ("autoref", "cref", "vref") else number


def cite(reader: Reader, word: str, at: int, end: int) -> int:
    """Says a citation; returns where the text goes on."""
    if reader.cursor.text[at : at + 1] == "*":
        at += 1
    options: list[str] = []
    while len(options) < 2 and (option := reader.cursor.option(at, end)):
        options.append(reader.inline(option[0], option[1]))
        at = option[2]
    keys, at = reader.name(at, end)
    before, after = options if len(options) == 2 else ("", "".join(options))
    names = [key.strip() for key in keys.split(",") if key.strip()]
    reader.say(reader.known.citations.cited(word, names, before, after))
    return at


def _link(reader: Reader, word: str, at: int, end: int) -> int:
    """The words of a link; its address only where it has no others."""
    option = reader.cursor.option(at, end)
    return option[2] if option else reader.cursor.argument(at, end)[2]


def include(reader: Reader, word: str, at: int, end: int) -> int:
    """Keeps the name of a file that is not read; returns where the text goes on."""
    if reader.cursor.text[reader.cursor.skip_space(at) :][:1] == "{":
        name, at = reader.name(at, end)
    else:
        found = _FILE.match(reader.cursor.text, at, end)
        name, at = (found[1], found.end()) if found else ("", at)
    if name and name not in ("glyphtounicode", "epsf"):
        reader.included.append(name[:200])
    return at


def _dimension(reader: Reader, word: str, at: int, end: int) -> int:
    found = _DIMENSION.match(reader.cursor.text, at, end)
    reader.say(" " if word == "hskip" else "")
    return found.end() if found else at


def _raised(reader: Reader, word: str, at: int, end: int) -> int:
    text, at = reader.argument(at, end)
    reader.say(("^" if word == "textsuperscript" else "_") + text if text else "")
    return at


def _ensure_math(reader: Reader, word: str, at: int, end: int) -> int:
    start, stop, after = reader.cursor.argument(at, end)
    reader.formula(start, stop)
    return after


def _quantity(reader: Reader, word: str, at: int, end: int) -> int:
    amount, at = reader.argument(reader.cursor.after_options(at, end), end)
    unit, at = reader.name(at, end)
    reader.say(f"{amount} {unit.replace(chr(92), '')}".strip())
    return at


def _full_stop(reader: Reader, word: str, at: int, end: int) -> int:
    """The stop of an abbreviation, of which conference styles set one where two would stand."""
    at = reader.cursor.skip_space(at)
    reader.say("." if reader.cursor.text[at : min(end, at + 1)] != "." else "")
    return _xspace(reader, word, at, end)


def _xspace(reader: Reader, word: str, at: int, end: int) -> int:
    following = reader.cursor.text[at : min(end, at + 1)]
    reader.say(" " if following.isalnum() or following in ("(", "$", "[") else "")
    return at


def _item(reader: Reader, word: str, at: int, end: int) -> int:
    reader.flush()
    option = reader.cursor.option(at, end)
    label = reader.inline(option[0], option[1]) if option else ""
    reader.prefix = environments.item(reader, label, has_label=option is not None)
    return option[2] if option else at


def _begin(reader: Reader, word: str, at: int, end: int) -> int:
    name, after = reader.name(at, end)
    return environments.begin(reader, name, after, end)


def _end(reader: Reader, word: str, at: int, end: int) -> int:
    name, after = reader.name(at, end)
    environments.end(reader, name)
    return after


def _rule(reader: Reader, word: str, at: int, end: int) -> int:
    """A line across some columns of a table; how it is trimmed stands in parentheses."""
    trimmed = _TRIMMED.match(reader.cursor.text, at, end)
    return reader.cursor.argument(trimmed.end() if trimmed else at, end)[2]


def _paragraph_end(reader: Reader, word: str, at: int, end: int) -> int:
    reader.flush()
    return reader.cursor.skip_space(at)


def _appendix(reader: Reader, word: str, at: int, end: int) -> int:
    reader.flush()
    reader.numbers.begin_appendix()
    return at


def _count_within(reader: Reader, word: str, at: int, end: int) -> int:
    name, at = reader.name(at, end)
    above, at = reader.name(at, end)
    reader.numbers.count_within(name, above)
    return at


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SECTIONS, _section),
    **dict.fromkeys(("footnote", "footnotemark", "footnotetext"), _footnote),
    **dict.fromkeys(("caption", "captionof"), _caption),
    **dict.fromkeys("ref eqref autoref cref Cref vref Vref subref nameref".split(), _reference),
    **dict.fromkeys(("href", "hyperref"), _link),
    **dict.fromkeys("input include subfile subfileinclude import".split(), include),
    **dict.fromkeys(("vskip", "hskip", "kern", "vspace@", "parskip", "parindent"), _dimension),
    **dict.fromkeys(("textsuperscript", "textsubscript"), _raised),
    **dict.fromkeys(("SI", "qty"), _quantity),
    "thanks": _thanks,
    "label": _label,
    "ensuremath": _ensure_math,
    "xspace": _xspace,
    "onedot": _full_stop,
    "item": _item,
    "begin": _begin,
    "end": _end,
    "cmidrule": _rule,
    "par": _paragraph_end,
    "appendix": _appendix,
    "numberwithin": _count_within,
}
