"""LaTeX source of a paper as people see it set: headings, paragraphs, formulas, tables, notes.

Only the file itself is read: what it includes is named in the coverage and never opened. The source
is read twice, because the first pages refer to numbers that are given on the last. Written by hand:
pylatexenc (MIT, 1.3 MB, untyped) turns source into one string without headings, tables or notes,
and deep nesting ends it with a RecursionError.
"""

from __future__ import annotations

from reread.documents.builder import TextBuilder
from reread.documents.encodings import decode
from reread.documents.latex.reader import COMMANDS, Known, Reader
from reread.documents.latex.source import Expansion, definitions, without_comments
from reread.documents.source import Source
from reread.errors import TooLarge
from reread.types import Document

MEDIA_TYPE = "application/x-tex"
_LONGEST = 20_000_000  # characters; books are below two million
_IN_ANOTHER_FILE = "it stands in another file, which is not read with this one"


def load(source: Source) -> Document:
    """The document of a LaTeX file; parts that it includes are named as not read.

    Raises:
        EmptyDocument: it shows no text.
        TooLarge: it is far longer than any book.
    """
    text = decode(source.data, source.charset)
    if len(text) > _LONGEST:
        raise TooLarge(f"{source.origin} is too long for a LaTeX file", hint="Divide it first")
    plain = without_comments(text)
    body, defined = definitions(plain.text, COMMANDS)
    body = Expansion(defined.macros, len(body)).of(body)
    known = Known()
    for builder in (TextBuilder(), TextBuilder()):
        reader = Reader(body, plain.raw, defined, known, builder)
        reader.read()
    if reader.included:
        builder.part()
    for name in dict.fromkeys(reader.included):
        builder.failed(name, _IN_ANOTHER_FILE)
    return builder.build(
        title=reader.title or source.stem,
        origin=source.origin,
        media_type=MEDIA_TYPE,
        references=reader.references,
    )
