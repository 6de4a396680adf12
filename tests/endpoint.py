"""An OpenAI-compatible server on loopback, for tests and benchmarks.

It answers by rule (`reread.llm.scripted.reply_to`), can be slow or faulty on demand, and keeps
every request it saw, so a test can count what was sent twice. Which step a prompt belongs to is
found from the shipped prompts themselves.

    with Endpoint(delay_s=0.05) as endpoint:
        library = Library(path, config=endpoint.config(home))

As a program it serves until its input ends: `python tests/endpoint.py --delay 0.3`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reread.config import Config
from reread.llm.scripted import reply_to
from reread.prompts import Prompts
from reread.text import count_words, estimate_tokens

MODEL = "reader"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the next chat request gets instead of its reply.

    With `breaks` the connection is closed without a reply, after half of one when `half` is set.
    With `hangs_s` nothing is sent for that long. `text` is a raw body of `content_type`.
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

    def payload(self) -> bytes:
        if self.text is not None:
            return self.text.encode()
        if self.body is not None:
            return json.dumps(self.body).encode()
        error = {"message": self.message, "type": "error", "code": self.code, "param": None}
        return json.dumps({"error": error}).encode()


@dataclass(kw_only=True)
class Seen:
    """One chat request: a hash of its messages, its step, and when it came and was answered.

    `peer` is the port it came from.
    """

    digest: str
    phase: str
    words: int
    body: dict[str, Any]
    peer: int
    started: float
    ended: float | None = None
    status: int = 0


Reply = Callable[[str, str], str]


class Endpoint:
    """A running server inside `with`. `base_url` ends in `/v1`.

    Args:
        delay_s: How long every chat request takes at least.
        parallel: How many are worked on at once; the others wait. None for any number.
        window: Tokens declared by `/v1/models`; None declares nothing.
        limit: Tokens of prompt and reply beyond which a request is refused as a server would.
        cut: Tokens at which prompts are cut silently, as seen in the reported usage.
        refuses: Parameters refused with status 400.
        key: The key that requests must carry; None takes any.
        faults: Given to chat requests in order, one each, before replies begin.
        reply: Makes replies from (phase, user message).
        listing: Status of `/v1/models`.
    """

    def __init__(
        self,
        *,
        delay_s: float = 0.0,
        parallel: int | None = None,
        window: int | None = 8_192,
        limit: int | None = None,
        cut: int | None = None,
        refuses: Sequence[str] = (),
        key: str | None = None,
        faults: Sequence[Fault] = (),
        reply: Reply = reply_to,
        listing: int = 200,
        usage: bool = True,
        port: int = 0,
    ) -> None:
        self.delay_s = delay_s
        self.window = window
        self.limit = limit
        self.cut = cut
        self.refuses = tuple(refuses)
        self.key = key
        self.faults = list(faults)
        self.reply = reply
        self.listing = listing
        self.usage = usage
        self.seen: list[Seen] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(parallel) if parallel else contextlib.nullcontext()
        self._in_flight = 0
        self.most_in_flight = 0
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.endpoint = self

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Endpoint:
        serve = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        serve.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def config(self, home: Path, **more: Any) -> Config:
        """The configuration of a library at `home` that uses this server."""
        values: dict[str, Any] = {
            "home": home,
            "library": home / "library.db",
            "model": f"openai:{MODEL}",
            "base_url": self.base_url,
            "api_key": self.key or "any",
        }
        return Config(**(values | more))

    def environ(self, home: Path) -> dict[str, str]:
        """The same as environment variables, for a process of its own."""
        return {
            "REREAD_HOME": str(home),
            "REREAD_MODEL": f"openai:{MODEL}",
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": self.key or "any",
        }

    # -- what was seen --------------------------------------------------------------------------

    def repeats(self) -> int:
        """How many requests came again after the first with the same messages."""
        with self.lock:
            counts = Counter(s.digest for s in self.seen)
        return sum(count - 1 for count in counts.values())

    def phases(self) -> Counter[str]:
        """How many requests each step sent."""
        with self.lock:
            return Counter(s.phase for s in self.seen)

    def words(self) -> Counter[str]:
        """How many words each step was shown."""
        words: Counter[str] = Counter()
        with self.lock:
            for s in self.seen:
                words[s.phase] += s.words
        return words

    def forget(self) -> None:
        """Forgets the requests so far."""
        with self.lock:
            self.seen.clear()

    # -- used by the handler --------------------------------------------------------------------

    def came(self, body: dict[str, Any], peer: int) -> Seen:
        texts = [str(m.get("content")) for m in body.get("messages", [])]
        seen = Seen(
            digest=hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
            phase=phase_of(texts[-1] if texts else ""),
            words=sum(map(count_words, texts)),
            body=body,
            peer=peer,
            started=time.monotonic(),
        )
        with self.lock:
            self.seen.append(seen)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        return seen

    def went(self, seen: Seen, status: int) -> None:
        with self.lock:
            self._in_flight -= 1
            seen.status = status
            seen.ended = time.monotonic()

    def next_fault(self) -> Fault | None:
        with self.lock:
            return self.faults.pop(0) if self.faults else None

    def completion(self, seen: Seen) -> dict[str, Any] | Fault:
        """The reply to a request, or the refusal that a real server would send."""
        body = seen.body
        for parameter in self.refuses:
            if parameter in body:
                return Fault(
                    status=400,
                    message=f"Unsupported parameter: '{parameter}' is not supported.",
                    code="unsupported_parameter",
                )
        texts = [str(m["content"]) for m in body["messages"]]
        tokens = sum(map(estimate_tokens, texts))
        room = body.get("max_tokens") or body.get("max_completion_tokens") or 0
        if self.limit is not None and tokens + room > self.limit:
            return Fault(
                status=400,
                message=f"This model's maximum context length is {self.limit} tokens. However, "
                f"you requested {tokens + room} tokens ({tokens} in the messages, {room} in the "
                "completion). Please reduce the length of the messages or completion.",
            )
        text = self.reply(seen.phase, texts[-1])
        reply: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
        }
        if self.usage:
            shown = tokens if self.cut is None else min(tokens, self.cut)
            said = estimate_tokens(text)
            reply["usage"] = {
                "prompt_tokens": shown,
                "completion_tokens": said,
                "total_tokens": shown + said,
            }
        return reply


@cache
def _orders() -> list[tuple[str, re.Pattern[str]]]:
    """For each shipped prompt its step, and a pattern of the order that follows the material."""
    prompts = Prompts()
    found = []
    for name in prompts.names():
        order = prompts[name].user.rpartition("\n----\n")[2]
        pieces = re.split(r"\{\{[a-z_]+\}\}", order)
        pattern = "(?s:.*)".join(map(re.escape, pieces))
        found.append((name.partition("-")[0], re.compile(rf"\A{pattern}\Z")))
    return found


def phase_of(user: str) -> str:
    """Which step a user message belongs to: `paginate`, `gist`, `merge`, `lookup`, `answer`."""
    order = user.rpartition("\n----\n")[2]
    return next((phase for phase, pattern in _orders() if pattern.match(order)), "other")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    endpoint: Endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        endpoint = self.server.endpoint
        endpoint.paths.append(self.path)
        if not self.path.endswith("/v1/models") or endpoint.listing != 200:
            status = 404 if endpoint.listing == 200 else endpoint.listing
            self._send(status, Fault(status=status, message="no such page").payload())
            return
        entry: dict[str, Any] = {"id": MODEL, "object": "model", "created": 0, "owned_by": "test"}
        if endpoint.window:
            entry["max_model_len"] = endpoint.window
        self._send(200, json.dumps({"object": "list", "data": [entry]}).encode())

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        endpoint.paths.append(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.endswith("/v1/chat/completions"):
            self._send(404, Fault(status=404, message=f"no page {self.path}").payload())
            return
        if endpoint.key and self.headers.get("Authorization") != f"Bearer {endpoint.key}":
            self._send(401, Fault(message="Incorrect API key provided").payload())
            return
        body = json.loads(raw)
        if body.get("model") != MODEL:
            message = f"The model {body.get('model')!r} does not exist"
            self._send(404, Fault(message=message, code="model_not_found").payload())
            return
        seen = endpoint.came(body, self.client_address[1])
        status = 0
        try:
            with endpoint.slots:
                status = self._chat(endpoint, seen)
        finally:
            endpoint.went(seen, status)

    def _chat(self, endpoint: Endpoint, seen: Seen) -> int:
        fault = endpoint.next_fault()
        if fault is None:
            try:
                made = endpoint.completion(seen)
            except Exception as error:  # noqa: BLE001 - shown to whoever sent the request
                made = Fault(status=400, message=f"the endpoint failed: {error!r}")
            left = seen.started + endpoint.delay_s - time.monotonic()
            if left > 0:
                time.sleep(left)
            if not isinstance(made, Fault):
                return self._send(200, json.dumps(made).encode())
            fault = made
        if fault.hangs_s:
            time.sleep(fault.hangs_s)
        if fault.breaks:
            if fault.half:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
                self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return 0
        return self._send(fault.status, fault.payload(), fault.headers, fault.content_type)

    def _send(
        self,
        status: int,
        payload: bytes,
        headers: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> int:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()
        return status


def main() -> None:
    """Serves until standard input ends, then prints what was seen as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--window", type=int, default=32_768)
    chosen = parser.parse_args()
    with Endpoint(delay_s=chosen.delay, port=chosen.port, window=chosen.window) as endpoint:
        print(endpoint.base_url, flush=True)
        for line in sys.stdin:
            if line.strip() == "forget":
                endpoint.forget()
            phases, words = endpoint.phases(), endpoint.words()
            print(json.dumps({"calls": phases, "words": words}), flush=True)


if __name__ == "__main__":
    main()
