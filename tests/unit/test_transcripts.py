"""Transcripts: who said what and when, in captions, minutes and plain text; and what is none."""

from __future__ import annotations

import pytest

from documents_fixtures import assert_whole, located, shared, texts
from reread.documents import load, load_bytes
from reread.errors import DamagedDocument, EmptyDocument
from reread.reading.quotes import cite
from reread.types import Document, Page


def read(text: str, name: str) -> Document:
    document = load_bytes(text.encode(), name=name)
    assert_whole(document)
    return document


def vtt(*cues: str, head: str = "WEBVTT") -> Document:
    return read("\n\n".join((head, *cues)), "talk.vtt")


def cue(start: str, end: str, text: str, *, name: str = "", more: str = "") -> str:
    return f"{name}\n".lstrip("\n") + f"{start} --> {end}{more}\n{text}"


# -- WebVTT ---------------------------------------------------------------------------------------


def test_cues_of_one_speaker_become_one_paragraph() -> None:
    document = vtt(
        cue("00:01.000", "00:03.000", "<v Ann Lee>The budget\nis ready.", name="intro"),
        cue("00:03.000", "00:05.000", "<v Ann Lee>Please read it.</v>", more=" align:left line:0"),
        cue("01:00:05.500", "01:00:07.000", "<v.loud Bo>I did &amp; agree &lt;mostly&gt;."),
    )
    assert located(document) == {
        "Ann Lee: The budget is ready. Please read it.": "00:00:01 › Ann Lee",
        "Bo: I did & agree <mostly>.": "01:00:05 › Bo",
    }
    assert (document.media_type, document.title) == ("text/vtt", "talk")


def test_what_is_not_said_is_left_out() -> None:
    document = vtt(
        "NOTE made by hand\nin two lines",
        "STYLE\n::cue { color: red }",
        "REGION\nid:a",
        cue(
            "00:00.000", "00:01.000", "<c.red><b>Hear</b> <lang fr>ici</lang></c> <00:00:00.500>now"
        ),
        "NOTE",
        cue("00:01.000", "00:02.000", "<ruby>漢<rt>kan</rt></ruby>"),
        head="WEBVTT - A Talk\nKind: captions\nLanguage: en",
    )
    assert document.text == "Hear ici now 漢(kan)"
    assert document.title == "A Talk"


def test_two_voices_in_one_cue() -> None:
    document = vtt(cue("00:04.000", "00:06.000", "<v Eve>Hee!</v> (laughter) <v Moe>What?"))
    assert texts(document) == ["Eve: Hee!", "(laughter)", "Moe: What?"]


def test_paragraphs_end_at_sentences_pauses_and_silence() -> None:
    nine = "two three four five six seven eight nine ten"
    cues = [cue(f"00:{k:02}.000", f"00:{k + 1:02}.000", f"<v A>{k} {nine}.") for k in range(8)]
    long = [cue(f"01:{k:02}.000", f"01:{k + 1:02}.000", f"<v A>{k} {nine}") for k in range(13)]
    document = vtt(*cues, *long)
    lengths = [len(t.split()) for t in texts(document)]
    assert lengths == [61, 21, 121, 11]  # each with the name
    assert [p.locator for p in document.paragraphs] == [
        *("00:00:00 › A", "00:00:06 › A", "00:01:00 › A", "00:01:12 › A"),
    ]


def test_captions_that_roll_are_read_once() -> None:
    document = vtt(
        cue("00:00.100", "00:02.400", " \nso<00:00:00.500><c> today</c><00:00:01.000><c> we</c>"),
        cue("00:02.400", "00:02.410", "so today we\n "),
        cue("00:02.410", "00:04.000", "so today we\nread<00:00:03.000><c> slowly</c>"),
        cue("00:04.000", "00:04.010", "read slowly\n "),
        cue("00:04.010", "00:06.000", "read slowly\nand<00:00:05.000><c> again</c>"),
    )
    assert document.text == "so today we read slowly and again"


def test_captions_that_grow_are_read_once() -> None:
    document = vtt(
        cue("00:00.000", "00:01.000", "so"),
        cue("00:01.000", "00:02.000", "so today"),
        cue("00:02.000", "00:03.000", "so today we read"),
        cue("00:03.000", "00:04.000", "all of it"),
    )
    assert document.text == "so today we read all of it"


def test_what_is_said_twice_is_read_twice() -> None:
    said = ["No.", "No.", "Why?", "I said so.", "Then go.", "I will.", "Now.", "Yes."]
    document = vtt(*(cue(f"00:{k:02}.000", f"00:{k + 1:02}.000", t) for k, t in enumerate(said)))
    assert document.text == " ".join(said)


def test_names_that_stand_in_the_words() -> None:
    document = vtt(
        cue("00:00.000", "00:02.000", "Ann Lee: Good morning."),
        cue("00:02.000", "00:03.000", "Shall we begin?"),
        cue("00:03.000", "00:04.000", "Bo Roe: Yes."),
        cue("00:04.000", "00:05.000", "Ann Lee: Note: this is recorded."),
        cue("00:05.000", "00:06.000", "Bo Roe: Fine."),
    )
    assert located(document) == {
        "Ann Lee: Good morning. Shall we begin?": "00:00:00 › Ann Lee",
        "Bo Roe: Yes.": "00:00:03 › Bo Roe",
        "Ann Lee: Note: this is recorded.": "00:00:04 › Ann Lee",
        "Bo Roe: Fine.": "00:00:05 › Bo Roe",
    }


def test_marks_of_a_new_speaker_part_paragraphs() -> None:
    document = vtt(
        cue("00:00.000", "00:02.000", ">> Is it open?"), cue("00:02.000", "00:03.000", ">> It is.")
    )
    assert texts(document) == ["Is it open?", "It is."]


def test_a_blank_line_within_a_cue_loses_nothing() -> None:
    document = vtt(
        cue("00:00.000", "00:02.000", "First\n\nsecond"), cue("00:02.000", "00:03.000", "third")
    )
    assert document.text == "First second third"


def test_chinese_lines_join_without_spaces() -> None:
    assert vtt(cue("00:00.000", "00:02.000", "我们慢慢\n读书")).text == "我们慢慢读书"


# -- SubRip ---------------------------------------------------------------------------------------

SUBRIP = """1
00:00:01,000 --> 00:00:02,500
<i>{\\an8}Who is</i> there? I <3 it.

2
00:00:03,000 --> 00:00:04,000 X1:10 X2:20
- Me.
- And me.
3
00:00:05,000 --> 00:00:06,000
1984
"""


@pytest.mark.parametrize("name", ["film.srt", "film.txt", "film"])
def test_subrip(name: str) -> None:
    document = read(SUBRIP.replace("\n", "\r\n"), name)
    assert document.media_type == "application/x-subrip"
    assert document.text == "Who is there? I <3 it.\n- Me.\n- And me. 1984"
    assert document.paragraphs[0].locator == "00:00:01"


def test_captions_are_known_by_content() -> None:
    text = "WEBVTT\n\n00:00.000 --> 00:01.000\nHi"
    assert load_bytes(text.encode("utf-16"), name="x.txt").media_type == "text/vtt"
    assert load_bytes(text.encode(), name="x", media_type="text/plain").text == "Hi"
    assert read("WEBVTTs are captions.", "x.txt").media_type == "text/plain"


def test_files_without_captions() -> None:
    with pytest.raises(EmptyDocument):
        vtt()
    with pytest.raises(EmptyDocument):
        vtt(cue("00:00.000", "00:01.000", " "))
    with pytest.raises(DamagedDocument, match="holds no captions"):
        read("Just words.", "x.srt")


# -- plain transcripts ----------------------------------------------------------------------------

TALK = [
    *(("Ann", "Shall we begin?"), ("Bo", "Yes, please."), ("Ann", "The roof leaks.")),
    *(("Cy Roe", "It leaks badly."), ("Bo", "Who pays?"), ("Cy Roe", "Nobody wants to.")),
]


def lines(form: str, gap: str = "\n") -> str:
    return gap.join(
        form.format(name=name, text=text, time=f"00:0{k}:10") for k, (name, text) in enumerate(TALK)
    )


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ("{name}: {text}", "{name}"),
        ("**{name}:** {text}", "{name}"),
        ("[{time}] {name}: {text}", "{time} › {name}"),
        ("({time}) {name}: {text}", "{time} › {name}"),
        ("{time} {name}: {text}", "{time} › {name}"),
        ("{time} - {name}: {text}", "{time} › {name}"),
        ("{name} ({time}): {text}", "{time} › {name}"),
        ("{name} [{time}]: {text}", "{time} › {name}"),
        ("{name}: [{time}] {text}", "{time} › {name}"),
        ("{name} (Acme): {text}", "{name}"),
        ("{name}：{text}", "{name}"),
        ("{name}  {time}\n{text}", "{time} › {name}"),
        ("[{time} --> 00:09:00]  {text}", "{time}"),
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_plain_transcripts(form: str, place: str, gap: str) -> None:
    document = read(lines(form, gap), "talk.txt")
    assert located(document) == {
        form.format(name=name, text=text, time=f"00:0{k}:10"): place.format(
            name=name, time=f"00:0{k}:10"
        )
        for k, (name, text) in enumerate(TALK)
    }
    assert document.text == lines(form, gap)
    assert document.title == "talk"


def test_turns_go_on_until_the_next() -> None:
    text = (
        "Board meeting\n\nHeld in the hall.\n\nAnn: First.\nStill Ann.\n\nAnn goes on."
        "\n\nBo: The second point.\n\nAnn: The third point.\n\nBo: A fourth point."
    )
    document = read(text, "talk.txt")
    assert located(document) == {
        "Board meeting": None,
        "Held in the hall.": None,
        "Ann: First.\nStill Ann.": "Ann",
        "Ann goes on.": "Ann",
        "Bo: The second point.": "Bo",
        "Ann: The third point.": "Ann",
        "Bo: A fourth point.": "Bo",
    }
    assert document.title == "Board meeting"


def test_chapters_stand_before_speakers() -> None:
    text = "ACT I\n\n" + lines("{name}: {text}", "\n\n") + "\n\nACT II\n\nAnn: And on."
    document = read(text, "play.txt")
    assert located(document)["Cy Roe: It leaks badly."] == "ACT I › Cy Roe"
    assert located(document)["ACT II"] == "ACT II"
    assert located(document)["Ann: And on."] == "ACT II › Ann"


def test_a_citation_shows_speaker_and_time() -> None:
    for document in (
        read(lines("[{time}] {name}: {text}"), "talk.txt"),
        vtt(
            *(
                cue(f"00:0{k}:10.000", f"00:0{k}:12.000", f"<v {name}>{text}")
                for k, (name, text) in enumerate(TALK)
            )
        ),
    ):
        page = Page.of(document, 1, 0, len(document.text))
        (citation,) = cite([(1, "It leaks badly.")], [page], document)
        assert (citation.status, citation.locator) == ("verified", "00:03:10 › Cy Roe")


# -- minutes --------------------------------------------------------------------------------------

MINUTES = """# Spring meeting

| Name | Initials | From |
|------|----------|------|
| Ann Lee | ALE | Acme |

Presenter: Bo Roe (BRO)

## The roof

BRO: It leaks. We said so.

It has for years.

ALE: How badly?

- BRO: See the pictures.

## Money

Presenter: Ann Lee (ALE)

ALE: None is left.

BRO: None at all?

### Conclusion

Wait.
"""


def test_minutes_have_topics_and_speakers() -> None:
    document = read(MINUTES, "minutes.md")
    places = located(document)
    roof, money = "Spring meeting › The roof", "Spring meeting › Money"
    assert places["BRO: It leaks. We said so."] == f"{roof} › Bo Roe (BRO)"
    assert places["It has for years."] == f"{roof} › Bo Roe (BRO)"
    assert places["ALE: How badly?"] == f"{roof} › Ann Lee (ALE)"
    assert places["- BRO: See the pictures."] == f"{roof} › Bo Roe (BRO)"
    assert places["Presenter: Ann Lee (ALE)"] == money
    assert places["ALE: None is left."] == f"{money} › Ann Lee (ALE)"
    assert places["Wait."] == f"{money} › Conclusion"
    assert document.text == MINUTES.strip()


def test_real_minutes() -> None:
    document = load(shared("readerfiles/transcript/tc39/2024-10-october-08.md"))
    assert_whole(document)
    spoken = [p.locator or "" for p in document.paragraphs if p.kind == "text"]
    assert sum("Shu-yu Guo (SYG)" in place for place in spoken) > 100
    assert not any("Presenter" in place for place in spoken)


def test_real_captions() -> None:
    document = load(shared("readerfiles/transcript/docling-vtt/webvtt_example_03.vtt"))
    assert [p.locator for p in document.paragraphs][:4] == [
        *("00:00:04 › Speaker A", "00:00:10", "00:00:13 › Speaker A", "00:00:49 › Speaker B")
    ]


# -- what is no transcript ------------------------------------------------------------------------

PROSE = """The reason was plain: nobody had asked. So the matter rested.

Note: the second ledger was lost. It was never found again.

He wrote two words on the wall: Go home. Then he left, and the town forgot him.

Note: a third ledger is said to exist. The town has looked for it.

One thing remained: the key. It hung where it had always hung, and it was cold.

Note: all of this was long ago. Those who knew are dead."""
PLAY = """Enter the GUARD: he is old.

A hall. Night. Thunder: then silence.

The QUEEN comes down the stairs. The guard kneels.

A Messenger: he holds a letter. He reads it and weeps.

Exit all. Curtain."""
BIBLIOGRAPHY = """Lee A: On slow reading. J Read 2001, 3:4-5.
Roe B: On fast reading. J Read 2002, 4:5-6.
Lee A: Still slow. J Read 2003, 5:6-7.
Poe C: Neither. J Read 2004, 6:7-8.
Fox D: Both. J Read 2005, 7:8-9.
Kay E: A reply. J Read 2006, 8:9-10.
London: Press of the House, 2007."""
RECORDS = """Package: alpha
Version: 1.0
Maintainer: Ann Lee

Package: beta
Version: 2.0
Maintainer: Bo Roe

Package: gamma
Version: 3.1
Maintainer: Cy Poe"""
FIELDS = """Colour: Red.
Shape: Round.
Weight: Two pounds.

Colour: Blue.
Shape: Square.
Weight: One pound.

Colour: Green.
Shape: Flat.
Weight: Three pounds."""
MAIL = """From: Ann Lee <ann@example.org>
To: Bo Roe
Date: Monday
Subject: The roof

It leaks. Please come.

From: Bo Roe
To: Ann Lee
Date: Tuesday
Subject: Re: The roof

I will. Wait for me.

From: Ann Lee
To: Bo Roe
Subject: Thanks

You are kind."""
GLOSSARY = """Gist: what a page says in short.
Page: some paragraphs.
Memory: all gists together.
Quote: words of the text.
Locator: where they stand."""
LOG = """INFO: The server started.
WARNING: The disk is nearly full.
INFO: A request came in.
ERROR: The disk is full.
INFO: The server stopped.
ERROR: It did not stop cleanly."""


@pytest.mark.parametrize("name", ["file.txt", "file.md"])
@pytest.mark.parametrize("text", [PROSE, PLAY, BIBLIOGRAPHY, RECORDS, FIELDS, MAIL, GLOSSARY, LOG])
def test_what_is_no_transcript_gets_no_speakers(text: str, name: str) -> None:
    assert {p.locator for p in read(text, name).paragraphs} == {None}
