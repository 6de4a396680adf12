"""Reads documents far longer than a model's window, and reads the right pages again to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reread.errors import Error
    from reread.library import Library, ask, load, read
    from reread.types import Answer, Citation, Document, GistMemory, Page, Settings, Thought

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Citation",
    "Document",
    "Error",
    "GistMemory",
    "Library",
    "Page",
    "Settings",
    "Thought",
    "ask",
    "load",
    "read",
]
_HOMES = {"Error": "reread.errors"} | dict.fromkeys(
    ("Library", "ask", "load", "read"), "reread.library"
)


def __getattr__(name: str) -> object:
    """The public names, imported when first used so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'reread' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES.get(name, "reread.types")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
