"""all-MiniLM-L6-v2 as int8 ONNX: the light default, 23 MB of weights, no torch.

The same model in plain numpy over the publisher's 91 MB was the other choice: one runtime less
(78 MB), but a third of the speed. Texts go through the network one by one, since its numbers are
scaled by all that it is shown at once: a text has the same vector whoever stands beside it.
English only; of a text the first 256 pieces count (about 190 words).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reread.errors import ModelError, SettingsError
from reread.ports import Metric, Side
from reread.retrieval import wordpiece

_WIDTH = 384
_MOST_PIECES = 256


class MiniLM:
    """The embedder; the weights are read when the first text comes."""

    name = "minilm:all-MiniLM-L6-v2-int8"
    metric: Metric = "cosine"
    max_words = 150

    def __init__(self, weights: Path) -> None:
        self._path = weights
        self._session: Any = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], side: Side) -> Any:
        """One vector of length 1 a text, in order; both sides are embedded alike.

        Raises:
            ModelError: the weights cannot be read.
        """
        import numpy as np

        session = self._loaded()
        out = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for k, text in enumerate(texts):
            ids = np.array([wordpiece.encode(text, _MOST_PIECES)], dtype=np.int64)
            fed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            mean = session.run(None, fed)[0][0].mean(axis=0)
            out[k] = mean / np.linalg.norm(mean)
        return out

    def _loaded(self) -> Any:
        with self._lock:
            if self._session is None:
                try:
                    import onnxruntime
                    from onnxruntime.capi import onnxruntime_pybind11_state as failures
                except ImportError:
                    raise SettingsError(
                        "the embedder needs onnxruntime", hint="pip install 'reread[thoughts]'"
                    ) from None
                try:
                    self._session = onnxruntime.InferenceSession(
                        str(self._path), providers=["CPUExecutionProvider"]
                    )
                except (failures.Fail, failures.InvalidProtobuf, failures.NoSuchFile) as error:
                    raise ModelError(f"{self._path} cannot be used: {error}") from error
            return self._session
