"""The first answer about a PDF of 600 pages that was never read, with the embedded model.

    python bench/unread.py [--model local:] [--pages 600] [--runs 3]

The file is made by rule with one fact on page 401; each run is a process of its own with an empty
library, and loads the model.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from command import story

from pdf_writer import Pdf, lines, wrapped

FACT = "The gardener of Umea planted ninety pear trees."
QUESTION = "How many pear trees did the gardener of Umea plant?"


def pdf(pages: int) -> bytes:
    """Pages of some 330 words, one of which holds the fact."""
    rows = wrapped(story(pages * 330).replace("\n", " "), 460)
    each = len(rows) // pages
    shown = [rows[k * each : (k + 1) * each] for k in range(pages)]
    shown[pages * 2 // 3].insert(each // 2, FACT)
    return Pdf(pages=[lines(72, 60, page, size=9) for page in shown]).file()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="local:")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    seconds = []
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "long.pdf"
        file.write_bytes(pdf(options.pages))
        for run in range(options.runs):
            command = ["ask", str(file), QUESTION, "--now", "--json", "--model", options.model]
            started = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-c", "from reread.cli import main; main()", *command],
                env=os.environ | {"REREAD_LIBRARY": f"{home}/{run}.db"},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(done.stderr)
            seconds.append(time.monotonic() - started)
            answer = json.loads(done.stdout)
            print(f"{seconds[-1]:.1f} s: {answer['answer']} (pages {answer['pages_read']})")
    words = answer["document"]["words"]
    print(f"{options.pages} pages, {words} words: median {statistics.median(seconds):.1f} s")


if __name__ == "__main__":
    main()
