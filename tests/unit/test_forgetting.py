"""What is forgotten stands nowhere in the file, whoever else repeated it and however."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembering import Reply, answer_given, distilled, document, library
from reread.library import Library
from reread.llm.scripted import Scripted
from reread.store.forgetting import Words
from reread.types import Answer, Call, Document

LAMP = "The lamp of the tower was lit by Tobias Wrenfield on 3 October 1862 in heavy rain."
LENS = "Hester Dunmore pushed the lens round by hand for nine hours in the spring of 1871."
FILLER = "The weather of that winter was mild, and nobody in the village thought it worth a word."
TOLD = "In heavy rain on 3 October 1862 Tobias Wrenfield lit the lamp of the tower."
Q_LAMP = "When was the lamp of the tower lit by Tobias Wrenfield?"
Q_DAY = "On which day did Tobias Wrenfield light that lamp of the tower, and in what weather?"
Q_LENS = "For how many hours did Hester Dunmore push the lens of the tower round by hand?"
CITED = f'{TOLD}\n[1] "{LAMP}"'
READING: dict[str, Any] = {"min_words": 20, "max_words": 60, "pagination": "structure"}


def source(*facts: str, origin: str = "tower.txt") -> Document:
    pages = [f"{fact} {FILLER} So much for page {k}." for k, fact in enumerate(facts, 1)]
    return document("\n\n".join(pages), origin)


def tower() -> Document:
    return source(LAMP, LENS, "The mill of the village burned down in 1904 with all its flour.")


def opened(folder: Path, **replies: Reply) -> tuple[Library, Scripted]:
    return library(folder, {"answer": CITED, "distil": distilled(TOLD), **replies})


def ask(made: Library, question: str, about: Any, **said: Any) -> Answer:
    return made.ask(question, about, **READING, **said)


def held(folder: Path) -> str:
    files = sorted(folder.glob("library.db*"))
    return b"".join(f.read_bytes() for f in files).decode("utf-8", "replace")


def replies_of(made: Library, phase: str) -> list[str]:
    rows = made.store._all("SELECT text FROM calls WHERE prompt LIKE ?", f"{phase}%")
    return [text for (text,) in rows]


# -- replies that told of it unasked ------------------------------------------------------------


def test_an_imported_answer_that_was_distilled(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    made.read(tower(), **READING)
    record = {"question": "When was that lamp lit, asks Marjolein?", "answer": f"Zounds: {LAMP}"}
    (kept,) = made.thoughts.take([record]).sound
    assert replies_of(made, "distil") == [distilled(TOLD)]
    assert made.thoughts.forget(kept) == [kept]
    left = held(tmp_path)
    assert [words for words in (TOLD, "Zounds", "Marjolein") if words in left] == []
    assert replies_of(made, "distil") == []


def test_a_second_question_whose_thought_was_known(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    other = ask(made, Q_LENS, tower())
    assert (other.thought_kept, other.thoughts_used) == (None, ())
    assert replies_of(made, "distil") == [distilled(TOLD)] * 2
    made.thoughts.forget(kept)
    assert TOLD not in held(tmp_path)


def told_without_thoughts(made: Library) -> None:
    ask(made, Q_DAY, tower(), thoughts=False)


def told_when_compared(made: Library) -> None:
    made.thoughts.compare(Q_DAY, tower(), **READING)


def told_in_other_spelling(made: Library) -> None:
    made.model._reply = lambda call: (  # type: ignore[attr-defined]
        f"**{TOLD.upper().replace(' ', '  ')}**" if call.phase == "answer" else '{"pages": [1]}'
    )
    ask(made, Q_DAY, tower(), thoughts=False)


@pytest.mark.parametrize(
    "also", [told_without_thoughts, told_when_compared, told_in_other_spelling]
)
def test_the_answer_to_another_question(tmp_path: Path, also: Callable[[Library], None]) -> None:
    made, _ = opened(tmp_path)
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    also(made)
    made.thoughts.forget(kept)
    left = " ".join(held(tmp_path).upper().split())
    assert TOLD.upper() not in left
    assert Q_LAMP.upper() not in left
    assert Q_DAY in held(tmp_path)  # nobody forgot that it was asked


def test_questions_made_up_ahead(tmp_path: Path) -> None:
    made, _ = opened(tmp_path, questions=f"{Q_LAMP}\n{Q_LENS}")
    done = made.thoughts.ahead(tower(), 2, **READING)
    kept = str(done.answers[0].thought_kept)
    assert replies_of(made, "questions") == [f"{Q_LAMP}\n{Q_LENS}"]
    made.thoughts.forget(kept)
    assert replies_of(made, "questions") == []
    assert [words for words in (TOLD, Q_LAMP) if words in held(tmp_path)] == []


def test_a_question_that_quotes_it(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    ask(
        made, f"Is it true that {TOLD.removesuffix('.')}, and who says so?", tower(), thoughts=False
    )
    made.thoughts.forget(kept)
    assert TOLD.removesuffix(".") not in held(tmp_path)
    assert {w.question for w in made.spent(tower())} == {None, ""}


def test_a_comparison_that_used_no_thought_but_says_it(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    made.thoughts.compare(Q_DAY, tower(), **READING)
    (thought,) = made.thoughts.all()
    record = {"question": Q_LENS, "answers": [f"So: {TOLD}", "No."], "used": [], "kept": None}
    made.store.questions.put_comparison("c2", [tower().id], record)
    record = {"question": Q_LENS, "answers": ["Yes.", "No."], "used": [], "kept": None}
    made.store.questions.put_comparison("c3", [tower().id], record)
    made.thoughts.forget(thought.id)
    assert [c["id"] for c in made.store.questions.comparisons()] == ["c3"]
    assert TOLD not in held(tmp_path)


def test_a_removed_document_takes_along_what_was_said_elsewhere(tmp_path: Path) -> None:
    made, _ = opened(tmp_path)
    other = source(f"{LAMP} And more.", origin="other.txt")
    ask(made, Q_LAMP, tower())
    made.read(other, **READING)
    ask(made, Q_DAY, other, thoughts=False)
    assert TOLD in held(tmp_path)
    made.remove(tower().id)
    assert made.thoughts.all() == []
    assert TOLD not in held(tmp_path)


# -- what stays ---------------------------------------------------------------------------------


def test_the_reading_is_not_paid_again(tmp_path: Path) -> None:
    made, model = opened(tmp_path, gist=TOLD)
    memory = made.read(tower(), **READING)
    assert set(memory.gists) == {TOLD}
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    before = {name: len(replies_of(made, name)) for name in ("gist", "paginate", "merge")}
    assert before["gist"] == 3
    made.thoughts.forget(kept)
    assert {name: len(replies_of(made, name)) for name in before} == before
    count = len(model.calls)
    made.read(tower(), **READING)
    assert len(model.calls) == count


def test_other_answers_stay(tmp_path: Path) -> None:
    made, model = opened(tmp_path)
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    model._reply = lambda call: f"Nine.\n[2] {LENS}" if call.phase == "answer" else '{"pages": [2]}'
    ask(made, Q_LENS, tower(), thoughts=False)
    made.thoughts.forget(kept)
    count = len(model.calls)
    assert ask(made, Q_LENS, tower(), thoughts=False).text.startswith("Nine.")
    assert len(model.calls) == count


def test_another_question_about_a_short_answer_stays(tmp_path: Path) -> None:
    made, _ = opened(tmp_path, answer=f'The tower\'s lamp.\n[1] "{LAMP}"')
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    assert made.thoughts.get(kept).answer == "The tower's lamp."
    question = "Who was it that paid for the tower's lamp?"
    ask(made, question, tower(), thoughts=False)
    made.thoughts.forget(kept)
    assert {w.question for w in made.spent(tower())} == {None, "", question}
    assert replies_of(made, "answer") == []


# -- kept answers -------------------------------------------------------------------------------


def test_an_answer_that_quotes_part_of_it_loses_that_sentence(tmp_path: Path) -> None:
    secret = "My private remark of Xyzzy: the lamp of the tower was lit for a bet."
    made, model = opened(tmp_path)
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    edited = made.thoughts.edit(kept, secret)

    def reply(call: Call) -> str:
        if call.phase == "answer":
            said = f"As noted, my private remark of Xyzzy says much. {LENS} {LAMP}"
            return f'{said}\n[2] "{LENS}"'
        return distilled(LENS) if call.phase == "distil" else '{"pages": [2]}'

    model._reply = reply
    heard = ask(made, Q_LENS, tower())
    assert heard.thoughts_used == (edited.id,)
    assert "Xyzzy" in made.thoughts.get(str(heard.thought_kept)).answer
    assert made.thoughts.forget(edited.id) == [edited.id]
    assert made.thoughts.get(str(heard.thought_kept)).answer == f"{LENS} {LAMP}"
    assert "Xyzzy" not in held(tmp_path)


def test_an_edited_thought_keeps_its_question_and_of_its_answer_what_the_old_words_are_not(
    tmp_path: Path,
) -> None:
    made, _ = opened(tmp_path, answer=f'{LENS} {TOLD}\n[2] "{LENS}"\n[1] "{LAMP}"')
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)
    assert made.thoughts.get(kept).answer == f"{LENS} {TOLD}"
    new = made.thoughts.edit(kept, "Nobody knows who lit that lamp.")
    assert (new.question, new.answer) == (Q_LAMP, LENS)
    assert TOLD not in held(tmp_path)
    assert TOLD not in json.dumps(list(made.thoughts.export()))
    assert Q_LAMP in held(tmp_path)
    made.thoughts.forget(new.id)
    left = held(tmp_path)
    assert [words for words in (Q_LAMP, new.text) if words in left] == []


def test_an_answer_keeps_what_the_document_or_its_own_thought_says(tmp_path: Path) -> None:
    told = f"According to the text, {LAMP[0].lower()}{LAMP[1:]}"
    made, model = opened(tmp_path, answer=f'{LAMP}\n[1] "{LAMP}"', distil=distilled(told))
    kept = str(ask(made, Q_LAMP, tower()).thought_kept)

    def reply(call: Call) -> str:
        if call.phase == "answer":
            return f'{LAMP} According to the text, the lamp, too. {LENS}\n[2] "{LENS}"'
        return distilled(answer_given(call)[-len(LENS) :]) if call.phase == "distil" else "{}"

    model._reply = reply
    heard = ask(made, f"{Q_LAMP} {Q_LENS}", tower())
    assert heard.thoughts_used == (kept,)
    made.thoughts.forget(kept)
    assert made.thoughts.get(str(heard.thought_kept)).answer == f"{LAMP} {LENS}"


# -- words --------------------------------------------------------------------------------------

LONG = "One two three four five six seven eight nine ten."


@pytest.mark.parametrize(
    ("text", "longest", "other", "stands"),
    [
        (LONG, None, f"He said:  {LONG.upper()} So.", True),
        (LONG, None, "one, two; three\nfour (five) six seven eight *nine* ten", True),
        (LONG, None, "two three four five six seven eight nine ten", False),
        (LONG, 8, "and three four five six seven eight nine ten", True),
        (LONG, 8, "and four five six seven eight nine ten and", False),
        ("Who is she?", 8, '{"question": "Who is she?"}', True),
        ("Who is she?", 8, "Whose is it? Who is shelling?", False),
        ("Zanzibar secret", 8, "Zanzibar secret.\n[1]", True),
        ("Zanzibar secret", 8, 'It is "zanzibar secret", no more.', True),
        ("Zanzibar secret", 8, "The Zanzibar secret of his.", False),
        ("Yes.", 8, "yes", False),
        ("B", None, "B", False),
        ('Café "Ostrey" at nine', 8, r'{"a": "Caf\u00e9 \"Ostrey\"\nat nine"}', True),
        ("a path \\nu of it", 8, r"a path \nu of it", True),
        ("灯塔由温菲尔德于1862年点亮", 8, "据说灯塔由温菲尔德于 1862 年点亮。", True),
        ("灯塔由温菲尔德于1862年点亮", 8, "据说灯塔由他点亮。", False),
        ("𝔬 one two", 8, r"\ud835\udd2c one two", True),
        ("Straße der Lampen", 8, "STRASSE DER LAMPEN", True),
        ("", 8, "", False),
        ("?!", 8, "?!", False),
    ],
)
def test_words_are_found_however_they_are_spelt(
    text: str, longest: int | None, other: str, stands: bool
) -> None:
    assert Words([text], longest).stand_in(other) == stands
    assert Words(["Quite other words stand here.", text], longest).stand_in(other) == stands
