"""What a model's reply means, whatever form it comes in.

Each parser returns a value that is legal for the call, or raises `MalformedReply`; none guesses.
JSON is read first, since endpoints that can be constrained reply in it; then the forms that models
use on their own. A number outside what was offered is never accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from reread.errors import MalformedReply
from reread.reading.marks import Marks
from reread.text import count_words
from reread.types import Completion

STOP = "STOP"
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_NUMBER = rf"(?:\d+|{'|'.join(_WORDS)})"
_SPAN = rf"{_NUMBER}(?:\s*(?:-|–|—|to|through)\s*(?:pages?\s*)?{_NUMBER})?"
_PAGE = r"(?:<?\s*\b(?:pages?|pp?\.|no\.|nos\.|numbers?)\s*[#:]?\s*)?"
_LIST = rf"{_PAGE}{_SPAN}>?(?:\s*(?:,|;|&|\band\b|\bor\b|\+)\s*(?:and\s+)?{_PAGE}{_SPAN}>?)*"
_SPAN_PARTS = re.compile(
    rf"\b({_NUMBER})(?:\s*(?:-|–|—|to|through)\s*(?:pages?\s*)?({_NUMBER}))?\b", re.IGNORECASE
)
_BRACKETS = re.compile(rf"[\[(]\s*({_LIST})\s*[\])]", re.IGNORECASE)
_NAMED = re.compile(
    rf"\bpages?\s*(?:numbers?)?\s*[:#]?\s*\**\s*({_SPAN}(?:\s*(?:,|;|&|\band\b)\s*(?:and\s+)?{_PAGE}{_SPAN})*)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\W*({_LIST})\W*", re.IGNORECASE)
_NONE = re.compile(
    r"\W*(?:none|nothing|no (?:more )?pages?(?: (?:is|are) needed)?|\[\s*\]|0)\W*", re.IGNORECASE
)
_STOP = re.compile(r"[\W_]*STOP(?:[\W_]*|[\W_]*\n.*|[.:,!;*\"'\])]+\s.*)", re.DOTALL)
_FENCE = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)


def mark(completion: Completion, offered: Collection[int], marks: Marks) -> int:
    """The one offered mark that the reply names."""
    text = completion.text
    value = _json_field(text, "mark")
    if value is None:
        named = {int(n) for n in marks.pattern.findall(text)}
        named = named or {int(n) for n in re.findall(r"\d+", text)}
        if len(named) > 1:  # an explanation follows: the choice is what stands first
            first = re.search(r"\d+", text)
            lead = text[: first.start()] if first else ""
            named = {int(first[0])} if first and len(lead.split()) <= 6 else named
        if len(named) != 1:
            raise MalformedReply("the reply names no single mark", reply=text)
        value = named.pop()
    if not isinstance(value, int) or value not in offered:
        raise MalformedReply(f"mark {value} was not offered", reply=text)
    return value


def pages(completion: Completion, pages: int, most: int) -> tuple[int, ...]:
    """Up to `most` page numbers, in the order named, each once; empty when none is wanted."""
    text = _unfenced(completion.text)
    value = _json_field(text, "pages")
    if isinstance(value, list):
        numbers = [n for n in value if isinstance(n, int) and not isinstance(n, bool)]
        if value and not numbers:
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
    text = _unfenced(completion.text)
    value = _json_field(text, "page")
    if value == STOP or (value is None and _STOP.fullmatch(text.strip())):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    numbers = _listed(text, 2)
    if len(set(numbers)) != 1:
        raise MalformedReply("the reply names no single page", reply=text)
    return numbers[0]


def _listed(text: str, most: int) -> list[int]:
    """Page numbers from lists in brackets, else after the word page, else a bare list."""
    lists = _BRACKETS.findall(text) or _NAMED.findall(text)
    if not lists and (bare := _BARE.fullmatch(text.strip())):
        lists = [bare[1]]
    if not lists:
        raise MalformedReply("the reply names no pages", reply=text)
    numbers: list[int] = []
    for found in lists:
        for low, high in _SPAN_PARTS.findall(found):
            first, last = _number(low), _number(high) if high else _number(low)
            numbers.extend(range(first, min(last, first + most) + 1))
    return numbers


def _number(text: str) -> int:
    return _WORDS.index(text.lower()) if text.lower() in _WORDS else int(text)


def choice(completion: Completion, options: Sequence[str]) -> int:
    """The index of the one option that the reply chooses."""
    text = _unfenced(completion.text).strip()
    letters = option_letters(len(options))
    value = _json_field(text, "choice")
    if isinstance(value, str) and value.strip().upper() in letters:
        return letters.index(value.strip().upper())
    some = f"[{letters[0]}-{letters[-1]}]"
    forms = (
        rf"[\W_]*(?:option|answer|choice)?[\W_]*({some})[\W_]*",
        rf"[\W_]*(?:option\s+)?({some})[*_]*\s*[).:\]*,\n-].*",
        rf".*\b(?:answer|option|choice)\b\W*(?:is|would be|:)?\W*(?:option\W+)?"
        rf"({some})\b(?![ ]?['’]).*",
    )
    for form in forms:
        if found := re.fullmatch(form, text, re.DOTALL):
            return letters.index(found[1])
    bracketed = set(re.findall(rf"[(\[]({some})[)\]]", text))
    if len(bracketed) == 1:
        return letters.index(bracketed.pop())
    return _option_by_text(text, options)


def option_letters(count: int) -> list[str]:
    """The letters that stand before options: A, B, C, …"""
    return [chr(ord("A") + k) for k in range(count)]


def _option_by_text(text: str, options: Sequence[str]) -> int:
    said = _plain(text)
    same = [k for k, option in enumerate(options) if _plain(option) == said]
    if len(same) == 1:
        return same[0]
    within = [k for k, option in enumerate(options) if f" {_plain(option)} " in f" {said} "]
    # an option that is part of another one named as well says nothing of its own
    within = [
        k
        for k in within
        if not any(j != k and _plain(options[k]) in _plain(options[j]) for j in within)
    ]
    if len(within) != 1:
        raise MalformedReply("the reply chooses no single option", reply=text)
    return within[0]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def new_section(completion: Completion) -> bool:
    """Whether the second page begins anew; "not sure" counts as yes: pages are kept apart."""
    found = re.match(r"\W*(yes|no(?!t)|not sure|unsure)\b", completion.text, re.IGNORECASE)
    if not found:
        raise MalformedReply("the reply is none of yes, no, not sure", reply=completion.text)
    return found[1].lower() != "no"


# -- gists --------------------------------------------------------------------------------------

_PREAMBLE = re.compile(
    r"\s*(?:\*\*)?(?:(?:sure|certainly|of course|okay)\b[^\n:]{0,60}|"
    r"here(?:'s|’s| is| are)\b[^\n:]{0,80}|"
    r"(?:the )?(?:shortened|condensed|summari[sz]ed|short)\s(?:version|passage|text|page|gist)"
    r"[^\n:]{0,40}|summary|in short)[:](?:\*\*)?\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:i(?:'m| am) (?:very )?sorry|sorry,|i (?:can(?:'|’)?t|cannot|am unable|won't)\b|"
    r"i(?:'m| am) (?:unable|not able)|as an ai\b|unfortunately, i)",
    re.IGNORECASE,
)
_ERROR = re.compile(r"\W*(?:error|exception|traceback|failed to|internal server)\b", re.IGNORECASE)
_LOOP = re.compile(r"\b(\w[^\n]{8,120}?)(?:\W+\1\b){2,}")  # a phrase three times in a row
_SHORTEST_GIST_WORDS, _FROM_PAGE_WORDS = 4, 60


def gist(completion: Completion, source: str, marks: Marks | None = None) -> str:
    """The shortened text alone.

    Refused are: nothing, a refusal, an error text, a text longer than its source, a mere title, and
    a phrase repeated over and over.
    """
    text = _unfenced(completion.text).strip()
    if marks is not None:
        text = marks.pattern.sub("", text).strip()
    if (lead := _PREAMBLE.match(text)) and lead[0].strip() not in source:
        text = text[lead.end() :].strip() or text
    text = re.sub(r"\n\s*\n+", "\n", text)
    words, source_words = count_words(text), count_words(source)
    if not words:
        raise MalformedReply("the gist is empty", reply=text)
    for pattern, what in ((_REFUSAL, "a refusal"), (_ERROR, "an error text")):
        if (found := pattern.match(text)) and found[0].strip() not in source:
            raise MalformedReply(f"the gist is {what}", reply=text)
    if _LOOP.search(text) and not _LOOP.search(source):
        raise MalformedReply("the gist repeats itself", reply=text)
    if words > source_words:
        raise MalformedReply("the gist is longer than its page", reply=text)
    if words < _SHORTEST_GIST_WORDS and source_words >= _FROM_PAGE_WORDS:
        raise MalformedReply("the gist is a mere title", reply=text)
    return text


def invented(gist: str, source: str) -> list[str]:
    """Numbers and names that stand in the gist but not in what it was made from."""
    digits = set(re.findall(r"\d+", re.sub(r"(?<=\d)[,. ](?=\d{3})", "", source)))
    digits |= set(re.findall(r"\d+", source))
    numbers = re.findall(r"\d+", re.sub(r"(?<=\d)[,](?=\d{3})", "", gist))
    lowered = source.casefold()
    names = re.findall(r"(?<=[a-z,;] )[A-Z][\w’'-]{2,}", gist)
    absent = [n for n in numbers if n not in digits]
    return absent + [n for n in names if _stem(n) not in lowered]


def _stem(name: str) -> str:
    return re.sub(r"(?:['’]s|s['’]?|['’])$", "", name).casefold()


# -- answers ------------------------------------------------------------------------------------

_SILENT = re.compile(
    r"\W*(?:not in (?:the|this) (?:document|text)|"
    r"(?:the|this) (?:document|text|passage|provided text) (?:does not|doesn't|doesn’t) "
    r"(?:\w+ )?(?:say|state|mention|hold|contain|provide|specify|give|tell|include|indicate)|"
    r"(?:there is )?no (?:mention|information)\b|it is not (?:stated|mentioned|specified)|"
    r"not (?:stated|mentioned|specified))",
    re.IGNORECASE,
)
_QUOTE_LINE = re.compile(
    r"^\W{0,3}[\[(<]?\s*(?:pages?\s*)?(\d+)\s*[\])>]?\s*[:.-]?\s*[\"“”„«'‘](.+?)[\"“”»'’]?\s*\.?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
NOT_IN_DOCUMENT = "Not in the document."


def answer(completion: Completion) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The answer's text and its (page, quote) lines; the text is empty when nothing was found."""
    text = _unfenced(completion.text).strip()
    if not text:
        raise MalformedReply("the answer is empty", reply=completion.text)
    if _SILENT.match(text):
        return "", ()
    quotes = tuple((int(n), q.strip()) for n, q in _QUOTE_LINE.findall(text) if len(n) < 9)
    said = _QUOTE_LINE.sub("", text).strip()
    said = re.sub(r"\n{2,}", "\n", said)
    said = re.sub(r"^(?:answer|a):\s*", "", said, flags=re.IGNORECASE)
    if not said:
        raise MalformedReply("the reply quotes but does not answer", reply=text)
    return said, quotes


def _unfenced(text: str) -> str:
    found = _FENCE.fullmatch(text)
    return found[1] if found else text


def _json_field(text: str, field: str) -> Any:
    """The field of a reply that is one JSON object, None when it is not."""
    inner = _unfenced(text).strip()
    if not inner.startswith("{"):
        return None
    try:
        data = json.loads(inner)
    except ValueError:
        return None
    return data.get(field) if isinstance(data, dict) else None
