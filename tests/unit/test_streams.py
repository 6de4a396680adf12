"""Replies as they come over the wire: every server's shape, however it is cut into packets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from weather import SHAPES, THOUGHT, Fault, Made, Thinking, Within, events, goes_wrong, whole

from reread.llm import streams
from reread.llm.reasoning import so_far, without_reasoning

TEXT = (
    'Anna found the map "here" in the caf\u00e9, and then\u2028lost\x0b it again near the '
    "\U0001f600 tower."
)
MADE = Made(text=TEXT, prompt_tokens=120, completion_tokens=15)


def received(*chunks: bytes, hear: Any = None) -> streams.Reply:
    return streams.receive(chunks, came=lambda: None, hear=hear)


def packets(raw: bytes, size: int) -> list[bytes]:
    return [raw[k : k + size] for k in range(0, len(raw), size)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_every_shape_is_read_however_it_is_cut(shape: str, size: int) -> None:
    reply = received(*packets(b"".join(events(MADE, shape)), size))
    assert reply.text == TEXT
    assert reply.finish_reason == "stop"
    assert reply.streamed
    counted = {} if shape == "bare" else {"prompt_tokens": 120, "completion_tokens": 15}
    assert counted.items() <= reply.usage.items()


@pytest.mark.parametrize(
    "thinking", ["reasoning_content", "reasoning", "parts", "tags", "unopened"]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_reasoning_never_becomes_the_text(shape: str, thinking: Thinking) -> None:
    made = Made(text=TEXT, prompt_tokens=1, completion_tokens=1, thinking=thinking)
    heard: list[str] = []
    reply = received(*events(made, shape), hear=heard.append)
    assert without_reasoning(reply.text) == TEXT
    assert reply.thought == (thinking in ("reasoning_content", "reasoning"))
    assert heard[-1] == reply.text
    if thinking != "unopened":  # nothing tells such reasoning before its end
        assert all(TEXT.startswith(so_far(text)) for text in heard)
    plain = received(json.dumps(whole(made)).encode())
    assert without_reasoning(plain.text) == TEXT
    assert THOUGHT not in without_reasoning(plain.text)


def test_a_reply_that_reasoning_left_no_room_for_is_empty_and_says_so() -> None:
    made = Made(
        text=TEXT, prompt_tokens=1, completion_tokens=1, thinking="starved", finish_reason="length"
    )
    for reply in (received(*events(made, "vllm")), received(json.dumps(whole(made)).encode())):
        assert (reply.text, reply.finish_reason, reply.thought) == ("", "length", True)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_finish_reason_is_kept(shape: str) -> None:
    made = Made(text="cut", prompt_tokens=1, completion_tokens=1, finish_reason="length")
    assert received(*events(made, shape)).finish_reason == "length"


@pytest.mark.parametrize("within", ["cut", "ends", "garbage"])
@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_broken_stream_is_never_a_reply(shape: str, within: Within, after: int) -> None:
    sent = goes_wrong(Fault(within=within, after=after), events(MADE, shape))
    with pytest.raises(streams.Broken):
        received(*sent)


@pytest.mark.parametrize("within", ["error", "error line"])
@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_in_the_stream_is_told(shape: str, within: Within, after: int) -> None:
    fault = Fault(within=within, after=after, message="slot is gone", code="x")
    with pytest.raises(streams.Told, match="slot is gone") as caught:
        received(*goes_wrong(fault, events(MADE, shape)))
    error = caught.value.body
    assert (error.get("error") or error)["message"] == "slot is gone"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", streams.Broken),
        (b"\n\n", streams.Broken),
        (b"data: [DONE]\n\n", streams.Broken),
        (b": ping\n\n: ping\n\n", streams.Broken),
        (b'data: {"choices":[]}\n\ndata: [DONE]\n\n', streams.Broken),
        (b"data: [1]\n\n", streams.Broken),
        (b'data: {"a"\n\ndata: [DONE]\n\n', streams.Broken),
        (b'data: {"choices":[{"delta":{"content":"a"}}]}\nrubbish\n', streams.Broken),
        (b'data: {"choices":[{"delta":{"content":"a\xff\xfe"}}]}\n\n', streams.Broken),
        (b"{not json", streams.Broken),
        (b"<html>hello</html>", streams.NoReply),
        (b"[1, 2]", streams.NoReply),
        (b'"text"', streams.NoReply),
        (b'{"object": "list"}', streams.NoReply),
        (b'{"choices": []}', streams.Told),
        (b'{"choices": 3}', streams.Told),
        (b'{"choices": [{"message": null}]}', streams.Told),
        (b'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\n', streams.Told),
    ],
)
def test_what_is_no_reply_is_told_apart(raw: bytes, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        received(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'data: {"choices":[{"delta":{"content":"a b"}}]}\ndata: [DONE]\n',
        b'data:{"choices":[{"delta":{"content":"a b"}}]}\r\n\r\ndata:[DONE]\r\n\r\n',
        b'id: 1\nretry: 10\nevent: message\ndata: {"choices":[{"delta":{"content":"a b"}}]}\n\n'
        b"data: [DONE] \n\n",
        b'data: {"choices":[{"delta":\ndata: {"content":"a b"}}]}\n\ndata: [DONE]\n\n',
        b'data: {"choices":null}\n\ndata: {"choices":[{"delta":null}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"a b"}}],"usage":null}\n\ndata: [DONE]',
        b'data: {"choices":[{"message":{"content":"a b"},"finish_reason":"stop"}]}\n\n',
        b'\n\n{"choices":[{"message":{"content":"a b"}}],\n "usage":null}\n',
    ],
)
def test_servers_are_taken_as_they_are(raw: bytes) -> None:
    assert received(raw).text == "a b"


def test_what_keeps_a_connection_warm_is_no_progress() -> None:
    came: list[int] = []
    raw = b": ping\n\n" * 5 + b"".join(events(MADE, "bare"))
    streams.receive([raw], came=lambda: came.append(1))
    assert len(came) == len(events(MADE, "bare"))


def test_a_reply_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST_BYTES", 1_000)
    with pytest.raises(streams.Broken, match="no end"):
        received(*[b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'] * 100)
