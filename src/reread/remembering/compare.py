"""Two answers side by side, with thoughts and without, and what the votes on them say.

The order is drawn and not told before the vote. Both answers share their look-up, which is paid
once; each is charged for it. Intervals come from drawing documents anew, not questions, since
questions about one text are not independent.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from reread.errors import UsageError
from reread.evidence import READING
from reread.remembering.members import documents_of
from reread.store import Store
from reread.types import Answer, Thought, Usage

CHOICES = ("1", "2", "=")
_DRAWS = 2_000
_FEWEST = 3


class Asks(Protocol):
    """What answers questions."""

    def ask(self, question: str, source: Any, **said: Any) -> Answer: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two answers in the order they are shown in; `with_thoughts` is 1 or 2, for after the vote."""

    id: str
    answers: tuple[Answer, Answer]
    with_thoughts: int


def made(
    store: Store, home: Asks, question: str, source: Any, settings: dict[str, Any]
) -> Comparison:
    """Both answers, kept for a vote."""
    without = home.ask(question, source, thoughts=False, **settings)
    helped = home.ask(question, without.memory, thoughts=True, **settings)
    first = secrets.randbelow(2)
    pair = (helped, without) if first == 0 else (without, helped)
    made_id = "c" + secrets.token_hex(6)
    record = {
        "question": question,
        "answers": [a.text for a in pair],
        "with_thoughts": first + 1,
        "used": list(helped.thoughts_used),
        "kept": helped.thought_kept,
        "document": helped.document.id,
        "with": _cost(helped, without),
        "without": _cost(without, helped),
    }
    store.questions.put_comparison(made_id, documents_of(helped.memory), record)
    return Comparison(id=made_id, answers=pair, with_thoughts=first + 1)


def _cost(answer: Answer, other: Answer) -> dict[str, float] | None:
    """Calls, tokens and seconds of one answer, what it shared included; None if not all is known.

    A call that was kept from earlier has no cost here; where the other answer made the same one
    just now, its cost is that.
    """
    total: dict[str, float] = {"calls": 0, "tokens": 0, "seconds": 0.0}
    for phase, usage in answer.usage.phases.items():
        if phase in READING:
            continue
        shared = other.usage.phases.get(phase, Usage())
        if usage.cached_calls and not (usage.calls == 0 and shared.calls == usage.cached_calls):
            return None
        paid = shared if usage.cached_calls else usage
        total["calls"] += paid.calls
        total["tokens"] += paid.prompt_tokens + paid.completion_tokens
        total["seconds"] += paid.seconds
    return total


def vote(store: Store, comparison_id: str, choice: str) -> str:
    """Records which answer is better; returns `with`, `without` or `tie`.

    Raises:
        UsageError: there is no such comparison or choice, or it was voted on: from then on the
            order is known.
    """
    choice = str(choice)
    if choice not in CHOICES:
        raise UsageError(f"{choice!r} is no vote", hint="Say 1, 2 or =")
    found = [c for c in store.questions.comparisons() if c["id"] == comparison_id]
    if not found:
        raise UsageError(
            f"there is no comparison {comparison_id!r}", hint="`ask --compare` makes one"
        )
    if found[0]["vote"]:
        raise UsageError(
            f"{comparison_id} has its vote: {found[0]['vote']}",
            hint="A vote tells which answer was made with thoughts; `ask --compare` asks anew",
        )
    better = "tie" if choice == "=" else "without"
    if choice == str(found[0]["with_thoughts"]):
        better = "with"
    store.questions.vote(comparison_id, better)
    return better


def report(store: Store, thoughts: Sequence[Thought]) -> dict[str, Any]:
    """Votes, and what thoughts cost, with 95% intervals; None where nothing was compared."""
    compared = store.questions.comparisons()
    voted = [c for c in compared if c["vote"]]
    # Where no thought was recalled both were made alike, and a vote tells nothing of thoughts.
    scores = [(c["document"], _SCORE[c["vote"]]) for c in voted if c["used"]]
    paired = [c for c in compared if c["with"] and c["without"]]
    out: dict[str, Any] = {
        "thoughts": len(thoughts),
        "support": {s: sum(t.support == s for t in thoughts) for s in _SUPPORTS},
        "comparisons": len(compared),
        "with_thoughts_in_context": sum(bool(c["used"]) for c in compared),
        "votes": {v: sum(c["vote"] == v for c in voted) for v in _SCORE},
        "win_rate": interval(scores),
    }
    for key in ("calls", "tokens", "seconds"):
        differences = [(c["document"], c["with"][key] - c["without"][key]) for c in paired]
        out[f"more_{key}_a_question"] = interval(differences)
    return out


_SCORE = {"with": 1.0, "tie": 0.5, "without": 0.0}
_SUPPORTS = ("sound", "partial", "stale", "unsupported")


def interval(values: Sequence[tuple[str, float]]) -> dict[str, float | None] | None:
    """The mean and its 95% interval, by drawing groups anew; by values where there is one group.

    Fewer than three drawn from say nothing of others: then `low` and `high` are None.
    """
    if not values:
        return None
    documents = {group for group, _ in values}
    groups: dict[str, list[float]] = {}
    for k, (group, value) in enumerate(values):
        groups.setdefault(group if len(documents) > 1 else str(k), []).append(value)
    names = sorted(groups)
    low, high = _ends(groups, names) if len(names) >= _FEWEST else (None, None)
    return {
        "mean": round(_mean(groups, names), 4),
        "low": low,
        "high": high,
        "questions": len(values),
        "documents": len(documents),
    }


def _ends(groups: dict[str, list[float]], names: Sequence[str]) -> tuple[float, float]:
    rng = random.Random(1)  # noqa: S311 - the same report twice is the same
    means = sorted(_mean(groups, [rng.choice(names) for _ in names]) for _ in range(_DRAWS))
    return round(means[int(0.025 * _DRAWS)], 4), round(means[int(0.975 * _DRAWS)], 4)


def _mean(groups: dict[str, list[float]], names: Sequence[str]) -> float:
    drawn = [value for name in names for value in groups[name]]
    return sum(drawn) / len(drawn)
