"""Embedders of the sentence-transformers library by name, such as `st:facebook/contriever`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reread.errors import ModelError
from reread.ports import Side
from reread.retrieval.families import family


class TransformersEmbedder:
    """The embedder; its model is loaded, and fetched if it must be, when the first text comes."""

    max_words = 150  # models of 256 tokens take as much

    def __init__(self, model: str) -> None:
        self.name = f"st:{model}"
        self._family = family(model)
        self._names = {"query": model, "passage": self._family.passage_model or model}
        self._loaded: dict[str, Any] = {}

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """One vector of length 1 a text, in order, by the model of that side.

        Raises:
            ModelError: the model cannot be loaded.
        """
        import numpy as np

        asked = [self._family.text(text, side) for text in texts]
        vectors = self._model(side).encode(
            asked, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def _model(self, side: Side) -> Any:
        name = self._names[side]
        if name not in self._loaded:
            from sentence_transformers import SentenceTransformer

            try:
                self._loaded[name] = SentenceTransformer(name)
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelError(f"the embedder {name} cannot be loaded: {error}") from error
        return self._loaded[name]
