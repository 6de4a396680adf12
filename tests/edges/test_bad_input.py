"""Whatever is wrong: one line that says what and how to mend it, the right exit code, no loss."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import NOWHERE, PROGRAM, Ended, environ, run, story
from endpoint import Endpoint

BINARY = bytes(range(256)) * 40


class Home:
    """A home with one document read, an endpoint, and the check that nothing was lost."""

    def __init__(self, path: Path, endpoint: Endpoint) -> None:
        self.path = path
        self.endpoint = endpoint
        self.env = environ(path, endpoint.environ(path))
        earlier = self.file("earlier.txt", story(300, seed=9))
        assert run("read", earlier, env=self.env).code == 0
        endpoint.forget()

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def fails(self, *args: str | Path, code: int = 1, **env: str) -> str:
        """The one line that a command ends with; nothing else is printed, nothing is lost."""
        done = run(*args, env=self.env | env)
        line = one_line(done, code)
        self.holds_what_it_held()
        return line

    def holds_what_it_held(self) -> None:
        entries = json.loads(run("list", "--json", env=self.env).out)
        (earlier,) = (e for e in entries if e["title"] == "earlier")
        assert earlier["memories"]


def one_line(done: Ended, code: int) -> str:
    assert done.code == code, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.line.startswith("reread: ")
    assert not done.line.startswith("reread: unexpected")
    return done.line


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with Endpoint() as endpoint:
        yield Home(tmp_path_factory.mktemp("home"), endpoint)


@pytest.fixture
def home(shared: Home) -> Iterator[Home]:
    """The same home for every test, as it was."""
    yield shared
    for path in shared.path.iterdir():
        if not path.name.startswith(("library.db", "earlier")):
            path.rmdir() if path.is_dir() else path.unlink()
    shared.endpoint.key = None
    shared.endpoint.forget()


# -- sources ------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["read", "ask"])
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.txt", None, "absent.txt"),
        ("folder", None, "folder"),
        ("noise.bin", BINARY, "noise.bin"),
        ("empty.txt", b"", "empty"),
        ("blank.txt", b" \n\t\n ", ""),
        ("mark.txt", b"\xef\xbb\xbf", ""),
    ],
)
def test_sources_that_cannot_be_read(
    home: Home, verb: str, name: str, content: bytes | None, said: str
) -> None:
    (home.path / "folder").mkdir()
    path = home.path / name if content is None else home.file(name, content)
    line = home.fails(verb, path, *(["What is it?"] if verb == "ask" else []))
    assert said in line
    assert not home.endpoint.seen


@pytest.mark.parametrize("content", ["word", "\U0001f600", "One sentence.", "\u6f22\u5b57"])
def test_tiny_documents_are_a_page(home: Home, content: str) -> None:
    path = home.file("tiny.txt", content)
    assert run("read", path, env=home.env).code == 0
    assert len(json.loads(run("pages", path, "--json", env=home.env).out)) == 1
    assert run("ask", path, "What is it?", env=home.env).code == 0


def test_names_that_no_file_can_have(home: Home) -> None:
    for name in ("x" * 5_000, "a/" * 3_000, "~nobody/x", "\n", "file:///absent", "absent/*?"):
        home.fails("read", name)


def test_a_name_that_is_no_text(home: Home) -> None:
    path = os.fsencode(home.path) + b"/caf\xe9.txt"
    with open(path, "wb") as file:
        file.write(story(200).encode())
    done = subprocess.run([*PROGRAM, "read", path], env=home.env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "caf" in run("list", env=home.env).out


# -- endpoints ----------------------------------------------------------------------------------


def test_an_endpoint_that_is_not_there(home: Home) -> None:
    path = home.file("story.txt", story(300))
    line = home.fails("read", path, OPENAI_BASE_URL=NOWHERE)
    assert NOWHERE in line
    assert "OPENAI_BASE_URL" in line


def test_a_wrong_key(home: Home) -> None:
    home.endpoint.key = "the right one"
    line = home.fails("read", home.file("story.txt", story(300)), OPENAI_API_KEY="wrong-key-123")
    assert "OPENAI_API_KEY" in line
    assert "wrong-key-123" not in line


def test_an_unknown_model(home: Home) -> None:
    line = home.fails("read", home.file("story.txt", story(300)), REREAD_MODEL="openai:nobody")
    assert "'nobody'" in line
    assert "It offers reader" in line


def test_an_address_without_its_end(home: Home) -> None:
    path = home.file("story.txt", story(300))
    base = home.endpoint.base_url.removesuffix("/v1")
    assert "/v1" in home.fails("read", path, OPENAI_BASE_URL=base)
    assert "/v1" in home.fails("read", path, OPENAI_BASE_URL=base.removeprefix("http://"), code=2)


def test_a_server_that_speaks_no_tls(home: Home) -> None:
    path = home.file("story.txt", story(300))
    line = home.fails("read", path, OPENAI_BASE_URL=home.endpoint.base_url.replace("http", "https"))
    assert "TLS connection" in line
    assert "certificate" in line


def test_a_certificate_that_nobody_vouches_for(home: Home) -> None:
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    pem = home.path / "server.pem"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    subprocess.run([*make.split(), "-keyout", pem, "-out", pem], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with Endpoint() as endpoint:
        endpoint.over_tls(context)
        url = endpoint.base_url.replace("http", "https")
        line = home.fails("read", home.file("story.txt", story(300)), OPENAI_BASE_URL=url)
        assert not endpoint.seen
    assert "TLS connection" in line
    assert "CERTIFICATE_VERIFY_FAILED" in line


@pytest.mark.parametrize("address", ["http://nowhere.invalid/v1", "http://127.0.0.1:1/v1"])
def test_no_way_to_the_server(home: Home, address: str) -> None:
    line = home.fails("read", home.file("story.txt", story(300)), OPENAI_BASE_URL=address)
    assert f"no model server answers at {address}" in line
    assert "OPENAI_BASE_URL" in line


@pytest.mark.parametrize("model", ["nonsense", "openai:", "gpt-4", "remote:x"])
def test_a_model_of_no_known_kind(home: Home, model: str) -> None:
    line = home.fails("read", home.file("story.txt", story(300)), REREAD_MODEL=model, code=2)
    assert "openai:NAME" in line


def test_weights_that_are_not_here(home: Home) -> None:
    line = home.fails("read", home.file("story.txt", story(300)), REREAD_MODEL="local:")
    assert "reread models pull" in line or "reread[local]" in line


def test_a_window_too_small_for_anything(home: Home) -> None:
    path = home.file("story.txt", story(300))
    home.fails("read", path, "--context-tokens", "300")


# -- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"model = ", "config.toml"),
        (b"\xff\xfe", "config.toml"),
        (b"modell = 'x'", "modell"),
        (b"model = 5", "model"),
        (b"workers = 'many'", "workers"),
        (b"workers = 0", "workers"),
        (b"workers = 1.5", "workers"),
        (b"workers = true", "workers"),
        (b"timeout_s = nan", "timeout_s"),
        (b"allow_private = 'yes'", "allow_private"),
        (b"library = 7", "library"),
        (b"[model]\nname = 'x'", "model"),
    ],
)
def test_a_broken_settings_file(home: Home, content: bytes, said: str) -> None:
    home.file("config.toml", content)
    assert said in one_line(run("list", env=home.env), 2)


def test_a_key_in_the_settings_file_is_never_shown(home: Home) -> None:
    home.file("config.toml", "api_key = 123456789")
    assert "123456789" not in one_line(run("list", env=home.env), 2)


def test_a_settings_file_that_is_a_folder(home: Home) -> None:
    (home.path / "config.toml").mkdir()
    assert "config.toml" in one_line(run("list", env=home.env), 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REREAD_WORKERS", "many"),
        ("REREAD_TIMEOUT_S", "-1"),
        ("REREAD_CONTEXT_TOKENS", "1e3"),
        ("REREAD_HOME", "~nobody-of-this-name/x"),
    ],
)
def test_a_broken_variable(home: Home, name: str, value: str) -> None:
    line = one_line(run("list", env=home.env | {name: value}), 2)
    assert name.removeprefix("REREAD_").lower() in line.lower()


@pytest.mark.parametrize(
    "args",
    [
        ("--nonsense",),
        ("nonsense",),
        ("read",),
        ("read", "--nonsense", "x"),
        ("ask", "earlier"),
        ("ask", "earlier", "Who?", "--strategy", "guess"),
        ("ask", "earlier", "Who?", "--max-pages", "-1"),
        ("ask", "earlier", "Who?", "--choice", "only one"),
        ("read", "earlier", "--profile", "nonsense"),
        ("read", "earlier", "--preset", "nonsense"),
        ("read", "earlier", "--pagination", "nonsense"),
        ("read", "earlier", "--min-words", "100", "--max-words", "50"),
        ("read", "earlier", "--max-words", "0"),
        ("read", "earlier", "--min-words", "x"),
        ("read", "earlier", "--workers", "0"),
        ("read", "earlier", "--timeout", "0"),
        ("pages", "earlier", "--page", "999"),
        ("list", "extra"),
        ("models", "pull", "nonsense"),
    ],
    ids=" ".join,
)
def test_commands_that_cannot_be_carried_out_as_written(home: Home, args: tuple[str, ...]) -> None:
    home.fails(*args, code=2)
    assert not home.endpoint.seen


# -- places -------------------------------------------------------------------------------------


def test_a_library_that_is_none(home: Home) -> None:
    diary = home.file("diary.db", "Dear diary, " * 300)
    line = home.fails("list", "--library", diary)
    assert "--library" in line
    assert diary.read_text() == "Dear diary, " * 300
    home.fails("list", "--library", home.path)
    home.fails("list", "--library", home.path / "diary.db" / "x.db")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own; skipped where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(place)]
    try:
        allowed = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("no disk may be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_home_that_may_only_be_read(disk: Path, tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        home = Home(disk, endpoint)
        path = tmp_path / "story.txt"
        path.write_text(story(300), encoding="utf-8")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        line = one_line(run("read", path, env=home.env), 1)
        assert "REREAD_HOME" in line
        assert not endpoint.seen  # nothing is paid for that cannot be kept
        fresh = home.env | {"REREAD_HOME": str(disk / "new")}
        assert "REREAD_HOME" in one_line(run("read", path, env=fresh), 1)
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        home.holds_what_it_held()


def test_a_disk_that_fills_while_reading(disk: Path, tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        home = Home(disk, endpoint)
        path = tmp_path / "story.txt"
        path.write_text(story(40_000), encoding="utf-8")
        line = one_line(run("read", path, env=home.env), 1)
        assert "disk" in line
        assert "kept" in line
        home.holds_what_it_held()
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        endpoint.forget()
        assert run("read", path, env=home.env).code == 0
        home.holds_what_it_held()
