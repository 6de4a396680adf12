"""What a model at an endpoint can do, found out by a few calls, once.

Each question is a function that asks it and returns what it found; `probe` puts them together and
leaves behind what the model plans with: its window where prompts are cut silently, and a system
role that is taken but not heeded. Everything else it notes is for people.

The cost is stated: some 3,000 tokens, or 6,500 where the window is measured too, which is done
where the server is on this machine or declares nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from reread.errors import ModelError, ModelRefused, SettingsError
from reread.llm.compatible import Compatible
from reread.llm.counts import Counts, counts
from reread.llm.facts import Learned
from reread.llm.local import Local
from reread.llm.reasoning import without_reasoning
from reread.llm.sizes import fewest_tokens
from reread.llm.windows import is_local
from reread.ports import Learning, Model
from reread.types import Call, Completion, PromptId

_CODE = "BIRCH-74"
_MOST_WINDOW_TOKENS = 4_600  # enough to notice the 4,096 that Ollama cuts at when told nothing
_BEGINNING_TOKENS, _LOCAL_BEGINNING_TOKENS = 1_150, 550  # OpenAI reuses none below 1,024
_REPLY_TOKENS = 400  # room for a model that thinks before it says a word
_WORDS = (
    "river stone garden window letter harbour morning market candle bridge winter orchard".split()
)
_SCHEMA = {
    "type": "object",
    "properties": {"shade": {"type": "string", "enum": ["dark-7", "light-9"]}},
    "required": ["shade"],
    "additionalProperties": False,
}
_GRAMMAR = 'root ::= "dark-7" | "light-9"'
_MARKS = ("<think>", "</think>", "<thinking>", "<reasoning>", "<thought>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What was found. None is what could not be told.

    `window_tokens` is what is planned with: `window_declared` unless prompts are cut before it.
    `window_checked` is how long a prompt was read whole, None when none was sent. `structured` is
    `json_schema`, `grammar`, `json_object` or `none`. `system_role` is `taken`, `ignored` or
    `refused`. `reasoning` is `none`, `in the reply` or `apart`. `reused_tokens` of
    `repeated_tokens` were evaluated before when a prompt's beginning came a second time.
    Speeds are tokens a second. `prompt_tokens` and `completion_tokens` are what the test took.
    """

    model: str
    endpoint: str
    at: str
    window_tokens: int
    window_declared: int
    window_checked: int | None
    structured: str
    system_role: str
    refused: tuple[str, ...]
    reasoning: str
    streaming: bool
    counts_tokens: bool
    reused_tokens: int | None
    repeated_tokens: int | None
    prompt_speed: float | None
    reply_speed: float | None
    calls: int
    prompt_tokens: int
    completion_tokens: int


def findings(model: Model, *, again: bool) -> Report:
    """What an earlier test of this model at this endpoint found, or one made now.

    Raises:
        SettingsError: the model is no endpoint.
        ModelError: it does not answer.
    """
    kept = model.facts.get("probe") if isinstance(model, Learning) else None
    if kept and not again and kept.keys() == {f.name for f in fields(Report)}:
        return Report(**{**kept, "refused": tuple(kept["refused"])})
    endpoint = model.endpoint if isinstance(model, Local) else model
    if not isinstance(endpoint, Compatible):
        raise SettingsError(
            f"{model.name} is no endpoint, so there is nothing to test", hint="Name another --model"
        )
    return probe(endpoint)


def probe(model: Compatible) -> Report:
    """Tests the model anew and keeps what was found.

    Raises:
        ModelError: it does not answer.
    """
    before = model.learned
    model.begin(Learned())
    try:
        report = _report(model)
    except BaseException:
        model.begin(before)  # a test that fails unlearns nothing
        raise
    model.learned.move_to(before.facts)
    model.facts.put("probe", asdict(report))
    return report


def _report(model: Compatible) -> Report:
    declared = model.capabilities.context_tokens
    asked = _Asked(model)
    reasoning, counts_tokens, role = _greeting(asked)
    structured = _structured(asked)
    streaming, speeds, repeated = _repeated(asked)
    checked = None
    if model.declared is None or is_local(model.base_url):
        checked = _checked(asked, min(declared - _REPLY_TOKENS - 200, _MOST_WINDOW_TOKENS))
    return Report(
        model=model.name,
        endpoint=model.base_url,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        window_tokens=model.capabilities.context_tokens,
        window_declared=declared,
        window_checked=checked,
        structured=structured,
        system_role=role,
        refused=tuple(sorted(model.learned.refused)),
        reasoning=reasoning,
        streaming=streaming,
        counts_tokens=counts_tokens,
        reused_tokens=repeated[0],
        repeated_tokens=repeated[1],
        prompt_speed=speeds[0],
        reply_speed=speeds[1],
        calls=asked.calls,
        prompt_tokens=asked.prompt_tokens,
        completion_tokens=asked.completion_tokens,
    )


class _Asked:
    """Sends bodies as they are, once the parameters that the endpoint refuses are known."""

    def __init__(self, model: Compatible) -> None:
        self.model = model
        self.calls = self.prompt_tokens = self.completion_tokens = 0

    def call(self, system: str, user: str) -> Completion:
        """The reply to an ordinary call, which teaches the model what is refused."""
        done = self.model.complete(_call(system, user))
        self._add(done.prompt_tokens, done.completion_tokens)
        return done

    def raw(self, user: str, most: int = _REPLY_TOKENS, **more: Any) -> dict[str, Any]:
        """The endpoint's own reply to a message."""
        reply = self.model.raw({**self._body(user, most), **more})
        took = _counts(reply)
        self._add(took.prompt, took.completion)
        return reply

    def pieces(self, user: str, most: int, **more: Any) -> Iterator[dict[str, Any]]:
        """The pieces of a streamed reply."""
        took = Counts()
        for piece in self.model.raw_pieces({**self._body(user, most), **more}):
            took = _counts(piece) if piece.get("usage") else took
            yield piece
        self._add(took.prompt, took.completion)

    def _body(self, user: str, most: int) -> dict[str, Any]:
        body = self.model.body(_call("", user, most))
        body = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        return {**body, "messages": [{"role": "user", "content": user}]}

    def _add(self, prompt: int | None, completion: int | None) -> None:
        self.calls += 1
        self.prompt_tokens += prompt or 0
        self.completion_tokens += completion or 0


def _call(system: str, user: str, most: int = _REPLY_TOKENS) -> Call:
    return Call(
        prompt=PromptId(name="probe", version=1, digest=""),
        system=system,
        user=user,
        parse=lambda completion: completion.text,
        max_tokens=most,
    )


# -- the questions ------------------------------------------------------------------------------


def _greeting(asked: _Asked) -> tuple[str, bool, str]:
    """(where reasoning stands, whether tokens are counted, what becomes of the system role)."""
    question = "What is the code word? Reply with the code word alone."
    said = f"The code word is {_CODE}."
    done = asked.call(said, question)
    reply = asked.raw(f"{said} {question}")
    if "system" in asked.model.learned.refused:
        role = "refused"
    elif _CODE in done.text or _CODE not in _text(reply):
        role = "taken"  # also when the model cannot say a word back: then nothing is known
    else:
        role = "ignored"
        asked.model.learned.refuse("system", kept=True)
    return _reasoning(reply), _counts(reply).prompt is not None, role


def _reasoning(reply: Mapping[str, Any]) -> str:
    message = _message(reply)
    if any(mark in _text(reply).lower() for mark in _MARKS):
        return "in the reply"
    if message.get("reasoning_content") or message.get("reasoning") or _counts(reply).reasoning:
        return "apart"
    return "none"


def _structured(asked: _Asked) -> str:
    """The strictest form that the endpoint really keeps a reply to."""
    question = "Is the night dark or light? Answer in one word. (Where JSON is wanted, as JSON.)"
    shape = {"name": "probe", "schema": _SCHEMA, "strict": True}
    forms: dict[str, dict[str, Any]] = {
        "json_schema": {"response_format": {"type": "json_schema", "json_schema": shape}},
        "grammar": {"grammar": _GRAMMAR},
        "json_object": {"response_format": {"type": "json_object"}},
    }
    for name, form in forms.items():
        try:
            text = _visible(asked.raw(question, **form))
        except ModelError as error:
            if name == "json_schema" and isinstance(error, ModelRefused):
                asked.model.learned.refuse("response_format", kept=True)
            continue
        if _keeps_to(name, text):
            return name
    return "none"


def _keeps_to(form: str, text: str) -> bool:
    if form == "grammar":
        return text in ("dark-7", "light-9")
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if form == "json_object":
        return isinstance(value, dict)
    return value in ({"shade": "dark-7"}, {"shade": "light-9"})


def _repeated(
    asked: _Asked,
) -> tuple[bool, tuple[float | None, float | None], tuple[int | None, int | None]]:
    """(whether replies stream, speeds of prompt and reply, tokens reused and repeated).

    One long beginning twice: the first time streamed, which also shows the speed.
    """
    local = is_local(asked.model.base_url)
    tokens = _LOCAL_BEGINNING_TOKENS if local else _BEGINNING_TOKENS
    beginning = _filler(tokens, seed=time.time_ns() % 1_000_003)
    first = f"{beginning}\n\nRepeat the first twelve words of this text."
    streaming, speeds = _streamed(asked, first)
    reply = asked.raw(f"{beginning}\n\nRepeat the first three words of this text.", 64)
    took = _counts(reply)
    if took.prompt is None:
        return streaming, speeds, (None, None)
    timings = reply.get("timings")
    reused = took.reused
    if not reused and isinstance(timings, Mapping):
        reused = int(timings.get("cache_n") or 0)
    return streaming, speeds, (reused, took.prompt)


def _streamed(asked: _Asked, text: str) -> tuple[bool, tuple[float | None, float | None]]:
    for more in ({"stream_options": {"include_usage": True}}, {}):
        started = time.monotonic()
        times: list[float] = []
        took = Counts()
        timings: Any = None
        try:
            for piece in asked.pieces(text, 64, **more):
                took = _counts(piece) if piece.get("usage") else took
                timings = piece.get("timings") or timings
                if _said(piece):
                    times.append(time.monotonic())
        except ModelError:
            continue
        return len(times) > 1, _speeds(started, times, took, timings)
    return False, (None, None)


def _speeds(
    started: float, times: list[float], took: Counts, timings: Any
) -> tuple[float | None, float | None]:
    """Tokens a second of prompt and reply: as the server timed them, else as the pieces came."""
    if isinstance(timings, Mapping):
        prompt, reply = timings.get("prompt_per_second"), timings.get("predicted_per_second")
        if isinstance(prompt, int | float) and isinstance(reply, int | float):
            return round(float(prompt), 1), round(float(reply), 1)
    if not times or took.prompt is None:
        return None, None
    waited = times[0] - started
    prompt_speed = round((took.prompt - took.reused) / waited, 1) if waited > 0 else None
    tokens = took.completion or len(times)
    spoken = times[-1] - times[0]
    return prompt_speed, round((tokens - 1) / spoken, 1) if len(times) > 2 and spoken > 0 else None


def _checked(asked: _Asked, tokens: int) -> int | None:
    """How long a prompt was read whole; where it was not, the model plans with what was read.

    Where the server counts no tokens, the reply decides: it knows the code word that stood at the
    beginning, or the prompt was cut and a shorter one is tried.
    """
    for most in (tokens, tokens * 2 // 5):
        if most < 600:
            return None
        text = f"The code word is {_CODE}.\n\n{_filler(most, seed=7)}\n\n"
        text += "What is the code word at the beginning? Reply with the code word alone."
        fewest = fewest_tokens(text)
        try:
            reply = asked.raw(text)
        except ModelError:
            return None  # a limit that it names is learned
        counted = _counts(reply).prompt
        if counted is None:
            if _CODE in _visible(reply):
                return fewest
            continue
        if counted >= 0.95 * fewest:
            return counted
        asked.model.shrink(counted)
        return counted
    return None


def _filler(tokens: int, seed: int) -> str:
    """So many common words of a token each, in another order for another seed."""
    step = seed % (len(_WORDS) - 1) + 1
    words = (_WORDS[(seed + k * step + k // len(_WORDS)) % len(_WORDS)] for k in range(tokens))
    return f"{seed} " + " ".join(words)


# -- parts of a reply ---------------------------------------------------------------------------


def _message(reply: Mapping[str, Any], key: str = "message") -> Mapping[str, Any]:
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    found = first.get(key) if isinstance(first, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(reply: Mapping[str, Any]) -> str:
    return str(_message(reply).get("content") or "")


def _visible(reply: Mapping[str, Any]) -> str:
    return without_reasoning(_text(reply)).strip()


def _said(piece: Mapping[str, Any]) -> bool:
    delta = _message(piece, "delta")
    return any(delta.get(key) for key in ("content", "reasoning_content", "reasoning"))


def _counts(reply: Mapping[str, Any]) -> Counts:
    usage = reply.get("usage")
    return counts(usage if isinstance(usage, Mapping) else None, 0)
