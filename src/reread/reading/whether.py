"""Whether what a model is shown answers a question, asked before it is to answer.

A small model that is to answer invents sooner than it says that the text is silent; asked about the
text alone it leans the right way, and how far tells more than the word it says.
"""

from __future__ import annotations

from reread.errors import MalformedReply
from reread.reading import replies
from reread.reading.desk import Desk
from reread.types import Fallback

_WORD_TOKENS = 4


def chance(
    desk: Desk, context: str, question: str, fallbacks: list[Fallback], shares: str | None = None
) -> float | None:
    """How likely the model finds it, 0 to 1; None where its profile does not ask, or it says not.

    `shares` is the beginning of `context` that other calls share.
    """
    if not desk.profile.sure:
        return None
    values = {"memory": context, "question": question}
    try:
        found: float = desk.ask(
            "whether",
            values,
            lambda reply: replies.chance(reply, "yes", "no"),
            max_tokens=_WORD_TOKENS,
            shares=shares,
            weighs=("yes", "no"),
        )
    except MalformedReply as error:
        fallbacks.append(Fallback(phase="whether", page=0, reason=error.message))
        return None
    return found


def silent(desk: Desk, told: float | None) -> bool:
    """Whether it is too unlikely for an answer to be asked for."""
    return told is not None and told < desk.profile.sure
