"""What the README shows runs, and names nothing that is not there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reread.documents import EXTENSIONS, LOADERS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", _snippets("python"))
def test_python_in_the_readme_runs(snippet: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=ROOT,
        env={"PATH": "", "REREAD_HOME": str(tmp_path), "REREAD_MODEL": "scripted:extractive"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "3 October 1862" in done.stdout
    assert "verified" in done.stdout


def test_verbs_and_options_in_the_readme_exist() -> None:
    verbs = "ask|read|list|show|pages|gists|remove|models|thoughts"
    commands = re.findall(rf"reread ({verbs})\b(.*)", README)
    assert commands
    for verb, rest in commands:
        helped = subprocess.run(
            [sys.executable, "-c", "from reread.cli import main; main()", verb, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for option in re.findall(r"(?<=\s)(--[a-z-]+)", rest.partition("`")[0]):
            assert option in helped, f"{verb} has no {option}"


def test_links_in_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


ANSWERS = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")


def _run(words: list[str], home: Path, errors: bool = True) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from reread.cli import main; main()", *words],
        cwd=ROOT,
        env={"PATH": "", "REREAD_HOME": str(home), "REREAD_MODEL": "scripted:extractive"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + (done.stderr if errors else "")


def test_what_the_page_of_answers_shows_is_printed(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```\n(\$ .*?)^```", ANSWERS, re.MULTILINE | re.DOTALL)
    for command, *lines in (part.splitlines() for part in shown.split("$ reread ")[1:]):
        printed = _run(shlex.split(command), tmp_path).splitlines()
        assert [line for line in lines if line not in printed] == []


def test_the_page_of_answers_names_every_field(tmp_path: Path) -> None:
    words = ["ask", "examples/sample.md", "When was the lamp lit?", "--json", "--trace", "--now"]
    printed = _run(words, tmp_path)
    fields = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])
    table = ANSWERS[ANSWERS.index("| field |") :]
    assert [f for f in (*fields, *fields["trace"]) if f"`{f}`" not in table] == []


JSON_PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SAMPLE = "examples/sample.md"
PRINTED = {
    "read": ["read", SAMPLE],
    "list": ["list"],
    "show DOC": ["show", SAMPLE],
    "pages DOC": ["pages", SAMPLE],
    "gists DOC": ["gists", SAMPLE],
    "estimate SOURCE": ["estimate", SAMPLE],
    "ask --compare": ["ask", SAMPLE, "When was the lamp lit?", "--compare"],
    "thoughts list": ["thoughts", "list"],
    "thoughts show ID": ["thoughts", "show", "t"],
    "thoughts import FILE": ["thoughts", "import", "FILE"],
    "thoughts report": ["thoughts", "report"],
    "models list": ["models", "list"],
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("learned")
    for question in ("When was the lamp first lit?", "Who was the first keeper of the light?"):
        _run(["ask", SAMPLE, question, "--compare"], home)
        _run(["ask", SAMPLE, question], home)
    return home


@pytest.mark.parametrize("command", PRINTED)
def test_the_page_of_json_names_every_field(command: str, learned: Path) -> None:
    words = [str(learned / "own.jsonl") if w == "FILE" else w for w in PRINTED[command]]
    (learned / "own.jsonl").write_text('{"thought": "The lamp was lit."}\n', encoding="utf-8")
    if words[-1] == "t":
        (first, *_) = json.loads(_run(["thoughts", "list", "--json"], learned))
        words[-1] = first["id"]
    section = JSON_PAGE.partition(f"## `{command}`\n")[2].partition("\n## ")[0]
    printed = _run([*words, "--json"], learned, errors=False)
    fields = _fields(json.loads(printed))
    common = JSON_PAGE.partition("\n## ")[0] + section
    assert len(fields) > 1
    assert [f for f in fields if f"`{f}`" not in common] == []


def _fields(found: object, depth: int = 2) -> list[str]:
    """The names of fields, and of those within, but for what another table lists."""
    if isinstance(found, list):
        return [f for entry in found[:3] for f in _fields(entry, depth)]
    if not isinstance(found, dict) or not depth:
        return []
    told = ("settings", "usage", "memories", "coverage", "thought", "support")
    return [
        f
        for key, value in found.items()
        for f in (key, *(_fields(value, depth - 1) if key not in told else []))
    ]


def test_the_page_of_formats_names_all_that_is_read() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    missing = [name for name in (*LOADERS, *EXTENSIONS) if f"`{name}`" not in page]
    assert missing == [], "run python bench/formats.py --write"
