"""Which encoding of the time before Unicode a text is in.

Where letters beyond ASCII make up whole words, the script tells: each encoding is tried, and the
one is taken whose words are of one script, written in small letters or with a capital first, and of
the letters that are frequent in it. Where they stand among ASCII letters it is a Latin encoding,
and charset-normalizer chooses among those whose words hold no signs.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_LATIN = ("cp1252", "cp1250", "iso8859_2", "iso8859_15", "cp1254", "cp1257", "mac_roman", "cp850")
_OLD_LATIN = {"cp1250", "cp1254", "cp1257", "iso8859_2", "iso8859_15", "mac_roman", "cp850"}
_WESTERN = re.compile("[^\x80-\x9f¹²³ðÐþÞýÝšŠžŽ¼½¾\ufffd]+")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_ASCII_LETTERS = re.compile(rb"[A-Za-z]")
_SIGN_IN_WORD = re.compile(
    r"(?<=[^\W\d_])[^\w\s'’.\-‐·:/](?=[^\W\d_])|[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]|[\x80-\x9f]"
)
_KANA = re.compile("[\u3041-\u30ff]")
_RUN = re.compile(r"[^\s\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class _Script:
    """Its letters, whether they have capitals, and those met most often."""

    letters: re.Pattern[str]
    cased: bool
    frequent: frozenset[str]


def _script(letters: str, frequent: str, *, cased: bool = False) -> _Script:
    return _Script(re.compile(f"[{letters}]"), cased, frozenset(frequent))


_CYRILLIC = _script("\u0400-\u045f\u0490\u0491", "оеаинтсрвлкмдпуіы", cased=True)
_GREEK = _script("\u0370-\u03ff", "αοιετσνηυρπκλςμόάίέή", cased=True)
_HEBREW = _script("\u05b0-\u05f4", "יוהלאתרםבשמנ")
_ARABIC = _script("\u060c-\u06ff", "اليمنوترهبةدعس")
_THAI = _script("\u0e01-\u0e5b", "านรกเงอมวล่้ยส")
_HAN = (
    "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里"
    "后小么心多天而能好都然没日于起还发成事只作当想看文无开手这時這來個國說們為會過學對裡後麼還發開老星期"
)
_HANGUL = "이다는에의가을고지한하기로도사은를서아어자리나라대시인들있그것수일해만게전여주정요안녕"
_CODECS = (
    *((name, _CYRILLIC) for name in ("cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866")),
    *((name, _GREEK) for name in ("cp1253", "iso8859_7")),
    ("cp1255", _HEBREW),
    *((name, _ARABIC) for name in ("cp1256", "iso8859_6")),
    ("cp874", _THAI),
)
# Rows of the two-byte sets that hold the common characters, by their first byte.
_COMMON = (
    ("gb18030", range(0xB0, 0xD8), frozenset(_HAN)),
    ("big5", range(0xA4, 0xC7), frozenset(_HAN)),
    ("cp949", range(0xB0, 0xC9), frozenset(_HANGUL)),
)


def likeliest(data: bytes) -> str:
    """The name of the codec that reads `data` best."""
    for name in ("cp932", "euc_jp"):
        text = _decoded(data, name)
        if text and len(_KANA.findall(text)) > 0.15 * len(text):
            return name
    words = _WORD.findall(data)
    letters = sum(map(len, words))
    ascii_letters = sum(len(_ASCII_LETTERS.findall(word)) for word in words)
    enough = letters >= 12 or letters >= max(4, 0.2 * len(data))
    if enough and ascii_letters < 0.4 * letters:
        scores = [*_alphabets(data), *_ideographs(data)]
        score, name = max(scores, key=lambda pair: pair[0], default=(0.0, ""))
        if score > 0.9:
            return name
    return _latin(data)


def _decoded(data: bytes, name: str) -> str | None:
    """The text of a sample, without what its end cut off; None where it is not valid."""
    try:
        return codecs.getincrementaldecoder(name)().decode(data)
    except UnicodeDecodeError:
        return None


def _alphabets(data: bytes) -> list[tuple[float, str]]:
    """How well each codec reads the text in its alphabet, from 0 to nearly 2."""
    scores = []
    for name, script in _CODECS:
        text = _decoded(data, name) or ""
        runs = _RUN.findall(text)
        size = sum(map(len, runs))
        good, frequent = 0.0, 0
        for run in runs:
            own = "".join(script.letters.findall(run))
            frequent += sum(c in script.frequent for c in own.lower())
            good += len(own) * (_well_cased(own) if script.cased else 1)
        if size:
            scores.append(((good + frequent) / size, name))
    return scores


def _well_cased(word: str) -> float:
    """From 0 to 1: capitals alone are rarer than small letters and may be those misread."""
    if word in (word.lower(), word.capitalize()):
        return 1.0
    return 0.5 if word.isupper() else 0.0


def _ideographs(data: bytes) -> list[tuple[float, str]]:
    """The same for the encodings of two bytes a character, by how many of them are common."""
    scores = []
    for name, rows, frequent in _COMMON:
        text = _decoded(data, name)
        wide = [c for c in text or "" if c > "\x7f" and (c.isalpha() or c == "\ufffd")]
        if wide:
            common = sum(c.encode(name, "replace")[0] in rows for c in wide)
            known = sum(c in frequent for c in wide)
            scores.append(((common + known) / len(wide), name))
    return scores


def _latin(data: bytes) -> str:
    from charset_normalizer import from_bytes

    texts = {name: _decoded(data, name) for name in _LATIN}
    signs = {n: len(_SIGN_IN_WORD.findall(t)) for n, t in texts.items() if t is not None}
    fewest = min(signs.values(), default=0)
    able = [name for name, count in signs.items() if count == fewest]
    if len(able) < 2:
        return able[0] if able else "cp1252"
    best = from_bytes(data, cp_isolation=able).best()
    name = best.encoding if best else able[0]
    few = sum(b > 0x7F for b in data) < max(10, 0.3 * len(data))
    western = _WESTERN.fullmatch(texts["cp1252"] or "") is not None
    if few and western and "cp1252" in able and (name in _OLD_LATIN or best is None):
        return "cp1252"  # in a few accents the guess between Latin encodings is noise
    return name
