"""Bytes as text, whatever their encoding; what cannot be decoded becomes U+FFFD.

The order is: byte order mark, UTF-16 and UTF-32 by their zero bytes, UTF-8, what the source
declares (HTTP, HTML, XML), and a guess (`legacy`). What no rule can tell: UTF-16 without a mark
that is valid ASCII as well, as two Chinese characters can be.
"""

from __future__ import annotations

import codecs
import re

from reread.text import clean

_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_USUAL = re.compile(
    "[\n -~\xa0-\xff\u0370-\u06ff\u2010-\u2026\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]"
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_SAMPLE_BYTES = 32_768
_SHIFTED = re.compile(rb"\x1b(?:\$[@B]|\(J)")  # how Japanese letters begin in seven bits
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)"""
    rb"""|<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
# Names that stand for a larger encoding in what people really write.
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
}
_KANA = re.compile("[\u3041-\u30ff]")
_MOJIBAKE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{1,3}")
_C1 = re.compile("[\u0080-\u0084\u0086-\u009f]")


def decode(data: bytes, declared: str | None = None) -> str:
    """The cleaned text of `data`; `declared` is the encoding its sender named, None for none."""
    return clean(mended(data.decode(encoding_of(data, declared), errors="replace")))


def mended(text: str) -> str:
    """Text without C1 controls: they only come from UTF-8 or Windows-1252 read as Latin-1.

    What was UTF-8 becomes so again, if it was read wrongly once; U+0085 may be a line end.
    """
    if not _C1.search(text):
        return text

    def utf8(match: re.Match[str]) -> str:
        if not _C1.search(match[0]):
            return match[0]
        return match[0].encode("latin-1").decode("utf-8", errors="ignore") or match[0]

    def windows(match: re.Match[str]) -> str:
        return match[0].encode("latin-1").decode("cp1252", errors="replace")

    return _C1.sub(windows, _MOJIBAKE.sub(utf8, text))


def encoding_of(data: bytes, declared: str | None = None) -> str:
    """The name of the codec that reads `data` best."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    if _SHIFTED.search(data, 0, _SAMPLE_BYTES) and _decoded(data, "iso2022_jp"):
        return "iso2022_jp"
    return _wide(data) or _utf8(data) or _named(data, declared) or _guess(data)


def looks_binary(data: bytes) -> bool:
    """Whether the bytes are no text in any encoding: too many of them are control characters."""
    if data.startswith(tuple(mark for mark, _ in _BOMS)) or _wide(data):
        return False
    sample = data[:_SAMPLE_BYTES]
    controls = sum(1 for b in sample if b < 32 and b not in b"\t\n\x0b\x0c\r\x1a\x1b")
    share = 0.1 if _utf8(data) else 0.01
    # One stray control character does not make a short text binary, unless there is little else.
    return controls > max(1, share * len(sample)) or 2 * controls > len(sample)


def _wide(data: bytes) -> str | None:
    """UTF-32 or UTF-16 without a mark, told by bytes at the same place in every unit."""
    sample = data[: _SAMPLE_BYTES // 4 * 4]
    found: list[tuple[int, str]] = []
    valid = _utf8(sample) is not None
    for name in _WIDE:
        size = 4 if "32" in name else 2
        if len(data) % size or len(data) < 2:
            continue
        heads = sample[size - 1 :: size] if name.endswith("le") else sample[::size]
        # The alphabets beyond Latin have a control character there, never one in text.
        low = sum(1 for b in heads if b < 32 and b not in b"\t\n\r")
        marked = low >= 0.5 * len(heads)
        if not marked and (size == 4 or valid):
            continue
        text = _decoded(sample, name)
        # Few zero bytes are enough where the rest is no UTF-8, as in Chinese; in Japanese none.
        if not (marked or 0 in sample or _is_kana(text)):
            continue
        if _plausible(text):
            if size == 4:
                return name
            found.append((len(_USUAL.findall(text or "")), name))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _is_kana(text: str | None) -> bool:
    return bool(text) and len(_KANA.findall(text or "")) > 0.15 * len(text or "")


def _plausible(text: str | None) -> bool:
    if not text:
        return False
    good = sum(1 for c in text if (c.isprintable() or c in "\t\n\r\f") and c != "\ufffd")
    return good > 0.98 * len(text)


def _decoded(data: bytes, name: str) -> str | None:
    """The text of a sample, without what its end cut off; None where it is not valid."""
    try:
        return codecs.getincrementaldecoder(name)().decode(data)
    except UnicodeDecodeError:
        return None


def _utf8(data: bytes) -> str | None:
    """`utf-8` where the bytes are, or are but for a few damaged places."""
    try:
        data.decode("utf-8", errors="surrogatepass")  # halves of pairs are damage, but UTF-8's own
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        broken = text.count("\ufffd")
        whole = sum(1 for c in text if c > "\x7f") - broken
        return "utf-8" if whole >= broken > 0 else None  # by chance bytes are hardly ever UTF-8
    return "utf-8"


def _named(data: bytes, declared: str | None) -> str | None:
    match = _DECLARED.search(data[:4096])
    inside = (match[1] or match[2]).decode("ascii", "replace") if match else None
    for name in (declared, inside):
        try:
            known = codecs.lookup(name or "").name
            "".encode(known)  # refuses codecs that do not make text, such as base64
        except (LookupError, ValueError, TypeError):
            continue
        if not known.startswith(("utf", "idna", "punycode", "unicode", "raw", "undefined")):
            return _MEANT.get(known, known)
    return None


def _guess(data: bytes) -> str:
    """The likeliest of the encodings in use before Unicode."""
    from reread.documents import legacy

    return legacy.likeliest(_telling(data))


def _telling(data: bytes) -> bytes:
    """Lines that hold more than ASCII: the rest says nothing about the encoding."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    lines: list[bytes] = []
    size = 0
    for line in data.split(b"\n"):
        if size > _SAMPLE_BYTES:
            break
        if not line.isascii():
            lines.append(line[:_SAMPLE_BYTES])
            size += len(lines[-1])
    return b"\n".join(lines)
