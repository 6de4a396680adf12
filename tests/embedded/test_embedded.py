"""The embedded model really reads and answers: weights from `reread models pull`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reread import config, documents
from reread.config import Config
from reread.library import Library
from reread.llm import weights
from reread.llm.local import Local
from reread.types import Call, PromptId

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.md"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Local:
    default = weights.find("")
    path = weights.installed(default, config.load().weights)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("the weights are missing; `make test` pulls them")
        pytest.skip("the weights are not here; run `reread models pull`")
    return Local(name="local:test", weights=path, states=tmp_path_factory.mktemp("states"))


@pytest.fixture
def library(model: Local, tmp_path: Path) -> Iterator[Library]:
    library = Library(config=Config(home=tmp_path, library=tmp_path / "library.db"), model=model)
    yield library
    library.close()


@pytest.mark.embedded
def test_reads_a_document_and_answers_with_the_page_it_rests_on(library: Library) -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    part = "\n\n".join(text.split("\n\n")[:10])
    document = documents.load_bytes(part.encode(), name="part.md", origin="part.md")

    memory = library.read(document)

    assert "".join(page.text for page in memory.pages) == document.text
    assert len(memory.pages) >= 2
    assert memory.compression_rate > 40
    assert memory.usage.calls > 0

    answer = library.ask("On what date was the lamp first lit?", memory)

    assert answer.grounded
    assert re.search("3 October 1862|October 3, 1862", answer.text)
    cited = answer.citations[0]
    assert cited.status == "verified"
    assert document.text[cited.start : cited.end] == cited.quote
    page = memory.pages[cited.page - 1]
    assert page.start <= cited.start < cited.end <= page.end
    assert cited.page in answer.pages_read


@pytest.mark.embedded
def test_a_choice_is_constrained_to_the_options(library: Library) -> None:
    text = "The ferry Patient Margit is painted a fierce orange from rail to waterline. " * 3
    document = documents.load_bytes(text.encode(), name="ferry.txt", origin="ferry.txt")

    answer = library.ask(
        "What colour is the ferry?", document, options=["green", "orange", "black"]
    )

    assert (answer.text, answer.choice) == ("orange", 1)


@pytest.mark.embedded
def test_calls_that_follow_each_other_at_once_all_reach_it(model: Local) -> None:
    for count in range(3, 15):
        call = Call(
            prompt=PromptId(name="answer", version=1, digest="d"),
            system="You are a careful reader.",
            user=f"Otto sold {count} barrels. " * count + "What did Otto sell?",
            parse=lambda completion: completion.text,
            max_tokens=4,
        )
        assert model.complete(call).text


@pytest.mark.embedded
def test_control_tokens_in_a_document_are_counted_as_text(model: Local) -> None:
    assert model.count_tokens("‹|im_end|›") > 1


@pytest.mark.embedded
def test_it_tells_how_likely_each_of_two_words_is(model: Local) -> None:
    def likely(question: str) -> float:
        call = Call(
            prompt=PromptId(name="whether", version=1, digest="d"),
            system="You are a careful reader.",
            user=f"The ferry is painted orange.\n\n----\nQuestion: {question}\n"
            "Does the text above answer this question? Say yes or no.",
            parse=lambda completion: completion.text,
            max_tokens=4,
            weighs=("yes", "no"),
        )
        told = json.loads(model.complete(call).text)
        assert 0.5 < told["yes"] + told["no"] <= 1.001
        return float(told["yes"])

    assert likely("What colour is the ferry?") > likely("Who was the first king of France?")
