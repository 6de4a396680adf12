"""The rules of the house, kept by the code itself."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import reread

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reread"
MODULES = sorted(SOURCE.rglob("*.py"))
CODE = sorted([*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")])
PUBLIC = [
    "Answer",
    "Citation",
    "Document",
    "Error",
    "GistMemory",
    "Library",
    "Page",
    "Settings",
    "Thought",
    "ask",
    "load",
    "read",
]
HEAVY = (
    "httpx2",
    "openai",
    "lxml",
    "sqlite3",
    "typer",
    "rich",
    "xllamacpp",
    "pydantic",
    "asyncio",
    "numpy",
)
LONGEST_FILE = 500


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_low_layers_never_import_high_ones() -> None:
    code = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


def test_the_public_names_are_these() -> None:
    assert sorted(reread.__all__) == PUBLIC
    for public in PUBLIC:
        assert getattr(reread, public).__doc__
    assert set(PUBLIC) <= set(dir(reread))
    with pytest.raises(AttributeError):
        _ = reread.something_else


def loaded(code: str) -> list[str]:
    """The modules that are loaded after running the code in a fresh interpreter."""
    code += "\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-I", "-c", code]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return list(json.loads(out.splitlines()[-1]))


def test_importing_the_package_imports_nothing_heavy() -> None:
    names = {module.split(".")[0] for module in loaded("import reread")}
    assert not names & set(HEAVY)


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("from reread import Library; Library()", ("openai", "httpx2", "lxml", "typer", "rich")),
        ("import reread.cli", ("openai", "httpx2", "lxml", "sqlite3", "xllamacpp", "rich")),
    ],
)
def test_what_is_not_needed_yet_is_not_imported(code: str, without: tuple[str, ...]) -> None:
    names = {module.split(".")[0] for module in loaded(code)}
    assert not names & set(without)


def test_every_module_says_what_it_is_about() -> None:
    silent = [name(p) for p in CODE if not ast.get_docstring(ast.parse(p.read_text("utf-8")))]
    assert silent == []


def test_every_public_function_and_class_says_what_comes_out() -> None:
    silent = [
        f"{name(path)}: {node.name}"
        for path in MODULES
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    long = [name(p) for p in MODULES if len(p.read_text("utf-8").splitlines()) > LONGEST_FILE]
    assert long == []


def calls(tree: ast.AST, called: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == called
        for node in ast.walk(tree)
    )


def test_only_the_command_line_prints() -> None:
    printing = [
        name(p)
        for p in MODULES
        if "cli" not in p.relative_to(SOURCE).parts
        and calls(ast.parse(p.read_text("utf-8")), "print")
    ]
    assert printing == []


def catches_all(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id == "Exception") for kind in kinds
    )


def test_only_the_outer_door_catches_everything() -> None:
    catching = [
        name(p)
        for p in MODULES
        for node in ast.walk(ast.parse(p.read_text("utf-8")))
        if isinstance(node, ast.ExceptHandler) and catches_all(node)
    ]
    assert catching == ["src/reread/cli/__init__.py"]


def test_logging_is_never_configured_by_the_library() -> None:
    for path in MODULES:
        text = path.read_text("utf-8")
        assert "basicConfig" not in text, name(path)
        assert "addHandler" not in text or "cli" in path.parts, name(path)


def test_only_the_configuration_reads_the_environment() -> None:
    allowed = {"src/reread/config.py", "src/reread/cli/__init__.py"}
    reading = {name(p) for p in MODULES if "os.environ" in p.read_text("utf-8")}
    assert reading <= allowed


def test_only_one_place_starts_threads() -> None:
    starting = {
        name(p)
        for p in MODULES
        if "threading.Thread(" in p.read_text("utf-8") or "PoolExecutor" in p.read_text("utf-8")
    }
    assert starting <= {"src/reread/parallel.py"}
