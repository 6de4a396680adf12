"""PDF files: running text in reading order, located by the printed page numbers.

PDFium (pypdfium2, Apache/BSD) rather than pypdf: ten to twenty times faster on the same files, it
tells where each character stands, and its repair of damaged files has stood up to years of fuzzing.

From file to text: `pages` opens the file and gives one page at a time, `words` and `bidi` what
PDFium sees on it, `lines` the reading order, `furniture` takes off what repeats at the edges,
`blocks` groups lines, `headings` ranks, `contents` knows tables of contents, `notes` says where
footnotes go, `hyphens` mends line ends, `writer` puts it all together. Only lines of text are held
for all pages; a page is closed before the next is opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from reread.documents.builder import TextBuilder
from reread.documents.pdf.blocks import Block, blocks_of, plain
from reread.documents.pdf.contents import Places
from reread.documents.pdf.furniture import labels, remove_furniture
from reread.documents.pdf.headings import Headings
from reread.documents.pdf.hyphens import Vocabulary
from reread.documents.pdf.notes import Chapters
from reread.documents.pdf.pages import Entry, PdfFile, PdfPage
from reread.documents.pdf.scans import read_scans
from reread.documents.pdf.writer import Writer
from reread.documents.source import Source
from reread.errors import DamagedDocument, EmptyDocument
from reread.types import Coverage, Document


def load(source: Source) -> Document:
    """The document of a PDF; its parts are the pages.

    A locked file needs the source's password; one that only restricts printing or copying does not.

    Raises:
        DamagedDocument: it cannot be opened, needs a password, or no page can be read.
        EmptyDocument: no page holds text; the message tells scans from blank pages.
    """
    with PdfFile(source, source.password) as file:
        pages = list(file.pages())
        outline = file.outline()
        title = file.title
        remedy = read_scans(file, pages, source)
    if not pages:
        raise DamagedDocument(f"{source.name} has no pages")
    return document_of(pages, source, outline=outline, title=title, remedy=remedy)


def document_of(
    pages: Sequence[PdfPage],
    source: Source,
    *,
    outline: Sequence[Entry] = (),
    title: str = "",
    remedy: str = "",
) -> Document:
    """The document of pages, in order; see `load`."""
    printed = remove_furniture(pages)
    _read_typescript_as_text(pages)
    headings = Headings(pages, outline)
    words = Vocabulary()
    for page in pages:
        words.add((plain(line.text), line.spaced) for line in page.lines)
    blocks = [blocks_of(page.lines, headings.body, headings.marks(page)) for page in pages]
    chapters = Chapters(outline)
    chapters.add_notes(enumerate(blocks))
    names = labels(pages, printed)
    places = Places(_titles(blocks, outline, names))
    builder = TextBuilder()
    builder.remedy = remedy
    writer = Writer(builder, headings, chapters, places, words)
    for page, found, name in zip(pages, blocks, names, strict=True):
        _write(page, found, f"p. {name}", writer, builder)
    writer.end_chapter()
    if not builder.coverage.read:
        raise _without_text(source, builder.coverage, remedy)
    return builder.build(
        title=title or _title(pages[0]) or source.stem,
        origin=source.origin,
        media_type=source.media_type or "application/pdf",
        references=writer.references,
    )


def _read_typescript_as_text(pages: Sequence[PdfPage]) -> None:
    """Takes type of fixed width for code only where it is not the type of the text itself."""
    lines = [line for page in pages for line in page.lines]
    fixed = sum(len(line.text) for line in lines if line.mono)
    if 2 * fixed > sum(len(line.text) for line in lines):
        for line in lines:
            line.mono = False


def _write(
    page: PdfPage, blocks: Sequence[Block], place: str, writer: Writer, builder: TextBuilder
) -> None:
    if page.failed is not None:
        builder.failed(place, page.failed)
    elif page.lines:
        writer.page(page, blocks, place)
        if page.recognised:
            builder.recognised(place)
    elif page.shows and not page.recognised:  # else it was read, and all was furniture
        builder.without_text(place)
    else:
        builder.blank(place)


def _titles(
    blocks: Sequence[Sequence[Block]], outline: Sequence[Entry], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The titles of all headings and of the outline, each with the name of its page."""
    for found, name in zip(blocks, names, strict=True):
        yield from ((block.text, name) for block in found if block.kind == "heading")
    yield from ((e.title, names[e.page]) for e in outline if e.page < len(names))


def _without_text(
    source: Source, coverage: Coverage, remedy: str
) -> DamagedDocument | EmptyDocument:
    if coverage.failed:
        reason = Counter(reason for _, reason in coverage.failed).most_common(1)[0][0]
        return DamagedDocument(f"no page of {source.name} can be read: {reason}")
    scans = len(coverage.without_text)
    if not scans:
        return EmptyDocument(f"{source.name} holds no text: all pages are blank")
    return EmptyDocument(
        f"{source.name} holds no text: {scans} of {coverage.parts} pages are pictures",
        hint=f"{remedy[:1].upper()}{remedy[1:]}" if remedy else "Text recognition saw none either",
    )


def _title(page: PdfPage) -> str:
    """The lines in the largest type on the first page, "" where none stands out."""
    sizes = Counter[float]()
    for line in page.lines:
        sizes[line.size] += len(line.text)
    if not sizes or max(sizes) < 1.1 * sizes.most_common(1)[0][0]:
        return ""
    largest = [plain(x.text) for x in page.lines if x.size == max(sizes) and len(x.cells) == 1]
    text = " ".join(" ".join(largest[:3]).split())
    return text if re.search(r"[^\W\d_]{2}", text) and len(text) <= 200 else ""
