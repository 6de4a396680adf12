"""Pairs of a quote and a text made by rule: typographic variants of it, and altered ones.

A stretch of whole words is taken from a text. Set in another typography, on either side, it must
be found at the place it was put; altered, it must not be found at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Own sentences, each text with quotation marks, dashes, numbers and negations.
TEXTS = {
    "en": (
        "The ferryman's daughter kept the official ledger - a thin, well-known book - beside the "
        'stove. "It does not matter," she wrote in 1894, "how many barrels were left; 1,250 were '
        'paid for." Nobody believed that the harbour could freeze before the first of November. '
        "The office was flooded twice, but its files were not lost, and 37 of them still smell of "
        "the river. Her brother never answered the letter that came from the northern company."
    ),
    "de": (
        'Die Müllerin sagte, "das Rad läuft nicht mehr - es steht seit 1911 still". Im Dorf '
        "glaubte man ihr kein Wort, denn die Säcke waren am Morgen wieder voll. Der Pfarrer zählte "
        "216 Schritte bis zur Brücke und schrieb sie in sein großes Buch. Niemand wusste, woher "
        "das feine Mehl kam, und die Offiziere fragten nicht danach."
    ),
    "fr": (
        'Le gardien du phare répondit : "Je ne descendrai pas ce soir - la mer est trop haute." '
        "Il avait déjà compté 48 bateaux, et l'hiver n'était pas encore fini. Sa sœur, restée au "
        "village, gardait l'officine fermée depuis le 3 octobre 1902. Personne n'osait lui "
        "demander pourquoi la lampe brûlait encore à midi."
    ),
    "es": (
        'La maestra dijo: "No vendimos la casa - la alquilamos por 350 pesos". El río creció tres '
        "veces aquel año y ningún vecino quiso cruzarlo de noche. En la oficina guardaban 19 "
        "cartas que nadie había abierto desde 1926. El afinador de pianos nunca volvió a la plaza."
    ),
    "ru": (
        'Смотритель сказал: "Мы не закрывали мост - он просто примёрз". В тот год на станцию '
        "пришло 73 вагона с зерном, и ни один не был опечатан. Учительница записала всё в тонкую "
        "тетрадь, но никому её не показала. Весной 1931 года река поднялась выше старой мельницы."
    ),
    "zh": (
        "老船夫说：「今年的冰没有化，渡口不会开。」村里的人都不相信他，因为三月里已经下过两场雨。"
        "账本上写着1250袋盐，可是仓库里只有400袋。（后来才知道，另外的都借给了北边的镇子。）"
        "他的女儿把灯点在窗前，一直等到天亮也没有看见船影。"
    ),
    "ja": (
        "灯台守は「今夜は降りない」と静かに答えた。港では４８隻の船が待っていて、誰も理由を聞かなかった。"
        "妹は村に残り、古い薬屋を開けなかった。冬が終わるまで、窓の明かりは一度も消えなかったという。"
    ),
    "ar": (
        'قال الحارس: "لم نغلق الجسر - لقد تجمد وحده". وصلت إلى المحطة 73 عربة من القمح ولم تكن '
        "واحدة منها مختومة. كتبت المعلمة كل شيء في دفتر رقيق لكنها لم تعرضه على أحد."
    ),
    "hi": (
        'मल्लाह ने कहा, "इस साल नदी नहीं जमी - घाट खुला रहेगा"। गाँव के लोगों ने उस पर विश्वास नहीं किया '
        "क्योंकि बही में 1250 बोरी नमक लिखा था। उसकी बेटी खिड़की पर दीया जलाकर सुबह तक बैठी रही।"
    ),
}

Change = Callable[[str], str]


@dataclass(frozen=True)
class Pair:
    """A quote and a text; `span` is where it must be found, None where it must not be."""

    what: str
    quote: str
    text: str
    span: tuple[int, int] | None


# -- typography ---------------------------------------------------------------------------------


def _curly(text: str) -> str:
    text = re.sub(r'(^|[\s(\[-])"', r"\1“", text).replace('"', "”")
    return re.sub(r"(?<=\w)'", "’", text)


def _guillemets(text: str) -> str:
    return re.sub(r'(^|[\s(\[-])"', r"\1«", text).replace('"', "»")


def _corner(text: str) -> str:
    return text.translate(str.maketrans("「」『』（）", "『』「」()"))


def _ligatures(text: str) -> str:
    for plain, set_ in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        text = text.replace(plain, set_)
    return text


def _long_words(between: str) -> Change:
    """Puts `between` into the middle of words that are long and of lower-case letters."""

    def cut(found: re.Match[str]) -> str:
        word, middle = found[0], len(found[0]) // 2
        while unicodedata.category(word[middle])[0] == "M":
            middle += 1
        return word[:middle] + between + word[middle:]

    return lambda text: re.sub(r"(?<![\w'’-])[^\W\d_A-Z]{6,}(?![\w'’-])", cut, text)


def _wrapped(text: str) -> str:
    """Every third space a line's end, or a line's end after every ninth character."""
    if text.count(" ") < 3:
        return re.sub(r"(?<=[\u3040-\u9fff]{8})(?=[\u3040-\u9fff])", "\n", text)
    words = text.split(" ")
    return "".join(w + ("\n" if k % 3 == 2 else " ") for k, w in enumerate(words)).rstrip()


def _wide(text: str) -> str:
    """ASCII but for the space in full width."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and c not in "'\"" else c for c in text)


VARIANTS: dict[str, Change] = {
    "as it is": lambda t: t,
    "curly quotes": _curly,
    "guillemets": _guillemets,
    "corner brackets": _corner,
    "single quotes": lambda t: re.sub(r'(?<!\d)"', "'", t),
    "em dashes": lambda t: t.replace(" - ", "—"),
    "en dashes": lambda t: t.replace(" - ", " – "),
    "two hyphens": lambda t: t.replace(" - ", "--"),
    "ligatures": _ligatures,
    "soft hyphens": _long_words("\u00ad"),
    "line-end hyphens": _long_words("-\n"),
    "soft line-end hyphens": _long_words("\u00ad\n  "),
    "zero-width spaces": _long_words("\u200b"),
    "no-break spaces": lambda t: t.replace(" ", "\u00a0"),
    "thin and double spaces": lambda t: re.sub(" ", lambda m: "\u2009 ", t),
    "lines": _wrapped,
    "composed": lambda t: unicodedata.normalize("NFC", t),
    "decomposed": lambda t: unicodedata.normalize("NFD", t),
    "compatible": lambda t: unicodedata.normalize("NFKC", t),
    "full width": _wide,
    "wide punctuation": lambda t: t.replace("，", ",").replace("：", ":"),
    "bidi marks": lambda t: t.replace(" ", " \u200f").replace("，", "，\u200e"),
}
# Hyphens at a line's end stand where the writing has small letters; Latin script has ligatures.
_CASED = ("en", "de", "fr", "es", "ru")


# -- alterations --------------------------------------------------------------------------------

_NEGATIONS = {
    "en": r"\b(?:not|never) ",
    "de": r"\b(?:nicht|kein) ",
    "fr": r"\bpas ",
    "es": r"\bno |\bnunca ",
    "ru": r"\bне |\bни ",
    "zh": "没有|不",
    "ja": "ない|なかっ",
    "ar": r"\bلم ",
    "hi": r"नहीं ",
}


def _middle(text: str, change: Callable[[list[str]], list[str]]) -> str:
    """The text with its inner parts changed: words, or characters where nothing parts words."""
    between = " " if text.count(" ") > 2 else ""
    return between.join(change(text.split(" ") if between else list(text)))


def _swapped(parts: list[str]) -> list[str]:
    k = next(
        (k for k in range(1, len(parts) - 2) if _letters(parts[k]) != _letters(parts[k + 1])), 1
    )
    return [*parts[:k], parts[k + 1], parts[k], *parts[k + 2 :]]


def _letters(word: str) -> str:
    return "".join(re.findall(r"\w", word))


def _at_a_word(parts: list[str]) -> int:
    """The index of an inner part that holds letters and differs from its neighbours."""
    for k in range(len(parts) // 2, len(parts) - 1):
        if _letters(parts[k]) and _letters(parts[k]) != _letters(parts[k + 1]):
            return k
    return next(k for k in range(1, len(parts)) if _letters(parts[k]))


def _dropped(parts: list[str]) -> list[str]:
    k = _at_a_word(parts)
    return parts[:k] + parts[k + 1 :]


def _doubled(parts: list[str]) -> list[str]:
    k = _at_a_word(parts)
    return [*parts[:k], parts[k], parts[k], *parts[k + 1 :]]


def _replaced(parts: list[str]) -> list[str]:
    k, other = _at_a_word(parts), {"": "鳥"}.get("" if len(parts[0]) == 1 else " ", "orange")
    return [*parts[:k], other, *parts[k + 1 :]]


def _other_number(text: str) -> str:
    return re.sub(r"\d", lambda m: str((int(m[0]) + 3) % 10), text, count=1)


def alterations(language: str, quote: str, further: str) -> Iterator[tuple[str, str]]:
    """What was done to the quote, and the altered quote; `further` stands elsewhere in the text."""
    yield "two words swapped", _middle(quote, _swapped)
    yield "a word dropped", _middle(quote, _dropped)
    yield "a word replaced", _middle(quote, _replaced)
    yield "a word doubled", _middle(quote, _doubled)
    yield "two places stitched", f"{quote} {further}"
    yield "two places stitched with dots", f"{quote} … {further}"
    if ended := re.search(r"[^\W\d_]{4,}(?=\W*$)", quote):
        yield "its end cut within a word", quote[: ended.end() - 1] if " " in quote else ""
    yield "too short", quote[:11].strip()
    if re.search(r"\d", quote):
        yield "a number changed", _other_number(quote)
    inner = re.compile(f"(?<=.)(?:{_NEGATIONS[language]})(?=.)")
    if inner.search(quote):
        yield "a negation dropped", inner.sub("", quote, count=1)


# -- pairs --------------------------------------------------------------------------------------


def stretches(text: str, size: int = 9) -> list[tuple[str, str, str]]:
    """(before, stretch, after) for stretches of whole words, one after the other."""
    if text.count(" ") < len(text) / 20:  # words are not set apart: from mark to mark
        parts = re.findall(r"[^，。：「」（）]+[，。：「」（）]*", text)
        size, between = 2, ""
    else:
        parts, between = text.split(" "), " "
    found = []
    for k in range(0, len(parts) - size + 1, size):
        before, stretch = between.join(parts[:k]), between.join(parts[k : k + size])
        after = between.join(parts[k + size :])
        found.append((before + between, stretch, between + after if after else ""))
    return found


def same(language: str, text: str) -> Iterator[Pair]:
    """Each stretch in each typography, in the text or in the quote."""
    for before, stretch, after in stretches(text):
        for what, change in VARIANTS.items():
            if "line-end" in what and language not in _CASED:
                continue
            if len(_letters(unicodedata.normalize("NFC", stretch))) < 12:
                continue
            other = change(stretch)
            if what != "as it is" and other == stretch:
                continue
            start = len(before)
            yield Pair(
                f"{language}: {what} in the text",
                stretch,
                before + other + after,
                (start, start + len(other)),
            )
            yield Pair(
                f"{language}: {what} in the quote",
                other,
                before + stretch + after,
                (start, start + len(stretch)),
            )


def altered(language: str, text: str) -> Iterator[Pair]:
    """Each stretch altered in each way."""
    found = stretches(text)
    for k, (_, stretch, _) in enumerate(found):
        further = found[(k + 2) % len(found)][1]
        for what, quote in alterations(language, stretch, further):
            if quote and quote != stretch:
                yield Pair(f"{language}: {what}", quote, text, None)
