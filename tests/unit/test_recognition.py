"""Text in pictures: what is done with what Tesseract says, and Tesseract itself where it is."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from documents_fixtures import assert_whole, located, shared, texts
from pdf_writer import Pdf, lines, picture, text
from reread import config
from reread.documents import Recognition, load, load_bytes
from reread.errors import DamagedDocument, EmptyDocument, SettingsError, TooLarge, UnsupportedFormat
from reread.ports import Step
from scanned import drawn, png, scan, tiff

WHITE = (40, 50, b"\xff" * 2000)
GREY = (40, 50, b"\x60" * 2000)
HEAD = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)


class Fake:
    """Stands where the program does: says what it was told to, remembers how it was called."""

    def __init__(self, *said: str | Exception, languages: str = "eng osd") -> None:
        self.said = list(said)
        self.languages = languages
        self.calls: list[list[str]] = []
        self.environ: dict[str, str] = {}

    def run(self, command: list[str], **options: Any) -> SimpleNamespace:
        if "--list-langs" in command:
            out = 'List of available languages in "/data/":\n' + self.languages.replace(" ", "\n")
            return SimpleNamespace(returncode=0, stdout=out.encode(), stderr=b"")
        assert options["input"].startswith((b"P5\n", b"\x89PNG", b"II*"))
        self.calls.append(command)
        self.environ = options["env"]
        said = self.said[(len(self.calls) - 1) % len(self.said)]
        if isinstance(said, Exception):
            raise said
        return SimpleNamespace(returncode=0, stdout=said.encode(), stderr=b"")


def table(*rows: str, confidence: float = 96.0, pages: int = 1) -> str:
    """What Tesseract says of pages that all hold these rows."""
    out = [HEAD]
    for page in range(1, pages + 1):
        out.append(f"1\t{page}\t0\t0\t0\t0\t0\t0\t1700\t2200\t-1\t")
        for k, row in enumerate(rows):
            top = 300 + 40 * k
            out.append(f"4\t{page}\t1\t1\t{k + 1}\t0\t200\t{top}\t1200\t28\t-1\t")
            left = 200
            for n, word in enumerate(row.split()):
                width = 14 * len(word)
                at = f"{left}\t{top}\t{width}\t28\t{confidence}"
                out.append(f"5\t{page}\t1\t1\t{k + 1}\t{n + 1}\t{at}\t{word}")
                left += width + 10
    return "\n".join(out)


def install(monkeypatch: pytest.MonkeyPatch, fake: Fake | None) -> None:
    found = "/usr/bin/tesseract" if fake else None
    monkeypatch.setattr(shutil, "which", lambda name: found)
    if fake:
        monkeypatch.setattr(subprocess, "run", fake.run)


SIX = [f"Row {n} of a page that was scanned and has no text in it at all," for n in range(6)]


# -- what is done with it -----------------------------------------------------------------------


def test_pages_without_text_are_read_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(table(*SIX))
    install(monkeypatch, fake)
    pages = [lines(72, 100, ["A page with text."]), picture(), ""]
    steps: list[Step] = []
    wanted = Recognition(progress=steps.append, workers=1)
    document = load_bytes(Pdf(pages=pages).file(), name="a.pdf", recognition=wanted)
    assert_whole(document)
    assert located(document)["A page with text."] == "p. 1"
    assert located(document)[" ".join(SIX)] == "p. 2"
    coverage = document.coverage
    assert (coverage.parts, coverage.read, coverage.recognised) == (3, 2, ("p. 2",))
    assert (coverage.without_text, coverage.blank, coverage.remedy) == ((), ("p. 3",), "")
    assert fake.calls == [
        ["/usr/bin/tesseract", "stdin", "stdout", "-l", "eng", "--psm", "3", "--dpi", "300", "tsv"]
    ]
    assert fake.environ["OMP_THREAD_LIMIT"] == "1"
    assert [(s.phase, s.done, s.total) for s in steps] == [("recognise", 1, 1)]


def test_without_the_program_the_coverage_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, None)
    pages = Pdf(pages=[lines(72, 100, ["A page with text."]), picture()]).file()
    coverage = load_bytes(pages, name="a.pdf").coverage
    assert coverage.without_text == ("p. 2",)
    assert coverage.remedy == "install Tesseract to read it"
    with pytest.raises(EmptyDocument) as caught:
        load_bytes(Pdf(pages=[picture()]).file(), name="a.pdf")
    assert caught.value.hint == "Install Tesseract to read it"
    with pytest.raises(UnsupportedFormat) as refused:
        load_bytes(png(GREY), name="a.png")
    assert refused.value.line == (
        "a.png is a picture, which holds no text itself. Install Tesseract to read it"
    )


def test_pictures_can_be_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(table(*SIX))
    install(monkeypatch, fake)
    pages = Pdf(pages=[lines(72, 100, ["A page with text."]), picture()]).file()
    coverage = load_bytes(pages, name="a.pdf", recognition=Recognition(languages="off")).coverage
    assert (coverage.without_text, coverage.remedy) == (("p. 2",), "leave out --no-ocr to read it")
    assert fake.calls == []


def test_what_was_read_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = Fake(table(*SIX))
    install(monkeypatch, fake)
    wanted = Recognition(cache_dir=tmp_path / "kept", workers=1)
    pdf = Pdf(pages=[picture(), picture()]).file()
    first = load_bytes(pdf, name="a.pdf", recognition=wanted)
    assert len(fake.calls) == 2
    assert load_bytes(pdf, name="a.pdf", recognition=wanted).id == first.id
    assert len(fake.calls) == 2
    assert len(list((tmp_path / "kept").iterdir())) == 2
    install(monkeypatch, fake := Fake(table(*SIX), languages="deu eng"))
    load_bytes(pdf, name="a.pdf", recognition=wanted)
    assert len(fake.calls) == 2


def test_a_page_that_takes_too_long_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    late = subprocess.TimeoutExpired("tesseract", 120)
    install(monkeypatch, Fake(late, table(*SIX)))
    pdf = Pdf(pages=[picture(), picture()]).file()
    coverage = load_bytes(pdf, name="a.pdf", recognition=Recognition(workers=1)).coverage
    assert coverage.failed == (("p. 1", "its text took more than 120 s to read"),)
    assert coverage.recognised == ("p. 2",)


def test_grain_taken_for_letters_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Fake(table("~ ., | :", "ii lI", confidence=11), table("~ — ' |")))
    pages = [lines(72, 100, ["A page with text."]), picture(), picture()]
    coverage = load_bytes(
        Pdf(pages=pages).file(), name="a.pdf", recognition=Recognition(workers=1)
    ).coverage
    assert (coverage.without_text, coverage.recognised) == (("p. 2", "p. 3"), ())


def test_a_white_scan_is_a_blank_page(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Fake(table(*SIX), table()))
    data = scan([GREY, WHITE])
    coverage = load_bytes(data, name="a.pdf", recognition=Recognition(workers=1)).coverage
    assert (coverage.recognised, coverage.blank) == (("p. 1",), ("p. 2",))


@pytest.mark.parametrize(
    ("installed", "wanted", "used"),
    [
        ("eng osd", "auto", "eng"),
        ("deu eng fra osd script/Latin", "auto", "eng+deu+fra"),
        ("deu osd", "auto", "deu"),
        ("ara deu eng fra jpn rus", "auto", "eng"),
        ("deu eng jpn", "jpn+eng", "jpn+eng"),
    ],
)
def test_languages_are_those_installed_or_those_named(
    monkeypatch: pytest.MonkeyPatch, installed: str, wanted: str, used: str
) -> None:
    install(monkeypatch, fake := Fake(table(*SIX), languages=installed))
    load_bytes(png(GREY), name="a.png", recognition=Recognition(languages=wanted))
    assert fake.calls[0][4] == used


@pytest.mark.parametrize("wanted", ["xyz", "eng+xyz", "-c", "", "eng+"])
def test_a_language_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    install(monkeypatch, Fake(table(*SIX)))
    with pytest.raises(SettingsError, match="Tesseract has no language") as caught:
        load_bytes(png(GREY), name="a.png", recognition=Recognition(languages=wanted))
    assert caught.value.hint == "Install it, or choose among eng, auto and off"


def test_the_setting_comes_from_the_environment(tmp_path: Path) -> None:
    environ = {"REREAD_HOME": str(tmp_path), "REREAD_OCR": "deu+eng"}
    assert config.load(environ).ocr == "deu+eng"
    assert config.load({"REREAD_HOME": str(tmp_path)}).ocr == "auto"
    assert config.load(environ, ocr="off").ocr == "off"


# -- pictures -----------------------------------------------------------------------------------


def test_pictures_in_one_file_are_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Fake(table(*SIX, pages=2)))
    document = load_bytes(tiff([GREY, GREY]), name="a.tiff")
    assert document.coverage.recognised == ("p. 1", "p. 2")
    assert document.media_type == "image/tiff"
    assert document.title == "a"


def _huge(kind: str) -> bytes:
    if kind == "png":
        return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 60_000, 60_000) + bytes(20)
    if kind == "jpeg":
        return b"\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 65_000, 65_000)
    entries = struct.pack("<HHII", 256, 4, 1, 50_000) + struct.pack("<HHII", 257, 4, 1, 50_000)
    return b"II*\0" + struct.pack("<IH", 8, 2) + entries + bytes(4)


@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff"])
def test_a_picture_that_unpacks_to_gigabytes_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    install(monkeypatch, fake := Fake(table()))
    with pytest.raises(TooLarge, match="far more than a page"):
        load_bytes(_huge(kind), name="a", media_type=f"image/{kind}")
    assert fake.calls == []


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"\xff\xd8\xff\xe0\0\0" * 5,
        b"II*\0\xff\xff\xff\xff",
        b"II*\0" + struct.pack("<IHI", 8, 0, 8),  # a circle
    ],
)
def test_a_damaged_picture_is_one(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    install(monkeypatch, Fake(table()))
    with pytest.raises(DamagedDocument, match="a cannot be read"):
        load_bytes(data, name="a")


# -- the program itself -------------------------------------------------------------------------

REAL = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
STORY = [
    "The keeper of the lighthouse lived alone with a dog and nine",
    "hens. Every evening at six he climbed the stairs and lit the",
    "lamp, and every morning he put it out again.",
]
PAGE = text(72, 100, "The Lighthouse", size=20) + lines(72, 150, STORY, size=12)
ENGLISH = Recognition(languages="eng")


@REAL
def test_a_scanned_page_is_really_read() -> None:
    picture = drawn(Pdf(pages=[PAGE]).file())
    document = load_bytes(scan([picture, WHITE]), name="story.pdf", recognition=ENGLISH)
    assert texts(document) == ["The Lighthouse", " ".join(STORY)]
    assert located(document)[" ".join(STORY)] == "p. 1"
    assert (document.title, document.coverage.recognised) == ("The Lighthouse", ("p. 1",))
    assert document.coverage.blank == ("p. 2",)


@REAL
def test_picture_files_are_really_read() -> None:
    picture = drawn(Pdf(pages=[PAGE]).file())
    for data in (png(picture), tiff([picture])):
        document = load_bytes(data, name="story", recognition=ENGLISH)
        assert texts(document) == ["The Lighthouse", " ".join(STORY)]
    assert load_bytes(tiff([picture] * 2), name="a", recognition=ENGLISH).coverage.parts == 2


@REAL
def test_a_real_damaged_picture() -> None:
    data = png(drawn(Pdf(pages=[PAGE]).file()))
    with pytest.raises(DamagedDocument, match="cannot be read"):
        load_bytes(data[:60] + bytes(200), name="a.png", recognition=ENGLISH)


@REAL
def test_a_real_scan() -> None:
    document = load(shared("readerfiles/pdf-scanned/docling/ocr_test.pdf"), recognition=ENGLISH)
    assert document.text == (
        "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained "
        "package"
    )
    assert document.coverage.recognised == ("p. 1",)
