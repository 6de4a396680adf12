"""Where things are sent: a local choice never leads elsewhere, and what cannot be reached is said.

While the network is locked, looking up a name that is not this machine's, or connecting to an
address that is not, is noted and refused.
"""

from __future__ import annotations

import ipaddress
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import environ, run, story
from endpoint import MODEL, Endpoint, Fault

from reread import Library
from reread.config import Config
from reread.errors import Error, ModelRefused, WeightsMissing
from reread.llm import found
from reread.types import Answer

ELSEWHERE = "http://203.0.113.7/v1"
_tried: list[str] = []
_locked = False


def _is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if not _locked or event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        return
    host = args[0] if event == "socket.getaddrinfo" else args[1]
    if isinstance(host, tuple):
        host = host[0]
    elif event != "socket.getaddrinfo":
        return  # a path in the file system
    if not _is_here(host):
        _tried.append(f"{event} {host}")
        raise ConnectionRefusedError(f"the network is locked: {event} {host}")


sys.addaudithook(_watch)


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The network locked, with everything around that could lead elsewhere."""
    global _locked
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://203.0.113.7:3128")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-elsewhere")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    _tried.clear()
    _locked = True
    try:
        yield _tried
    finally:
        _locked = False
    assert _tried == []


@contextmanager
def opened(config: Config) -> Iterator[Library]:
    library = Library(config=config)
    try:
        yield library
    finally:
        library.close()


PAGE = """<html><head><title>Harbour</title><link rel="stylesheet" href="http://203.0.113.7/a.css">
<script src="http://203.0.113.7/a.js"></script></head><body><img src="http://203.0.113.7/a.png">
<iframe src="http://203.0.113.7/b.html"></iframe>{}</body></html>"""


def everything(library: Library, home: Path) -> None:
    """Every role that a model has, over a document that names places elsewhere."""
    paragraphs = "".join(f"<p>{p}</p>" for p in story(1_500).split("\n\n"))
    (home / "page.html").write_text(PAGE.format(paragraphs))
    (home / "text.md").write_text("![plan](http://203.0.113.7/plan.png)\n\n" + story(900, seed=3))
    for name in ("page.html", "text.md"):
        library.estimate(home / name)
        memory = library.read(home / name)
        for strategy in ("parallel", "sequential", "gists"):
            assert library.ask("Who lost the violin?", memory, strategy=strategy).text
        assert library.ask("Who lost it?", memory, options=["Anna", "Hugo"]).choice in (0, 1)
        *_, last = library.stream("Who found the map near the harbour?", memory)
        assert isinstance(last, Answer)


def test_the_lock_holds(locked: list[str]) -> None:
    import httpx2 as httpx

    for address in (ELSEWHERE, "http://elsewhere.example/v1"):
        with pytest.raises((httpx.HTTPError, OSError)):
            httpx.get(address, trust_env=False)
    assert len(locked) >= 2
    locked.clear()


def test_a_named_local_endpoint_is_all_that_is_reached(locked: list[str], tmp_path: Path) -> None:
    with Endpoint() as endpoint, opened(endpoint.config(tmp_path)) as library:
        everything(library, tmp_path)
        library.test_model()
        assert endpoint.phases().keys() >= {"paginate", "gist", "lookup", "answer"}
        assert locked == []


def test_a_server_that_was_found_is_all_that_is_reached(
    locked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Endpoint() as endpoint:
        monkeypatch.setattr(found, "PORTS", (("vLLM", endpoint.port),))
        monkeypatch.setattr(found.running, "__defaults__", (found.PORTS,))
        config = endpoint.config(tmp_path, model=None, base_url=None, api_key="sk-of-elsewhere")
        with opened(config) as library:
            everything(library, tmp_path)
        assert f"using {MODEL} of the vLLM at {endpoint.base_url}" in caplog.text
        assert endpoint.phases()["answer"]
        assert locked == []


def test_the_embedded_model_is_never_replaced_by_one_elsewhere(
    locked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found.running, "__defaults__", ((),))
    (tmp_path / "story.txt").write_text(story(300))
    for model in (None, "local:"):
        config = Config(
            home=tmp_path, library=tmp_path / "l.db", model=model, api_key="sk-of-elsewhere"
        )
        with opened(config) as library, pytest.raises(WeightsMissing):
            library.read(tmp_path / "story.txt")
    assert locked == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_local_server_cannot_send_a_document_on(
    locked: list[str], tmp_path: Path, status: int
) -> None:
    fault = Fault(status=status, headers={"Location": f"{ELSEWHERE}/chat/completions"})
    (tmp_path / "story.txt").write_text(story(900))
    with (
        Endpoint(faults=[fault] * 3) as endpoint,
        opened(endpoint.config(tmp_path)) as library,
        pytest.raises(ModelRefused, match=r"sends requests on to http://203\.0\.113\.7"),
    ):
        library.read(tmp_path / "story.txt")
    assert locked == []


@pytest.mark.parametrize(
    "fault",
    [Fault(status=401), Fault(status=404), Fault(status=503), Fault(breaks=True)],
    ids=["wrong key", "unknown model", "down", "broken"],
)
def test_a_local_failure_leads_nowhere_else(
    locked: list[str], tmp_path: Path, fault: Fault
) -> None:
    (tmp_path / "story.txt").write_text(story(900))
    with (
        Endpoint(faults=[fault] * 40) as endpoint,
        opened(endpoint.config(tmp_path)) as library,
    ):
        sleepless(library)
        with pytest.raises(Error):
            library.read(tmp_path / "story.txt")
    assert locked == []


def sleepless(library: Library) -> None:
    """Makes the library's retries wait for nothing."""
    from reread.llm.wrappers import Retrying

    library._steady = Retrying(library.model, sleep=lambda seconds: None)


# -- what cannot be reached ---------------------------------------------------------------------


def fails(home: Path, base_url: str, *args: str, **env: str) -> str:
    """Runs a reading that must fail with one line, and returns it."""
    (home / "story.txt").write_text(story(300))
    said = {"REREAD_MODEL": f"openai:{MODEL}", "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "any"}
    done = run("read", home / "story.txt", *args, env=environ(home, said | env))
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    return done.line


@pytest.fixture
def own_certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that nobody but its maker has signed, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes the certificate, is not here")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    said = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    said += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    said += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([program, *said], check=True, capture_output=True)
    return certificate, key


@contextmanager
def secured(certificate: Path, key: Path) -> Iterator[str]:
    """The address of an endpoint behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    endpoint = Endpoint()
    plain = endpoint._server.socket
    endpoint._server.socket = context.wrap_socket(plain, server_side=True)
    with endpoint:
        yield f"https://localhost:{endpoint.port}/v1"


def test_a_certificate_that_nobody_vouches_for(
    tmp_path: Path, own_certificate: tuple[Path, Path]
) -> None:
    with secured(*own_certificate) as base_url:
        line = fails(tmp_path, base_url)
    place = base_url.removeprefix("https://").removesuffix("/v1")
    assert line.startswith(f"reread: the TLS connection to {place} failed: ")
    assert "certificate verify failed" in line
    assert line.endswith("Check the address and its certificate")


def test_tls_where_there_is_none(tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        line = fails(tmp_path, endpoint.base_url.replace("http:", "https:"))
    assert "the TLS connection to 127.0.0.1" in line


@pytest.mark.parametrize(
    "base_url",
    ["http://255.255.255.255/v1", "http://no-such-host.invalid/v1", "http://127.0.0.1:9/v1"],
    ids=["no route", "no such name", "nothing listens"],
)
def test_what_cannot_be_reached_is_one_line(tmp_path: Path, base_url: str) -> None:
    line = fails(tmp_path, base_url, "--timeout", "3")
    assert line.startswith(f"reread: no model server answers at {base_url} (")
    assert line.endswith("Start it, or check OPENAI_BASE_URL")


def test_a_wrong_key_and_an_unknown_model_are_one_line(tmp_path: Path) -> None:
    with Endpoint(key="right-key-1") as endpoint:
        wrong = fails(tmp_path, endpoint.base_url, OPENAI_API_KEY="wrong-key-2")
        place = f"127.0.0.1:{endpoint.port}"
        assert wrong == (
            f"reread: {place} refuses the key: Incorrect API key provided. Check OPENAI_API_KEY"
        )
        unknown = fails(
            tmp_path,
            endpoint.base_url,
            OPENAI_API_KEY="right-key-1",
            REREAD_MODEL="openai:nobody",
        )
        assert unknown == (
            f"reread: {place} knows no model 'nobody': The model 'nobody' does not exist. "
            f"Check --model. It offers {MODEL}"
        )
        assert len(endpoint.seen) == 0  # each was refused at its first call
