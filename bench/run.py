"""What reading and asking cost: seconds, memory and words, through an endpoint on this machine.

    python bench/run.py [--runs N] [--quick] [--write]

Prints a section of Markdown; `--write` puts it between the markers of `docs/benchmarks.md`. The
endpoint answers by rule, so the numbers are those of the package and not of a model. Every number
is the median of several runs, taken in turns so that a busy moment falls on all alike.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT.parent / "shared/data/narrativeqa/books/gitenberg/The-Time-Machine_35/35-0.txt"
REPORT = ROOT / "docs" / "benchmarks.md"
START, END = "<!-- bench:start -->", "<!-- bench:end -->"
DELAY_S = 0.3
WINDOW_TOKENS = 32_768
SLOTS = 32
UNIFORM: dict[str, Any] = {"pagination": "uniform", "min_words": 60, "max_words": 100}
STRATEGIES = ("parallel", "sequential", "gists")
QUESTIONS = (
    "What did the Time Traveller bring back from the future?",
    "Why are the Morlocks afraid of the light?",
    "What happens to Weena in the forest?",
    "What is inside the Palace of Green Porcelain?",
    "How does the Time Traveller get his machine back?",
)


class Endpoint:
    """A server of `tests/endpoint.py` in a process of its own."""

    def __init__(self, delay_s: float, *options: str) -> None:
        command = [sys.executable, str(ROOT / "tests" / "endpoint.py")]
        command += ["--delay", str(delay_s), "--window", str(WINDOW_TOKENS), *options]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.base_url = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def seen(self, order: str = "tell") -> dict[str, dict[str, Any]]:
        """Calls, words and mean slots busy, by step, since the last `forget`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        told: dict[str, dict[str, Any]] = json.loads(self._line())
        return told

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def endpoint(delay_s: float, *options: str) -> Iterator[Endpoint]:
    """A running endpoint, ended afterwards."""
    server = Endpoint(delay_s, *options)
    try:
        yield server
    finally:
        server.close()


@dataclass(frozen=True)
class Spent:
    """What one process took: wall-clock and processor seconds, and its peak of memory."""

    seconds: float
    cpu_s: float
    peak_bytes: int
    out: str


def spend(command: list[str], env: dict[str, str]) -> Spent:
    """Runs the command in a fresh process to its end."""
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    scale = 1 if sys.platform == "darwin" else 1024
    return Spent(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * scale, text)


def environ(home: Path, server: Endpoint) -> dict[str, str]:
    """The environment of a command that uses the endpoint and nothing of the user's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REREAD_", "OPENAI_"))}
    return kept | {
        "REREAD_HOME": str(home),
        "REREAD_MODEL": "openai:reader",
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "any",
    }


def reread(*args: str) -> list[str]:
    return [sys.executable, "-m", "reread", *args]


def median(numbers: list[float]) -> float:
    return statistics.median(numbers)


# -- measurements -------------------------------------------------------------------------------


def starts(runs: int) -> dict[str, float]:
    """Seconds until the package is imported and until its help is printed, less a bare Python."""
    env = dict(os.environ)
    commands = {
        "bare": [sys.executable, "-c", ""],
        "import": [sys.executable, "-c", "import reread"],
        "help": reread("--help"),
    }
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(spend(command, env).seconds)
    return {name: median(numbers) for name, numbers in taken.items()}


def readings(book: Path, runs: int, slow_runs: int) -> dict[str, Any]:
    """The book read anew, with and without a delay, and what the endpoint saw of it."""
    at_once: list[Spent] = []
    delayed: list[Spent] = []
    seen: dict[str, dict[str, Any]] = {}
    with endpoint(0.0) as fast, endpoint(DELAY_S) as slow:
        for k in range(max(runs, slow_runs)):
            for server, spent, wanted in ((fast, at_once, runs), (slow, delayed, slow_runs)):
                if k < wanted:
                    with tempfile.TemporaryDirectory() as home:
                        server.seen("forget")
                        env = environ(Path(home), server)
                        spent.append(spend(reread("read", str(book), "--json"), env))
                        seen = server.seen()
    (about,) = json.loads(at_once[0].out)
    pauses = seen["calls"]["paginate"]
    return {
        "document": about["document"],
        "compression_rate": about["compression_rate"],
        "seen": seen,
        "floor_s": (pauses + 1) * DELAY_S,
        "delayed_s": median([s.seconds for s in delayed]) if delayed else None,
        "at_once_s": median([s.seconds for s in at_once]),
        "cpu_s": median([s.cpu_s for s in at_once]),
        "peak_bytes": median([float(s.peak_bytes) for s in at_once]),
    }


def questions(book: Path) -> dict[str, dict[str, float]]:
    """Mean calls, words shown and seconds of a question, by strategy, the book being read."""
    rows: dict[str, dict[str, float]] = {}
    with endpoint(0.0) as server, tempfile.TemporaryDirectory() as home:
        env = environ(Path(home), server)
        spend(reread("read", str(book)), env)
        for strategy in STRATEGIES:
            server.seen("forget")
            spent, opened = [], []
            for question in QUESTIONS:
                command = reread("ask", str(book), question, "--strategy", strategy, "--json")
                spent.append(spend(command, env))
                opened.append(len(json.loads(spent[-1].out)["pages_read"]))
            seen = server.seen()
            rows[strategy] = {
                "calls": sum(seen["calls"].values()) / len(QUESTIONS),
                "words": sum(seen["words"].values()) / len(QUESTIONS),
                "pages": statistics.mean(opened),
                "seconds": median([s.seconds for s in spent]),
            }
    return rows


@contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder in memory where there is one, so that the disk's own speed is not measured."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def overhead(runs: int) -> dict[str, float]:
    """Seconds a call takes beyond one by a bare HTTP client, when replies come at once.

    The same requests are sent one after the other, streamed: by reading a text, which parses,
    checks and keeps each reply, and by a client that only takes what comes. `flush_s` is what the
    disk takes to make one reply durable, on top of it.
    """
    sys.path.insert(0, str(ROOT / "tests"))
    from command import story

    from reread import config as configuration
    from reread import documents
    from reread.library import Library
    from reread.llm.compatible import Compatible
    from reread.types import Call, Completion

    class Noting(Compatible):
        """Notes what it is asked for, and when."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.bodies: list[bytes] = []
            self.times: list[float] = []

        def complete(self, call: Call) -> Completion:
            self.times.append(time.perf_counter())
            self.bodies.append(json.dumps(self.body(call)).encode())
            return super().complete(call)

    text = documents.load_bytes(story(20_000).encode(), name="story.txt", origin="story.txt")
    ours: list[float] = []
    bare: list[float] = []
    worked: list[float] = []
    with endpoint(0.0) as server:
        for _ in range(runs):
            with fast_folder() as home:
                model = Noting(
                    name="openai:reader", model="reader", base_url=server.base_url, workers=1
                )
                config = configuration.load({"REREAD_HOME": str(home)})
                library = Library(config=config, model=model)
                began = time.process_time()
                library.read(text, **UNIFORM)
                worked.append((time.process_time() - began) / len(model.times))
                library.close()
            ours += steps(model.times)
            client = http.client.HTTPConnection(urlsplit(server.base_url).netloc)
            times = []
            for body in model.bodies:
                times.append(time.perf_counter())
                client.request(
                    "POST", "/v1/chat/completions", body, {"Content-Type": "application/json"}
                )
                client.getresponse().read()
            client.close()
            bare += steps(times)
    return {
        "ours_s": median(ours),
        "bare_s": median(bare),
        "cpu_s": median(worked),
        "flush_s": flush_s(),
    }


def steps(times: list[float]) -> list[float]:
    """The time from each to the next."""
    return [after - before for before, after in zip(times, times[1:], strict=False)]


def flush_s() -> float:
    """Seconds that the disk takes to keep one reply for good."""
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder) / "flush.db", isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE t (reply TEXT)")
        taken = []
        for _ in range(50):
            started = time.perf_counter()
            db.execute("INSERT INTO t VALUES (?)", ("x" * 500,))
            taken.append(time.perf_counter() - started)
        db.close()
    return median(taken)


def busy_slots() -> float:
    """Mean slots busy, of 32, while a long text is gisted by 32 calls at once."""
    sys.path.insert(0, str(ROOT / "tests"))
    from command import story

    options = ("--event", "0.01", "--parallel", str(SLOTS), "--window", "2000000")
    with endpoint(DELAY_S, *options) as server, tempfile.TemporaryDirectory() as home:
        book = Path(home) / "long.txt"
        book.write_text(story(120_000), encoding="utf-8")
        command = reread("read", str(book), "--workers", str(SLOTS), "--pagination", "uniform")
        command += ["--min-words", "60", "--max-words", "100"]
        spend(command, environ(Path(home), server))
        return float(server.seen()["busy"]["gist"])


# -- the report ---------------------------------------------------------------------------------


def report(
    name: str,
    start: dict[str, float],
    read: dict[str, Any],
    asked: dict[str, Any],
    call: dict[str, float],
    busy: float,
) -> str:
    """The section of Markdown."""
    document, seen = read["document"], read["seen"]
    words = document["words"]
    lines = [
        f"{name}, {words:,} words in {document['pages']} pages; Python "
        f"{platform.python_version()}, {os.cpu_count()} cores. The endpoint answers by rule.",
        "",
        "| measured | | aim |",
        "| --- | ---: | ---: |",
    ]
    if read["delayed_s"] is not None:
        ratio = read["delayed_s"] / read["floor_s"]
        lines.append(
            f"| reading at {1000 * DELAY_S:.0f} ms a call, against {read['floor_s']:.1f} s for the "
            f"{seen['calls']['paginate']} pauses and one gist | {read['delayed_s']:.1f} s, "
            f"ratio {ratio:.2f} | 1.15 |"
        )
    lines += [
        f"| reading when every reply comes at once | {read['at_once_s']:.2f} s | 3 s |",
        f"| of it processor time | {read['cpu_s']:.2f} s | |",
        f"| `import reread` | {1000 * start['import']:.0f} ms | 150 ms |",
        f"| `reread --help` | {1000 * start['help']:.0f} ms | 300 ms |",
        f"| a Python that does nothing | {1000 * start['bare']:.0f} ms | |",
        f"| a call, replies at once, beyond the {1000 * call['bare_s']:.1f} ms of a bare client | "
        f"{1000 * (call['ours_s'] - call['bare_s']):.1f} ms | 2 ms |",
        f"| of it processor time | {1000 * call['cpu_s']:.1f} ms | |",
        f"| to make its reply durable, this disk | {1000 * call['flush_s']:.1f} ms | |",
        f"| slots busy of {SLOTS} while gisting | {busy:.1f}, {100 * busy / SLOTS:.0f} % | 95 % |",
        f"| peak memory of reading | {read['peak_bytes'] / 1e6:.0f} MB | 200 MB |",
        "",
        "| step | calls | words shown | of the text |",
        "| --- | ---: | ---: | ---: |",
    ]
    for step in ("paginate", "gist", "merge"):
        if step in seen["calls"]:
            shown = seen["words"][step]
            lines.append(f"| {step} | {seen['calls'][step]} | {shown:,} | {shown / words:.2f} × |")
    for strategy, row in asked.items():
        lines.append(
            f"| a question, {strategy}, {row['pages']:.1f} pages opened | {row['calls']:.1f} | "
            f"{row['words']:,.0f} | {row['words'] / words:.2f} × |"
        )
    lines += [
        f"| a question over the full text | 1 | {words:,} | 1.00 × |",
        "",
        f"The gists take {100 - read['compression_rate']:.0f} % of the words. With rules for a "
        "model the number of pages opened says nothing; the words each costs do.",
    ]
    return "\n".join(lines)


def written(section: str) -> str:
    """The report with the section between its markers."""
    text = REPORT.read_text("utf-8") if REPORT.exists() else f"# Benchmarks\n\n{START}\n{END}\n"
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{section}\n{END}{after}"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="One run, nothing delayed.")
    parser.add_argument("--write", action="store_true", help="Write the report's section.")
    chosen = parser.parse_args()
    runs = 1 if chosen.quick else chosen.runs
    with tempfile.TemporaryDirectory() as folder:
        book, name = Path(folder) / "book.txt", "The Time Machine"
        if BOOK.is_file():
            shutil.copyfile(BOOK, book)
        else:
            sys.path.insert(0, str(ROOT / "tests"))
            from command import story

            book.write_text(story(35_500), encoding="utf-8")
            name = "A generated text"
        start = starts(2 * runs + 1)
        read = readings(book, runs, 0 if chosen.quick else max(2, runs // 2))
        section = report(name, start, read, questions(book), overhead(runs), busy_slots())
    print(section)
    if chosen.write:
        REPORT.write_text(written(section), encoding="utf-8")


if __name__ == "__main__":
    main()
