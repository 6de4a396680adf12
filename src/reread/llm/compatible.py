"""Any endpoint that speaks OpenAI's chat completions, through OpenAI's own client.

Replies are streamed wherever that works, so that a limit of time is one of silence and not of the
whole reply, a broken one is noticed, and an unwanted one ends with its connection.

Servers differ in the parameters they take. One that is refused is renamed or left out, once, and
the change is kept for as long as the model is in use. A window that turns out smaller than it was
thought to be is kept likewise; the refusal then says that the work can be planned again.

Nothing is sent anywhere but to `base_url`: redirections are not followed, and a server on this
machine is never reached through a proxy.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import openai

from reread.errors import (
    Cancelled,
    ContextExceeded,
    MalformedReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from reread.llm import refusals, sockets, streams, windows
from reread.llm.reasoning import so_far, without_reasoning
from reread.llm.refusals import Refusal
from reread.ports import Capabilities
from reread.text import estimate_tokens
from reread.types import Call, Completion

_log = logging.getLogger(__name__)

# A parameter an endpoint refused, and what is sent instead; None leaves it out. A refused `system`
# role puts its message before the user's.
_SUBSTITUTES: Mapping[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": None,
    "temperature": None,
    "response_format": None,
    "system": None,
    "stream_options": None,
    "stream": None,
    "reasoning_effort": None,
}
_FIRST_TIMES = 10  # the first word waits for the prompt to be evaluated, minutes on a laptop
_DRAIN_S = 0.5
_THINKING_TOKENS = 4_096  # room for reasoning, once a reply was cut because of it
_SMALLEST_WINDOW = 256
_MOST_TOKENS_PER_ESTIMATE = 3.0
_CERTAINLY_COUNTED_WORDS = 400


class Compatible:
    """A model behind an OpenAI-compatible endpoint. Making one connects to nothing.

    `timeout_s` is how long a reply may be silent once it has begun; its first word, and a reply
    that is not streamed, may take ten times as long.
    """

    def __init__(
        self,
        *,
        name: str,
        model: str,
        base_url: str,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        context_tokens: int | None = None,
        workers: int = 8,
        profile: str = "default",
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.base_url = base_url
        self._model = model
        self._api_key = api_key
        self._extra_body = dict(extra_body or {})
        self._context_tokens = context_tokens
        self._workers = workers
        self._profile = profile
        self._capabilities: Capabilities | None = None
        self._refused: set[str] = set()
        self._tokens_per_estimate = 1.0
        self._thinking_tokens = 0
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        limits = httpx.Limits(max_connections=workers + 2, max_keepalive_connections=workers + 2)
        timeout = httpx.Timeout(timeout_s, connect=min(10.0, timeout_s))
        self._http = httpx.Client(
            limits=limits,
            timeout=timeout,
            follow_redirects=False,
            trust_env=not windows.is_local(base_url),
        )
        sockets.patient(self._http)
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            max_retries=0,  # the wrapper around us retries
            timeout=timeout,
            http_client=self._http,
        )

    @property
    def capabilities(self) -> Capabilities:
        """Window, calls in flight and profile; the window is asked for once.

        Raises:
            ModelError: the endpoint does not answer. Without a window nothing can be planned, and
                another guess than the last time would read everything anew.
        """
        with self._lock:
            if self._capabilities is None:
                self._capabilities = self._capable_of(self._context_tokens or self._window())
            return self._capabilities

    def count_tokens(self, text: str) -> int:
        return math.ceil(estimate_tokens(text) * self._tokens_per_estimate)

    def complete(self, call: Call) -> Completion:
        started = time.monotonic()
        thinking = self._thinking_tokens
        reply = self._send(call)
        usage = reply.usage
        details = usage.get("prompt_tokens_details")
        completion = Completion(
            text=without_reasoning(reply.text),
            prompt_tokens=_count(usage.get("prompt_tokens")) or None,
            completion_tokens=_count(usage.get("completion_tokens")),
            reused_tokens=_count(details.get("cached_tokens")) or 0 if details else 0,
            finish_reason=reply.finish_reason or "stop",
            seconds=time.monotonic() - started,
        )
        self._check_whole(call, completion)
        if completion.finish_reason == "length" and (reply.thought or not completion.text):
            self._leaves_room_to_think(thinking)
        return completion

    def _send(self, call: Call) -> streams.Reply:
        while True:
            body = self._body(call)
            try:
                reply = self._once(body, call.hear)
            except openai.APIStatusError as error:
                refusal = self._refusal(error)
                if not self._adapts_to(refusal, f"{error.param or ''} {error.message}", body):
                    raise self._failure(refusal) from error
            except streams.Told as error:
                text = self._without_key(refusals.said(error.body, ""))
                refusal = refusals.within(error.body, text)
                if not self._adapts_to(refusal, text, body):
                    raise self._failure(refusal) from error
            else:
                if "stream" in body and not reply.streamed:
                    self._refuses("stream")
                return reply

    def _once(self, body: dict[str, Any], hear: Callable[[str], None] | None) -> streams.Reply:
        """The reply to one request, with the text so far told without its reasoning."""
        heard = (lambda text: hear(so_far(text))) if hear else None
        try:
            with sockets.patience(_FIRST_TIMES * self._timeout_s, self._timeout_s) as limit:
                response: Any = self._client.post(
                    "/chat/completions",
                    cast_to=httpx.Response,
                    body=body,
                    stream=True,  # of the transport; what the server is asked for is in the body
                    stream_cls=openai.Stream[object],
                )
                with closing(response):
                    chunks = _chunks(response)
                    reply = streams.receive(chunks, came=limit.renew, hear=heard)
                    limit.until = time.monotonic() + _DRAIN_S
                    _drain(chunks)
                    return reply
        except streams.NoReply as error:
            raise ModelRefused(
                f"what answers at {self.base_url} is no model server",
                hint="Check OPENAI_BASE_URL; it usually ends in /v1",
            ) from error
        except streams.Broken as error:
            raise ModelUnavailable(f"the reply of {self._place} broke: {error}") from error
        except openai.APIConnectionError as error:
            raise self._connection_failure(error.__cause__ or error) from error
        except httpx.HTTPError as error:
            raise self._connection_failure(error) from error

    def _body(self, call: Call) -> dict[str, Any]:
        with self._lock:
            refused = set(self._refused)
        messages = [
            {"role": "system", "content": call.system},
            {"role": "user", "content": call.user},
        ]
        if "system" in refused:
            messages = [{"role": "user", "content": f"{call.system}\n\n{call.user}"}]
        wanted: dict[str, Any] = {"max_tokens": self._room(call), "temperature": call.temperature}
        if call.schema is not None:
            shape = {"name": call.phase, "schema": dict(call.schema), "strict": True}
            wanted["response_format"] = {"type": "json_schema", "json_schema": shape}
        if self._thinking_tokens:
            wanted["reasoning_effort"] = "low"
        if "stream" not in refused:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        for key, value in wanted.items():
            accepted: str | None = key
            while accepted in refused:
                accepted = _SUBSTITUTES[accepted]
            if accepted is not None:
                body[accepted] = value
        extra = {**self._extra_body, **(call.extra if self._extra_body else {})}
        return body | extra

    def _room(self, call: Call) -> int:
        """The tokens a reply may take, with room for reasoning where the model is known to need it.

        What fits beside the prompt is the most; what the call asks for is the least.
        """
        if not self._thinking_tokens:
            return call.max_tokens
        prompt = self.count_tokens(call.system) + self.count_tokens(call.user)
        left = self.capabilities.context_tokens - prompt
        return max(call.max_tokens, min(call.max_tokens + self._thinking_tokens, left))

    def _leaves_room_to_think(self, had: int) -> None:
        """After a reply cut by its reasoning: the next ones get more room, and less effort."""
        with self._lock:
            if self._thinking_tokens == had:
                self._thinking_tokens = max(_THINKING_TOKENS, 2 * had)

    def _adapts_to(self, refusal: Refusal, text: str, body: Mapping[str, Any]) -> bool:
        """Whether a parameter that this refusal names was renamed or left out because of it.

        Judged by what this request sent: another thread may have learned the same meanwhile.
        """
        sent = {**body, "system": True} if len(body["messages"]) == 2 else body
        name = refusals.refused_parameter(refusal.status, text, sent)
        if name is None:
            return False
        self._refuses(name)
        return True

    def _refuses(self, name: str) -> None:
        with self._lock:
            self._refused.add(name)
        _log.info("%s refuses %s", self.name, name)

    def _check_whole(self, call: Call, completion: Completion) -> None:
        """Refuses a reply to a prompt of which the server says that it read only a part.

        Every word between spaces takes a token at least, whatever the vocabulary.
        """
        counted = completion.prompt_tokens
        fewest = len(call.system.split()) + len(call.user.split())
        if counted is None or fewest < _CERTAINLY_COUNTED_WORDS or counted >= 0.95 * fewest:
            return
        raise ContextExceeded(
            f"{self._place} read only {counted} tokens of a prompt of {fewest} words: it cuts "
            "prompts silently",
            hint="Give the model a larger window there (for Ollama OLLAMA_CONTEXT_LENGTH), or say "
            f"--context-tokens {counted}",
        )

    # -- failures -------------------------------------------------------------------------------

    @property
    def _place(self) -> str:
        return urlsplit(self.base_url).netloc

    def _connection_failure(self, cause: BaseException) -> Exception:
        if isinstance(cause, Cancelled):
            return cause
        reached = not isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout)
        if isinstance(cause, httpx.TimeoutException) and reached:
            return ModelUnavailable(
                f"{self._place} did not answer in time", hint="Raise --timeout", overloaded=True
            )
        told = self._without_key(str(cause)) or type(cause).__name__
        if isinstance(cause, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            return ModelRefused(
                f"nothing can be sent to {self.base_url}: {told}",
                hint="Check OPENAI_BASE_URL and OPENAI_API_KEY",
            )
        if "CERTIFICATE" in told.upper() or "SSL" in told.upper():
            return ModelRefused(
                f"the TLS connection to {self._place} failed: {told}",
                hint="Check the address and its certificate",
            )
        if reached:
            return ModelUnavailable(f"the connection to {self._place} broke: {told}")
        return ModelUnavailable(
            f"no model server answers at {self.base_url} ({told})",
            hint="Start it, or check OPENAI_BASE_URL",
            answered=False,
        )

    def _refusal(self, error: openai.APIStatusError) -> Refusal:
        return Refusal(
            status=error.status_code,
            text=self._without_key(refusals.said(error.body, error.message)),
            body=error.body,
            code=error.code,
            headers=error.response.headers,
        )

    def _failure(self, refusal: Refusal) -> ModelError:
        """The same failure as one of ours, in one line that says how to mend it."""
        status, text, place = refusal.status, refusal.text, self._place
        if refusals.too_long(status, text):
            return self._too_long(text, refusal.body)
        if status < 400:
            return ModelRefused(
                f"{place} sends requests on to {refusal.headers.get('location', 'elsewhere')}",
                hint="Set OPENAI_BASE_URL to that address if documents may go there",
            )
        if refusals.withheld(refusal.code, text):
            return MalformedReply(f"{place} withheld the reply: {text}")
        if status in (401, 403):
            hint = "Check OPENAI_API_KEY" if self._api_key else "Set OPENAI_API_KEY"
            return ModelRefused(f"{place} refuses the key: {text}", hint=hint)
        if refusals.quota_used_up(status, refusal.code, text, refusal.headers):
            return ModelRefused(
                f"the quota at {place} is used up: {text}",
                hint="Finished work is kept; run again when there is quota",
            )
        if refusals.unknown_model(status, text):
            return ModelRefused(
                f"{place} knows no model {self._model!r}: {text}", hint=self._offer()
            )
        if status in (408, 409, 425, 429) or status >= 500:
            what = "failed in the middle of a reply" if refusal.within else f"answered {status}"
            return ModelUnavailable(
                f"{place} {what}: {text}",
                hint="Finished work is kept; run again later",
                retry_after_s=refusals.retry_after_s(text, refusal.headers),
                overloaded=refusals.overloaded(status, text),
            )
        return ModelRefused(f"{place} refused the request ({status}): {text}")

    def _too_long(self, text: str, body: object) -> ContextExceeded:
        error = ContextExceeded(
            f"{self._model} at {self._place} found the prompt too long: {text}",
            hint="Say how long its window is with --context-tokens",
        )
        # Only after something was learned can the same work succeed when it is planned again.
        error.retryable = self._learns(refusals.limit_tokens(text, body))
        return error

    def _learns(self, limit: int | None) -> bool:
        """Whether the named limit changes what is known of the window or of its tokens."""
        window = self.capabilities.context_tokens
        with self._lock:
            if limit is None or limit < _SMALLEST_WINDOW:
                return False
            if limit < window:
                self._capabilities = self._capable_of(limit)
                return True
            # The window was known: this text takes more tokens than were estimated.
            if self._tokens_per_estimate >= _MOST_TOKENS_PER_ESTIMATE:
                return False
            self._tokens_per_estimate *= 1.3
            return True

    def _capable_of(self, context_tokens: int) -> Capabilities:
        return Capabilities(
            context_tokens=context_tokens, workers=self._workers, profile=self._profile
        )

    def _without_key(self, text: str) -> str:
        key = self._api_key
        return text.replace(key, "…") if key and len(key) > 5 else text

    # -- what the endpoint says of itself -------------------------------------------------------

    def _window(self) -> int:
        found = windows.declared(self._listed(), self._model)
        if found is None and windows.is_local(self.base_url):
            found = windows.asked(self.base_url, self._model, self._json_at)
            return found or windows.LOCAL_TOKENS
        return found or windows.REMOTE_TOKENS

    def _listed(self) -> list[dict[str, Any]]:
        """The entries of `/v1/models`; empty where the server keeps none.

        Raises:
            ModelError: no connection comes about, or the server asks to come back later.
        """
        try:
            page = self._client.models.list(timeout=10.0)
            return [m.model_dump() for m in page.data or []]
        except openai.APIConnectionError as error:
            raise self._connection_failure(error.__cause__ or error) from error
        except openai.APIStatusError as error:
            if error.status_code in (429, 502, 503, 504):
                raise self._failure(self._refusal(error)) from error
            return []
        except (openai.OpenAIError, AttributeError, TypeError, ValueError):
            return []  # a page of another kind; the call itself will say what is wrong

    def _json_at(self, address: str) -> Any:
        try:
            reply = self._http.get(address, timeout=5.0)
            return reply.json() if reply.status_code == 200 else None
        except (httpx.HTTPError, ValueError):
            return None

    def _offer(self) -> str:
        try:
            names = [str(m.get("id")) for m in self._listed()][:8]
        except ModelError:
            names = []
        if names:
            return f"Check --model. It offers {', '.join(names)}"
        return "Check --model and OPENAI_BASE_URL, which usually ends in /v1"


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    # What is not compressed need not pass the client's decoders.
    packed = "content-encoding" in response.headers
    return response.iter_bytes() if packed else response.iter_raw()


def _drain(chunks: Iterator[bytes]) -> None:
    """Takes what follows the end of a reply, so that the connection can be used again."""
    try:
        for _ in chunks:
            pass
    except httpx.HTTPError:
        pass  # it is closed then; the reply is here


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
