"""What the verbs share: options, the library they open, progress, and how results are printed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from reread.errors import ContextExceeded, DocumentError, MalformedReply
from reread.evidence import Suspicion
from reread.ports import Step
from reread.types import Coverage, Settings, Usage

if TYPE_CHECKING:
    from reread.library import Library

_MOST_LISTED = 12
# What is wrong with one source and says nothing about the next.
OF_ONE_SOURCE = (DocumentError, MalformedReply, ContextExceeded)
LibraryPath = Annotated[
    Optional[Path],
    typer.Option("--library", help="The library file.", show_default="in REREAD_HOME"),
]
ModelName = Annotated[
    Optional[str],
    typer.Option("--model", help="openai:NAME, local:NAME or scripted:extractive."),
]
EmbedderName = Annotated[
    Optional[str],
    typer.Option("--embedder", help="minilm, openai:NAME, st:NAME, hashing or lexical."),
]
BaseUrl = Annotated[Optional[str], typer.Option("--base-url", help="Endpoint of openai: models.")]
ContextTokens = Annotated[
    Optional[int], typer.Option("--context-tokens", min=1, help="The model's window, in tokens.")
]
Workers = Annotated[
    Optional[int], typer.Option("--workers", min=1, help="Calls in flight at once.")
]
Timeout = Annotated[
    Optional[float],
    typer.Option(
        "--timeout", min=0.1, help="Seconds a reply may be silent; ten times that at first."
    ),
]
Password = Annotated[
    Optional[str], typer.Option("--password", help="Opens a locked file.", show_default=False)
]
NoOcr = Annotated[
    bool, typer.Option("--no-ocr", help="Leave pictures of text alone (REREAD_OCR=off).")
]
Budget = Annotated[
    Optional[str],
    typer.Option("--budget", help="Most to spend: 0.50usd, 200000tokens or 500calls."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Profile = Annotated[Optional[str], typer.Option("--profile", help="paper, default or embedded.")]
Preset = Annotated[
    Optional[str], typer.Option("--preset", help="quality, qmsum, gutenberg or movie.")
]
MinWords = Annotated[Optional[int], typer.Option("--min-words", help="Shortest page, in words.")]
MaxWords = Annotated[Optional[int], typer.Option("--max-words", help="Longest page, in words.")]
Pagination = Annotated[
    Optional[str], typer.Option("--pagination", help="model, uniform or structure.")
]
PreviousPage = Annotated[
    Optional[bool],
    typer.Option("--previous-page/--no-previous-page", help="Show the page before while pausing."),
]
Kind = Annotated[
    Optional[str],
    typer.Option("--kind", help="What the text is: general, code, contract, meeting, …"),
]
Task = Annotated[
    Optional[str], typer.Option("--task", help="What the gists will be used for; they keep it.")
]
NextParagraph = Annotated[
    Optional[bool],
    typer.Option("--next-paragraph/--no-next-paragraph", help="Show what follows while pausing."),
]


def settings(preset: str | None, **said: Any) -> Settings:
    """Settings from a preset and what was said on the command line, which wins."""
    from reread.reading import preset as named

    base = named(preset) if preset else Settings()
    return replace(base, **{k: v for k, v in said.items() if v is not None})


@contextmanager
def opened(
    path: Path | None,
    chosen: Settings | None = None,
    *,
    budget: str | None = None,
    **config: Any,
) -> Iterator[Library]:
    """The library the options name, closed afterwards; progress is drawn on a terminal."""
    from reread import config as configuration
    from reread.library import Library

    with drawn() as progress:
        library = Library(
            config=configuration.load(library=path, **config),
            settings=chosen,
            progress=progress,
            budget=budget,
        )
        try:
            yield library
        finally:
            library.close()


def expanded(library: Library, named: str, results: list[dict[str, Any]]) -> list[str]:
    """The sources that a name stands for; when there are none, that is said and put down."""
    try:
        return library.sources(named)
    except DocumentError as error:
        results.append({"source": named, "error": error.line})
        say(f"reread: {error.line}")
        return []


class Bars:
    """A listener that draws a bar with an ETA for each phase, until it is stopped."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        # Results keep their own stream: rich would send what is printed meanwhile to standard
        # error.
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._tasks: dict[str, Any] = {}
        self._bars.start()

    def __call__(self, step: Step) -> None:
        if step.phase not in self._tasks:
            self._tasks[step.phase] = self._bars.add_task(step.phase, total=step.total, note="")
        meter = f"{used(step.usage)} so far" if step.usage else ""
        note = " · ".join(filter(None, (step.note, meter)))
        self._bars.update(self._tasks[step.phase], completed=step.done, total=step.total, note=note)

    def stop(self) -> None:
        """Takes the bars off the terminal."""
        self._bars.stop()


@contextmanager
def drawn() -> Iterator[Bars | None]:
    """Bars on a terminal's standard error, None in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    bars = Bars()
    try:
        yield bars
    finally:
        bars.stop()


def gaps(coverage: Coverage) -> list[str]:
    """What of a document was not read or not surely, a line a kind of reason."""
    lines = [f"not read: {part}: {reason}" for part, reason in coverage.failed]
    if coverage.without_text:
        remedy = f" ({coverage.remedy})" if coverage.remedy else ""
        lines.append(f"without text: {_listed(coverage.without_text)}{remedy}")
    if coverage.recognised:
        lines.append(f"letters may be wrong, read from pictures: {_listed(coverage.recognised)}")
    return lines


def warned(
    warnings: Sequence[Suspicion], titles: Mapping[str | None, str] | None = None
) -> list[str]:
    """A line when something in a document speaks to the model; empty when nothing does.

    `titles` are those of several documents, by id.
    """
    if not warnings:
        return []
    of = {key: f" of {title}" for key, title in (titles or {}).items()}
    pages = _listed(tuple(dict.fromkeys(f"{w.page}{of.get(w.document, '')}" for w in warnings)))
    first = warnings[0]
    return [
        f"speaks to the model on page {pages}, read as text like any other: "
        f'{first.kind} "{visible(first.text)}"'
    ]


def visible(text: str) -> str:
    """The text on one line, without what would change how a terminal shows it."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def _listed(parts: tuple[str, ...]) -> str:
    if len(parts) <= _MOST_LISTED:
        return ", ".join(parts)
    return f"{', '.join(parts[:_MOST_LISTED])} and {len(parts) - _MOST_LISTED} more"


def many(count: int, noun: str) -> str:
    """The count with its noun: `1 page`, `2,508 words`."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def used(usage: Usage) -> str:
    """Calls, tokens and cost, for people."""
    calls = many(usage.calls, "call")
    if usage.cached_calls:
        calls += f" ({usage.cached_calls:,} remembered)"
    return f"{calls}, {paid(usage)}"


def paid(usage: Usage) -> str:
    """Tokens and cost, for people; a cost that is not known is said to be so."""
    tokens = f"{usage.prompt_tokens + usage.completion_tokens:,} tokens"
    kinds = (("cached", usage.cached_tokens), ("reasoning", usage.reasoning_tokens))
    if told := ", ".join(f"{count:,} {kind}" for kind, count in kinds if count):
        tokens += f" ({told})"
    return f"{tokens}, {'price not known' if usage.cost is None else dollars(usage.cost)}"


def dollars(amount: float) -> str:
    """US dollars with as many digits as the amount needs: $0, $0.0012, $1.25."""
    if amount == 0:
        return "$0"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"


def say(text: str) -> None:
    """A line for people, on standard error."""
    print(text, file=sys.stderr)


def out(text: str) -> None:
    """A line of the result, on standard output."""
    print(text)


def out_json(value: Any) -> None:
    """A result as JSON, on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def seconds(started: float) -> str:
    """The time since `started`, for people."""
    return f"{time.monotonic() - started:.1f} s"
