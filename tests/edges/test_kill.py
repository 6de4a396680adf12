"""Killed anywhere, a reading goes on where it stopped; only calls in flight are repeated."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from command import environ, kill, run, start, story
from endpoint import Endpoint

DELAY_S = 0.02
PAGES = ("--min-words", "50", "--max-words", "100")


def memory(env: dict[str, str]) -> tuple[Any, Any]:
    """The pages and gists that the library holds."""
    pages, gists = (
        run("pages", "story", "--json", env=env),
        run("gists", "story", "--json", env=env),
    )
    assert pages.code == gists.code == 0, pages.err + gists.err
    return json.loads(pages.out), json.loads(gists.out)


@pytest.mark.parametrize(("workers", "kills"), [(1, 30), (4, 10)])
def test_kill_anywhere(tmp_path: Path, workers: int, kills: int) -> None:
    rng = random.Random(workers)
    path = tmp_path / "story.txt"
    path.write_text(story(4_500), encoding="utf-8")
    command = ("read", path, "--workers", str(workers), *PAGES)
    with Endpoint(delay_s=DELAY_S) as endpoint:
        quiet = environ(tmp_path / "quiet", endpoint.environ(tmp_path / "quiet"))
        assert run(*command, env=quiet).code == 0
        undisturbed, calls = memory(quiet), len(endpoint.seen)
        assert endpoint.repeats() == 0
        endpoint.forget()

        env = environ(tmp_path / "killed", endpoint.environ(tmp_path / "killed"))
        killed = 0
        for _ in range(kills):
            seen = len(endpoint.seen)
            process = start(*command, env=env)
            if rng.random() < 0.2:  # while it starts, opens the library, loads the document
                time.sleep(rng.uniform(0.0, 0.6))
            else:
                more, late = rng.randint(1, 4), time.monotonic() + 20
                while len(endpoint.seen) < seen + more and process.poll() is None:
                    assert time.monotonic() < late
                    time.sleep(0.001)
                time.sleep(rng.uniform(0.0, 1.5 * DELAY_S))
            killed += kill(process) == -9
        time.sleep(2 * DELAY_S)
        most = killed if workers == 1 else killed * (workers + 1)  # one pauses while others gist
        assert killed > 0.8 * kills
        assert run(*command, env=env).code == 0
        assert endpoint.repeats() <= most
        assert memory(env) == undisturbed
        assert len({s.digest for s in endpoint.seen}) == calls
        again = run(*command, env=env)
        assert "nothing sent" in again.out
