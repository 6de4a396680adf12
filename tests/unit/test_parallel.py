"""Work on threads: in order, overlapping, and over once something fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from reread import parallel

WAIT_S = 5.0


def wait_for(event: threading.Event) -> None:
    assert event.wait(WAIT_S), "it never happened"


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    def slow_first(n: int) -> int:
        time.sleep(0.02 if n == 0 else 0)
        return n * n

    assert list(parallel.map_ordered(slow_first, range(20), workers=workers)) == [
        n * n for n in range(20)
    ]
    assert list(parallel.map_ordered(slow_first, [], workers=workers)) == []


def test_work_overlaps_with_the_making_of_the_next_item() -> None:
    started = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        wait_for(started)  # the first item is being worked on while the second is made
        yield 2

    def work(n: int) -> int:
        started.set()
        return n

    assert list(parallel.map_ordered(work, items(), workers=2)) == [1, 2]


def test_as_many_run_at_once_as_there_are_workers_and_no_more() -> None:
    barrier = threading.Barrier(3, timeout=WAIT_S)
    lock, running, most = threading.Lock(), 0, 0

    def work(n: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        barrier.wait()
        with lock:
            running -= 1

    list(parallel.map_ordered(work, range(9), workers=3))
    assert most == 3


def test_one_worker_works_in_the_calling_thread_between_items() -> None:
    seen: list[str] = []

    def items() -> Iterator[int]:
        for n in range(3):
            seen.append(f"made {n}")
            yield n

    def work(n: int) -> threading.Thread:
        seen.append(f"done {n}")
        return threading.current_thread()

    threads = list(parallel.map_ordered(work, items(), workers=1))
    assert seen == ["made 0", "done 0", "made 1", "done 1", "made 2", "done 2"]
    assert set(threads) == {threading.current_thread()}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_first_failure_in_order_is_raised(workers: int) -> None:
    later_failed = threading.Event()

    def work(n: int) -> int:
        if n == 1:
            if workers > 1:
                wait_for(later_failed)
            raise ValueError("first in order")
        if n == 2:
            later_failed.set()
            raise KeyError("first in time")
        return n

    got: list[int] = []
    with pytest.raises(ValueError, match="first in order"):
        got.extend(parallel.map_ordered(work, range(50), workers=workers))
    assert got == [0]


def test_no_work_starts_after_a_failure() -> None:
    failed, release = threading.Event(), threading.Event()
    begun: list[int] = []

    def work(n: int) -> int:
        begun.append(n)
        if n == 0:
            wait_for(release)  # keeps the caller waiting, so that others could start
        if n == 1:
            failed.set()
            raise ValueError("failed")
        return n

    def release_later() -> None:
        wait_for(failed)
        time.sleep(0.1)
        release.set()

    threading.Thread(target=release_later, daemon=True).start()
    got: list[int] = []
    with pytest.raises(ValueError, match="failed"):
        got.extend(parallel.map_ordered(work, range(100), workers=2))
    assert got == [0]
    assert sorted(begun) == [0, 1]


def test_a_failure_stops_the_making_of_items() -> None:
    failed = threading.Event()
    made: list[int] = []

    def items() -> Iterator[int]:
        for n in range(100):
            made.append(n)
            if n == 2:
                wait_for(failed)
                time.sleep(0.05)
            yield n

    def work(n: int) -> int:
        if n == 1:
            failed.set()
            raise ValueError("failed")
        return n

    with pytest.raises(ValueError, match="failed"):
        list(parallel.map_ordered(work, items(), workers=3))
    assert max(made) <= 3


def test_giving_up_drops_what_has_not_started() -> None:
    release = threading.Event()
    begun: list[int] = []

    def work(n: int) -> int:
        begun.append(n)
        if n:
            wait_for(release)
        return n

    results = parallel.map_ordered(work, range(100), workers=2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    release.set()
    time.sleep(0.1)
    assert len(begun) <= 4


def test_a_failure_while_items_are_made_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more items")

    with pytest.raises(ValueError, match="no more"):
        list(parallel.map_ordered(lambda n: n, items(), workers=2))


def test_threads_end_with_their_work() -> None:
    list(parallel.map_ordered(lambda n: n, range(10), workers=4))
    deadline = time.monotonic() + WAIT_S
    while any(t.name == "reread-worker" for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_interruptibly_returns_or_raises_what_the_function_does() -> None:
    assert parallel.interruptibly(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        parallel.interruptibly(lambda: 1 // 0)
