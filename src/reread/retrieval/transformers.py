"""Embedders of the sentence-transformers library by name, such as `st:facebook/contriever`.

What a text is preceded by is told to the library and not put before the text: it then takes the
place of a prompt that the model would add by itself, and a model's own words for queries and
passages, where it brings some, go before those of `families.toml`. So does its own pooling, but
where it brings none the library would take the mean, which is wrong for some.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reread.errors import ModelError
from reread.ports import Side
from reread.retrieval.families import family

_WORDS_A_TOKEN = 0.6
_LEAST_WORDS, _MOST_WORDS, _USUAL_WORDS = 16, 300, 150
_OWN = {"query": ("query",), "passage": ("document", "passage")}  # names of a model's own prompts


class TransformersEmbedder:
    """The embedder; its model is loaded, and fetched if it must be, when the first text comes."""

    def __init__(self, model: str) -> None:
        self._family = family(model)
        self.name = self._family.named(f"st:{model}")
        self.metric = self._family.metric
        self._names = {"query": model, "passage": self._passages(model)}
        self._loaded: dict[str, Any] = {}
        self._lock = threading.Lock()

    def _passages(self, model: str) -> str:
        """The passages' own model; beside the model itself where that is a folder."""
        other = self._family.passage_model
        if other is None:
            return model
        beside = Path(model).parent / other.rpartition("/")[2]
        return str(beside) if Path(model).is_dir() and beside.is_dir() else other

    @property
    def max_words(self) -> int:
        """As many as the passages' model reads; of a longer text it would see no more."""
        tokens = getattr(self._model("passage"), "max_seq_length", None)
        if not tokens:
            return _USUAL_WORDS
        return max(_LEAST_WORDS, min(_MOST_WORDS, int(tokens * _WORDS_A_TOKEN)))

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """One vector a text, in order, by the model of that side.

        Raises:
            ModelError: the model cannot be loaded, or gives a text no direction.
        """
        import numpy as np

        model = self._model(side)
        vectors = model.encode(
            list(texts),
            prompt=self._prompt(model, side),
            normalize_embeddings=self.metric == "cosine",
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        out = np.asarray(vectors, dtype=np.float32)
        if not np.isfinite(out).all() or (out.size and not out.any(axis=1).all()):
            raise ModelError(f"{self.name} gave a vector without a direction")
        return out

    def _prompt(self, model: Any, side: Side) -> str:
        own = getattr(model, "prompts", None) or {}
        found = [own[name] for name in _OWN[side] if own.get(name)]
        return str(found[0]) if found else self._family.text("", side)

    def _model(self, side: Side) -> Any:
        name = self._names[side]
        with self._lock:
            if name not in self._loaded:
                from sentence_transformers import SentenceTransformer

                try:
                    self._loaded[name] = self._pooled(SentenceTransformer(name))
                except (OSError, ValueError, RuntimeError) as error:
                    raise ModelError(f"the embedder {name} cannot be loaded: {error}") from error
            return self._loaded[name]

    def _pooled(self, model: Any) -> Any:
        """The model with its family's pooling, where it came without any of its own."""
        wanted = self._family.pooling
        if wanted and len(model) == 2 and model[1].pooling_mode == "mean":
            model[1] = type(model[1])(model[1].embedding_dimension, pooling_mode=wanted)
        return model
