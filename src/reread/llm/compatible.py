"""Any endpoint that speaks OpenAI's chat completions, through OpenAI's own client.

Servers differ in the parameters they take. One that is refused is renamed or left out, once, and
the change is kept for as long as the model is in use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import openai
from openai.types.chat import ChatCompletion

from reread.errors import ContextExceeded, ModelError, ModelRefused, ModelUnavailable
from reread.ports import Capabilities
from reread.text import estimate_tokens
from reread.types import Call, Completion

_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|maximum.{0,30}(context|tokens)|too (long|many tokens)|"
    r"exceed.{0,40}(context|token)|reduce the length|prompt is too",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|quota|billing|payment|credit", re.IGNORECASE)
# A parameter an endpoint refused, and what is sent instead; None leaves it out.
_SUBSTITUTES: Mapping[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": None,
    "temperature": None,
    "response_format": None,
}
_REMOTE_WINDOW, _LOCAL_WINDOW = 32_768, 8_192


class Compatible:
    """A model behind an OpenAI-compatible endpoint. Making one connects to nothing."""

    def __init__(
        self,
        *,
        name: str,
        model: str,
        base_url: str,
        api_key: str | None = None,
        timeout_s: float = 300.0,
        context_tokens: int | None = None,
        workers: int = 8,
        profile: str = "default",
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.base_url = base_url
        self._model = model
        self._extra_body = dict(extra_body or {})
        self._context_tokens = context_tokens
        self._workers = workers
        self._profile = profile
        self._capabilities: Capabilities | None = None
        self._refused: set[str] = set()
        limits = httpx.Limits(max_connections=workers + 2, max_keepalive_connections=workers + 2)
        timeout = httpx.Timeout(timeout_s, connect=10.0)
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            max_retries=0,  # the wrapper around us retries
            timeout=timeout,
            http_client=httpx.Client(limits=limits, timeout=timeout, follow_redirects=True),
        )

    @property
    def capabilities(self) -> Capabilities:
        if self._capabilities is None:
            self._capabilities = Capabilities(
                context_tokens=self._context_tokens or self._declared_window(),
                workers=self._workers,
                profile=self._profile,
            )
        return self._capabilities

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def complete(self, call: Call) -> Completion:
        started = time.monotonic()
        reply = self._send(call)
        if not reply.choices:
            raise ModelUnavailable(f"{self.name} sent a reply without any content")
        choice, usage = reply.choices[0], reply.usage
        details = usage.prompt_tokens_details if usage else None
        return Completion(
            text=without_reasoning(choice.message.content or ""),
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            reused_tokens=(details.cached_tokens or 0) if details else 0,
            finish_reason=choice.finish_reason or "stop",
            seconds=time.monotonic() - started,
        )

    def _send(self, call: Call) -> ChatCompletion:
        while True:
            try:
                reply: ChatCompletion = self._client.chat.completions.create(**self._body(call))
                return reply
            except openai.APIError as error:
                if not self._adapts_to(error):
                    raise self._failure(error) from error

    def _body(self, call: Call) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": call.system},
            {"role": "user", "content": call.user},
        ]
        wanted: dict[str, Any] = {"max_tokens": call.max_tokens, "temperature": call.temperature}
        if call.schema is not None:
            shape = {"name": call.phase, "schema": dict(call.schema), "strict": True}
            wanted["response_format"] = {"type": "json_schema", "json_schema": shape}
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        for key, value in wanted.items():
            accepted: str | None = key
            while accepted in self._refused:
                accepted = _SUBSTITUTES[accepted]
            if accepted is not None:
                body[accepted] = value
        extra = {**self._extra_body, **(call.extra if self._extra_body else {})}
        return {**body, "extra_body": extra} if extra else body

    def _adapts_to(self, error: openai.APIError) -> bool:
        """Whether a parameter that this refusal names was renamed or left out because of it."""
        if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
            return False
        text = f"{error.param or ''} {error.message}"
        for parameter in _SUBSTITUTES:
            if re.search(rf"\b{parameter}\b", text) and parameter not in self._refused:
                self._refused.add(parameter)
                return True
        return False

    def _failure(self, error: openai.APIError) -> ModelError:
        """The same failure as one of ours, in one line that says how to mend it."""
        place = urlsplit(self.base_url).netloc
        if isinstance(error, openai.APITimeoutError):
            return ModelUnavailable(f"{place} did not answer in time", hint="Raise --timeout")
        if isinstance(error, openai.APIConnectionError):
            cause = str(error.__cause__ or error)
            if "CERTIFICATE" in cause.upper() or "SSL" in cause.upper():
                return ModelRefused(
                    f"the TLS connection to {place} failed: {cause}",
                    hint="Check the address and its certificate",
                )
            return ModelUnavailable(
                f"no model server answers at {self.base_url} ({cause})",
                hint="Start it, or check OPENAI_BASE_URL",
                answered=not isinstance(error.__cause__, httpx.ConnectError),
            )
        if not isinstance(error, openai.APIStatusError):
            return ModelUnavailable(f"{place} sent something unreadable: {error.message}")
        return self._status_failure(error, place)

    def _status_failure(self, error: openai.APIStatusError, place: str) -> ModelError:
        status, text = error.status_code, _first_line(error)
        if status == 401 or status == 403:
            return ModelRefused(f"{place} refuses the key: {text}", hint="Check OPENAI_API_KEY")
        if status == 404:
            return ModelRefused(
                f"{place} knows no model {self._model!r}: {text}",
                hint=f"Check --model and OPENAI_BASE_URL{self._offer()}",
            )
        if status == 402 or (status == 429 and _QUOTA.search(f"{error.code} {text}")):
            return ModelRefused(
                f"the quota at {place} is used up: {text}",
                hint="Finished work is kept; run again when there is quota",
            )
        if status == 413 or _TOO_LONG.search(text):
            return ContextExceeded(
                f"{self._model} at {place} found the prompt too long: {text}",
                hint="Say how long its window is with --context-tokens",
            )
        if status in (408, 409, 425, 429) or status >= 500:
            return ModelUnavailable(
                f"{place} answered {status}: {text}", retry_after_s=_retry_after(error)
            )
        return ModelRefused(f"{place} refused the request ({status}): {text}")

    def _declared_window(self) -> int:
        host = urlsplit(self.base_url).hostname or ""
        fallback = _LOCAL_WINDOW if host in ("localhost", "127.0.0.1", "::1") else _REMOTE_WINDOW
        for entry in self._listed():
            if entry.get("id") == self._model:
                meta = entry.get("meta") or {}
                found = (
                    entry.get("max_model_len")
                    or entry.get("context_length")
                    or entry.get("context_window")
                    or (meta.get("n_ctx") if isinstance(meta, dict) else None)
                )
                if isinstance(found, int) and found > 0:
                    return found
        return fallback

    def _listed(self) -> list[dict[str, Any]]:
        try:
            return [m.model_dump() for m in self._client.models.list(timeout=10.0).data]
        except (openai.OpenAIError, TypeError):
            return []  # listing is a courtesy; the call itself will say what is wrong

    def _offer(self) -> str:
        names = [str(m.get("id")) for m in self._listed()][:8]
        return f". It offers {', '.join(names)}" if names else ""


def without_reasoning(text: str) -> str:
    """The reply without a block of reasoning at its head; text further on is left alone."""
    head = text.lstrip()
    if head.startswith("<think>"):
        _, closed, rest = head.partition("</think>")
        return rest.lstrip() if closed else ""
    # Some templates put the opening tag into the prompt, so only the closing one arrives.
    match = re.match(r"(?s)(?:(?!<think>).)*?\n?</think>[ \t]*\n", text)
    return text[match.end() :].lstrip() if match else text


def _first_line(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = str(message or error.message).strip()
    return text.splitlines()[0][:300] if text else "no reason given"


def _retry_after(error: openai.APIStatusError) -> float | None:
    value = error.response.headers.get("retry-after")
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None
