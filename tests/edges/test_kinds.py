"""Files of every kind through the public door: what `read` says of them and `show` prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Ended, environ, run

import reread
from pdf_writer import Pdf, lines, picture
from reread.errors import EmptyDocument
from scanned import drawn, png

MODEL = {"REREAD_MODEL": "scripted:extractive"}
STORY = "The keeper lit the lamp. “Nobody comes,” he said, and paid 3 € for the oil."


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environ(tmp_path / "home", MODEL)


def read(path: Path, data: bytes, env: dict[str, str], *options: str) -> Ended:
    path.write_bytes(data)
    done = run("read", path, *options, env=env)
    assert "Traceback" not in done.err
    return done


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_text_in_other_encodings_is_shown_as_it_was_written(
    tmp_path: Path, env: dict[str, str], encoding: str
) -> None:
    path = tmp_path / "story.txt"
    assert read(path, STORY.encode(encoding), env).code == 0
    assert run("show", path, "--text", env=env).out.strip() == STORY


def test_nul_and_halves_of_pairs_are_stored_and_shown(tmp_path: Path, env: dict[str, str]) -> None:
    path = tmp_path / "story.txt"
    assert read(path, b"One\0 two three four five \xed\xa0\x80 six.", env).code == 0
    shown = run("show", path, "--text", env=env).out.strip()
    assert shown == "One\ufffd two three four five \ufffd\ufffd\ufffd six."


@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\0\0", b"\xfe\xff", b" \r\n\t", b"\0"]
)
def test_what_holds_nothing_is_one_clear_line(
    tmp_path: Path, env: dict[str, str], data: bytes
) -> None:
    done = read(tmp_path / "nothing.txt", data, env)
    assert (done.code, done.out) == (1, "")
    assert "nothing.txt" in done.line


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", "word"), ("a.txt", "👋🏽"), ("a.md", "# T"), ("a.md", "- x"), ("a.html", "<p>x"),
        ("a.html", "x"), ("a.txt", "字"), ("a.md", "|a|\n|-|"),
    ],
)  # fmt: skip
def test_the_smallest_of_every_kind_has_one_page(
    tmp_path: Path, env: dict[str, str], name: str, data: str
) -> None:
    path = tmp_path / name
    assert read(path, data.encode(), env).code == 0
    (page,) = json.loads(run("pages", path, "--json", env=env).out)
    assert page["number"] == 1


def test_what_stood_around_an_article_is_said(tmp_path: Path, env: dict[str, str]) -> None:
    path = tmp_path / "page.html"
    page = f"<nav>One two</nav><main><h1>T</h1><p>{STORY}</p></main><footer>Imprint</footer>"
    assert read(path, page.encode(), env).code == 0
    assert run("show", path, "--text", env=env).out.strip() == f"T\n\n{STORY}"
    said = "  left out: navigation: 2 words\n  left out: footer: 1 word\n"
    assert said in run("show", path, env=env).out


def test_a_page_without_text_is_named_with_its_remedy(tmp_path: Path, env: dict[str, str]) -> None:
    path = tmp_path / "scan.pdf"
    data = Pdf(pages=[lines(72, 100, ["A page with text."]), picture()]).file()
    done = read(path, data, env, "--no-ocr")
    assert done.code == 0
    assert "without text: p. 2 (leave out --no-ocr to read it)" in done.out


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_a_picture_of_text_is_read_and_said_to_be_one(tmp_path: Path, env: dict[str, str]) -> None:
    path = tmp_path / "scan.png"
    page = Pdf(pages=[lines(72, 100, ["The keeper lit the lamp."], size=14)]).file()
    done = read(path, png(drawn(page)), env)
    assert done.code == 0, done.err
    assert run("show", path, "--text", env=env).out.strip() == "The keeper lit the lamp."
    assert "letters may be wrong, read from pictures: p. 1" in done.out


def test_pages_that_scripts_make_say_how_to_get_them(tmp_path: Path) -> None:
    path = tmp_path / "app.html"
    path.write_text("<html><body><div id=app></div><script>run()</script></body></html>")
    with pytest.raises(EmptyDocument) as caught:
        reread.load(path)
    assert "save it from a browser" in caught.value.line
