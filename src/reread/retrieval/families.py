"""What is known of embedding models by name, as data (`families.toml`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from reread.ports import Metric, Side


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """How a model wants to be asked: what stands before a text, and the passages' own model.

    `pooling` is `cls` where the vector is that of the first token, for models that do not say it.
    By `metric` queries are compared with passages.
    """

    match: str = ""
    query: str = ""
    passage: str = ""
    passage_model: str | None = None
    pooling: str | None = None
    metric: Metric = "cosine"

    def named(self, name: str) -> str:
        """What vectors of the model of this name are kept under: those by cosine have length 1."""
        return name if self.metric == "cosine" else f"{name} by {self.metric}"

    def text(self, text: str, side: Side) -> str:
        """The text as the model wants it."""
        return (self.query if side == "query" else self.passage) + text


def family(model: str) -> Family:
    """The family of a model by the last part of its name; a plain one where none is known."""
    data = tomllib.loads(resources.files(__package__).joinpath("families.toml").read_text("utf-8"))
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
    found = (Family(**entry) for entry in data["family"] if entry["match"] in name)
    return next(found, Family())
