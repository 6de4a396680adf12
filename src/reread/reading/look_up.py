"""Interactive look-up (Section 3.2): which pages to read again for a question.

A memory with levels is descended: parts are named, then what they hold, then pages.

Invariant: only pages of this memory are opened, each once, at most `max_pages`, and only while the
prompt that will hold them still fits the window (Appendix I).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reread.errors import MalformedReply
from reread.reading import replies
from reread.reading.desk import CHOICE_TOKENS, Desk, one_of
from reread.reading.fit import gist_room
from reread.reading.levels import level_of, lower
from reread.reading.render import (
    Tags,
    parts,
    render,
    render_sections,
    seen_first,
    seen_pages,
    tags,
)
from reread.text import sentences
from reread.types import Completion, Fallback, GistMemory, Section

_LIKELY_PAGES = 100
_WARMING = "What is this text about?"
# Whether the answer's prompt fits with these pages opened and these sections shown.
Fits = Callable[[Sequence[int], Sequence[Section]], bool]


@dataclass(slots=True)
class LookUp:
    """What is looked up in which memory, and what came of it.

    `opened` are pages in the order of their importance, `inside` the sections whose pages were
    seen, `fallbacks` what went wrong on the way. `named` says by what each page was found.
    """

    desk: Desk
    memory: GistMemory
    tags: Tags
    question: str
    fits: Fits
    opened: list[int] = field(default_factory=list)
    inside: list[Section] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    named: dict[int, list[str]] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """How many pages may be opened at all."""
        return min(self.desk.settings.max_pages or 0, len(self.memory.pages))

    @property
    def by_words(self) -> bool:
        """Whether pages are also found by the words they share with the question.

        Gists of gists hold few details, so behind levels they always are, and so they are where
        pages have no gists yet.
        """
        return self.desk.profile.look_up != "model" or bool(seen_first(self.memory))

    def visible(self) -> list[int]:
        """The pages whose gists are shown."""
        inside = {n for s in self.inside for n in range(s.first, s.last + 1)}
        return sorted(inside.union(seen_pages(self.memory)))

    def shown(self) -> str:
        """The memory as the next prompt shows it."""
        layout = self.desk.profile.layout
        return render(self.memory, self.tags, self.opened, layout=layout, inside=self.inside)

    def open(self, number: int) -> bool:
        """Opens a page if there is room for it."""
        if self.fits([*self.opened, number], self.inside):
            self.opened.append(number)
            return True
        return False

    def found(self, numbers: Sequence[int], by: str) -> list[int]:
        """The pages again, after noting by what they were found: `model`, `words`, `grounding`."""
        for number in numbers:
            self.named.setdefault(number, []).append(by)
        return list(numbers)

    def failed(self, reason: str) -> None:
        """Records what went wrong."""
        self.fallbacks.append(Fallback(phase="lookup", page=0, reason=reason))


def parallel(look: LookUp) -> LookUp:
    """ReadAgent-P: all pages in one look-up, admitted by importance while they fit."""
    if look.most == 0:
        return look
    wanted: list[int] = []
    if look.desk.profile.look_up != "lexical":
        _descend(look, look.most)
        wanted = _named_by_model(look) if look.visible() else []
    if look.by_words:
        wanted = _interleaved(wanted, _named_by_words(look, look.most))
    for number in wanted:
        if len(look.opened) < look.most:
            look.open(number)
    return look


def sequential(look: LookUp, answer_so_far: Callable[[LookUp, str], str] | None = None) -> LookUp:
    """ReadAgent-S: one page at a time, seeing those already open in place.

    Ends at `max_pages`, on STOP, on a page already open, or when the next page would not fit.
    Where pages are found by words too, the first is the one that shares most with the question,
    without a call. `answer_so_far` makes each step's answer, which the next step sees (the movie
    setting).
    """
    earlier = ""
    if look.by_words and look.most:
        blind = not (look.visible() or look.memory.levels)  # no step after this one could choose
        for found in _named_by_words(look, look.most if blind else 1):
            look.open(found)
    while len(look.opened) < look.most:
        if look.memory.levels and not (_descend(look, 1) or look.memory.view):
            break
        number = _next_page(look, earlier)
        if number is None or not look.open(number):
            break
        if answer_so_far is not None:
            earlier = f"\nYour answer so far: {answer_so_far(look, earlier)}\n"
    return look


def warm(desk: Desk, memory: GistMemory) -> None:
    """Sends one look-up whose reply does not matter: it leaves the gists evaluated and kept."""
    if not memory.pages or desk.profile.look_up == "lexical":
        return
    look = LookUp(desk, memory, tags(memory), _WARMING, lambda opened, inside: False)
    if whole := parts(memory):
        _sections_named(look, look.shown(), len(whole), "part", 1)
    else:
        _named_by_model(look, 1)


# -- pages --------------------------------------------------------------------------------------


def _named_by_model(look: LookUp, most: int | None = None) -> list[int]:
    count, most = len(look.memory.pages), most or look.most
    visible = look.visible()
    values = {
        "memory": look.shown(),
        "question": look.question,
        "most": str(most),
        "pages": str(count),
    }
    if not look.desk.fits("lookup-parallel", values, CHOICE_TOKENS):
        look.failed("the question leaves no room for a look-up")
        return _named_by_words(look, most)

    def parse(reply: Completion) -> list[int]:
        named = replies.pages(reply, count, most)
        legal = [n for n in named if n in visible]
        if named and not legal:
            raise MalformedReply(f"page {named[0]} is not shown", reply=reply.text)
        return legal

    item: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": count}
    if len(visible) < count:
        item = {"type": "integer", "enum": visible}
    try:
        named = look.desk.ask(
            "lookup-parallel",
            values,
            parse,
            max_tokens=CHOICE_TOKENS,
            schema=_list_of("pages", item, most),
            shares=shared(look.memory),
        )
    except MalformedReply as error:
        look.failed(error.message)
        return _named_by_words(look, most)
    return look.found(named, "model")


def _next_page(look: LookUp, earlier: str) -> int | None:
    """The page the model opens next, None when it is none that could be."""
    offered = [n for n in look.visible() if n not in look.opened]
    if not offered:
        return None
    values = {
        "memory": look.shown(),
        "question": look.question,
        "most": str(look.most - len(look.opened)),
        "pages": str(len(look.memory.pages)),
        "read": ", ".join(map(str, sorted(look.opened))) or "none yet",
        "earlier": earlier,
    }
    if not look.desk.fits("lookup-sequential", values, CHOICE_TOKENS):
        look.failed("the pages opened leave no room for another look-up")
        return None
    try:
        number = look.desk.ask(
            "lookup-sequential",
            values,
            replies.next_page,
            max_tokens=CHOICE_TOKENS,
            schema=one_of("page", [*offered, replies.STOP]),
            shares=shared(look.memory),
        )
    except MalformedReply as error:
        look.failed(error.message)
        return None
    return look.found([number], "model")[0] if number in offered else None


def _named_by_words(look: LookUp, most: int) -> list[int]:
    """Pages in the order of their best passage: a sentence with its neighbours, or the gist."""
    pages, gists = look.memory.pages, look.memory.gists
    likely = list(range(len(pages)))
    if len(pages) > _LIKELY_PAGES:  # passages of a whole library would take seconds
        texts = [f"{gist}\n{page.text}" for gist, page in zip(gists, pages, strict=True)]
        ranked = look.desk.rank(texts, look.question)
        likely = sorted(ranked[:_LIKELY_PAGES])
    passages: list[str] = []
    numbers: list[int] = []
    for k in likely:
        found = [gists[k], *_passages(pages[k].text)]
        passages += found
        numbers += [k + 1] * len(found)
    ranked = look.desk.rank(passages, look.question)
    return look.found(list(dict.fromkeys(numbers[k] for k in ranked))[:most], "words")


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


# -- levels -------------------------------------------------------------------------------------


def _descend(look: LookUp, most: int) -> bool:
    """Looks into up to `most` sections of each level; whether pages came into sight by it."""
    memory, whole = look.memory, parts(look.memory)
    if not memory.levels or not whole:
        return False
    chosen = _sections_named(look, look.shown(), len(whole), "part", most)
    found = [whole[k - 1] for k in chosen]
    while high := [s for s in found if level_of(memory, s)]:
        held = [s for above in found for s in (lower(memory, above) if above in high else [above])]
        found = _narrowed(look, held, most)
    before = set(look.visible())
    _look_into(look, found)
    return set(look.visible()) > before


def _narrowed(look: LookUp, sections: list[Section], most: int) -> list[Section]:
    """Those of the sections to look into, the most important first; all where they are few."""
    if len(sections) <= most:
        return sections
    shown = sorted(sections, key=lambda s: s.first)
    text = render_sections(look.memory, look.tags, shown)
    return [shown[k - 1] for k in _sections_named(look, text, len(shown), "section", most)]


def _sections_named(look: LookUp, shown: str, count: int, kind: str, most: int) -> list[int]:
    """Numbers from 1 to `count`, the most important first; empty when none is wanted."""
    most = min(most, count)
    values = {
        "memory": shown,
        "question": look.question,
        "most": str(most),
        "kind": kind,
        "count": str(count),
    }
    if not look.desk.fits("lookup-sections", values, CHOICE_TOKENS):
        look.failed(f"the {kind}s leave no room for a look-up")
        return []
    item = {"type": "integer", "minimum": 1, "maximum": count}
    try:
        named = look.desk.ask(
            "lookup-sections",
            values,
            lambda reply: replies.pages(reply, count, most),
            max_tokens=CHOICE_TOKENS,
            schema=_list_of("pages", item, most),
            shares=shared(look.memory),
        )
    except MalformedReply as error:
        look.failed(error.message)
        return []
    return list(named)


def _look_into(look: LookUp, sections: list[Section]) -> None:
    """Shows the pages of sections while there is room; those with opened pages stay."""
    room = gist_room(look.desk)
    kept = [s for s in look.inside if any(s.first <= n <= s.last for n in look.opened)]
    look.inside = kept
    for section in sections:
        wider = [*look.inside, section]
        text = render(look.memory, look.tags, layout=look.desk.profile.layout, inside=wider)
        if section in look.inside or look.desk.tokens(text) > room:
            continue
        if look.fits(look.opened, wider):
            look.inside = wider


def _list_of(field: str, item: dict[str, object], most: int) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {field: {"type": "array", "items": item, "maxItems": most}},
        "required": [field],
        "additionalProperties": False,
    }


def shared(memory: GistMemory) -> str:
    """The name of the prefix that all calls over this memory's gists share."""
    top = [s.gist for s in seen_first(memory)] or memory.gists
    digest = hashlib.sha256("\0".join(top).encode()).hexdigest()[:16]
    return f"{memory.document.id} {digest}"
