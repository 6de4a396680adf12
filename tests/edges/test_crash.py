"""Killed in the middle of writing, the library opens, marks what lost its evidence, tells nothing.

The other side of `test_kill.py`: there calls are paid once, here nothing that was forgotten is left
in the file or its log, and nothing rests unmarked on a page that is missing or was changed.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from remembering import document
from reread.store import Store
from reread.store.changes import Draft
from reread.types import Call, Completion, PromptId

LIVES = Path(__file__).resolve().parents[1] / "crashing.py"
SOURCE = Path(__file__).resolve().parents[2] / "src"


def live(folder: Path, seed: int, statement: int | None, kill_after_s: float = 60.0) -> int:
    """Lets a process use the library until it dies; its exit code."""
    args = [str(folder), str(seed), *([str(statement)] if statement else [])]
    path = os.pathsep.join([str(SOURCE), str(LIVES.parent)])
    process = subprocess.Popen(
        [sys.executable, str(LIVES), *args], env={**os.environ, "PYTHONPATH": path}
    )
    log, late = folder / "log", time.monotonic() + 60
    began = log.stat().st_size if log.exists() else 0
    while statement is None and process.poll() is None and time.monotonic() < late:
        if log.exists() and log.stat().st_size > began:
            time.sleep(kill_after_s)
            process.kill()
            break
        time.sleep(0.001)
    return process.wait(60)


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log").read_bytes().splitlines()]


def held(folder: Path) -> bytes:
    return b"".join(f.read_bytes() for f in folder.glob("library.db*"))


def check(folder: Path) -> None:
    """What must hold after any death, once the library has been opened again."""
    path = folder / "library.db"
    store = Store(path)  # stays open, so that nothing is tidied up by closing it
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA user_version").fetchone() == (0,)
        follow(db)
    thoughts = store.items.thoughts()
    texts = {e["id"]: store.document(e["id"]) for e in store.overview()}
    for thought in thoughts:
        standing = [any(p.current for p in store.items.text_of(root)[1]) for root in thought.roots]
        assert thought.support == (
            "stale" if not any(standing) else
            "sound" if all(standing) and not thought.lost else "partial"
        )  # fmt: skip
        for root in thought.roots:
            text, places = store.items.text_of(root)
            for place in places:
                found = texts[place.document]
                assert found is not None
                assert text.strip() == found.text[place.start : place.end].strip()
    data = held(folder)
    there = {t.id for t in thoughts}
    asked = {t.question for t in thoughts}
    for event in events(folder):
        if event["what"] == "kept" and event["id"] not in there:
            own = event["text"][8:20]  # a word that stands nowhere else, unless it was quoted
            assert any(own in t.text for t in thoughts) or own.encode() not in data
            if event["question"] not in asked:
                assert event["question"].encode() not in data
        if event["what"] == "removed":
            assert store.document(event["id"]) is None
        if event["what"] == "forgotten":
            assert not there & set(event["ids"])
    store.close()


def follow(db: sqlite3.Connection) -> None:
    """Levels and roots follow from the sources that are there, and nothing rests on itself."""
    level = dict(db.execute("SELECT number, level FROM items"))
    kind = dict(db.execute("SELECT number, kind FROM items"))
    lost = dict(db.execute("SELECT number, lost FROM items"))
    roots: dict[int, set[int]] = {number: set() for number in level}
    below: dict[int, list[int]] = {number: [] for number in level}
    for item, source in db.execute("SELECT item, source FROM sources"):
        below[item].append(source)
    for number in sorted(level):
        assert all(source < number for source in below[number])
        mean = sum(level[s] for s in below[number]) / max(1, len(below[number]))
        assert abs(level[number] - mean - 1) < 1e-9
        for source in below[number]:
            roots[number] |= {source} if kind[source] == "page" else roots[source]
            assert lost[number] or not lost[source]
    stored = {number: set[int]() for number in level}
    for item, page in db.execute("SELECT item, page FROM roots"):
        stored[item].add(page)
    assert stored == roots


@pytest.mark.parametrize("seed", [1, 11])
def test_killed_before_any_statement(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for life in range(5):
        assert live(tmp_path, 100 * seed + life, rng.randint(60, 2_400)) == -9
        check(tmp_path)
    assert {"kept", "forgotten", "removed"} <= {e["what"] for e in events(tmp_path)}


def test_killed_at_any_moment(tmp_path: Path) -> None:
    rng = random.Random(3)
    for life in range(5):
        assert live(tmp_path, 300 + life, None, rng.uniform(0.2, 1.5)) == -9
        check(tmp_path)
    assert "kept" in {e["what"] for e in events(tmp_path)}


PAGE = "A page that the thought rests on, told at some length."
FORGOTTEN = "The abbess of Tolm sold nine brass lanterns to the ferryman."


def dying_store(folder: Path) -> tuple[Path, str]:
    """A library with one thought, closed."""
    path = folder / "library.db"
    store = Store(path)
    made = document(PAGE, "a.txt")
    store.add_document(made)
    pages = store.items.pages(made, [(0, len(made.text))])
    draft = Draft(text=FORGOTTEN, question="Q?", answer="A.", sources=tuple(pages))
    kept = store.items.keep(draft)
    assert kept is not None
    prompt = PromptId(name="answer-free", version=1, digest="d")
    call = Call(prompt=prompt, system="s", user="u", parse=lambda c: c.text, max_tokens=9)
    store.calls(made.id).put("k", call, "m", Completion(text=f"Nobody said: {FORGOTTEN}"))
    store.close()
    return path, kept.id


def do_and_die(path: Path, doing: str, told: str, before: int) -> int:
    """Does it with a store in another process that dies before its statement number `before`."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from remembering import document\n"
        "from reread.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "done = 0\n"
        "def tick(statement):\n"
        "    global done\n"
        "    done += 1\n"
        "    if done == int(sys.argv[3]):\n"
        "        os._exit(9)\n"
        "store._db.set_trace_callback(tick)\n"
        f"{doing}\n"
    )
    search = os.pathsep.join([str(SOURCE), str(LIVES.parent)])
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), told, str(before)],
        env={**os.environ, "PYTHONPATH": search},
        check=False,
    )
    return done.returncode


def test_a_new_version_is_there_with_the_places_of_its_pages_or_not_at_all(tmp_path: Path) -> None:
    outcomes: list[bool] = []
    new = f"{PAGE}\n\nAnd one more page."
    for before in range(1, 60):
        folder = tmp_path / str(before)
        folder.mkdir()
        path, thought_id = dying_store(folder)
        doing = "store.add_document(document(sys.argv[2], 'a.txt'))"
        code = do_and_die(path, doing, new, before)
        store = Store(path)
        thought = store.items.thought(thought_id)
        there = len(store.overview()) == 2
        assert thought.support == "sound"
        assert len(thought.places) == 1 + there
        assert [i for i, _ in store.by_origin("a.txt")] == [document(new if there else PAGE, "").id]
        store.close()
        outcomes.append(there)
        if code == 0:
            break
    assert code == 0
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 5


def test_a_forgetting_that_was_cut_short_is_finished_or_undone_by_the_next_to_open(
    tmp_path: Path,
) -> None:
    outcomes: list[bool] = []
    for before in range(1, 60):
        folder = tmp_path / str(before)
        folder.mkdir()
        path, thought_id = dying_store(folder)
        code = do_and_die(path, "store.items.forget([sys.argv[2]])", thought_id, before)
        store = Store(path)
        there = bool(store.items.thoughts())
        assert (FORGOTTEN.encode() in held(folder)) == there
        store.close()
        outcomes.append(there)
        if code == 0:
            break
    assert code == 0
    assert outcomes == sorted(outcomes, reverse=True)  # there, then gone
    assert (
        outcomes.count(False) >= 3
    )  # died after the transaction, before and after emptying the log
