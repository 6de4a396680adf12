"""How large a model's window is, as its server says; servers say it in different places.

OpenAI's listing has no field for it. vLLM, llama.cpp, OpenRouter and others add one; LM Studio,
Ollama and older llama.cpp tell it at addresses of their own, which only servers on this machine or
network are asked for.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

REMOTE_TOKENS, LOCAL_TOKENS, OLLAMA_TOKENS = 32_768, 8_192, 4_096

Fetch = Callable[[str], Any]  # the JSON at an address, None when there is none


def is_local(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def declared(entries: Iterable[Mapping[str, Any]], model: str) -> int | None:
    """The window that the model's entry in `/v1/models` names, None when it names none."""
    for entry in entries:
        if entry.get("id") == model:
            meta = entry.get("meta")
            places = (entry, meta if isinstance(meta, Mapping) else {})
            for key in ("max_model_len", "context_length", "context_window", "n_ctx"):
                for place in places:
                    if (found := _positive(place.get(key))) is not None:
                        return found
    return None


def asked(base_url: str, model: str, fetch: Fetch) -> int | None:
    """The window that a local server names elsewhere, None when it is none of the known ones."""
    root = base_url.rstrip("/").removesuffix("/v1")
    return _lm_studio(fetch(f"{root}/api/v0/models"), model) or (
        _llama_cpp(fetch(f"{root}/props")) or _ollama(fetch(f"{root}/api/ps"), model)
    )


def _lm_studio(data: Any, model: str) -> int | None:
    for entry in listed(data, "data"):
        if entry.get("id") == model:
            return _positive(entry.get("loaded_context_length"))
    return None


def _llama_cpp(data: Any) -> int | None:
    settings = data.get("default_generation_settings") if isinstance(data, dict) else None
    return _positive(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _ollama(data: Any, model: str) -> int | None:
    if not isinstance(data, dict) or not isinstance(data.get("models"), list):
        return None
    for entry in listed(data, "models"):
        if entry.get("name") in (model, f"{model}:latest"):
            return _positive(entry.get("context_length")) or OLLAMA_TOKENS
    # Not in memory yet: it will be loaded with the default, and longer prompts cut silently.
    return OLLAMA_TOKENS


def listed(data: Any, key: str) -> list[dict[str, Any]]:
    """The objects in the list at this key; empty where there is no such list."""
    found = data.get(key) if isinstance(data, dict) else None
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
