"""`reread thoughts`: what was learned from questions, and whether it helped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, get_args

import typer

from reread.cli import common
from reread.errors import UsageError
from reread.types import Support

if TYPE_CHECKING:
    from reread.remembering.tree import Root

app = typer.Typer(
    help="List, show, export, import, edit, forget and judge thoughts.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Id = Annotated[str, typer.Argument(help="A thought's id, or its beginning.")]


@app.command("list")
def list_(
    doc: Annotated[Optional[str], typer.Argument(help="Only those that rest on it.")] = None,
    support: Annotated[
        Optional[str], typer.Option(help="Only sound, partial, stale or unsupported ones.")
    ] = None,
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
) -> None:
    """List thoughts in the order they came, with their level and whether their evidence stands."""
    from reread import wire

    if support not in (None, *get_args(Support)):
        known = ", ".join(get_args(Support))
        raise UsageError(f"there is no support {support!r}", hint=f"Known are {known}")
    with common.opened(library) as opened:
        found = opened.thoughts.all(opened.find(doc) if doc else None)
    found = [t for t in found if support in (None, t.support)]
    if as_json:
        common.out_json([wire.thought(t) for t in found])
        return
    for t in found:
        common.out(f"{t.id}  level {t.level:.2f}, {t.support}: {t.text}")
    if not found and support:
        common.say(f"no thought is {support}")
    elif not found:
        common.say("no thoughts; each question that a document answers leaves one")


@app.command("show")
def show(thought: Id, as_json: common.AsJson = False, library: common.LibraryPath = None) -> None:
    """Show a thought as a tree, down to the quotes of the pages it rests on."""
    from reread import wire

    with common.opened(library) as opened:
        tree = opened.thoughts.tree(thought)
    if as_json:
        common.out_json(wire.tree(tree))
        return
    for line in _lines(tree, 0):
        common.out(line)


def _lines(root: Root, depth: int) -> Iterator[str]:
    lead = "  " * depth
    if root.kind == "page":
        gone = "" if root.current else ", changed since"
        place = f"{root.title} ({root.document}), characters {root.start} to {root.end}{gone}"
        yield f"{lead}page of {place}"
        if root.quote:
            yield f'{lead}  "{" ".join(root.quote.split())}"'
        return
    state = f", {root.thought.support}" if root.thought else ""
    yield f"{lead}{root.kind} {root.id}, level {root.level:.2f}{state}"
    yield f"{lead}  {' '.join(root.text.split())}"
    if root.thought:
        t = root.thought
        yield f"{lead}  asked: {t.question}"
        yield f"{lead}  {t.made} {t.at[:16]} by {t.model or 'another library'}, {t.embedder}"
        if t.lost:
            yield f"{lead}  {t.lost} of what it or its sources rested on is gone"
    if root.above:
        yield f"{lead}  rests on what is shown above"
    for source in root.sources:
        yield from _lines(source, depth + 1)


@app.command("export")
def export(
    file: Annotated[
        Optional[Path], typer.Argument(help="Where to; standard output if none, or -.")
    ] = None,
    library: common.LibraryPath = None,
) -> None:
    """Write all thoughts as JSON lines, each with the places of the pages it rests on."""
    with common.opened(library) as opened:
        lines = [json.dumps(r, ensure_ascii=False) for r in opened.thoughts.export()]
    if file is None or str(file) == "-":
        for line in lines:
            common.out(line)
        return
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    common.say(f"{common.many(len(lines), 'thought')} written to {file}")


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="JSON lines: thoughts, or questions and answers; -.")],
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    embedder: common.EmbedderName = None,
) -> None:
    """Take thoughts, or questions with answers to distil, that others made."""
    config = {"model": model, "base_url": base_url, "embedder": embedder}
    with common.opened(library, None, **config) as opened:
        lines = dict(_records(file))
        taken = opened.thoughts.take(lines.values())
    numbers = list(lines)
    taken.refused = [(numbers[number - 1], reason) for number, reason in taken.refused]
    if as_json:
        common.out_json(asdict(taken))
        return
    for number, reason in taken.refused:
        common.say(f"line {number}: not kept: {' '.join(reason.split())}")
    common.out(
        f"{len(taken.sound)} kept, {len(taken.unsupported)} kept without evidence here, "
        f"{len(taken.known)} known, {len(taken.refused)} not kept"
    )


def _records(file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records by the number of their lines."""
    if file == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        text = Path(file).read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise UsageError(
                f"line {number} of {file} is no JSON object, so nothing was taken",
                hint="One a line",
            )
        yield number, record


@app.command("edit")
def edit(
    thought: Id,
    text: Annotated[str, typer.Argument(help="What it shall say.")],
    library: common.LibraryPath = None,
) -> None:
    """Give a thought other words; what rested on the old ones loses them."""
    with common.opened(library) as opened:
        new = opened.thoughts.edit(thought, text)
    common.out(f"{new.id}  {new.text}")


@app.command("forget")
def forget(
    thought: Annotated[list[str], typer.Argument(help="Ids of thoughts, or their beginnings.")],
    library: common.LibraryPath = None,
) -> None:
    """Forget thoughts and what rested on them alone; nothing of them stays in the library."""
    with common.opened(library) as opened:
        gone = opened.thoughts.forget(*thought)
    for thought_id in gone:
        common.out(f"forgotten {thought_id}")


@app.command("ahead")
def ahead(
    source: Annotated[
        str, typer.Argument(help="Path, URL, arXiv id, or a document's id or title.")
    ],
    questions: Annotated[int, typer.Option(min=1, help="How many questions to make up.")] = 10,
    max_calls: Annotated[
        Optional[int], typer.Option(min=1, help="Most calls to the model for them.")
    ] = None,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    embedder: common.EmbedderName = None,
) -> None:
    """Think ahead of users: make up questions about a document and answer them."""
    config = {"model": model, "base_url": base_url, "embedder": embedder}
    with common.opened(library, None, **config) as opened:
        done = opened.thoughts.ahead(source, questions, max_calls)
    for answer in done.answers:
        common.out(f"{answer.thought_kept or '-'}  {answer.text}")
    kept = sum(bool(a.thought_kept) for a in done.answers)
    made = ((len(done.answers), "question"), (kept, "thought"), (done.calls, "call"))
    common.say(", ".join(common.many(n, noun) for n, noun in made))
    if done.ended_early:
        common.say(f"ended before --max-calls {max_calls} could be exceeded")
        raise typer.Exit(4)


@app.command("vote")
def vote(
    comparison: Annotated[str, typer.Argument(help="The id that `ask --compare` printed.")],
    choice: Annotated[str, typer.Argument(help="1, 2, or = for a tie.")],
    library: common.LibraryPath = None,
) -> None:
    """Say which of two compared answers is better, and learn which was made with thoughts."""
    with common.opened(library) as opened:
        common.out(_VERDICT[opened.thoughts.vote(comparison, choice)])


_VERDICT = {
    "with": "the better one was made with thoughts",
    "without": "the better one was made without thoughts",
    "tie": "a tie",
}


@app.command("report")
def report(
    as_json: common.AsJson = False,
    library: common.LibraryPath = None,
    embedder: common.EmbedderName = None,
) -> None:
    """Say whether thoughts helped over your own questions: votes, calls, tokens, seconds."""
    with common.opened(library, embedder=embedder) as opened:
        found = {**opened.thoughts.report(), "recall": opened.thoughts.calibration()}
    if as_json:
        common.out_json(found)
        return
    support = ", ".join(f"{n} {name}" for name, n in found["support"].items() if n)
    common.out(f"{common.many(found['thoughts'], 'thought')}{': ' if support else ''}{support}")
    recall = found["recall"]
    common.out(f"recall by {recall['embedder']}, redundant from {recall['epsilon']:.3f} on")
    votes = found["votes"]
    common.out(
        f"{common.many(found['comparisons'], 'comparison')}, "
        f"{found['with_thoughts_in_context']} with thoughts in the prompt; votes: "
        f"{votes['with']} with, {votes['without']} without, {votes['tie']} ties"
    )
    for key in (
        "win_rate",
        "more_calls_a_question",
        "more_tokens_a_question",
        "more_seconds_a_question",
    ):
        if value := found[key]:
            known = value["low"] is not None
            within = f"95%: {value['low']:g} to {value['high']:g}" if known else "no interval yet"
            common.out(
                f"{key.replace('_', ' ')}: {value['mean']:g} ({within}; "
                f"{common.many(value['questions'], 'question')}, "
                f"{common.many(value['documents'], 'document')})"
            )
    if not found["comparisons"]:
        common.say("nothing was compared yet; `reread ask SOURCE QUESTION --compare` does")
