"""What tests of documents share: checks of the invariant, real data, a local web server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reread.documents import load_bytes
from reread.types import Document

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def shared(name: str) -> Path:
    """A file of the real data beside the repository; the test is skipped where it is missing."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"real data is not beside the repository: {name}")
    return path


def html(body: str) -> Document:
    """The document of an HTML page with this body."""
    page = f"<!DOCTYPE html><html><body>{body}</body></html>"
    return load_bytes(page.encode(), name="page.html")


def texts(document: Document, kind: str | None = None) -> list[str]:
    """The texts of all paragraphs, or of those of one kind."""
    return [
        document.text[p.start : p.end]
        for p in document.paragraphs
        if kind is None or p.kind == kind
    ]


def located(document: Document) -> dict[str, str | None]:
    """The locator of each paragraph, by its text."""
    return {document.text[p.start : p.end]: p.locator for p in document.paragraphs}


def assert_whole(document: Document) -> None:
    """Paragraphs are in order, do not overlap, and hold all that is not white space."""
    assert document.text == document.text.strip()
    done = 0
    for p in document.paragraphs:
        assert done <= p.start < p.end <= len(document.text)
        assert not document.text[done : p.start].strip()
        assert document.text[p.start : p.end] == document.text[p.start : p.end].strip()
        done = p.end
    assert done == len(document.text)


@dataclass
class Answer:
    """What the server says to a path. `pause_s` lies between its chunks."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    chunks: int = 1
    length: bool = True


@dataclass
class Site:
    """A server on this machine: set `pages`, read `asked`."""

    url: str
    pages: dict[str, Answer]
    asked: list[str]


@contextmanager
def site() -> Iterator[Site]:
    """A running server, which ends with the block."""
    pages: dict[str, Answer] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer = pages.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.length:
                self.send_header("Content-Length", str(len(answer.body) * answer.chunks))
            self.end_headers()
            try:
                for _ in range(answer.chunks):
                    self.wfile.write(answer.body)
                    self.wfile.flush()
                    time.sleep(answer.pause_s)
            except OSError:
                pass  # the client had enough

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_address[1]}", pages, asked)
    finally:
        server.shutdown()
        server.server_close()
