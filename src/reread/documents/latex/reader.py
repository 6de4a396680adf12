"""Walks LaTeX source and hands its blocks to a builder.

One pass over the text with handlers by command and by environment. What a command keeps for itself
(a title, a note, a cell) is read into a buffer of its own; all other braces only group, so commands
that are not known show their arguments, which is what most of them do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reread.documents.builder import TextBuilder
from reread.documents.latex import citations, front
from reread.documents.latex.commands import HANDLERS, cite, include
from reread.documents.latex.cursor import Cursor
from reread.documents.latex.environments import List
from reread.documents.latex.numbers import Numbers
from reread.documents.latex.source import RAW, Defined
from reread.documents.latex.words import ACCENTS, CONDITIONS, SIGNS, STEPS, UNSEEN, accented
from reread.types import ParagraphKind

_TOKEN = re.compile(
    "(?P<par>\n[ \t]*\n\\s*)|(?P<space>[ \t\n]+)|\\\\(?P<word>[a-zA-Z@]+)|\\\\(?P<sign>(?s:.))"
    r"|(?P<display>\$\$)|(?P<math>\$)|(?P<group>[{}])|(?P<quiet>[~&])"
    "|\x01(?P<raw>\\d+)\x02|(?P<quote>---?|``|''|[`']|[?!]`)"
    "|(?P<text>[^\\\\\n \t${}~&\x01`'?!-]+|(?s:.))"
)
_QUOTES = {
    **{"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘", "'": "’", "?`": "¿", "!`": "¡"},
    **{"-": "-", "?": "?", "!": "!"},
}
_IN_MATH = re.compile(
    r"\\(?:label\s*\{[^{}]*\}|nonumber|notag|xspace)(?![a-zA-Z])|\\ensuremath(?=\s*\{)"
)
_LABEL = re.compile(r"\\label\s*\{([^{}\n]{1,200})\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}\n]{0,80})\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)(?![a-zA-Z])")
_COLUMNS = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,2})\s*\}")
_LINES = re.compile(r"[ \t]*\n[ \t]*")
_DEEPEST = 40
_DEEPEST_LIST = 8  # what stands deeper is indented no more
_BEGIN = re.compile(r"\\begin\s*\{document\}")


@dataclass(slots=True)
class Known:
    """What the first reading leaves for the second: numbers by label, and the bibliography."""

    labels: dict[str, tuple[str, str]] = field(default_factory=dict)
    citations: citations.Citations = field(default_factory=citations.Citations)


class Reader:
    """Reads one document; `references`, `included` and `title` are complete after `read`."""

    def __init__(
        self,
        text: str,
        raw: Sequence[tuple[str, bool]],
        defined: Defined,
        known: Known,
        builder: TextBuilder,
    ) -> None:
        self.builder = builder
        self.references: list[str] = []
        self.included: list[str] = []
        self.title = ""
        self.cursor = Cursor(text)
        self.raw = raw
        self.theorems = defined.theorems
        self.environments = defined.environments
        self.known = known
        self.numbers = Numbers(has_chapters=re.search(r"\\chapter\*?\s*[\[{]", text) is not None)
        self.current = ("", "")  # kind and number that a label names
        self.floats: list[str] = []
        self.parts = 0  # of the open figure, each with a caption of its own
        self.kinds: list[ParagraphKind] = []
        self.lists: list[List] = []
        self.scopes: list[tuple[tuple[int, str], ...]] = []
        self.prefix = ""
        self._buffers: list[list[str]] = [[]]
        self._notes: list[tuple[str, str]] = []
        self._captions: list[str] = []
        self.note_count = 0
        self.tight = False

    def read(self) -> None:
        """Reads the front matter and all that the document shows."""
        text = self.cursor.text
        begin = _BEGIN.search(text)
        start, end = (begin.end() if begin else 0), len(text)
        if begin:
            end = self.cursor.environment(start, end)[0]
            self._included_before(begin.start())
        for theorem, kind in self.theorems.items():
            if kind.within and kind.counter == theorem:
                self.numbers.count_within(theorem, kind.within)
        front.read(self, len(text))
        self.run(start, end)
        self.flush()

    def _included_before(self, end: int) -> None:
        for found in re.finditer(r"\\(?:input|include)(?![a-zA-Z])", self.cursor.text[:end]):
            include(self, "input", found.end(), end)

    # -- running text ---------------------------------------------------------------------------

    def run(self, start: int, end: int) -> None:
        """Reads the source from `start` to `end`."""
        at = start
        while at < end:
            found = _TOKEN.match(self.cursor.text, at, end)
            if found is None:
                break
            at = found.end()
            kind = found.lastgroup
            if kind == "text":
                self.say(found[0])
            elif kind == "space" or kind == "quiet":
                self.say(" " if found[0] != "&" else " & ")
            elif kind == "word":
                at = self._word(found["word"], at, end)
            elif kind == "quote":
                self.say(_QUOTES[found[0]])
            elif kind == "par":
                self.flush()
            elif kind == "sign":
                at = self._sign(found["sign"], at, end)
            elif kind == "math":
                at = self._inline_math(at, end)
            elif kind == "display":
                at = self._display(at, end, "$$")
            elif kind == "raw":
                self._verbatim(int(found["raw"]))

    def say(self, text: str) -> None:
        """Adds running text to the innermost open buffer."""
        self._buffers[-1].append(text)

    @property
    def is_inline(self) -> bool:
        """Whether what is read belongs to a title, note or cell and makes no block."""
        return len(self._buffers) > 1

    def inline(self, start: int, end: int) -> str:
        """The text of a part of the source on one line, or on lines where it breaks them."""
        if len(self._buffers) > _DEEPEST:
            return self.cursor.text[start:end]
        self._buffers.append([])
        self.run(start, end)
        return _collapsed("".join(self._buffers.pop()))

    def inline_text(self, source: str) -> str:
        """The text of a piece of source that stands elsewhere, such as the title of a theorem."""
        return re.sub(r"\\[a-zA-Z]+\s*|[{}~]", " ", source).strip()

    def columns(self, start: int, end: int) -> int:
        """How many columns a cell of a table takes."""
        found = _COLUMNS.match(self.cursor.text, start, end)
        return max(1, int(found[1])) if found else 1

    def argument(self, at: int, end: int) -> tuple[str, int]:
        """The text of the next argument and where the source goes on."""
        start, stop, after = self.cursor.argument(at, end)
        return self.inline(start, stop), after

    def name(self, at: int, end: int) -> tuple[str, int]:
        """The next argument as it is written, such as a label, and where the source goes on."""
        start, stop, after = self.cursor.argument(at, end)
        return self.restored(self.cursor.text[start:stop]).strip(), after

    def restored(self, text: str) -> str:
        """Source with what stands verbatim in its place."""
        return RAW.sub(lambda m: self.raw[int(m[1])][0], text)

    # -- blocks ---------------------------------------------------------------------------------

    def flush(self) -> None:
        """Ends the block that is being collected."""
        if self.is_inline:
            self.say(" ")
            return
        text = _collapsed("".join(self._buffers[0]))
        self._buffers[0].clear()
        if text:
            self.block(text, self.kinds[-1] if self.kinds else "text")

    def block(self, text: str, kind: ParagraphKind) -> None:
        """Adds a finished block and the notes it calls."""
        if self.is_inline:
            self.say(f" {text} ")
            return
        if self.prefix:
            text, self.prefix = self.prefix + text, ""
        tight = kind == "list" and self.tight
        self.builder.paragraph(
            text, kind, tight=tight, indent=2 * max(0, min(len(self.lists), _DEEPEST_LIST) - 1)
        )
        self.tight = kind == "list"
        self.set_notes()

    def heading(self, level: int, text: str) -> None:
        """Adds a heading."""
        self.flush()
        self.prefix, self.tight = "", False
        self.builder.heading(level, text)
        self.set_notes()

    def caption(self, text: str) -> None:
        """Adds a caption, before the table in whose cells it stands."""
        if self.is_inline:
            self._captions.append(text)
        else:
            self.flush()
            self.block(text, "caption")

    def set_notes(self) -> None:
        """Sets the notes that were called, each after its paragraph."""
        notes, self._notes = self._notes, []
        for mark, text in notes:
            self.tight = False
            self.builder.paragraph(f"[^{mark}]: {text}" if mark else text, "note")

    def note(self, mark: str, text: str) -> None:
        """Keeps a note for the end of the paragraph."""
        if text:
            self._notes.append((mark, " ".join(text.split())))

    def set_captions(self) -> None:
        """Sets the captions that stood in cells."""
        captions, self._captions = self._captions, []
        for caption in captions:
            self.caption(caption)

    def _verbatim(self, number: int) -> None:
        text, is_block = self.raw[number] if number < len(self.raw) else ("", False)
        if is_block and not self.is_inline:
            self.flush()
            self.block(text, "code")
        else:
            self.say(text)

    # -- mathematics ----------------------------------------------------------------------------

    def _inline_math(self, at: int, end: int) -> int:
        stop = self.cursor.math_end(at, end)
        if stop < 0:
            self.say("$")  # a lone dollar
            return at
        self.formula(at, stop)
        return stop + 1

    def formula(self, start: int, end: int) -> None:
        """Says a formula within a line."""
        source = self.math(start, end)
        self.say(f"${source}$" if source else "")

    def math(self, start: int, end: int) -> str:
        """The source of a formula without what is not part of it."""
        source = self.restored(self.cursor.text[start:end])
        return " ".join(_IN_MATH.sub("", _TAG.sub("", source)).split())

    def _display(self, at: int, end: int, closing: str) -> int:
        stop = self.cursor.find(closing, at, end)
        if stop < 0:
            return at
        self.equation([(at, stop)], numbered=False)
        return stop + len(closing)

    def equation(self, spans: Sequence[tuple[int, int]], *, numbered: bool) -> None:
        """Adds one displayed line of mathematics; its parts were aligned."""
        whole = self.cursor.text[spans[0][0] : spans[-1][1]]
        tag = _TAG.search(whole)
        number = tag[1] if tag else ""
        source = " ".join(filter(None, (self.math(a, b) for a, b in spans)))
        if numbered and not tag and source and not _UNNUMBERED.search(whole):
            number = self.numbers.step("equation")
        for label in _LABEL.findall(whole):
            self.known.labels[label] = ("Equation", number)
        if self.is_inline:
            self.say(f" ${source}$ ")
        elif source:
            self.flush()
            self.block(f"$${source}$$" + (f" ({number})" if number else ""), "math")

    # -- commands -------------------------------------------------------------------------------

    def _sign(self, sign: str, at: int, end: int) -> int:
        if sign in ACCENTS and (sign not in "=." or self.cursor.text[at : at + 1] not in " \n"):
            return self._accent(sign, at, end)
        if sign == "(":
            return self._bounded(at, end, r"\)")
        if sign == "[":
            return self._display(at, end, r"\]")
        if sign == "\\":
            at = self.cursor.after_options(at, end)
        if sign == ";" and self.kinds[-1:] == ["code"]:
            sign = "\\"  # ends a line of an algorithm
        self.say(SIGNS.get(sign, ""))
        return at

    def _bounded(self, at: int, end: int, closing: str) -> int:
        stop = self.cursor.find(closing, at, end)
        if stop < 0:
            return at
        self.formula(at, stop)
        return stop + len(closing)

    def _accent(self, accent: str, at: int, end: int) -> int:
        text, after = self.argument(at, end)
        self.say(accented(text, accent))
        return after

    def _word(self, word: str, at: int, end: int) -> int:
        if word in HANDLERS:
            return HANDLERS[word](self, word, at, end)
        if word in ACCENTS and (self.cursor.text[at : at + 1] in "{ \\"):
            return self._accent(word, at, end)
        if citations.COMMAND.fullmatch(word):
            return cite(self, word, at, end)
        if word in UNSEEN:
            at = self.cursor.after_options(at, end)
            for _ in range(UNSEEN[word]):
                at = self.cursor.after_options(self.cursor.argument(at, end)[2], end)
            return at
        if word in STEPS and self.kinds[-1:] == ["code"]:
            self.say(f"\n{STEPS[word]} ")
            if word in CONDITIONS:
                text, at = self.argument(at, end)
                self.say(f"{text}\n")
                return at
        elif word in SIGNS:
            self.say(SIGNS[word])
        else:
            option = self.cursor.option(at, end)
            if option and self.cursor.text[option[2] : option[2] + 1] == "{":
                return option[2]
        return self.cursor.skip_space(at)


def _collapsed(text: str) -> str:
    """Text with single spaces, and lines only where they were broken on purpose."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


COMMANDS = frozenset(
    {*HANDLERS, *UNSEEN, "cite", "citet", "citep", "bibitem"} | {s for s in SIGNS if len(s) > 2}
)
