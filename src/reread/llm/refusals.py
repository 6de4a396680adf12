"""What servers mean when they refuse, whatever their wording: one of our errors, and what to learn.

Pure functions over status, headers and text. Invariant: a message that says the prompt is too long
is never read as a refused parameter, and a rate limit that passes is never read as a used-up quota.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reread.text import clean

LONGEST_PAUSE_S = 600.0

_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size|limit)|(length|window|size).{0,10}\bcontext|"
    r"maximum.{0,30}(context|tokens|prompt|input)|too (long|many tokens)|exceed_context_size|"
    r"exceed.{0,40}(context|token)|reduce the length|prompt is too|larger than the context|"
    r"tokens?\W+\+\W+\W*max_new_tokens|must have less than \d+ tokens|request too large|"
    r"exceeds? max|greater than.{0,20}\bmax|range of input length|too large to process|"
    r"longer than the max|must be at least 1, got -\d",
    re.IGNORECASE,
)
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:>|<=|≤)\s*([\d,]{3,})",
        r"\blimit\b(?: is| of)?\W{0,3}([\d,]{3,})",
        r"range of input length should be \[\d+, ?([\d,]{3,})\]",
        r"cannot exceed ([\d,]{3,})",
        r"(?:maximum|max(?:\b|_)|at most|up to|less than|only)[^\d>]{0,40}([\d,]{3,})",
        r"context[ _-]*(?:length|window|size|limit)[^\d>]{0,20}([\d,]{3,})",
        r"([\d,]{3,})\s+(?:tokens\s+)?maximum",
    )
)
_EXCESS = re.compile(r"\bby [\d,]+ tokens")  # how far beyond the limit, not the limit
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_QUOTA = re.compile(r"quota|billing|payment|credit|insufficient balance", re.IGNORECASE)
_PASSES = re.compile(r"rate.?limit|per (?:minute|second)|tokens per min|try again|retry", re.I)
_UNKNOWN_MODEL = re.compile(
    r"(?:invalid|unknown|no such) model\b|not a valid model|"
    r"\bmodel\b.{0,80}(?:not found|does not exist|doesn't exist|not available|is not supported)",
    re.IGNORECASE,
)
_WITHHELD = re.compile(
    r"content.?filter|content management policy|json_validate_failed|failed_generation|"
    r"failed to (?:generate|validate) json",
    re.IGNORECASE,
)
_PAUSE = re.compile(
    r"(?:try again|retry)(?:ing)?\s*(?:in|after)\s*(?:(\d+)h)?\s*(?:(\d+)m(?!s))?\s*"
    r"(?:([\d.]+)\s*(ms|s|m)?)?",
    re.IGNORECASE,
)
# What a refusal of a parameter says; the wordings of several servers.
_PARAMETERS: Mapping[str, re.Pattern[str]] = {
    "max_tokens": re.compile(r"\bmax_tokens\b"),
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "response_format": re.compile(
        r"response_?format|json.?schema|response_schema|grammar|guided|structured.?output|"
        r"invalid schema",
        re.IGNORECASE,
    ),
    "top_logprobs": re.compile(r"\btop_logprobs\b"),
    "logprobs": re.compile(r"\blog_?probs?\b", re.IGNORECASE),
    "stream_options": re.compile(r"\bstream_options\b|\binclude_usage\b"),
    "stream": re.compile(r"\bstream(?:ing|ed)?\b", re.IGNORECASE),
    "reasoning_effort": re.compile(r"reasoning.?effort|\breasoning\b|\bthink", re.IGNORECASE),
    "system": re.compile(
        r"system.{0,12}\brole|\brole.{0,40}\bsystem|system messages?.{0,20}not|"
        r"roles must alternate|developer instruction",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A failure that the server told of: by its status, or inside a reply that had begun well."""

    status: int
    text: str
    body: Any = None
    code: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    within: bool = False


def within(body: Any, text: str) -> Refusal:
    """The refusal that an error inside a reply means, with the status that it names or words."""
    told = body if isinstance(body, dict) else {}
    code = told.get("code")
    status = next(
        (n for key in ("code", "status_code", "status") if (n := _status(told.get(key)))), None
    )
    if status is None:
        # Nothing says whether it passes; what is known to be for good is known by its words.
        kind = f"{code} {told.get('type')}"
        status = 429 if "rate_limit" in kind else 400 if _TOO_LONG.search(text) else 500
    return Refusal(status=status, text=text, body=body, code=code, within=True)


def _status(value: Any) -> int | None:
    number = _number(str(value)) if value is not None else None
    return int(number) if number is not None and 400 <= number < 600 else None


def too_long(status: int, text: str) -> bool:
    """Whether the refusal says that prompt and reply do not fit the model's window."""
    if status == 429:  # a rate limit speaks of tokens too
        return "too large" in text.lower()
    return status == 413 or (
        (status in (400, 404, 422) or status >= 500) and bool(_TOO_LONG.search(text))
    )


def limit_tokens(text: str, body: object) -> int | None:
    """The window that such a refusal names, in tokens; None when it names none."""
    if isinstance(body, dict) and isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    text = _EXCESS.sub("", text)
    for pattern in _LIMITS:
        for found in pattern.findall(text):
            if digits := found.replace(",", ""):
                return int(digits)
    return None


def refused_parameter(status: int, text: str, sent: Mapping[str, Any]) -> str | None:
    """Which of the parameters that were sent the refusal is about; `system` is the system role."""
    if status not in (400, 422, 500, 501) or too_long(status, text):
        return None
    for name, pattern in _PARAMETERS.items():
        # A template that knows no system role fails inside the server; the rest is a bad request.
        if name in sent and pattern.search(text) and (status < 500 or name == "system"):
            return name
    return None


def quota_used_up(status: int, code: object, text: str, headers: Mapping[str, str]) -> bool:
    """Whether waiting will not help: no credit is left, or the pause asked for is very long."""
    if status == 402 or str(code) in _QUOTA_CODES:
        return True
    if status != 429:
        return False
    pause_s = retry_after_s(text, headers)
    if pause_s is not None:
        return pause_s > LONGEST_PAUSE_S
    # Rate limits advertise billing pages too, so the word alone decides nothing.
    return bool(_QUOTA.search(text)) and not _PASSES.search(text)


def overloaded(status: int, text: str) -> bool:
    """Whether fewer calls at once would help."""
    return status in (408, 429, 503, 504, 529) or "overloaded" in text.lower()


def withheld(code: object, text: str) -> bool:
    """Whether it is about what was written, not about the request: a filter, or a failed form."""
    return bool(_WITHHELD.search(f"{code} {text}"))


def unknown_model(status: int, text: str) -> bool:
    """Whether the refusal is about the model's name, or nothing stands at the address."""
    return status == 404 or (status in (400, 422) and bool(_UNKNOWN_MODEL.search(text)))


def retry_after_s(text: str, headers: Mapping[str, str]) -> float | None:
    """The pause that the server asks for, in headers or words; None when it names none."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    if value and (date := email.utils.parsedate_tz(value)):
        return max(0.0, email.utils.mktime_tz(date) - time.time())
    found = _PAUSE.search(text)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest, unit = found.groups()
    scale = {"ms": 0.001, "m": 60.0}.get((unit or "s").lower(), 1.0)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + (_number(rest) or 0.0) * scale


def _number(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def said(body: object, fallback: str) -> str:
    """The one line that the body of a refusal says, of at most 300 characters."""
    text = _text(body).strip() or fallback.strip()
    if title := re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL):
        text = title[1]
    elif text.startswith("<"):
        text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(clean(text).split())[:300] or "no reason given"


def _text(body: object) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, dict):
        for key in ("message", "error", "detail", "msg"):
            if found := _text(body.get(key)):
                return found
    if isinstance(body, list):
        return "; ".join(filter(None, map(_text, body)))
    return ""
