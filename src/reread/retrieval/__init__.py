"""Recall: embedders behind one port, vectors of each kept apart, and exact search among them.

Vectors of different embedders never meet: each is kept and searched under its embedder's name.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reread.errors import SettingsError
from reread.ports import Embedder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an embedder finds what it needs: its weights, or the endpoint and its key."""

    weights: Path | None = None
    base_url: str | None = None
    api_key: str | None = None


def _minilm(name: str, place: Place) -> Embedder:
    from reread.retrieval.minilm import MiniLM

    if place.weights is None:
        raise SettingsError(
            "the embedder all-MiniLM-L6-v2 is not on this machine",
            hint="Run `reread models pull minilm` once (23 MB), or name another --embedder",
        )
    _needs("onnxruntime", "thoughts")
    return MiniLM(place.weights)


def _endpoint(name: str, place: Place) -> Embedder:
    from reread.retrieval.endpoint import EndpointEmbedder

    return EndpointEmbedder(name, base_url=place.base_url, api_key=place.api_key)


def _transformers(name: str, place: Place) -> Embedder:
    from reread.retrieval.transformers import TransformersEmbedder

    _needs("sentence_transformers", "transformers")
    return TransformersEmbedder(name)


def _hashing(name: str, place: Place) -> Embedder:
    from reread.retrieval.hashing import Hashing

    return Hashing()


EMBEDDERS: Mapping[str, Callable[[str, Place], Embedder]] = {
    "minilm": _minilm,
    "openai": _endpoint,
    "st": _transformers,
    "hashing": _hashing,
}


def embedder(name: str | None, place: Place) -> Embedder | None:
    """The embedder of that name; None for `lexical`, which stands for recall by words.

    Without a name it is all-MiniLM-L6-v2 where its weights and runtime are here, else None.

    Raises:
        SettingsError: the name has none of the known kinds, or what it needs is missing.
    """
    if name is None:
        here = place.weights is not None and all(
            importlib.util.find_spec(module) for module in ("onnxruntime", "numpy")
        )
        return _minilm("", place) if here else None
    if name == "lexical":
        return None
    kind, _, rest = name.partition(":")
    if kind not in EMBEDDERS:
        known = "minilm, openai:NAME, st:NAME, hashing or lexical"
        raise SettingsError(f"there is no embedder {name!r}", hint=f"Name one as {known}")
    _needs("numpy", "thoughts")
    return EMBEDDERS[kind](rest, place)


def _needs(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise SettingsError(f"this embedder needs {module}", hint=f"pip install 'reread[{extra}]'")
