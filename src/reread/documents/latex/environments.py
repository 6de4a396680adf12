"""What LaTeX environments do: what is set up where one begins and put back where it ends.

Those whose content has rows or is no text (formulas, tables, drawings, the bibliography) are read
whole at their beginning; all others only change how the blocks within them are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reread.documents.latex.numbers import roman

if TYPE_CHECKING:
    from reread.documents.latex.reader import Reader

    Whole = Callable[[Reader, str, int, int], None]

PART = "part of a figure"
_FLOATS = {
    **dict.fromkeys("figure wrapfigure SCfigure marginfigure sidewaysfigure".split(), "figure"),
    **dict.fromkeys("table wraptable sidewaystable margintable".split(), "table"),
    **dict.fromkeys(("algorithm", "algorithm2e"), "algorithm"),
    **dict.fromkeys(("subfigure", "subtable"), PART),
    "listing": "listing",
}
_LISTS = {
    **dict.fromkeys("itemize compactitem inparaitem".split(), "-"),
    **dict.fromkeys("enumerate compactenum inparaenum".split(), "1"),
    **dict.fromkeys("description compactdesc tablenotes list trivlist".split(), ""),
}
_QUOTES = frozenset({"quote", "quotation", "verse", "displayquote"})
_CODE = frozenset("algorithm algorithm2e algorithmic algorithmicx alltt tabbing".split())
_THEOREMS = {
    "theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition", "corollary": "Corollary",
    "definition": "Definition", "remark": "Remark", "example": "Example", "claim": "Claim",
    "conjecture": "Conjecture", "assumption": "Assumption", "proof": "Proof",
}  # fmt: skip
_UNNUMBERED = frozenset({"proof"})
_SCOPES = frozenset(
    {"abstract", "acknowledgments", "acknowledgements", "ack", "acks", "acknowledgement"}
)
_ARGUMENTS = {"minipage": 1, "multicols": 1, "subfigure": 1, "subtable": 1, "wrapfigure": 2,
              "wraptable": 2, "adjustbox": 1, "CJK": 2, "CJK*": 2, "list": 2, "spacing": 1,
              "SCfigure": 0, "tcolorbox": 0, "mdframed": 0, "otherlanguage": 1, "adjustwidth": 2,
              "textblock": 1, "labeling": 1, "scope": 0, "algorithmic": 0}  # fmt: skip
_BULLET = re.compile(r"[•·∗*\-–—○◦▪‣]?")


@dataclass(slots=True)
class List:
    """An open list: how its items begin, and how many numbered lists stand in each other."""

    style: str
    depth: int
    count: int = 0


def begin(reader: Reader, name: str, at: int, end: int) -> int:
    """Begins an environment; returns where the source goes on."""
    plain = _meant(reader, name)
    if plain in _WHOLE:
        stop, after = reader.cursor.environment(at, end)
        _WHOLE[plain](reader, name, at, stop)
        return after
    if not plain.startswith("inpara"):
        reader.flush()
    at = _begin_theorem(reader, plain, at, end) if _is_theorem(reader, plain) else at
    if plain in _FLOATS:
        reader.parts = reader.parts if _FLOATS[plain] == PART else 0
        reader.floats.append(_FLOATS[plain])
    if plain in _LISTS:
        numbered = _LISTS[plain] == "1"
        depth = (reader.lists[-1].depth if reader.lists else 0) + numbered
        reader.lists.append(List(_LISTS[plain], depth))
        reader.kinds.append("note" if plain == "tablenotes" else "list")
    elif plain in _QUOTES:
        reader.kinds.append("quote")
    elif plain in _CODE:
        reader.kinds.append("code")
    elif plain in _SCOPES:
        reader.scopes.append(reader.builder.path)
        reader.heading(3, "Abstract" if plain == "abstract" else "Acknowledgments")
    elif plain in ("keyword", "keywords", "IEEEkeywords"):
        reader.say("Keywords: ")
    elif plain in ("appendix", "appendices"):
        reader.numbers.begin_appendix()
    at = reader.cursor.after_options(at, end) if reader.cursor.text[at : at + 1] in "[*" else at
    for _ in range(_ARGUMENTS.get(plain, 0)):
        at = reader.cursor.after_options(reader.cursor.argument(at, end)[2], end)
    return at


def end(reader: Reader, name: str) -> None:
    """Ends an environment."""
    plain = _meant(reader, name)
    if not plain.startswith("inpara"):
        reader.flush()
    if plain in _FLOATS and reader.floats:
        reader.floats.pop()
    if plain in _LISTS and reader.lists:
        reader.lists.pop()
        reader.prefix = ""
        reader.tight = reader.tight and bool(reader.lists)
    if (plain in _LISTS or plain in _QUOTES or plain in _CODE) and reader.kinds:
        reader.kinds.pop()
    if plain in _SCOPES and reader.scopes:
        reader.builder.path = reader.scopes.pop()


def _meant(reader: Reader, name: str) -> str:
    """The environment that one of the author's own stands for, without the star."""
    return reader.environments.get(name, name).rstrip("*")


def item(reader: Reader, label: str, *, has_label: bool) -> str:
    """What an item of the innermost list begins with."""
    if not reader.lists:
        return f"{label or '-'} "
    innermost = reader.lists[-1]
    if has_label:
        dashed = innermost.style == "-" and _BULLET.fullmatch(label)
        return "- " if dashed else f"{label} " if label else ""
    if innermost.style != "1":
        return "- " if innermost.style == "-" else ""
    innermost.count += 1
    number = _enumerated(innermost.count, innermost.depth)
    reader.current = ("Item", number.strip("."))
    return f"{number} "


def _enumerated(number: int, depth: int) -> str:
    return {2: f"({letter(number)})", 3: f"{roman(number).lower()}."}.get(depth, f"{number}.")


def letter(number: int) -> str:
    """The letter of the alphabet with this number; the number itself beyond the last."""
    return chr(96 + number) if number < 27 else str(number)


# -- theorems -------------------------------------------------------------------------------------


def _is_theorem(reader: Reader, name: str) -> bool:
    return name in reader.theorems or name in _THEOREMS


def _begin_theorem(reader: Reader, name: str, at: int, end: int) -> int:
    kind = reader.theorems.get(name)
    title = reader.inline_text(kind.title) if kind else _THEOREMS[name]
    counter = kind.counter if kind else None if name in _UNNUMBERED else name
    number = reader.numbers.step(counter) if counter else ""
    option = reader.cursor.option(at, end)
    said = f" ({reader.inline(option[0], option[1])})" if option else ""
    if counter:
        reader.current = (title, number)
    reader.say(f"{' '.join(filter(None, (title, number)))}{said}. ")
    return option[2] if option else at


# -- read whole -----------------------------------------------------------------------------------


def _formula(reader: Reader, name: str, at: int, end: int) -> None:
    reader.formula(at, end)


def _equation(reader: Reader, name: str, at: int, end: int) -> None:
    """One displayed formula, or one for each row of those that are aligned."""
    plain = name.rstrip("*")
    at = reader.cursor.argument(at, end)[2] if plain in ("alignat", "xalignat") else at
    numbered = not name.endswith("*") and plain not in ("displaymath", "math")
    if plain not in _ROWS:
        reader.equation([(at, end)], numbered=numbered)
        return
    for row in reader.cursor.rows(at, end):
        reader.equation(row, numbered=numbered)


def _table(reader: Reader, name: str, at: int, end: int) -> None:
    """Rows of cells; captions that stand in cells come before them."""
    plain = name.rstrip("*")
    if plain == "longtable":
        reader.floats.append("table")
    at = reader.cursor.after_options(at, end)
    for _ in range(2 if name in ("tabular*", "tabularx", "tabulary", "tabularx*") else 1):
        at = reader.cursor.after_options(reader.cursor.argument(at, end)[2], end)
    lines = []
    for row in reader.cursor.rows(at, end):
        cells: list[str] = []
        for start, stop in row:
            cells.append(" ".join(reader.inline(start, stop).split()))
            cells += [""] * (reader.columns(start, stop) - 1)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            lines.append(" | ".join(cells))
    if reader.is_inline:
        reader.say(f" {' '.join(lines)} ")
    else:
        reader.flush()
        reader.set_captions()
        if lines:
            reader.block("\n".join(lines), "table")
    if plain == "longtable":
        reader.floats.pop()


def _drawing(reader: Reader, name: str, at: int, end: int) -> None:
    """Nothing: what it draws is no text."""


def _bibliography(reader: Reader, name: str, at: int, end: int) -> None:
    """The entries of the list of references, kept apart from the text."""
    reader.flush()
    text = reader.cursor.text
    entries = [m for m in _ENTRY.finditer(text, at, end) if m[0].endswith("bibitem")]
    stops = [*(entry.start() for entry in entries[1:]), end]
    for entry, stop in zip(entries, stops, strict=False):
        start = entry.end()
        option = reader.cursor.option(start, stop)
        label = reader.inline(option[0], option[1]) if option else ""
        key, start = reader.name(option[2] if option else start, stop)
        head = reader.known.citations.add(key, label)
        reader.references.append(" ".join(f"{head} {reader.inline(start, stop)}".split()))


_ENTRY = re.compile(r"\\bibitem(?![a-zA-Z])|\\(?s:.)")
_ROWS = frozenset("align eqnarray gather flalign alignat xalignat IEEEeqnarray".split())
_WHOLE: dict[str, Whole] = {
    "math": _formula,
    **dict.fromkeys(["equation", "displaymath", "dmath", "multline", *_ROWS], _equation),
    **dict.fromkeys("tabular tabularx tabulary longtable tabu longtabu array".split(), _table),
    **dict.fromkeys(
        "tikzpicture pspicture picture pgfpicture forest tikzcd axis CCSXML filecontents".split(),
        _drawing,
    ),
    "thebibliography": _bibliography,
}
