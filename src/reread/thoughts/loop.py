"""The loop of Thought-Retriever (Section 2): retrieve, answer, distil, check, merge, remember.

Pure logic: what is retrieved comes from a `ports.Retriever`, what is kept goes to the caller. One
question costs one call more than without thoughts, the one that distils.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reread.evidence import Note
from reread.ports import Hit, Retriever
from reread.reading import Desk
from reread.thoughts.grounding import Evidence, grounded
from reread.thoughts.replies import Distilled, distilled
from reread.thoughts.settings import Manner

_DISTIL_TOKENS = 320


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A thought that may be kept with the items it rests on, or the `reason` why it may not."""

    text: str = ""
    sources: tuple[int, ...] = ()
    reason: str = ""


def recall(
    manner: Manner, retriever: Retriever, question: str, among: Collection[int] | None
) -> list[Hit]:
    """The items most like the question, pages and thoughts together, the best first."""
    if among is not None and not among:
        return []
    hits = retriever.nearest(retriever.encode(question, "query"), manner.k, among)
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score > 0 and hit.score >= manner.nearness * best]


def within_budget(desk: Desk, manner: Manner, notes: Sequence[Note]) -> list[Note]:
    """The notes that fit the budget of tokens, in their order; one that does not is passed over."""
    left, kept = manner.budget_tokens, list[Note]()
    for note in notes:
        tokens = desk.tokens(note.text)
        if tokens <= left:
            kept.append(note)
            left -= tokens
    return kept


def propose(
    desk: Desk,
    manner: Manner,
    question: str,
    answer: str,
    shown: str,
    evidence: Sequence[Evidence],
    beside: str = "",
) -> Proposal:
    """What a question and its answer teach, distilled by one call and checked.

    Args:
        desk: The model and its prompts.
        manner: Which prompt, and whether evidence is asked for.
        question: As it was put.
        answer: As it was given.
        shown: The passages that the model sees, where the prompt shows any.
        evidence: What the thought is checked against, or, without grounding, all that was
            retrieved.
        beside: What else the answer's author was shown.

    Raises:
        ModelError: the model does not answer, or twice not with a thought.
    """
    values = {"question": question, "answer": answer}
    if "evidence" in desk.prompts[manner.distil].variables:
        values["evidence"] = shown
    made: Distilled = desk.ask(
        manner.distil, values, distilled, max_tokens=_DISTIL_TOKENS, schema=_SCHEMA
    )
    if not made.confident:
        return Proposal(text=made.text, reason="the model does not stand by it")
    if not manner.grounding:
        return Proposal(text=made.text, sources=tuple(e.item for e in evidence))
    verdict = grounded(made.text, question, evidence, beside)
    if verdict.reason:
        return Proposal(text=made.text, reason=verdict.reason)
    return Proposal(text=made.text, sources=tuple(sorted(verdict.items)))


_SCHEMA = {
    "type": "object",
    "properties": {
        "thought": {"type": "string"},
        "confidence": {"type": "integer", "enum": [0, 1]},
    },
    "required": ["thought", "confidence"],
    "additionalProperties": False,
}


def too_far(manner: Manner, sources: Sequence[int], levels: Mapping[int, float], raw: int) -> str:
    """Why a thought on these sources stands too far from pages, "" when it does not.

    `raw` is how many of them are pages or gists.
    """
    level = level_of([levels[n] for n in sources])
    if level > manner.level_cap:
        return f"it would have level {level:.2f}, above {manner.level_cap:g}"
    if sources and raw / len(sources) < manner.raw_share:
        return f"only {raw} of its {len(sources)} sources are pages"
    return ""


def level_of(levels: Sequence[float]) -> float:
    """The level of an item on sources of these levels: their mean plus 1; 1 without any."""
    return sum(levels) / len(levels) + 1 if levels else 1.0
