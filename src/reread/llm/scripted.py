"""A model without a model: replies come from a function, the same every time.

It ships for tests and for trying the package without weights or a key. `extractive`, the function
it uses unless given another, does each step by simple rules over the prompt it is shown, so
whatever it answers stands in the text.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable

from reread.ports import Capabilities
from reread.text import count_words, estimate_tokens, sentences
from reread.types import Call, Completion

Reply = Callable[[Call], str]
WINDOW_TOKENS = 8_192
_SILENT = "NOT IN THE DOCUMENT"


class Scripted:
    """A model whose replies `reply` makes; it keeps every call it was shown in `calls`."""

    def __init__(
        self,
        reply: Reply | None = None,
        *,
        name: str = "scripted:extractive",
        context_tokens: int = WINDOW_TOKENS,
        workers: int = 1,
        profile: str = "default",
        delay_s: float = 0.0,
    ) -> None:
        self.name = name
        self.calls: list[Call] = []
        self._reply = reply or extractive
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self.capabilities = Capabilities(
            context_tokens=context_tokens, workers=workers, profile=profile
        )

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def complete(self, call: Call) -> Completion:
        with self._lock:
            self.calls.append(call)
        if self._delay_s:
            time.sleep(self._delay_s)
        text = self._reply(call)
        return Completion(
            text=text,
            prompt_tokens=estimate_tokens(call.system) + estimate_tokens(call.user),
            completion_tokens=estimate_tokens(text),
        )


def extractive(call: Call) -> str:
    """A reply made by rule from the prompt's own text."""
    return reply_to(call.phase, call.user)


def reply_to(phase: str, user: str) -> str:
    """The reply to a prompt of the phase, such as `paginate`, `gist`, `lookup` or `answer`."""
    material, _, order = user.rpartition("\n----\n")
    if phase == "paginate":
        last = re.search(r"the last one is number (\d+)", order)
        return json.dumps({"mark": (int(last[1]) + 1) // 2 if last else 1})
    if phase == "merge":
        return "no"
    if phase == "lookup":
        return _look_up(material, order)
    if phase == "whether":
        return "no" if _answer(material, order) == _SILENT else "yes"
    if phase == "answer":
        return _answer(material, order)
    if phase == "distil":
        said = re.search(r"^Answer that was given: (.+)$", material, re.MULTILINE)
        return json.dumps({"thought": said[1] if said else "", "confidence": 1 if said else 0})
    if phase == "questions":
        return "\n".join(_questions(material, order))
    return _shortened(material)


def _shortened(text: str) -> str:
    """The first sentence of each paragraph, up to a third of the words."""
    left = max(8, count_words(text) // 3)
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n", re.sub(r"<[#\d ]+>", "", text)):
        spans = sentences(paragraph)
        if spans and left > 0:
            words = paragraph[spans[0][0] : spans[0][1]].split()[:left]
            kept.append(" ".join(words))
            left -= len(words)
    return " ".join(kept)


def _pages(material: str, tag: str = "Page") -> list[tuple[int, str]]:
    material = re.sub(r"<Note#* \d+>[^\n]*\n", "", material)
    parts = re.split(rf"<{tag}#* (\d+)>\n", material)
    return [(int(n), text) for n, text in zip(parts[1::2], parts[2::2], strict=True)]


def _question(order: str) -> set[str]:
    found = re.search(r"(?:Question: (.+))|\n\n(.+)\n", order)
    return _words(next((g for g in found.groups() if g), "") if found else order)


def _words(text: str) -> set[str]:
    return {w for w in re.findall(r"\w+", text.casefold()) if len(w) > 3}


def _look_up(material: str, order: str) -> str:
    asked = _question(order)
    already = re.search(r"opened in full: ([\d, ]+)\.", order)
    opened = {int(n) for n in re.findall(r"\d+", already[1])} if already else set()
    kind = re.search(r"Which (part|section)s would you", order)
    tagged = _pages(material, kind[1].capitalize()) if kind else _pages(material)
    scored = [(-len(asked & _words(text)), n) for n, text in tagged if n not in opened]
    best = [n for score, n in sorted(scored) if score < 0]
    if "STOP" in order:
        return json.dumps({"page": best[0] if best and not opened else "STOP"})
    return json.dumps({"pages": best[:2]})


def _answer(material: str, order: str) -> str:
    if options := re.findall(r"^([A-Z])\. (.+)$", order, re.MULTILINE):
        held = _words(material)
        letter: str = max(options, key=lambda o: len(_words(o[1]) & held))[0]
        return letter
    asked = _question(order)
    best, where = (0, ""), 0
    for number, text in _pages(material):
        for start, end in sentences(text):
            score = len(asked & _words(text[start:end]))
            if score > best[0]:
                best, where = (score, " ".join(text[start:end].split())), number
    if best[0] < 2:
        return _SILENT
    return best[1] if "exactly" not in order else f'{best[1]}\n[{where}] "{best[1]}"'


def _questions(material: str, order: str) -> list[str]:
    asked = re.search(r"Write (\d+)", order)
    spans = [text for _, page in _pages(material) for text in [page.split(".")[0]]]
    return [f"What is said of {s.strip()}?" for s in spans[: int(asked[1]) if asked else 1]]
