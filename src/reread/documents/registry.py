"""Which loader reads what: a table by media type, and how the type of a source is found.

Content speaks first, the declared type and the extension after it. A format is added by an entry
in `LOADERS` (and in `EXTENSIONS` where it has one), or from another distribution by an entry point
of the group `reread.loaders` whose name is a media type or an extension with its dot.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from reread.documents.encodings import decode, looks_binary
from reread.documents.languages import CODE, CODE_EXTENSIONS, NOTEBOOK, is_code
from reread.documents.markdown import FRONT_MATTER
from reread.documents.source import Loader, Source
from reread.errors import DocumentError, UnsupportedFormat
from reread.types import Document

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


@dataclass(frozen=True, slots=True)
class Lazy:
    """A loader that imports its module when it is first used."""

    module: str

    def __call__(self, source: Source) -> Document:
        module = importlib.import_module(f"reread.documents.{self.module}")
        return cast(Loader, module.load)(source)


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
LOADERS: dict[str, Loader] = {
    "text/plain": Lazy("plain"),
    "text/markdown": Lazy("markdown"),
    "text/html": Lazy("html"),
    "text/vtt": Lazy("transcripts.captions"),
    "application/x-subrip": Lazy("transcripts.captions"),
    "application/x-tex": Lazy("latex"),
    "application/jats+xml": Lazy("jats"),
    "application/pdf": Lazy("pdf"),
    "application/epub+zip": Lazy("epub"),
    f"{_OFFICE}.wordprocessingml.document": Lazy("docx"),
    f"{_OFFICE}.spreadsheetml.sheet": Lazy("xlsx"),
    f"{_OFFICE}.presentationml.presentation": Lazy("pptx"),
    f"{_OPEN}.text": Lazy("odt"),
    f"{_OPEN}.spreadsheet": Lazy("ods"),
    f"{_OPEN}.presentation": Lazy("odp"),
    "application/rtf": Lazy("rtf"),
    "text/csv": Lazy("delimited"),
    "text/tab-separated-values": Lazy("delimited"),
    CODE: Lazy("code"),
    NOTEBOOK: Lazy("notebook"),
    "image/jpeg": Lazy("image"),
    "image/png": Lazy("image"),
    "image/tiff": Lazy("image"),
}
EXTENSIONS = {
    ".csv": "text/csv",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".epub": "application/epub+zip",
    ".htm": "text/html",
    ".html": "text/html",
    ".ipynb": NOTEBOOK,
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".latex": "application/x-tex",
    ".ltx": "application/x-tex",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mdown": "text/markdown",
    ".mkd": "text/markdown",
    ".nxml": "application/jats+xml",
    ".odp": f"{_OPEN}.presentation",
    ".ods": f"{_OPEN}.spreadsheet",
    ".odt": f"{_OPEN}.text",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".rtf": "application/rtf",
    ".srt": "application/x-subrip",
    ".tab": "text/tab-separated-values",
    ".tex": "application/x-tex",
    ".text": "text/plain",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".vtt": "text/vtt",
    ".xht": "text/html",
    ".xhtml": "text/html",
    ".xlsm": f"{_OFFICE}.spreadsheetml.sheet",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    **dict.fromkeys(sorted(CODE_EXTENSIONS), CODE),
}
_ALIASES = {
    "application/csv": "text/csv",
    "application/srt": "application/x-subrip",
    "application/x-latex": "application/x-tex",
    "application/x-pdf": "application/pdf",
    "application/xhtml+xml": "text/html",
    "text/rtf": "application/rtf",
    "text/srt": "application/x-subrip",
    "text/x-markdown": "text/markdown",
    "text/x-tex": "application/x-tex",
}
GROUP = "reread.loaders"

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # what Office puts a locked document into
_SIGNATURES = (  # (offset, bytes, media type)
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x89PNG\r\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (8, b"WEBP", "image/webp"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"MZ", "application/x-executable"),
    (0, b"\xca\xfe\xba\xbe", "application/x-executable"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, _OLE, "application/x-ole-storage"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (4, b"ftyp", "video/mp4"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
)
_ZIPPED = (  # (a name inside, media type)
    ("META-INF/container.xml", "application/epub+zip"),
    ("word/document.xml", f"{_OFFICE}.wordprocessingml.document"),
    ("word/document2.xml", f"{_OFFICE}.wordprocessingml.document"),  # of Word for the web
    ("xl/workbook.bin", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    ("xl/workbook.xml", f"{_OFFICE}.spreadsheetml.sheet"),
    ("ppt/presentation.xml", f"{_OFFICE}.presentationml.presentation"),
)
_CALLED = {
    "application/epub+zip": "an EPUB book",
    "application/encrypted": "an Office document locked with a password",
    "application/gzip": "a compressed file",
    "application/octet-stream": "a binary file of no known kind",
    "application/pdf": "a PDF document",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "a workbook in binary form (XLSB)",
    f"{_OFFICE}.wordprocessingml.document": "a DOCX document",
    "application/x-executable": "a program",
    "application/x-ole-storage": "an old Office document",
    "application/zip": "a ZIP archive",
    f"{_OPEN}.graphics": "a drawing",
    f"{_OPEN}.formula": "a formula",
}
_MIMETYPE = re.compile(rb"mimetype(application/(?:epub\+zip|vnd\.oasis\.opendocument\.[a-z-]+))")
_TEMPLATE = re.compile("-template$")
_HTML = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_HTML_PART = re.compile(
    r"<(?:head|body|div|p|h[1-6]|table|article|section|main|title|meta|ul|ol"
    r"|script|style|center|font|span|b|i|a|br)\b[^>]*>",
    re.IGNORECASE,
)
_MARKDOWN_HEADING = re.compile(r"(?:^|\n\n)#{1,6} \S[^\n]*\n(?:\n|$)")
_ARTICLE = re.compile(  # of a journal, in JATS or in the NLM format before it
    r"<!DOCTYPE\s+(?:article|pmc-articleset)\s[^>\[]{0,300}(?:NLM|JATS)"
    r"|<(?:[a-z]+:)?article\s[^>]{0,2000}?\b(?:article-type|dtd-version)\s*=|<pmc-articleset\b"
)
_TEX = re.compile(r"\\document(?:class|style)\s*[\[{]")
_WEBVTT = re.compile(r"WEBVTT(?:\s|$)")
_SUBRIP = re.compile(r"\s*\d{1,9}[ \t]*\n\s*(?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3}[ \t]*-->")
_PROLOGUE = (("<!--", "-->"), ("<?xml", "?>"))
_HEAD_BYTES = 20_000


def loader_for(source: Source) -> tuple[str, Loader]:
    """The media type of a source and the loader that reads it.

    Raises:
        UnsupportedFormat: none does; the hint names what is read.
    """
    media_type = media_type_of(source)
    loader = LOADERS.get(media_type) or _plugged_in(media_type)
    if loader is None:
        called = _CALLED.get(media_type) or f"of the type {media_type}"
        raise UnsupportedFormat(
            f"{source.name} is {called}, which no loader reads", hint=f"Known are {known()}"
        )
    return media_type, loader


def known() -> str:
    """The media types that are read, for people."""
    names = {*LOADERS, *_entry_points().names}
    return ", ".join(sorted(names))


def declared_type(media_type: str | None) -> tuple[str | None, str | None]:
    """(media type, charset) of a `Content-Type` value; None for what it does not say."""
    from email.message import Message

    if not media_type:
        return None, None
    message = Message()
    message["Content-Type"] = media_type
    name = message.get_content_type()
    return _ALIASES.get(name, name), message.get_content_charset()


def media_type_of(source: Source) -> str:
    """The media type of a source, from its content, what was declared and its name."""
    signed = _signature(source.data)
    if signed:
        return signed
    extension = _extension(source.name)
    if extension and extension not in EXTENSIONS and _plugged_in(extension):
        return extension
    if looks_binary(source.data):
        return "application/octet-stream"
    unsaid = source.media_type in (None, "text/plain") and extension != ".xml"
    if unsaid and is_code(PurePath(source.name).name, extension):
        return CODE  # a page of PHP or of templates may begin like one of HTML
    head = decode(source.data[:_HEAD_BYTES], source.charset)
    begins = _beginning(head)
    if _HTML.match(head, begins):
        return "text/html"
    if _ARTICLE.match(head, begins):
        return "application/jats+xml"
    declared = _ALIASES.get(source.media_type or "", source.media_type)
    if declared and declared != "text/plain":
        return declared
    named = EXTENSIONS.get(extension)
    if named is None or named == "text/plain":
        named = _opens_as(head) or named
    return named or _text_type(head, bool(extension or declared))


def _opens_as(head: str) -> str | None:
    """What a text is for certain by how it begins, whatever its name; None for any other."""
    if _WEBVTT.match(head):
        return "text/vtt"
    if _SUBRIP.match(head):
        return "application/x-subrip"
    if _TEX.search(head) and _first_line(head).startswith("\\"):
        return "application/x-tex"
    return None


def _text_type(head: str, named: bool) -> str:
    """What a text is by its look; only what has no name is taken for Markdown."""
    if _HTML_PART.match(head, _beginning(head)):
        return "text/html"
    if not named and head.startswith("#!"):
        return CODE
    if not named:
        front = FRONT_MATTER.match(head)
        if (front and ":" in front[0]) or len(_MARKDOWN_HEADING.findall(head)) > 1:
            return "text/markdown"
    return "text/plain"


def _first_line(head: str) -> str:
    """The first line that is neither empty nor a comment of TeX."""
    lines = (line.strip() for line in head.split("\n"))
    return next((line for line in lines if line and not line.startswith("%")), "")


def _beginning(head: str) -> int:
    """Where markup begins, after white space, comments and an XML declaration."""
    at = 0
    while True:
        at += len(head[at:]) - len(head[at:].lstrip()) if head[at : at + 1].isspace() else 0
        closer = next((c for o, c in _PROLOGUE if head.startswith(o, at)), None)
        end = head.find(closer, at) if closer else -1
        if closer is None or end < 0:
            return at
        at = end + len(closer)


def _extension(name: str) -> str:
    """The extension that says most: `notes.md.txt` is Markdown."""
    suffixes = [s.lower() for s in PurePath(name).suffixes[-2:]]
    if suffixes[-1:] == [".txt"] and EXTENSIONS.get(suffixes[0]) == "text/markdown":
        return suffixes[0]
    return suffixes[-1] if suffixes else ""


def _signature(data: bytes) -> str | None:
    if b"%PDF-" in data[:1024]:
        return "application/pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data)
    if data.startswith(_OLE) and _LOCKED in data:
        return "application/encrypted"
    # Two or three letters of a signature are also the beginning of a text.
    return next(
        (
            kind
            for offset, mark, kind in _SIGNATURES
            if data.startswith(mark, offset) and (not mark.isalnum() or looks_binary(data))
        ),
        None,
    )


def _zipped(data: bytes) -> str:
    from reread.documents import archive

    said = _MIMETYPE.search(data, 0, 200)  # EPUB and OpenDocument begin with what they are
    if said:
        return _TEMPLATE.sub("", said[1].decode("ascii"))
    names = archive.names(data)
    if "mimetype" in names and "content.xml" in names:
        said = _MIMETYPE.match(b"mimetype" + _member(data, "mimetype"))
        if said:
            return _TEMPLATE.sub("", said[1].decode("ascii"))
    found = next((kind for name, kind in _ZIPPED if name in names), None)
    if found is None and not names:  # a broken index: the names also stand before each member
        found = next((kind for name, kind in _ZIPPED if name.encode() in data), None)
    return found or "application/zip"


def _member(data: bytes, name: str) -> bytes:
    """A member of a zip file; nothing where it cannot be read."""
    from reread.documents import archive

    try:
        return archive.Archive(data, name).read(name)
    except (archive.Damaged, DocumentError):
        return b""


def _plugged_in(name: str) -> Loader | None:
    """The loader that another distribution brings under this name, None where none does."""
    for point in _entry_points():
        if point.name == name:
            return cast(Loader, point.load())
    return None


@cache
def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # looked up late and once: it reads every one

    return entry_points(group=GROUP)
