"""Bytes of every encoding that is met, long and short, as the text their writers meant."""

from __future__ import annotations

import pytest

from reread.documents import load_bytes
from reread.documents.encodings import decode

SENTENCES = {
    "german": "Er zahlte 12 € für das Brötchen – „zu viel“, sagte sie.",
    "french": "Où est l’hôtel ? Là-bas, près du café.",
    "spanish": "El señor llegó mañana, ¿no es así?",
    "russian": "Старый мост через реку открыли в понедельник.",
    "ukrainian": "Старий міст через річку відкрили, її любили всі.",
    "polish": "Zażółć gęślą jaźń, żółw się śmieje w poniedziałek.",
    "czech": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "greek": "Η παλιά γέφυρα άνοιξε ξανά τη Δευτέρα το πρωί.",
    "turkish": "Eski köprü pazartesi sabahı yeniden açıldı, çocuklar okula yürüyor.",
    "hebrew": "הגשר הישן נפתח שוב ביום שני בבוקר.",
    "arabic": "افتتح الجسر القديم صباح يوم الاثنين من جديد.",
    "thai": "สะพานเก่าเปิดอีกครั้งในเช้าวันจันทร์",
    "chinese": "老桥在星期一重新开放了，孩子们又能走路去上学。",
    "traditional": "老橋在星期一重新開放了，孩子們又能走路去上學。",
    "japanese": "古い橋が月曜日に再び開通した。",
    "korean": "오래된 다리가 월요일에 다시 열렸다.",
}
USED = {
    "german": "cp1252 mac_roman",
    "french": "cp1252",
    "spanish": "cp1252 iso8859-1 iso8859-15",
    "russian": "koi8-r cp1251 iso8859-5 cp866",
    "ukrainian": "koi8-u cp1251",
    "polish": "cp1250 iso8859-2",
    "czech": "cp1250 iso8859-2",
    "greek": "cp1253 iso8859-7",
    "turkish": "cp1254 iso8859-9",
    "hebrew": "cp1255 iso8859-8",
    "arabic": "cp1256 iso8859-6",
    "thai": "cp874",
    "chinese": "gb18030 gbk gb2312",
    "traditional": "big5",
    "japanese": "shift_jis cp932 euc_jp iso2022_jp",
    "korean": "euc_kr cp949",
}
CASES = [(language, name) for language, names in USED.items() for name in names.split()]
UNICODE = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-32",
    *(f"utf-{n}-{e}" for n in (16, 32) for e in ("le", "be")),
]


@pytest.mark.parametrize("times", [1, 5, 400])
@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_a_text_in_the_encodings_of_its_language(language: str, encoding: str, times: int) -> None:
    text = "\n".join([SENTENCES[language]] * times)
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", UNICODE)
@pytest.mark.parametrize("language", SENTENCES)
def test_every_language_in_every_form_of_unicode(language: str, encoding: str) -> None:
    for text in (SENTENCES[language], f"{SENTENCES[language]}\n\n1. {SENTENCES[language]}\n"):
        assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe", "cp1252"),
        ("“yes”", "cp1252"),
        ("café crème", "cp1252"),
        ("Привет", "koi8-r"),
        ("Привет", "cp1251"),
        ("你好", "gb18030"),
        ("안녕", "euc_kr"),
        ("ねこ", "shift_jis"),
        ("ねこ", "euc_jp"),
        ("Привет", "utf-16-le"),
        ("Привет", "utf-16-be"),
        ("a", "utf-16-le"),
        ("a", "utf-32-be"),
        ("é", "utf-8"),
        ("👋", "utf-16"),
        ("你", "utf-32-le"),
    ],
)
def test_a_word_or_a_letter(text: str, encoding: str) -> None:
    assert load_bytes(text.encode(encoding), name="a.txt").text == text


def test_a_short_english_text_with_one_foreign_word() -> None:
    text = "He said Привет to the man at the gate, and the man said good morning to him."
    assert decode(text.encode()) == text
    assert (
        decode("The naïve man paid 5 £ for it.".encode("cp1252"))
        == "The naïve man paid 5 £ for it."
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            "Größe ist ein schönes Wort.".encode() + b" \xff\xfe " + "Äh.".encode(),
            "Größe ist ein schönes Wort. \ufffd\ufffd Äh.",
        ),
        (b"caf\xe9 " + "naïve façade".encode(), "caf\ufffd naïve façade"),
        ("日本".encode() + b"\xe6\x97", "日本\ufffd"),
        ("老桥在星期一".encode() + b"\x80" + "重新开放了".encode(), "老桥在星期一\ufffd重新开放了"),
        (b"\xef\xbb\xbfab\xffc", "ab\ufffdc"),
    ],
)
def test_stray_bytes_cost_only_themselves(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_half_a_unit_at_the_end_costs_only_itself() -> None:
    assert decode("Größe".encode("utf-16") + b"x") == "Größe\ufffd"
    assert decode(b"\xff\xfea\x00\x3d\xd8b\x00") == "a\ufffdb"  # half of a pair


def test_what_no_store_can_hold_is_replaced() -> None:
    assert decode("a\ud800b".encode("utf-8", "surrogatepass")).strip("\ufffd")[0] == "a"
    assert "\ud800" not in decode("a\ud800b".encode("utf-8", "surrogatepass"))
    assert load_bytes(b"one two three\0four", name="a.txt").text == "one two three\ufffdfour"
    page = b"<p>one&#0;two&#xD800;three</p>"
    assert not set("\0\ud800") & set(load_bytes(page, name="a.html").text)


@pytest.mark.parametrize("declared", ["koi8-r", "KOI8-R", "cp1251"])
def test_a_declaration_wins_over_a_guess(declared: str) -> None:
    data = "Да".encode(declared)  # too short to be told
    page = f'<meta charset="{declared}"><p>'.encode() + data
    assert load_bytes(page, name="a.html").text == "Да"
    assert load_bytes(data, name="a.txt", media_type=f"text/plain; charset={declared}").text == "Да"
