"""An endpoint's limit is found, kept to, and tried again; a pause asked of one is kept by all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from endpoint import MODEL, Endpoint

from reread import parallel
from reread.errors import Cancelled, ModelUnavailable
from reread.llm.compatible import Compatible
from reread.llm.limits import Limited
from reread.llm.scripted import Scripted
from reread.llm.wrappers import Retrying
from reread.types import Call, Completion, PromptId

BUSY = partial(ModelUnavailable, "busy", overloaded=True)


def a_call(user: str = "question") -> Call:
    return Call(
        prompt=PromptId(name="gist-page", version=1, digest=""),
        system="system",
        user=user,
        parse=lambda completion: completion.text,
        max_tokens=20,
    )


class Moody(Scripted):
    """A model that raises what it is told to, call by call, and else replies."""

    def __init__(self, workers: int) -> None:
        super().__init__(lambda call: "fine", workers=workers)
        self.errors: list[Exception] = []

    def complete(self, call: Call) -> Completion:
        if self.errors:
            raise self.errors.pop(0)
        return super().complete(call)


def failing(limited: Limited, model: Moody, error: Exception) -> None:
    model.errors = [error]
    with pytest.raises(type(error)):
        limited.complete(a_call())


def test_it_starts_with_what_was_asked_for_and_never_exceeds_it() -> None:
    limited = Limited(Moody(8))
    assert limited.limit == 8
    for _ in range(200):
        limited.complete(a_call())
    assert limited.limit == 8


def test_it_grows_quickly_up_to_where_it_was_refused_and_slowly_beyond() -> None:
    model = Moody(4)
    limited = Limited(model)
    inside, release = threading.Barrier(5), threading.Event()
    reply = model._reply

    def together(call: Call) -> str:
        inside.wait(5)
        assert release.wait(5)
        raise BUSY()

    model._reply = together
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(limited.complete, a_call()) for _ in range(4)]
        inside.wait(5)
        release.set()
        assert all(isinstance(c.exception(), ModelUnavailable) for c in calls)
    assert limited.limit == 2  # four at once were refused, for one reason
    model._reply = reply
    grown = []
    for _ in range(60):
        limited.complete(a_call())
        grown.append(limited.limit)
    assert grown.index(3) == 1  # after a run of two
    assert grown.index(4) == 1 + 30  # four were refused once


@pytest.mark.parametrize("overloaded", [True, False])
def test_only_an_overload_shrinks_it_and_never_below_one(overloaded: bool) -> None:
    model = Moody(2)
    limited = Limited(model)
    for _ in range(5):
        failing(limited, model, ModelUnavailable("busy", overloaded=overloaded))
    assert limited.limit == (1 if overloaded else 2)


def test_a_pause_asked_of_one_is_kept_by_all() -> None:
    now = [100.0]
    model = Moody(4)
    limited = Limited(model, now=lambda: now[0])
    failing(limited, model, BUSY(retry_after_s=30.0))
    waiting = threading.Thread(target=limited.complete, args=(a_call(),), daemon=True)
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    assert not model.calls
    now[0] = 130.1
    waiting.join(5)
    assert len(model.calls) == 1


@pytest.mark.parametrize("most", [3, 6])
def test_it_settles_near_the_limit_of_an_endpoint(most: int) -> None:
    with Endpoint(most=most, delay_s=0.004, reply=lambda *_: "fine") as endpoint:
        inner = Compatible(
            name="n", model=MODEL, base_url=endpoint.base_url, context_tokens=8_192, workers=24
        )
        limited = Limited(inner)
        model = Retrying(limited, sleep=lambda seconds: parallel.pause(seconds / 50))
        with ThreadPoolExecutor(24) as pool:
            done = list(pool.map(lambda n: model.complete(a_call(f"page {n}")), range(300)))
        seen = endpoint.seen
    assert [c.text for c in done] == ["fine"] * 300
    refused = [k for k, s in enumerate(seen) if s.status == 429]
    assert sum(s.status == 200 for s in seen) == 300
    assert endpoint.wasted() == 0
    assert most / 2 <= limited.limit <= most + 1
    assert (
        len(refused) < 24 + 24 + 12
    )  # the first burst, halving down to it, and a try now and then
    assert sum(k > len(seen) // 2 for k in refused) <= 6


def test_work_that_is_over_takes_no_turn() -> None:
    limited = Limited(Moody(1))
    work = parallel.Work(None)
    work.end()
    parallel._here.work = work
    try:
        limited._not_before = limited._now() + 300
        with pytest.raises(Cancelled):
            limited.complete(a_call())
    finally:
        parallel._here.work = None
