"""Pages fetched from the web, within limits and never from inside the network.

Every connection, also after a redirect, goes to an address that was resolved and checked here, so
that neither a name nor a second look-up can lead to a private one. Only whole, successful answers
are kept on disk: one file each, written aside and moved into place.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import logging
import os
import socket
import ssl
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpcore2 as httpcore
import httpx2 as httpx

from reread.documents.registry import declared_type
from reread.documents.source import LIMITS, Limits
from reread.errors import FetchError, TooLarge

_log = logging.getLogger(__name__)
_HEADERS = [
    ("User-Agent", "reread (reads long documents for their reader)"),
    ("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, */*;q=0.5"),
    ("Accept-Encoding", "gzip"),
]
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_CACHE_FORM = 1


class HttpStatus(FetchError):
    """The server answered, but not with the page; `status` is its HTTP status."""

    def __init__(self, message: str, status: int, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retryable = status in (408, 425, 429) or status >= 500


class Unreachable(FetchError):
    """No whole answer came about; it may the next time."""

    retryable = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A page: its body, the address it finally had, and its `Content-Type`, if any."""

    url: str
    body: bytes
    content_type: str | None = None

    @property
    def charset(self) -> str | None:
        """The declared encoding, None where none is."""
        return declared_type(self.content_type)[1]


def fetch(
    url: str,
    *,
    cache_dir: Path | None = None,
    limits: Limits = LIMITS,
    allow_private: bool = False,
) -> Fetched:
    """The page at `url`, from the cache while it is fresh; an old one where the web is away.

    Raises:
        TooLarge: the page is larger than `limits.fetch_bytes`.
        FetchError: it could not be fetched, or its address is private and that is not allowed.
    """
    address = _parsed(url)
    kept = _Cache(cache_dir).get(address) if cache_dir else None
    if kept and kept[1] <= limits.max_age_s:
        return kept[0]
    try:
        page = _get(address, limits, allow_private)
    except Unreachable:
        if not kept:
            raise
        _log.warning("%s cannot be reached; the copy of an earlier time is read", url)
        return kept[0]
    if cache_dir:
        _Cache(cache_dir).put(address, page)
    return page


def _parsed(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """A checked address without its fragment and without user and password."""
    try:
        parsed = base.join(url) if base else httpx.URL(url)
        parsed = parsed.copy_with(fragment=None, userinfo=b"")
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchError(f"{url!r} is not a web address") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise FetchError(f"{url!r} is not a web address", hint="Only http and https are fetched")
    return parsed


# -- getting ------------------------------------------------------------------------------------


def _get(address: httpx.URL, limits: Limits, allow_private: bool) -> Fetched:
    deadline = time.monotonic() + limits.total_timeout_s
    backend = _Checked(deadline, allow_private)
    with httpcore.ConnectionPool(_tls(), network_backend=backend) as pool:
        for _ in range(limits.redirects + 1):
            answer = _ask(pool, address, limits, deadline)
            if isinstance(answer, Fetched):
                return answer
            address = _parsed(answer, address)
    raise FetchError(f"{address.host} redirects more than {limits.redirects} times")


def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


def _ask(
    pool: httpcore.ConnectionPool, address: httpx.URL, limits: Limits, deadline: float
) -> Fetched | str:
    """One request: the page, or the address that the server sends on to."""
    host = address.host
    target = httpcore.URL(
        scheme=address.raw_scheme,
        host=address.raw_host,
        port=address.port,
        target=address.raw_path,
    )
    headers = [("Host", address.netloc.decode("ascii")), *_HEADERS]
    waits = {"connect": limits.connect_timeout_s, "read": limits.read_timeout_s}
    waits |= {"write": limits.read_timeout_s, "pool": limits.connect_timeout_s}
    try:
        with pool.stream("GET", target, headers=headers, extensions={"timeout": waits}) as answer:
            fields = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in answer.headers}
            if answer.status in _REDIRECTS and "location" in fields:
                return fields["location"]
            if answer.status != 200:
                raise _refused(str(address), answer.status)
            body = _body(answer.iter_stream(), fields, str(address), limits.fetch_bytes)
    except httpcore.TimeoutException as error:
        raise Unreachable(f"{host} did not answer in time", hint="Try again later") from error
    except httpcore.ConnectError as error:
        raise _no_connection(host, error) from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise Unreachable(f"the connection to {host} broke off") from error
    return Fetched(url=str(address), body=body, content_type=fields.get("content-type"))


def _body(chunks: Iterable[bytes], fields: dict[str, str], url: str, max_bytes: int) -> bytes:
    """The body, decompressed, as long as it stays within `max_bytes`."""
    length = fields.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > max_bytes):
        raise _too_large(url, max_bytes)
    encoding = fields.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise FetchError(f"{url} is sent in an encoding that was not asked for: {encoding}")
    body = bytearray()
    for piece in _inflated(chunks, max_bytes) if "gzip" in encoding else chunks:
        body += piece
        if len(body) > max_bytes:
            raise _too_large(url, max_bytes)
    return bytes(body)


def _inflated(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """Decompressed pieces, none longer than `max_bytes` and a little: a bomb ends there."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            yield inflate.decompress(chunk, max_bytes + 1)
        yield inflate.flush()
    except zlib.error as error:
        raise Unreachable("the page came damaged") from error
    if not inflate.eof:
        raise Unreachable("the page came incomplete")


def _too_large(url: str, max_bytes: int) -> TooLarge:
    return TooLarge(
        f"{url} is larger than {max_bytes / 1e6:g} MB", hint="Download it and name the file"
    )


def _refused(url: str, status: int) -> HttpStatus:
    said = {
        401: ("asks for a login", "Download it in your browser and name the file"),
        403: ("may not be fetched (403)", "Download it in your browser and name the file"),
        404: ("does not exist (404)", "Check the address"),
        410: ("does not exist any more (410)", None),
        429: ("was asked for too often (429)", "Try again later"),
    }
    text, hint = said.get(status, (f"was answered with the status {status}", None))
    return HttpStatus(f"{url} {text}", status, hint=hint)


def _no_connection(host: str, error: httpcore.ConnectError) -> FetchError:
    cause = _cause(error)
    if isinstance(cause, FetchError):
        return cause
    if isinstance(cause, socket.gaierror):
        return Unreachable(f"there is no host {host}", hint="Check the address and the network")
    if isinstance(cause, ssl.SSLCertVerificationError):
        return FetchError(f"the certificate of {host} is not valid: {cause.verify_message}")
    if isinstance(cause, ssl.SSLError):
        return FetchError(f"no secure connection to {host}: {cause.reason}")
    if isinstance(cause, ConnectionRefusedError):
        return Unreachable(f"{host} refuses the connection")
    return Unreachable(f"no connection to {host}: {cause}")


def _cause(error: BaseException) -> BaseException:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return error


# -- connections --------------------------------------------------------------------------------


class _Checked(httpcore.NetworkBackend):
    """Connects to addresses that were resolved and checked, and to no other."""

    def __init__(self, deadline: float, allow_private: bool) -> None:
        self._deadline = deadline
        self._allow_private = allow_private
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in self._addresses(host, port):
            try:
                stream = self._plain.connect_tcp(
                    address, port, _left(self._deadline, timeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Timed(stream, self._deadline)
        raise failure or httpcore.ConnectError(f"{host} has no address")

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self._allow_private and not all(is_public(a) for a in addresses):
            raise FetchError(
                f"{host} is an address inside a private network, which is not fetched",
                hint="Allow private addresses in the settings if you mean it",
            )
        return addresses


class _Timed(httpcore.NetworkStream):
    """A stream whose every wait ends with the deadline of the whole fetch."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._deadline, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(self._deadline, timeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float, timeout: float | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time for the whole fetch is over")
    return left if timeout is None else min(left, timeout)


def is_public(address: str) -> bool:
    """Whether an IP address is reachable by everyone, also when wrapped in another one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


# -- keeping ------------------------------------------------------------------------------------


class _Cache:
    """Pages on disk: one file a page, a line of JSON about the body and then the body."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, address: httpx.URL) -> Path:
        return self._folder / hashlib.sha256(str(address).encode("utf-8")).hexdigest()

    def get(self, address: httpx.URL) -> tuple[Fetched, float] | None:
        """A page and its age in seconds; None where there is none or it is damaged."""
        try:
            head, _, body = self._path(address).read_bytes().partition(b"\n")
            about = json.loads(head)
            if (
                about["form"] != _CACHE_FORM
                or about["asked"] != str(address)
                or about["sha256"] != hashlib.sha256(body).hexdigest()
            ):
                return None
            page = Fetched(url=about["url"], body=body, content_type=about["content_type"])
            return page, max(0.0, time.time() - float(about["fetched_at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, address: httpx.URL, page: Fetched) -> None:
        """Keeps a page; a folder that cannot be written only costs the next fetch."""
        about = {
            "form": _CACHE_FORM,
            "asked": str(address),
            "url": page.url,
            "content_type": page.content_type,
            "fetched_at": time.time(),
            "sha256": hashlib.sha256(page.body).hexdigest(),
        }
        written: str | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=self._folder, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(about).encode("utf-8") + b"\n" + page.body)
            os.replace(written, self._path(address))
        except OSError as error:
            _log.info("%s is not kept: %s", address, error)
            if written:
                with suppress(OSError):
                    os.unlink(written)
