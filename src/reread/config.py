"""Where things are and which model is meant: the one place that reads environment and TOML.

`load` is called once, by whoever opens a library; everything below is handed what it needs. The
order is: what the caller says, then the environment, then `config.toml` in the home folder.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from reread.errors import SettingsError


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """The surroundings of a library.

    `home` holds the library, the weights and the caches. `model` is `openai:NAME` or `local:NAME`,
    None to take what is found. `embedder` is `minilm`, `openai:NAME`, `st:NAME`, `hashing` or
    `lexical`, None for the first where it is here, else the last. `ocr` are the languages that text
    in pictures is read in, by Tesseract's names, `auto` for those installed, `off` to leave
    pictures alone. `api_key` is never shown, logged or stored. A reply may be silent for
    `timeout_s`; its first word may take ten times as long. `prices` are US dollars for a million
    tokens, by model: `prompt`, `completion`, and `cached`.
    """

    home: Path
    library: Path
    model: str | None = None
    embedder: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_tokens: int | None = None
    workers: int | None = None
    timeout_s: float = 60.0
    prompts: Path | None = None
    hub: str = "https://huggingface.co"
    allow_private: bool = False
    ocr: str = "auto"
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def weights(self) -> Path:
        """The folder of the embedded models."""
        return self.home / "models"

    @property
    def states(self) -> Path:
        """The folder of evaluated prefixes of the embedded model."""
        return self.home / "cache" / "states"

    @property
    def recognised(self) -> Path:
        """The folder of texts that were read from pictures."""
        return self.home / "cache" / "recognised"

    @property
    def fetched(self) -> Path:
        """The folder of fetched pages."""
        return self.home / "cache" / "fetched"


_VARIABLES = {
    "model": "REREAD_MODEL",
    "embedder": "REREAD_EMBEDDER",
    "library": "REREAD_LIBRARY",
    "base_url": "OPENAI_BASE_URL",
    "api_key": "OPENAI_API_KEY",
    "context_tokens": "REREAD_CONTEXT_TOKENS",
    "workers": "REREAD_WORKERS",
    "timeout_s": "REREAD_TIMEOUT_S",
    "prompts": "REREAD_PROMPTS",
    "hub": "HF_ENDPOINT",
    "ocr": "REREAD_OCR",
}
_NUMBERS: dict[str, type[int] | type[float]] = {
    "context_tokens": int,
    "workers": int,
    "timeout_s": float,
}
_TOML_TYPES = {"true or false": (bool,), "a number": (int, float), "text": (str,)}
_PATHS = ("library", "prompts")


def load(environ: Mapping[str, str] | None = None, **said: Any) -> Config:
    """The configuration from what the caller said, the environment and `config.toml`.

    Raises:
        SettingsError: the file is not valid TOML, or a value is unknown or not of its kind.
    """
    environ = os.environ if environ is None else environ
    home = _path("REREAD_HOME", environ.get("REREAD_HOME") or platformdirs.user_data_dir("reread"))
    values = _file_values(home / "config.toml")
    values |= {key: environ[name] for key, name in _VARIABLES.items() if environ.get(name)}
    values |= {key: value for key, value in said.items() if value is not None}
    for key, kind in _NUMBERS.items():
        if key in values:
            values[key] = _number(key, values[key], kind)
    for key in _PATHS:
        if key in values:
            values[key] = _path(key, values[key])
    values.setdefault("library", home / "library.db")
    return Config(home=home, **values)


def _file_values(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}", hint="Mend or remove it") from error
    known = set(_VARIABLES) | {"allow_private", "prices"}
    if unknown := sorted(values.keys() - known):
        raise SettingsError(
            f"{path} sets {', '.join(unknown)}", hint=f"Known are {', '.join(sorted(known))}"
        )
    for model, entry in _table(path, "prices", values.get("prices", {})).items():
        _check_price(path, model, entry)
    for key, value in values.items():
        if key == "prices":
            continue
        kind = "a number" if key in _NUMBERS else "text"
        kind = "true or false" if key == "allow_private" else kind
        # A bool is an int to Python, not to people. The value may be a key, so it is not shown.
        if type(value) not in _TOML_TYPES[kind]:
            raise SettingsError(f"{path} sets {key} to something else than {kind}", hint="Mend it")
    return values


def _table(path: Path, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SettingsError(f"{path} sets {key} to something else than a table", hint="Mend it")
    return value


def _check_price(path: Path, model: str, entry: Any) -> None:
    entry = _table(path, f"the price of {model}", entry)
    keys = {"prompt", "completion"}
    amounts = [v for v in entry.values() if type(v) in (int, float) and 0 <= v < math.inf]
    if not keys <= entry.keys() <= keys | {"cached"} or len(amounts) < len(entry):
        raise SettingsError(
            f"{path} gives {model} no usable price",
            hint='Write "NAME" = { prompt = 0.15, completion = 0.60, cached = 0.075 }, '
            "in US dollars for a million tokens; cached may be left out",
        )


def _number(key: str, value: Any, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        what = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{key} is {value!r}, not {what}") from None
    if not (0 < number < math.inf and number == float(value)):
        raise SettingsError(f"{key} is {value}, but must be positive and whole where it counts")
    return number


def _path(key: str, value: str | Path) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise SettingsError(f"{key} is {str(value)!r}, but there is no such user") from None


def environment_with(**more: str) -> dict[str, str]:
    """The environment for a program that is started, with `more` in it."""
    return {**os.environ, **more}
