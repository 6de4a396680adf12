"""Rich text (RTF) as it reads with all tracked changes accepted.

Own code and not striprtf, which drops headings, lists' levels, hidden text and notes, and
decodes every font in one encoding. What a word processor keeps for itself is skipped: fonts,
colours, pictures, objects, comments, headers and footers. Nothing is ever opened or fetched.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from reread.documents.builder import TextBuilder
from reread.documents.rtfflow import Block, Flow, Form, add
from reread.documents.source import Source
from reread.documents.wordstyles import roman
from reread.errors import DamagedDocument, TooLarge
from reread.types import Document, ParagraphKind

MEDIA_TYPE = "application/rtf"
_TOKEN = re.compile(
    rb"\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<word>[a-zA-Z]{1,32})(?P<value>-?\d{1,10})? ?"
    rb"|\\(?P<sign>[^a-zA-Z])|(?P<brace>[{}])|(?P<text>[^\\{}\r\n\x00]+)|[\r\n\x00]+|\\",
    re.DOTALL,
)
_SIGNS = {
    **{"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“"},
    **{"rdblquote": "”", "bullet": "•", "tab": "\t", "line": "\n", "lbr": "\n", "page": "\n"},
    **{"emspace": " ", "enspace": " ", "qmspace": " ", "column": "\n"},
}
_SYMBOL_SIGNS = {b"~": "\u00a0", b"_": "-", b"\t": "\t"}
# Groups whose text is no text of the document.
_SKIPPED = frozenset(
    "colortbl pict object nonshppict header headerl headerr headerf footer footerl footerr footerf"
    " fldinst ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn annotation atnid atnauthor atndate"
    " atnref atnparent bkmkstart bkmkend listtable listoverridetable rsidtbl generator themedata"
    " colorschememapping datastore latentstyles xmlnstbl filetbl revtbl pnseclvl"
    " shpinst shprslt do tc xe nonesttables operator author company category"
    " keywords subject comment doccomm creatim revtim printim"
    " buptim hlinkbase sp upr private template falt panose".split()
)
_BOXES = ("shptxt", "dptxbxtext")
_READ_AGAIN = ("ud", "result")  # within what is skipped, the form that is read
_ENTERED = frozenset(("fldrslt", "shp", "field", "shpgrp"))
_STYLE_KINDS = frozenset(("cs", "ds", "ts"))
_CODEPAGES = {
    **{77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950"},
    **{161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256"},
    **{186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"},
}
_SYMBOL_CHARSET = 2
_DINGBATS = {
    **{"\xfc": "✓", "\xfb": "✗", "\xfe": "☑", "\xa8": "☐", "o": "☐", "q": "☐", "\xa7": "▪"},
    **{"\xb7": "•", "l": "●", "n": "■", "v": "❖", "\xd8": "➢", "\xe0": "→", " ": " "},
}
_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
) | {"\xb7": "•", "\xa3": "≤", "\xb3": "≥", "\xb1": "±", "\xb4": "×", "\xae": "→", "\xa5": "∞"}
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik) ?([1-9])$")
_KINDS: tuple[tuple[re.Pattern[str], ParagraphKind], ...] = (
    (re.compile(r"quote|quotation|block text"), "quote"),
    (re.compile(r"source code|html preformatted|preformatted|^code"), "code"),
    (re.compile(r"caption"), "caption"),
    (re.compile(r"^toc \d"), "list"),
)
_DEEPEST = 5_000


def load(source: Source) -> Document:
    """The document of an RTF file.

    Raises:
        DamagedDocument: it does not begin as one.
        TooLarge: its groups are nested beyond all measure.
        EmptyDocument: it holds no text.
    """
    start = source.data.find(b"{\\rtf", 0, 1024)
    if start < 0:
        raise DamagedDocument(
            f"{source.origin} is no RTF file", hint="Open it in a word processor and save it again"
        )
    reader = _Reader(source.origin)
    reader.read(source.data, start)
    builder = TextBuilder()
    builder.part()
    if reader.formulas:
        builder.failed(f"formulas ({reader.formulas})", "formulas of RTF files are not read")
    add(reader.flow.blocks, builder)
    first = next((b.text for b in reader.flow.blocks if b.level == 0), None)
    tops = [b.text for b in reader.flow.blocks if b.level == 1]
    title = reader.title or first or (tops[0] if len(tops) == 1 else None)
    return builder.build(title=title or source.stem, origin=source.origin, media_type=MEDIA_TYPE)


_PLAIN = Form()


@dataclass(slots=True)
class _State:
    """What holds within a group: where its text goes and how it is written."""

    goes: str = "body"  # or box, note, label, skip, font, style, info, title
    font: int = -1
    uc: int = 1
    hidden: bool = False
    deleted: bool = False
    style: int = -1
    form: Form = _PLAIN
    starred: bool = False
    first: bool = False  # nothing of the group was seen yet
    mark: int = 0
    endnote: bool = False

    def inner(self) -> _State:
        """The state with which a group within this one begins."""
        return _State(
            self.goes, self.font, self.uc, self.hidden, self.deleted, self.style, self.form,
            False, True, self.mark, self.endnote,
        )  # fmt: skip


@dataclass(slots=True)
class _Style:
    name: str = ""
    level: int | None = None


class _Reader:
    """Reads the tokens; `flow` is the document, `title` what its description says."""

    def __init__(self, origin: str) -> None:
        self.flow = Flow()
        self.title: str | None = None
        self.formulas = 0
        self._origin = origin
        self._flows = [self.flow]
        self._stack: list[_State] = []
        self._state = _State()
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._signs: dict[int, dict[str, str]] = {}  # what fonts of signs show for letters
        self._styles: dict[int, _Style] = {}
        self._defined = _Style()
        self._bytes = bytearray()
        self._said: list[str] = []  # the text of a font, style, title or label
        self._to_skip = 0
        self._notes = {False: 0, True: 0}

    def read(self, data: bytes, start: int) -> None:
        """Reads all groups up to the end of the first."""
        at, form = start, Form()
        while at < len(data):
            match = _TOKEN.match(data, at)
            if match is None:  # cannot be: every byte begins a token
                break
            at = match.end()
            kind = match.lastgroup
            if kind == "text":
                self._text(match["text"])
            elif kind == "hex":
                self._text(bytes((int(match["hex"], 16),)))
            elif kind == "brace":
                form = self._state.form
                self._open() if match["brace"] == b"{" else self._close()
                if not self._stack:
                    break
            elif kind in ("word", "value"):
                word, value = match["word"].decode("ascii"), match["value"]
                number = int(value) if value else None
                if word == "bin":
                    at += max(0, min(number or 0, len(data) - at))
                else:
                    self._word(word, number)
            elif kind == "sign":
                self._sign(match["sign"])
        while self._stack:
            form = self._state.form
            self._close()
        self.flow.end(form)

    # -- groups -----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._flush()
        if len(self._stack) >= _DEEPEST:
            raise TooLarge(f"the groups of {self._origin} are nested too deeply")
        self._stack.append(self._state)
        self._state = self._state.inner()
        self._to_skip = 0

    def _close(self) -> None:
        self._flush()
        if not self._stack:
            return
        ended, self._state = self._state, self._stack.pop()
        if ended.goes != self._state.goes or (ended.goes == "style" and self._said):
            self._leave(ended)

    def _leave(self, ended: _State) -> None:
        """Does what the end of a destination asks for."""
        said = "".join(self._said).strip()
        if ended.goes in ("box", "note"):
            flow = self._flows.pop()
            flow.end(ended.form)
            self._flows[-1].follow(flow.blocks if ended.goes == "box" else self._note(ended, flow))
        elif ended.goes == "label":
            self._flows[-1].label("".join(self._said))
        elif ended.goes == "title":
            self.title = " ".join(said.split()) or None
        elif ended.goes == "style":
            self._define(ended.style, said)
        if ended.goes in ("label", "title", "style"):
            self._said = []

    def _note(self, ended: _State, flow: Flow) -> list[Block]:
        """A note as the blocks after its paragraph; its number goes where it is called."""
        text = "\n".join(block.text for block in flow.blocks)
        if not text:
            return []
        self._notes[ended.endnote] += 1
        number = self._notes[ended.endnote]
        name = roman(number) if ended.endnote else str(number)
        self._flows[-1].put(ended.mark, f"[^{name}]")
        return [Block(f"[^{name}]: {text}", "note")]

    def _define(self, number: int, said: str) -> None:
        style, self._defined = self._defined, _Style()
        style.name = said.partition(";")[0].strip().lower()
        match = _HEADING.match(style.name)
        if match:
            style.level = int(match[1])
        elif style.name == "title":
            style.level = 0
        self._styles[number] = style

    def _enter(self, word: str) -> bool:
        """Whether the word begins a group with a destination of its own."""
        state = self._state
        if word in _BOXES and state.goes == "skip":
            state.goes = "box"
        elif word in _READ_AGAIN and state.goes == "skip":
            outer = (s.goes for s in reversed(self._stack) if s.goes != "skip")
            state.goes = next(outer, "body")
            return True
        elif state.goes == "skip":
            return False
        elif word in ("fonttbl", "stylesheet"):
            state.goes = "font" if word == "fonttbl" else "style"
        elif word == "info":
            state.goes = "info"
        elif word == "title" and state.goes == "info":
            state.goes, self._said = "title", []
        elif word in ("listtext", "pntext"):
            state.goes, self._said = "label", []
        elif word == "footnote":
            state.goes, state.mark, state.endnote = "note", self._flows[-1].mark, False
        elif word in ("moMath", "mmath", "mmathPara", "moMathPara"):
            self.formulas += word in ("moMath", "mmath")
            state.goes = "body" if word.endswith("Para") else "skip"
        elif word in _SKIPPED or (state.starred and word not in _entered(state.goes)):
            state.goes = "skip"
        else:
            return False
        if state.goes in ("box", "note"):
            self._flows.append(Flow())
            state.form = Form()
        return True

    # -- words ------------------------------------------------------------------------------------

    def _word(self, word: str, value: int | None) -> None:
        self._flush()
        self._to_skip = 0
        state = self._state
        first, state.first = state.first, False
        if (first or state.starred) and self._enter(word):
            state.starred = False
            return
        state.starred = False
        if state.goes == "skip":
            return
        if word == "u":
            self._unicode(value or 0)
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif word in ("par", "sect"):
            self._end_paragraph()
        elif word == "nestcell":
            self._flows[-1].end_paragraph(Form(in_table=True))  # is text of the cell around it
        elif word == "cell":
            self._flows[-1].end_cell()
        elif word == "row":
            self._flows[-1].end_row()
        elif word == "chftn":
            return  # the number of a note, which is written where the note begins
        else:
            self._set(word, value)

    def _set(self, word: str, value: int | None) -> None:
        """Takes what changes how text is read or set."""
        state, on = self._state, value != 0
        if word == "uc":
            state.uc = max(0, min(value if value is not None else 1, 10))
        elif word == "v":
            state.hidden = on
        elif word == "deleted":
            state.deleted = on
        elif word == "plain":
            state.hidden = state.deleted = False
        elif word == "pard":
            state.form, state.style = Form(), -1
        elif word == "f":
            state.font = value or 0
        elif word == "ftnalt":
            state.endnote = True
        elif word in ("s", "cs", "ds", "ts"):
            self._styled(word, value or 0)
        elif word == "outlinelevel" and value is not None:
            self._outlined(value)
        elif word in ("intbl", "itap"):
            state.form = replace(state.form, in_table=on)
        elif word == "ilvl":
            state.form = replace(state.form, depth=max(0, min(value or 0, 8)))
        else:
            self._encoded(word, value)

    def _encoded(self, word: str, value: int | None) -> None:
        if word in ("fcharset", "cpg") and self._state.goes == "font":
            if word == "fcharset" and value == _SYMBOL_CHARSET:
                self._signs[self._state.font] = _DINGBATS
            page = _CODEPAGES.get(value or 0) if word == "fcharset" else _codec(value)
            if page:
                self._fonts[self._state.font] = page
        elif word == "ansicpg":
            self._encoding = _codec(value) or "cp1252"
        elif word in ("mac", "pc", "pca"):
            self._encoding = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]

    def _styled(self, word: str, number: int) -> None:
        state = self._state
        if state.goes == "style":
            # Other kinds of styles count from one, too: they are kept out of the paragraphs' way.
            state.style = number if word == "s" else -2
        elif word == "s":
            state.style = number
            style = self._styles.get(number, _Style())
            kinds = (kind for pattern, kind in _KINDS if pattern.search(style.name))
            kind: ParagraphKind = next(kinds, "text")
            state.form = replace(state.form, level=style.level, kind=kind)

    def _outlined(self, value: int) -> None:
        level = value + 1 if 0 <= value < 9 else None
        if self._state.goes == "style":
            self._defined.level = level
        elif level is not None or self._state.form.level != 0:
            self._state.form = replace(self._state.form, level=level)

    def _sign(self, sign: bytes) -> None:
        self._flush()
        if sign == b"*":
            self._state.starred = self._state.first
        elif sign in b"\\{}":
            self._text(sign)
        elif sign in b"\r\n":
            self._end_paragraph()
        elif sign in _SYMBOL_SIGNS:
            self._say(_SYMBOL_SIGNS[sign])

    # -- text -------------------------------------------------------------------------------------

    def _text(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        self._state.first = False
        if self._state.goes not in ("skip", "info"):
            self._bytes += data

    def _flush(self) -> None:
        """Decodes the bytes read so far: a letter may take several."""
        if not self._bytes:
            return
        font = self._state.font
        data = bytes(self._bytes)
        self._bytes.clear()
        signs = self._signs.get(font)
        if self._state.goes == "font":
            if signs is not None and b"symbol" in data.lower():
                self._signs[font] = _GREEK
        elif signs is not None:
            shown = (signs.get(chr(b), "" if signs is _DINGBATS else chr(b)) for b in data)
            self._say("".join(shown))
        else:
            self._say(data.decode(self._fonts.get(font, self._encoding), "replace"))

    def _unicode(self, value: int) -> None:
        code = value & 0xFFFF
        self._to_skip = self._state.uc
        if code == 0xF0B7:
            self._say("•")
        elif not 0xE000 <= code <= 0xF8FF:  # private to a symbol font
            self._say(chr(code))

    def _say(self, text: str) -> None:
        goes = self._state.goes
        if goes in ("label", "title", "style"):
            self._said.append(text)
        elif goes in ("body", "box", "note") and not (self._state.hidden or self._state.deleted):
            self._flows[-1].say(text)

    def _end_paragraph(self) -> None:
        if self._state.goes in ("body", "box", "note") and not self._state.deleted:
            self._flows[-1].end_paragraph(self._state.form)


def _entered(goes: str) -> frozenset[str]:
    """Which groups are read although readers that do not know them should skip them."""
    return _STYLE_KINDS if goes == "style" else _ENTERED


def _codec(page: int | None) -> str | None:
    """The name of a Windows code page's codec, None where there is none."""
    name = {10000: "mac_roman", 65001: "utf-8", 1361: "johab"}.get(page or 0, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
