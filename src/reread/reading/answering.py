"""Response (Section 3.2): the question asked once more over gists and opened pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reread.errors import ContextExceeded, MalformedReply, UsageError
from reread.evidence import Note, Opened, Trace
from reread.reading import look_up, quotes, replies, whether
from reread.reading.desk import Desk, one_of
from reread.reading.fit import fitted
from reread.reading.grounding import Grounds, grounds, with_citations
from reread.reading.look_up import LookUp
from reread.reading.render import Tags, render, tags
from reread.reading.render import notes as render_notes
from reread.reading.suspicion import suspicions
from reread.reading.view import viewed
from reread.text import compression_rate, count_words
from reread.types import Answer, Citation, Fallback, GistMemory, Section

_FREE_TOKENS, _SHORT_TOKENS, _CHOICE_TOKENS = 600, 160, 64
_MOST_OPTIONS = 26
Hear = Callable[[str], None] | None


def answer(
    desk: Desk,
    memory: GistMemory,
    question: str,
    options: Sequence[str] = (),
    hear: Hear = None,
    notes: Sequence[Note] = (),
) -> Answer:
    """The answer to the question, or the one option of a multiple choice.

    `hear` is told the last reply as it comes, in the form that the model gives it. `notes` are what
    thoughts know of it, the most useful first: as many as fit stand beside gists and pages in the
    answer's own prompt. Without notes nothing differs.

    Raises:
        UsageError: the question or an option is empty, or there is one option or more than 26.
        ContextExceeded: the question alone does not fit the window.
        MalformedReply: the model gave no usable answer twice.
    """
    question = " ".join(question.split())
    if not question:
        raise UsageError("the question is empty", hint="Ask something")
    _check(options)
    memory = _fitted(desk, memory, question)
    reply = _Reply(desk, memory, tags(memory, question, *options), question, tuple(options))
    if not reply.fits([], []):
        raise ContextExceeded(
            f"the question of {count_words(question)} words does not fit the model's window",
            hint="Ask a shorter question or use a model with a larger window",
        )
    for note in notes:
        more = replace(reply, notes=(*reply.notes, note))
        more.tags = tags(memory, question, *options, *(n.text for n in more.notes))
        if not more.fits([], []):
            break
        reply = more
    found = _look_up(reply)
    given = _grounded(reply, found, _given(reply, found, hear), hear)
    opened = tuple(sorted(found.opened))
    citations = _citations(memory, question, given, opened, reply.notes)
    return Answer(
        text=given.text or replies.NOT_IN_DOCUMENT,
        grounded=given.grounds.any,
        strategy=desk.settings.strategy or "parallel",
        pages_read=opened,
        memory=memory,
        citations=citations,
        sentences=with_citations(given.grounds.sentences, citations),
        trace=_trace(found, given.chance),
        choice=given.choice,
        compression_rate=compression_rate(
            count_words(reply.context(found.opened, found.inside)), memory.document.words
        ),
        thoughts_used=tuple(note.id for note in reply.notes),
        elsewhere=tuple(note for note in reply.notes if note.elsewhere),
        fallbacks=tuple(found.fallbacks),
        model=desk.model.name,
    )


def _check(options: Sequence[str]) -> None:
    wrong = ""
    if len(options) == 1:
        wrong = "one option leaves no choice"
    elif len(options) > _MOST_OPTIONS:
        wrong = f"{len(options)} options are too many"
    elif len(set(options)) != len(options):
        wrong = "two options are the same"
    elif not all(option.strip() for option in options):
        wrong = "an option is empty"
    if wrong:
        raise UsageError(wrong, hint=f"Give 2 to {_MOST_OPTIONS} different ones")


def _fitted(desk: Desk, memory: GistMemory, question: str) -> GistMemory:
    """The memory as the question is shown it."""
    made = memory if memory.provisional else fitted(desk, memory)
    if len(made.pages) < len(memory.pages):  # merged: what was found stands on other pages
        made = replace(made, warnings=suspicions(made.pages))
    return viewed(desk, made, question)


@dataclass(frozen=True, slots=True)
class _Given:
    """What the model answered: the text, its quotes checked, its choice, and what it rests on."""

    text: str
    quoted: tuple[Citation, ...]
    choice: int | None
    grounds: Grounds
    chance: float | None = None


def _given(reply: _Reply, look: LookUp, hear: Hear) -> _Given:
    chance = reply.chance(look)
    if whether.silent(reply.desk, chance):
        return _Given("", (), None, Grounds(()), chance)
    text, named, choice = reply.over(look, hear=hear)
    memory = reply.memory
    quoted = quotes.cite(named, memory.pages, memory.document) if text else ()
    return _Given(text, quoted, choice, _grounds(reply, look, text, quoted), chance)


def _grounds(reply: _Reply, look: LookUp, text: str, quoted: tuple[Citation, ...]) -> Grounds:
    visible = look.visible()
    return grounds(reply.question, text, quoted, reply.memory, look.opened, visible, reply.notes)


def _grounded(reply: _Reply, look: LookUp, given: _Given, hear: Hear) -> _Given:
    """The answer, given once more when pages were read that it rested on by their gists alone."""
    settings = reply.desk.settings
    if not reply.desk.profile.read_support or settings.strategy == "gists":
        return given
    before = len(look.opened)
    for number in look.found(given.grounds.unread, "grounding"):
        if len(look.opened) < look.most:
            look.open(number)
    if len(look.opened) == before:
        return given
    try:
        return _given(reply, look, hear)
    except MalformedReply as error:
        look.fallbacks.append(Fallback(phase="answer", page=0, reason=error.message))
        return replace(given, grounds=_grounds(reply, look, given.text, given.quoted))


def _trace(look: LookUp, chance: float | None) -> Trace:
    """Which gists were seen, which sections looked into, which pages opened and why."""
    spans: list[tuple[int, int]] = []
    for number in look.visible():
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return Trace(
        gists=tuple(spans),
        sections=tuple((s.first, s.last) for s in look.inside),
        opened=tuple(
            Opened(page=n, by=tuple(dict.fromkeys(look.named.get(n, ())))) for n in look.opened
        ),
        chance=chance,
    )


def _look_up(reply: _Reply) -> LookUp:
    desk = reply.desk
    look = LookUp(desk, reply.memory, reply.tags, reply.question, reply.fits)
    if desk.settings.strategy == "parallel":
        return look_up.parallel(look)
    if desk.settings.strategy == "sequential":
        each_step = reply.so_far if desk.settings.answer_each_step else None
        return look_up.sequential(look, each_step)
    return look


@dataclass(slots=True)
class _Reply:
    """The last call of a question: how its prompt is made, whether it fits, what comes back."""

    desk: Desk
    memory: GistMemory
    tags: Tags
    question: str
    options: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    def context(self, opened: Sequence[int], inside: Sequence[Section]) -> str:
        """The memory with the pages opened, given in the order of importance or of opening.

        Notes stand last, so that all before them is shared by every question.
        After the gists, the most important page stands last, nearest to the question; pages that
        were opened one by one stand in that order, so each step shares all before it.
        """
        one_by_one = self.desk.settings.strategy == "sequential"
        ordered = list(opened) if one_by_one else list(reversed(opened))
        layout = self.desk.profile.layout
        text = render(self.memory, self.tags, ordered, layout=layout, inside=inside)
        noted = render_notes(self.memory, self.notes, self.question, *self.options)
        return f"{text}\n\n{noted}" if noted else text

    def fits(self, opened: Sequence[int], inside: Sequence[Section]) -> bool:
        """Whether the prompt over these pages fits, an earlier answer included if one comes."""
        room = self._room() * (2 if self.desk.settings.answer_each_step else 1)
        return self.desk.fits(self._prompt(), self._values(self.context(opened, inside), ""), room)

    def so_far(self, look: LookUp, earlier: str) -> str:
        return self.over(look, earlier)[0] or replies.NOT_IN_DOCUMENT

    def chance(self, look: LookUp) -> float | None:
        """How likely the model finds it that what is shown answers; None where it is not asked."""
        if self.options:
            return None
        context = self.context(look.opened, look.inside)
        shares = look_up.shared(self.memory)
        return whether.chance(self.desk, context, self.question, look.fallbacks, shares)

    def over(
        self,
        look: LookUp,
        earlier: str = "",
        hear: Callable[[str], None] | None = None,
    ) -> tuple[str, tuple[tuple[int, str], ...], int | None]:
        """The answer's text, the quotes it names, and the option chosen, over the pages."""
        values = self._values(self.context(look.opened, look.inside), earlier)
        shares = look_up.shared(self.memory)
        if not self.options:
            text, named = self.desk.ask(
                self._prompt(),
                values,
                replies.answer,
                max_tokens=self._room(),
                shares=shares,
                hear=hear,
            )
            return text, named, None
        letters = replies.option_letters(len(self.options))
        chosen = self.desk.ask(
            self._prompt(),
            values,
            lambda reply: replies.choice(reply, self.options),
            max_tokens=self._room(),
            schema=one_of("choice", letters),
            shares=shares,
        )
        return self.options[chosen], (), chosen

    def _prompt(self) -> str:
        return "answer-choice" if self.options else self.desk.profile.answer

    def _room(self) -> int:
        if self.options:
            return _CHOICE_TOKENS
        return _FREE_TOKENS if self.desk.profile.answer == "answer-free" else _SHORT_TOKENS

    def _values(self, context: str, earlier: str) -> dict[str, str]:
        values = {"memory": context, "question": self.question, "earlier": earlier}
        if self.options:
            letters = replies.option_letters(len(self.options))
            lines = [f"{a}. {o}" for a, o in zip(letters, self.options, strict=True)]
            values["options"] = "\n".join(lines)
        return values


def _citations(
    memory: GistMemory,
    question: str,
    given: _Given,
    opened: tuple[int, ...],
    notes: tuple[Note, ...],
) -> tuple[Citation, ...]:
    """Quotes the model gave, checked; where it gave none that stands, sentences found by rule.

    These come from the pages opened and from those that the notes shown were made from. An answer
    that nothing supports cites nothing; for one that only other documents support, none are found.
    """
    if not given.grounds.any:
        return ()
    here = any(s.support in ("page", "gist") for s in given.grounds.sentences)
    if not here or any(c.status != "unverified" for c in given.quoted):
        return given.quoted
    shown = {*opened, *(number for note in notes for number in note.pages)}
    pages = [p for p in memory.pages if p.number in shown] or list(memory.pages)
    found = quotes.support(question, given.text, pages, memory.document)
    return (*found, *given.quoted)
