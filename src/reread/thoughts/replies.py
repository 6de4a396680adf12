"""What a model's reply to a request for a thought, or for questions, means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from reread.errors import MalformedReply
from reread.types import Completion

_MARKUP = r"[\s*_\"`]*"
_CONFIDENCE = re.compile(
    rf"[\s*_\"#(-]*\b(?:confidence|confident)\b{_MARKUP}(?:is|of|=|:|：|[-–](?=\s))?{_MARKUP}(.*)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[\W_]*(?:thought|knowledge(?: point)?|note)[*_]*\s*:[*_\s]*", re.IGNORECASE)
_ECHO = re.compile(  # of the order, before the thought itself
    r"^(?:the|this) (?:question|answer)(?: and (?:(?:the|its|this) )?(?:question|answer))? "
    r"(?:together )?(?:teach|tell|show|say)(?:es|s)?(?: us)? that ",
    re.IGNORECASE,
)
_YES = {"1", "1.0", "yes", "true"}
_REFUSED = re.compile(
    r"\W*(?:none|n/?a|null|nothing|i(?:'m| am) sorry|as an ai|not in the (?:text|document))\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```\w*")
_OPENED = re.compile(r"(?:\A|`\w*\s)\s*\{|\{\s*[\"'“]?(?:thought|confidence)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):])?\s*[\"“]?(\S.*?\?)[\"”]?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Distilled:
    """A thought and whether the model stands by it."""

    text: str
    confident: bool


def distilled(completion: Completion) -> Distilled:
    """The thought and its confidence; only a plain 1, yes or true is any.

    Raises:
        MalformedReply: there is no thought at all, or a JSON object that is cut off or broken.
    """
    raw = completion.text.strip()
    data = _object(raw, "thought")
    if data is not None:
        text, said = data.get("thought"), data.get("confidence")
        text = text if isinstance(text, str) else ""
        confident = said is not None and _is_yes(str(said))
    elif _OPENED.search(raw):
        raise MalformedReply("the reply's JSON object is cut off", reply=completion.text)
    else:
        found = list(_CONFIDENCE.finditer(raw))
        last = found[-1] if found else None
        confident = bool(last and _is_yes(last[1]))
        text = raw[: last.start()] if last else raw
    text = " ".join(_LABEL.sub("", text.strip()).split()).strip('"“” ')
    said = _ECHO.sub("", text)
    text = said[:1].upper() + said[1:] if said != text else text
    if not re.search(r"\w", text):
        if data is not None or _CONFIDENCE.search(raw):
            return Distilled("", False)
        raise MalformedReply("the reply holds no thought", reply=completion.text)
    return Distilled(text, confident and not _REFUSED.match(text))


def questions(completion: Completion, most: int) -> list[str]:
    """Up to `most` different questions.

    Raises:
        MalformedReply: there is none.
    """
    data = _object(completion.text.strip(), "questions")
    listed = data.get("questions") if data else None
    found = [q for q in listed if isinstance(q, str)] if isinstance(listed, list) else []
    found = found or _ITEM.findall(completion.text)
    unique = list(dict.fromkeys(" ".join(q.split()) for q in found if re.search(r"\w", q)))
    if not unique:
        raise MalformedReply("the reply asks no question", reply=completion.text)
    return unique[:most]


def _is_yes(said: str) -> bool:
    """Whether this is nothing but a yes: "1/10" and "1 %" are none."""
    return said.strip(' \t\r*_"`.)').casefold() in _YES


def _object(text: str, key: str) -> dict[str, Any] | None:
    """The last JSON object of the reply that holds the key, else the whole reply as an object."""
    found: dict[str, Any] | None = None
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            data, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        alone = _FENCE.sub("", text[:at]) + text[end:]
        if key in data or (found is None and not re.search(r"\w", alone)):
            found = data
        at = end
    return found


_DECODER = json.JSONDecoder(strict=False)  # a line break inside a string is no reason to ask again
