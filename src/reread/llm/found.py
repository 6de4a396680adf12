"""A model server that already runs on this machine, on the port it usually has.

Only loopback is asked. Models whose work is done elsewhere, and those that do not write, are passed
over; of the others one that is loaded comes first, since loading another would put it out.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reread.llm.windows import Fetch, listed

PORTS = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000))
_CONNECT_S, _ANSWER_S = 0.2, 2.0
_OTHER = re.compile(r"embed|rerank|whisper|\btts\b|\bbge\b|minilm|guard|[:-]cloud\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A server, the address of its API, and one of its models that can write."""

    server: str
    base_url: str
    model: str


def running(ports: Sequence[tuple[str, int]] = PORTS) -> Found | None:
    """The first server that answers with a usable model, None when there is none."""
    for server, port in ports:
        if _listens(port):
            root = f"http://127.0.0.1:{port}"
            if models := usable(root, _fetch):
                return Found(server=server, base_url=f"{root}/v1", model=models[0])
    return None


def usable(root: str, fetch: Fetch) -> list[str]:
    """The models of a server that write and run here, those that are loaded first."""
    names = [e["id"] for e in listed(fetch(f"{root}/v1/models"), "data") if _is_text(e.get("id"))]
    names = [name for name in names if not _OTHER.search(name)]
    if not names:
        return []
    studio = listed(fetch(f"{root}/api/v0/models"), "data")
    other = {e.get("id") for e in studio if e.get("type") == "embeddings"}
    loaded = {e.get("id") for e in studio if e.get("state") == "loaded"}
    if not studio:
        tags = listed(fetch(f"{root}/api/tags"), "models")
        other |= {e.get("name") for e in tags if e.get("remote_host")}
        loaded |= {e.get("name") for e in listed(fetch(f"{root}/api/ps"), "models")}
    return sorted((n for n in names if n not in other), key=lambda name: name not in loaded)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _fetch(address: str) -> Any:
    import httpx2 as httpx

    try:
        with httpx.Client(timeout=_ANSWER_S, trust_env=False) as client:
            reply = client.get(address)
        return reply.json() if reply.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return None  # something else listens there
