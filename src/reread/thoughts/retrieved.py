"""An answer over what was retrieved, as the paper makes it (Section 2.2): no gists, no look-up."""

from __future__ import annotations

from collections.abc import Sequence

from reread.errors import ContextExceeded, UsageError
from reread.evidence import Note, Trace
from reread.reading import Desk, quotes, replies, whether
from reread.reading.marks import Marks
from reread.text import compression_rate, count_words
from reread.thoughts.settings import Manner
from reread.types import Answer, Fallback, GistMemory, Page

_ANSWER_TOKENS = 600
_PROMPT = "answer-thoughts"


def answer(
    desk: Desk, manner: Manner, memory: GistMemory, question: str, items: Sequence[Page | Note]
) -> Answer:
    """The answer from the items, the most like the question first, as many as the budget holds.

    Raises:
        UsageError: the question is empty.
        ContextExceeded: not one item fits the window.
        MalformedReply: the model gave no usable answer twice.
    """
    question = " ".join(question.split())
    if not question:
        raise UsageError("the question is empty", hint="Ask something")
    chosen: list[Page | Note] = []
    left = manner.budget_tokens
    for item in items:
        tokens = desk.tokens(item.text)
        values = {"memory": _rendered([*chosen, item], question), "question": question}
        if tokens <= left and desk.fits(_PROMPT, values, _ANSWER_TOKENS):
            chosen.append(item)
            left -= tokens
    if items and not chosen:
        raise ContextExceeded(
            "nothing that was retrieved fits the window", hint="Use a model with a larger window"
        )
    context = _rendered(chosen, question)
    fallbacks: list[Fallback] = []
    chance = whether.chance(desk, context, question, fallbacks)
    text, named = ("", ()) if whether.silent(desk, chance) else _asked(desk, context, question)
    pages = [item for item in chosen if isinstance(item, Page)]
    notes = [item for item in chosen if isinstance(item, Note)]
    within = {*(p.number for p in pages), *(n for note in notes for n in note.pages)}
    roots = [p for p in memory.pages if p.number in within]
    cited = quotes.cite(named, memory.pages, memory.document)
    if text and not any(c.status != "unverified" for c in cited):
        cited = (*quotes.support(question, text, roots, memory.document), *cited)
    return Answer(
        text=text or replies.NOT_IN_DOCUMENT,
        grounded=bool(text),
        strategy="thoughts",
        pages_read=tuple(sorted(p.number for p in pages)),
        memory=memory,
        citations=cited if text else (),
        compression_rate=compression_rate(count_words(context), memory.document.words),
        thoughts_used=tuple(note.id for note in notes),
        elsewhere=tuple(note for note in notes if note.elsewhere),
        trace=Trace(chance=chance),
        fallbacks=tuple(fallbacks),
        model=desk.model.name,
    )


def _asked(desk: Desk, context: str, question: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """What the model answers, "" for nothing, and the quotes it names."""
    values = {"memory": context, "question": question}
    found: tuple[str, tuple[tuple[int, str], ...]] = desk.ask(
        _PROMPT, values, replies.answer, max_tokens=_ANSWER_TOKENS
    )
    return found


def _rendered(items: Sequence[Page | Note], question: str) -> str:
    texts = [item.text for item in items]
    page, note = (Marks.absent_from([*texts, question], stem=s) for s in ("Page ", "Note "))
    parts: list[str] = []
    noted = 0
    for item in items:
        if isinstance(item, Page):
            parts.append(f"{page(item.number)}\n{item.text.strip()}")
        else:
            noted += 1
            parts.append(f"{note(noted)}\n{item.text}")
    return "\n\n".join(parts)
