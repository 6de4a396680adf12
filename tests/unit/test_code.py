"""Source code: cut between definitions, located by lines; notebooks by their cells."""

from __future__ import annotations

import json

import pytest

from documents_fixtures import assert_whole, located, texts
from reread.documents import load_bytes
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Document

PYTHON = '''"""Birds."""

import re

LIMIT = 3


@frozen
class Bird:
    """One bird."""

    def sing(self) -> str:
        return "tweet"


def flock(
    size: int,
) -> list[Bird]:

    return [Bird()] * size
'''


def code(text: str, name: str = "birds.py") -> Document:
    document = load_bytes(text.encode(), name=name)
    assert document.media_type == "text/x-source"
    assert_whole(document)
    assert {p.kind for p in document.paragraphs} == {"code"}
    return document


def test_blocks_are_definitions_and_say_their_line() -> None:
    document = code(PYTHON)
    assert document.title == "birds.py"
    assert document.text == PYTHON.strip()
    assert [p.locator for p in document.paragraphs] == [
        "birds.py › line 1",
        "birds.py › line 3",
        "birds.py › line 5",
        "birds.py › line 8 › class Bird",
        "birds.py › line 16 › def flock",
    ]
    assert texts(document)[3].startswith("@frozen\nclass Bird:")
    assert texts(document)[4].endswith("* size")


def test_a_line_that_closes_begins_no_block() -> None:
    document = code("void f(int a) {\n\n  g();\n\n}\n\nint b;\n", "a.c")
    assert located(document) == {
        "void f(int a) {\n\n  g();\n\n}": "a.c › line 1 › void f",
        "int b;": "a.c › line 7",
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export default async function load(x) {", "export default async function load"),
        ("pub(crate) fn run<T>(x: T) -> T {", "pub(crate) fn run<T>"),
        ("func (p *Page) Read(n int) error {", "func (p *Page) Read"),
        ("public final class Tree extends Plant {", "public final class Tree extends Plant"),
        ("impl Display for Page {", "impl Display for Page"),
        ("classify(x)", None),
        ("define = 3", None),
        ("type = 3", None),
    ],
)
def test_definitions_of_many_languages(line: str, said: str | None) -> None:
    (p,) = code(f"{line}\n  x\n", "a.txt.rs").paragraphs
    assert p.locator == "a.txt.rs › line 1" + (f" › {said}" if said else "")


def test_long_classes_are_cut_between_their_methods() -> None:
    method = "    def m{0}(self):\n" + "        call(one, two, three)\n" * 30
    document = code("class Big:\n" + "\n".join(method.format(k) for k in range(6)), "big.py")
    assert [p.locator for p in document.paragraphs] == [
        f"big.py › line {n} › class Big" for n in (1, 66, 130)
    ]
    assert [t.split("(")[0] for t in texts(document)[1:]] == ["def m2", "def m4"]


def test_long_text_without_blank_lines_is_cut_at_lines() -> None:
    document = code("x = [\n" + "  one, two, three, four, five,\n" * 100 + "]\n", "x.js")
    assert [p.locator for p in document.paragraphs] == [f"x.js › line {n}" for n in (1, 51, 101)]


@pytest.mark.parametrize(
    "name",
    ["Makefile", "Dockerfile", "Dockerfile.dev", "CMakeLists.txt", "a.yaml", "a.SQL", "x.tsx"],
)
def test_code_is_known_by_its_name(name: str) -> None:
    assert code("all: one\n", name).paragraphs[0].locator == f"{name} › line 1"


def test_a_page_at_an_address_that_ends_like_code_is_a_page() -> None:
    page = b"<!DOCTYPE html><p>Words"
    assert load_bytes(page, name="a.py", media_type="text/html").media_type == "text/html"
    assert load_bytes(page, name="a.php").media_type == "text/x-source"


def test_other_encodings_and_no_text() -> None:
    assert code("# «é»\n".encode("utf-16").decode("utf-16"), "a.py").text == "# «é»"
    assert load_bytes("# é".encode("utf-16"), name="a.py").text == "# é"
    with pytest.raises(EmptyDocument):
        load_bytes(b"\n \n", name="a.py")


def test_deep_nesting_ends() -> None:
    nested = "\n\n".join(" " * k + "if x:\n" + " " * k + "  y = f(a, b)" for k in range(300))
    assert len(code(nested, "a.py").paragraphs) > 5


# -- notebooks ------------------------------------------------------------------------------------


def notebook(*cells: object, **more: object) -> Document:
    data = json.dumps({"cells": cells, "nbformat": 4, **more}).encode()
    document = load_bytes(data, name="study.ipynb")
    assert_whole(document)
    return document


def cell(kind: str, source: str | list[str], *outputs: object) -> dict[str, object]:
    return {"cell_type": kind, "source": source, "outputs": list(outputs)}


def test_cells_are_text_code_and_outputs() -> None:
    document = notebook(
        cell("markdown", ["# Tides\n", "\n", "We *measure*.\n", "## Data"]),
        cell("code", "x = 1\n\nprint(x)", {"output_type": "stream", "text": ["1\n"]}),
        cell("code", ""),
    )
    assert document.title == "Tides"
    assert [(p.kind, p.locator) for p in document.paragraphs] == [
        ("heading", "cell 1"),
        ("text", "cell 1"),
        ("heading", "cell 1 › Data"),
        ("code", "cell 2 › Data"),
        ("code", "cell 2 › Data"),
    ]
    assert texts(document)[3:] == ["x = 1\n\nprint(x)", "Output:\n1"]
    assert (document.coverage.parts, document.coverage.blank) == (3, ("cell 3",))


def test_pictures_are_left_out_and_results_and_errors_kept() -> None:
    picture = {"data": {"image/png": "iVBOR", "text/plain": "<Figure>"}}
    document = notebook(
        cell("code", "plot()", picture, {"data": {"text/plain": ["0.5"], "text/html": "<b>"}}),
        cell("code", "f()", {"output_type": "error", "ename": "KeyError", "evalue": "'a'"}),
    )
    assert texts(document) == ["plot()", "Output:\n0.5", "f()", "Output:\nKeyError: 'a'"]
    assert document.coverage.left_out == (("outputs (1)", "pictures, which are not read"),)
    assert document.coverage.complete


def test_long_outputs_are_cut() -> None:
    document = notebook(cell("code", "go()", {"text": "\x1b[31mline\x1b[0m\n" * 500}))
    assert texts(document)[1] == "Output:\n" + "line\n" * 20 + "[…]"


def test_the_third_format_is_read() -> None:
    old = {"cell_type": "code", "input": ["y = 2"], "outputs": []}
    head = {"cell_type": "heading", "level": 2, "source": "Part"}
    document = notebook(worksheets=[{"cells": [head, old]}])
    assert located(document) == {"Part": "cell 1 › Part", "y = 2": "cell 2 › Part"}


@pytest.mark.parametrize("data", [b"{", b"[" * 100_000, b"not json"])
def test_what_is_no_notebook_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedDocument, match="no notebook"):
        load_bytes(data, name="a.ipynb")


@pytest.mark.parametrize("data", [b"[]", b'{"cells": [1, {}]}', b'{"cells": 3, "worksheets": [2]}'])
def test_notebooks_without_text_are_empty(data: bytes) -> None:
    with pytest.raises(EmptyDocument):
        load_bytes(data, name="a.ipynb")
