"""A model server that already runs on this machine, on the port it usually has.

Only loopback is asked. Models whose work is done elsewhere, and those that do not write, are passed
over.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PORTS = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000))
_CONNECT_S, _ANSWER_S = 0.2, 2.0
_OTHER = re.compile(r"embed|rerank|whisper|\btts\b|\bbge\b|minilm|guard|[:-]cloud\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A server, the address of its API, and the first of its models that can write."""

    server: str
    base_url: str
    model: str


def running(ports: Sequence[tuple[str, int]] = PORTS) -> Found | None:
    """The first server that answers with a usable model, None when there is none."""
    for server, port in ports:
        if not _listens(port):
            continue
        base_url = f"http://127.0.0.1:{port}/v1"
        for model in _models(base_url):
            if not _OTHER.search(model):
                return Found(server=server, base_url=base_url, model=model)
    return None


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _models(base_url: str) -> list[str]:
    import httpx2 as httpx

    try:
        with httpx.Client(timeout=_ANSWER_S, trust_env=False) as client:
            reply = client.get(f"{base_url}/models")
        data: Any = reply.json() if reply.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return []  # something else listens there
    entries = data.get("data") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return []
    return [e["id"] for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
