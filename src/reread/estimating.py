"""What reading a document and asking about it will take, found by doing both without a model.

The whole work is done twice with a model that only counts: once it answers so that the most calls
follow, once so that the fewest do. Where both agree, as when pages are chosen by rule, the figure
is exact; otherwise it lies between. Replies that are malformed and asked again are not foreseen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reread.llm.prices import Price
from reread.ports import CallCache, Model
from reread.reading.replies import STOP
from reread.text import estimate_tokens
from reread.types import Call, Completion, Document, Usage

QUESTIONS = ("zq " * 4, "zq " * 40)  # short and long, and no word of it is in the document
_GIST_SHARES = (0.15, 0.35)
_ANSWER_WORDS = (15, 90)

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What a piece of work takes, each as (at least, at most), equal where it is exact.

    `remembered` calls are answered from the library and are not among `calls`. `seconds` is None
    while the model's speed is not known, `cost`, in US dollars, while its price is not.
    """

    calls: Range
    remembered: Range
    words_in: Range
    prompt_tokens: Range
    completion_tokens: Range
    seconds: Range | None
    cost: Range | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What reading a document takes, and what each question about it does then."""

    document: Document
    model: str
    pages: tuple[int, int]
    reading: Needs
    question: Needs
    price: Price | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """What reading several documents takes together, and a question about one of them.

    `words` are those of the documents; `question` spans all of them.
    """

    documents: int
    words: int
    pages: tuple[int, int]
    reading: Needs
    question: Needs


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second for prompts and replies, and how many calls are in flight at once."""

    prompt: float
    reply: float
    workers: int


class Counting:
    """A model that only counts, and replies so that the fewest or the most calls follow."""

    def __init__(self, model: Model, *, most: bool) -> None:
        self.name = model.name
        self.capabilities = model.capabilities
        # To count exactly the embedded model would have to be loaded.
        embedded = model.name.startswith("local:")
        self.count_tokens: Callable[[str], int] = (
            estimate_tokens if embedded else model.count_tokens
        )
        self._most = most

    def complete(self, call: Call) -> Completion:
        """A reply of about the length that the model's own would have."""
        text = self._reply(call)
        return Completion(
            text=text,
            prompt_tokens=self.count_tokens(call.system) + self.count_tokens(call.user),
            completion_tokens=self.count_tokens(text),
        )

    def _reply(self, call: Call) -> str:
        material, _, order = call.user.rpartition("\n----\n")
        if call.phase == "paginate":
            last = re.search(r"the last one is number (\d+)", order)
            return json.dumps({"mark": 1 if self._most or last is None else int(last[1])})
        if call.phase == "lookup":
            return self._looked_up(order)
        if call.phase in ("merge", "whether"):
            return "yes" if self._most and call.phase == "whether" else "no"
        if call.phase == "gist":
            return _beginning(material, _GIST_SHARES[self._most])
        return " ".join(["zq"] * _ANSWER_WORDS[self._most])

    def _looked_up(self, order: str) -> str:
        if "STOP" not in order:
            asked = re.search(r"up to (\d+) of (?:its pages|them)", order) if self._most else None
            return json.dumps({"pages": list(range(1, int(asked[1]) + 1)) if asked else []})
        if not self._most:
            return STOP
        opened = re.search(r"opened in full: ([\d, ]+)\.", order)
        read = {int(n) for n in opened[1].split(",")} if opened else set()
        return json.dumps({"page": next(n for n in range(1, len(read) + 2) if n not in read)})


def _beginning(material: str, share: float) -> str:
    """So much of the material from its beginning, up to the end of a word."""
    text = material.strip()
    end = max(40, int(len(text) * share))
    cut = text.find(" ", end)
    return text[: cut if 0 <= cut < end + 40 else end]


class Unwritten:
    """Remembered calls that are looked up and never added to (`ports.CallCache`)."""

    def __init__(self, calls: CallCache) -> None:
        self._calls = calls

    def get(self, key: str) -> Completion | None:
        return self._calls.get(key)

    def put(self, key: str, call: Call, model: str, completion: Completion) -> None:
        """Keeps nothing."""

    def refused(self, call: Call, model: str, completion: Completion) -> None:
        """Keeps nothing."""


def answered_again(used: Usage, times: int) -> Usage:
    """What a question took, with so many further calls that each take what its answer took."""
    once = used.phases.get("answer", Usage())
    return sum([once] * times, start=used)


# Pages, what reading took, and what a question took.
Counted = tuple[int, Usage, Usage]


def estimate(
    document: Document,
    model: Model,
    price: Price | None,
    report: Mapping[str, Any] | None,
    fewest: Counted,
    most: Counted,
) -> Estimate:
    """The estimate from the work done both ways; `report` is what a test of the model found."""
    prompt, reply = (report or {}).get("prompt_speed"), (report or {}).get("reply_speed")
    speed = Speed(prompt, reply, model.capabilities.workers) if prompt and reply else None
    pages = sorted((fewest[0], most[0]))
    return Estimate(
        document=document,
        model=model.name,
        pages=(pages[0], pages[1]),
        reading=_needs(fewest[1], most[1], price, speed),
        question=_needs(fewest[2], most[2], price, speed),
        price=price,
    )


def total(estimates: Sequence[Estimate]) -> Total:
    """All together; what is not known of one is not known of the total.

    The same content under several names is read once.
    """
    once = list({one.document.id: one for one in estimates}.values())
    return Total(
        documents=len(once),
        words=sum(one.document.words for one in once),
        pages=(sum(one.pages[0] for one in once), sum(one.pages[1] for one in once)),
        reading=_together([one.reading for one in once], sum, sum),
        question=_together([one.question for one in once], min, max),
    )


def _together(
    needs: Sequence[Needs],
    low: Callable[[Iterable[float]], float],
    high: Callable[[Iterable[float]], float],
) -> Needs:
    def known(figure: str) -> Range:
        ranges = [getattr(one, figure) for one in needs]
        return low(a for a, _ in ranges), high(b for _, b in ranges)

    def perhaps(figure: str) -> Range | None:
        return None if any(getattr(one, figure) is None for one in needs) else known(figure)

    return Needs(
        calls=known("calls"),
        remembered=known("remembered"),
        words_in=known("words_in"),
        prompt_tokens=known("prompt_tokens"),
        completion_tokens=known("completion_tokens"),
        seconds=perhaps("seconds"),
        cost=perhaps("cost"),
    )


def _needs(fewest: Usage, most: Usage, price: Price | None, speed: Speed | None) -> Needs:
    """What the two ways of doing the work took, as ranges."""

    def between(figure: Callable[[Usage], float]) -> Range:
        both = figure(fewest), figure(most)
        return min(both), max(both)

    def seconds(used: Usage, workers: int) -> float:
        assert speed is not None
        alone = used.prompt_tokens / speed.prompt + used.completion_tokens / speed.reply
        return alone / workers

    return Needs(
        calls=between(lambda u: u.calls),
        remembered=between(lambda u: u.cached_calls),
        words_in=between(lambda u: u.words_in),
        prompt_tokens=between(lambda u: u.prompt_tokens),
        completion_tokens=between(lambda u: u.completion_tokens),
        seconds=(seconds(fewest, speed.workers), seconds(most, 1)) if speed else None,
        cost=between(lambda u: price.at(u.prompt_tokens, u.completion_tokens)) if price else None,
    )
