"""Zip files, EPUB books and DOCX documents made by code, whole and damaged."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from reread.documents import load_bytes
from reread.types import Document

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
Members = Mapping[str, str | bytes]


def zipped(members: Members, *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file with these members, in this order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def broken(data: bytes, content: bytes) -> bytes:
    """A zip file of stored members where one letter of `content` is another: a wrong checksum."""
    assert data.count(content) == 1
    return data.replace(content, content[:-1] + bytes([content[-1] ^ 1]))


def page(body: str, *, head: str = "<!DOCTYPE html>") -> str:
    """An XHTML page."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{head}<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>t</title></head>'
        f"<body>{body}</body></html>"
    )


def nav(entries: str) -> str:
    """A navigation document; `entries` are list items."""
    return page(f'<h1>Contents</h1><nav epub:type="toc"><ol>{entries}</ol></nav>')


def book(
    chapters: Members,
    spine: Sequence[str] | None = None,
    *,
    title: str = "A Book",
    manifest: str = "",
    references: str = "",
    guide: str = "",
    extra: Members | None = None,
) -> dict[str, str | bytes]:
    """The members of a book. `spine` names chapters in order, `!` before one that is not linear."""
    items = "".join(
        f'<item id="{n}" href="{n}" media-type="application/xhtml+xml" properties="{_kind(n)}"/>'
        for n in chapters
    )
    order = "".join(
        f'<itemref idref="{n.lstrip("!")}" linear="{"no" if n[0] == "!" else "yes"}"/>'
        for n in (spine if spine is not None else list(chapters))
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}{manifest}</manifest>"
        f"<spine>{order}{references}</spine>{guide}</package>"
    )
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": package,
        **{f"OPS/{n}": content for n, content in chapters.items()},
        **(extra or {}),
    }


def _kind(name: str) -> str:
    return "nav" if name == "nav.xhtml" else ""


def epub(members: Members) -> Document:
    """The document of a book with these members."""
    return load_bytes(zipped(members, method=zipfile.ZIP_STORED), name="book.epub")


# -- word processing ------------------------------------------------------------------------------

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPACES = (
    f'xmlns:w="{WORD}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(content: str, style: str = "", properties: str = "") -> str:
    """A paragraph; what does not begin with a tag becomes a run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    content = content if content.startswith("<") or not content else r(content)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{content}</w:p>"


def item(text: str, numbering: int, depth: int = 0) -> str:
    """A paragraph of a list."""
    said = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{numbering}"/></w:numPr>'
    return p(text, properties=said)


def table(*rows: str) -> str:
    """A table of rows; cells are apart by bars."""
    made = ""
    for row in rows:
        cells = "".join(f"<w:tc>{p(cell)}</w:tc>" for cell in row.split("|"))
        made += f"<w:tr>{cells}</w:tr>"
    return f"<w:tbl>{made}</w:tbl>"


def styles(*made: tuple[str, str, str]) -> str:
    """A style part of (id, name, what the style holds besides)."""
    said = "".join(
        f'<w:style w:type="paragraph" w:styleId="{i}"><w:name w:val="{n}"/>{more}</w:style>'
        for i, n, more in made
    )
    return f"<w:styles {SPACES}>{said}</w:styles>"


def word_members(body: str, parts: Members | None = None) -> dict[str, str | bytes]:
    """The members of a DOCX file; `parts` are those in its folder `word`."""
    return {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        **{f"word/{name}": content for name, content in (parts or {}).items()},
    }


def word(body: str, parts: Members | None = None, *, title: str | None = None) -> Document:
    """The document of a DOCX file with this body."""
    members = word_members(body, parts)
    if title is not None:
        members["docProps/core.xml"] = (
            '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/'
            f'core-properties" xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>{title}</d:title>'
            "</c:coreProperties>"
        )
    return load_bytes(zipped(members), name="file.docx")
