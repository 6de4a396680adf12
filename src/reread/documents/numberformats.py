"""Numbers of workbooks as their number format shows them.

Dates are written as ISO 8601 whatever their format's order is: 3/4 says nothing without the
country. Of a format the rest is kept: decimals, thousands, percent, currency, literals, brackets.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

BUILT_IN = {
    **{0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"},
    **{11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 49: "@"},
    **dict.fromkeys((14, 15, *range(27, 32), 36, *range(50, 55), 57, 58), "yyyy-mm-dd"),
    **{16: "yyyy-mm-dd", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss"},
    **{22: "yyyy-mm-dd h:mm", 32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss"},
    **{37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)"},
    **{40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "##0.0E+0"},
}
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|(?P<space>_.)|(?P<fill>\*.)'
    r"|\[(?P<bracket>[^\]]*)\]|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<exp>E[+-])|(?P<c>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_MOST_SERIAL = 2_958_466  # the year 10000
_LONGEST_FORMAT = 255
_DIGITS = frozenset("0#?")

Tokens = list[tuple[str, str]]


def shown(value: float, code: str, *, from_1904: bool = False) -> str:
    """The number as a person sees it in a cell of this format; empty where the format hides it."""
    if not math.isfinite(value):
        return str(value)
    sections = _sections(code[:_LONGEST_FORMAT] or "General")
    dated = _date_parts(sections[0])
    if dated:
        return _date(value, dated, from_1904) or general(value)
    section, value = _chosen(sections, value)
    if any(kind == "general" for kind, _ in section):
        return "".join(general(value) if k == "general" else _literal(k, t) for k, t in section)
    return _number(section, value)


def general(value: float) -> str:
    """The number as a cell without a format shows it, but never cut to the cell's width."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}".replace("e", "E")


@lru_cache(maxsize=1000)
def _sections(code: str) -> list[Tokens]:
    sections: list[Tokens] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "c"
        text = match[kind]
        if kind == "c" and text == ";":
            sections.append([])
        else:
            sections[-1].append((kind, text))
    return sections


def _chosen(sections: list[Tokens], value: float) -> tuple[Tokens, float]:
    """The section for a value, and the value it shows: without its sign where that is its own."""
    conditions = [_condition(s) for s in sections]
    if any(conditions):
        for section, condition in zip(sections, conditions, strict=True):
            if condition is None or _holds(value, *condition):
                return section, value
        return sections[-1], value
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    if value == 0 and len(sections) > 2:
        return sections[2], value
    return sections[0], value


def _condition(section: Tokens) -> tuple[str, float] | None:
    for kind, text in section:
        match = _CONDITION.fullmatch(text) if kind == "bracket" else None
        if match:
            return match[1], float(match[2])
    return None


def _holds(value: float, sign: str, than: float) -> bool:
    return {
        "<": value < than,
        ">": value > than,
        "=": value == than,
        "<=": value <= than,
        ">=": value >= than,
        "<>": value != than,
    }[sign]


def _literal(kind: str, text: str) -> str:
    if kind in ("quoted", "escaped"):
        return text
    if kind == "bracket" and text.startswith("$"):
        return text[1:].partition("-")[0]
    if kind == "c":
        return text
    return " " if kind == "space" and text == "_ " else ""


# -- dates ----------------------------------------------------------------------------------------


def _date_parts(section: Tokens) -> str:
    """The letters of a format that is one of dates or times, `[` before elapsed time; else none."""
    letters = []
    for kind, text in section:
        if kind == "bracket" and text.lower() in ("h", "hh", "m", "mm", "s", "ss"):
            letters.append(f"[{text[0].lower()}")
        elif kind == "c" and text.lower() in "ymdhs":
            letters.append(text.lower())
        elif kind in ("general", "exp") or (kind == "c" and text in "#?@"):
            return ""
    return "".join(letters)


def _date(value: float, parts: str, from_1904: bool) -> str | None:
    if "[" in parts:
        return _elapsed(value, parts)
    if not 0 <= value < _MOST_SERIAL:
        return None
    clock = "h" in parts or "s" in parts
    dated = "y" in parts or "d" in parts or ("m" in parts and not clock)
    seconds = round(value * 86_400)
    # Serial 60 is the 29 February 1900 that never was; before it days count from one later.
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)
    if not from_1904 and value < 60:
        start += timedelta(days=1)
    moment = start + timedelta(seconds=seconds)
    said = []
    if dated:
        said.append(_day(moment, parts, clock))
    if clock:
        said.append(moment.strftime("%H:%M:%S" if "s" in parts else "%H:%M"))
    return " ".join(said)


def _day(moment: datetime, parts: str, clock: bool) -> str:
    year = f"{moment.year:04}"
    if "d" in parts or clock:
        weekday = set(parts) == {"d"} and len(parts) > 2
        return _WEEKDAYS[moment.weekday()] if weekday else f"{year}-{moment:%m-%d}"
    if "m" not in parts:
        return year
    return f"{year}-{moment:%m}" if "y" in parts else _MONTHS[moment.month - 1]


_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


def _elapsed(value: float, parts: str) -> str:
    seconds = round(abs(value) * 86_400)
    sign = "-" if value < 0 else ""
    if "[s" in parts:
        return f"{sign}{seconds}"
    minutes, seconds = divmod(seconds, 60)
    tail = f":{seconds:02}" if parts.endswith("s") else ""
    if "[m" in parts:
        return f"{sign}{minutes}{tail}"
    return f"{sign}{minutes // 60}:{minutes % 60:02}{tail}" if "m" in parts else str(minutes // 60)


# -- numbers --------------------------------------------------------------------------------------


def _number(section: Tokens, value: float) -> str:
    places = [k for k, (kind, c) in enumerate(section) if kind == "c" and c in _DIGITS]
    if not places:
        said = "".join(_literal(*token) for token in section if token != ("c", "@"))
        return general(value) if ("c", "@") in section else said
    first, last = places[0], places[-1]
    if first and section[first - 1] == ("c", "."):
        first -= 1
    middle = section[first : last + 1]
    if any(token == ("c", "/") for token in middle):
        return general(value)  # a fraction
    rest = section[last + 1 :]
    while rest and rest[0] == ("c", ","):  # each comma after the digits divides by a thousand
        value, rest = value / 1000, rest[1:]
    value *= 100 ** sum(token == ("c", "%") for token in section)
    before = "".join(_literal(*token) for token in section[:first])
    after = "".join(_literal(*token) for token in rest)
    said = _digits(middle, value)
    sign = "-" if value < 0 and any(c in "123456789" for c in said) else ""
    return f"{sign}{before}{said}{after}".strip()


def _digits(middle: Tokens, value: float) -> str:
    pattern = "".join(text if kind == "c" else "" for kind, text in middle)
    whole, _, decimals = pattern.partition(".")
    if any(kind == "exp" for kind, _ in middle):
        return _exponential(middle, value)
    if any(
        kind in ("quoted", "escaped") or (kind == "c" and t not in "0#?,.") for kind, t in middle
    ):
        return _masked(middle, value)
    most = sum(c in _DIGITS for c in decimals)
    least = decimals.count("0")
    said = _rounded(abs(value), most, grouped="," in whole)
    head, point, tail = said.partition(".")
    tail = tail[:least] + tail[least:].rstrip("0")
    head = head.rjust(whole.count("0"), "0")
    if head == "0" and "0" not in whole:
        head = ""
    return f"{head}{point}{tail}" if tail else head


def _rounded(value: float, places: int, *, grouped: bool) -> str:
    """As people round: half goes up, in decimal digits."""
    try:
        exact = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    except InvalidOperation:  # more digits than any cell shows
        return general(value)
    return f"{exact:,f}" if grouped else f"{exact:f}"


def _exponential(middle: Tokens, value: float) -> str:
    at = next(k for k, (kind, _) in enumerate(middle) if kind == "exp")
    mantissa = "".join(text for kind, text in middle[:at] if kind == "c")
    places = sum(c in _DIGITS for c in mantissa.partition(".")[2])
    return f"{abs(value):.{places}E}"


def _masked(middle: Tokens, value: float) -> str:
    """Digits put into a pattern such as that of a telephone number, from the right."""
    left = _rounded(abs(value), 0, grouped=False)
    said: list[str] = []
    for kind, text in reversed(middle):
        if kind == "c" and text in _DIGITS:
            digit, left = (left[-1], left[:-1]) if left else ("0" if text == "0" else "", left)
            said.append(digit)
        else:
            said.append(_literal(kind, text))
    return left + "".join(reversed(said))
