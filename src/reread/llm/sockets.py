"""Patience with a connection: how long a call waits for its first word, and for each after it.

HTTP clients know one limit a read. A model needs two, since it evaluates the prompt before it
writes, and a server that only keeps the connection warm says nothing of either. A call whose work
is over stops waiting within a moment and its connection is closed, which tells the server to stop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2 as httpcore
import httpx2 as httpx

from reread import parallel

_STALE_S = 1.0  # until when nobody can have worked on what was sent


class Stale(httpx.ReadError):
    """A kept connection had been closed at its other end, so what was sent on it reached nobody.

    Servers close connections without a word, llama.cpp's after each streamed reply.
    """


class Patience:
    """Until when the call on this thread waits."""

    def __init__(self, first_s: float, idle_s: float) -> None:
        self._idle_s = idle_s
        self.until = time.monotonic() + first_s

    def renew(self) -> None:
        """Something of the reply has come: the next has its own time."""
        self.until = time.monotonic() + self._idle_s


class _Here(threading.local):
    patience: Patience | None = None


_here = _Here()


@contextmanager
def patience(first_s: float, idle_s: float) -> Iterator[Patience]:
    """The limits for what this thread receives meanwhile."""
    _here.patience = Patience(first_s, idle_s)
    try:
        yield _here.patience
    finally:
        _here.patience = None


def patient(client: httpx.Client) -> None:
    """Makes every connection of the client wait as `patience` says."""
    # The client has no setting for it; proxies have transports of their own.
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, plain: httpcore.NetworkBackend) -> None:
        self._plain = plain

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._plain.connect_tcp(host, port, timeout, local_address, socket_options))

    def sleep(self, seconds: float) -> None:
        parallel.pause(seconds)


class _Stream(httpcore.NetworkStream):
    """A connection that waits in short turns and looks up between them.

    What is written goes out when an answer is waited for: head and body of a request in one packet.
    """

    def __init__(self, plain: httpcore.NetworkStream) -> None:
        self._plain = plain
        self._unsent: list[bytes] = []
        self._write_s: float | None = None
        self._silent = True  # whether nothing came for what was sent last
        self._stale_until = 0.0  # a connection that served before and closes sooner was closed

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._flush()
        try:
            came = self._read(max_bytes, timeout)
        except httpcore.ReadError as error:
            self._check(error)
            raise
        if not came:
            self._check(None)
        self._silent = False
        return came

    def _check(self, error: Exception | None) -> None:
        if self._silent and time.monotonic() < self._stale_until:
            raise Stale("the kept connection had been closed") from error

    def _read(self, max_bytes: int, timeout: float | None) -> bytes:
        limit = _here.patience
        if limit is None:
            return self._plain.read(max_bytes, timeout)
        while True:
            parallel.check()
            left = limit.until - time.monotonic()
            if left <= 0:
                raise httpcore.ReadTimeout("nothing came in time")
            try:
                return self._plain.read(max_bytes, min(left, parallel.TICK_S))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)
        self._write_s = timeout

    def _flush(self) -> None:
        if not self._unsent:
            return
        packet, self._unsent = b"".join(self._unsent), []
        self._stale_until = 0.0 if self._silent else time.monotonic() + _STALE_S
        self._silent = True
        # A server that refuses a request may close before it has read all of it, and say why.
        with suppress(httpcore.WriteError):
            self._plain.write(packet, self._write_s)

    def close(self) -> None:
        self._plain.close()

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._flush()
        return _Stream(self._plain.start_tls(ssl_context, server_hostname, timeout))


def chunks(response: httpx.Response) -> Iterator[bytes]:
    """What the response holds, as it comes."""
    # What is not compressed need not pass the client's decoders.
    packed = "content-encoding" in response.headers
    return response.iter_bytes() if packed else response.iter_raw()


def drain(chunks: Iterator[bytes]) -> None:
    """Takes what follows the end of a reply, so that the connection can be used again."""
    try:
        for _ in chunks:
            pass
    except httpx.HTTPError:
        pass  # it is closed then; the reply is here
