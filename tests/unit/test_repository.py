"""Folders as one document: the tree, every file, and what is left out by which rule."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from documents_fixtures import assert_whole, located, shared, texts
from reread.documents import Limits, is_repository, load_folder
from reread.documents.ignore import Rules, ignored
from reread.errors import EmptyDocument, SourceNotFound, TooLarge


def filled(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with these files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


BIRDS: dict[str, str | bytes] = {
    "zoo.py": "import birds\n\n\ndef main():\n    birds.sing()\n",
    "birds/song.py": "def sing():\n    return 'tweet'\n",
    "birds/__init__.py": "",
    "README.md": "# Birds\n\nThey sing.\n",
    "docs/guide.rst": "Guide\n=====\n\nHow to listen.\n",
    "notes.txt": "Only a note.",
}


# -- the document ---------------------------------------------------------------------------------


def test_a_folder_is_its_tree_and_then_its_files(tmp_path: Path) -> None:
    document = load_folder(filled(tmp_path / "aviary", BIRDS))
    assert_whole(document)
    assert document.title == "aviary"
    assert document.media_type == "inode/directory"
    assert document.origin == str((tmp_path / "aviary").resolve())
    tree = "README.md\nbirds/\n  song.py\ndocs/\n  guide.rst\nnotes.txt\nzoo.py"
    assert [
        (p.kind, p.locator, t) for p, t in zip(document.paragraphs, texts(document), strict=True)
    ] == [
        ("heading", "files", "Files"),
        ("code", "files", tree),
        ("heading", "README.md", "README.md"),
        ("heading", "README.md › Birds", "# Birds"),
        ("text", "README.md › Birds", "They sing."),
        ("heading", "birds/song.py", "birds/song.py"),
        (
            "code",
            "birds/song.py › line 1 › def sing",
            "def sing():\n    return 'tweet'",
        ),
        ("heading", "docs/guide.rst", "docs/guide.rst"),
        ("heading", "docs/guide.rst › Guide", "Guide\n====="),
        ("text", "docs/guide.rst › Guide", "How to listen."),
        ("heading", "notes.txt", "notes.txt"),
        ("text", "notes.txt", "Only a note."),
        ("heading", "zoo.py", "zoo.py"),
        ("code", "zoo.py › line 1", "import birds"),
        ("code", "zoo.py › line 4 › def main", "def main():\n    birds.sing()"),
    ]
    coverage = document.coverage
    assert coverage.complete
    assert (coverage.parts, coverage.read) == (6, 5)
    assert coverage.blank == ("1 empty file: birds/__init__.py",)


def test_equal_content_gives_an_equal_document(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", BIRDS)
    other = filled(tmp_path / "other", dict(reversed(BIRDS.items())))
    assert load_folder(one).id == load_folder(other).id
    (other / "notes.txt").write_text("Another note.")
    assert load_folder(one).id != load_folder(other).id


def test_what_is_left_out_is_named_by_kind(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "x = 1",
        ".git/config": "[core]",
        ".gitignore": "*.log\n/out/\n",
        "out/a.js": "y",
        **{f"{k}.log": "z" for k in range(5)},
        "node_modules/m/index.js": "y",
        "env/pyvenv.cfg": "home = x",
        "env/lib/a.py": "y",
        "uv.lock": "y",
        "app.min.js": "y",
        "packed.js": "f();" * 2000,
        "data.csv": "a,b\n" * 30_000,
        "few.csv": "a,b\n1,2\n",
        "logo.png": b"\x89PNG\r\n" + bytes(50),
        "icon.svg": "<svg/>",
        "old.zip": b"PK\x05\x06" + bytes(18),
        "paper.pdf": b"%PDF-1.4\n" + bytes(40),
        "long.txt": "word " * 250_000,
    }
    document = load_folder(filled(tmp_path, files))
    assert [p.locator for p in document.paragraphs if p.kind == "heading"] == [
        "files",
        ".gitignore",
        "a.py",
        "few.csv",
    ]
    assert document.coverage.left_out == (
        ("6 files and folders: 0.log, 1.log, 2.log, …", "ignored by git's rules"),
        ("2 folders: env/, node_modules/", "made by tools for themselves"),
        ("1 lock file: uv.lock", "written by package managers"),
        ("2 minified files: app.min.js, packed.js", "made from others"),
        ("1 data file: data.csv", "larger than 100 kB"),
        ("1 file: long.txt", "larger than one file may be"),
        ("3 binary files and pictures: icon.svg, logo.png, old.zip", "without text"),
        ("1 document: paper.pdf", "of other formats, to be read by themselves"),
    )
    assert document.coverage.complete
    assert (document.coverage.parts, document.coverage.read) == (3, 3)


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = filled(tmp_path / "root", {"a.py": "x = 1", "sub/b.py": "y = 2"})
    filled(tmp_path / "outside", {"secret.txt": "hidden"})
    (root / "loop").symlink_to(root)
    (root / "sub" / "out").symlink_to(tmp_path / "outside")
    (root / "c.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    document = load_folder(root)
    assert "hidden" not in document.text
    assert document.coverage.left_out == (
        ("3 symbolic links: c.txt, loop, sub/out", "not followed"),
    )
    os.mkfifo(root / "pipe")
    assert load_folder(root).id == document.id


def test_names_that_are_no_text_are_mended(tmp_path: Path) -> None:
    try:
        filled(tmp_path, {os.fsdecode(b"caf\xe9.txt"): "Words.", "a\nb.txt": "More."})
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    assert located(load_folder(tmp_path))["Words."] == "caf\ufffd.txt"
    assert located(load_folder(tmp_path))["More."] == "a b.txt"


def test_damaged_files_cost_only_themselves(tmp_path: Path) -> None:
    document = load_folder(filled(tmp_path, {"a.ipynb": "{", "b.txt": "Words."}))
    assert document.coverage.failed == (("a.ipynb", "a.ipynb is no notebook: its JSON is broken"),)
    assert not document.coverage.complete


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(folder_files=3), "more than 3 files"),
        (Limits(folder_bytes=60), "more than 6e-05 MB"),
    ],
)
def test_too_much_is_refused_with_a_hint(tmp_path: Path, limits: Limits, said: str) -> None:
    with pytest.raises(TooLarge, match=said) as caught:
        load_folder(filled(tmp_path, BIRDS), limits)
    assert caught.value.hint is not None
    assert ".gitignore" in caught.value.hint


def test_a_folder_of_very_many_entries_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, {f"{k}.log": "x" for k in range(20)} | {".gitignore": "*.log"})
    with pytest.raises(TooLarge, match="more than 1 files"):
        load_folder(tmp_path, Limits(folder_files=1))


def test_no_folder_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match="there is no folder"):
        load_folder(tmp_path / "none")
    with pytest.raises(SourceNotFound):
        load_folder(filled(tmp_path, {"a.txt": "x"}) / "a.txt")
    with pytest.raises(EmptyDocument, match="no file that can be read"):
        load_folder(filled(tmp_path / "sub", {"a.py": " \n"}))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        (".git/HEAD", True),
        ("pyproject.toml", True),
        ("Shop.sln", True),
        ("Makefile", True),
        ("notes.txt", False),
        ("sub/package.json", False),
    ],
)
def test_repositories_are_known_by_what_they_hold(tmp_path: Path, name: str, is_one: bool) -> None:
    assert is_repository(filled(tmp_path, {name: "x"})) is is_one
    assert not is_repository(tmp_path / "none")


def test_a_real_repository_is_read_whole() -> None:
    document = load_folder(shared("readerfiles/code-repo/pdfplumber"))
    assert_whole(document)
    assert (document.title, document.coverage.read) == ("pdfplumber", 26)
    place = next(p for p in document.paragraphs if "class CroppedPage" in (p.locator or ""))
    assert place.locator == "pdfplumber/page.py › line 649 › class CroppedPage"


# -- the rules of git -----------------------------------------------------------------------------


def is_ignored(rules: str, path: str) -> bool:
    """Whether a path is ignored, by itself or with a folder above it; `/` at its end: a folder."""
    levels = [(0, Rules(rules.split("\n")))]
    names = path.rstrip("/").split("/")
    return any(
        ignored(levels, names[:k], is_folder=k < len(names) or path.endswith("/"))
        for k in range(1, len(names) + 1)
    )


@pytest.mark.parametrize(
    ("rules", "path", "is_left_out"),
    [
        ("*.o", "a/b.o", True),
        ("*.o", "b.oo", False),
        ("build/", "a/build/x", True),
        ("build/", "a/build", False),
        ("/top", "top", True),
        ("/top", "a/top", False),
        ("a/b", "c/a/b", False),
        ("**/b", "b", True),
        ("**/b", "x/y/b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b", True),
        ("a/*", "a/b/c", True),
        ("a/*/c", "a/b/d/c", False),
        ("***/b", "x/b", True),
        ("a**b", "axxb", True),
        ("a**b/c", "a/b/c", False),
        ("a?c", "abc", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]a]x", "]x", True),
        ("[[:digit:]]x", "7x", True),
        ("[[:none:]]x", "7x", False),
        ("[ab", "a", False),
        ("\\#x", "#x", True),
        ("# x", "# x", False),
        ("\\!x", "!x", True),
        ("x\\", "x", False),
        ("x  ", "x", True),
        ("x\\ ", "x ", True),
        ("x\r", "x", True),
        ("*.py\n!keep.py", "keep.py", False),
        ("!keep.py\n*.py", "keep.py", True),
        ("out/\n!out/keep.py", "out/keep.py", True),
        ("out/*\n!out/keep.py", "out/keep.py", False),
        ("/", "x", False),
        ("", "x", False),
        ("X", "x", False),
    ],
)
def test_rules_mean_what_they_mean_to_git(rules: str, path: str, is_left_out: bool) -> None:
    assert is_ignored(rules, path) is is_left_out


def test_deeper_rules_outdo_higher_ones(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".git/info/exclude": "*.tmp\n*.bak\n",
        ".gitignore": "*.log\n!*.bak",
        "a.log": "x",
        "a.tmp": "x",
        "a.bak": "x",
        "sub/.gitignore": "!keep.log\n/only.txt\n",
        "sub/keep.log": "x",
        "sub/only.txt": "x",
        "sub/deep/only.txt": "x",
    }
    root = filled(tmp_path, files)
    assert texts(load_folder(root), "heading")[1:] == [
        ".gitignore",
        "a.bak",
        "sub/.gitignore",
        "sub/deep/only.txt",
        "sub/keep.log",
    ]
    # a folder within the repository obeys the rules above it, too
    filled(root, {"sub/a.log": "x"})
    assert texts(load_folder(root / "sub"), "heading")[1:] == [
        ".gitignore",
        "deep/only.txt",
        "keep.log",
    ]


def test_rules_made_to_cost_time_do_not() -> None:
    stars, deep = "*a" * 300 + "b", "**/a/" * 150 + "b"
    assert not is_ignored(stars, "a" * 250)
    assert not is_ignored(deep, "a/" * 200 + "c")
