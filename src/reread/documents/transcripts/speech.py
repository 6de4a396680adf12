"""Turns of speech in a text laid out by people: who begins to speak where, and when.

A line opens a turn where it begins with a name (`Ann Lee: …`, `[00:01:02] Ann: …`, `Ann (1:02): …`)
or is a name with a time (`Ann Lee  0:03`). That alone is also true of headers, glossaries and
notes, so a text is a conversation only where few names recur, their turns make up much of it, and
what follows the names is speech.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reread.documents.builder import divide, trimmed
from reread.text import count_words
from reread.types import Paragraph

_TIME = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_RANGE = rf"{_TIME}(?:[ \t]*(?:-->|[-–])[ \t]*{_TIME})?"
_STAMP = rf"(?:\[{_RANGE}\]|\({_RANGE}\)|{_RANGE})"
_HEAD = re.compile(
    rf"(?m)^[ \t]*(?:>>+[ \t]*|[-*+•][ \t]+)?(?:\*\*|__)?"
    rf"(?:(?P<before>{_STAMP})(?:\*\*|__)?[ \t]*(?:[-–|•][ \t]*)?)?(?:\*\*|__)?"
    r"(?P<name>[^\W\d_][^\n\r:：\[\](){}<>|\"“”,;!?=/\\*#$%^~`@]{0,40}?)"
    r"(?:[ \t]{0,3}\((?P<role>[^()\n\d:：]{1,40})\))?(?:\*\*|__)?"
    rf"(?:[ \t,]{{0,8}}(?P<after>{_STAMP}))?(?:\*\*|__)?"
    r"(?:[ \t]?(?::|：)(?:\*\*|__)?(?:(?<=：)|(?=\s|$))"
    rf"(?:[ \t]*(?P<within>[\[(]{_RANGE}[\])]))?"
    r"|(?P<alone>[ \t]*$))"
)
_ONLY_TIME = re.compile(rf"(?m)^[ \t]*[\[(](?P<time>{_RANGE})[\])][ \t]*(?=\S)")
_BLOCK_START = re.compile(r"(?:^|\n[^\S\n]*\n)\s*$")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_ENDED = re.compile(r"[.!?…。？！—-][\"'”’»)\]*_」』]*$")
_PARTICLES = frozenset(
    "al bin da de del der di dos du el la le of the und van von y and et".split()
)
_LONGEST_NAME_WORDS = 5
_TIMED = 0.8  # the share of turns with a time, from which on times mark turns
# Words that head a line without speaking it.
_KEYS = frozenset(
    "abstract action actions address agenda aim answer apologies architecture argument arguments"
    " attachments attendees author authors bcc caption category cc chapter comment comments"
    " conclusion conclusions content-type contents copyright cost critical date debug decision"
    " default definition depends description doi duration edit email end error example examples"
    " exercise fatal figure file files fig from host http https hint id important in-reply-to info"
    " input isbn isbn-13 issn item key keywords language lemma level license licence limitations"
    " list location message-id method mime-version minutes name note notes objective objectives"
    " output package page pages parameters participants path phone place point present presenter"
    " presenters price proof proposition publisher purpose question raises reason received"
    " reference references remark reply-to resolution result results return returns scene section"
    " see sent size source sources speakers start status step subject summary table tags tel"
    " theorem time tip title to todo topic topics total type update url usage username value"
    " version volume warning website where yields year".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """Where a turn begins: `[start, end)` holds name and time, each None where not given."""

    start: int
    end: int
    name: str | None
    time: str | None
    alone: bool = False

    @property
    def place(self) -> str:
        """Time and speaker for a locator."""
        return " › ".join(filter(None, (self.time, self.name)))


def heads_in(text: str, start: int = 0, end: int | None = None) -> list[Head]:
    """All lines of `text[start:end]` that look as if somebody began to speak."""
    end = len(text) if end is None else end
    heads: dict[int, Head] = {}
    for found in _ONLY_TIME.finditer(text, start, end):
        heads[found.start()] = Head(
            start=found.start(), end=found.end(), name=None, time=_bare(found["time"])
        )
    for found in _HEAD.finditer(text, start, end):
        time = found["before"] or found["after"] or found["within"]
        name = " ".join(found["name"].replace("**", "").split())
        alone = found["alone"] is not None
        if _is_name(name) and (not alone or found["after"]):
            heads[found.start()] = Head(
                start=found.start(),
                end=found.end(),
                name=name,
                time=_bare(time) if time else None,
                alone=alone,
            )
    return [heads[at] for at in sorted(heads)]


def _bare(time: str) -> str:
    """The beginning of a time or of a span of times, as it is written."""
    return re.split(r"[ \t]*(?:-->|[-–])", time.strip("[]()"))[0].strip()


def _is_name(name: str) -> bool:
    """Whether the words are spelled like a name: `Ann de Lee`, `DR. LEE`, `Speaker 1`."""
    words = name.split()
    if not words or len(words) > _LONGEST_NAME_WORDS:
        return False
    for k, word in enumerate(words):
        spelled = word[0].isalpha() and not word[0].islower()
        if not (spelled or (k and (word in _PARTICLES or word.strip("#.").isdigit()))):
            return False
        if word[-1] == "." and len(word) > 5:
            return False
    return True


def _is_key(name: str) -> bool:
    return name.split()[0].casefold() in _KEYS


# -- is it a conversation? ------------------------------------------------------------------------


def turns_in(
    text: str,
    spans: Iterable[tuple[int, int]] | None = None,
    *,
    least_share: float = 0.3,
    speakers: int = 2,
) -> list[Head]:
    """The turns of a conversation; none where the text is no conversation.

    Args:
        spans: Where in the text speech may stand, None for everywhere.
        least_share: How large a part of all lines, or of all blocks, must open a turn.
        speakers: How many names must recur where no times are given.
    """
    pieces = [(0, len(text))] if spans is None else list(spans)
    heads = [head for start, end in pieces for head in heads_in(text, start, end)]
    if len(heads) < 3:
        return []
    timed = sum(h.time is not None for h in heads) >= _TIMED * len(heads)
    turns = [h for h in heads if not (h.name and _is_key(h.name))]
    named = [h.name for h in turns if h.name]
    if len(turns) < 0.66 * len(heads):
        return []
    if timed:
        turns = [h for h in turns if h.time]
    else:
        turns = [h for h in turns if h.name]
        if len(turns) < 4 or not _are_people(named, speakers) or not _sounds_spoken(turns, text):
            return []
    body = text if spans is None else "\n\n".join(text[a:b] for a, b in pieces)
    needed = (0.1 if _recurring(named) >= 0.5 * len(turns) else 0.6) if timed else least_share
    return turns if _share(turns, text, body) >= needed else []


def _recurring(names: Sequence[str]) -> int:
    return sum(n for n in Counter(names).values() if n > 1)


def _are_people(names: Sequence[str], least: int) -> bool:
    """Whether nearly all of the names are among a few that recur, in no fixed order."""
    recurring = sum(n > 1 for n in Counter(names).values())
    few = _recurring(names) >= 0.8 * len(names)
    return few and recurring >= least and not _in_records(names)


def _share(heads: Sequence[Head], whole: str, text: str) -> float:
    """How many of the lines, or of the blocks between blank lines, open a turn."""
    lines = sum(1 for line in text.split("\n") if line.strip())
    blocks = len(_BLANK_LINE.findall(text.strip())) + 1
    opening = sum(
        _BLOCK_START.search(whole[max(0, h.start - 80) : h.start]) is not None for h in heads
    )
    return max(len(heads) / max(lines, 1), opening / blocks)


def _in_records(names: Sequence[str]) -> bool:
    """Whether three or more names always follow each other in one order, as fields do."""
    following: dict[str, set[str]] = {}
    for name, after in zip(names, names[1:], strict=False):
        following.setdefault(name, set()).add(after)
    return len(following) > 2 and all(len(after) == 1 for after in following.values())


def _sounds_spoken(heads: Sequence[Head], text: str) -> bool:
    """Whether what follows the names is sentences and not values."""
    ended = words = 0
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        stop = min(following.start if following else len(text), head.end + 4000)
        said = _BLANK_LINE.split(text[head.end : stop].strip(), maxsplit=1)[0]
        ended += _ENDED.search(said) is not None
        words += count_words(said)
    return ended >= 0.4 * len(heads) and words >= 2 * len(heads)


# -- paragraphs -----------------------------------------------------------------------------------


def spoken(
    text: str,
    paragraphs: Iterable[Paragraph],
    turns: Sequence[Head],
    called: Mapping[str, str] | None = None,
) -> Iterator[Paragraph]:
    """Paragraphs cut where turns begin, with time and speaker in their locators.

    A turn lasts until the next, or a heading. A name on a line of its own stays with its words.
    `called` says what a name is in locators, None where each is its own.
    """
    bare = {trimmed(text, h.start, h.end) for h in turns}
    held: Paragraph | None = None
    for p in _cut(text, paragraphs, turns, called or {}):
        if held and (p.locator, p.kind) == (held.locator, held.kind):
            p = replace(p, start=held.start)
        elif held:
            yield held
        held = p if (p.start, p.end) in bare else None
        if held is None:
            yield p
    if held:
        yield held


def _cut(
    text: str, paragraphs: Iterable[Paragraph], turns: Sequence[Head], called: Mapping[str, str]
) -> Iterator[Paragraph]:
    place = ""
    waiting = deque(turns)
    for p in paragraphs:
        opened = waiting[0].start < p.end if waiting else False
        if p.kind == "heading" and not opened:
            place = ""
            yield p
            continue
        at = p.start
        while waiting and waiting[0].start < p.end:
            head = waiting.popleft()
            yield from _pieces(text, p, at, max(at, head.start), place)
            at = max(at, head.start)
            place = replace(head, name=called.get(head.name or "", head.name)).place
        yield from _pieces(text, p, at, p.end, place)


def _pieces(text: str, p: Paragraph, start: int, end: int, place: str) -> Iterator[Paragraph]:
    if not text[start:end].strip():
        return
    kind = "text" if p.kind == "heading" else p.kind
    locator = " › ".join(filter(None, (p.locator, place))) or None
    for a, b in divide(text[start:end], kind):
        yield Paragraph(start=start + a, end=start + b, kind=kind, locator=locator)


# -- attendees ------------------------------------------------------------------------------------

_INITIALS = re.compile(r"[A-Z][A-Z0-9]{1,4}")
_INTRODUCED = re.compile(
    r"((?:[^\W\d_][\w.'’-]{0,30}[ \t]){1,3}[^\W\d_][\w.'’-]{0,30})[ \t]\(([A-Z0-9]{2,5})\)"
)
_ROW = re.compile(r"(?m)^[ \t]*\|?([^|\n]{2,60})\|[ \t]*([A-Z][A-Z0-9]{1,4})[ \t]*(?:\||$)")


def called(text: str, turns: Sequence[Head]) -> dict[str, str]:
    """Who speaks under initials, by these: `Ann Lee (ANL)`, from a table or where it is said."""
    initials = {h.name for h in turns if h.name and _INITIALS.fullmatch(h.name)}
    names: dict[str, str] = {}
    for found in (*_ROW.finditer(text), *_INTRODUCED.finditer(text)):
        name, short = found[1].strip(), found[2]
        if short in initials and name[:1].isupper():
            names.setdefault(short, f"{name} ({short})")
    return names
