"""A library that is used at random until the process dies in the middle of it.

    python tests/crashing.py FOLDER SEED [STATEMENT]

It asks, edits, removes and forgets, one thing after another, and dies by SIGKILL before the
statement with this number is carried out; without one it goes on until somebody else kills it. What
it is about to do and what it has done stands line by line in `FOLDER/log`, for `test_crash.py`.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remembering import answer_given, distilled, document, library
from reread.library import Library
from reread.remembering import exchange
from reread.thoughts import loop
from reread.thoughts.grounding import Verdict, grounded
from reread.types import Call, Document

READING: dict[str, Any] = {"min_words": 10, "max_words": 40, "pagination": "structure"}
NAMES = ("harbour", "quarry", "chapel")
THINGS = "lamp lens bell mill road well gate barn".split()
FILLER = "The weather of that winter was mild, and nobody thought it worth writing of at all."
MOST_STEPS = 400


def word(rng: random.Random) -> str:
    """Letters that stand nowhere else."""
    return "q" + "".join(rng.choice("bcdfghjklmnprstvwz") for _ in range(11))


def fact(rng: random.Random, thing: str, name: str) -> str:
    who, tool, day = word(rng), word(rng), word(rng)
    return f"The {thing} of the {name} was mended by {who} with {tool} on {day}."


def without_note(thought: str, *rest: Any) -> Verdict:
    """Whether a thought stands, its note aside, which no page says and which finds it in a file."""
    return grounded(re.sub(r"^By note \w+: ", "", thought), *rest)


def told(call: Call, rng: random.Random) -> str:
    """A thought in words of its own, so that it can be looked for in the file."""
    answer = answer_given(call)
    return distilled(f"By note {word(rng)}: {answer[0].lower()}{answer[1:]}" if answer else "", 1)


def answer(call: Call) -> str:
    """An answer from the pages shown, which repeats the first note that is shown."""
    material, _, order = call.user.rpartition("\n----\n")
    thing = next((t for t in THINGS if f" {t} " in order), "")
    found = [s for s in material.replace("\n", ". ").split(". ") if s.startswith(f"The {thing} of")]
    noted = [s for s in material.split("\n") if s.startswith("By note ")]
    return " ".join([f.rstrip(".") + "." for f in found[:2]] + noted[:1]) or "NOT IN THE DOCUMENT"


class Life:
    """What is done, one step after another."""

    def __init__(self, folder: Path, rng: random.Random, log: Callable[..., None]) -> None:
        self.rng = rng
        self.log = log
        replies = {"answer": answer, "distil": lambda call: told(call, rng)}
        for checks in (loop, exchange):
            setattr(checks, "grounded", without_note)  # noqa: B010 - it is theirs, not exported
        self.made: Library = library(folder, replies)[0]

    def step(self) -> None:
        asking = (self.ask,) * 4 + (self.ask_several,) * 2 + (self.take,)
        self.rng.choice((*asking, self.forget, self.remove, self.edit))()

    def document(self) -> Document:
        """One of the names as it stands, or with one of its pages written anew."""
        name = self.rng.choice(NAMES)
        known = [i for i, _ in self.made.store.by_origin(f"{name}.txt")]
        facts = [fact(self.rng, thing, name) for thing in self.rng.sample(THINGS, 3)]
        if known and self.rng.random() < 0.6:
            before = self.made.store.document(known[0])
            assert before is not None
            if self.rng.random() < 0.6:
                return before
            facts = [*before.text.split("\n\n")[:2], facts[0]]
        text = "\n\n".join(f if FILLER in f else f"{f} {FILLER}" for f in facts)
        return document(text, f"{name}.txt", name)

    def question(self, *sources: Document) -> str:
        things = [w for s in sources for w in s.text.split() if w in THINGS]
        return f"Who mended the {self.rng.choice(things)} at last, asks {word(self.rng)}?"

    def ask(self) -> None:
        source = self.document()
        self.put(self.question(source), source)

    def ask_several(self) -> None:
        sources = [self.document(), self.document()]
        self.put(self.question(*sources), sources)

    def put(self, question: str, source: Any) -> None:
        self.log("ask", question=question)
        kept = self.made.ask(question, source, **READING).thought_kept
        for text in [self.made.thoughts.get(kept).text] if kept else []:
            self.log("kept", id=kept, text=text, question=question)

    def take(self) -> None:
        for entry in self.chosen(self.made.documents()):
            source = self.made.store.document(entry["id"])
            assert source is not None
            question, answer = self.question(source), source.text.split(". ")[0] + "."
            self.log("ask", question=question)
            taken = self.made.thoughts.take([{"question": question, "answer": answer}])
            assert not taken.unsupported
            for kept in taken.sound:
                text = self.made.thoughts.get(kept).text
                self.log("kept", id=kept, text=text, question=question)

    def forget(self) -> None:
        for thought in self.chosen(self.made.thoughts.all()):
            self.log("forget", id=thought.id)
            self.log("forgotten", ids=self.made.thoughts.forget(thought.id))

    def edit(self) -> None:
        for thought in self.chosen(self.made.thoughts.all()):
            text = f"By note {word(self.rng)} of a user this is so and not otherwise."
            self.log("edit", id=thought.id)
            new = self.made.thoughts.edit(thought.id, text)
            self.log("kept", id=new.id, text=text, question=thought.question)

    def remove(self) -> None:
        for entry in self.chosen(self.made.documents()):
            self.log("remove", id=entry["id"])
            self.made.remove(entry["id"])
            self.log("removed", id=entry["id"])

    def chosen(self, found: list[Any]) -> list[Any]:
        return [self.rng.choice(found)] if found else []


def main(folder: Path, seed: int, statement: int | None) -> None:
    """Lives until it dies."""
    with (folder / "log").open("ab", buffering=0) as file:

        def log(what: str, **about: Any) -> None:
            file.write(json.dumps({"what": what, **about}).encode() + b"\n")

        life = Life(folder, random.Random(seed), log)
        done = 0

        def tick(_: str) -> None:
            nonlocal done
            done += 1
            if done == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        life.made.store._db.set_trace_callback(tick)
        life.log("start")
        for _ in range(MOST_STEPS):
            life.step()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
