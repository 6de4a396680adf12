"""The bibliography of a paper and the marks by which its text refers to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_AUTHOR_YEAR = re.compile(r"(?P<names>.*?)\s*\((?P<year>\d{4}[a-z]?|[^()\d]{1,20})\)")
COMMAND = re.compile(r"(?:no|paren|text|auto|foot|super|full|short)?[cC]ite[a-zA-Z]*")


@dataclass(slots=True)
class Citations:
    """What each key is cited as: a number, or names and a year where the labels hold them."""

    labels: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, label: str) -> str:
        """Takes an entry, returns what it begins with in the list of references."""
        self.labels[key] = label or str(len(self.labels) + 1)
        found = _AUTHOR_YEAR.match(self.labels[key])
        return f"[{found['names']}, {found['year']}]" if found else f"[{self.labels[key]}]"

    def cited(self, command: str, keys: list[str], before: str, after: str) -> str:
        """What the text shows for a citation; a key that is not in the list stands for itself."""
        if command.lower().startswith("nocite"):
            return ""
        pairs = [_AUTHOR_YEAR.match(self.labels.get(key, "")) for key in keys]
        names = [pair["names"] if pair else self.labels.get(k, k) for k, pair in zip(keys, pairs, strict=True)]
        if "author" in command.lower():
            return ", ".join(names)
        if "year" in command.lower():
            return ", ".join(p["year"] if p else n for p, n in zip(pairs, names, strict=True))
        if not all(pairs):
            return f"[{' '.join(filter(None, (before, ', '.join(names))))}{f', {after}' if after else ''}]"
        years = [pair["year"] for pair in pairs if pair]
        if "citet" in command.lower() or "textcite" in command:
            more = f", {after}" if after else ""
            return "; ".join(f"{n} ({y}{more})" for n, y in zip(names, years, strict=True))
        inner = "; ".join(f"{n}, {y}" for n, y in zip(names, years, strict=True))
        return f"({before + ' ' if before else ''}{inner}{f', {after}' if after else ''})"
