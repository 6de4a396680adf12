"""An answer shown while it is written: only what the finished reply will also say.

A reply holds more than the answer: quotes, a heading, JSON, or the sentence that the document does
not say. Whatever may still turn out to be such is held back until it is decided. Invariant: the
pieces since the last that began anew are the text of the answer, once `finish` was called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from reread.reading import replies
from reread.types import Piece

_OPENING = re.compile(r"\s*```\w*(?:\n|\Z)")
_HEADING = re.compile(r"[*_\s]*(?:answer|a):[*_]*\s*", re.IGNORECASE)
_FIELD = re.compile(r'\s*\{\s*"answer"\s*:\s*"((?:[^"\\]|\\.)*)')
# A line that may become a quote with its page, as `replies.answer` takes them out.
_QUOTING = re.compile(
    r"\s*(?:[-*•>]\s*)?(?:[`\[(<\"“”„«'‘「『]|(?:p(?:p|a|ag|age|ages)?)?(?:\Z|[.\s]))",
    re.IGNORECASE,
)
# Openings of what is no answer: silence of the document, or a refusal.
_DOUBTFUL = re.compile(
    r"\W*(?:not\b|there is no|no (?:mention|information)|(?:the|this|that) (?:\w+ )?(?:document|"
    r"text|passages?|pages?|source|excerpts?|material|answer|information)\b|"
    r"(?:it|this|that) (?:is|was) not|i\b|i'm\b|sorry|unfortunately|as an ai|unknown)",
    re.IGNORECASE,
)
_DECIDED_WORDS, _DECIDED_CHARS = 4, 300


class Shown:
    """What has been shown of an answer; `emit` gets each piece."""

    def __init__(self, emit: Callable[[Piece], None]) -> None:
        self._emit = emit
        self._shown = ""

    def hear(self, reply: str) -> None:
        """Shows what is new in the reply so far."""
        self._show(so_far(reply))

    def finish(self, text: str) -> None:
        """Shows what is left of the answer's text."""
        if text != self._shown and self._shown.startswith(text):
            self._emit(Piece(text=text, anew=True))
            self._shown = text
        self._show(text)

    def _show(self, text: str) -> None:
        # A call sent again begins with less and mostly says the same: nothing is shown twice.
        if self._shown.startswith(text):
            return
        anew = not text.startswith(self._shown)
        self._emit(Piece(text=text if anew else text[len(self._shown) :], anew=anew))
        self._shown = text


def so_far(reply: str) -> str:
    """The part of the answer's text that a reply, which may still go on, has settled."""
    text = _prose(reply)
    if "NOT IN THE" in text or _undecided(text):
        return ""
    lines = text.split("\n")
    if _QUOTING.match(lines[-1]):
        lines.pop()
    kept = [line for line in lines if line.strip(" `") and not replies.is_quote(line)]
    return "\n".join(kept).strip()


def _prose(reply: str) -> str:
    """The reply without its fence, its JSON and its heading, as far as they have come."""
    text = _OPENING.sub("", reply, count=1) if reply.lstrip().startswith("`") else reply
    if text.lstrip().startswith("{"):
        field = _FIELD.match(text)
        text = _unescaped(field[1]) if field else ""
    return _HEADING.sub("", text.lstrip(), count=1)


def _unescaped(text: str) -> str:
    """The text of a JSON string that may lack its end; a part of an escape is left out."""
    whole = re.sub(r"\\(?:u[0-9a-fA-F]{0,3})?\Z", "", text)
    try:
        return str(json.loads(f'"{whole}"', strict=False))
    except ValueError:
        return ""


def _undecided(text: str) -> bool:
    """Whether it may yet turn out that the reply is no answer."""
    straight = text.replace("’", "'")
    if replies.is_no_answer(straight):
        return True
    if len(text.split()) <= _DECIDED_WORDS:
        return True
    sentence = re.match(r"[^.!?\n]*[.!?\n]", straight)
    return bool(_DOUBTFUL.match(straight)) and not sentence and len(text) < _DECIDED_CHARS
