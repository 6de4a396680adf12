"""Text measured and cut: reading units, sentences, paragraphs, tokens.

A *word* is a reading unit. In scripts with spaces it is what stands between white space. In
scripts without spaces a character counts as a fixed share of a word, chosen so that equal counts
hold about equal content; a run without a break longer than `LONGEST_WORD` characters counts as
several. Shares are kept as integer twelfths, so counts add up over any cut between characters of
such scripts and over any cut at white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_WORD = 100
_SHARES = 12

# Characters of scripts written without spaces, by how many make a word of about the same content.
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_SOUTH_EAST = "\u0e00-\u0fff\u1780-\u17ff"  # Thai, Lao, Tibetan, Khmer
_BURMESE = "\u1000-\u109f"
_CJK_MARKS = "\u3001-\u3003\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_TOKEN = re.compile(
    f"(?P<han>[{_HAN}]+)|(?P<kana>[{_KANA}]+)|(?P<sea>[{_SOUTH_EAST}]+)|(?P<burmese>[{_BURMESE}]+)"
    f"|(?P<marks>[{_CJK_MARKS}]+)|(?P<word>[^\\s{_HAN}{_KANA}{_SOUTH_EAST}{_BURMESE}{_CJK_MARKS}]+)"
)
_SHARE = {
    "han": 8,
    "kana": 5,
    "sea": 3,
    "burmese": 2,
    "marks": 2,
}  # twelfths of a word per character


def word_shares(text: str) -> int:
    """Reading units of `text` in twelfths of a word."""
    total = 0
    for match in _TOKEN.finditer(text):
        kind, length = match.lastgroup or "word", match.end() - match.start()
        if kind == "word":
            total += _SHARES * -(-length // LONGEST_WORD)
        else:
            total += _SHARE[kind] * length
    return total


def count_words(text: str) -> int:
    """Reading units of `text`, rounded up: 0 only where there is nothing to read."""
    if text.isascii():
        pieces = text.split()
        return sum(-(-len(p) // LONGEST_WORD) for p in pieces)
    return -(-word_shares(text) // _SHARES)


_APART = re.compile(f"[{_HAN}{_KANA}{_SOUTH_EAST}{_BURMESE}{_CJK_MARKS}]")


def compression_rate(context_words: int, document_words: int) -> float:
    """How much shorter a context is than the document, in percent; negative when it is longer."""
    return 100.0 * (1.0 - context_words / max(1, document_words))


def adds_up(text: str, at: int) -> bool:
    """Whether the text's shares are for certain the sum of those before and after `at`."""
    if at <= 0 or at >= len(text) or text[at - 1].isspace() or text[at].isspace():
        return True
    return bool(_APART.match(text, at - 1) or _APART.match(text, at))


# -- sentences ----------------------------------------------------------------------------------

_CLOSERS = "\"'”’»)\\]】」』）》"
_THAI_LAO = "\u0e01-\u0e45\u0e47-\u0e4e\u0e81-\u0ec5\u0ec8-\u0ece"
_SENTENCE_END = re.compile(
    f"(?:(?<=[.!?…])[{_CLOSERS}]*\\s+(?=\\S)"  # Latin, Cyrillic, Greek, …
    f"|(?<=[。！？．｡])(?![。！？．｡])[{_CLOSERS}]*\\s*"  # Chinese, Japanese
    # Arabic, Urdu, Devanagari, Burmese, Khmer, Ethiopic, Armenian, Tibetan
    f"|(?<=[؟۔।॥။។፧።։།༎])(?![؟।॥།༎])[{_CLOSERS}]*\\s*"
    r"|(?<=[\u0370-\u03ff\u1f00-\u1fff][;\u037e])\s+(?=[Ά-ΫἈ-Ὧ«])"  # a question in Greek
    f"|(?<=[{_THAI_LAO}])[ \u00a0]+(?=[{_THAI_LAO}])"  # Thai and Lao know no other mark
    r"|\n\s*\n\s*)"
)
_ABBREVIATION = re.compile(
    r"(?:(?<=\s)[b-hj-z]|\b(?:[A-HJ-Z]|Mr|Mrs|Ms|Messrs|Mme|Dr|St|Mt|Prof|Rev|Gen|Capt|Col|Lt|Sgt|"
    r"Hon|Jr|Sr|vs|cf|ca|al|etc|viz|approx|e\.g|i\.e))\.$"
)
_BEFORE_NUMBER = re.compile(r"\b(?:Figs?|Eqs?|Sec|Ch|Art|Nos?|Vol|pp?)\.$")
_CLAUSE_END = re.compile(r"(?<=[,;:،؛—–])\s+|(?<=[，、；：])\s*|\n+")
_SPACE = re.compile(r"\s+")


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Offsets after each sentence of `text[start:end]`, trailing white space included."""
    end = len(text) if end is None else end
    yield from (at for at in _sentence_breaks(text, start, end) if at < end)
    if end > start:
        yield end


def _sentence_breaks(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets in `(start, end]` where one sentence ends and the next begins."""
    for match in _SENTENCE_END.finditer(text, start, min(end + 1, len(text))):
        at, mark = match.end(), match.start()
        if not start < at <= end:
            continue
        if text[mark - 1] in ".!?…" and match[0].count("\n") < 2:
            before = max(0, mark - 8)
            if text[at].islower() or _ABBREVIATION.search(text, before, mark):
                continue
            if text[at].isdigit() and _BEFORE_NUMBER.search(text, before, mark):
                continue
        yield at


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Half-open spans of the sentences of `text[start:end]`, without outer white space."""
    spans: list[tuple[int, int]] = []
    for stop in sentence_ends(text, start, end):
        piece = text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        if left < stop:
            spans.append((left, start + len(piece.rstrip())))
        start = stop
    return spans


def cut_within(text: str, start: int, end: int, low: int, high: int) -> int:
    """An offset in `(start, end]` so that what lies before it measures `low`..`high` shares.

    The last sentence end in that range is taken, else the last clause end, else the last white
    space, else the last character that fits; always at least one character, so cutting goes on.
    Shares are twelfths of a word (`word_shares`).
    """
    limit = _offset_at(text, start, end, high)
    floor = _offset_at(text, start, end, max(low - 1, 0)) if low > 0 else start
    for breaks in (
        _sentence_breaks(text, floor, limit),
        (m.end() for m in _CLAUSE_END.finditer(text, floor, limit)),
        (m.end() for m in _SPACE.finditer(text, floor, limit)),
    ):
        best = max((at for at in breaks if at > floor), default=start)
        if best > start:
            return best
    return max(limit, start + 1)


def _offset_at(text: str, start: int, end: int, shares: int) -> int:
    """The largest offset up to `end` before which at most `shares` lie, counted from `start`."""
    left = shares
    for match in _TOKEN.finditer(text, start, end):
        kind, length = match.lastgroup or "word", match.end() - match.start()
        if kind != "word":
            fit = left // _SHARE[kind]
            if fit < length:
                return match.start() + fit
            left -= length * _SHARE[kind]
            continue
        cost = _SHARES * -(-length // LONGEST_WORD)
        if cost > left:
            return match.start() + (left // _SHARES) * LONGEST_WORD
        left -= cost
    return end


# -- paragraphs of plain text -------------------------------------------------------------------

_BLOCK = re.compile(r"\S[^\n]*(?:\n(?!\s*\n)[^\n]*\S[^\n]*)*")
_UNBROKEN_WORDS = 1000  # a paragraph longer than this was never broken into paragraphs
_SENTENCE_GROUP_WORDS = 60
_VERSE_LINE = 60  # shorter lines on average are verse or lists: the block stays whole
_LONG_BLOCK_WORDS = 250
_WRAP_WIDTH = 120
_TERMINATED = re.compile(f"[.!?…。！？:؟।][{_CLOSERS}]*$")


def paragraph_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the paragraphs of plain text, whatever its style.

    Blank lines always separate. Whether a single newline does is decided from the text: not where
    lines were wrapped at a width (there an indented line opens a paragraph), else yes, but for
    blocks of short lines such as verse. Text that was never broken is grouped by sentences.
    """
    blocks = [m.span() for m in _BLOCK.finditer(text)]
    wrapped = _is_hard_wrapped(text, blocks)
    spans: list[tuple[int, int]] = []
    for start, end in blocks:
        lines = _line_spans(text, start, end)
        if wrapped:
            spans.extend(_split_at_indents(text, lines))
        elif len(blocks) == 1 or _lines_are_paragraphs(text, lines):
            spans.extend(lines)
        else:
            spans.append((start, end))
    return [piece for span in spans for piece in _split_unbroken(text, *span)]


def _line_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    for line in re.finditer(r"[^\n]+", text[start:end]):
        if line.group().strip():
            stop = start + line.start() + len(line.group().rstrip())
            spans.append((start + line.start(), stop))
    return spans


def _is_hard_wrapped(text: str, blocks: list[tuple[int, int]]) -> bool:
    """Whether most line ends are there only because the next word did not fit."""
    pairs: list[tuple[str, str]] = []
    for start, end in blocks:
        lines = text[start:end].split("\n")
        pairs.extend(zip(lines, lines[1:], strict=False))
        if len(pairs) > 5000:
            break
    if not pairs:
        return False
    lengths = sorted(len(line.rstrip()) for line, _ in pairs)
    width = lengths[int(0.95 * (len(lengths) - 1))]
    if width > _WRAP_WIDTH:
        return False
    full = sum(len(a.rstrip()) + 1 + len((b.split() or [""])[0]) > width for a, b in pairs)
    ended = sum(bool(_TERMINATED.search(a.rstrip())) for a, _ in pairs)
    return full > 0.6 * len(pairs) and ended < 0.6 * len(pairs)


def _split_at_indents(text: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A wrapped block, opened anew at each indented line when only some lines are indented."""
    indented = [text[a].isspace() for a, _ in lines]
    inner = sum(indented[1:])
    if not inner or inner > 0.6 * len(lines):
        return [(lines[0][0] + _indent(text, *lines[0]), lines[-1][1])]
    spans: list[tuple[int, int]] = []
    opened = lines[0][0]
    for k in range(1, len(lines) + 1):
        if k == len(lines) or indented[k]:
            spans.append((opened + _indent(text, opened, lines[k - 1][1]), lines[k - 1][1]))
            opened = lines[k][0] if k < len(lines) else opened
    return spans


def _indent(text: str, start: int, end: int) -> int:
    piece = text[start:end]
    return len(piece) - len(piece.lstrip())


def _lines_are_paragraphs(text: str, lines: list[tuple[int, int]]) -> bool:
    # in scripts without spaces a line of few characters says much
    mean = sum(max(b - a, 5 * count_words(text[a:b])) for a, b in lines) / len(lines)
    return mean >= _VERSE_LINE or count_words(text[lines[0][0] : lines[-1][1]]) > _LONG_BLOCK_WORDS


def _split_unbroken(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start < _UNBROKEN_WORDS or count_words(text[start:end]) <= _UNBROKEN_WORDS:
        yield start, end
        return
    opened, closed, size = start, start, 0
    for left, right in sentences(text, start, end):
        if size >= _SENTENCE_GROUP_WORDS:
            yield opened, closed
            opened, size = left, 0
        size += count_words(text[left:right])
        closed = right
    yield opened, end


# -- characters ---------------------------------------------------------------------------------

_UNSAFE = re.compile("[\ud800-\udfff\x00]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """Text that every store and wire can carry.

    Newlines are unified, lone surrogates and NUL become U+FFFD, other control characters become
    spaces, a leading byte order mark is removed.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n\n").replace("\x85", "\n")
    return _CONTROL.sub(" ", _UNSAFE.sub("\ufffd", text))


def one_line(text: str) -> str:
    """The text as it is shown in one line, without marks that turn what follows them around."""
    return " ".join(_TURNING.sub("", clean(text)).split())


def estimate_tokens(text: str) -> int:
    """An upper estimate of the tokens a common byte-pair vocabulary needs for `text`."""
    ascii_words = ascii_chars = 0
    for word in re.finditer(r"[A-Za-z]+", text):
        ascii_words += 1 + (word.end() - word.start() - 1) // 6
        ascii_chars += word.end() - word.start()
    spaces = text.count(" ")
    rest = len(text) - ascii_chars - spaces
    wide = sum(1 for c in text if ord(c) > 0x2E7F) if not text.isascii() else 0
    return ascii_words + rest + wide // 3 + 1


def plain(text: str) -> str:
    """The words of a text alone: the same for a question however it is spelt."""
    return " ".join(re.findall(r"\w+", text.casefold()))
