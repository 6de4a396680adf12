"""The light embedder really embeds: weights from `reread models pull minilm`."""

from __future__ import annotations

import os

import pytest

from reread import config
from reread.llm import weights
from reread.retrieval.minilm import MiniLM

np = pytest.importorskip("numpy", reason="vectors need the extra `thoughts`")
pytest.importorskip("onnxruntime", reason="the embedder needs the extra `thoughts`")

SAME = ("The lamp was first lit on 3 October 1862.", "On 3 October 1862 the lamp was lit first.")
OTHER = "A baker from Lyon bought the old plant."


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    path = weights.installed(weights.find("minilm"), config.load().weights)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("the embedder is missing; `make test` pulls it")
        pytest.skip("the embedder is not here; run `reread models pull minilm`")
    return MiniLM(path)


@pytest.mark.embedded
def test_like_texts_have_like_vectors(embedder: MiniLM) -> None:
    one, two, other = embedder.embed([*SAME, OTHER], "passage")
    assert one.shape == (384,)
    assert np.linalg.norm([one, two, other], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert one @ two > 0.9
    assert abs(one @ other) < 0.3


@pytest.mark.embedded
def test_a_text_has_the_same_vector_whoever_stands_beside_it(embedder: MiniLM) -> None:
    alone = embedder.embed([SAME[0]], "passage")[0]
    beside = embedder.embed([OTHER * 20, SAME[0], ""], "passage")[1]
    assert (alone == beside).all()
