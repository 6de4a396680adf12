"""Loading against other tools, side by side on the same files: seconds and words recovered.

    python bench/speed.py --others PYTHON [--runs N] [--write]

`--others` is a Python that has the other tools (`make bench` makes one). Tools take turns, so that
a busy moment falls on all alike; each number is the median of several runs in one process, after
its imports. Words recovered are those of the file's own plain text that stand in the same order
where there is such a text, else the words found. `--write` puts the section between the markers
of `docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from agreement import DATA, MANUAL, in_common, words_of

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks.md"
START, END = "<!-- speed:start -->", "<!-- speed:end -->"
OURS = "reread"
PDF_TOOLS = ("pypdfium2", "pypdf", "pdfplumber", "markitdown")
# Files below the data, with the tools that are compared on them.
FILES = {
    "same-content-formats/debian-policy/policy.pdf": PDF_TOOLS,
    "pdf/fhs-3.0.pdf": PDF_TOOLS,
    "pdf/papers/acl20-wcep-paper.pdf": PDF_TOOLS,
    "pdf/pdfplumber/senate-expenditures.pdf": PDF_TOOLS,
    "docx/docling/word_sample.docx": ("markitdown",),
    "docx/pandoc/tables.docx": ("markitdown",),
    "same-content-formats/debian-policy/policy.epub": ("markitdown",),
    "epub/idpf-packed/childrens-literature.epub": ("markitdown",),
    "html-other/fhs-3.0.html": ("markitdown",),
    "html-latexml/1307.8133.html": ("markitdown",),
}


@dataclass
class Timed:
    """What one tool did with one file; `failure` is its last line where it did not read it."""

    seconds: list[float] = field(default_factory=list)
    import_s: list[float] = field(default_factory=list)
    text: str = ""
    failure: str = ""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--others", required=True, help="A Python that has the other tools.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="Write the report's section.")
    given = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"The real data is not beside the repository: {DATA}")
    section = _section(given.others, given.runs)
    print(section)
    if given.write:
        REPORT.write_text(_written(section), encoding="utf-8")


def _section(others: str, runs: int) -> str:
    rows = [
        f"Processor seconds, median of {runs} runs, imports apart, tools without options. *Times "
        "ours*: how much longer it took than reread. *Words* are runs of letters and digits that "
        "were found; *recovered*: the share of the words of the manual's own plain text that were "
        "found, anywhere and in the same order. pypdfium2 gives what is drawn in the order it was "
        "drawn, with running heads and page numbers and without paragraphs, headings or tables: "
        "what reread takes longer is the price of these.",
        "",
        "| file | tool | s | times ours | words | recovered | in order |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    imports: dict[str, list[float]] = defaultdict(list)
    expected = words_of((MANUAL / "policy.txt").read_text(encoding="utf-8"))
    for name, tools in FILES.items():
        timed = _measured(DATA / name, (OURS, *tools), others, runs)
        wanted = expected if (DATA / name).parent == MANUAL else None
        for tool, one in timed.items():
            imports[tool] += one.import_s
            cells = _cells(one, timed[OURS], wanted)
            rows.append(f"| `{Path(name).name}` | {tool} | " + " | ".join(cells) + " |")
    said = (f"{tool} {1000 * statistics.median(s):.0f} ms" for tool, s in imports.items() if s)
    return "\n".join([*rows, "", f"Importing, once a process: {', '.join(said)}."])


def _measured(path: Path, tools: tuple[str, ...], others: str, runs: int) -> dict[str, Timed]:
    """What each tool did, one run of each after the other; the first run of each is not counted."""
    timed = {tool: Timed() for tool in tools}
    for _ in range(runs):
        for tool, one in timed.items():
            if not one.failure:
                _run(path, tool, sys.executable if tool == OURS else others, one)
    return timed


def _run(path: Path, tool: str, python: str, one: Timed) -> None:
    # Twice in one process: only the second time is the reading alone.
    command = [python, str(ROOT / "bench" / "readers.py"), tool, str(path), "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        one.failure = (done.stderr.strip().splitlines() or ["failed"])[-1][:120]
        return
    told = json.loads(done.stdout.splitlines()[-1])
    one.seconds.append(told["seconds"][-1])
    one.import_s.append(told["import_s"])
    one.text = told["text"]


def _cells(one: Timed, ours: Timed, expected: list[str] | None) -> tuple[str, ...]:
    if one.failure:
        return "", "", "", "", one.failure.replace("|", "/")
    words = words_of(one.text)
    seconds = statistics.median(one.seconds)
    ratio = seconds / statistics.median(ours.seconds) if ours.seconds else 0.0
    shares = ("", "")
    if expected:
        anywhere = (Counter(words) & Counter(expected)).total()
        found = anywhere, in_common(words, expected)
        shares = (
            f"{100 * found[0] / len(expected):.1f} %",
            f"{100 * found[1] / len(expected):.1f} %",
        )
    return f"{seconds:.3f}", "" if one is ours else f"{ratio:.2g}", f"{len(words):,}", *shares


def _written(section: str) -> str:
    """The report with the section between its markers."""
    text = REPORT.read_text(encoding="utf-8")
    if START not in text:
        text += f"\n## Loading, against other tools\n\n{START}\n{END}\n"
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{section}\n{END}{after}"


if __name__ == "__main__":
    main()
