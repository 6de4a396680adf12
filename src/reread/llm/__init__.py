"""Language models: back ends, and the one place that chooses between them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from reread.config import Config
from reread.errors import SettingsError
from reread.ports import Facts, Model

_log = logging.getLogger(__name__)

_LOCAL_WORKERS = 4
_KINDS = "openai:NAME, local:NAME or scripted:extractive"


def choose(config: Config, facts: Callable[[str], Facts] | None = None) -> Model:
    """The model that the configuration names.

    When it names none, the one of a server that runs on this machine, and then the embedded
    default; which of them is said. `facts` keeps what is known of a model under its name.

    Raises:
        SettingsError: the name has none of the known kinds.
        WeightsMissing: the embedded model is meant, but its weights are not here.
    """
    from reread.llm.facts import about

    if not config.model:
        config = _with_what_runs(config)
    kind, separator, name = (config.model or "local:").partition(":")
    if kind == "openai" and name:
        from reread.llm.compatible import Compatible

        base_url = _address(config.base_url or "https://api.openai.com/v1")
        return Compatible(
            name=f"openai:{name}",
            model=name,
            base_url=base_url,
            api_key=_key(config.api_key),
            timeout_s=config.timeout_s,
            context_tokens=config.context_tokens,
            workers=config.workers or 8,
            facts=facts(about(f"openai:{name}", base_url)) if facts else None,
        )
    if kind == "local" and separator:
        from reread.llm import weights
        from reread.llm.local import Local

        chosen = weights.find(name)
        if chosen.embedder:
            raise SettingsError(f"{name} is an embedder", hint="Name it with --embedder")
        path = weights.require(chosen, config.weights)
        called = f"local:{chosen.name}"
        if not config.model:
            _log.warning("using %s, the embedded model", called)
        return Local(
            name=called,
            weights=path,
            states=config.states,
            context_tokens=config.context_tokens,
            facts=facts(called) if facts else None,
        )
    if kind == "scripted" and separator:
        from reread.llm.scripted import WINDOW_TOKENS, Scripted

        window = config.context_tokens or WINDOW_TOKENS
        return Scripted(workers=config.workers or 1, context_tokens=window)
    raise SettingsError(f"there is no model {config.model!r}", hint=f"Name one as {_KINDS}")


def _with_what_runs(config: Config) -> Config:
    """The configuration with a server found on this machine, itself where there is none."""
    from reread.llm import found

    server = None if config.base_url else found.running()
    if server is None:
        return config
    _log.warning("using %s of the %s at %s", server.model, server.server, server.base_url)
    return replace(
        config,
        model=f"openai:{server.model}",
        base_url=server.base_url,
        api_key=None,  # a key for elsewhere is not shown to it
        workers=config.workers or _LOCAL_WORKERS,
    )


def _address(url: str) -> str:
    """The endpoint's address, checked before anything is sent there."""
    url = url.strip().rstrip("/")
    hint = "Write it as http://HOST:PORT/v1, without the part after /v1"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        usable = usable and parts.port != 0
    except ValueError:
        usable = False
    if not usable or url.endswith("/chat/completions"):
        raise SettingsError(f"OPENAI_BASE_URL is {url!r}, not an endpoint's address", hint=hint)
    return url


def _key(key: str | None) -> str | None:
    key = key.strip() if key else None
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise SettingsError("OPENAI_API_KEY holds characters that no key has", hint="Copy it again")
    return key or None
