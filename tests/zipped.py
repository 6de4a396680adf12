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
