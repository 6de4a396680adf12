"""What a model's reply to a request for a thought, or for questions, means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from reread.errors import MalformedReply
from reread.types import Completion

_CONFIDENCE = re.compile(
    r"[\s*_\"#(-]*\b(?:confidence|confident)\b[\W_]*(?:is|of|=|:)?[\W_]*(\w+(?:\.\d+)?)?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[\W_]*(?:thought|knowledge(?: point)?|note)[*_]*\s*:[*_\s]*", re.IGNORECASE)
_YES = {"1", "1.0", "yes", "true"}
_REFUSED = re.compile(
    r"\W*(?:none|n/?a|null|nothing|i(?:'m| am) sorry|as an ai|not in the (?:text|document))\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):])?\s*[\"“]?(\S.*?\?)[\"”]?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Distilled:
    """A thought and whether the model stands by it."""

    text: str
    confident: bool


def distilled(completion: Completion) -> Distilled:
    """The thought and its confidence; a confidence that cannot be read is none.

    Raises:
        MalformedReply: there is no thought at all.
    """
    raw = completion.text.strip()
    data = _object(raw)
    if data is not None:
        text, said = data.get("thought"), data.get("confidence")
        text = text if isinstance(text, str) else ""
        confident = str(said).strip().casefold() in _YES and said is not None
    else:
        found = list(_CONFIDENCE.finditer(raw))
        last = found[-1] if found else None
        confident = bool(last and last[1] and last[1].casefold() in _YES)
        text = raw[: last.start()] if last else raw
    text = " ".join(_LABEL.sub("", text.strip()).split()).strip('"“” ')
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
    data = _object(completion.text.strip())
    listed = data.get("questions") if data else None
    found = [q for q in listed if isinstance(q, str)] if isinstance(listed, list) else []
    found = found or _ITEM.findall(completion.text)
    unique = list(dict.fromkeys(" ".join(q.split()) for q in found if re.search(r"\w", q)))
    if not unique:
        raise MalformedReply("the reply asks no question", reply=completion.text)
    return unique[:most]


def _object(text: str) -> dict[str, Any] | None:
    fenced = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.DOTALL)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
