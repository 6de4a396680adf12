"""Reasoning that models write before their reply, taken off its head and nowhere else."""

from __future__ import annotations

import re

_REASONING = re.compile(r"<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSED = re.compile(r"(?s)(?:(?!<think>).)*?\n?</think>[ \t]*\n", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """The reply without a block of reasoning at its head; text further on is left alone."""
    head = text.lstrip()
    if opened := _REASONING.match(head):
        _, closed, rest = head.partition(f"</{opened[1]}>")
        return rest.lstrip() if closed else ""
    # Some templates put the opening tag into the prompt, so only the closing one arrives.
    match = _CLOSED.match(text)
    return text[match.end() :].lstrip() if match else text


def so_far(text: str) -> str:
    """The same of a reply still coming: nothing while its head may yet be such a block."""
    head = text.lstrip()
    if head.startswith("<") and ">" not in head[:12] and len(head) < 12:
        return ""
    return without_reasoning(text)
