"""Interactive look-up (Section 3.2): which pages to read again for a question.

Invariant: only pages of this memory are opened, each once, at most `max_pages`, and only while the
prompt that will hold them still fits the window (Appendix I).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from reread.errors import MalformedReply
from reread.reading import replies
from reread.reading.desk import CHOICE_TOKENS, Desk, one_of
from reread.reading.marks import Marks
from reread.reading.render import render, tags
from reread.text import sentences
from reread.types import Fallback, GistMemory


@dataclass(slots=True)
class LookUp:
    """The pages chosen, in the order of their importance, and what went wrong on the way."""

    opened: list[int] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)


_WARMING = "What is this text about?"
Fits = Callable[[list[int]], bool]  # whether the answer's prompt fits with these pages opened


def parallel(desk: Desk, memory: GistMemory, marks: Marks, question: str, fits: Fits) -> LookUp:
    """ReadAgent-P: all pages in one look-up, admitted by importance while they fit."""
    found = LookUp()
    most = min(desk.settings.max_pages or 0, len(memory.pages))
    if most == 0:
        return found
    wanted: list[int] = []
    if desk.profile.look_up in ("model", "both"):
        wanted = _named_by_model(desk, memory, marks, question, most, found)
    if desk.profile.look_up in ("lexical", "both"):
        wanted = _interleaved(wanted, _named_by_words(desk, memory, question, most))
    for number in wanted:
        if len(found.opened) < most and fits([*found.opened, number]):
            found.opened.append(number)
    return found


def warm(desk: Desk, memory: GistMemory) -> None:
    """Sends one look-up whose reply does not matter: it leaves the gists evaluated and kept."""
    if memory.pages and desk.profile.look_up != "lexical":
        _named_by_model(desk, memory, tags(memory), _WARMING, 1, LookUp())


def _named_by_model(
    desk: Desk, memory: GistMemory, marks: Marks, question: str, most: int, found: LookUp
) -> list[int]:
    count = len(memory.pages)
    values = {
        "memory": render(memory, marks, layout=desk.profile.layout),
        "question": question,
        "most": str(most),
        "pages": str(count),
    }
    if not desk.fits("lookup-parallel", values, CHOICE_TOKENS):
        reason = "the question leaves no room for a look-up"
        found.fallbacks.append(Fallback(phase="lookup", page=0, reason=reason))
        return _named_by_words(desk, memory, question, most)
    schema = {
        "type": "object",
        "properties": {
            "pages": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1, "maximum": count},
                "maxItems": most,
            }
        },
        "required": ["pages"],
        "additionalProperties": False,
    }
    try:
        named = desk.ask(
            "lookup-parallel",
            values,
            lambda reply: replies.pages(reply, count, most),
            max_tokens=CHOICE_TOKENS,
            schema=schema,
            shares=shared(memory),
        )
    except MalformedReply as error:
        found.fallbacks.append(Fallback(phase="lookup", page=0, reason=error.message))
        return _named_by_words(desk, memory, question, most)
    return list(named)


def _named_by_words(desk: Desk, memory: GistMemory, question: str, most: int) -> list[int]:
    """Pages in the order of their best passage: a sentence with its neighbours, or the gist."""
    passages: list[str] = []
    numbers: list[int] = []
    for page, gist in zip(memory.pages, memory.gists, strict=True):
        found = [gist, *_passages(page.text)]
        passages += found
        numbers += [page.number] * len(found)
    return list(dict.fromkeys(numbers[k] for k in desk.rank(passages, question)))[:most]


def _passages(text: str) -> list[str]:
    """Each sentence together with the one before and the one after."""
    spans = sentences(text)
    last = len(spans) - 1
    return [text[spans[max(0, k - 1)][0] : spans[min(last, k + 1)][1]] for k in range(len(spans))]


def _interleaved(first: list[int], second: list[int]) -> list[int]:
    """Both lists taken in turn, each number once: what both name early comes first."""
    both = [n for n in first if n in second[:1]]
    turns = [n for pair in zip(second, first, strict=False) for n in pair]
    return list(dict.fromkeys([*both, *turns, *second, *first]))


def sequential(
    desk: Desk,
    memory: GistMemory,
    marks: Marks,
    question: str,
    fits: Fits,
    answer_so_far: Callable[[list[int], str], str] | None = None,
) -> LookUp:
    """ReadAgent-S: one page at a time, seeing those already open in place.

    Ends at `max_pages`, on STOP, on a page already open, or when the next page would not fit.
    Where the profile looks up by words too, the first page is the one that shares most with the
    question, without a call. `answer_so_far` makes each step's answer, which the next step sees
    (the movie setting).
    """
    found = LookUp()
    count = len(memory.pages)
    most = min(desk.settings.max_pages or 0, count)
    earlier = ""
    if desk.profile.look_up != "model" and most:
        found.opened += [n for n in _named_by_words(desk, memory, question, 1) if fits([n])]
    while len(found.opened) < most:
        offered = [n for n in range(1, count + 1) if n not in found.opened]
        values = {
            "memory": render(memory, marks, found.opened, layout=desk.profile.layout),
            "question": question,
            "most": str(most - len(found.opened)),
            "pages": str(count),
            "read": ", ".join(map(str, sorted(found.opened))) or "none yet",
            "earlier": earlier,
        }
        if not desk.fits("lookup-sequential", values, CHOICE_TOKENS):
            reason = "the pages opened leave no room for another look-up"
            found.fallbacks.append(Fallback(phase="lookup", page=0, reason=reason))
            break
        try:
            number = desk.ask(
                "lookup-sequential",
                values,
                replies.next_page,
                max_tokens=CHOICE_TOKENS,
                schema=one_of("page", [*offered, replies.STOP]),
                shares=shared(memory),
            )
        except MalformedReply as error:
            found.fallbacks.append(Fallback(phase="lookup", page=0, reason=error.message))
            break
        if number not in offered or not fits([*found.opened, number]):
            break
        found.opened.append(number)
        if answer_so_far is not None:
            earlier = f"\nYour answer so far: {answer_so_far(found.opened, earlier)}\n"
    return found


def shared(memory: GistMemory) -> str:
    """The name of the prefix that all calls over this memory's gists share."""
    digest = hashlib.sha256("\0".join(memory.gists).encode()).hexdigest()[:16]
    return f"{memory.document.id} {digest}"
