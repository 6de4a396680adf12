"""What a model's reply means, whatever form it comes in.

Each parser returns a value that is legal for the call, or raises `MalformedReply`; none guesses.
JSON is read first, since endpoints that can be constrained reply in it; then the forms that models
use on their own. A number outside what was offered is never accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence, Set
from typing import Any, TypeGuard

from reread.errors import MalformedReply
from reread.reading.marks import Marks
from reread.text import count_words
from reread.types import Completion

STOP = "STOP"
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_DIGITS = r"(?<!\d)\d{1,9}(?!\d)"
_WORD = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|(?:{'|'.join(_ONES)}))\b"
_NUMBER = rf"(?:{_DIGITS}|\b{_WORD})"
_TO = r"\s*(?:-|–|—|~|\bto\b|\bthrough\b)\s*(?:pages?\s*)?"
_SPAN = rf"{_NUMBER}(?:{_TO}{_NUMBER})?"
_PAGE_WORD = r"(?:pages?|páginas?|seiten?|pagin[ae]|pp?\.|страниц\w{0,3}|nos?\.|numbers?)"
_PAGE = rf"(?:<?\s*\b{_PAGE_WORD}\s*[#:]?\s*)?"
_AND = r"\s*(?:,|;|&|\+|、|\band\b|\bor\b|\bund\b|\bet\b|\by\b)\s*(?:\band\s+)?"
_LIST = rf"{_PAGE}{_SPAN}>?(?:{_AND}{_PAGE}{_SPAN}>?)*"
_SPAN_PARTS = re.compile(rf"({_NUMBER})(?:{_TO}({_NUMBER}))?", re.IGNORECASE)
_SQUARE = re.compile(rf"\[\s*({_LIST})\s*\]", re.IGNORECASE)
_NAMED = re.compile(
    rf"\b{_PAGE_WORD}\s*(?:numbers?)?\s*[:#]?\s*[*_]*\s*({_SPAN}(?:{_AND}{_PAGE}{_SPAN})*)",
    re.IGNORECASE,
)
_ROUND = re.compile(rf"\(\s*({_LIST})\s*\)", re.IGNORECASE)
_NUMBERED = re.compile(rf"({_SPAN}(?:{_AND}{_SPAN}){{0,20}})\s*(?:页|頁|ページ|쪽|페이지)")
_BARE = re.compile(rf"\W*({_LIST})\W*", re.IGNORECASE)
_NEEDED = r"(?: (?:is|are|were))?(?: (?:needed|necessary|required))?"
_NONE = re.compile(
    rf"\W*(?:none(?: of (?:them|the pages|these pages))?{_NEEDED}|nothing|"
    rf"no (?:more |further |other )?pages?{_NEEDED}|\[\s*\]|(?<![\[(<])0)\W*",
    re.IGNORECASE,
)
_STOP = re.compile(r"[\W_]*STOP(?:[\W_]*|[\W_]*\n.*|[.:,!;*\"'\])]+\s.*|\s[-–—]\s.*)", re.DOTALL)
_STOP_ALONE = re.compile(r"[\W_]*stop[\W_]*", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_SIGNED = re.compile(r"(?:(?<![\w>\])}.])-)?(?<![\d.])\d{1,9}(?![\d.]*\d)")
_NAMES_FIRST = re.compile(  # "4", "Mark 4: …", "I would choose 4, since mark 2 …"
    r"\W*(?:(?:the|my|i|i'd|i’d|would|best|natural|most|mark|label|number|answer|choice|choose|pick|"
    r"pause|break|stop|at|is|be)\b\W*)*(\d{1,9})(?=\W*$|\W*\n|[\s>*\])]*[.,;:—–-]\s|"
    r"[\s>*\])]+(?:because|since|as|for)\b)",
    re.IGNORECASE,
)


def mark(completion: Completion, offered: Collection[int], marks: Marks) -> int:
    """The one offered mark that the reply names."""
    text = completion.text
    field = _json_field(text, "mark")
    value = _whole(field)
    if value is None and field is None:
        named = {int(n) for n in marks.pattern.findall(text) if len(n) < 10}
        named = named or {int(n) for n in _SIGNED.findall(text)}
        if len(named) > 1:  # an explanation follows: the choice is what stands first
            first = _NAMES_FIRST.match(text.replace(f"<{marks.stem}", "<"))
            named = {int(first[1])} if first else named
        if len(named) != 1:
            raise MalformedReply("the reply names no single mark", reply=text)
        value = named.pop()
    if value is None or value not in offered:
        raise MalformedReply(f"mark {field or value} was not offered", reply=text)
    return value


def pages(completion: Completion, pages: int, most: int) -> tuple[int, ...]:
    """Up to `most` page numbers, in the order named, each once; empty when none is wanted."""
    text = _unfenced(completion.text)
    value = _json_field(text, "pages")
    if value is not None:
        items = value if isinstance(value, list) else [value]
        numbers = [n for item in items for n in _items(item, most)]
        if items and not numbers:
            raise MalformedReply("the reply holds no page numbers", reply=text)
    elif _NONE.fullmatch(text):
        return ()
    else:
        numbers = _listed(text, most)
    legal = tuple(dict.fromkeys(n for n in numbers if 1 <= n <= pages))
    if numbers and not legal:
        raise MalformedReply(f"page {numbers[0]} does not exist", reply=text)
    return legal[:most]


def next_page(completion: Completion) -> int | None:
    """The page to open next, None for STOP.

    Whether that page exists and is still closed is the caller's to judge.
    """
    text = _unfenced(completion.text).strip()
    value = _json_field(text, "page")
    said = value if isinstance(value, str) else text
    if _STOP.fullmatch(said) or _STOP_ALONE.fullmatch(said):
        return None
    if (number := _whole(value)) is not None:
        return number
    numbers = _listed(said, 2)
    if len(set(numbers)) != 1:
        raise MalformedReply("the reply names no single page", reply=text)
    return numbers[0]


def _whole(value: object) -> int | None:
    """The integer that a JSON value is or spells, None when it is none."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _items(item: object, most: int) -> list[int]:
    """The page numbers that one item of a JSON list names."""
    if isinstance(item, str):
        try:
            return _listed(item, most)
        except MalformedReply:
            return []
    number = _whole(item)
    return [] if number is None else [number]


def _listed(text: str, most: int) -> list[int]:
    """Page numbers from lists in brackets, else after the word page, else a bare list."""
    for form in (_SQUARE, _NAMED, _NUMBERED, _ROUND):
        if lists := form.findall(text):
            break
    else:
        bare = _BARE.fullmatch(text.strip())
        if bare is None:
            raise MalformedReply("the reply names no pages", reply=text)
        lists = [bare[1]]
    numbers: list[int] = []
    for found in lists:
        for one, other in _SPAN_PARTS.findall(found):
            low, high = sorted((_number(one), _number(other or one)))
            numbers.extend(range(low, min(high, low + most) + 1))
    return numbers


def _number(text: str) -> int:
    if text[0].isdigit():
        return int(text)
    tens, _, ones = re.sub(r"[\s-]+", " ", text.lower()).partition(" ")
    if tens in _TENS:
        return 20 + 10 * _TENS.index(tens) + (_ONES.index(ones) if ones else 0)
    return _ONES.index(tens)


# -- multiple choice ----------------------------------------------------------------------------


def choice(completion: Completion, options: Sequence[str]) -> int:
    """The index of the one option that the reply chooses."""
    text = _unfenced(completion.text).strip()
    letters = option_letters(len(options))
    value = _json_field(text, "choice")
    if isinstance(value, str):
        text = value.strip()
    letter = _letter(text, f"[{letters[0]}-{letters[-1]}]", options)
    return letters.index(letter) if letter else _option_by_text(text, options)


def _letter(text: str, some: str, options: Sequence[str]) -> str | None:
    """The one letter by which the reply names its option, None when it names none or several."""
    # a letter that is a word of the sentence ("A man", "I'm") names no option
    alone = (
        rf"(?<![\w'’])({some})(?![\w'’]|-\w|(?<=[AI])\s+"
        rf"(?!because|since|as\b|for\b|and\b|or\b|is\b|with\b|due\b)[a-z])"
    )
    if found := re.fullmatch(
        rf"(?i:[\W_]*(?:(?:option|answer|choice)[\W_]*)?({some})[\W_]*)", text
    ):
        return found[1].upper()
    said = (
        rf"(?i:\b(?:answer|choice|correct option|right option))\b(?i:\s+(?:is|would be|should be|"
        rf"must be))?[\W_]{{0,6}}(?i:option[\W_]+)?{alone}",
        rf"(?i:\b(?:choose|chose|pick|select|go with|say|think|believe))\b[\W_]{{1,4}}"
        rf"(?i:(?:it is|it's|it’s|that)\s+)?(?i:(?:the\s+)?(?:option|answer)[\W_]+)?{alone}",
        rf"[(\[<]({some})[)\]>]|\*\*\W*({some})\W*\*\*",
        rf"(?i:\boption)[\W_]+{alone}",
    )
    if found := re.match(
        rf"[\W_]*(?i:option\s+)?({some})[*_]*\s*(?:[).:\]*]|\n|\s[-–—]\s|,\s*(?:because|since|as|for)\b)",
        text,
    ):
        rest = text[found.end() :]
        own = _plain(options[ord(found[1]) - ord("A")])
        others = re.findall(rf"[(\[]({some})[)\]]|\b({some})[).:]|(?i:option)\s+{alone}", rest)
        named = {letter for groups in others for letter in groups if letter} - {found[1]}
        if not named or (own and _plain(rest).startswith(own)):
            return found[1]
    for form in said:
        named = {g for m in re.finditer(form, text) for g in m.groups() if g}
        if named:
            return named.pop() if len(named) == 1 else None
    return None


def option_letters(count: int) -> list[str]:
    """The letters that stand before options: A, B, C, …"""
    return [chr(ord("A") + k) for k in range(count)]


def _option_by_text(text: str, options: Sequence[str]) -> int:
    said = _plain(text)
    same = [k for k, option in enumerate(options) if _plain(option) == said]
    if said and len(same) == 1:
        return same[0]
    plain = [_plain(option) for option in options]
    within = [k for k, option in enumerate(plain) if option and f" {option} " in f" {said} "]
    # an option that is part of another one named as well says nothing of its own
    within = [k for k in within if not any(j != k and plain[k] in plain[j] for j in within)]
    if len(within) != 1:
        raise MalformedReply("the reply chooses no single option", reply=text)
    return within[0]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def new_section(completion: Completion) -> bool:
    """Whether the second page begins anew; "not sure" counts as yes: pages are kept apart."""
    text = completion.text
    if re.search(r"\b(?:not sure|unsure)\b", text, re.IGNORECASE):
        return True
    found = re.match(r"[\W_]*(?:answer[\W_]+)?(yes|no)(?![^\W_])", text, re.IGNORECASE)
    if not found:
        raise MalformedReply("the reply is none of yes, no, not sure", reply=text)
    return found[1].lower() != "no"


# -- gists --------------------------------------------------------------------------------------

_ABOUT = r"shorten|condens|summar|abridg|concise|brief|version|gist|rewrit"
_TEXT = r"(?:version|passage|text|page|gist)"
_PREAMBLE = re.compile(
    r"[\s#*_]*(?:"
    r"(?:(?:sure(?: thing)?|certainly|of course|okay|ok)[,.!]?\s*)?"
    r"(?:here(?:'s|’s| is| are| it is)|below is|this is)\b"
    rf"(?=[^\n:]{{0,80}}(?:{_ABOUT}))[^\n:]{{0,80}}|"
    rf"here (?:it is|you go|is the {_TEXT})|"
    rf"(?:the )?(?:shortened|condensed|summari[sz]ed|abridged|short)\s{_TEXT}[^\n:.]{{0,40}}|"
    r"summary|gist|in short|sure|certainly|of course|okay)"
    r"[*_]*(?:[:][*_]*\s*|[.!]?[ \t]*\n\s*(?=\S))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:i(?:'m| am) (?:very )?sorry,? (?:but|i\b|as\b)|sorry,? (?:but|i\b)|as an ai\b|"
    r"(?:unfortunately,? )?i(?: can(?:'t|not)| won't| am unable to|'m unable to| am not able to|"
    r"'m not able to) (?:help|assist|compl|shorten|summar|provide|fulfil|do (?:this|that)|process|"
    r"continue|create|generate|reproduce|rewrite|share|answer))",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\W*(?:(?:\w+\s)?(?:error|exception)[\"']?\s*(?:[:(]|code\b|\d{3}\b)|traceback \(most recent|"
    r"internal server error|(?:too many requests|rate limit|service unavailable|bad gateway)\b|"
    r"http(?:/\d\S*)? [45]\d\d\b|[45]\d\d (?:internal|bad|service|gateway|too many)\b|"
    r"failed to (?:load|generate|fetch|connect|process|parse)\b)",
    re.IGNORECASE,
)
_LOOP = re.compile(r"\b(\w[^\n]{8,120}?)(?:\W+\1\b){2,}")  # a phrase three times in a row
_SHORTEST_GIST_WORDS, _FROM_PAGE_WORDS = 4, 60


def gist(completion: Completion, source: str, marks: Marks | None = None) -> str:
    """The shortened text alone.

    Refused are: nothing, a refusal, an error text, a text longer than its source, a mere title, and
    a phrase repeated over and over.
    """
    text = _sole_string(_unfenced(completion.text)).strip()
    if marks is not None:
        text = marks.pattern.sub("", text).strip()
    if (lead := _PREAMBLE.match(text)) and not _stands_in(lead[0], source):
        text = text[lead.end() :].strip()
    text = re.sub(r"\n\s*\n+", "\n", text)
    words, source_words = count_words(text), count_words(source)
    if not re.search(r"\w", text):
        raise MalformedReply("the gist is empty", reply=completion.text)
    for pattern, what in ((_REFUSAL, "a refusal"), (_ERROR, "an error text")):
        found = pattern.match(text.replace("’", "'"))
        if found and not _stands_in(found[0], source):
            raise MalformedReply(f"the gist is {what}", reply=text)
    if _LOOP.search(text) and not _LOOP.search(source):
        raise MalformedReply("the gist repeats itself", reply=text)
    if words > source_words:
        raise MalformedReply("the gist is longer than its page", reply=text)
    if words < _SHORTEST_GIST_WORDS and source_words >= _FROM_PAGE_WORDS:
        raise MalformedReply("the gist is a mere title", reply=text)
    return text


def _stands_in(piece: str, source: str) -> bool:
    return _folded(piece).strip(" \"'*#_") in _folded(source)


def _folded(text: str) -> str:
    """The text without regard to case, line breaks and the form of its quotation marks."""
    return " ".join(text.casefold().translate(_STRAIGHT).split())


_STRAIGHT = str.maketrans("‘’“”", "''\"\"")


def _sole_string(text: str) -> str:
    """The one string of a reply that is a JSON object with one field, else the reply itself."""
    data = _json_object(text)
    values = list(data.values()) if data and "error" not in data else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else text


def invented(gist: str, source: str) -> list[str]:
    """Numbers and names that stand in the gist but not in what it was made from."""
    digits = set(re.findall(r"\d+", re.sub(r"(?<=\d)[,. ](?=\d{3})", "", source)))
    digits |= set(re.findall(r"\d+", source))
    digits |= {str(_number(word)) for word in _SPELLED.findall(source)}
    digits |= {str(k) for k, word in enumerate(_ORDINALS) if re.search(rf"(?i)\b{word}\b", source)}
    numbers = re.findall(r"\d+", re.sub(r"(?<=\d)[,](?=\d{3})", "", gist))
    names = re.findall(r"(?<=[a-z,;] )[A-Z][\w’'-]{2,}", gist)
    held = set(re.findall(r"\w+", _folded(source)))
    absent = [n for n in numbers if n not in digits]
    return absent + [n for n in names if not _held(_folded(n), held)]


def in_digits(text: str) -> str:
    """The text with English number words as digits, and thousands without their separators."""
    text = re.sub(r"(?<=\d)[,.\u00a0\u202f](?=\d{3}\b)", "", text)
    return _SPELLED.sub(lambda m: str(_number(m[0])), text)


_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_SPELLED = re.compile(rf"\b{_WORD}", re.IGNORECASE)


def _held(name: str, words: Set[str]) -> bool:
    """Whether every part of a name is a word or its beginning, plurals and possessives aside."""
    stems = [re.sub(r"(?<=\w{3})s$", "", part) for part in re.findall(r"\w{2,}", name)]
    return all(any(word.startswith(stem) for word in words) for stem in stems)


# -- answers ------------------------------------------------------------------------------------

_HERE = r"(?:the|this|that) (?:\w+ )?(?:document|text|passages?|pages?|source|excerpts?|material)"
_SILENT = re.compile(
    rf"\W*(?:not (?:stated |mentioned |found |given |said |specified )?in {_HERE}|"
    rf"{_HERE} (?:do(?:es)? not|do(?:es)?n't) "
    r"(?:\w+ )?(?:say|state|mention|hold|contain|provide|specify|give|tell|include|indicate)|"
    r"(?:there is )?no (?:mention|information)\b[^.\n]{0,80}"
    rf"(?:in {_HERE}|\b(?:is|was) (?:provided|given|available)\b)|"
    rf"(?:it|this|that|the (?:answer|information)|this information) (?:is|was) not "
    rf"(?:(?:stated|mentioned|specified|given|provided|found|contained|said)\b|in {_HERE})|"
    r"not (?:stated|mentioned|specified|given|provided|known)(?=\W*\Z)|"
    r"i (?:can(?:not|'t)|could(?: not|n't)|do(?: not|n't)) (?:find|determine|see|tell)\b"
    rf"[^.\n]{{0,80}}{_HERE}|unknown(?=\W*\Z))",
    re.IGNORECASE,
)
_SILENT_LINE = re.compile(r"^\W*NOT IN THE (?:DOCUMENT|TEXT)\W*$", re.MULTILINE)
_AT_PAGE = r"(?:[\[(<]\s*(?:pages?|pp?\.)?\s*(\d{1,9})\s*[\])>]|(?:pages?|pp?\.)\s*(\d{1,9}))"
_OPEN, _CLOSE = "[\"“”„«'‘「『]", "[\"“”»'’」』]"
_QUOTE_LINE = re.compile(
    rf"^(?:[-*•>]\s*)?{_AT_PAGE}\s*[:.–—-]?\s*{_OPEN}(.+?){_CLOSE}?\s*[.]?\s*$|"
    rf"^(?:[-*•>]\s*)?{_OPEN}(.+?){_CLOSE}\s*[–—-]?\s*{_AT_PAGE}\s*[.]?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
NOT_IN_DOCUMENT = "Not in the document."


def answer(completion: Completion) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The answer's text and its (page, quote) lines; the text is empty when nothing was found."""
    text = _unfenced(completion.text).strip()
    value = _json_field(text, "answer")
    text = value.strip() if isinstance(value, str) else text
    text = re.sub(r"^[*_]*(?:answer|a):[*_]*\s*", "", text, flags=re.IGNORECASE)
    if not re.search(r"\w", text):
        raise MalformedReply("the answer is empty", reply=completion.text)
    straight = text.replace("’", "'")
    if _REFUSAL.match(straight) and not _SILENT.match(straight):
        raise MalformedReply("the answer is a refusal", reply=text)
    quotes: list[tuple[int, str]] = []
    for groups in _QUOTE_LINE.findall(text):
        first, second, quote, other, third, fourth = groups
        quotes.append((int(first or second or third or fourth), (quote or other).strip()))
    if _SILENT_LINE.search(text) or (_SILENT.match(straight) and not quotes):
        return "", ()
    said = re.sub(r"\n{2,}", "\n", _QUOTE_LINE.sub("", text).strip())
    if not said:
        raise MalformedReply("the reply quotes but does not answer", reply=text)
    return said, tuple(quotes)


def chance(completion: Completion, word: str, other: str) -> float:
    """How likely the reply is one word and not the other: 0 to 1, or either where that is untold.

    Raises:
        MalformedReply: it is neither.
    """
    text = _unfenced(completion.text).strip()
    told = _json_object(text)
    first, second = (told or {}).get(word), (told or {}).get(other)
    if _is_chance(first) and _is_chance(second) and first + second > 0:
        return first / (first + second)
    said = re.match(rf"\W*(?:({word})|{other})\b", text, re.IGNORECASE)
    if said is None or told is not None:
        raise MalformedReply(f"the reply is neither {word} nor {other}", reply=completion.text)
    return 1.0 if said[1] else 0.0


def _is_chance(told: Any) -> TypeGuard[float]:
    return isinstance(told, float | int) and 0 <= told <= 1  # which no NaN is


def is_quote(line: str) -> bool:
    """Whether a line of an answer is a quote with its page."""
    return bool(_QUOTE_LINE.search(line))


def is_no_answer(text: str) -> bool:
    """Whether a reply that begins so says that the document is silent, or refuses."""
    return bool(_SILENT.match(text) or _REFUSAL.match(text))


def _unfenced(text: str) -> str:
    found = _FENCE.fullmatch(text)
    return found[1] if found else text


def _json_field(text: str, field: str) -> Any:
    """The field of a reply that is one JSON object, None when it is not."""
    data = _json_object(text)
    return data.get(field) if data else None


def _json_object(text: str) -> dict[str, Any] | None:
    inner = _unfenced(text).strip()
    if not inner.startswith("{"):
        return None
    try:
        data = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
