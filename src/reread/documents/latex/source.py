"""LaTeX source made plain: comments gone, verbatim set aside, the author's macros expanded.

What stands verbatim is replaced by a mark (`\\x01number\\x02`, which no cleaned text holds), so
that no later step takes it for commands. Expansion is bounded: a macro is not expanded within
itself, and beyond a budget macros stay as they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

RAW = re.compile("\x01(\\d+)\x02")
_SCAN = re.compile(
    r"\\begin[ \t]*\{(?P<env>verbatim\*?|Verbatim\*?|BVerbatim|lstlisting|minted|comment"
    r"|filecontents\*?)\}"
    r"|\\(?P<verb>verb|lstinline|mintinline)(?![a-zA-Z])\*?"
    r"|\\(?P<url>url|path|nolinkurl)[ \t]*\{"
    r"|(?P<iffalse>\\iffalse(?![a-zA-Z]))"
    r"|\\(?s:.)"
    r"|(?P<comment>%[^\n]*(?:\n(?![ \t]*\n)[ \t]*)?)"
)
_CONDITION = re.compile(
    r"\\(?:(?P<if>if(?!f(?![a-zA-Z])|thenelse(?![a-zA-Z]))[a-zA-Z@]*)|(?P<else>else)|(?P<fi>fi))"
    r"(?![a-zA-Z])"
)
_OPTIONS = re.compile(r"[ \t]*\[[^\[\]\n]{0,500}\]")
_GROUP = re.compile(r"\{[^{}\n]{0,200}\}")


@dataclass(slots=True)
class Plain:
    """Source without comments; `raw` is what stood verbatim, as (text, whether it is a block)."""

    text: str = ""
    raw: list[tuple[str, bool]] = field(default_factory=list)

    def aside(self, text: str, *, is_block: bool) -> str:
        """The mark that stands for this verbatim text."""
        self.raw.append((text, is_block))
        return f"\x01{len(self.raw) - 1}\x02"


def without_comments(text: str) -> Plain:
    """The source without comments and switched-off parts, with verbatim text set aside."""
    plain = Plain()
    pieces: list[str] = []
    at = 0
    unclosed: set[str] = set()
    while found := _SCAN.search(text, at):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found["env"] and found["env"] not in unclosed:
            closing = f"\\end{{{found['env']}}}"
            stop = text.find(closing, at)
            if stop < 0:
                unclosed.add(found["env"])
                pieces.append(found[0])
                continue
            pieces.append(_set_aside(plain, found["env"], text[at:stop]))
            at = stop + len(closing)
        elif found["verb"]:
            said, at = _verb(text, found["verb"], at)
            pieces.append(plain.aside(said, is_block=False) if said else found[0])
        elif found["url"]:
            stop = text.find("}", at, at + 2000)
            if stop >= 0:
                pieces.append(plain.aside(text[at:stop].replace("\\", ""), is_block=False))
                at = stop + 1
        elif found["iffalse"] and "iffalse" not in unclosed:
            hidden_end = _switched_off(text, at)
            if hidden_end is None:
                unclosed.add("iffalse")
            at = hidden_end or at
        elif not found["comment"]:
            pieces.append(found[0])
    pieces.append(text[at:])
    plain.text = "".join(pieces)
    return plain


def _set_aside(plain: Plain, name: str, content: str) -> str:
    if name.startswith(("comment", "filecontents")):
        return ""
    options = _OPTIONS.match(content)
    content = content[options.end() :] if options else content
    language = _GROUP.match(content) if name == "minted" else None
    content = content[language.end() :] if language else content
    return f"\n\n{plain.aside(content.strip(chr(10)), is_block=True)}\n\n"


def _verb(text: str, command: str, at: int) -> tuple[str, int]:
    """What `\\verb` shows and where it ends; nothing where its delimiter does not come again."""
    start = at
    if command != "verb" and (options := _OPTIONS.match(text, at)):
        at = options.end()
    if command == "mintinline" and (language := _GROUP.match(text, at)):
        at = language.end()
    delimiter = text[at : at + 1]
    line_end = text.find("\n", at)
    stop = text.find(
        "}" if delimiter == "{" else delimiter or "\n",
        at + 1,
        line_end if line_end >= 0 else len(text),
    )
    if stop < 0 or not delimiter or delimiter.isspace():
        return "", start
    return text[at + 1 : stop], stop + 1


def _switched_off(text: str, at: int) -> int | None:
    """Where what `\\iffalse` hides ends, at its `\\else` or `\\fi`; None where it does not end."""
    depth = 1
    for found in _CONDITION.finditer(text, at):
        if found["if"]:
            depth += 1
        elif found["fi"]:
            depth -= 1
        if not depth or (found["else"] and depth == 1):
            return found.end()
    return None


# -- braces ---------------------------------------------------------------------------------------

_BRACE = re.compile(r"\\(?s:.)|[{}]")


def matching_braces(text: str) -> dict[int, int]:
    """Where each opening brace is closed; those that are not closed are missing."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in _BRACE.finditer(text):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            pairs[opened.pop()] = found.start()
    return pairs


# -- macros ---------------------------------------------------------------------------------------

_DEFINITION = re.compile(
    r"\\(?:(?P<new>(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?"
    r"|(?P<xparse>(?:New|Renew|Provide|Declare)DocumentCommand)"
    r"|(?P<operator>DeclareMathOperator)\*?"
    r"|(?P<def>[gex]?def)|(?P<let>let)|(?P<theorem>newtheorem)(?P<star>\*?)"
    r"|(?P<environment>(?:re)?newenvironment)\*?)(?![a-zA-Z])\s*"
)
_NAME = re.compile(r"\{?\s*\\([a-zA-Z@]+|.)\s*\}?\s*")
_COUNT = re.compile(r"\[(\d)\]\s*")
_PARAMETERS = re.compile(r"(?:#(\d))*(?=\{)")
_ALIAS = re.compile(r"=?\s*(\\(?:[a-zA-Z@]+|.))")
_THEOREM = re.compile(
    r"\{(?P<name>[^{}\n]{1,80})\}\s*(?:\[(?P<counter>[^\]\n]{0,80})\]\s*)?"
    r"\{(?P<title>[^{}\n]{0,200})\}(?:\s*\[(?P<within>[^\]\n]{0,80})\])?"
)
_ENVIRONMENT = re.compile(r"\{([^{}\n]{1,80})\}\s*(?:\[[^\]\n]{0,200}\]\s*){0,2}\{")
_BEGIN = re.compile(r"\\begin\s*\{([^{}\n]{1,60})\}")
_CALL = re.compile(r"\\([a-zA-Z@]+)")
_SPACES = re.compile(r"[ \t]*\n?[ \t]*(?!\n)")
_ENDS_IN_WORD = re.compile(r"\\[a-zA-Z@]+$")
_ARGUMENT = re.compile(r"#(\d)")
_LONGEST_BODY = 4000
_DEEPEST = 30
_MOST_CALLS = 200_000


@dataclass(frozen=True, slots=True)
class Theorem:
    """A kind of theorem: what it is called, which counter it steps (None for none), within what."""

    title: str
    counter: str | None
    within: str | None = None


@dataclass(frozen=True, slots=True)
class Macro:
    """What a command of the author stands for; `default` makes its first argument optional."""

    body: str
    arguments: int = 0
    default: str | None = None


@dataclass(slots=True)
class Defined:
    """What the author defined: macros, kinds of theorem, environments that stand for others."""

    macros: dict[str, Macro] = field(default_factory=dict)
    theorems: dict[str, Theorem] = field(default_factory=dict)
    environments: dict[str, str] = field(default_factory=dict)


def definitions(text: str, kept: frozenset[str]) -> tuple[str, Defined]:
    """The source without definitions, and what they define.

    `kept` are commands whose meaning the author's own definition does not change.
    """
    braces = matching_braces(text)
    result = Defined()
    pieces: list[str] = []
    at = 0
    for found in _DEFINITION.finditer(text):
        if found.start() < at:
            continue  # within another definition
        if found["theorem"]:
            end = _theorem(text, found, result)
        elif found["environment"]:
            end = _environment(text, braces, found.end(), result)
        else:
            end = _macro(text, braces, found, kept, result)
        if end is not None:
            pieces.append(text[at : found.start()])
            at = end
    pieces.append(text[at:])
    return "".join(pieces), result


def _theorem(text: str, found: re.Match[str], result: Defined) -> int | None:
    theorem = _THEOREM.match(text, found.end())
    if theorem is None:
        return None
    counter = None if found["star"] else theorem["counter"] or theorem["name"]
    result.theorems[theorem["name"]] = Theorem(theorem["title"], counter, theorem["within"])
    return theorem.end()


def _environment(text: str, braces: dict[int, int], at: int, result: Defined) -> int | None:
    named = _ENVIRONMENT.match(text, at)
    start = named.end() - 1 if named else -1
    if named is None or start not in braces:
        return None
    begun = _BEGIN.search(text, start, braces[start])
    if begun:
        result.environments[named[1]] = begun[1]
    after = braces[start] + 1
    return braces.get(_skip_space(text, after), after - 1) + 1


def _macro(
    text: str, braces: dict[int, int], found: re.Match[str], kept: frozenset[str], result: Defined
) -> int | None:
    defined = _defined(text, braces, found)
    if defined is None:
        return None
    name, macro, end = defined
    if name not in kept and len(macro.body) <= _LONGEST_BODY:
        result.macros[name] = macro
    return end


def _defined(
    text: str, braces: dict[int, int], found: re.Match[str]
) -> tuple[str, Macro, int] | None:
    name = _NAME.match(text, found.end())
    if name is None:
        return None
    at, count, default = name.end(), 0, None
    if found["let"]:
        alias = _ALIAS.match(text, at)
        return (name[1], Macro(alias[1]), alias.end()) if alias else None
    if found["def"]:
        parameters = _PARAMETERS.match(text, at)
        if parameters is None:
            return None
        at, count = parameters.end(), int(parameters[1] or 0)
    elif found["xparse"] and at in braces:
        wanted = re.sub(r"\{[^{}]*\}|\s", "", text[at + 1 : braces[at]])
        count = len(wanted)
        default = "" if wanted[:1] in ("o", "O") and count else None
        at = _skip_space(text, braces[at] + 1)
    elif counted := _COUNT.match(text, at):
        at, count = counted.end(), int(counted[1])
        if text[at : at + 1] == "[" and (stop := text.find("]", at, at + 500)) > 0:
            default, at = text[at + 1 : stop], stop + 1
    while text[at : at + 1].isspace():
        at += 1
    if at not in braces:
        return None
    body = text[at + 1 : braces[at]]
    if found["operator"]:
        body = f"\\operatorname{{{body}}}"
    return name[1], Macro(body, count, default), braces[at] + 1


class Expansion:
    """Source with the author's macros replaced by what they stand for."""

    def __init__(self, macros: dict[str, Macro], size: int) -> None:
        self._macros = macros
        self._calls = self._depth = 0
        self._left = 4 * size + 1_000_000  # characters that may still be written

    def of(self, text: str, active: frozenset[str] = frozenset()) -> str:
        """The expanded text; macros in `active` stay as they are."""
        if not self._macros or len(active) > _DEEPEST or self._depth > _DEEPEST:
            return text
        self._depth += 1
        said = self._expanded(text, active)
        self._depth -= 1
        return said

    def _expanded(self, text: str, active: frozenset[str]) -> str:
        braces: dict[int, int] | None = None
        pieces: list[str] = []
        at = 0
        for call in _CALL.finditer(text):
            macro = self._macros.get(call[1])
            if call.start() < at or macro is None or call[1] in active or self._spent():
                continue
            if call.start() and text[call.start() - 1] == "\\" and _is_escaped(text, call.start()):
                continue
            if macro.arguments and braces is None:
                braces = matching_braces(text)
            arguments, end = _arguments(text, braces or {}, call.end(), macro)
            within = active | {call[1]}
            given = [self.of(argument, active) for argument in arguments]
            said = self.of(_filled(macro.body, given), within)
            if _ENDS_IN_WORD.search(said) and text[end : end + 1].isalpha():
                said += " "
            pieces += (text[at : call.start()], said)
            self._left -= len(said)
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def _spent(self) -> bool:
        self._calls += 1
        return self._left <= 0 or self._calls > _MOST_CALLS


def _is_escaped(text: str, at: int) -> bool:
    """Whether the backslash at `at` is the second of a line break and begins no command."""
    count = 0
    while at - 1 - count >= 0 and count < 50 and text[at - 1 - count] == "\\":
        count += 1
    return count % 2 == 1


def _arguments(text: str, braces: dict[int, int], at: int, macro: Macro) -> tuple[list[str], int]:
    arguments: list[str] = []
    for k in range(macro.arguments):
        start = _skip_space(text, at)
        if k == 0 and macro.default is not None:
            stop = text.find("]", start, start + 1000) if text[start : start + 1] == "[" else -1
            arguments.append(text[start + 1 : stop] if stop > 0 else macro.default)
            at = stop + 1 if stop > 0 else at
        elif start in braces:
            arguments.append(text[start + 1 : braces[start]])
            at = braces[start] + 1
        elif command := _CALL.match(text, start):
            arguments.append(command[0])
            at = command.end()
        else:
            arguments.append(text[start : start + 1])
            at = min(start + 1, len(text))
    return arguments, at if macro.arguments else _skip_space(text, at)


def _skip_space(text: str, at: int) -> int:
    """After white space that ends no paragraph, as TeX skips it after a command."""
    found = _SPACES.match(text, at)
    return found.end() if found else at


def _filled(body: str, arguments: list[str]) -> str:
    def argument(found: re.Match[str]) -> str:
        k = int(found[1]) - 1
        return arguments[k] if 0 <= k < len(arguments) else ""

    return _ARGUMENT.sub(argument, body) if arguments else body
