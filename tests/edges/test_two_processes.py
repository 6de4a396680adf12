"""Several processes on one library lose nothing and wait for nobody without need."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from command import environ, run, start, story
from endpoint import Endpoint

SMALL = ("--min-words", "50", "--max-words", "100")


def finished(process: subprocess.Popen[bytes]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    assert err == b""
    return out.decode()


@pytest.mark.parametrize("workers", ["1", "4"])
def test_two_documents_at_once(tmp_path: Path, workers: str) -> None:
    with Endpoint(delay_s=0.01) as endpoint:
        env = environ(tmp_path, endpoint.environ(tmp_path))
        started = []
        for name in ("one", "two", "three"):
            path = tmp_path / f"{name}.txt"
            path.write_text(story(1_500, seed=len(name) * 7 + ord(name[1])), encoding="utf-8")
            started.append(start("read", path, "--workers", workers, *SMALL, env=env))
        for process in started:
            finished(process)
        entries = json.loads(run("list", "--json", env=env).out)
        assert sorted(e["title"] for e in entries) == ["one", "three", "two"]
        assert all(len(e["memories"]) == 1 for e in entries)
        with sqlite3.connect(tmp_path / "library.db") as db:
            (kept,) = db.execute("SELECT count(*) FROM calls").fetchone()
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
        assert kept == len(endpoint.seen)
        assert endpoint.repeats() == 0


def test_the_same_document_at_once(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text(story(1_500), encoding="utf-8")
    with Endpoint(delay_s=0.01) as endpoint:
        env = environ(tmp_path, endpoint.environ(tmp_path))
        started = [start("read", path, *SMALL, env=env) for _ in range(3)]
        said = [finished(process).split("(")[0] for process in started]
        assert len(set(said)) == 1
        (entry,) = json.loads(run("list", "--json", env=env).out)
        assert len(entry["memories"]) == 1
        endpoint.forget()
        assert "nothing sent" in run("read", path, *SMALL, env=env).out
        assert not endpoint.seen


def test_readers_while_a_writer_writes(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(story(800, seed=1), encoding="utf-8")
    new.write_text(story(3_000, seed=2), encoding="utf-8")
    with Endpoint() as endpoint:
        env = environ(tmp_path, endpoint.environ(tmp_path))
        assert run("read", old, env=env).code == 0
        gists = run("gists", "old", env=env).out
        endpoint.delay_s = 0.03
        writer = start("read", new, *SMALL, env=env)
        looked = 0
        while writer.poll() is None:
            for verb in ("gists", "list", "show"):
                seen = run(verb, *(() if verb == "list" else ("old",)), env=env)
                assert (seen.code, seen.err) == (0, "")
                assert verb != "gists" or seen.out == gists
                looked += 1
        finished(writer)
        assert looked >= 3
        assert len(json.loads(run("list", "--json", env=env).out)) == 2


def test_a_document_removed_while_it_is_read_stays_removed(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text(story(2_000), encoding="utf-8")
    with Endpoint(delay_s=0.03) as endpoint:
        env = environ(tmp_path, endpoint.environ(tmp_path))
        reader = start("read", path, *SMALL, env=env)
        while len(endpoint.seen) < 5 and reader.poll() is None:
            pass
        assert run("remove", "story", env=env).code == 0
        reader.communicate(timeout=60)
        assert reader.returncode in (0, 1)
        assert json.loads(run("list", "--json", env=env).out) == []
        for file in tmp_path.glob("library.db*"):
            assert b"told" not in file.read_bytes()
