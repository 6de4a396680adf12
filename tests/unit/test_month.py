"""A few days of the scripted month; the whole of it is in `bench/replay.py`."""

from __future__ import annotations

from pathlib import Path

from month import play


def test_inventions_are_not_kept_repeats_cost_nothing_and_nothing_is_kept_twice(
    tmp_path: Path,
) -> None:
    month, made = play(tmp_path, questions=150, documents=3, facts_each=30, invents=0.4)
    made.close()
    assert sum(month.invented.values()) >= 10
    assert month.untrue == []
    assert month.kept >= 20
    assert month.near_duplicates == 0
    assert month.nearest < month.epsilon
    assert month.calls["repeat"] == 0
    assert month.calls["noise"] <= 2 * month.kinds["noise"]
    assert month.calls["fresh"] <= 3 * month.kinds["fresh"]
    assert month.used > 0
