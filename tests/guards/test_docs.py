"""What the README shows runs, and names nothing that is not there."""

from __future__ import annotations

import re
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


def test_the_page_of_formats_names_all_that_is_read() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    missing = [name for name in (*LOADERS, *EXTENSIONS) if f"`{name}`" not in page]
    assert missing == [], "run python bench/formats.py --write"
