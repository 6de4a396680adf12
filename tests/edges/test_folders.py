"""Folders, patterns and many files in one `read`: the bad ones are named, the rest is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import environ, run, story

from reread.documents.folders import expand
from reread.errors import SourceNotFound


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for name in ("b.txt", "a.md", "old/c.txt", ".secret", ".hidden/d.txt", "~$b.docx"):
        (folder / name).write_text(f"The text of {name}.", encoding="utf-8")
    return folder


def names(found: list[str], folder: Path) -> list[str]:
    return [str(Path(f).relative_to(folder)) for f in found]


def test_a_folder_stands_for_its_files_without_the_hidden_ones(folder: Path) -> None:
    assert names(expand(str(folder)), folder) == ["a.md", "b.txt", "old/c.txt"]


def test_a_pattern_stands_for_what_matches(folder: Path) -> None:
    assert names(expand(f"{folder}/*.txt"), folder) == ["b.txt"]
    assert names(expand(f"{folder}/**/*.txt"), folder) == ["b.txt", "old/c.txt"]
    assert names(expand(f"{folder}/o*"), folder) == ["old/c.txt"]


def test_what_is_no_folder_stands_for_itself(folder: Path) -> None:
    (folder / "what[1].txt").write_text("A name that looks like a pattern.", encoding="utf-8")
    for source in (
        "-",
        "2402.09727",
        "https://example.org/search?q=*",
        str(folder / "a.md"),
        str(folder / "what[1].txt"),
        "a title",
        "x" * 5_000,
        "\0",
    ):
        assert expand(source) == [source]


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "old" / "loop").symlink_to(folder)
    assert names(expand(str(folder)), folder) == ["a.md", "b.txt", "old/c.txt"]


def test_nothing_found_is_one_clear_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceNotFound, match=r"the folder .*empty holds no file"):
        expand(str(tmp_path / "empty"))
    with pytest.raises(SourceNotFound, match=r"no file matches .*\*\.pdf"):
        expand(f"{folder}/*.pdf")


def test_read_takes_a_folder_names_the_bad_files_and_does_the_rest(folder: Path) -> None:
    (folder / "b.txt").write_bytes(b"")
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    done = run(
        "read", folder, folder / "*.xyz", "--model", "scripted:extractive", "--json",
        env=environ(folder.parent),
    )  # fmt: skip
    assert done.code == 3
    results = {r["source"].removeprefix(f"{folder}/"): r for r in json.loads(done.out)}
    assert sorted(k for k, r in results.items() if "error" in r) == ["*.xyz", "b.txt", "photo.png"]
    assert results["a.md"]["document"]["words"] == 4
    assert results["old/c.txt"]["document"]["words"] == 4
    for line in done.err.splitlines():
        assert line.startswith("reread: ")
    assert len(done.err.splitlines()) == 3


def test_the_same_content_is_read_once_and_known_by_both_names(folder: Path) -> None:
    (folder / "b.txt").write_text(story(800), encoding="utf-8")
    (folder / "a.md").unlink()
    (folder / "old/c.txt").write_text(story(800), encoding="utf-8")
    done = run("read", folder, "--model", "scripted:extractive", env=environ(folder.parent))
    assert done.code == 0
    assert f"the same content as {folder}/b.txt" in done.out
    assert "read before, nothing sent" in done.out


def test_a_repository_is_one_document_wherever_it_lies(folder: Path) -> None:
    code = folder / "tool"
    (code / "src").mkdir(parents=True)
    (code / "pyproject.toml").write_text('[project]\nname = "tool"\n', encoding="utf-8")
    (code / "src" / "main.py").write_text("def main():\n    return 7\n", encoding="utf-8")
    assert names(expand(str(folder)), folder) == ["a.md", "b.txt", "old/c.txt", "tool"]
    env = environ(folder.parent)
    done = run("read", code, "--model", "scripted:extractive", env=env)
    assert done.code == 0
    assert " tool: " in done.out
    asked = run("ask", code, "What does main return?", "--model", "scripted:extractive", env=env)
    assert asked.code == 0
