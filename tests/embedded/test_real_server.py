"""A server that is not ours: llama.cpp's own, reached as any endpoint is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reread import config, documents
from reread.config import Config
from reread.errors import Cancelled, ContextExceeded, ModelRefused
from reread.library import Library
from reread.llm import choose, weights
from reread.llm.compatible import Compatible
from reread.parallel import Work, _here
from reread.types import Answer, Call, Completion, Document, Piece, PromptId

TEXT = (
    "The lamp of the lighthouse was first lit on 3 October 1862 by Margit Holm, who kept it for "
    "thirty years. The tower is 41 metres high and stands on the north end of the island.",
    "The ferry is called Patient Margit. It is painted orange and crosses the sound twice a day, "
    "except in February, when the ice is too thick for it.",
    "In 1931 the lamp was changed for an electric one. The keeper's house became a school, and "
    "today eleven children go there.",
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a running server with the smallest model that is here."""
    folder = config.load().weights
    writing = [w for w in weights.known().values() if not w.embedder]
    known = sorted(writing, key=lambda w: w.size_bytes)
    paths = [path for w in known if (path := weights.installed(w, folder))]
    if not paths:
        pytest.skip("there are no weights here; run `reread models pull smollm2-135m`")
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(paths[0])
    params.n_ctx = 2_048
    params.n_parallel = 1
    params.verbosity = -1
    params.warmup = False
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def settings(address: str, home: Path, **more: Any) -> Config:
    values: dict[str, Any] = {"model": "openai:any", "base_url": address, "workers": 1}
    return Config(home=home, library=home / "library.db", **(values | more))


def document() -> Document:
    return documents.load_bytes("\n\n".join(TEXT).encode(), name="isle.txt", origin="isle.txt")


def a_call(**changes: Any) -> Call:
    call = Call(
        prompt=PromptId(name="gist-page", version=1, digest=""),
        system="You are a careful reader.",
        user=f"{TEXT[0]}\n\nTell it again in one sentence.",
        parse=lambda completion: completion.text,
        max_tokens=24,
    )
    return replace(call, **changes)


@pytest.mark.embedded
def test_a_real_server_says_its_window_and_counts_what_it_reads(
    address: str, tmp_path: Path
) -> None:
    model = choose(settings(address, tmp_path))
    assert isinstance(model, Compatible)
    assert model.capabilities.context_tokens == 2_048
    heard: list[str] = []
    done: Completion = model.complete(a_call(hear=heard.append))
    assert done.text
    assert heard[-1] == done.text
    assert len(heard) > 3
    assert 40 < (done.prompt_tokens or 0) < 120
    assert 0 < (done.completion_tokens or 0) <= 24
    assert model.learned.refused == set()


@pytest.mark.embedded
def test_a_real_server_reads_and_answers(address: str, tmp_path: Path) -> None:
    library = Library(config=settings(address, tmp_path))
    memory = library.read(document(), min_words=20, max_words=60)
    assert "".join(page.text for page in memory.pages) == document().text
    assert len(memory.pages) >= 2
    assert all(memory.gists)
    *pieces, answer = library.stream("Who lit the lamp first?", memory, max_pages=1)
    assert isinstance(answer, Answer)
    text = ""
    for piece in pieces:
        assert isinstance(piece, Piece)
        text = piece.text if piece.anew else text + piece.text
    assert text == answer.text != ""
    assert library.ask("Who lit the lamp first?", memory, max_pages=1).usage.calls == 0
    library.close()


@pytest.mark.embedded
def test_a_real_server_refuses_what_is_too_long_in_words_that_are_understood(
    address: str, tmp_path: Path
) -> None:
    model = choose(settings(address, tmp_path, context_tokens=32_768))
    with pytest.raises(ContextExceeded) as caught:
        model.complete(a_call(user="word " * 3_000))
    assert caught.value.retryable
    assert model.capabilities.context_tokens == 2_048


@pytest.mark.embedded
def test_a_real_server_is_free_again_soon_after_a_call_is_unwanted(
    address: str, tmp_path: Path
) -> None:
    model = choose(settings(address, tmp_path))
    _here.work = work = Work(None)

    def stop(text: str) -> None:
        if text:
            work.end()

    try:
        with pytest.raises(Cancelled):
            model.complete(a_call(max_tokens=1_500, hear=stop))
    finally:
        _here.work = None
    started = time.monotonic()
    assert model.complete(a_call(max_tokens=4)).text  # its one slot would be taken otherwise
    assert time.monotonic() - started < 20.0


@pytest.mark.embedded
def test_a_wrong_address_of_a_real_server_is_one_line(address: str, tmp_path: Path) -> None:
    model = choose(settings(address.replace("/v1", "/other"), tmp_path, context_tokens=2_048))
    with pytest.raises(ModelRefused) as caught:
        model.complete(a_call())
    assert "\n" not in caught.value.line
