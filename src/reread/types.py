"""The nouns of the domain: frozen values without behaviour beyond what follows from their fields.

Spans are half-open offsets `[start, end)` into `Document.text`, counted in code points. A page, a
paragraph and a citation each point into the same text, so anything that is shown can be traced to
the place it came from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from reread.evidence import Note, Sentence, Suspicion, Trace
from reread.text import compression_rate, count_words

ParagraphKind = Literal[
    "text", "heading", "list", "table", "code", "math", "caption", "quote", "note"
]
Status = Literal["verified", "repaired", "unverified"]
Strategy = Literal["parallel", "sequential", "gists", "thoughts"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """The smallest unit kept together while reading.

    `locator` says in words where a person finds it (printed page, headings, speaker, time).
    """

    start: int
    end: int
    kind: ParagraphKind = "text"
    locator: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """Which parts of a source were read and which were not; a part is a page, chapter or file.

    `without_text` are parts that show something but hold no text (scans), `blank` show nothing,
    `failed` are (part, reason). `recognised` are parts whose text was read from a picture, so that
    single letters may be wrong. `left_out` are (part, reason) of what is left out on purpose, such
    as what stands around an article, a hidden sheet or the files a repository ignores; they count
    as no parts. `remedy` says what would let parts without text be read, "" where nothing would.
    """

    parts: int = 1
    read: int = 1
    without_text: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    recognised: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    remedy: str = ""

    @property
    def complete(self) -> bool:
        """True when nothing that holds content was left out."""
        return not self.without_text and not self.failed


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A source as text with located paragraphs.

    `text` is the whole text and every span is an offset into it; `paragraphs` are in order, do
    not overlap and hold every character of the text that is not white space. `references` is the
    bibliography, kept apart from the text and never paginated. `origin` is where it came from.
    """

    title: str
    text: str
    paragraphs: tuple[Paragraph, ...]
    origin: str
    media_type: str = "text/plain"
    coverage: Coverage = field(default_factory=Coverage)
    references: str = ""
    id: str = ""
    words: int = -1

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", _content_id(self))
        if self.words < 0:
            object.__setattr__(self, "words", count_words(self.text))

    def locator_at(self, offset: int) -> str | None:
        """The locator of the paragraph that holds `offset`, None when there is none."""
        low, high = 0, len(self.paragraphs)
        while low < high:
            middle = (low + high) // 2
            if self.paragraphs[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        return self.paragraphs[low].locator if low < len(self.paragraphs) else None


def _content_id(document: Document) -> str:
    """A hash of text and paragraph structure, so that equal ids mean equal spans."""
    digest = hashlib.sha256(document.text.encode("utf-8"))
    for p in document.paragraphs:
        digest.update(f"\n{p.start}:{p.end}:{p.kind}:{p.locator or ''}".encode())
    digest.update(document.references.encode("utf-8"))
    return digest.hexdigest()[:16]


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Consecutive paragraphs between two pause points (an episode, Section 3.1).

    `number` counts from 1. `fallback` is True when the model named no usable pause point and the
    end of the window was taken.
    """

    number: int
    start: int
    end: int
    text: str
    words: int
    fallback: bool = False

    @classmethod
    def of(
        cls, document: Document, number: int, start: int, end: int, *, fallback: bool = False
    ) -> Page:
        """The page that spans `[start, end)` of the document's text."""
        text = document.text[start:end]
        return cls(
            number=number,
            start=start,
            end=end,
            text=text,
            words=count_words(text),
            fallback=fallback,
        )


# -- asking a model -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptId:
    """Which prompt text produced a call: part of every cache key and of every stored result."""

    name: str
    version: int
    digest: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}:{self.digest[:8]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request to a language model.

    `parse` turns the reply into a value or raises `MalformedReply`; only a reply that it
    accepts is remembered. `schema` is a JSON schema that the reply should obey where the back end
    can enforce one. `extra` are sampling parameters beyond the common ones. `sample` tells apart
    repeated askings of the same prompt. `shares` names the prefix that other calls will share, a
    hint for back ends that can keep evaluated prompts. `hear` is told the whole of the reply's text
    so far whenever there is more of it, and at last once in full; when a call is sent again, it is
    told less than before. Where `weighs` names words, the reply should be one of them, and where
    the back end can tell how likely each was, its text is a JSON object of their chances.
    """

    prompt: PromptId
    system: str
    user: str
    parse: Callable[[Completion], Any]
    max_tokens: int
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    shares: str | None = None
    hear: Callable[[str], None] | None = None
    weighs: tuple[str, ...] = ()

    @property
    def phase(self) -> str:
        """The step this call belongs to, as the ledger names it: `paginate`, `gist`, …"""
        return self.prompt.name.partition("-")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A model's reply. `value` is what the call's parser made of it (None before parsing).

    Token counts are those the endpoint reported, None where it reported none. Of the prompt's
    tokens `reused_tokens` were evaluated before; of the reply's, `reasoning_tokens` were thought
    and not said. `cost` is in US dollars, None while no price is known.
    """

    text: str
    value: Any = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused_tokens: int = 0
    reasoning_tokens: int = 0
    finish_reason: str = "stop"
    cached: bool = False
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a piece of work consumed.

    `calls` went to the model, `cached_calls` were answered from the library and cost nothing.
    `prompt_tokens` include the `cached_tokens` that the endpoint had evaluated before, and
    `completion_tokens` the `reasoning_tokens`. Words are reading units sent in and received;
    `cost` is in US dollars, None when a call's price is not known. `seconds` is wall-clock time.
    `phases` holds the same per phase, without further nesting; their seconds are the time spent
    inside calls, which may overlap.
    """

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    words_in: int = 0
    words_out: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    phases: Mapping[str, Usage] = field(default_factory=dict)

    @classmethod
    def of(cls, call: Call, completion: Completion) -> Usage:
        """What one answered call consumed; a reply from the library consumed nothing."""
        if completion.cached:
            return cls(cached_calls=1)
        return cls(
            calls=1,
            prompt_tokens=completion.prompt_tokens or 0,
            completion_tokens=completion.completion_tokens or 0,
            words_in=count_words(call.system) + count_words(call.user),
            words_out=count_words(completion.text),
            seconds=completion.seconds,
            cost=completion.cost,
            cached_tokens=completion.reused_tokens,
            reasoning_tokens=completion.reasoning_tokens,
        )

    def __add__(self, other: Usage) -> Usage:
        """Both together, without phases; a cost that is not known makes the sum unknown."""
        unknown = self.cost is None or other.cost is None
        return Usage(
            calls=self.calls + other.calls,
            cached_calls=self.cached_calls + other.cached_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            words_in=self.words_in + other.words_in,
            words_out=self.words_out + other.words_out,
            seconds=self.seconds + other.seconds,
            cost=None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One entry of a document's ledger: a reading, or the question that was asked.

    `question` is "" where it was forgotten.

    `at` is when it began, in UTC as ISO 8601.
    """

    question: str | None
    model: str
    at: str
    usage: Usage


# -- what reading and asking leave behind -------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How to read and how to ask. None leaves a choice to the profile, document and window.

    `profile` names the bundle of prompts and layouts that suits a model. Page sizes are reading
    units with `1 <= min_words < max_words`. `pagination` is `model`, `uniform` or `structure`.
    `kind` is the kind of document that gists are made for, `task` what they will be used for.
    `previous_page` and `next_paragraph` are shown around the window when True. `max_pages` bounds
    how many pages one question may read again. `answer_each_step` lets ReadAgent-S answer after
    every step and shows it that answer at the next (the movie setting).
    """

    profile: str | None = None
    min_words: int | None = None
    max_words: int | None = None
    pagination: str | None = None
    previous_page: bool = False
    next_paragraph: bool = False
    kind: str | None = None
    task: str | None = None
    strategy: Strategy | None = None
    max_pages: int | None = None
    answer_each_step: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Fallback:
    """A step where the model's reply could not be used and a stated substitute was taken."""

    phase: str
    page: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A quote and the page it is cited from; offsets are into the document's text.

    `verified`: found on the page named. `repaired`: found on another page, whose number is given
    here. `unverified`: found nowhere; `start == end` and no locator. `document` is the id of the
    other document that the page belongs to, None for the one that was asked about.
    """

    page: int
    quote: str
    status: Status
    start: int = 0
    end: int = 0
    locator: str | None = None
    document: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """Consecutive pages `first` to `last`, and one gist made from their gists."""

    first: int
    last: int
    gist: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GistMemory:
    """A document as pages with a gist each (Section 3.1), and how it came about.

    `gists` stand in the order of `pages`. Where they outgrow the window, `levels` holds sections
    over pages, sections over those, and so on; each level covers all pages. `view` is what a
    question is shown first where that is neither all pages nor the top level: pages, and sections
    of any level, that cover all pages in order. `provisional` is True of a document that was not
    read to its end: pages not read yet have "" as their gist. `settings` are the resolved ones,
    without None for what reading needed; `prompts` are the ids of the prompts used, `fallbacks` the
    steps where a model's reply could not be used, `warnings` what in the document looks like an
    attack on the reader.
    """

    document: Document
    pages: tuple[Page, ...]
    gists: tuple[str, ...]
    settings: Settings
    model: str
    levels: tuple[tuple[Section, ...], ...] = ()
    view: tuple[Section, ...] = ()
    provisional: bool = False
    prompts: tuple[str, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    warnings: tuple[Suspicion, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def compression_rate(self) -> float:
        """`100 * (1 - words of the gists / words of the document)`, in percent (Section 4)."""
        return compression_rate(sum(count_words(g) for g in self.gists), self.document.words)


@dataclass(frozen=True, kw_only=True, slots=True)
class Collection(GistMemory):
    """Several memories as one; its pages are numbered through all of them, in their order.

    `failed` are sources that could not be read, with why.
    """

    members: tuple[GistMemory, ...]
    failed: tuple[tuple[str, str], ...] = ()

    def located(self, number: int) -> tuple[GistMemory, int]:
        """The memory that holds the page with this number, and the page's number there."""
        for member in self.members:
            if number <= len(member.pages):
                return member, number
            number -= len(member.pages)
        raise IndexError(number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a root source stands: a span of one document's text.

    A document's id is a hash of its content, so it names the version too. `current` is False where
    the document's name stands for other content by now.
    """

    document: str
    start: int
    end: int
    current: bool = True


Support = Literal["sound", "partial", "stale", "unsupported"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Thought:
    """What was learned from a question and its answer (Thought-Retriever, Section 2).

    `level` is the mean level of its sources plus 1, where a page has level 1. `sources` are the
    ids of what was retrieved for it: pages (`p…`), gists (`g…`) and thoughts (`t…`). `roots` are
    the ids of the pages it rests on in the end, and `places` where these stand. `support` is
    `sound` while all of them stand in current documents, `partial` when some are gone or changed,
    `stale` when all are, `unsupported` when it never had any. `lost` counts sources that are gone
    for good. `made` is `asked`, `generated`, `imported` or `edited`; `nearest` is the similarity of
    what was most like it when it was kept, in the scale of `embedder`.
    """

    id: str
    text: str
    question: str
    answer: str
    level: float
    sources: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    support: Support = "sound"
    lost: int = 0
    made: str = "asked"
    model: str = ""
    embedder: str = ""
    prompts: tuple[str, ...] = ()
    nearest: float = 0.0
    at: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer and what it rests on.

    `grounded` is False when the model found that the document does not say, and when nothing that
    was read supports what it says; then nothing is cited. `sentences` says for each sentence what
    it rests on. `pages_read` are the numbers of the pages read again in full, in document order.
    `choice` is the index of the chosen option of a multiple-choice question. `compression_rate`
    compares the words of the final context with those of the document, in percent. `elsewhere` are
    those of the thoughts used that rest on other documents than the ones asked.
    """

    text: str
    grounded: bool
    strategy: Strategy
    pages_read: tuple[int, ...]
    memory: GistMemory
    citations: tuple[Citation, ...] = ()
    choice: int | None = None
    compression_rate: float = 0.0
    thoughts_used: tuple[str, ...] = ()
    elsewhere: tuple[Note, ...] = ()
    thought_kept: str | None = None
    sentences: tuple[Sentence, ...] = ()
    trace: Trace = field(default_factory=Trace)
    fallbacks: tuple[Fallback, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def warnings(self) -> tuple[Suspicion, ...]:
        """What in the document looks like an attack on the reader."""
        return self.memory.warnings

    @property
    def document(self) -> Document:
        return self.memory.document


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A part of an answer's text as it comes.

    `anew` voids all pieces before it: the call was sent again and says something else. The pieces
    from the last such one on make up the text of the answer that follows.
    """

    text: str
    anew: bool = False
