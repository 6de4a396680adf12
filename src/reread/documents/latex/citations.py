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
        label = self.labels.setdefault(key, label or str(len(self.labels) + 1))
        found = _AUTHOR_YEAR.match(label)
        return f"[{found['names']}, {found['year']}]" if found else f"[{label}]"

    def cited(self, command: str, keys: list[str], before: str, after: str) -> str:
        """What the text shows for a citation; a key that is not in the list stands for itself."""
        if command.lower().startswith("nocite"):
            return ""
        found = [_AUTHOR_YEAR.match(self.labels.get(key, "")) for key in keys]
        plain = [self.labels.get(key, key) for key in keys]
        names = [f["names"] if f else p for f, p in zip(found, plain, strict=True)]
        years = [f["year"] if f else p for f, p in zip(found, plain, strict=True)]
        if "author" in command.lower() or "year" in command.lower():
            return ", ".join(names if "author" in command.lower() else years)
        more = f", {after}" if after else ""
        if all(found) and ("citet" in command.lower() or command == "textcite"):
            return "; ".join(f"{n} ({y}{more})" for n, y in zip(names, years, strict=True))
        both = [f"{n}, {y}" if f else n for n, y, f in zip(names, years, found, strict=True)]
        listed = ("; " if any(found) else ", ").join(both)
        inner = f"{before} {listed}{more}".strip()
        return f"({inner})" if all(found) else f"[{inner}]"
