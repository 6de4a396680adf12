"""Embeddings from any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from reread.errors import ModelRefused, ModelUnavailable
from reread.ports import Side
from reread.retrieval.families import family

_BATCH = 64
_OFFICIAL = "https://api.openai.com/v1"


class EndpointEmbedder:
    """The embedder behind `/v1/embeddings`. Making one connects to nothing.

    Elsewhere than at OpenAI the address belongs to its name: who knows what a server calls so.
    """

    max_words = 300  # models of 512 tokens take as much

    def __init__(self, model: str, *, base_url: str | None, api_key: str | None) -> None:
        self._family = family(model)
        self.name = self._family.named(f"openai:{model}{_at(base_url)}")
        self.metric = self._family.metric
        self._model = model
        self._base_url = base_url or _OFFICIAL
        self._api_key = api_key
        self._client: Any = None

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """One vector a text, in order.

        Raises:
            ModelUnavailable: the endpoint does not answer.
            ModelRefused: it refuses the key, the model or the request, or gives no vectors.
        """
        import numpy as np

        rows: list[Any] = []
        for at in range(0, len(texts), _BATCH):
            rows += self._sent([self._family.text(t, side) for t in texts[at : at + _BATCH]])
        out = np.array(rows, dtype=np.float32)
        if out.ndim != 2 or len(out) != len(texts):
            raise ModelRefused(f"{self.name} gave vectors of different widths")
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelRefused(f"{self.name} gave a vector without a direction")
        return out / lengths if self.metric == "cosine" else out

    def _sent(self, texts: list[str]) -> list[Any]:
        import openai

        if self._client is None:
            key = self._api_key or "none"
            self._client = openai.OpenAI(base_url=self._base_url, api_key=key, max_retries=4)
        try:
            reply = self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            data = sorted(reply.data, key=lambda entry: entry.index)
        except openai.APIConnectionError as error:
            raise ModelUnavailable(
                f"no embeddings from {self._base_url}: {error}",
                hint="Start the server, or check OPENAI_BASE_URL",
            ) from error
        except openai.APIStatusError as error:
            kind = ModelUnavailable if error.status_code in (408, 409, 429) else ModelRefused
            kind = ModelUnavailable if error.status_code >= 500 else kind
            raise kind(f"{self._base_url} gave no embeddings: {error.message}") from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise ModelRefused(f"{self._base_url} gave no embeddings: {error}") from error
        if len(data) != len(texts):
            raise ModelRefused(f"{self.name} gave {len(data)} vectors for {len(texts)} texts")
        return [entry.embedding for entry in data]


def _at(base_url: str | None) -> str:
    """Where a server is that is not OpenAI's own, without the user that an address may name."""
    if base_url in (None, _OFFICIAL):
        return ""
    return f" at {urlsplit(base_url).netloc.rpartition('@')[2]}"
