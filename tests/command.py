"""The command line as users run it, and texts to run it on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PROGRAM = (sys.executable, "-m", "reread")
NOWHERE = "http://127.0.0.1:9/v1"  # the discard port: nothing listens


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def environ(home: Path, said: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a command: nothing of the tester's own settings, and this home."""
    own = ("REREAD_", "OPENAI_", "HF_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    return kept | {"REREAD_HOME": str(home), "COLUMNS": "100"} | dict(said or {})


def run(
    *args: str | Path,
    env: Mapping[str, str],
    stdin: bytes | None = None,
    cwd: Path | None = None,
    timeout_s: float = 60.0,
) -> Ended:
    """Runs `reread` with the arguments to its end."""
    done = subprocess.run(
        [*PROGRAM, *map(str, args)],
        env=dict(env),
        input=stdin if stdin is not None else b"",
        capture_output=True,
        cwd=cwd,
        timeout=timeout_s,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(
    *args: str | Path, env: Mapping[str, str], stderr: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Starts `reread` with the arguments and returns at once."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, args)],
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def kill(process: subprocess.Popen[bytes], sign: int = signal.SIGKILL) -> int:
    """Ends a process that `start` began; returns its exit code."""
    process.send_signal(sign)
    process.communicate(timeout=30)
    return process.returncode


def story(words: int, seed: int = 1) -> str:
    """A text of about so many words in paragraphs; no two sentences are the same."""
    rng = random.Random(seed)
    names = "Anna Bertil Clara David Elsa Folke Greta Hugo Ida Johan".split()
    places = "harbour library garden mill station bridge market tower cellar orchard".split()
    things = "letter lantern map clock ledger key violin compass coat telescope".split()
    verbs = "found lost hid repaired sold borrowed painted carried returned described".split()
    paragraphs: list[str] = []
    count = number = 0
    while count < words:
        sentences = []
        for _ in range(rng.randint(3, 6)):
            number += 1
            sentences.append(
                f"On day {number}, {rng.choice(names)} {rng.choice(verbs)} the "
                f"{rng.choice(things)} numbered {rng.randint(100, 999)} near the old "
                f"{rng.choice(places)} and told {rng.choice(names)} nothing about it."
            )
        paragraphs.append(" ".join(sentences))
        count += len(paragraphs[-1].split())
    return "\n\n".join(paragraphs) + "\n"
