"""`reread ask`: a question about a document, which is read first if it must be."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from reread.cli import common
from reread.errors import UsageError
from reread.evidence import READING, CallMade
from reread.types import Answer, Collection, Piece

if TYPE_CHECKING:
    from rich.console import Console

    from reread.library import Library


def ask(
    source: Annotated[
        str,
        typer.Argument(
            help="Path, folder, URL, arXiv id, -, a document's id or title, or library: for all."
        ),
    ],
    question: Annotated[str, typer.Argument(help="What to answer.")],
    strategy: Annotated[Optional[str], typer.Option(help="parallel, sequential or gists.")] = None,
    max_pages: Annotated[
        Optional[int], typer.Option(min=0, help="Most pages to read again.")
    ] = None,
    choice: Annotated[
        Optional[list[str]], typer.Option(help="An option of a multiple choice; repeat it.")
    ] = None,
    as_json: common.AsJson = False,
    no_thoughts: Annotated[
        bool, typer.Option("--no-thoughts", help="Answer from the document alone, and leave none.")
    ] = False,
    now: Annotated[
        bool,
        typer.Option("--now", help="Do not read on: answer from what was read, and by words."),
    ] = False,
    also: Annotated[
        Optional[list[str]], typer.Option("--also", help="Another source; repeat it.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Say how the answer came about.")] = False,
    thoughts: Annotated[
        Optional[str],
        typer.Option(
            "--thoughts",
            help="Use and leave thoughts: default, everywhere (also those of other documents) or "
            "paper.",
            show_default="profile",
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Answer with and without thoughts, and vote.")
    ] = False,
    embedder: common.EmbedderName = None,
    password: common.Password = None,
    no_ocr: common.NoOcr = False,
    library: common.LibraryPath = None,
    model: common.ModelName = None,
    base_url: common.BaseUrl = None,
    context_tokens: common.ContextTokens = None,
    workers: common.Workers = None,
    timeout: common.Timeout = None,
    budget: common.Budget = None,
    profile: common.Profile = None,
    preset: common.Preset = None,
    min_words: common.MinWords = None,
    max_words: common.MaxWords = None,
    pagination: common.Pagination = None,
    previous_page: common.PreviousPage = None,
    next_paragraph: common.NextParagraph = None,
    kind: common.Kind = None,
    task: common.Task = None,
) -> None:
    """Answer a question about a document, with the pages the answer rests on."""
    chosen = common.settings(
        preset,
        strategy=strategy,
        max_pages=max_pages,
        profile=profile,
        min_words=min_words,
        max_words=max_words,
        pagination=pagination,
        previous_page=previous_page,
        next_paragraph=next_paragraph,
        kind=kind,
        task=task,
    )
    config = {
        "model": model,
        "base_url": base_url,
        "context_tokens": context_tokens,
        "workers": workers,
        "timeout_s": timeout,
        "ocr": "off" if no_ocr else None,
        "embedder": embedder,
    }
    how = False if no_thoughts else thoughts
    if compare and (now or trace or how is not None):
        raise UsageError(
            "--compare reads on, and answers with thoughts and without, so it takes no --now, "
            "--trace, --thoughts or --no-thoughts",
            hint="Leave them out",
        )
    with common.opened(library, chosen, budget=budget, **config) as opened:
        known = source if password is None else opened.load(source, password=password)
        asked = [known, *also] if also else known
        if compare:
            _compare(opened, question, asked, choice or (), as_json)
            return
        screen = None if as_json else Screen.there()
        said: dict[str, Any] = {"options": choice or (), "now": now, "thoughts": how}
        if screen is None:
            answer = opened.ask(question, asked, **said)
        else:
            answer = _shown(opened, screen, question, asked, **said)
    if as_json:
        from reread import wire

        common.out_json(wire.answer(answer, trace=trace))
    else:
        _print(answer, shown=screen is not None)
        if trace:
            _say_trace(answer)
    if isinstance(answer.memory, Collection) and answer.memory.failed:
        raise typer.Exit(3)


def _shown(
    library: Library,
    screen: Screen,
    question: str,
    source: Any,
    **said: Any,
) -> Answer:
    """The answer, shown on the screen as it comes."""
    for event in library.stream(question, source, **said):
        if isinstance(event, Answer):
            screen.end()
            return event
        if isinstance(library.progress, common.Bars):
            library.progress.stop()
        screen.show(event)
    raise AssertionError("unreachable")


class Screen:
    """The part of a terminal that an answer is written on, and written anew where it must be."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown = ""

    @classmethod
    def there(cls) -> Screen | None:
        """The terminal of standard output; None when it is none, or cannot be written on anew."""
        if not sys.stdout.isatty():
            return None
        from rich.console import Console

        console = Console()
        return None if console.is_dumb_terminal else cls(console)

    def show(self, piece: Piece) -> None:
        """Adds a piece, after taking off what stands there if it begins anew."""
        from rich.control import Control
        from rich.segment import ControlType

        if piece.anew and self._shown:
            off: list[Any] = [ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)]
            up: list[Any] = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)]
            self._console.control(Control(*off, *(self._rows() - 1) * up))
            self._shown = ""
        self._shown += piece.text
        sys.stdout.write(piece.text)
        sys.stdout.flush()

    def end(self) -> None:
        """Ends the line."""
        common.out("")

    def _rows(self) -> int:
        from rich.cells import cell_len

        width = max(1, self._console.width)
        return sum(max(1, -(-cell_len(line) // width)) for line in self._shown.split("\n"))


def _compare(
    opened: Library, question: str, source: object, options: Sequence[str], as_json: bool
) -> None:
    """Two answers in an order that is not told, and the vote of whoever sits at the terminal."""
    made = opened.thoughts.compare(question, source, options=options)
    if as_json:
        common.out_json({"comparison": made.id, "answers": [a.text for a in made.answers]})
        return
    for number, answer in enumerate(made.answers, 1):
        common.out(f"{number}: {answer.text}")
    common.say(f"vote with `reread thoughts vote {made.id} 1`, 2, or = for a tie")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    said = typer.prompt("Or now: 1, 2, = or nothing", default="", err=True).strip()
    if said:
        verdict = opened.thoughts.vote(made.id, said)
        common.say(f"{verdict}; answer {made.with_thoughts} was made with thoughts")


def _print(answer: Answer, *, shown: bool) -> None:
    if not shown:
        common.out(answer.text)
    titles: dict[str | None, str] = {}
    if isinstance(answer.memory, Collection):
        titles = {m.document.id: m.document.title for m in answer.memory.members}
    for c in answer.citations:
        title = titles.get(c.document, "")
        place = f"{title}{title and ', '}page {c.page}" + (f", {c.locator}" if c.locator else "")
        mark = "" if c.status == "verified" else f" ({c.status})"
        common.out(f'  [{place}]{mark} "{" ".join(c.quote.split())}"')
    for note in answer.elsewhere:
        others = ", ".join(f"{title} ({document})" for document, title in note.elsewhere)
        common.out(f"  [from {others}] {note.id}: {' '.join(note.text.split())}")
    if answer.memory.provisional:
        common.say(_provisional(answer))
    for line in (*_doubts(answer), *_unlearned(answer), *common.gaps(answer.document.coverage)):
        common.say(line)
    for line in common.warned(answer.warnings, titles):
        common.say(line)
    read = _pages_read(answer)
    used = answer.usage
    thoughts = len(answer.thoughts_used)
    known = f" · {common.many(thoughts, 'thought')} used" if thoughts else ""
    known += f" · left {answer.thought_kept}" if answer.thought_kept else ""
    common.say(
        f"pages read again: {read} · {common.many(used.calls, 'call')}"
        f" ({used.cached_calls} remembered) · {common.many(used.words_in, 'word')} in"
        f" · {used.seconds:.1f} s"
        f" · {common.paid(used)} · {answer.model}{known}"
    )


def _provisional(answer: Answer) -> str:
    """How much of a document was read that was not read to its end."""
    gists = answer.memory.gists
    if not (read := sum(map(bool, gists))):
        return "not read yet: this rests on pages found by words; `reread read` makes it better"
    return (
        f"{read} of {len(gists)} pages read so far: this rests on their gists and on pages found by"
        " words; `reread read` goes on"
    )


_DOUBT = {
    "gist": "rests on a gist only",
    "elsewhere": "known from other documents only",
    "none": "not found in what was read",
}


def _doubts(answer: Answer) -> list[str]:
    """A line for each sentence that no page read in full supports."""
    return [
        f'{_DOUBT[s.support]}: "{common.visible(s.text)}"'
        for s in answer.sentences
        if s.support != "page"
    ]


def _unlearned(answer: Answer) -> list[str]:
    """A line for what went wrong with thoughts while the answer was made."""
    told = {"recall": "no thoughts were recalled", "distil": "no thought was made of this"}
    return [f"{told[f.phase]}: {f.reason}" for f in answer.fallbacks if f.phase in told]


def _say_trace(answer: Answer) -> None:
    trace, memory = answer.trace, answer.memory
    common.say(f"gists seen: pages {_spans(trace.gists) or 'none'}")
    if trace.sections:
        common.say(f"sections looked into: pages {_spans(trace.sections)}")
    for one in trace.opened:
        place = str(one.page)
        if isinstance(memory, Collection):
            member, number = memory.located(one.page)
            place = f"{number} of {member.document.title}"
        common.say(f"page {place} opened, found by {' and '.join(one.by) or 'nothing'}")
    for phase in dict.fromkeys(c.phase for c in trace.calls if c.phase in READING):
        common.say(_summed([c for c in trace.calls if c.phase == phase]))
    if trace.chance is not None:
        common.say(f"how likely the model found it that this answers: {trace.chance:.2f}")
    for call in trace.calls:
        if call.phase in READING:
            continue
        cost = "remembered" if call.cached else f"{call.seconds:.1f} s"
        words = "" if call.cached else f", {call.words_in} words in, {call.words_out} out"
        common.say(f"call {call.phase} ({call.prompt}): {cost}{words}")


def _summed(calls: Sequence[CallMade]) -> str:
    """What the calls of one phase took together."""
    sent = [call for call in calls if not call.cached]
    words = sum(call.words_in for call in sent), sum(call.words_out for call in sent)
    known = len(calls) - len(sent)
    return (
        f"{calls[0].phase}: {common.many(len(calls), 'call')} ({known} remembered), "
        f"{sum(call.seconds for call in sent):.1f} s, {words[0]} words in, {words[1]} out"
    )


def _spans(spans: Sequence[tuple[int, int]]) -> str:
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans)


def _pages_read(answer: Answer) -> str:
    """The pages read in full of all there are; of several documents, those of each by its title."""
    memory = answer.memory
    if not isinstance(memory, Collection):
        return f"{', '.join(map(str, answer.pages_read)) or 'none'} of {len(memory.pages)}"
    by_document: dict[str, list[str]] = {}
    for number in answer.pages_read:
        member, own = memory.located(number)
        by_document.setdefault(member.document.id, []).append(str(own))
    read = [
        f"{', '.join(by_document[m.document.id])} of {len(m.pages)} in {m.document.title}"
        for m in memory.members
        if m.document.id in by_document
    ]
    return "; ".join(read) or f"none in {common.many(len(memory.members), 'document')}"
