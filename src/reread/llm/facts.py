"""What is learned of a model at its endpoint, so that later runs need not learn it again.

Refused parameters, a window smaller than declared, the room that its reasoning needs, and the
tokens its texts take. They come from ordinary calls as well as from a test; a library keeps them.
"""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import urlsplit

from reread.llm.sizes import Sizes
from reread.ports import Facts


def about(name: str, base_url: str) -> str:
    """What facts are about: a model at an endpoint, without what an address may hold of secrets."""
    parts = urlsplit(base_url)
    place = parts.netloc.rpartition("@")[2]
    return f"{name} at {parts.scheme}://{place}{parts.path}"


class Unkept:
    """Facts that are forgotten with the model (`ports.Facts`)."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        return self._known.get(name)

    def put(self, name: str, value: Any) -> None:
        self._known[name] = value

    def forget(self) -> None:
        self._known.clear()


class Learned:
    """What one model's calls have taught, by all threads that use it."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts: Facts = facts or Unkept()
        self._lock = threading.Lock()
        self.sizes = Sizes(self.facts.get("tokens"))
        self._refused: set[str] = set(self.facts.get("refused") or ())
        self.thinking_tokens = int(self.facts.get("thinking_tokens") or 0)
        self._longest = 0

    def keep(self) -> None:
        """Counts tokens from now on as was learned, and keeps that."""
        if (known := self.sizes.keep()) and known != self.facts.get("tokens"):
            self.facts.put("tokens", known)

    def move_to(self, facts: Facts) -> None:
        """Keeps what was learned there from now on, in place of what stood there."""
        facts.forget()
        for name in ("refused", "window", "thinking_tokens"):
            if (value := self.facts.get(name)) is not None:
                facts.put(name, value)
        self.facts = facts

    # -- parameters -----------------------------------------------------------------------------

    @property
    def refused(self) -> frozenset[str]:
        """The parameters that the endpoint does not take; `system` is the system role."""
        with self._lock:
            return frozenset(self._refused)

    def refuse(self, *names: str, kept: bool) -> None:
        """Notes parameters that it does not take, for later runs too when `kept`."""
        with self._lock:
            self._refused.update(names)
            known = set(self.facts.get("refused") or ()) if kept else set()
        if kept and not known.issuperset(names):
            self.facts.put("refused", sorted(known.union(names)))

    def think(self, tokens: int, *, instead_of: int) -> None:
        """Notes the room that reasoning needs, unless another thread has noted more meanwhile."""
        with self._lock:
            if self.thinking_tokens != instead_of:
                return
            self.thinking_tokens = tokens
        self.facts.put("thinking_tokens", tokens)

    # -- the window -----------------------------------------------------------------------------

    def window(self, declared: int) -> int:
        """The window to plan with, where so many tokens are declared."""
        known = self.facts.get("window") or {}
        return int(known["tokens"]) if known.get("declared") == declared else declared

    def shrink(self, tokens: int, declared: int) -> None:
        """Keeps a window smaller than declared, for as long as the same is declared."""
        self.facts.put("window", {"tokens": tokens, "declared": declared})

    def cut(self, counted: int, fewest: int) -> bool:
        """Whether a server that counted so few tokens of at least `fewest` cut the prompt.

        A count below that of a prompt that was read whole shows no smaller window: that server
        counts only what it had not evaluated before.
        """
        if counted >= 0.95 * fewest:
            self._longest = max(self._longest, counted)
            return False
        return counted >= 0.95 * self._longest
