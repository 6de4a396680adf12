"""What every step of reading works with: the model, its prompts, the profile, and one way to ask.

Invariant: a malformed reply is asked again once; a second one is an error that the step turns into
a recorded fallback. No step ever takes a default for a reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reread.errors import MalformedReply
from reread.ports import Model, Progress, Ranker, Step
from reread.prompts import Prompts
from reread.reading.profiles import Profile
from reread.types import Call, Completion, Settings

CHOICE_TOKENS = 256  # room for a number and, from models that cannot be constrained, its reason
_AGAIN_TEMPERATURE = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """The model and the choices that one piece of work is done with.

    `extends` says that the document goes on from an earlier version of it.
    """

    model: Model
    prompts: Prompts
    profile: Profile
    settings: Settings
    rank: Ranker
    progress: Progress | None = None
    extends: bool = False

    def ask(
        self,
        prompt: str,
        values: Mapping[str, str],
        parse: Callable[[Completion], Any],
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        shares: str | None = None,
        hear: Callable[[str], None] | None = None,
        weighs: tuple[str, ...] = (),
    ) -> Any:
        """The parsed reply to a prompt, asked once more when the first reply is malformed.

        Raises:
            MalformedReply: both replies were.
        """
        chosen = self.prompts[prompt]
        system, user = chosen.render(values)
        call = Call(
            prompt=chosen.id,
            system=system,
            user=user,
            parse=parse,
            max_tokens=max_tokens,
            schema=schema,
            extra=extra or {},
            shares=shares,
            hear=hear,
            weighs=weighs,
        )
        try:
            return self.model.complete(call).value
        except MalformedReply:
            room = self.model.capabilities.context_tokens - self.tokens(system, user)
            again = replace(
                call,
                sample=1,
                temperature=_AGAIN_TEMPERATURE,
                max_tokens=max(max_tokens, min(2 * max_tokens, room)),
            )
            return self.model.complete(again).value

    @property
    def threads(self) -> int:
        """How many threads serve the model: some more than it takes calls at once.

        While one writes down what came, it has no call in flight; another one has.
        """
        workers = self.model.capabilities.workers
        return workers + max(2, workers // 4) if workers > 1 else 1

    def tokens(self, *texts: str) -> int:
        """How many tokens the texts take together, exactly or as an upper estimate."""
        return sum(self.model.count_tokens(text) for text in texts)

    def fits(self, prompt: str, values: Mapping[str, str], max_tokens: int) -> bool:
        """Whether the rendered prompt and a reply of `max_tokens` fit the window together."""
        needed = self.tokens(*self.prompts[prompt].render(values)) + max_tokens
        return needed <= self.model.capabilities.context_tokens

    def report(self, phase: str, done: int, total: int, note: str = "") -> None:
        """Tells the listener, if there is one, how far the work is."""
        if self.progress:
            self.progress(Step(phase=phase, done=done, total=total, note=note))


def one_of(field: str, values: list[Any]) -> dict[str, Any]:
    """A JSON schema for an object whose one field is one of the values, integers or strings."""
    types = sorted({"integer" if isinstance(value, int) else "string" for value in values})
    return {
        "type": "object",
        # strict endpoints refuse an enum without its type
        "properties": {field: {"type": types if len(types) > 1 else types[0], "enum": values}},
        "required": [field],
        "additionalProperties": False,
    }
