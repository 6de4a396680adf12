"""Libraries with scripted models and thoughts, for tests and benchmarks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from reread.config import Config
from reread.library import Library
from reread.llm.scripted import Scripted, reply_to
from reread.text import paragraph_spans
from reread.types import Call, Document, Paragraph

Reply = str | Callable[[Call], str]


def document(text: str, origin: str, title: str = "") -> Document:
    """The text as a document that came by this name."""
    return Document(
        title=title or origin,
        text=text,
        paragraphs=tuple(Paragraph(start=a, end=b) for a, b in paragraph_spans(text)),
        origin=origin,
    )


def library(
    folder: Path,
    replies: Mapping[str, Reply] | None = None,
    *,
    embedder: str = "hashing",
    context_tokens: int = 8_192,
) -> tuple[Library, Scripted]:
    """A library in the folder with a model that answers by rule but where `replies` says else."""
    own = dict(replies or {})

    def reply(call: Call) -> str:
        made = own.get(call.phase)
        if made is None:
            return reply_to(call.phase, call.user)
        return made if isinstance(made, str) else made(call)

    model = Scripted(reply, context_tokens=context_tokens)
    config = Config(home=folder, library=folder / "library.db", embedder=embedder)
    return Library(config=config, model=model), model


def distilled(text: str, confidence: object = 1) -> str:
    """The reply of a model that distils this."""
    return json.dumps({"thought": text, "confidence": confidence})


def answer_given(call: Call) -> str:
    """The answer that a prompt for a thought holds."""
    found = re.search(r"^Answer that was given: (.+)$", call.user, re.MULTILINE)
    return found[1] if found else ""
