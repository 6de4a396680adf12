"""Small things that statements need."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any


def listed(values: Collection[Any]) -> str:
    """The values, sorted, as the JSON list that `json_each` takes: any number in one statement."""
    return json.dumps(sorted(values))


def now() -> str:
    """The time as text whose order is that of time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
