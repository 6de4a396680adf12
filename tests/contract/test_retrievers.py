"""What every retriever promises, and what holds for vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from remembering import document
from reread.errors import ModelRefused, SettingsError
from reread.ports import Retriever, Side
from reread.reading import quotes
from reread.retrieval import Place, embedder
from reread.retrieval.lexical import Lexical
from reread.store import Store
from reread.store.changes import Draft
from reread.store.lexical import rank

np = pytest.importorskip("numpy", reason="vectors need the extra `thoughts`")

from reread.retrieval import calibrate  # noqa: E402
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


def test_texts_of_pages_are_cut_from_one_reading_of_their_document(store: Store) -> None:
    numbers: list[int] = []
    for name in ("a.txt", "b.txt"):
        made = document("\n\n".join([name, *TEXTS]), name)
        store.add_document(made)
        numbers += store.items.pages(made, [(p.start, p.end) for p in made.paragraphs[:3]])
    kept = thought(store, TEXTS[2], MAKERS["lexical"](store))
    said: list[str] = []
    store._db.set_trace_callback(said.append)
    found = store.vectors.texts(None)
    sample = store.vectors.sample(10)
    store._db.set_trace_callback(None)
    expected = dict(zip(numbers, ["a.txt", *TEXTS[:2], "b.txt", *TEXTS[:2]], strict=True))
    assert found == sorted([*expected.items(), (kept, TEXTS[2])])
    assert sorted(sample) == sorted(set(expected.values()))
    assert store.vectors.texts({numbers[1], kept}) == [(numbers[1], TEXTS[0]), (kept, TEXTS[2])]
    whole = [statement for statement in said if "text FROM documents" in statement]
    assert len(whole) == 4  # two documents, asked for twice, whatever the pages
    assert not any("substr" in statement for statement in said)


def test_vectors_of_different_embedders_never_meet(store: Store) -> None:
    one = Dense(Hashing("hashing:one"), store.vectors, epsilon=0.9)
    two = Dense(Hashing("hashing:two"), store.vectors, epsilon=0.9)
    first, second = thought(store, TEXTS[0], one), thought(store, TEXTS[0] + " Again.", two)
    for dense in (one, two):
        kept = store.vectors.vectors(dense.name, 0, 10)
        assert len(kept.items) == 1
        hits = dense.nearest(dense.encode(TEXTS[0], "query"), 5)
        assert [h.item for h in hits] == [first, second]  # the other one was embedded anew
        assert len(store.vectors.vectors(dense.name, 0, 10).items) == 2


def test_a_model_that_gives_vectors_of_another_width_is_refused(store: Store) -> None:
    thought(store, TEXTS[0], Dense(Hashing(), store.vectors, epsilon=0.9))
    wider = Hashing()
    wider.embed = lambda texts, side: np.ones((len(texts), 300), np.float32)  # type: ignore[method-assign]
    dense = Dense(wider, store.vectors, epsilon=0.9)
    with pytest.raises(ModelRefused, match="300 numbers, the library has those of 256"):
        dense.encode(TEXTS[1], "query")


def test_a_long_text_is_as_like_as_its_most_like_part(store: Store) -> None:
    dense = Dense(Hashing(), store.vectors, epsilon=0.9)
    filler = " ".join(f"Nothing of note was seen on day {n} of that year." for n in range(40))
    number = thought(store, f"{filler} {TEXTS[1]} {filler}", dense)
    assert len(store.vectors.vectors("hashing:words", 0, 99).items) > 3
    assert dense.nearest(dense.encode(TEXTS[1], "query"), 3)[0].item == number


def test_passages_are_whole_sentences_and_lose_nothing() -> None:
    text = " ".join(f"Sentence number {n} has exactly seven words." for n in range(60))
    parts = passages(text, 50)
    assert " ".join(parts) == text
    assert all(len(p.split()) <= 50 for p in parts)
    assert passages("  ", 50) == []
    assert passages("Short.", 50) == ["Short."]


class ByDot(Hashing):
    """Vectors as long as their texts have words, to be compared by inner product."""

    metric = "dot"

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        lengths = np.array([[len(text.split())] for text in texts], dtype=np.float32)
        return super().embed(texts, side) * lengths


def test_queries_meet_passages_by_the_embedders_metric_and_passages_each_other_by_cosine(
    store: Store,
) -> None:
    short, long = "A baker bought the plant.", f"A baker bought the plant. {TEXTS[0]} {TEXTS[2]}"
    found = {}
    for own in (Hashing(), ByDot("hashing:dot")):
        dense = Dense(own, store.vectors, epsilon=0.9)
        a, b = thought(store, short, dense), thought(store, long, dense)
        dense.add([(a, short), (b, long)])
        asked, said = dense.encode(short, "query"), dense.encode(short, "passage")
        found[own.metric] = [h.item == a for h in dense.nearest(asked, 2, [a, b])]
        alike = dense.nearest(said, 2, [a, b])
        assert alike[0].item == a
        assert alike[0].score == pytest.approx(1.0, abs=1e-3)
        assert 0 < alike[1].score < 1
    assert found == {"cosine": [True, False], "dot": [False, True]}


def test_the_scale_of_a_metric_does_not_move_the_threshold(store: Store) -> None:
    texts = [f"{t} It was year {n} of the {n * 7} barrels then." for n in range(40) for t in TEXTS]
    one, other = (calibrate.epsilon(own, texts) for own in (Hashing(), ByDot()))
    assert one == other


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


def spread(count: int, width: int = 256) -> Any:
    """Vectors of length 1 as texts have them: near others that tell of the same, off the centre."""
    rng = np.random.default_rng(1)
    about = rng.standard_normal((count // 40 + 2, width)) + 0.4
    first, second = about[rng.integers(0, len(about), (2, count))]
    weight = rng.uniform(0.2, 0.5, (count, 1))
    made = first * (1 - weight) + second * weight + rng.standard_normal((count, width)) * 0.2
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)


def filled(index: Index, vectors: Any, batch: int = 1_700) -> Index:
    for at in range(0, len(vectors), batch):
        part = vectors[at : at + batch]
        index.add(range(at, at + len(part)), [v.tobytes() for v in part])
    return index


def truly(vectors: Any, query: Any, k: int) -> list[int]:
    return [int(n) for n in np.argsort(-(vectors.astype(np.float32) @ query), kind="stable")[:k]]


@pytest.mark.parametrize("width", [128, 250, 384])
def test_search_by_bits_finds_what_meeting_every_vector_finds(width: int) -> None:
    vectors = spread(20_000, width)
    index = filled(Index(exact=2_000), vectors)
    queries = vectors[::1_000].astype(np.float32)
    for query in queries:
        assert [i for i, _ in index.search(query, 8)] == truly(vectors, query, 8)
    among = range(0, 20_000, 3)  # more than are scored one by one
    for query in queries[:5]:
        thirds = [n for n in truly(vectors, query, 20_000) if n % 3 == 0][:8]
        assert [i for i, _ in index.search(query, 8, among)] == thirds
    few = [3, 7, 19_999]
    assert sorted(i for i, _ in index.search(queries[0], 8, few)) == few


def test_search_by_bits_finds_vectors_of_any_length() -> None:
    lengths = np.random.default_rng(2).uniform(0.8, 1.25, (20_000, 1))
    vectors = (spread(20_000).astype(np.float32) * lengths).astype(np.float16)
    index = filled(Index(exact=2_000, of_length_1=False), vectors)
    units = vectors / np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)
    for query in units[::1_000].astype(np.float32):
        assert [i for i, _ in index.search(query, 8)] == truly(vectors, query, 8)
        by_cosine = index.search(query, 8, None, True)
        assert [i for i, _ in by_cosine] == truly(units, query, 8)
        assert by_cosine[0][1] == pytest.approx(1.0, abs=1e-3)


def test_vectors_that_are_told_apart_by_few_numbers_are_all_met() -> None:
    vectors = spread(9_000, 32)
    index = filled(Index(exact=2_000), vectors)
    for query in vectors[::900].astype(np.float32):
        assert [i for i, _ in index.search(query, 8)] == truly(vectors, query, 8)


def test_what_was_dropped_is_not_found_however_much_it_was() -> None:
    vectors = spread(12_000)
    for index in (filled(Index(), vectors), filled(Index(exact=2_000), vectors)):
        index.drop(range(11_000))
        assert len(index) == 1_000
        query = vectors[5].astype(np.float32)
        left = [n for n in truly(vectors, query, 12_000) if n >= 11_000][:8]
        assert [i for i, _ in index.search(query, 8)] == left
        assert index.search(query, 8, range(6_000)) == []


def test_very_many_alike_are_searched_too() -> None:
    some = spread(1_000)
    vectors = np.concatenate([some, np.repeat(some[:1], 30_000, axis=0)])
    found = filled(Index(exact=2_000), vectors, 10_000).search(vectors[0].astype(np.float32), 8)
    assert [score for _, score in found] == pytest.approx([1.0] * 8, abs=1e-3)


def test_an_item_with_several_vectors_is_found_once_by_its_best() -> None:
    vectors = spread(9_000)
    index = Index(exact=2_000)
    index.add([n // 3 for n in range(9_000)], [v.tobytes() for v in vectors])
    query = vectors[4_000].astype(np.float32)
    want = list(dict.fromkeys(n // 3 for n in truly(vectors, query, 100)))[:8]
    assert [i for i, _ in index.search(query, 8)] == want


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
    assert made.name == "openai:e5-small at 127.0.0.1:9"
    assert EndpointEmbedder("e", base_url="http://me:pw@h/v1", api_key=None).name == "openai:e at h"
    assert EndpointEmbedder("e", base_url=None, api_key=None).name == "openai:e"
    vectors = made.embed(["a", "b"], "query")
    assert np.allclose(vectors, [[0.6, 0.8]] * 2)
    made.embed(["c"], "passage")
    assert asked == ["query: a", "query: b", "passage: c"]
    monkeypatch.setattr(made, "_sent", lambda texts: [[0.0, 0.0]] * len(texts))
    with pytest.raises(ModelRefused, match="direction"):
        made.embed(["a"], "query")
