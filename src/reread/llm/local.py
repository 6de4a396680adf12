"""The embedded model: llama.cpp's server inside this process, reached over its own loopback port.

Speaking to it as to any other endpoint keeps one code path for both, and closing the connection
stops an unwanted generation. The port takes no request without a key made for this process.

The evaluated state of a long prefix (the gist memory of a document) is kept on disk, so that the
first question of a new process does not evaluate it again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
from pathlib import Path
from types import ModuleType

import httpx2 as httpx

from reread.errors import ModelError, ModelUnavailable
from reread.llm.compatible import Compatible
from reread.llm.facts import Unkept
from reread.parallel import interruptibly
from reread.ports import Capabilities, Facts
from reread.types import Call, Completion

_WINDOW = 8_192
_KEPT_STATES_BYTES = 2_000_000_000
_WORTH_KEEPING_TOKENS = 400


class Local:
    """A GGUF file run by llama.cpp. Making one loads nothing; the first call does.

    `context_tokens` makes its window smaller than it is, never larger.
    """

    def __init__(
        self,
        *,
        name: str,
        weights: Path,
        states: Path,
        threads: int | None = None,
        context_tokens: int | None = None,
        facts: Facts | None = None,
    ) -> None:
        self.name = name
        self._weights = weights
        self._states = states
        self._threads = threads or physical_cores()
        self.facts: Facts = facts or Unkept()
        window = min(context_tokens or _WINDOW, _WINDOW)
        self._capabilities = Capabilities(context_tokens=window, workers=1, profile="embedded")
        self._lock = threading.Lock()
        self._started = False
        self._resident: str | None = None  # the prefix whose state the slot holds

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def endpoint(self) -> Compatible:
        """The server in this process, which is started when it does not run yet."""
        self._start()
        return self._endpoint

    def room(self, call: Call) -> int:
        """The most tokens that a reply may take."""
        return call.max_tokens

    def keep(self) -> None:
        """Nothing is learned: the window is ours, and tokens are counted exactly."""

    def count_tokens(self, text: str) -> int:
        self._start()
        return len(self._post("/tokenize", {"content": text}).json()["tokens"])

    def complete(self, call: Call) -> Completion:
        self._start()
        with self._lock:  # one slot: what it holds must stay known
            if call.shares != self._resident:
                self._restore(call.shares)
            completion = self._endpoint.complete(call)
            self._keep(call, completion)
        return completion

    def _start(self) -> None:
        with self._lock:
            if self._started:
                return
            xllamacpp = _runtime()
            key = secrets.token_urlsafe(24)
            params = xllamacpp.CommonParams()
            params.model.path = str(self._weights)
            params.n_ctx = _WINDOW
            params.n_parallel = 1
            params.n_ubatch = 512
            params.cpuparams.n_threads = self._threads
            params.cpuparams_batch.n_threads = self._threads
            params.cache_ram_mib = 256
            params.api_keys = [key]
            params.verbosity = -1
            params.warmup = False
            if self._writable():
                params.slot_save_path = f"{self._states}{os.sep}"
            try:
                self._server = interruptibly(lambda: xllamacpp.Server(params))
            except RuntimeError as error:
                raise ModelError(
                    f"the embedded model does not load: {error}",
                    hint="Run `reread models pull` again, or free some memory (2 GB are needed)",
                ) from error
            address = self._server.listening_address
            self._http = httpx.Client(
                base_url=address,
                headers={"Authorization": f"Bearer {key}"},
                timeout=600.0,
                limits=httpx.Limits(max_keepalive_connections=0),  # it closes them when it likes
                trust_env=False,
            )
            self._endpoint = Compatible(
                name=self.name,
                model=self._weights.stem,
                base_url=f"{address}/v1",
                api_key=key,
                timeout_s=180.0,
                context_tokens=_WINDOW,
                workers=1,
                profile="embedded",
                extra_body={"cache_prompt": True},
                facts=self.facts,
            )
            self._started = True

    # -- kept states ----------------------------------------------------------------------------

    def _writable(self) -> bool:
        try:
            self._states.mkdir(parents=True, exist_ok=True)
        except OSError:
            return False
        return os.access(self._states, os.W_OK)

    def _state_file(self, shares: str) -> Path:
        digest = hashlib.sha256(f"{self.name}\0{shares}".encode()).hexdigest()[:24]
        return self._states / f"{digest}.state"

    def _restore(self, shares: str | None) -> None:
        self._resident = shares
        if shares and (file := self._state_file(shares)).is_file():
            self._slot("restore", file)

    def _keep(self, call: Call, completion: Completion) -> None:
        """Keeps the slot's state the first time a long shared prefix was evaluated."""
        tokens = (completion.prompt_tokens or 0) - completion.reused_tokens
        if not call.shares or tokens < _WORTH_KEEPING_TOKENS:
            return
        file = self._state_file(call.shares)
        if not file.exists() and self._writable():
            self._slot("save", file)
            _prune(self._states, _KEPT_STATES_BYTES)

    def _slot(self, action: str, file: Path) -> None:
        """Saving and restoring only save time, so a refusal costs nothing but time."""
        self._post(f"/slots/0?action={action}", {"filename": file.name})

    def _post(self, path: str, body: dict[str, str]) -> httpx.Response:
        try:
            return self._http.post(path, json=body)
        except httpx.HTTPError as error:
            raise ModelUnavailable(f"the embedded model stopped answering: {error}") from error


def forget_states(states: Path) -> None:
    """Removes every kept state: they hold evaluated document text."""
    for file in states.glob("*.state"):
        file.unlink(missing_ok=True)


def _prune(states: Path, limit_bytes: int) -> None:
    files = sorted(states.glob("*.state"), key=lambda f: f.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > limit_bytes:
            file.unlink(missing_ok=True)


def physical_cores() -> int:
    """How many cores this process may use, at least 1."""
    return max(
        1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


def _runtime() -> ModuleType:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            "the embedded runtime is not installed", hint="Run: pip install 'reread[local]'"
        ) from error
    module: ModuleType = xllamacpp
    return module
