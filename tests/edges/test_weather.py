"""Whatever the server's habits and whatever goes wrong: the same memory, and nothing paid twice."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import story
from endpoint import Endpoint
from weather import FAULTS, QUIRKS, THOUGHT, Chance, Condition, Fault, both

from reread import documents, parallel
from reread.errors import ContextExceeded, ModelRefused, ModelUnavailable
from reread.library import Library
from reread.llm.wrappers import Retrying
from reread.types import Answer, Document, GistMemory

SIZES = {"min_words": 100, "max_words": 240}
QUESTION = "Who repaired the violin near the old bridge on day 9?"
CONDITIONS: dict[str, Condition] = {
    **QUIRKS,
    # Every request meets the fault the first time, and its reply the second.
    **{name: {"faulty": {name: fault}} for name, fault in FAULTS.items()},
}
PAIRS = {
    f"{one} + {other}": merged
    for one, other in itertools.combinations(CONDITIONS, 2)
    if (merged := both(CONDITIONS[one], CONDITIONS[other])) is not None
}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts take a hundredth of their time."""
    sleep = lambda seconds: parallel.pause(seconds / 100)  # noqa: E731
    monkeypatch.setattr("reread.workshop.Retrying", partial(Retrying, sleep=sleep))


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder in memory where there is one: the disk's own speed is not what is tested."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


def text(words: int) -> Document:
    return documents.load_bytes(story(words).encode(), name="story.txt", origin="story.txt")


def opened(endpoint: Endpoint, home: Path, **config: Any) -> Library:
    return Library(config=endpoint.config(home, **{"workers": 4, "timeout_s": 0.5} | config))


def server(condition: Condition) -> Endpoint:
    """An endpoint in which the condition holds; each of its faults strikes every request once."""
    options = dict(condition)
    faults = list(options.pop("faulty", {}).values())
    chance = Times(share=1.0, faults=faults) if faults else None
    return Endpoint(chance=chance, **options)


class Times(Chance):
    """Faults that each request meets one after the other before it gets its reply."""

    def fault(self, digest: str, times: int) -> Fault | None:
        return self.faults[times - 1] if times <= len(self.faults) else None


def read(memory: GistMemory) -> tuple[object, ...]:
    """What a memory holds, whoever made it."""
    return ([(p.start, p.end) for p in memory.pages], memory.gists, memory.fallbacks)


def said(answer: Answer) -> tuple[object, ...]:
    return (answer.text, answer.grounded, answer.pages_read, answer.citations)


def passes(condition: Condition, home: Path, document: Document, calm: Any) -> None:
    with server(condition) as endpoint:
        library = opened(endpoint, home)
        memory = library.read(document, **SIZES)
        answer = library.ask(QUESTION, memory)
        library.close()
    assert (read(memory), said(answer)) == calm
    assert endpoint.wasted() == 0


@pytest.fixture(scope="module")
def document() -> Document:
    return text(600)


@pytest.fixture(scope="module")
def calm(document: Document, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The memory and the answer when nothing is the matter."""
    with Endpoint() as endpoint:
        library = opened(endpoint, tmp_path_factory.mktemp("calm"))
        memory = library.read(document, **SIZES)
        answer = library.ask(QUESTION, memory)
        library.close()
    assert endpoint.repeats() == 0
    assert set(endpoint.phases()) == {"paginate", "gist", "lookup", "answer", "distil"}
    assert len(memory.pages) >= 4
    assert answer.grounded
    assert answer.pages_read
    assert answer.citations[0].status == "verified"
    return read(memory), said(answer)


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_quirk_and_each_fault_alone(
    name: str, home: Path, document: Document, calm: Any
) -> None:
    passes(CONDITIONS[name], home, document, calm)


@pytest.mark.parametrize("first", CONDITIONS)
def test_each_with_each_other(first: str, home: Path, document: Document, calm: Any) -> None:
    for name, condition in PAIRS.items():
        if name.startswith(f"{first} + "):
            try:
                passes(condition, home / name.replace("/", "-"), document, calm)
            except Exception as error:
                error.add_note(f"weather: {name}")
                raise


# -- a long document in bad weather ---------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_third_of_all_calls_fail_and_nothing_is_lost(home: Path, seed: int) -> None:
    document = text(18_500)
    uniform = {"min_words": 60, "max_words": 100, "pagination": "uniform"}
    with Endpoint(window=32_768) as endpoint:
        library = opened(endpoint, home / "calm", workers=8)
        undisturbed = library.read(document, **uniform)
        library.close()
    assert len(undisturbed.pages) >= 200
    with Endpoint(window=32_768, chance=Chance(share=0.3, seed=seed)) as endpoint:
        library = opened(endpoint, home / "storm", workers=8)
        memory = library.read(document, **uniform)
        library.close()
    assert read(memory) == read(undisturbed)
    assert endpoint.wasted() == 0
    assert sum(not s.whole for s in endpoint.seen) > 60


def test_what_fails_for_ever_is_said_and_the_rest_is_kept(home: Path, document: Document) -> None:
    with Endpoint() as endpoint:
        library = opened(endpoint, home)
        reply = endpoint.reply

        def unlucky(phase: str, user: str) -> str:
            return "" if phase == "gist" and "On day 9," in user else reply(phase, user)

        endpoint.reply = unlucky
        memory = library.read(document, **SIZES)
        library.close()
    (missing,) = memory.fallbacks
    assert missing.phase == "gist"
    assert "On day 9," in memory.pages[missing.page - 1].text
    assert "empty" in missing.reason
    assert all(memory.gists)


def test_a_quota_used_up_in_the_middle_stops_and_a_rerun_pays_for_the_rest_only(
    home: Path, document: Document
) -> None:
    with Endpoint() as endpoint:
        library = opened(endpoint, home / "calm")
        library.read(document, **SIZES)
        library.close()
        needed = len(endpoint.seen)

        endpoint.forget()
        endpoint.quota = paid = needed // 2
        library = opened(endpoint, home / "poor")
        with pytest.raises(ModelRefused, match="quota") as caught:
            library.read(document, **SIZES)
        library.close()
        assert "run again" in caught.value.line
        refused = [s for s in endpoint.seen if not s.whole]
        assert 1 <= len(refused) <= 6  # those in flight when it happened, none twice
        assert len({s.digest for s in refused}) == len(refused)

        endpoint.quota = None
        library = opened(endpoint, home / "poor")
        memory = library.read(document, **SIZES)
        library.close()
        assert sum(s.whole for s in endpoint.seen) == needed
        assert endpoint.wasted() == 0
        assert memory.usage.calls == needed - paid


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_waiting_cannot_mend_stops_at_once(
    home: Path, document: Document, status: int
) -> None:
    with Endpoint(chance=Times(share=1.0, faults=[Fault(status=status)] * 50)) as endpoint:
        library = opened(endpoint, home)
        with pytest.raises(ModelRefused) as caught:
            library.read(document, **SIZES)
        library.close()
        assert "\n" not in caught.value.line
        assert len(endpoint.seen) == len({s.digest for s in endpoint.seen})


def test_a_server_that_never_recovers_is_given_up_with_one_line(
    home: Path, document: Document
) -> None:
    with Endpoint(chance=Times(share=1.0, faults=[Fault(status=503)] * 50)) as endpoint:
        library = opened(endpoint, home)
        with pytest.raises(ModelUnavailable, match="503") as caught:
            library.read(document, **SIZES)
        library.close()
    assert "run again later" in caught.value.line


# -- what a bad reply leaves behind ---------------------------------------------------------------


def test_reasoning_that_never_ends_is_a_visible_failure_and_never_a_gist(
    home: Path, document: Document
) -> None:
    with Endpoint(thinking="starved", room=100_000) as endpoint:
        library = opened(endpoint, home)
        memory = library.read(document, **SIZES, pagination="uniform")
        library.close()
    assert {f.phase for f in memory.fallbacks} == {"gist"}
    assert [f.page for f in memory.fallbacks] == [p.number for p in memory.pages]
    assert all("length" in f.reason for f in memory.fallbacks)
    assert not any(THOUGHT[:20] in gist for gist in memory.gists)
    assert all(gist in page.text for page, gist in zip(memory.pages, memory.gists, strict=True))


def test_a_document_about_reasoning_marks_keeps_them(home: Path) -> None:
    lines = [f"On day {n} the tag <think> was opened and </think> closed it." for n in range(40)]
    text = "\n\n".join(lines)
    document = documents.load_bytes(text.encode(), name="tags.txt", origin="tags.txt")
    with Endpoint(thinking="tags") as endpoint:
        library = opened(endpoint, home)
        memory = library.read(document, **SIZES)
        answer = library.ask("Which tag was opened and closed it on day 7?", memory)
        library.close()
    assert "".join(page.text for page in memory.pages) == text
    assert all("<think> was opened and </think>" in gist for gist in memory.gists)
    assert "<think>" in answer.citations[0].quote


@pytest.mark.parametrize("bad", ["", "I'm sorry, but I can't help with that.", '{"error": 1}'])
def test_a_bad_reply_poisons_nothing(home: Path, document: Document, calm: Any, bad: str) -> None:
    """A first run gets nothing but bad gists and is stopped; the next one gets good ones."""
    with Endpoint() as endpoint:
        reply = endpoint.reply
        endpoint.reply = lambda phase, user: bad if phase == "gist" else reply(phase, user)
        library = opened(endpoint, home, workers=1)
        endpoint.quota = 6
        with pytest.raises(ModelRefused):
            library.read(document, **SIZES)
        endpoint.quota, endpoint.reply = None, reply
        memory = library.read(document, **SIZES)
        assert (read(memory), said(library.ask(QUESTION, memory))) == calm
        library.close()


# -- Ollama, by both of its doors -----------------------------------------------------------------

LOADED = {
    "name": "reader:latest",
    "model": "reader:latest",
    "size": 2_497_293_931,
    "digest": "a" * 64,
    "details": {"parent_model": "", "format": "gguf", "family": "qwen3"},
    "expires_at": "2030-01-01T00:00:00Z",
    "size_vram": 0,
}
SHOWN = {
    "details": {"format": "gguf", "family": "qwen3", "parameter_size": "4.0B"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 262_144},
    "capabilities": ["completion", "tools", "thinking"],
}


def ollama(context_tokens: int | None, **options: Any) -> Endpoint:
    loaded = LOADED | ({"context_length": context_tokens} if context_tokens else {})
    pages = {"/api/ps": {"models": [loaded]}, "/api/show": SHOWN}
    return Endpoint(shape="ollama", window=None, pages=pages, **options)


def test_an_ollama_is_read_through_by_the_window_it_has_loaded(
    home: Path, document: Document, calm: Any
) -> None:
    with ollama(8_192, thinking="reasoning") as endpoint:
        library = opened(endpoint, home)
        assert library.model.capabilities.context_tokens == 8_192
        memory = library.read(document, **SIZES)
        assert (read(memory), said(library.ask(QUESTION, memory))) == calm
        library.close()
    assert "/api/ps" in endpoint.paths


def test_an_ollama_that_cuts_prompts_is_an_error_with_its_remedy(home: Path) -> None:
    with ollama(32_768, cut=1_024) as endpoint:
        library = opened(endpoint, home)
        with pytest.raises(ContextExceeded, match="cuts prompts silently") as caught:
            library.read(text(6_000), min_words=2_000, max_words=3_000, pagination="uniform")
        library.close()
    assert "OLLAMA_CONTEXT_LENGTH" in caught.value.line
    assert "--context-tokens 1024" in caught.value.line
