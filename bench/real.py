"""Real documents through the command line: read whole, then five factual questions each.

    python bench/real.py [--model local:] [--json FILE]

The texts lie beside the project (`../shared/data`) and are not part of it; the questions and the
patterns of right answers are in `real.json`. Prints a Markdown table with seconds by phase.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"


def reread(*words: str, home: str) -> Any:
    """What one command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", "from reread.cli import main; main()", *words, "--json"],
        env=os.environ | {"REREAD_LIBRARY": f"{home}/library.db"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def source(entry: dict[str, Any], folder: Path) -> Path:
    """The file itself, or the record of a JSON-lines file as a text file."""
    path: Path = DATA / entry["path"]
    if "passage" not in entry:
        return path
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["metadata"]["passage_id"] == entry["passage"]:
            out = folder / f"{entry['passage']}.txt"
            out.write_text(record["document"], encoding="utf-8")
            return out
    sys.exit(f"{path} holds no {entry['passage']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="local:")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit("the texts are not here")
    records = []
    print(
        "| document | words | pages | gists, % of words | reading, s per 1,000 words (by phase) |"
        " right of 5 | s a question (median, most) |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as home:
        for entry in json.loads((HERE / "real.json").read_text(encoding="utf-8")):
            path = str(source(entry, Path(home)))
            started = time.monotonic()
            read = reread("read", path, "--model", options.model, home=home)[0]
            words, usage = read["document"]["words"], read["usage"]
            per = {n: p["seconds"] / words * 1000 for n, p in usage["phases"].items()}
            whole = (time.monotonic() - started) / words * 1000
            seconds, right = [], 0
            for question, pattern in entry["questions"]:
                began = time.monotonic()
                answer = reread("ask", path, question, "--model", options.model, home=home)
                seconds.append(time.monotonic() - began)
                good = bool(re.search(pattern, answer["answer"], re.IGNORECASE))
                right += good
                records.append(
                    {"question": question, "right": good, "seconds": seconds[-1], **answer}
                )
            phases = ", ".join(f"{name} {s:.1f}" for name, s in per.items())
            print(
                f"| {read['document']['title']} | {words} | {read['document']['pages']} | "
                f"{100 - read['compression_rate']:.0f} | {whole:.1f} ({phases}) | {right} | "
                f"{statistics.median(seconds):.1f}, {max(seconds):.1f} |",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(records, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
