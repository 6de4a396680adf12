"""The library: the one place that puts documents, models, store and reading together.

Everything is done through it: the command line and whatever else serves people know only this.
Making a library touches nothing; the file is opened by the first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reread import config as configuration
from reread import documents, estimating, parallel, reading
from reread.errors import (
    DocumentError,
    SourceNotFound,
    UsageError,
)
from reread.estimating import Estimate
from reread.llm.budget import Purse
from reread.llm.wrappers import Cached, Meter, Metered
from reread.ports import Learning, Model
from reread.reading import Desk, Shown
from reread.remembering import Thoughts
from reread.shelf import Shelf, recognition
from reread.store.books import DocumentCalls
from reread.store.lexical import rank
from reread.text import clean
from reread.types import Answer, Collection, Document, GistMemory, Piece, Usage, Work

if TYPE_CHECKING:
    from reread.llm.probe import Report

Source = GistMemory | Document | str | Path
_SHELF = "library:"  # stands for what the library holds
_MOST_MEMBERS = (
    30  # documents asked at once; of more, those that share most words with the question
)


class Library(Shelf):
    """Documents that were read, and the way to ask about them.

    Args:
        path: The library file; None for the one in the home folder.
        model: `openai:NAME`, `local:NAME` or `scripted:extractive`, or a model of your own; None
            for `REREAD_MODEL` or what is found.
        settings: How to read and ask; what they leave open is chosen for each document.
        config: The surroundings; None reads environment and `config.toml`.
        progress: Told how far each piece of work is.
        budget: The most that all work of this object may take: `0.50usd`, `200000tokens` or
            `500calls`; None for no limit.

    Raises:
        UsageError: the budget is none.
    """

    # -- reading --------------------------------------------------------------------------------

    def read(self, source: str | Path | Document, **settings: Any) -> GistMemory:
        """The gist memory of a document, read now unless it was read before in the same way.

        Keyword arguments are fields of `Settings`. Nothing is paid twice: a finished memory is
        taken from the library, an interrupted one goes on where it stopped, and of a file that
        was changed since it was read, the pages that are still the same are kept.

        Raises:
            Error: see `reread.errors`.
        """
        return self._read(source, settings, Meter())

    def _read(self, source: Source, settings: dict[str, Any], meter: Meter) -> GistMemory:
        if isinstance(source, GistMemory):
            return source
        document = source if isinstance(source, Document) else self.load(source)
        calls = self.store.calls(document.id)
        model = self._paying(calls, meter)

        def once() -> GistMemory:
            desk, known, earlier = self._plan(document, settings, model, meter)
            self.store.add_document(document)
            if known is not None:
                answered = known.usage.calls + known.usage.cached_calls
                return replace(known, usage=Usage(cached_calls=answered))
            memory = replace(reading.read(desk, document, earlier), usage=meter.usage())
            self.store.put_memory(reading.memory_key(desk, document), memory)
            return memory

        return self._done(self._replanned(once), calls)

    def _plan(
        self, document: Document, settings: dict[str, Any], model: Model, meter: Meter
    ) -> tuple[Desk, GistMemory | None, GistMemory | None]:
        """The desk to read at, the memory if it is finished already, and an earlier version's."""
        before = self._version_before(document)
        desk = self._desk(document, settings, model, meter)
        known = self._finished(desk, document)
        if known is None and before is not None:
            desk = self._desk(document, settings, model, meter, like=before)
            known = self._finished(desk, document)
        return desk, known, self._finished(desk, before.document) if before else None

    def _finished(self, desk: Desk, document: Document) -> GistMemory | None:
        return self.store.memory(reading.memory_key(desk, document), document)

    def _version_before(self, document: Document) -> GistMemory | None:
        """The newest memory of other content that the document's name stood for."""
        if document.origin == "-":  # what comes in by standard input may be anything
            return None
        for document_id in self.store.versions(document.origin):
            other = self.store.document(document_id) if document_id != document.id else None
            if other and (memories := self.store.memories(other)):
                return memories[0]
        return None

    def memory(self, name: str) -> GistMemory:
        """The newest finished memory of a document in the library.

        Raises:
            SourceNotFound: the document is not there, or was never read to its end.
        """
        document = self.find(name)
        memories = self.store.memories(document)
        if not memories:
            raise SourceNotFound(
                f"{document.title!r} has not been read to its end", hint="Run `reread read` first"
            )
        return memories[0]

    def memories(self, document: Document) -> list[GistMemory]:
        """All finished memories of a document, the newest first."""
        return self.store.memories(document)

    def ask(
        self,
        question: str,
        source: Source | Sequence[Source],
        *,
        options: Sequence[str] = (),
        now: bool = False,
        thoughts: bool | str | None = None,
        **settings: Any,
    ) -> Answer:
        """The answer to a question about a document, which is read first if it must be.

        Of several documents, those to look into are chosen by their own gists. Citations then name
        the document, and their pages and offsets are that document's.

        Args:
            question: What to answer.
            source: A memory, a document, or anything `load` takes; a folder, a pattern or a
                sequence of these for several; `library:` for all that was read, `library:WORDS`
                for those whose title holds these words.
            options: The options of a multiple-choice question.
            now: Whether a document that was not read to its end is answered about at once, from the
                gists there are so far and from pages that share words with the question. The
                answer's memory is then `provisional`.
            thoughts: Whether thoughts are used and left; None for what suits the model, and a name
                such as `paper` says in which manner: `everywhere` also recalls thoughts of other
                documents, which `Answer.elsewhere` then names.
            settings: Fields of `Settings`, such as `strategy` and `max_pages`.

        Raises:
            Error: see `reread.errors`.
        """
        return self._ask(question, source, options, settings, now=now, thoughts=thoughts)

    def stream(
        self,
        question: str,
        source: Source | Sequence[Source],
        *,
        options: Sequence[str] = (),
        now: bool = False,
        thoughts: bool | str | None = None,
        **settings: Any,
    ) -> Iterator[Piece | Answer]:
        """The pieces of an answer's text as they come, and at last the same answer as by `ask`.

        The answer's text is that of the pieces since the last that began `anew`. Stopping the
        generator stops the work within a moment; what was finished is kept.
        """

        def work(emit: Callable[[Piece], None]) -> Answer:
            shown = Shown(emit)
            answer = self._ask(
                question, source, options, settings, shown.hear, now=now, thoughts=thoughts
            )
            shown.finish(answer.text)
            return answer

        return parallel.streamed(work)

    def _ask(
        self,
        question: str,
        source: Source | Sequence[Source],
        options: Sequence[str],
        settings: dict[str, Any],
        hear: Callable[[str], None] | None = None,
        *,
        now: bool,
        thoughts: bool | str | None,
    ) -> Answer:
        meter = Meter()
        if not all(isinstance(said, str) for said in (question, *options)):
            raise UsageError("the question or an option is no text", hint="Give a str")
        question, options = clean(question), [clean(option) for option in options]
        if thoughts == "paper":
            memory = self._unread(question, source)
        elif now:
            memory = self._at_once(question, source, settings, meter)
        else:
            memory = self._memory_of(question, source, settings, meter)
        if not isinstance(memory, Collection):
            self.store.add_document(memory.document)
        settings.setdefault("profile", memory.settings.profile)
        settings.setdefault("answer_each_step", memory.settings.answer_each_step)

        calls = self._calls_about(memory, question)
        model = self._paying(calls, meter)

        def answered() -> Answer:
            desk = self._desk(memory.document, settings, model, meter)
            how = desk.profile.thoughts if thoughts is None else thoughts
            if how and not memory.provisional:  # else its pages are no items to rest on yet
                manner = how if isinstance(how, str) else "default"
                return self.thoughts.ask(memory, question, options, manner, desk, calls, hear)
            return reading.answer(desk, memory, question, options, hear)

        answer = self._done(self._replanned(answered), calls)
        trace = replace(answer.trace, calls=meter.calls())
        answer = replace(answer, usage=meter.usage(), trace=trace)
        if isinstance(answer.memory, Collection):
            found = tuple(reading.traced_back(answer.memory, c) for c in answer.citations)
            return replace(answer, citations=found)
        return answer

    def _at_once(
        self,
        question: str,
        source: Source | Sequence[Source],
        settings: dict[str, Any],
        meter: Meter,
    ) -> GistMemory:
        """The finished memory of a source, or what was read of it so far; none of it is read on."""
        found, several = self._meant(question, source)
        if not several:
            return self._so_far(found[0], settings)
        members, failed = self._each(found, lambda one: self._so_far(one, settings))
        if any(member.provisional for member in members):
            return replace(reading.joined(members, failed), provisional=True)
        return self._collected(found, settings, meter)

    def _so_far(self, source: Source, settings: dict[str, Any]) -> GistMemory:
        """What was read of a document up to now; nothing is sent."""
        if isinstance(source, GistMemory):
            return source
        document = source if isinstance(source, Document) else self.load(source)
        meter = Meter()
        calls = self.store.calls(document.id)
        silent = reading.Silent(self._paying(calls, meter))
        kept = Cached(silent, estimating.Unwritten(calls))
        desk, known, earlier = self._plan(document, settings, kept, meter)
        return known or reading.so_far(replace(desk, progress=None), document, earlier)

    # -- several documents ----------------------------------------------------------------------

    def _memory_of(
        self,
        question: str,
        source: Source | Sequence[Source],
        settings: dict[str, Any],
        meter: Meter,
    ) -> GistMemory:
        """The memory of a source, or one over all documents that it stands for."""
        found, several = self._meant(question, source)
        if not several:
            return self._read(found[0], settings, meter)
        return self._collected(found, settings, meter)

    def _meant(
        self, question: str, source: Source | Sequence[Source]
    ) -> tuple[Sequence[Source], bool]:
        """All that a source stands for, and whether it is asked as several documents."""
        if isinstance(source, GistMemory):
            return [source], False
        several = isinstance(source, list | tuple)
        named: list[Any] = [*source] if isinstance(source, list | tuple) else [source]
        if not named:
            raise UsageError("no source is named", hint="Name one, or library: for all")
        found: list[Source] = []
        for one in named:
            if not isinstance(one, str | Path | Document | GistMemory):
                raise UsageError(
                    f"a {type(one).__name__} is no source",
                    hint="Give a path, a document, a memory, or a list of these",
                )
            if isinstance(one, str) and one.startswith(_SHELF):
                found += self._on_shelf(question, one.removeprefix(_SHELF))
                several = True
            else:
                found += self.sources(str(one)) if isinstance(one, str | Path) else [one]
        return found, several or len(found) != 1

    def _on_shelf(self, question: str, words: str) -> list[Source]:
        """The newest memories of the documents whose title holds the words.

        What another version has taken the place of is left out, unless nothing else is meant. Of
        very many, those whose title and gists share most with the question.
        """
        entries = [e for e in self.documents() if e["memories"]]
        chosen = [e for e in entries if words.strip().casefold() in e["title"].casefold()]
        if not chosen:
            raise SourceNotFound(
                f"the library holds no document that was read{words and f' and named {words!r}'}",
                hint="See `reread list`",
            )
        replaced = self.store.replaced()
        chosen = [e for e in chosen if e["id"] not in replaced] or chosen
        if len(chosen) > _MOST_MEMBERS:
            gists = self.store.gists()
            ranked = rank([f"{e['title']}\n{gists[e['id']]}" for e in chosen], question)
            chosen = [chosen[k] for k in sorted(ranked[:_MOST_MEMBERS])] or chosen[:_MOST_MEMBERS]
        return [self.memory(e["id"]) for e in chosen]

    def _unread(self, question: str, source: Source | Sequence[Source]) -> GistMemory:
        """A memory of the documents behind a source without gists, for manners that need none."""
        if isinstance(source, Collection):
            source = source.members
        found, several = self._meant(question, source)
        if not several:
            return self.thoughts.unread(found[0])
        return reading.joined(*self._each(found, self.thoughts.unread))

    def _each(
        self, sources: Sequence[Source], made: Callable[[Source], GistMemory]
    ) -> tuple[list[GistMemory], list[tuple[str, str]]]:
        """A memory of each document behind the sources, and those that cannot be read, with why."""
        members: dict[str, GistMemory] = {}
        failed: list[tuple[str, str]] = []
        for source in sources:
            try:
                one = made(source)
            except DocumentError as error:
                failed.append((str(source), error.line))
                continue
            members.setdefault(one.document.id, one)
        if not members:
            raise SourceNotFound(f"none of {len(sources)} documents could be read: {failed[0][1]}")
        for member in members.values():
            self.store.add_document(member.document)
        return list(members.values()), failed

    def _collected(
        self, sources: Sequence[Source], settings: dict[str, Any], meter: Meter
    ) -> GistMemory:
        """One memory over the documents behind the sources; those that cannot be read are named."""
        members, failed = self._each(sources, lambda source: self._read(source, settings, meter))
        towered = []
        for member in members:
            model = self._paying(self.store.calls(member.document.id), meter)
            desk = self._desk(member.document, settings, model, meter)
            towered.append(self._replanned(partial(reading.towered, desk, member)))
        first, *rest = [member.document for member in towered]
        model = self._paying(self.store.calls(first.id, others=[d.id for d in rest]), meter)
        desk = self._desk(first, settings, model, meter)
        return self._replanned(lambda: reading.collected(desk, towered, failed))

    @property
    def thoughts(self) -> Thoughts:
        """What was learned from questions: to list, show, forget, export, import and report."""
        with self._lock:
            if self._thoughts is None:
                self._thoughts = Thoughts(self, self._worked_at)
            made: Thoughts = self._thoughts
            return made

    def _worked_at(
        self,
        document: Document,
        settings: dict[str, Any],
        calls: DocumentCalls,
        meter: Meter,
        purse: Purse | None = None,
    ) -> Desk:
        return self._desk(document, settings, self._paying(calls, meter, purse), meter)

    # -- what it takes --------------------------------------------------------------------------

    def estimate(self, source: str | Path | Document, **settings: Any) -> Estimate:
        """What reading the document will take, and each question about it; nothing is sent.

        Keyword arguments are fields of `Settings`, as for `read` and `ask`.
        """
        document = source if isinstance(source, Document) else self.load(source)
        report = self.model.facts.get("probe") if isinstance(self.model, Learning) else None
        fewest, most = (self._counted(document, settings, most=most) for most in (False, True))
        return estimating.estimate(document, self.model, self.price, report, fewest, most)

    def _counted(
        self, document: Document, settings: dict[str, Any], *, most: bool
    ) -> estimating.Counted:
        """Pages, and what reading and a question take, by a model that only counts."""
        counting = estimating.Counting(self.model, most=most)
        calls = estimating.Unwritten(self.store.calls(document.id))
        meters = Meter(), Meter()
        models = [Metered(Cached(counting, calls), meter) for meter in meters]
        desk, known, earlier = self._plan(document, settings, models[0], meters[0])
        desk = replace(desk, progress=None)
        memory = known or reading.read(desk, document, earlier)
        reading.answer(replace(desk, model=models[1]), memory, estimating.QUESTIONS[most])
        asked = meters[1].usage()
        if most:  # a page read for support is answered over once more, and a thought is distilled
            asked = estimating.answered_again(
                asked, desk.profile.read_support + desk.profile.thoughts
            )
        return len(memory.pages), meters[0].usage(), asked

    def spent(self, document: Document) -> list[Work]:
        """What the document took so far: each reading and each question, the oldest first."""
        return self.store.ledger(document.id)

    def test_model(self, *, again: bool = False) -> Report:
        """What the model in use can do: tested now, unless that was done before.

        Raises:
            SettingsError: the model is no endpoint.
            ModelError: it does not answer.
        """
        from reread.llm import probe

        return probe.findings(self.model, again=again)


def load(source: str | Path, *, password: str | None = None) -> Document:
    """The document behind a path, URL, arXiv id or `-`, without a model.

    `password` opens a locked file. The document can be handed to `Library.read`.
    """
    config = configuration.load()
    return documents.load(
        source,
        cache_dir=config.fetched,
        allow_private=config.allow_private,
        password=password,
        recognition=recognition(config),
    )


def read(source: str | Path | Document, **settings: Any) -> GistMemory:
    """The gist memory of a document, through the default library."""
    return Library().read(source, **settings)


def ask(question: str, source: GistMemory | Document | str | Path, **settings: Any) -> Answer:
    """The answer to a question about a document, through the default library."""
    return Library().ask(question, source, **settings)
