"""The one place that starts threads.

Invariant: results come out in the order of their inputs, the first failure in that order is
raised after no further work has been started, and the calling thread stays interruptible.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def map_ordered(fn: Callable[[In], Out], items: Iterable[In], *, workers: int) -> Iterator[Out]:
    """`fn` of each item, in order; up to `workers` run while the next items are still being made.

    Items are drawn in the calling thread, so a generator that itself takes time overlaps with the
    work on what it has already yielded. With `workers` of 1 each item is worked on before the next
    is drawn, in the calling thread. A failure stops the drawing; unstarted work is dropped.
    """
    if workers <= 1:
        for item in items:
            yield fn(item)
        return
    work: queue.SimpleQueue[tuple[Future[Out], In] | None] = queue.SimpleQueue()
    pending: deque[Future[Out]] = deque()
    failed = threading.Event()
    threads = 0

    def run() -> None:
        while (task := work.get()) is not None:
            future, item = task
            if failed.is_set():
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(fn(item))
            except BaseException as error:  # noqa: BLE001 - carried to the caller by the future
                failed.set()
                future.set_exception(error)

    try:
        for item in items:
            if threads < workers:
                threading.Thread(target=run, daemon=True, name="reread-worker").start()
                threads += 1
            future: Future[Out] = Future()
            pending.append(future)
            work.put((future, item))
            if failed.is_set():
                break
            while pending and pending[0].done():
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
        for _ in range(threads):
            work.put(None)


def interruptibly(fn: Callable[[], Out]) -> Out:
    """`fn()` on another thread, so that the calling one can be interrupted while it runs."""
    future: Future[Out] = Future()

    def run() -> None:
        try:
            future.set_result(fn())
        except BaseException as error:  # noqa: BLE001 - carried to the caller by the future
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="reread-interruptible").start()
    return future.result()
