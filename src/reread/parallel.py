"""The one place that starts threads.

Invariant: results come out in the order of their inputs, the first failure in that order is
raised after no further work has been started, and the calling thread stays interruptible.

Each thread knows the piece of work it helps with. Work is over when whoever wanted it has gone
(Ctrl-C, a stopped generator); what waits for a long time looks at `check` and `pause` meanwhile.
After a failure, calls in flight may come in for a while, since they are paid for.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import TypeVar

from reread.errors import Cancelled

In = TypeVar("In")
Out = TypeVar("Out")
Piece = TypeVar("Piece")

TICK_S = 0.25  # how late a waiting thread may notice that its work is over
_GRACE_S = 10.0  # how long calls in flight may still come in after another has failed


class Work:
    """A piece of work that several threads help with, perhaps a part of a larger one."""

    def __init__(self, within: Work | None) -> None:
        self._within = within
        self._over = threading.Event()
        self._failed = threading.Event()
        self.cause: BaseException | None = None

    def end(self) -> None:
        """Says that nobody waits for the result any more."""
        self._over.set()

    def fail(self, cause: BaseException) -> None:
        """Says that the result cannot be had any more: nothing new is begun."""
        if not self._failed.is_set():
            self.cause = cause
            self._failed.set()

    @property
    def over(self) -> bool:
        """Whether nobody waits for the result any more."""
        return self._over.is_set() or (self._within is not None and self._within.over)

    @property
    def failed(self) -> bool:
        """Whether the result cannot be had any more."""
        return self._failed.is_set() or (self._within is not None and self._within.failed)


class _Here(threading.local):
    work: Work | None = None


_here = _Here()


def check(*, begins: bool = False) -> None:
    """Returns while this thread's work is wanted; `begins` when something new is to be begun.

    Raises:
        Cancelled: the work is over, or has failed and nothing new is to be begun.
    """
    work = _here.work
    if work is not None and (work.over or (begins and work.failed)):
        raise Cancelled("the work was stopped", hint="Finished work is kept")


def pause(seconds: float) -> None:
    """Returns after so many seconds.

    Raises:
        Cancelled: the work was stopped meanwhile, or has failed elsewhere.
    """
    until = time.monotonic() + seconds
    check(begins=True)
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, TICK_S))
        check(begins=True)


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
    tasks: queue.SimpleQueue[tuple[Future[Out], In] | None] = queue.SimpleQueue()
    pending: deque[Future[Out]] = deque()
    work = Work(_here.work)
    threads = 0

    def run() -> None:
        _here.work = work
        while (task := tasks.get()) is not None:
            future, item = task
            if work.failed:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(fn(item))
            except BaseException as error:  # noqa: BLE001 - carried to the caller by the future
                work.fail(error)
                # What was stopped because of another failure says nothing of its own.
                stopped = work.cause if isinstance(error, Cancelled) else None
                future.set_exception(stopped or error)

    try:
        for item in items:
            if threads < workers:
                threading.Thread(target=run, daemon=True, name="reread-worker").start()
                threads += 1
            future: Future[Out] = Future()
            pending.append(future)
            tasks.put((future, item))
            if work.failed:
                break
            while pending and pending[0].done():
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except (KeyboardInterrupt, GeneratorExit):
        raise  # nobody waits for what is in flight
    except BaseException as error:
        work.fail(error)
        wait([f for f in pending if not f.cancel()], timeout=_GRACE_S)
        raise
    finally:
        work.end()
        for future in pending:
            future.cancel()
        for _ in range(threads):
            tasks.put(None)


def interruptibly(fn: Callable[[], Out]) -> Out:
    """`fn()` on another thread, so that the calling one can be interrupted while it runs."""
    future: Future[Out] = Future()
    work = Work(_here.work)

    def run() -> None:
        _here.work = work
        try:
            future.set_result(fn())
        except BaseException as error:  # noqa: BLE001 - carried to the caller by the future
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="reread-interruptible").start()
    try:
        return future.result()
    finally:
        work.end()


def streamed(fn: Callable[[Callable[[Piece], None]], Out]) -> Iterator[Piece | Out]:
    """What `fn` hands to its argument while it runs on another thread, and last its result.

    A generator that is stopped ends the work.
    """
    pieces: queue.SimpleQueue[Piece | Future[Out]] = queue.SimpleQueue()

    def run() -> None:
        future: Future[Out] = Future()
        _here.work = work
        try:
            future.set_result(fn(pieces.put))
        except BaseException as error:  # noqa: BLE001 - carried to the caller by the future
            future.set_exception(error)
        pieces.put(future)

    work = Work(_here.work)
    threading.Thread(target=run, daemon=True, name="reread-stream").start()
    try:
        while not isinstance(piece := pieces.get(), Future):
            yield piece
        yield piece.result()
    finally:
        work.end()
