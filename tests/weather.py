"""The weather a call meets: how servers shape their replies, and what goes wrong on the way.

Shapes are those that the servers really send, field by field; texts and numbers are ours. A
condition is a set of what an `Endpoint` takes, so that two can hold at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Within = Literal["cut", "ends", "garbage", "error", "error line", "stall"]
Thinking = Literal["", "tags", "unopened", "reasoning_content", "reasoning", "parts", "starved"]
THOUGHT = "First I look at the page. Is it [1] or [2]? I think it is 42."


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the next chat request gets instead of its reply.

    With `breaks` the connection is closed without a reply, after half of one when `half` is set.
    With `hangs_s` nothing is sent for that long. `text` is a raw body of `content_type`. With
    `within` a reply begins well and goes wrong after `after` of its events.
    """

    status: int = 500
    message: str = "it failed"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    text: str | None = None
    content_type: str = "application/json"
    breaks: bool = False
    half: bool = False
    hangs_s: float = 0.0
    within: Within | None = None
    after: int = 2

    def payload(self) -> bytes:
        if self.text is not None:
            return self.text.encode()
        if self.body is not None:
            return json.dumps(self.body).encode()
        error = {"message": self.message, "type": "error", "code": self.code, "param": None}
        return json.dumps({"error": error}).encode()


@dataclass(frozen=True, kw_only=True)
class Made:
    """A reply before it has a shape. `thought` is reasoning, `thinking` where it is shown."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int
    finish_reason: str = "stop"
    thinking: Thinking = ""
    model: str = "reader"

    @property
    def content(self) -> str:
        """The text as it stands in `content`."""
        if self.thinking == "tags":
            return f"<think>\n{THOUGHT}\n</think>\n\n{self.text}"
        if self.thinking == "unopened":
            return f"{THOUGHT}\n</think>\n\n{self.text}"
        return self.text

    @property
    def usage(self) -> dict[str, Any] | None:
        if self.prompt_tokens is None:
            return None
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


def pieces(text: str, words: int = 5) -> list[str]:
    """The text in parts of a few words, as models write them."""
    split = text.split(" ")
    parts = [" ".join(split[k : k + words]) for k in range(0, len(split), words)]
    return [part if k == 0 else f" {part}" for k, part in enumerate(parts)]


def whole(made: Made) -> dict[str, Any]:
    """The reply as one object, as every server sends it when it does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": made.content}
    if made.thinking in ("reasoning_content", "reasoning"):
        message[made.thinking] = THOUGHT
    if made.thinking == "parts":
        message["content"] = [*_thought_parts(), {"type": "text", "text": made.text}]
    if made.thinking == "starved":
        message |= {"content": None, "reasoning_content": THOUGHT}
    reply: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": made.model,
        "choices": [{"index": 0, "message": message, "finish_reason": made.finish_reason}],
    }
    return reply | ({"usage": made.usage} if made.usage else {})


def _thought_parts() -> list[dict[str, Any]]:
    return [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]


def _deltas(made: Made) -> list[dict[str, Any]]:
    """What the events add to the message, one by one, in the words of the reply's server."""
    deltas: list[dict[str, Any]] = []
    if made.thinking in ("reasoning_content", "starved"):
        deltas += [{"reasoning_content": part, "content": None} for part in pieces(THOUGHT)]
    if made.thinking == "reasoning":
        deltas += [{"content": "", "reasoning": part} for part in pieces(THOUGHT)]
    if made.thinking == "parts":
        deltas.append({"content": _thought_parts()})
        return [*deltas, *({"content": part} for part in pieces(made.text))]
    if made.thinking != "starved":
        deltas += [{"content": part} for part in pieces(made.content)]
    return deltas


Event = dict[str, Any] | str  # an object, or a line as it is


def _chunk(made: Made, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": made.model,
        **more,
        "choices": choices,
    }


def _choice(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"index": 0, "delta": delta, **more, "finish_reason": reason}


def _openai(made: Made) -> list[Event]:
    more = {"service_tier": "default", "system_fingerprint": "fp_1"}
    events: list[Event] = [
        _chunk(made, [_choice({"role": "assistant", "content": "", "refusal": None})], **more)
    ]
    events += [_chunk(made, [_choice(d, logprobs=None)], **more, usage=None) for d in _deltas(made)]
    events.append(_chunk(made, [_choice({}, made.finish_reason, logprobs=None)], **more))
    if made.usage:
        usage = made.usage | {
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }
        events.append(_chunk(made, [], **more, usage=usage))
    return [*events, "data: [DONE]"]


def _vllm(made: Made) -> list[Event]:
    events: list[Event] = [
        _chunk(made, [_choice({"role": "assistant", "content": ""}, logprobs=None)])
    ]
    events += [_chunk(made, [_choice(d, logprobs=None, token_ids=None)]) for d in _deltas(made)]
    last = _choice({"content": ""}, made.finish_reason, logprobs=None, stop_reason=None)
    events.append(_chunk(made, [last]))
    if made.usage:
        events.append(_chunk(made, [], usage=made.usage))
    return [*events, "data: [DONE]"]


def _ollama(made: Made) -> list[Event]:
    more = {"system_fingerprint": "fp_ollama"}
    events: list[Event] = [
        _chunk(made, [_choice({"role": "assistant"} | d)], **more) for d in _deltas(made)
    ]
    last = _choice({"role": "assistant", "content": ""}, made.finish_reason)
    events.append(_chunk(made, [last], **more))
    if made.usage:
        events.append(_chunk(made, [], **more, usage=made.usage))
    return [*events, "data: [DONE]"]


def _lm_studio(made: Made) -> list[Event]:
    more = {"system_fingerprint": made.model}
    events: list[Event] = [
        _chunk(made, [_choice({"role": "assistant"} | d, logprobs=None)], **more)
        for d in _deltas(made)
    ]
    events.append(_chunk(made, [_choice({}, made.finish_reason, logprobs=None)], **more))
    if made.usage:
        events.append(_chunk(made, [], **more, usage=made.usage))
    return [*events, "data: [DONE]"]


def _llama_cpp(made: Made) -> list[Event]:
    more = {"system_fingerprint": "b1-cafe"}
    events: list[Event] = [_chunk(made, [_choice({"role": "assistant", "content": None})], **more)]
    events += [_chunk(made, [_choice(d)], **more) for d in _deltas(made)]
    events.append(_chunk(made, [_choice({}, made.finish_reason)], **more))
    if made.usage:
        timings = {"cache_n": 0, "prompt_n": made.prompt_tokens, "predicted_per_second": 40.5}
        events.append(_chunk(made, [], **more, usage=made.usage, timings=timings))
    return [*events, "data: [DONE]"]


def _gemini(made: Made) -> list[Event]:
    """Few large events, usage in each of them, the reason in the last one that has text."""
    deltas = _deltas(made) or [{}]
    events: list[Event] = []
    for k, delta in enumerate(deltas):
        choice: dict[str, Any] = {"delta": {"role": "assistant"} | delta, "index": 0}
        if k == len(deltas) - 1:
            choice["finish_reason"] = made.finish_reason
        events.append(_chunk(made, [choice], usage=made.usage or {}))
    return [*events, "data: [DONE]"]


def _gateway(made: Made) -> list[Event]:
    """Comments while it waits, usage beside the last choice."""
    events: list[Event] = [": OPENROUTER PROCESSING", ": OPENROUTER PROCESSING"]
    events += [_chunk(made, [_choice({"role": "assistant"} | d)]) for d in _deltas(made)]
    last = _choice({"role": "assistant", "content": ""}, made.finish_reason)
    usage = {"usage": made.usage} if made.usage else {}
    return [*events, _chunk(made, [last], **usage), "data: [DONE]"]


def _bare(made: Made) -> list[Event]:
    """As little as a server gets away with: no role, no usage, no [DONE]."""
    events: list[Event] = [{"choices": [{"delta": d}]} for d in _deltas(made)]
    return [*events, {"choices": [{"delta": {}, "finish_reason": made.finish_reason}]}]


SHAPES: Mapping[str, Callable[[Made], list[Event]]] = {
    "openai": _openai,
    "vllm": _vllm,
    "ollama": _ollama,
    "lm studio": _lm_studio,
    "llama.cpp": _llama_cpp,
    "gemini": _gemini,
    "gateway": _gateway,
    "bare": _bare,
}


def events(made: Made, shape: str) -> list[bytes]:
    """The server-sent events of a reply, each as it goes over the wire."""
    sent = []
    for event in SHAPES[shape](made):
        line = event if isinstance(event, str) else f"data: {json.dumps(event)}"
        # Some servers end lines in their own way, or keep events apart by a single line.
        end = "\r\n\r\n" if shape == "gateway" else "\n" if shape == "bare" else "\n\n"
        sent.append(f"{line}{end}".encode())
    return sent


def goes_wrong(fault: Fault, sent: list[bytes]) -> list[bytes]:
    """The events up to where the fault strikes, and what comes then."""
    before = sent[: min(fault.after, len(sent) - 2)]
    error = json.dumps({"error": {"message": fault.message, "code": fault.code}})
    if fault.within == "garbage":
        return [*before, b'data: {"choices":[{"delta":{"con\n\n', *sent[len(before) :]]
    if fault.within == "error":
        return [*before, f"event: error\ndata: {error}\n\n".encode()]
    if fault.within == "error line":
        return [*before, f"error: {error}\n\n".encode()]
    return before


# What an `Endpoint` is given, by name. `fault` is one that strikes every third request.
Condition = dict[str, Any]

QUIRKS: Mapping[str, Condition] = {
    **{name: {"shape": name} for name in SHAPES},
    "answers whole": {"streams": False},
    "refuses stream": {"refuses": ["stream"]},
    "refuses stream_options": {"refuses": ["stream_options"]},
    "refuses max_tokens": {"refuses": ["max_tokens"]},
    "refuses temperature": {"refuses": ["temperature"]},
    "refuses response_format": {"refuses": ["response_format"]},
    "refuses system": {"refuses": ["system"]},
    "thinks in tags": {"thinking": "tags"},
    "thinks unopened": {"thinking": "unopened"},
    "thinks apart": {"thinking": "reasoning_content"},
    "thinks apart, as Ollama": {"thinking": "reasoning"},
    "thinks in parts": {"thinking": "parts"},
    "thinks too long": {"thinking": "starved"},
    "counts nothing": {"usage": False},
}
FAULTS: Mapping[str, Fault] = {
    "429": Fault(status=429, message="slow down"),
    "429 for a while": Fault(status=429, headers={"Retry-After": "0.02"}),
    "500": Fault(status=500),
    "502 page": Fault(status=502, text="<html><title>Bad Gateway</title></html>"),
    "503": Fault(status=503, message="loading"),
    "no reply": Fault(breaks=True),
    "half a head": Fault(breaks=True, half=True),
    "200 with an error": Fault(status=200, body={"error": {"message": "upstream"}}),
    "cut": Fault(within="cut"),
    "ends early": Fault(within="ends"),
    "garbage": Fault(within="garbage"),
    "error": Fault(within="error", message="the provider is gone"),
    "error line": Fault(within="error line", message="slot is gone"),
}


def both(one: Condition, other: Condition) -> Condition | None:
    """The two conditions at once, None where one server cannot have both."""
    if (one.keys() & other.keys()) - {"refuses", "faulty"}:
        return None
    refuses = [*one.get("refuses", ()), *other.get("refuses", ())]
    faulty = {**one.get("faulty", {}), **other.get("faulty", {})}
    merged = one | other
    merged |= {"refuses": refuses} if refuses else {}
    return merged | ({"faulty": faulty} if faulty else {})


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Faults by chance: which request meets which depends on the seed and on nothing else."""

    share: float
    faults: Sequence[Fault] = tuple(FAULTS.values())
    seed: int = 1

    def fault(self, digest: str, times: int) -> Fault | None:
        """The fault of a request that has come so many times before."""
        drawn = hashlib.sha256(f"{self.seed} {digest} {times}".encode()).digest()
        if int.from_bytes(drawn[:4], "big") / 2**32 >= self.share:
            return None
        return self.faults[int.from_bytes(drawn[4:8], "big") % len(self.faults)]
