"""Which files of a folder git ignores: the rules of `.gitignore` and `.git/info/exclude`.

Own code and not pathspec: that compiles rules to patterns which backtrack, and a rule made for it
(`*a*a*a*a*ab`) holds one long file name for minutes. Here each star is matched once, leftmost, so
time grows with the length of rule and name alone. Nothing of git is run: its configuration can
name programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

_TRAILING_SPACES = re.compile(r"(?<![\\ ]) +$|(?<=\\ ) +$")
_ANY_DEPTH = re.compile(r"\*{2,}")
_CLASSES = {
    **{"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "digit": "0-9", "lower": "a-z"},
    **{"punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z", "xdigit": "0-9a-fA-F"},
}
_LONGEST_RULE = 1000
_MOST_RULES = 2000


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: the segments it matches (None for `**`), and what it means for what it matches."""

    segments: tuple[re.Pattern[str] | None, ...]
    negated: bool
    folders_only: bool
    anchored: bool

    @classmethod
    def of(cls, line: str) -> Self | None:
        """The rule a line states; None for a comment, an empty line or one git gives no sense."""
        line = _TRAILING_SPACES.sub("", line.rstrip("\r\n")[:_LONGEST_RULE])
        if not line or line.startswith("#"):
            return None
        negated = line.startswith("!")
        line = line[negated:]
        folders_only = line.endswith("/")
        line = line.removesuffix("/")
        anchored = "/" in line
        try:
            segments = [
                None if _ANY_DEPTH.fullmatch(s) else _compiled(s)
                for s in line.removeprefix("/").split("/")
            ]
        except (ValueError, re.error):
            return None
        if not line:
            return None
        return cls(tuple(segments), negated, folders_only, anchored)

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether the rule names this path, given as its segments from the rule's folder on."""
        if self.folders_only and not is_folder:
            return False
        if not self.anchored:
            return _one(self.segments[0], path[-1])
        return _match(self.segments, path)


def _one(segment: re.Pattern[str] | None, name: str) -> bool:
    return segment is None or segment.fullmatch(name) is not None


def _match(segments: Sequence[re.Pattern[str] | None], path: Sequence[str]) -> bool:
    """Whether the segments match the whole path; `**` stands for any number of folders."""
    groups: list[list[re.Pattern[str]]] = [[]]
    for segment in segments:
        if segment is None:
            groups.append([])
        else:
            groups[-1].append(segment)
    head, *others = groups
    if not _at(head, path, 0):
        return False
    if not others:
        return len(head) == len(path)
    *middle, tail = others
    at = len(head)
    for group in middle:
        found = next((k for k in range(at, len(path)) if _at(group, path, k)), None)
        if found is None:
            return False
        at = found + len(group)
    # A `**` at the end means what is inside, so at least one segment more.
    last = len(path) - max(len(tail), 1)
    return last >= at and _at(tail, path, last)


def _at(group: Sequence[re.Pattern[str]], path: Sequence[str], start: int) -> bool:
    if start + len(group) > len(path):
        return False
    return all(s.fullmatch(path[start + k]) for k, s in enumerate(group))


def _compiled(segment: str) -> re.Pattern[str]:
    """A pattern for one name. Atomic groups keep what a star took: leftmost is always right."""
    pieces: list[str] = [""]
    at = 0
    while at < len(segment):
        c = segment[at]
        at += 1
        if c == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif c == "?":
            pieces[-1] += "."
        elif c == "[":
            one, at = _bracket(segment, at)
            pieces[-1] += one
        else:
            if c == "\\":
                if at == len(segment):
                    raise ValueError("a backslash with nothing after it")
                c = segment[at]
                at += 1
            pieces[-1] += re.escape(c)
    head, *rest = pieces
    if not rest:
        return re.compile(head, re.DOTALL)
    *middle, tail = rest
    found = "".join(f"(?>.*?{piece})" for piece in middle)
    return re.compile(f"{head}{found}.*{tail}", re.DOTALL)


def _bracket(segment: str, at: int) -> tuple[str, int]:
    """A set of characters from after its `[` on, as a pattern, and where it ends."""
    negated = segment[at : at + 1] in ("!", "^")
    at += negated
    said: list[str] = []
    first = True
    while True:
        c, at = _member(segment, at)
        if c == "]" and not first:
            break
        first = False
        if c == "[" and segment.startswith(":", at) and (end := segment.find(":]", at + 1)) > 0:
            said.append(_CLASSES.get(segment[at + 1 : end], ""))
            if not said[-1]:
                raise ValueError("no class of characters is called so")
            at = end + 2
            continue
        c, at = _literal(c, segment, at)
        if segment.startswith("-", at) and segment[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(segment, at + 1)
            high, at = _literal(high, segment, at)
            if c <= high:
                said.append(f"{re.escape(c)}-{re.escape(high)}")
        else:
            said.append(re.escape(c))
    inside = "".join(said)
    if negated:
        return f"[^{inside}]" if inside else ".", at
    return f"[{inside}]" if inside else "(?!)", at


def _member(segment: str, at: int) -> tuple[str, int]:
    if at >= len(segment):
        raise ValueError("a set of characters that never ends")
    return segment[at], at + 1


def _literal(c: str, segment: str, at: int) -> tuple[str, int]:
    return _member(segment, at) if c == "\\" else (c, at)


class Rules:
    """The rules of one file; later ones outdo earlier ones."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = (Rule.of(line) for line in lines)
        # From the last on: the first that matches decides.
        self._rules = [r for r in found if r is not None][:_MOST_RULES][::-1]

    def decide(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """Whether the path is ignored; None where no rule speaks of it."""
        rule = next((r for r in self._rules if r.matches(path, is_folder)), None)
        return None if rule is None else not rule.negated


def ignored(levels: Sequence[tuple[int, Rules]], path: Sequence[str], is_folder: bool) -> bool:
    """Whether any level's rules ignore the path; the last level, the deepest, speaks first.

    Each level is given with the number of segments of its folder.
    """
    for depth, rules in reversed(levels):
        decided = rules.decide(path[depth:], is_folder)
        if decided is not None:
            return decided
    return False
