"""What every retriever promises, and what holds for vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remembering import document
from reread.errors import ModelRefused, SettingsError
from reread.ports import Retriever
from reread.reading import quotes
from reread.retrieval import Place, embedder
from reread.retrieval.lexical import Lexical
from reread.store import Store
from reread.store.changes import Draft
from reread.store.lexical import rank

np = pytest.importorskip("numpy", reason="vectors need the extra `thoughts`")

from reread.retrieval.dense import Dense, passages  # noqa: E402
from reread.retrieval.hashing import Hashing  # noqa: E402
from reread.retrieval.index import Index  # noqa: E402

TEXTS = (
    "The lamp of the lighthouse was lit in October by Tobias Wrenfield.",
    "A baker from Lyon bought the old plant on Monday.",
    "Hester pushed the heavy lens round by hand for nine hours.",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "library.db")
    yield opened
    opened.close()


def thought(store: Store, text: str, retriever: Retriever) -> int:
    vectors = retriever.vectors(retriever.encode(text, "passage"))
    draft = Draft(
        text=text,
        question="",
        answer="",
        sources=(),
        embedder=retriever.name,
        vectors=vectors,
    )
    kept = store.items.keep(draft)
    assert kept is not None
    return store.items.numbers([kept.id])[kept.id]


MAKERS: dict[str, Callable[[Store], Retriever]] = {
    "dense": lambda store: Dense(Hashing(), store.vectors, epsilon=0.9),
    "lexical": lambda store: Lexical(store.vectors, rank, quotes.content),
}


@pytest.fixture(params=sorted(MAKERS))
def retriever(request: pytest.FixtureRequest, store: Store) -> Retriever:
    return MAKERS[request.param](store)


def test_the_most_like_comes_first_and_only_what_may(store: Store, retriever: Retriever) -> None:
    numbers = [thought(store, text, retriever) for text in TEXTS]
    asked = retriever.encode("Who bought the plant from the baker?", "query")
    hits = retriever.nearest(asked, 2)
    assert hits[0].item == numbers[1]
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert len(retriever.nearest(asked, 1)) == 1
    among = retriever.nearest(asked, 3, [numbers[0], numbers[2]])
    assert numbers[1] not in [h.item for h in among]
    assert retriever.nearest(asked, 3, []) == []


def test_the_same_text_is_as_like_as_can_be(store: Store, retriever: Retriever) -> None:
    number = thought(store, TEXTS[0], retriever)
    (hit,) = retriever.nearest(retriever.encode(TEXTS[0], "passage"), 1)
    assert hit.item == number
    assert hit.score == pytest.approx(1.0, abs=2e-3)
    assert hit.score >= retriever.epsilon


def test_what_is_forgotten_is_found_no_more(store: Store, retriever: Retriever) -> None:
    numbers = [thought(store, text, retriever) for text in TEXTS]
    asked = retriever.encode(TEXTS[1], "query")
    assert retriever.nearest(asked, 1)[0].item == numbers[1]
    store.items.forget([store.items.ids([numbers[1]])[numbers[1]]])
    assert numbers[1] not in [h.item for h in retriever.nearest(asked, 3)]


def test_what_another_process_keeps_is_found(store: Store, retriever: Retriever) -> None:
    thought(store, TEXTS[0], retriever)
    retriever.nearest(retriever.encode("anything", "query"), 1)
    other = Store(store.path)
    number = thought(other, TEXTS[2], retriever)
    other.close()
    assert retriever.nearest(retriever.encode(TEXTS[2], "query"), 1)[0].item == number


def test_pages_are_embedded_once(store: Store) -> None:
    made = document("\n\n".join(TEXTS), "a.txt")
    store.add_document(made)
    spans = [(p.start, p.end) for p in made.paragraphs]
    numbers = store.items.pages(made, spans)
    own = Hashing()
    dense = Dense(own, store.vectors, epsilon=0.9)
    dense.add(list(zip(numbers, TEXTS, strict=True)))
    dense.add(list(zip(numbers, TEXTS, strict=True)))
    assert own.embedded == 3
    assert store.items.pages(made, spans) == numbers


def test_vectors_of_different_embedders_never_meet(store: Store) -> None:
    one = Dense(Hashing("hashing:one"), store.vectors, epsilon=0.9)
    two = Dense(Hashing("hashing:two"), store.vectors, epsilon=0.9)
    first, second = thought(store, TEXTS[0], one), thought(store, TEXTS[0] + " Again.", two)
    assert [h.item for h in one.nearest(one.encode(TEXTS[0], "query"), 5)] == [first]
    assert [h.item for h in two.nearest(two.encode(TEXTS[0], "query"), 5)] == [second]


def test_a_long_text_is_as_like_as_its_most_like_part(store: Store) -> None:
    dense = Dense(Hashing(), store.vectors, epsilon=0.9)
    filler = " ".join(f"Nothing of note was seen on day {n} of that year." for n in range(40))
    number = thought(store, f"{filler} {TEXTS[1]} {filler}", dense)
    assert len(store.vectors.vectors("hashing:words", 0).items) > 3
    assert dense.nearest(dense.encode(TEXTS[1], "query"), 3)[0].item == number


def test_passages_are_whole_sentences_and_lose_nothing() -> None:
    text = " ".join(f"Sentence number {n} has exactly seven words." for n in range(60))
    parts = passages(text, 50)
    assert " ".join(parts) == text
    assert all(len(p.split()) <= 50 for p in parts)
    assert passages("  ", 50) == []
    assert passages("Short.", 50) == ["Short."]


def test_the_threshold_is_found_from_the_library_and_recorded(store: Store) -> None:
    said = (f"{t} It was year {n} of the {n * 7} barrels then." for n in range(120) for t in TEXTS)
    made = document(" ".join(said), "a.txt")
    store.add_document(made)
    spans = [(k * 400, k * 400 + 400) for k in range(len(made.text) // 400)]
    store.items.pages(made, spans)
    dense = Dense(Hashing(), store.vectors)
    epsilon = dense.epsilon
    known = store.vectors.calibration("hashing:words")
    assert known is not None
    assert known["epsilon"] == epsilon
    assert 0.6 <= epsilon <= 0.97
    assert known["texts"] >= 60
    assert Dense(Hashing(), store.vectors).epsilon == epsilon


def test_search_beyond_the_exact_finds_nearly_all_and_grows() -> None:
    rng = np.random.default_rng(1)
    spread = rng.standard_normal((12_000, 64)) * np.linspace(3, 0.3, 64)
    vectors = (spread / np.linalg.norm(spread, axis=1, keepdims=True)).astype(np.float32)
    data = [v.astype("<f2").tobytes() for v in vectors]
    exact, sketched = Index(), Index(exact=2_000)
    for at in range(0, 12_000, 1_700):
        numbers = list(range(at, min(at + 1_700, 12_000)))
        exact.add(numbers, data[at : at + 1_700])
        sketched.add(numbers, data[at : at + 1_700])
    found = 0
    for query in vectors[::600]:
        want = [item for item, _ in exact.search(query, 8)]
        assert want == list(np.argsort(-(vectors @ query), kind="stable")[:8]) or len(want) == 8
        found += len(set(want) & {item for item, _ in sketched.search(query, 8)})
    assert found >= 0.98 * 8 * 20
    among = list(range(0, 12_000, 3))
    assert {i for i, _ in sketched.search(vectors[1], 8, among)} <= set(among)
    sketched.drop(range(0, 11_000))
    assert len(sketched) == 1_000
    assert sketched.search(vectors[11_500], 1)[0][0] == 11_500


def test_embedders_go_by_name(tmp_path: Path) -> None:
    assert embedder("lexical", Place()) is None
    assert embedder(None, Place()) is None
    assert embedder("hashing", Place()).name == "hashing:words"  # type: ignore[union-attr]
    with pytest.raises(SettingsError, match="no embedder"):
        embedder("wordy:x", Place())
    with pytest.raises(SettingsError, match="not on this machine"):
        embedder("minilm", Place())


def test_endpoints_give_vectors_of_length_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from reread.retrieval.endpoint import EndpointEmbedder

    made = EndpointEmbedder("e5-small", base_url="http://127.0.0.1:9/v1", api_key=None)
    asked: list[str] = []

    def sent(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[3.0, 4.0]] * len(texts)

    monkeypatch.setattr(made, "_sent", sent)
    vectors = made.embed(["a", "b"], "query")
    assert np.allclose(vectors, [[0.6, 0.8]] * 2)
    made.embed(["c"], "passage")
    assert asked == ["query: a", "query: b", "passage: c"]
    monkeypatch.setattr(made, "_sent", lambda texts: [[0.0, 0.0]] * len(texts))
    with pytest.raises(ModelRefused, match="direction"):
        made.embed(["a"], "query")
