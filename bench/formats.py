"""What loaders keep of real files: `docs/formats.md`, made from the files beside the repository.

    python bench/formats.py [FILE…] [--write]

Without files: what each loader keeps, one manual measured in all its formats, and a row for each
file of the real data. Prints Markdown; `--write` puts it into `docs/formats.md`. A new loader says
what it keeps in `KEEPS`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from agreement import DATA, MANUAL, manual_table
from reread.documents import EXTENSIONS, LOADERS, load_bytes
from reread.documents.languages import CODE, NOTEBOOK
from reread.documents.repository import load_folder
from reread.errors import Error
from reread.types import Document, ParagraphKind

PAGE = Path(__file__).resolve().parents[1] / "docs" / "formats.md"

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_PICTURES = "The text on the picture, where Tesseract is installed to recognise it."

# Media type -> its name for people, and what its loader keeps and leaves out.
KEEPS = {
    "text/plain": (
        "Plain text",
        "Any common encoding, found out. Paragraphs by blank lines, or by indents and width where "
        "lines are wrapped; chapters and underlined titles are headings.",
    ),
    "text/markdown": (
        "Markdown",
        "Headings, lists with their numbers, tables, code, quotes, notes; front matter gives the "
        "title. Images keep their description, links their text.",
    ),
    "text/html": (
        "HTML",
        "All that a browser shows, in order: headings, lists, tables with spanned cells, captions, "
        "code, formulas as LaTeX, notes. Not scripts, hidden parts, navigation. Papers made by "
        "LaTeXML keep sections, equations and a bibliography of their own.",
    ),
    "application/pdf": (
        "PDF",
        "Reading order over columns; paragraphs over lines, columns and pages, divided words made "
        "whole; headings by the outline or by type; tables as rows, code with its indents, forms "
        "with what was filled in, right-to-left text. Places are the printed page numbers. "
        "Footnotes stand at the end of their chapter, or after their page where the file has no "
        "outline. Running heads, page numbers and the numbers in a table of contents are left out. "
        "Pages that are pictures are recognised where Tesseract is installed, else named.",
    ),
    "application/epub+zip": (
        "EPUB",
        "Chapters in the order of the book, places by its contents and printed pages; notes, "
        "tables, code, formulas. A damaged chapter is named and the rest read.",
    ),
    f"{_OFFICE}.wordprocessingml.document": (
        "DOCX",
        "The text as with all changes accepted: headings, lists with their numbers, tables, notes, "
        "text boxes, formulas as LaTeX.",
    ),
    f"{_OFFICE}.spreadsheetml.sheet": (
        "XLSX",
        "The sheets a person sees, row by row, values as they are shown. Hidden sheets, rows and "
        "columns are left out.",
    ),
    f"{_OFFICE}.presentationml.presentation": (
        "PPTX",
        "What each slide shows in reading order, then its notes; titles are headings. Hidden "
        "slides and what stands on every slide are left out.",
    ),
    f"{_OPEN}.text": (
        "ODT",
        "The text as with all changes accepted, with notes and text boxes. Not comments, headers "
        "and footers.",
    ),
    f"{_OPEN}.spreadsheet": (
        "ODS",
        "As XLSX: the sheets a person sees, with the texts that their cells show.",
    ),
    f"{_OPEN}.presentation": ("ODP", "What each slide shows in its order, then its notes."),
    "application/rtf": (
        "RTF",
        "The text as with all changes accepted: headings, lists, tables, notes. Not comments, "
        "pictures, headers and footers.",
    ),
    "text/csv": ("CSV", "Rows; the separator is found from the text."),
    "text/tab-separated-values": ("TSV", "Rows; the separator is found from the text."),
    "text/vtt": (
        "WebVTT",
        "What was said, cues of one speaker together; speaker and time are the place. Styles and "
        "comments are left out.",
    ),
    "application/x-subrip": ("SubRip", "As WebVTT."),
    "application/x-tex": (
        "LaTeX",
        "The paper as it is set: headings, paragraphs, formulas, tables, notes. Files it includes "
        "are named and never opened.",
    ),
    "application/jats+xml": (
        "JATS",
        "Title, authors and abstract, then the body as HTML is read; the references kept apart.",
    ),
    CODE: (
        "Source code",
        "The source itself, cut between definitions; places are file, line and definition.",
    ),
    "image/jpeg": ("JPEG", _PICTURES),
    "image/png": ("PNG", _PICTURES),
    "image/tiff": ("TIFF", _PICTURES),
    NOTEBOOK: ("Notebook", "Cells in order: text, code, and the beginning of what it put out."),
}

# Folders that are one source: path below the data -> what loads them. Their files get no rows.
FOLDERS: dict[str, Callable[[Path], Document]] = {"code-repo/pdfplumber": load_folder}

_LICENCES = ("LICENSE", "copyright")
_PARTS_OF_ONE = (MANUAL / "html", MANUAL / "rst")  # measured as a whole, or the manual's source
_KINDS: dict[ParagraphKind, tuple[str, str]] = {  # one, several
    "heading": ("heading", "headings"),
    "table": ("table", "tables"),
    "list": ("list", "lists"),
    "code": ("piece of code", "pieces of code"),
    "math": ("formula", "formulas"),
    "quote": ("quote", "quotes"),
    "note": ("note", "notes"),
    "caption": ("caption", "captions"),
    "text": ("paragraph", "paragraphs"),
}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="Write docs/formats.md.")
    given = parser.parse_args()
    if given.files:
        print(_table([(str(path), path) for path in given.files]))
        return
    if not MANUAL.is_dir():
        raise SystemExit(f"The real data is not beside the repository: {DATA}")
    page = _page()
    print(page)
    if given.write:
        PAGE.write_text(page + "\n", encoding="utf-8")


def _page() -> str:
    return "\n\n".join(
        [
            "# Formats",
            "Made by `python bench/formats.py --write`. The content decides how a file is read, "
            "then the declared type and the extension. What no loader reads is refused with its "
            "kind; other distributions may add loaders (entry points of the group "
            "`reread.loaders`).",
            "## What is kept",
            _loaders(),
            "## One manual in four formats",
            "The same manual of 75,000 words as its makers publish it. *In order*: twice the words "
            "that an edition shares with the plain text in the same order (the longest common "
            "subsequence), by the words of both. The PDF's own page numbers, running heads and "
            "names of chapters are not in the plain text; the pictures' descriptions in the plain "
            "text are not in the PDF.",
            manual_table(),
            "## Files",
            "Words are reading units, as pages are measured. Parts are pages, chapters or files: "
            "read of all. Seconds are those of one run.",
            _table(_files()),
        ]
    )


def _loaders() -> str:
    rows = ["| format | media type | extensions | what is kept |", "| --- | --- | --- | --- |"]
    for media_type in LOADERS:
        name, keeps = KEEPS[media_type]
        ends = " ".join(f"`{e}`" for e, known in EXTENSIONS.items() if known == media_type)
        rows.append(f"| {name} | `{media_type}` | {ends} | {keeps} |")
    return "\n".join(rows)


def _files() -> list[tuple[str, Path]]:
    """(name, path) of every file of the data, folders that are one source taken together."""
    found = [(f"{name}/", DATA / name) for name in FOLDERS]
    whole = [*(path for _, path in found), *_PARTS_OF_ONE]
    for path in sorted(DATA.rglob("*")):
        licence = path.name.startswith(_LICENCES)
        if path.is_file() and not licence and not any(w in path.parents for w in whole):
            found.append((path.relative_to(DATA).as_posix(), path))
    return sorted(found)


def _table(files: list[tuple[str, Path]]) -> str:
    rows = [
        "| file | format | words | parts | kept | s |",
        "| --- | --- | ---: | --- | --- | ---: |",
    ]
    for name, path in files:
        rows.append("| " + " | ".join((f"`{name}`", *_row(name, path))) + " |")
    return "\n".join(rows)


def _row(name: str, path: Path) -> tuple[str, ...]:
    start = time.perf_counter()
    try:
        document = _load(name, path)
    except Error as error:
        return "", "", "", f"refused: {error.line}", f"{time.perf_counter() - start:.2f}"
    seconds = f"{time.perf_counter() - start:.2f}"
    known = KEEPS.get(document.media_type)
    kind = known[0] if known else "folder" if path.is_dir() else document.media_type
    return kind, f"{document.words:,}", _parts(document), _kept(document), seconds


def _load(name: str, path: Path) -> Document:
    if path.is_dir():
        return FOLDERS[name.rstrip("/")](path)
    return load_bytes(path.read_bytes(), name=path.name)


def _parts(document: Document) -> str:
    c = document.coverage
    said = [f"{c.read}/{c.parts}"]
    named = (
        ("without text", c.without_text),
        ("blank", c.blank),
        ("failed", c.failed),
        ("left out", c.left_out),
    )
    said += [f"{len(parts)} {name}" for name, parts in named if parts]
    return ", ".join(said)


def _kept(document: Document) -> str:
    counts = Counter(p.kind for p in document.paragraphs)
    return ", ".join(f"{n} {words[n > 1]}" for kind, words in _KINDS.items() if (n := counts[kind]))


if __name__ == "__main__":
    main()
