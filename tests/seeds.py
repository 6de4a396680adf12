"""One small whole file of every format that is read, and ways to damage it, all by rule."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

from pdf_writer import Pdf, text
from zipped import book, page, zipped

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
ODF = "urn:oasis:names:tc:opendocument:xmlns"

_HTML = (
    "<!DOCTYPE html><html lang=en><head><title>Tides</title><style>.x{display:none}</style></head>"
    "<body><nav><a href=a>Home</a></nav><main><h1>Tides</h1><p>The sea rises <b>twice</b> a day."
    "<sup><a href=#n1>1</a></sup></p><table><tr><th>Hour<th>Height<tr><td>3<td>2 m</table>"
    "<ul><li>ebb<li>flood</ul><pre>x = 1</pre><p hidden>secret</p><p id=n1>1. Measured here.</p>"
    "</main></body></html>"
)
_DOCX = (
    f'<w:document xmlns:w="{W}"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    "<w:r><w:t>Tides</w:t></w:r></w:p><w:p><w:r><w:t>The sea rises.</w:t></w:r><w:ins><w:r>"
    "<w:t> It falls.</w:t></w:r></w:ins><w:r><w:footnoteReference w:id='2'/></w:r></w:p><w:tbl>"
    "<w:tr><w:tc><w:p><w:r><w:t>3</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2 m</w:t></w:r>"
    "</w:p></w:tc></w:tr></w:tbl></w:body></w:document>"
)
_NOTES = (
    f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2"><w:p><w:r><w:t>Measured here.</w:t></w:r>'
    "</w:p></w:footnote></w:footnotes>"
)
_SHEET = (
    f'<worksheet xmlns="{S}"><cols><col min="2" max="2" hidden="1"/></cols><sheetData><row r="1">'
    '<c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>45000.5</v></c></row><row r="3"><c r="A3">'
    '<f>1+1</f><v>2</v></c></row></sheetData><mergeCells><mergeCell ref="A1:C1"/></mergeCells>'
    "</worksheet>"
)
_TEX = (
    "\\documentclass{article}\\newcommand{\\sea}[1]{the #1 sea}\\begin{document}\\title{Tides}"
    "\\maketitle\\section{Rise}\\label{a}It is \\sea{cold}, see \\ref{a}.\\footnote{Here.}"
    "\\begin{equation}h=2\\sin t\\end{equation}\\begin{tabular}{ll}3&2\\\\4&5\\end{tabular}"
    "\\begin{itemize}\\item ebb\\end{itemize}\\bibliography{x}\\end{document}"
)
_JATS = (
    "<article article-type='research'><front><article-meta><title-group><article-title>Tides"
    "</article-title></title-group><abstract><p>Short.</p></abstract></article-meta></front><body>"
    "<sec><title>Rise</title><p>It rises<xref rid='f1'>1</xref>.</p><table-wrap><table><tr><td>3"
    "</td></tr></table></table-wrap></sec></body><back><ref-list><ref><mixed-citation>A. Sea, 1990"
    "</mixed-citation></ref></ref-list></back></article>"
)
_RTF = (
    r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\stylesheet{\s1 heading 1;}}\pard\s1 Tides\par"
    r"\pard The s\'e9a \u8364? rises.{\footnote Here.}\par\trowd\cellx1\cellx2 3\cell 2 m\cell\row}"
)
_VTT = (
    "WEBVTT\n\nNOTE made by hand\n\n1\n00:00:01.000 --> 00:00:04.000 align:start\n<v Ann>The sea "
    "rises.\n\n00:00:05.000 --> 00:00:09.000\n<v Bo>And &amp; falls."
)
_SRT = (
    "1\n00:00:01,000 --> 00:00:04,000\nANN: The sea rises.\n\n"
    "2\n00:00:05,000 --> 00:00:09,000\nBO: It falls."
)
_MARKDOWN = (
    "---\ntitle: Tides\n---\n# Tides\n\nThe sea *rises*[^1].\n\n| hour | height |\n|---|---|\n"
    "| 3 | 2 m |\n\n- ebb\n- flood\n\n```py\nx = 1\n```\n\n> so\n\n[^1]: Measured here.\n"
)
_TALK = "\n".join(
    f"[00:0{k}:00] {n}: The sea rises {k} times." for k, n in enumerate(["Ann", "Bo"] * 4)
)
_CODE = (
    '"""Tides."""\n\nclass Sea:\n    def rise(self):\n        return 2\n\n\n'
    "def main():\n    Sea()\n"
)
_NOTEBOOK = (
    '{"cells":[{"cell_type":"markdown","source":["# Tides"]},{"cell_type":"code","source":"x=1",'
    '"outputs":[{"output_type":"stream","text":["1"]}]}],"nbformat":4,"metadata":{}}'
)


def _slides() -> bytes:
    slide = (
        f'<p:sld xmlns:p="{P}" xmlns:a="{A}"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph '
        'type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Tides</a:t></a:r></a:p>'
        "</p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    )
    show = (
        f'<p:presentation xmlns:p="{P}" xmlns:r="{R}"><p:sldIdLst><p:sldId id="256" r:id="rId1"/>'
        "</p:sldIdLst></p:presentation>"
    )
    rels = (
        f'<Relationships xmlns="{RELS}"><Relationship Id="rId1" Type="{R}/slide" '
        'Target="slides/slide1.xml"/></Relationships>'
    )
    return zipped(
        {
            "ppt/presentation.xml": show,
            "ppt/_rels/presentation.xml.rels": rels,
            "ppt/slides/slide1.xml": slide,
        }
    )


def _workbook() -> bytes:
    rels = (
        f'<Relationships xmlns="{RELS}"><Relationship Id="rId1" Type="{R}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    )
    return zipped(
        {
            "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets><sheet name="Tides" '
            'sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": rels,
            "xl/sharedStrings.xml": f'<sst xmlns="{S}"><si><t>Hour</t></si></sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{S}"><cellXfs><xf numFmtId="0"/>'
            '<xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/worksheets/sheet1.xml": _SHEET,
        }
    )


def _open(kind: str, body: str) -> bytes:
    names = " ".join(f'xmlns:{n}="{ODF}:{n}:1.0"' for n in ("office", "text", "table", "draw"))
    content = (
        f"<office:document-content {names}><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>"
    )
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    return zipped({"mimetype": mimetype, "content.xml": content}, method=zipfile.ZIP_STORED)


def seeds() -> dict[str, bytes]:
    """A file of each format by its name."""
    odt = '<text:h text:outline-level="1">Tides</text:h><text:p>The sea rises.</text:p>'
    ods = (
        '<table:table table:name="Tides"><table:table-row><table:table-cell '
        'table:number-columns-repeated="2"><text:p>3</text:p></table:table-cell></table:table-row>'
        "</table:table>"
    )
    odp = (
        "<draw:page draw:name='1'><draw:frame><draw:text-box><text:p>The sea.</text:p>"
        "</draw:text-box></draw:frame></draw:page>"
    )
    pdf = Pdf(
        pages=[text(72, 700, "The sea rises twice a day.") + text(72, 680, "It falls as often.")],
        outline=[("Tides", 0)],
        title="Tides",
    )
    locked = Pdf(pages=[text(72, 700, "The sea rises.")], user="", owner="x")
    texts = {
        "a.html": _HTML,
        "a.md": _MARKDOWN,
        "a.tex": _TEX,
        "a.nxml": _JATS,
        "a.rtf": _RTF,
        "a.vtt": _VTT,
        "a.srt": _SRT,
        "talk.txt": _TALK,
        "prose.txt": "Chapter 1\n\nThe sea rises.\nIt falls — and rises.\n\nChapter 2\n\nEnd.",
        "a.py": _CODE,
        "a.ipynb": _NOTEBOOK,
        "a.csv": 'Hour,Height\n3,"2 m"\n4,"3 ""m"""\n',
        "a.tsv": "Hour\tHeight\n3\t2 m\n",
    }
    return {
        **{name: said.encode() for name, said in texts.items()},
        "utf16.txt": "The sea rises. Die See fällt.".encode("utf-16"),
        "sjis.txt": "海は一日に二度満ちる。潮が引く。".encode("shift_jis"),
        "a.pdf": pdf.file(),
        "locked.pdf": locked.file(),
        "a.epub": zipped(book({"a": page("<h1>Tides</h1><p>The sea rises.</p>")})),
        "a.docx": zipped({"word/document.xml": _DOCX, "word/footnotes.xml": _NOTES}),
        "a.xlsx": _workbook(),
        "a.pptx": _slides(),
        "a.odt": _open("text", odt),
        "a.ods": _open("spreadsheet", ods),
        "a.odp": _open("presentation", odp),
    }


_PIECES = (
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"<", b">", b"&", b"&#0;", b"]]>", b"<!--", b"-->"),
    *(b"<![CDATA[", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"{", b"}", b"\\", b"\\begin{", b"\\end{x}"),
    *(b"$", b"\n\n", b"\r", b"\t", b" " * 300, b"(" * 200, b"<b>" * 200, b"{" * 200, b"9" * 40),
    *(b"-1", b"0", b"4294967296", b"1e309", b"\xe2\x80\xae", b"\xf0\x9f\xa6\x86", b"endobj"),
    *(b"stream\n", b"obj", b"R", b"[", b"]", b"|", b"```", b"---\n", b"-->", b":", b'"', b"'"),
)  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The file with one to six things changed; in archives often inside a member."""
    if data[:2] == b"PK" and rng.random() < 0.7:
        return _inside(data, rng)
    return _changed(data, rng)


def _inside(data: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    turn = rng.random()
    if turn < 0.05:
        del members[name]
    elif turn < 0.1:
        members[name] = members[rng.choice(list(members))]
    else:
        members[name] = _changed(members[name], rng)
    return zipped(members, method=rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _changed(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        rng.choice(_CHANGES)(out, rng)
    return bytes(out[:300_000])


def _flip(out: bytearray, rng: random.Random) -> None:
    if out:
        out[rng.randrange(len(out))] = rng.randrange(256)


def _insert(out: bytearray, rng: random.Random) -> None:
    at = rng.randint(0, len(out))
    out[at:at] = rng.choice(_PIECES) * rng.choice((1, 1, 1, 5, 100))


def _cut(out: bytearray, rng: random.Random) -> None:
    start = rng.randint(0, len(out))
    del out[start : start + rng.choice((1, 4, 40, 400, 4_000))]


def _repeat(out: bytearray, rng: random.Random) -> None:
    start = rng.randint(0, len(out))
    piece = out[start : start + rng.choice((1, 20, 200, 2_000))]
    at = rng.choice((start, rng.randint(0, len(out))))
    out[at:at] = piece * rng.choice((1, 2, 10, 60))


def _truncate(out: bytearray, rng: random.Random) -> None:
    del out[rng.randint(0, len(out)) :]


def _number(out: bytearray, rng: random.Random) -> None:
    """Another number where there is a digit."""
    places = [k for k, byte in enumerate(out) if 48 <= byte <= 57]
    if places:
        at = rng.choice(places)
        out[at : at + 1] = rng.choice((b"0", b"-1", b"99999999", b"2147483648", b"1.5", b""))


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    *(_flip, _flip, _insert, _insert, _cut, _repeat, _truncate, _number),
)  # fmt: skip
