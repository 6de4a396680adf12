"""Source code: the cleaned source itself, cut between its top-level definitions.

The cuts know no language: a block begins at a line without indentation after a blank line, unless
that line only closes what was open. A long block is cut further, at blank lines before the least
indented lines inside it. Locators are the file's name, the line, and the definition around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from reread.documents.builder import LONGEST_BLOCK_WORDS, document_over
from reread.documents.encodings import decode
from reread.documents.languages import CODE
from reread.documents.source import Source
from reread.text import count_words
from reread.types import Document, Paragraph

_DEFINITION = re.compile(
    r"(?:(?:export|default|pub(?:\([\w: ]{0,30}\))?|public|private|protected|internal|static|final"
    r"|abstract|async|unsafe|extern|inline|sealed|partial|open|data|declare|case|const) +){0,6}"
    r"(?:class|def|defmodule|defn|enum|extension|fn|func|fun|function\*?"
    r"|impl|interface|macro_rules!|module|namespace|object|procedure|protocol|record|struct|sub"
    r"|trait|type|union)\b(?:(?<=func) *\([^()\n]{0,80}\))?(?=[ <]*[\w$])[^\n({:=;]{1,100}"
)
_BRACED = frozenset(".c .cc .cpp .cu .cxx .h .hh .hpp .hxx .m .mm".split())
_BRACED_HEAD = re.compile(r"(?!(?:else|return|typedef|using) )[a-zA-Z_][\w*&:<>,~ ]* [\w*&:~]+$")
_CLOSES = re.compile(r"[)\]}>;,.]|(?:end|fi|done|esac|else|elif|except|finally|catch)\b")
_DEEPEST = 8  # levels of indentation at which a long block is cut; deeper it is cut by lines

Lines = tuple[int, int]  # of a file, half-open, counted from 0


def load(source: Source) -> Document:
    """The document of a file of source code."""
    text = decode(source.data, source.charset)
    name = PurePath(source.name).name or source.name
    return document_over(
        text, located(text, name), title=name, origin=source.origin, media_type=CODE
    )


def located(text: str, name: str) -> Iterator[Paragraph]:
    """The paragraphs of a source text; their locators begin with `name`."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    braced = PurePath(name).suffix.lower() in _BRACED
    for block in _cut(lines, (0, len(lines)), 0):
        inside = _definition(lines, block, braced)
        for first, end in _fitting(lines, block):
            place = f"{name} › line {first + 1}"
            yield Paragraph(
                start=starts[first],
                end=min(starts[end], len(text)),
                kind="code",
                locator=f"{place} › {inside}" if inside else place,
            )


def _cut(lines: list[str], span: Lines, indent: int) -> Iterator[Lines]:
    """Blocks that begin after a blank line with a line indented no further than `indent`."""
    first, opened = None, span[0]
    for k in range(*span):
        line = lines[k]
        if not line.strip():
            continue
        if first is None:
            first = opened = k
        elif not lines[k - 1].strip() and _indent(line) <= indent and not _CLOSES.match(line):
            yield opened, k
            opened = k
    if first is not None:
        yield opened, span[1]


def _fitting(lines: list[str], block: Lines, depth: int = 0) -> Iterator[Lines]:
    """The block in pieces that are no longer than a paragraph should be."""
    if _words(lines, block) <= LONGEST_BLOCK_WORDS:
        yield block
        return
    inner = [
        _indent(lines[k])
        for k in range(block[0] + 1, block[1])
        if lines[k].strip() and not lines[k - 1].strip()
    ]
    deeper = [i for i in inner if depth == 0 or i > _indent(lines[block[0]])] or inner
    pieces = list(_cut(lines, block, min(deeper))) if deeper and depth < _DEEPEST else []
    if len(pieces) < 2:
        yield from _by_lines(lines, block)
        return
    yield from _packed(lines, pieces, depth + 1)


def _packed(lines: list[str], pieces: list[Lines], depth: int) -> Iterator[Lines]:
    """Neighbouring pieces taken together while they fit; what is too long alone is cut again."""
    opened, words = pieces[0][0], 0
    for start, end in pieces:
        size = _words(lines, (start, end))
        if words and words + size > LONGEST_BLOCK_WORDS:
            yield opened, start
            opened, words = start, 0
        if size > LONGEST_BLOCK_WORDS:
            yield from _fitting(lines, (start, end), depth)
            opened = end
        else:
            words += size
    if words:
        yield opened, pieces[-1][1]


def _by_lines(lines: list[str], block: Lines) -> Iterator[Lines]:
    opened, words = block[0], 0
    for k in range(*block):
        size = count_words(lines[k])
        if words and words + size > LONGEST_BLOCK_WORDS:
            yield opened, k
            opened, words = k, 0
        words += size
    if words:
        yield opened, block[1]


def _words(lines: list[str], block: Lines) -> int:
    return sum(count_words(lines[k]) for k in range(*block))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _definition(lines: list[str], block: Lines, braced: bool) -> str | None:
    """What the block defines, as its first line of that kind says it."""
    for k in range(*block):
        line = lines[k]
        if not line or line[0].isspace():
            continue
        match = _DEFINITION.match(line)
        if match:
            return " ".join(match[0].split())
        head, opened, rest = line[:200].partition("(")
        if braced and opened and ";" not in rest and _BRACED_HEAD.match(head):
            return " ".join(head.split())
    return None
