"""The sentence-transformers embedders, really run over tiny models that are made here.

They need the extra `transformers` (torch, 200 MB and more), and nothing from anywhere else.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from reread.errors import ModelError
from reread.retrieval import Place, embedder
from reread.retrieval.families import family

np = pytest.importorskip("numpy", reason="vectors need the extra `thoughts`")
needed = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None,
    reason="sentence-transformers is not installed (the extra `transformers`)",
)
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] query passage : search _ document instruct the lamp of was lit "
    "by hand mill road bell in a and heavy lens find"
).split()
TEXT = "the lamp was lit by hand"


def bert(folder: Path, seed: int = 1, tokens: int = 64) -> Path:
    """A random network with a vocabulary, as it is published without sentence-transformers."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.5,
        max_position_embeddings=tokens,
    )
    torch.manual_seed(seed)
    BertModel(config).eval().save_pretrained(folder)
    BertTokenizerFast(
        vocab_file=str(folder / "vocab.txt"), model_max_length=tokens
    ).save_pretrained(folder)
    return folder


def packed(folder: Path, seed: int = 1, **said: Any) -> Path:
    """The same as it is published with sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    raw = bert(folder.parent / f"raw-{folder.name}", seed)
    SentenceTransformer(str(raw), **said).save(str(folder))
    return folder


def vector(folder: Path, text: str, pooling: str = "mean", unit: bool = True) -> Any:
    """The vector of a text by the network itself: mean of all tokens, or the first one's."""
    import torch
    from transformers import BertModel, BertTokenizerFast

    network, tokenizer = (kind.from_pretrained(folder) for kind in (BertModel, BertTokenizerFast))
    with torch.no_grad():
        hidden = network.eval()(**tokenizer([text], return_tensors="pt")).last_hidden_state[0]
    found = (hidden.mean(0) if pooling == "mean" else hidden[0]).numpy()
    return found / np.linalg.norm(found) if unit else found


def made(folder: Path) -> Any:
    found = embedder(f"st:{folder}", Place())
    assert found is not None
    return found


@needed
def test_each_side_is_asked_in_its_familys_words_and_has_length_1(tmp_path: Path) -> None:
    ours = made(packed(tmp_path / "tiny-e5-small"))
    assert ours.name == f"st:{tmp_path / 'tiny-e5-small'}"
    raw = tmp_path / "raw-tiny-e5-small"
    for side, lead in (("query", "query: "), ("passage", "passage: ")):
        found = ours.embed([TEXT, "the mill"], side)
        assert (found.shape, found.dtype) == ((2, 16), np.float32)
        assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
        assert np.allclose(found[0], vector(raw, lead + TEXT), atol=1e-5)
        assert not np.allclose(found[0], vector(raw, TEXT), atol=1e-2)
    assert len(ours.embed([], "query")) == 0


@needed
def test_a_model_without_a_family_is_asked_in_plain_words_by_the_mean(tmp_path: Path) -> None:
    raw = bert(tmp_path / "contriever")
    ours = made(raw)
    for side in ("query", "passage"):
        assert np.allclose(ours.embed([TEXT], side)[0], vector(raw, TEXT), atol=1e-5)


@needed
def test_a_models_own_words_go_before_ours_and_stand_once(tmp_path: Path) -> None:
    own = packed(
        tmp_path / "own-e5-large",
        prompts={"query": "find: ", "document": "document: "},
        default_prompt_name="document",
    )
    ours, raw = made(own), tmp_path / "raw-own-e5-large"
    assert np.allclose(ours.embed([TEXT], "query")[0], vector(raw, f"find: {TEXT}"), atol=1e-5)
    passage = ours.embed([TEXT], "passage")[0]
    assert np.allclose(passage, vector(raw, f"document: {TEXT}"), atol=1e-5)


@needed
def test_two_networks_side_by_side_and_the_first_tokens_vector(tmp_path: Path) -> None:
    asked = bert(tmp_path / "dragon-plus-query-encoder", seed=1)
    read = bert(tmp_path / "dragon-plus-context-encoder", seed=2)
    ours = made(asked)
    assert (ours.metric, ours.name) == ("dot", f"st:{asked} by dot")
    for side, network in (("query", asked), ("passage", read)):
        truly = vector(network, TEXT, "cls", unit=False)
        assert not 0.99 < np.linalg.norm(truly) < 1.01
        assert np.allclose(ours.embed([TEXT], side)[0], truly, atol=1e-5)


@needed
def test_a_text_is_cut_where_the_model_would_stop_reading(tmp_path: Path) -> None:
    from reread.retrieval.dense import Dense, passages

    ours = made(bert(tmp_path / "short", tokens=64))
    assert ours.max_words == 38
    long = " ".join(f"The lamp was lit by hand and the bell of the mill {k}." for k in range(12))
    parts = passages(long, ours.max_words)
    assert len(parts) == 6
    encoded = Dense(ours, _nowhere(), epsilon=0.9).encode(long, "passage")
    assert encoded.vectors.shape == (6, 16)


def _nowhere() -> Any:
    return None


@needed
def test_what_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        made(tmp_path / "none").embed([TEXT], "query")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot be loaded"):
        made(tmp_path / "empty").embed([TEXT], "query")


@pytest.mark.parametrize(
    ("name", "query", "passage", "pooling", "metric"),
    [
        ("intfloat/multilingual-e5-small", "query: x", "passage: x", None, "cosine"),
        ("facebook/contriever", "x", "x", None, "cosine"),
        ("/models/e5-of-mine/contriever/", "x", "x", None, "cosine"),
        ("BAAI/bge-m3", "x", "x", None, "cosine"),
        ("facebook/dragon-plus-query-encoder", "x", "x", "cls", "dot"),
        ("facebook-dpr-question_encoder-single-nq-base", "x", "x", None, "dot"),
        ("nomic-embed-text:latest", "search_query: x", "search_document: x", None, "cosine"),
    ],
)
def test_families_go_by_the_last_part_of_a_name(
    name: str, query: str, passage: str, pooling: str | None, metric: str
) -> None:
    found = family(name)
    assert found.metric == metric
    assert (found.text("x", "query"), found.text("x", "passage")) == (query, passage)
    assert found.pooling == pooling
