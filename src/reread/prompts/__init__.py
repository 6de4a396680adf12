"""Prompts as data: each a file with an id, a version, its variables and the reason for its shape.

Invariant: a rendered prompt holds exactly the variables it declares, each inserted once and never
read again as a template, so nothing inside a document can add to the instruction.

The text to be read comes first and the instruction last. Two questions about one text then share
their prefix, which back ends that keep evaluated prompts need not evaluate again.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from reread.errors import SettingsError
from reread.types import PromptId

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
# Chat templates give a meaning to these; in a document they are ordinary characters. They are those
# of ChatML, Llama, Mistral, Gemma, DeepSeek, Phi, Command, Harmony, GLM, InternLM, Granite, MiniMax
# and models derived from them; `<|…|>` stands for most.
_ANGLED = (
    r"/?(?:s|bos|eos|pad|unk|mask|SYS|tools?|tool_calls?|tool_response|image_soft_token|sop|eop|eoh|eoa|"
    r"fim_(?:prefix|middle|suffix|pad)|file_sep|repo_name)|(?:start|end)_of_\w+|"
    r"(?:unused|reserved_|extra_id_|TOKENS_UNUSED_)\d+|\w+_TOKEN"
)
_SQUARE = (
    r"/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|MODEL_SETTINGS|ARGS|"
    r"CALL_ID|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX|BOS|EOS|EOT|PAD|UNK|"
    r"gMASK|sMASK|MASK)"
)
_SPECIAL = re.compile(
    rf"[<＜](?=[|｜])|(?<=[|｜])[>＞]|[<＜](?=(?:{_ANGLED})[>＞])|\[(?=(?:{_SQUARE})\])|"
    r"\](?=~!?[a-z]?[\[\]])|\[(?=e~\[)"
)
# The tokens that part the turns of a conversation, which no other text needs.
TOKENS = re.compile(
    r"<[|｜][^\s<>|｜]{1,40}[|｜]>|</?s>|<<?/?SYS>>|<(?:start|end)_of_turn>|</?tool_calls?>|"
    r"\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]|\]~!?b[\[\]]"
)
_DEFUSED = {"<": "‹", ">": "›", "＜": "‹", "＞": "›", "[": "⁅", "]": "⁆"}
# Letters that a reader does not see and a model does, and those that turn the writing around.
_UNSEEN = re.compile("[\u202d\u202e\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
# The line between what is read and what is asked; in a document it is only a line of hyphens.
_FENCE = re.compile(r"^([ \t]*)-{4}(?=[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt text with what is known about it. `why` is for people."""

    name: str
    version: int
    variables: frozenset[str]
    why: str
    system: str
    user: str

    @property
    def id(self) -> PromptId:
        """Name, version and a hash of the wording."""
        digest = hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()
        return PromptId(name=self.name, version=self.version, digest=digest)

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """The system and the user message.

        Raises:
            SettingsError: a variable is missing or not declared.
        """
        if values.keys() != self.variables:
            missing = sorted(self.variables - values.keys())
            extra = sorted(values.keys() - self.variables)
            raise SettingsError(
                f"prompt {self.name!r} lacks {missing} and does not take {extra}",
                hint=f"Its variables are {sorted(self.variables)}",
            )
        safe = {key: defuse(value) for key, value in values.items()}
        return self.system, _SLOT.sub(lambda m: safe[m[1]], self.user)


def defuse(text: str) -> str:
    """The text with what could end it early replaced by look-alikes of the same length.

    These are the markers of chat templates and the line that parts text and instruction. Letters
    that cannot be seen become spaces without width.
    """
    if not text.isascii():
        text = _UNSEEN.sub("\u200b", text)
    return _FENCE.sub("\\1‑‑‑‑", _SPECIAL.sub(lambda m: _DEFUSED[m[0]], text))


class Prompts:
    """The prompts that ship, each overridden by a file of the same name in the user's folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._read: dict[str, Prompt] = {}

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._read:
            self._read[name] = _parse(name, self._text(name))
        return self._read[name]

    def names(self) -> list[str]:
        """The names of all prompts that ship, sorted."""
        files = resources.files(__name__).iterdir()
        return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))

    def _text(self, name: str) -> str:
        own = self._folder / f"{name}.toml" if self._folder else None
        if own and own.is_file():
            try:
                return own.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"prompt {own} cannot be read: {error}") from error
        file = resources.files(__name__) / f"{name}.toml"
        if not file.is_file():
            raise SettingsError(
                f"there is no prompt {name!r}", hint=f"Known: {', '.join(self.names())}"
            )
        return file.read_text(encoding="utf-8")


def _parse(name: str, text: str) -> Prompt:
    try:
        data = tomllib.loads(text)
        prompt = Prompt(
            name=name,
            version=int(data["version"]),
            variables=frozenset(data["variables"]),
            why=str(data["why"]),
            system=str(data["system"]).strip(),
            user=str(data["user"]).strip(),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise SettingsError(f"prompt {name!r} is not valid: {error}") from error
    used = set(_SLOT.findall(prompt.user))
    if used != prompt.variables or _SLOT.search(prompt.system):
        raise SettingsError(
            f"prompt {name!r} declares {sorted(prompt.variables)} but uses {sorted(used)}",
            hint="Variables stand as {{name}} in the user text only",
        )
    return prompt
