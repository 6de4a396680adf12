"""Captions of recordings (WebVTT, SubRip) as what was said: cues of one speaker make paragraphs.

What styles or comments on the captions is left out. Captions that roll up the screen repeat each
line in the next cue; where a file does so, every line is read once. Written by hand: the webvtt-py
package keeps neither text around a voice nor more than one voice in a cue.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode
from reread.documents.source import Source
from reread.documents.transcripts.speech import turns_in
from reread.errors import DamagedDocument, EmptyDocument
from reread.text import count_words
from reread.types import Document

WEBVTT, SUBRIP = "text/vtt", "application/x-subrip"
PARAGRAPH_WORDS = 60  # from here on a sentence or a pause ends a paragraph
LONGEST_PARAGRAPH_WORDS = 120
_PAUSE_S = 2.0
_SILENCE_S = 10.0  # ends a paragraph of any size
_ROLLING = 0.3  # the share of cues that repeat a line, from which on the captions roll

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,6}))?"
_TIMING = re.compile(rf"[ \t]*{_STAMP}[ \t]*-->[ \t]*{_STAMP}")
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_UNSEEN = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_VOICE = re.compile(r"<(/?)v(?:\.[^\s<>]*)?(?:[ \t]+([^<>]*))?>")
_TAG = re.compile(r"</?[a-zA-Z0-9.:][^<>]*>|</>")
_SUBRIP_TAG = re.compile(
    r"</?(?:[biusc]|font|span)(?:[ .=][^<>]*)?/?>|\{\\[^{}\n]*\}", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")
_UNSPACED = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uff01-\uff60]{2}")
_DASH = re.compile(r"[-–—][^\S\n]*\S")
_CHANGE = re.compile(r">>+[ \t]*")  # live captions mark a new speaker so
_ENDED = re.compile(r"[.!?…。？！][\"'”’»)\]」』]*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cue:
    """What stands on the screen from `start_s` to `end_s`; a speaker of None is not known."""

    start_s: float
    end_s: float
    lines: tuple[str, ...]
    speaker: str | None = None


def load(source: Source) -> Document:
    """The document of a caption file; its locators say when and who.

    Raises:
        DamagedDocument: no cue has a time.
        EmptyDocument: no cue holds text.
    """
    text = decode(source.data, source.charset)
    is_subrip = not text.lstrip().startswith("WEBVTT")
    raw = list(_cues(text))
    if not raw:
        if is_subrip and text.strip():
            raise DamagedDocument(
                f"{source.origin} holds no captions", hint="Name it .txt to read it as a text"
            )
        raise EmptyDocument(f"{source.origin} holds no text")
    cues = [voiced for cue in raw for voiced in _voices(cue, is_subrip=is_subrip)]
    builder = _Builder()
    for cue in _paragraphs(_named(_unrolled(cues))):
        said = "\n".join(cue.lines)
        builder.turn(" › ".join(filter(None, (clock(cue.start_s), cue.speaker))))
        builder.paragraph(f"{cue.speaker}: {said}" if cue.speaker else said)
    return builder.build(
        title=_title(text) or source.stem,
        origin=source.origin,
        media_type=SUBRIP if is_subrip else WEBVTT,
    )


class _Builder(TextBuilder):
    """Locates blocks by who speaks and when."""

    def turn(self, place: str) -> None:
        self.place = place


def clock(seconds: float) -> str:
    """Seconds since the beginning as `hours:minutes:seconds`."""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _title(text: str) -> str | None:
    header = text.lstrip().partition("\n")[0].removeprefix("WEBVTT")
    return header.strip(" \t-–") or None if "-->" not in header and header[:1] in " \t" else None


# -- cues -----------------------------------------------------------------------------------------


def _cues(text: str) -> Iterator[Cue]:
    """The cues as they stand. A blank line in the words of a cue does not end it."""
    times: tuple[float, float] | None = None
    said: list[str] = []
    for block in _BLANK.split(text.strip("\n")):
        if _UNSEEN.match(block) or block.strip().isdigit():
            continue
        before = len(said)
        for k, line in enumerate(block.split("\n")):
            timing = _TIMING.match(line)
            if timing is None:
                said.append(line)
                continue
            # The line above is the cue's name; without a blank line before it only a number is.
            if k and len(said) > before and (len(said) == before + k or said[-1].strip().isdigit()):
                said.pop()
            if times:
                yield Cue(start_s=times[0], end_s=times[1], lines=tuple(said))
            fields = timing.groups(default="0")
            times, said, before = (_seconds(fields[:4]), _seconds(fields[4:])), [], 0
    if times:
        yield Cue(start_s=times[0], end_s=times[1], lines=tuple(said))


def _seconds(fields: tuple[str, ...]) -> float:
    hours, minutes, seconds, fraction = fields
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction}")


def _voices(cue: Cue, *, is_subrip: bool) -> Iterator[Cue]:
    """A cue divided where another voice begins, without tags."""
    text, at, speaker = "\n".join(cue.lines), 0, None
    for voice in _VOICE.finditer(text):
        yield from _said(cue, text[at : voice.start()], speaker, is_subrip)
        at = voice.end()
        speaker = None if voice[1] else " ".join(_resolved(voice[2] or "").split()) or None
    yield from _said(cue, text[at:], speaker, is_subrip)


def _said(cue: Cue, text: str, speaker: str | None, is_subrip: bool) -> Iterator[Cue]:
    text = text.replace("<rt>", "(").replace("</rt>", ")")
    text = _resolved((_SUBRIP_TAG if is_subrip else _TAG).sub("", text))
    lines = tuple(" ".join(line.split()) for line in text.split("\n") if line.strip())
    if lines:
        yield replace(cue, lines=lines, speaker=speaker)


def _resolved(text: str) -> str:
    """Text with its entities as the characters they stand for."""
    return _ENTITY.sub(lambda m: html.unescape(m[0]), text).replace("\xa0", " ")


# -- captions that repeat themselves --------------------------------------------------------------


def _unrolled(cues: list[Cue]) -> list[Cue]:
    """Cues without the lines they repeat, where the captions roll up the screen or grow."""
    repeats = sum(
        _repeated(a.lines, b.lines) > 0 or _grows(a.lines, b.lines)
        for a, b in zip(cues, cues[1:], strict=False)
        if b.start_s <= a.end_s + 0.5
    )
    if repeats < 2 or repeats < _ROLLING * len(cues):
        return cues
    kept: list[Cue] = []
    shown: tuple[str, ...] = ()
    for cue in cues:
        new = cue.lines[_repeated(shown, cue.lines) :]
        if kept and new == cue.lines and _grows(shown, new):
            kept[-1] = replace(kept[-1], lines=(*kept[-1].lines[:-1], *new), end_s=cue.end_s)
        elif new:
            kept.append(replace(cue, lines=new))
        shown = cue.lines
    return kept


def _repeated(shown: tuple[str, ...], lines: tuple[str, ...]) -> int:
    """How many of the first lines are the last lines that were shown."""
    most = min(len(shown), len(lines), 4)
    return next((k for k in range(most, 0, -1) if shown[-k:] == lines[:k]), 0)


def _grows(shown: tuple[str, ...], lines: tuple[str, ...]) -> bool:
    """Whether the first line only adds words to the last one that was shown."""
    return bool(shown and lines) and lines[0].startswith(shown[-1] + " ")


# -- paragraphs -----------------------------------------------------------------------------------


def _named(cues: list[Cue]) -> list[Cue]:
    """Cues with the speakers that their words begin with, where no voice is marked."""
    if any(cue.speaker for cue in cues):
        return cues
    text = "\n".join(cue.lines[0] for cue in cues)
    turns = turns_in(text, least_share=0.1) or turns_in(text, least_share=0.8, speakers=1)
    heads = {head.start: head for head in turns}
    named: list[Cue] = []
    speaker, at = None, 0
    for cue in cues:
        head = heads.get(at)
        first = cue.lines[0]
        at += len(first) + 1
        if head:
            speaker = head.name
            first = first[head.end - head.start :].strip()
        elif change := _CHANGE.match(first):
            speaker, first = None, first[change.end() :]
            named.append(replace(cue, lines=()))  # ends the paragraph before
        named.append(
            replace(cue, lines=tuple(filter(None, (first, *cue.lines[1:]))), speaker=speaker)
        )
    return named


def _paragraphs(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Cues of one speaker joined up to a readable size."""
    open_cue: Cue | None = None
    words = 0
    for cue in cues:
        if open_cue and (
            cue.speaker != open_cue.speaker or not cue.lines or _full(open_cue, cue, words)
        ):
            yield open_cue
            open_cue = None
        if not cue.lines:
            continue
        lines = [*(open_cue.lines if open_cue else ()), *cue.lines]
        open_cue = replace(open_cue or cue, lines=_joined(lines), end_s=cue.end_s)
        words = sum(map(count_words, open_cue.lines))
    if open_cue:
        yield open_cue


def _full(cue: Cue, following: Cue, words: int) -> bool:
    pause_s = following.start_s - cue.end_s
    if words < PARAGRAPH_WORDS:
        return pause_s >= _SILENCE_S
    ended = _ENDED.search(cue.lines[-1]) is not None or pause_s >= _PAUSE_S
    return ended or words >= LONGEST_PARAGRAPH_WORDS


def _joined(lines: list[str]) -> tuple[str, ...]:
    """Lines run together; only those that a dash opens are speech of their own."""
    dashes = sum(_DASH.match(line) is not None for line in lines) > 1
    joined: list[str] = []
    for line in lines:
        if not joined or (dashes and _DASH.match(line)):
            joined.append(line)
        else:
            unspaced = _UNSPACED.match(joined[-1][-1] + line[0])
            joined[-1] += line if unspaced else f" {line}"
    return tuple(joined)
