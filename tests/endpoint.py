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
import select
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import weather
from weather import Chance, Fault, Made, Thinking

from reread.config import Config
from reread.llm.scripted import reply_to
from reread.prompts import Prompts
from reread.text import count_words, estimate_tokens

__all__ = ["MODEL", "Endpoint", "Fault", "Seen", "phase_of"]

MODEL = "reader"


@dataclass(kw_only=True)
class Seen:
    """One chat request: a hash of its messages, its step, and when it came and was answered.

    `peer` is the port it came from, `begun` when it had one of the slots. `whole` is True once a
    usable reply was sent to its end, `gone` is when the client was found to have gone before that.
    """

    digest: str
    phase: str
    words: int
    body: dict[str, Any]
    peer: int
    started: float
    ended: float | None = None
    status: int = 0
    begun: float | None = None
    whole: bool = False
    gone: float | None = None


Reply = Callable[[str, str], str]


class Endpoint:
    """A running server inside `with`. `base_url` ends in `/v1`.

    Args:
        delay_s: How long every chat request takes until its reply begins.
        event_s: How long each event of a streamed reply takes after that.
        parallel: How many are worked on at once; the others wait. None for any number.
        window: Tokens declared by `/v1/models`; None declares nothing.
        limit: Tokens of prompt and reply beyond which a request is refused as a server would.
        cut: Tokens at which prompts are cut silently, as seen in the reported usage.
        refuses: Parameters refused with status 400.
        key: The key that requests must carry; None takes any.
        faults: Given to chat requests in order, one each, before replies begin.
        reply: Makes replies from (phase, user message).
        listing: Status of `/v1/models`.
        shape: Whose events a streamed reply has, of `weather.SHAPES`.
        streams: Whether it streams at all; if not, it ignores that it was asked to.
        thinking: Where it shows reasoning; `starved` has no room for the reply in less than `room`
            tokens.
        chance: Faults by chance.
        most: Calls in flight beyond which it answers 429.
        quota: Usable replies after which there is no credit any more.
        pages: Other pages it has, by path.
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
        event_s: float = 0.0,
        shape: str = "openai",
        streams: bool = True,
        thinking: Thinking = "",
        room: int = 2_000,
        chance: Chance | None = None,
        most: int | None = None,
        quota: int | None = None,
        pages: Mapping[str, Any] | None = None,
    ) -> None:
        self.delay_s = delay_s
        self.event_s = event_s
        self.shape = shape
        self.streams = streams
        self.thinking = thinking
        self.room = room
        self.chance = chance
        self.most = most
        self.quota = quota
        self.pages = dict(pages or {})
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

    def over_tls(self, context: ssl.SSLContext) -> None:
        """Speaks TLS from now on."""
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )

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

    def wasted(self) -> int:
        """How many requests came again although one with the same messages had its reply."""
        answered: set[str] = set()
        wasted = 0
        with self.lock:
            for seen in self.seen:
                wasted += seen.digest in answered
                if seen.whole:
                    answered.add(seen.digest)
        return wasted

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

    def busy(self, phase: str) -> float:
        """How many slots worked on a step, on average from its first request to its last."""
        with self.lock:
            spans = [(s.begun, s.ended) for s in self.seen if s.phase == phase]
        done = [(begun, ended) for begun, ended in spans if begun and ended]
        if not done:
            return 0.0
        whole = max(ended for _, ended in done) - min(begun for begun, _ in done)
        return sum(ended - begun for begun, ended in done) / whole

    def forget(self) -> None:
        """Forgets the requests so far."""
        with self.lock:
            self.seen.clear()

    # -- used by the handler --------------------------------------------------------------------

    def came(self, body: dict[str, Any], peer: int) -> Seen:
        texts = [str(m.get("content")) for m in body.get("messages", [])]
        seen = Seen(
            digest=hashlib.sha256("\n\n".join(texts).encode("utf-8", "replace")).hexdigest(),
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

    def next_fault(self, seen: Seen) -> Fault | None:
        with self.lock:
            if self.most is not None and self._in_flight > self.most:
                return Fault(status=429, message="too many requests at once")
            if self.quota is not None and sum(s.whole for s in self.seen) >= self.quota:
                return Fault(status=429, message="no credit", code="insufficient_quota")
            if self.chance is not None:
                times = sum(s.digest == seen.digest for s in self.seen)
                return self.chance.fault(seen.digest, times)
            return self.faults.pop(0) if self.faults else None

    def made(self, seen: Seen) -> Made | Fault:
        """The reply to a request, or the refusal that a real server would send."""
        body = seen.body
        sent = body.keys() | ({"system"} if len(body["messages"]) > 1 else set())
        for parameter in self.refuses:
            if parameter == "system" and "system" in sent:
                return Fault(status=400, message="System role not supported")
            if parameter in sent:
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
        user = texts[-1]
        if "system" not in sent:  # it stands before the rest
            user = user.removeprefix(Prompts()["gist-page"].system).lstrip()
        text = self.reply(seen.phase, user)
        thinking, reason = self.thinking, "stop"
        if thinking == "starved":
            thinking = "starved" if 0 < room < self.room else "reasoning_content"
            reason = "length" if thinking == "starved" else "stop"
        shown = tokens if self.cut is None else min(tokens, self.cut)
        return Made(
            text=text,
            prompt_tokens=shown if self.usage else None,
            completion_tokens=estimate_tokens(text),
            finish_reason=reason,
            thinking=thinking,
        )


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
        if self.path in endpoint.pages:
            self._send(200, json.dumps(endpoint.pages[self.path]).encode())
            return
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
        if self.path in endpoint.pages:
            self._send(200, json.dumps(endpoint.pages[self.path]).encode())
            return
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
                seen.begun = time.monotonic()
                status = self._chat(endpoint, seen)
        except OSError:
            seen.gone = seen.gone or time.monotonic()
            self.close_connection = True
        finally:
            endpoint.went(seen, status)

    def _chat(self, endpoint: Endpoint, seen: Seen) -> int:
        fault = endpoint.next_fault(seen)
        if fault is None or fault.within:
            try:
                made = endpoint.made(seen)
            except Exception as error:  # noqa: BLE001 - shown to whoever sent the request
                made = Fault(status=400, message=f"the endpoint failed: {error!r}")
            self._wait(seen, seen.started + endpoint.delay_s - time.monotonic())
            if isinstance(made, Made):
                return self._reply(endpoint, seen, made, fault)
            fault = made
        if fault.hangs_s:
            self._wait(seen, fault.hangs_s)
        if fault.breaks:
            if fault.half:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
                self.wfile.flush()
            return self._break()
        return self._send(fault.status, fault.payload(), fault.headers, fault.content_type)

    def _reply(self, endpoint: Endpoint, seen: Seen, made: Made, fault: Fault | None) -> int:
        """Sends the reply, streamed where that was asked for and the server can."""
        if not (seen.body.get("stream") and endpoint.streams):
            payload = json.dumps(weather.whole(made)).encode()
            if fault:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + payload[:9])
                self.wfile.flush()
                return self._break()
            status = self._send(200, payload)
            seen.whole = made.finish_reason == "stop"
            return status
        if not (seen.body.get("stream_options") or {}).get("include_usage"):
            made = replace(made, prompt_tokens=None)
        sent = weather.events(made, endpoint.shape)
        sent = weather.goes_wrong(fault, sent) if fault else sent
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in sent:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            if endpoint.event_s:
                self.wfile.flush()
                self._wait(seen, endpoint.event_s)
        if fault and fault.within in ("cut", "stall"):
            self.wfile.flush()
            self._wait(seen, fault.hangs_s)
            return self._break()
        seen.whole = fault is None and made.finish_reason == "stop"
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        return 200

    def _break(self) -> int:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
        return 0

    def _wait(self, seen: Seen, seconds: float) -> None:
        """Waits, unless the client goes away meanwhile."""
        if seconds <= 0:
            return
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            seen.gone = time.monotonic()
            self.close_connection = True
            raise ConnectionAbortedError("the client has gone")

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
    parser.add_argument("--event", type=float, default=0.0)
    parser.add_argument("--parallel", type=int, default=None)
    parser.add_argument("--window", type=int, default=32_768)
    chosen = parser.parse_args()
    with Endpoint(
        delay_s=chosen.delay,
        event_s=chosen.event,
        parallel=chosen.parallel,
        port=chosen.port,
        window=chosen.window,
    ) as endpoint:
        print(endpoint.base_url, flush=True)
        for line in sys.stdin:
            if line.strip() == "forget":
                endpoint.forget()
            phases, words = endpoint.phases(), endpoint.words()
            busy = {phase: endpoint.busy(phase) for phase in phases}
            print(json.dumps({"calls": phases, "words": words, "busy": busy}), flush=True)


if __name__ == "__main__":
    main()
