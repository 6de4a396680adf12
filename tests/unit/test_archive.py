"""Archives and XML from strangers: damage is told from bombs, and bombs cost next to nothing."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from reread.documents import archive, load_bytes
from reread.documents.archive import Archive, Damaged, Limits, parse_xml, plain
from reread.errors import DamagedDocument, DocumentError, TooLarge, UnsupportedFormat
from zipped import book, broken, page, zipped

NESTED = zip("abcdefghi", "bcdefghij", strict=True)
LAUGHS = (
    "<!DOCTYPE html [<!ENTITY a 'haha'>"
    + "".join(f"<!ENTITY {outer} '{f'&{inner};' * 10}'>" for inner, outer in NESTED)
    + "]>"
)


def test_members_are_read_by_name() -> None:
    opened = Archive(zipped({"a.txt": "one", "b/c.txt": "two"}), "x.zip")
    assert opened.names == ("a.txt", "b/c.txt")
    assert (opened.read("a.txt"), opened.read("b/c.txt")) == (b"one", b"two")


def test_a_missing_member_is_no_end() -> None:
    opened = Archive(zipped({"a.txt": "one"}), "x.zip")
    with pytest.raises(Damaged, match="not in the file"):
        opened.read("../a.txt")
    assert opened.read("a.txt") == b"one"


def test_a_wrong_checksum_concerns_one_member() -> None:
    data = zipped({"a": "first text", "b": "second text"}, method=zipfile.ZIP_STORED)
    opened = Archive(broken(data, b"first text"), "x.zip")
    with pytest.raises(Damaged, match="CRC"):
        opened.read("a")
    assert opened.read("b") == b"second text"


def test_broken_packing_concerns_one_member() -> None:
    data = bytearray(zipped({"a": "first text " * 50, "b": "second"}))
    at = data.index(b"PK\x03\x04") + 31
    data[at : at + 8] = b"\xff" * 8
    opened = Archive(bytes(data), "x.zip")
    with pytest.raises(Damaged, match="packed data is damaged"):
        opened.read("a")
    assert opened.read("b") == b"second"


def test_a_cut_file_is_damaged() -> None:
    with pytest.raises(DamagedDocument, match=r"^x\.zip is damaged"):
        Archive(zipped({"a": "text" * 100})[:-30], "x.zip")


def test_a_password_is_one_line() -> None:
    data = bytearray(zipped({"a": "text"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    with pytest.raises(DamagedDocument, match="locked with a password") as caught:
        Archive(bytes(data), "x.zip")
    assert "\n" not in caught.value.line


def test_sizes_are_counted_and_not_believed() -> None:
    data = bytearray(zipped({"a": bytes(100_000)}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", 10)  # says that it unpacks to ten bytes
    opened = Archive(bytes(data), "x.zip", limits=Limits(member_bytes=50_000))
    with pytest.raises((TooLarge, Damaged)):
        opened.read("a")


@pytest.mark.parametrize(
    "limits",
    [Limits(member_bytes=1000), Limits(total_bytes=1000), Limits(ratio_from_bytes=1000, ratio=20)],
)
def test_each_limit_holds(limits: Limits) -> None:
    opened = Archive(zipped({"a": bytes(100_000)}), "x.zip", limits=limits)
    with pytest.raises(TooLarge, match=r"x\.zip unpacks to far more"):
        opened.read("a")


def test_one_bomb_among_many_members_is_found() -> None:
    noise = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(256))
    opened = Archive(
        zipped({"noise": noise, "a": bytes(100_000)}),
        "x.zip",
        limits=Limits(ratio_from_bytes=10_000, ratio=20),
    )
    assert opened.read("noise") == noise
    with pytest.raises(TooLarge):
        opened.read("a")


def test_the_total_counts_all_members() -> None:
    opened = Archive(zipped({"a": "x" * 600, "b": "y" * 600}), "x", limits=Limits(total_bytes=1000))
    opened.read("a")
    with pytest.raises(TooLarge):
        opened.read("b")


def test_too_many_members() -> None:
    data = zipped({str(n): "" for n in range(12)})
    assert len(Archive(data, "x", limits=Limits(members=12)).names) == 12
    with pytest.raises(TooLarge, match="more than 11 files"):
        Archive(data, "x", limits=Limits(members=11))


def test_repetitive_text_is_no_bomb() -> None:
    text = "The same sentence again and again. " * 220_000  # 7.7 MB, packed to 23 kB
    assert len(Archive(zipped({"a": text}), "x").read("a")) == len(text)


# -- XML ------------------------------------------------------------------------------------------


def test_xml_is_parsed_in_any_encoding() -> None:
    assert parse_xml("<a>é</a>").text == "é"
    declared = '<?xml version="1.0" encoding="utf-16"?><a>é</a>'
    assert parse_xml(declared.encode("utf-16")).text == "é"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(encoding: str) -> None:
    bomb = f'<?xml version="1.0" encoding="{encoding}"?>{LAUGHS}<html>&j;</html>'
    with pytest.raises(Damaged, match="entities"):
        parse_xml(bomb.encode(encoding))


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words")
    for doctype in (f'<!DOCTYPE a SYSTEM "{secret.as_uri()}">', ""):
        root = parse_xml(f"{doctype}<a><i href='{secret.as_uri()}'/>b</a>")
        assert "hidden" not in "".join(map(str, root.itertext()))


def test_names_lose_their_namespaces() -> None:
    tree = "<a xmlns='u:x' xmlns:m='u:m'><m:b/><_c.d-e/></a>"
    assert [e.tag for e in plain(parse_xml(tree)).iter()] == ["a", "b", "_c.d-e"]
    assert [e.tag for e in plain(parse_xml(tree), kept=(":m",)).iter()] == ["a", "{u:m}b", "_c.d-e"]
    mended = etree.fromstring("<dc:x><dc:y:/></dc:x>", etree.XMLParser(recover=True))
    assert [e.tag for e in plain(mended).iter()] == ["x", "unknown"]


@pytest.mark.parametrize("xml", ["", "<a>", "<a></b>", "words", "<a/>\x00"])
def test_broken_xml_says_so(xml: str) -> None:
    with pytest.raises(Damaged, match="XML"):
        parse_xml(xml)


# -- bombs ----------------------------------------------------------------------------------------

ZEROS = bytes(200_000_000)


def _epub_bomb(chapter: str | bytes) -> bytes:
    return zipped(book({"a.xhtml": chapter}))


def _docx_bomb(content: str | bytes) -> bytes:
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": content})


def _flat(text: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{text}</body></html>'


BOMBS = {
    "zeros": ZEROS,
    "laughs": LAUGHS + _flat("&j;"),
    "quadratic": f"<!DOCTYPE html [<!ENTITY a '{'x' * 100_000}'>]>" + _flat("&a;" * 100_000),
    "deep": _flat("<b>" * 3_000_000),
    "deep and closed": _flat("<b>" * 1_500_000 + "</b>" * 1_500_000),
    "a little deep": _flat("<div>" * 60_000 + "words" + "</div>" * 60_000),
    "flat tags": _flat("<b/>" * 3_000_000),
}
_MEASURED = """
import sys, time
from pathlib import Path
from reread.documents import load_bytes
from reread.errors import DocumentError
for warm in ("epub", "docx"):
    try:
        load_bytes(b"PK\\x03\\x04" + b"x" * 99, name="a." + warm)
    except DocumentError:
        pass
data = Path(sys.argv[1]).read_bytes()
begun = time.process_time()
try:
    print("read", load_bytes(data, name="bomb").words)
except DocumentError as error:
    print(type(error).__name__)
seconds = time.process_time() - begun
status = Path("/proc/self/status").read_text()  # not getrusage, which counts the parent too
print(seconds, int(status.partition("VmHWM:")[2].split()[0]) / 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak there")
@pytest.mark.parametrize("kind", list(BOMBS))
@pytest.mark.parametrize("make", [_epub_bomb, _docx_bomb])
def test_bombs_are_refused_in_a_second_within_100_megabytes(
    kind: str, make: type, tmp_path: Path
) -> None:
    file = tmp_path / "bomb"
    file.write_bytes(make(BOMBS[kind]))
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(file)], capture_output=True, text=True, check=True
    )
    said, figures = run.stdout.strip().split("\n")
    seconds, megabytes = map(float, figures.split())
    assert said in ("TooLarge", "DamagedDocument")
    assert seconds < 1
    assert megabytes < 100


def test_a_bomb_of_many_members_is_refused() -> None:
    members = book({f"{n}.xhtml": page("<p>" + " " * 9_000_000 + "</p>") for n in range(9)})
    begun = time.process_time()
    with pytest.raises(TooLarge):
        load_bytes(zipped(members), name="a.epub")
    assert time.process_time() - begun < 3


# -- telling formats apart ------------------------------------------------------------------------


def test_a_broken_index_does_not_hide_the_format() -> None:
    cut = zipped(book({"a.xhtml": page("<p>Words</p>")}))[:-40]
    with pytest.raises(DamagedDocument, match="damaged"):
        load_bytes(cut, name="a.bin")


def test_names_of_what_is_no_archive() -> None:
    assert archive.names(b"PK\x03\x04 no archive") == ()
    with pytest.raises(UnsupportedFormat, match="a ZIP archive"):
        load_bytes(zipped({"a.txt": "x"}), name="a.epub")


@pytest.mark.parametrize("cut", range(1, 400, 23))
def test_no_cut_file_raises_anything_else(cut: int) -> None:
    data = zipped(book({"a.xhtml": page("<p>Words</p>")}))
    with pytest.raises(DocumentError) as caught:
        load_bytes(data[:-cut] + (b"" if cut % 2 else bytes(cut)), name="a.epub")
    assert "\n" not in caught.value.line


def test_a_huge_index_is_refused_before_it_is_parsed() -> None:
    data = zipped({"mimetype": "application/epub+zip"}, method=zipfile.ZIP_STORED)
    entry = data[data.index(b"PK\x01\x02") : data.index(b"PK\x05\x06")]
    many = data[: data.index(b"PK\x01\x02")] + entry * 500_000 + data[data.index(b"PK\x05\x06") :]
    begun = time.process_time()
    with pytest.raises(TooLarge):
        load_bytes(many, name="a.epub")
    assert time.process_time() - begun < 1
