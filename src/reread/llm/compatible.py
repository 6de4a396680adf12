"""Any endpoint that speaks OpenAI's chat completions, through OpenAI's own client.

Replies are streamed wherever that works, so that a limit of time is one of silence and not of the
whole reply, a broken one is noticed, and an unwanted one ends with its connection.

Servers differ in the parameters they take. One that is refused is renamed or left out, and that is
kept among the facts about the model, for later runs too. A window that turns out smaller than it
was thought to be is kept likewise; the refusal then says that the work can be planned again.

Nothing is sent anywhere but to `base_url`: redirections are not followed, and a server on this
machine is never reached through a proxy.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
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
from reread.llm.counts import counts
from reread.llm.facts import Learned
from reread.llm.reasoning import so_far, without_reasoning
from reread.llm.refusals import Refusal
from reread.llm.sizes import fewest_tokens
from reread.ports import Capabilities, Facts
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
    "logprobs": None,
    "top_logprobs": None,
}
_FIRST_TIMES = 10  # the first word waits for the prompt to be evaluated, minutes on a laptop
_DRAIN_S = 0.5
_MOST_LIKELY = 10
_THINKING_TOKENS = 4_096  # room for reasoning, once a reply was cut because of it
_SMALLEST_WINDOW = 256
_CERTAINLY_COUNTED_TOKENS = 400


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
        facts: Facts | None = None,
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
        self._planned = 0  # tokens, before anything was learned
        self.learned = Learned(facts)
        self.declared: int | None = context_tokens  # the window that somebody named
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
                self._planned = self._context_tokens or self._window()
                self._capabilities = self._capable_of(self.learned.window(self._planned))
            return self._capabilities

    @property
    def facts(self) -> Facts:
        return self.learned.facts

    def keep(self) -> None:
        self.learned.keep()

    def begin(self, learned: Learned) -> None:
        """Goes on with other knowledge, and asks for the window anew."""
        with self._lock:
            self.learned, self._capabilities = learned, None

    def count_tokens(self, text: str) -> int:
        return self.learned.sizes.count(text)

    def complete(self, call: Call) -> Completion:
        started = time.monotonic()
        thinking = self.learned.thinking_tokens
        reply = self._send(call)
        fewest = fewest_tokens(call.system) + fewest_tokens(call.user)
        took = counts(reply.usage, fewest)
        weighed = streams.chances(reply.likely, call.weighs)
        completion = Completion(
            text=weighed or without_reasoning(reply.text),
            prompt_tokens=took.prompt,
            completion_tokens=took.completion,
            reused_tokens=took.reused,
            reasoning_tokens=took.reasoning,
            finish_reason="stop" if weighed else reply.finish_reason or "stop",
            seconds=time.monotonic() - started,
        )
        self._check_whole(took.prompt, fewest)
        if took.prompt is not None and call.schema is None:  # a schema may be counted too
            self.learned.sizes.saw((call.system, call.user), took.prompt)
        if completion.finish_reason == "length" and (reply.thought or not completion.text):
            # The next ones get more room, and less effort.
            self.learned.think(max(_THINKING_TOKENS, 2 * thinking), instead_of=thinking)
        return completion

    def raw(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The endpoint's own reply to a body; nothing is learned from it and nothing adapted.

        Raises:
            ModelError: it refuses, or does not answer.
        """
        with self._failing():
            reply = self._client.post(
                "/chat/completions",
                cast_to=object,
                body={"model": self._model, **body},
                options={"timeout": _FIRST_TIMES * self._timeout_s},
            )
        return reply if isinstance(reply, dict) else {}

    def raw_pieces(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The same, streamed."""
        with self._failing():
            pieces = self._client.post(
                "/chat/completions",
                cast_to=object,
                body={"model": self._model, **body, "stream": True},
                stream=True,
                stream_cls=openai.Stream[object],
            )
            yield from (piece for piece in pieces if isinstance(piece, dict))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise self._failure(self._refusal(error)) from error
        except openai.APIConnectionError as error:
            raise self._connection_failure(error.__cause__ or error) from error
        except (openai.APIError, httpx.HTTPError, ValueError) as error:
            raise ModelUnavailable(f"{self._place} sent something unreadable: {error}") from error

    def _send(self, call: Call) -> streams.Reply:
        adapted: list[str] = []
        while True:
            body = self.body(call)
            try:
                reply = self._once(body, call.hear)
            except openai.APIStatusError as error:
                refusal = self._refusal(error)
                name = self._refused_by(refusal, f"{error.param or ''} {error.message}", body)
                if name is None:
                    raise self._failure(refusal, call) from error
                adapted.append(name)
            except streams.Told as error:
                text = self._without_key(refusals.said(error.body, ""))
                refusal = refusals.within(error.body, text)
                name = self._refused_by(refusal, text, body)
                if name is None:
                    raise self._failure(refusal, call) from error
                adapted.append(name)
            else:
                if "stream" in body and not reply.streamed:
                    self.learned.refuse("stream", kept=False)
                if adapted:  # kept only now: the same words can be about something else
                    self.learned.refuse(*adapted, kept=True)
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
                    chunks = sockets.chunks(response)
                    reply = streams.receive(chunks, came=limit.renew, hear=heard)
                    limit.until = time.monotonic() + _DRAIN_S
                    sockets.drain(chunks)
                    return reply
        except streams.NoReply as error:
            raise ModelRefused(
                f"what answers at {self.base_url} is no model server",
                hint="Check OPENAI_BASE_URL; it usually ends in /v1",
            ) from error
        except streams.Broken as error:
            raise ModelUnavailable(
                f"the reply of {self._place} broke: {error}", worked=True
            ) from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, sockets.Stale):
                return self._once(body, hear)  # each time on another connection, at last a new one
            raise self._connection_failure(error.__cause__ or error) from error
        except httpx.HTTPError as error:
            raise self._connection_failure(error) from error

    def body(self, call: Call) -> dict[str, Any]:
        """The request for a call, with only the parameters that the endpoint takes."""
        refused = self.learned.refused
        messages = [
            {"role": "system", "content": call.system},
            {"role": "user", "content": call.user},
        ]
        if "system" in refused:
            messages = [{"role": "user", "content": f"{call.system}\n\n{call.user}"}]
        wanted: dict[str, Any] = {"max_tokens": self.room(call), "temperature": call.temperature}
        if call.schema is not None:
            shape = {"name": call.phase, "schema": dict(call.schema), "strict": True}
            wanted["response_format"] = {"type": "json_schema", "json_schema": shape}
        if call.weighs:
            wanted |= {"logprobs": True, "top_logprobs": _MOST_LIKELY}
        if self.learned.thinking_tokens:
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

    def room(self, call: Call) -> int:
        """The tokens a reply may take, with room for reasoning where the model is known to need it.

        What fits beside the prompt is the most; what the call asks for is the least.
        """
        thinking = self.learned.thinking_tokens
        unlimited = "max_completion_tokens" in self.learned.refused
        if not thinking and not unlimited:
            return call.max_tokens
        prompt = self.count_tokens(call.system) + self.count_tokens(call.user)
        left = max(call.max_tokens, self.capabilities.context_tokens - prompt)
        return left if unlimited else min(call.max_tokens + thinking, left)

    def _refused_by(self, refusal: Refusal, text: str, body: Mapping[str, Any]) -> str | None:
        """The parameter that this refusal names, which is renamed or left out from now on.

        Judged by what this request sent: another thread may have learned the same meanwhile.
        """
        sent = {**body, "system": True} if len(body["messages"]) == 2 else body
        name = refusals.refused_parameter(refusal.status, text, sent)
        if name is not None:
            self.learned.refuse(name, kept=False)
            _log.info("%s refuses %s", self.name, name)
        return name

    def _check_whole(self, counted: int | None, fewest: int) -> None:
        """Refuses a reply to a prompt of which the server says that it read only a part."""
        short = fewest < _CERTAINLY_COUNTED_TOKENS
        if short or counted is None or not self.learned.cut(counted, fewest):
            return
        raise ContextExceeded(
            f"{self._place} read only {counted} tokens of a prompt of at least {fewest}: it cuts "
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
                f"{self._place} did not answer in time",
                hint="Raise --timeout",
                overloaded=True,
                worked=True,
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
            return ModelUnavailable(f"the connection to {self._place} broke: {told}", worked=True)
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

    def _failure(self, refusal: Refusal, call: Call | None = None) -> ModelError:
        """The same failure as one of ours, in one line that says how to mend it."""
        status, text, place = refusal.status, refusal.text, self._place
        if refusals.too_long(status, text):
            return self._too_long(refusal, call)
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
                worked=refusal.within,
            )
        return ModelRefused(f"{place} refused the request ({status}): {text}")

    def _too_long(self, refusal: Refusal, call: Call | None) -> ContextExceeded:
        error = ContextExceeded(
            f"{self._model} at {self._place} found the prompt too long: {refusal.text}",
            hint="Say how long its window is with --context-tokens",
        )
        # Only after something was learned can the same work succeed when it is planned again.
        limit = refusals.limit_tokens(refusal.text, refusal.body)
        if limit is None or limit < _SMALLEST_WINDOW:
            return error
        if limit < self.capabilities.context_tokens:
            # A limit on tokens a minute belongs to the account and may change.
            self.shrink(limit, kept=refusal.status != 429)
            error.retryable = True
        elif call is not None:
            # The window was known: this text takes more tokens than were estimated.
            error.retryable = self.learned.sizes.exceeded((call.system, call.user))
        return error

    def shrink(self, tokens: int, *, kept: bool = True) -> None:
        """Plans with a smaller window from now on, and in later runs when `kept`."""
        with self._lock:
            self._capabilities = self._capable_of(tokens)
        if kept:
            self.learned.shrink(tokens, self._planned)

    def _capable_of(self, context_tokens: int) -> Capabilities:
        return Capabilities(
            context_tokens=context_tokens, workers=self._workers, profile=self._profile
        )

    def _without_key(self, text: str) -> str:
        key = self._api_key
        return text.replace(key, "…") if key and len(key) > 5 else text

    # -- what the endpoint says of itself -------------------------------------------------------

    def _window(self) -> int:
        local = windows.is_local(self.base_url)
        found = windows.declared(self._listed(), self._model)
        if found is None and local:
            found = windows.asked(self.base_url, self._model, self._json_at)
        self.declared = found
        return found or (windows.LOCAL_TOKENS if local else windows.REMOTE_TOKENS)

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
