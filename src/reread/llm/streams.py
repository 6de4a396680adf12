"""What a chat endpoint sends back, as it comes: server-sent events, or one JSON object.

The official client makes a typed object of every event, at some hundred microseconds each; here a
line is parsed when it stands there, at some ten. Servers are taken as they are: events that are not
kept apart, comments, events without a choice, the last one with usage or not, an error in the
middle. Invariant: a stream that does not say that it is complete is never taken for a reply.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_SSE = (b"data", b":", b"event", b"id:", b"retry", b"error:")
_MOST_BYTES = 64_000_000


class Broken(Exception):
    """The stream ended too early, or holds something that cannot be read."""


class Told(Exception):
    """The server told of a failure inside its reply; `body` is what it said."""

    def __init__(self, body: Any) -> None:
        super().__init__(str(body))
        self.body = body


class NoReply(Exception):
    """What came is no reply of a model server at all."""


@dataclass(slots=True)
class Reply:
    """What came of a reply. `thought` is True when reasoning came that is not part of the text.

    `likely` are the most likely first tokens with their chances, where these were asked for.
    """

    streamed: bool = False
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    thought: bool = False
    pieces: list[str] = field(default_factory=list)
    likely: dict[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text so far, reasoning that stands in it included."""
        return "".join(self.pieces)


def receive(
    chunks: Iterable[bytes],
    *,
    came: Callable[[], None],
    hear: Callable[[str], None] | None = None,
) -> Reply:
    """The whole reply that the chunks hold.

    `came` is called for each sign of progress, which comments are not; `hear` is told the text so
    far whenever it has grown.

    Raises:
        Broken: the stream was cut, or a line of it cannot be read.
        Told: the server told of a failure.
        NoReply: the chunks hold something else.
    """
    lines = _lines(chunks)
    for line in lines:
        if not line:
            continue
        if line.startswith(_SSE):
            return _events(line, lines, came, hear)
        rest = b"\n".join([line, *lines])
        return _whole(rest)
    raise Broken("it ended before anything came")


def chances(likely: Mapping[str, float], words: Sequence[str]) -> str:
    """The chance of each of the words as JSON; empty where none is among the likely tokens."""
    found = dict.fromkeys(words, 0.0)
    for token, chance in likely.items():
        if (word := token.strip().casefold()) in found:
            found[word] += chance
    told = {word: round(chance, 4) for word, chance in found.items()}
    return json.dumps(told) if any(found.values()) else ""


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    # Not the client's lines: those also end at characters that JSON may hold.
    kept, size_bytes = b"", 0
    for chunk in chunks:
        size_bytes += len(chunk)
        if size_bytes > _MOST_BYTES:
            raise Broken("it has no end")
        if b"\n" not in chunk:
            kept += chunk
            continue
        first, *others = chunk.split(b"\n")
        yield (kept + first).strip()
        kept = others.pop()
        for other in others:
            yield other.strip()
    if kept := kept.strip():
        yield kept


def _events(first: bytes, lines: Iterator[bytes], came: Callable[[], None], hear: Any) -> Reply:
    reply = Reply(streamed=True)
    failing = False
    unread = b""
    for line in _again(first, lines):
        if not line.startswith(b"data:"):
            if line.startswith(b"error:"):  # an older llama.cpp
                raise Told(_loaded(line[6:]) or line[6:].decode(errors="replace"))
            if line.startswith(b"event:"):
                failing = line[6:].strip() == b"error"
            elif not line and unread:
                raise Broken(f"a line cannot be read: {_shown(unread)}")
            elif line and not line.startswith(_SSE):
                raise Broken(f"a line cannot be read: {_shown(line)}")
            continue
        data = line[5:].strip()
        if data.startswith(b"[DONE]"):
            return _complete(reply, unread)
        event = _loaded(unread + data)
        if event is None:  # one value may be spread over several lines
            unread += data + b"\n"
            continue
        unread = b""
        came()
        if failing and isinstance(event, dict):
            raise Told(event.get("error") or event)
        before = len(reply.pieces)
        _take(event, reply)
        if hear is not None and len(reply.pieces) > before:
            hear(reply.text)
    # Some servers close the stream instead of saying [DONE].
    if reply.finish_reason is None:
        raise Broken("it was cut in the middle")
    return _complete(reply, unread)


def _again(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines


def _complete(reply: Reply, unread: bytes) -> Reply:
    if unread:
        raise Broken(f"a line cannot be read: {_shown(unread)}")
    if reply.finish_reason is None and not reply.pieces:
        raise Broken("it is without any content")
    return reply


def _take(event: Any, reply: Reply) -> None:
    """Adds one event to the reply; what has no place in a reply is passed over."""
    if not isinstance(event, dict):
        raise Broken(f"an event is no object: {str(event)[:60]}")
    if error := event.get("error"):
        raise Told(error)
    usage, choices = event.get("usage"), event.get("choices")
    if isinstance(usage, dict):
        reply.usage = usage
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return
    if reason := choice.get("finish_reason"):
        if reason == "error":
            raise Told(choice.get("error") or "the model failed while it wrote")
        reply.finish_reason = reason
    if not reply.likely:
        reply.likely = _likely(choice.get("logprobs"))
    said = choice.get("delta") or choice.get("message")
    if isinstance(said, dict):
        if content := said.get("content"):
            reply.pieces.append(_text(content))
        if said.get("reasoning_content") or said.get("reasoning"):
            reply.thought = True


def _likely(told: Any) -> dict[str, float]:
    """The chances of the most likely tokens at the place of the first; empty where untold."""
    try:
        first = told["content"][0]["top_logprobs"]
        told = {str(one["token"]): float(one["logprob"]) for one in first}
    except (TypeError, LookupError, ValueError, OverflowError):
        return {}
    return {token: math.exp(min(0.0, log)) for token, log in told.items() if not math.isnan(log)}


def _whole(raw: bytes) -> Reply:
    """The reply that one JSON object holds."""
    data = _loaded(raw)
    if data is None and raw[:1] in b"{[":
        raise Broken(f"it cannot be read: {_shown(raw)}")
    if not isinstance(data, dict):
        raise NoReply(_shown(raw))
    reply = Reply()
    choices: Any = data.get("choices")
    if choices is None and not data.get("error"):
        raise NoReply(_shown(raw))
    try:
        whole = isinstance(choices[0]["message"], dict)
    except (TypeError, LookupError):
        whole = False
    if not whole:
        raise Told(data.get("error") or "a reply without any content")
    _take(data, reply)
    return reply


def _text(content: Any) -> str:
    """Text as it is, or the texts of a list of parts (Mistral's reasoning models send such)."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        str(part.get("text") or "")
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text"
    )


def _loaded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _shown(raw: bytes) -> str:
    return raw[:60].decode("utf-8", "replace")
