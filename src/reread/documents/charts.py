"""Charts of Office files as the table of numbers they draw."""

from __future__ import annotations

from collections.abc import Iterator

from reread.documents.archive import Element
from reread.documents.numberformats import general

_MOST_POINTS = 500


def rows_of(chart: Element) -> Iterator[str]:
    """The rows of a chart's table: the names of its series, then a row for each category."""
    series = list(chart.iter("ser"))
    names = ["".join(str(t) for v in s.iterfind("tx//v") for t in v.itertext()) for s in series]
    columns = [
        _points(s.find("val") if s.find("val") is not None else s.find("yVal")) for s in series
    ]
    categories: dict[int, str] = {}
    for s in series:
        for name in ("cat", "xVal"):
            categories = _points(s.find(name)) | categories
    count = min(max([*categories, *(k for c in columns for k in c)], default=-1) + 1, _MOST_POINTS)
    if count and any(names):
        yield " | ".join(["", *names])
    for k in range(count):
        yield " | ".join([categories.get(k, ""), *(c.get(k, "") for c in columns)]).rstrip(" |")


def _points(holder: Element | None) -> dict[int, str]:
    """The stored values of a series by their index."""
    found: dict[int, str] = {}
    for point in holder.iter("pt") if holder is not None else ():
        index = point.get("idx", "")
        if index.isdecimal() and len(index) < 6:
            found[int(index)] = _said(" ".join((point.findtext("v") or "").split()))
    return found


def _said(value: str) -> str:
    try:
        return general(float(value))
    except (ValueError, OverflowError):
        return value
