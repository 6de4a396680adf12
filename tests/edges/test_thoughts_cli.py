"""Thoughts through the front door: listed, shown, exported, imported, edited, forgotten, judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Ended, environ, run

TEXT = "\n\n".join(
    f"{fact} {'Little else was written in that book, and nobody in the village minded it. ' * 6}"
    for fact in (
        "The lamp of the lighthouse was lit by Tobias Wrenfield on 3 October 1862.",
        "Hester Wrenfield pushed the heavy lens round by hand for nine hours in 1871.",
        "The mill of Dunmore burned down in 1904 and 17 barrels of oil were lost.",
    )
)
LAMP = "When was the lamp of the lighthouse lit by Tobias Wrenfield?"
LENS = "How long did Hester Wrenfield of the lighthouse push the heavy lens by hand?"


class Door:
    """The command line with one library and a scripted model."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = environ(
            home, {"REREAD_MODEL": "scripted:extractive", "REREAD_EMBEDDER": "lexical"}
        )
        self.file = home / "light.txt"
        self.file.write_text(TEXT, encoding="utf-8")

    def run(self, *args: str | Path, stdin: bytes | None = None) -> Ended:
        return run(*args, env=self.env, stdin=stdin)

    def ask(self, question: str, *args: str) -> dict[str, object]:
        sizes = ("--min-words", "20", "--max-words", "120", "--pagination", "structure")
        done = self.run("ask", self.file, question, "--json", *sizes, *args)
        assert done.code == 0, done.err
        return dict(json.loads(done.out))


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_a_file_that_grew_and_is_read_again_leaves_its_thoughts_sound(door: Door) -> None:
    kept = str(door.ask(LAMP)["thought_kept"])
    for old, new, support in (
        ("both", "both", "sound"),
        ("on 3 October 1862", "on 4 October 1862", "stale"),
    ):
        text = door.file.read_text(encoding="utf-8").replace(old, new)
        door.file.write_text(f"{text}\n\nOne more line was written in 1912.\n", encoding="utf-8")
        sizes = ("--min-words", "20", "--max-words", "120", "--pagination", "structure")
        assert door.run("read", door.file, *sizes).code == 0
        assert json.loads(door.run("thoughts", "list", "--json").out)[0]["support"] == support
        assert door.run("thoughts", "show", kept).out.startswith(
            f"thought {kept}, level 2.00, {support}\n"
        )


def test_a_question_leaves_a_thought_that_can_be_followed_to_its_page(door: Door) -> None:
    kept = door.ask(LAMP)["thought_kept"]
    (listed,) = json.loads(door.run("thoughts", "list", "--json").out)
    assert (listed["id"], listed["support"], listed["level"]) == (kept, "sound", 2.0)
    assert str(kept) in door.run("thoughts", "list", "light").out
    shown = door.run("thoughts", "show", str(kept)).out.splitlines()
    assert shown[0] == f"thought {kept}, level 2.00, sound"
    assert shown[-2].startswith("  page of light (")
    assert "lit by Tobias Wrenfield on 3 October 1862" in shown[-1]
    tree = json.loads(door.run("thoughts", "show", str(kept), "--json").out)
    (source,) = tree["sources"]
    assert (source["kind"], source["current"]) == ("page", True)


def test_without_thoughts_none_is_used_or_left(door: Door) -> None:
    assert door.ask(LAMP, "--no-thoughts")["thought_kept"] is None
    assert json.loads(door.run("thoughts", "list", "--json").out) == []


def test_thoughts_travel_as_json_lines(door: Door, tmp_path: Path) -> None:
    door.ask(LAMP)
    lines = door.run("thoughts", "export").out
    assert json.loads(lines)["question"] == LAMP
    file = tmp_path / "thoughts.jsonl"
    assert door.run("thoughts", "export", file).code == 0
    assert file.read_text(encoding="utf-8") == lines
    again = door.run("thoughts", "import", file)
    assert again.out == "0 kept, 0 kept without evidence here, 1 known, 0 not kept\n"
    other = json.dumps({"thought": "The abbess burned the book."}).encode()
    assert "1 kept without evidence here" in door.run("thoughts", "import", "-", stdin=other).out
    bad = door.run("thoughts", "import", "-", stdin=b"[1]\n")
    assert bad.code == 2
    assert "no JSON object" in bad.line


def test_thoughts_are_edited_and_forgotten(door: Door) -> None:
    kept = str(door.ask(LAMP)["thought_kept"])
    new = door.run("thoughts", "edit", kept, "The lamp was lit in October 1862.").out.split()[0]
    assert new != kept
    assert door.run("thoughts", "forget", new[:7]).out == f"forgotten {new}\n"
    assert door.run("thoughts", "forget", new).code == 1
    held = b"".join(f.read_bytes() for f in door.home.glob("library.db*"))
    assert b"The lamp was lit in October 1862." not in held


def test_two_answers_are_compared_and_voted_on(door: Door) -> None:
    door.ask(LAMP)
    made = json.loads(door.run("ask", door.file, LENS, "--compare", "--json").out)
    assert len(made["answers"]) == 2
    voted = door.run("thoughts", "vote", made["comparison"], "=")
    assert voted.out == "a tie\n"
    report = json.loads(door.run("thoughts", "report", "--json").out)
    assert report["votes"] == {"with": 0, "tie": 1, "without": 0}
    again = door.run("thoughts", "vote", made["comparison"], "1")
    assert (again.code, "has its vote: tie" in again.err) == (2, True)
    assert report["recall"]["embedder"] == "lexical"
    assert "1 comparison," in door.run("thoughts", "report").out
    assert door.run("thoughts", "vote", made["comparison"], "9").code == 2


def test_thinking_ahead_ends_with_4_at_its_budget(door: Door) -> None:
    assert door.run("read", door.file).code == 0
    done = door.run("thoughts", "ahead", door.file, "--questions", "3", "--max-calls", "2")
    assert done.code == 4
    done = door.run("thoughts", "ahead", door.file, "--questions", "2")
    assert done.code == 0, done.err


def test_a_comparison_takes_options_and_refuses_what_it_would_ignore(door: Door) -> None:
    chosen = ("--choice", "Tobias Wrenfield", "--choice", "Somebody")
    made = json.loads(door.run("ask", door.file, LAMP, "--compare", "--json", *chosen).out)
    assert made["answers"] == ["Tobias Wrenfield"] * 2
    for option in (("--now",), ("--no-thoughts",), ("--thoughts", "paper"), ("--trace",)):
        refused = door.run("ask", door.file, LAMP, "--compare", *option)
        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
        assert "--compare" in refused.err


def test_an_unknown_support_is_told(door: Door) -> None:
    bad = door.run("thoughts", "list", "--support", "bogus")
    assert (bad.code, bad.out) == (2, "")
    assert bad.err == (
        "reread: there is no support 'bogus'. Known are sound, partial, stale, unsupported\n"
    )


def test_a_dash_is_standard_output(door: Door) -> None:
    kept = door.ask(LAMP)["thought_kept"]
    done = door.run("thoughts", "export", "-")
    assert json.loads(done.out)["id"] == kept
    assert not Path("-").exists()


def test_words_that_no_file_can_hold_are_replaced_in_an_edit(door: Door) -> None:
    kept = door.ask(LAMP)["thought_kept"]
    done = door.run("thoughts", "edit", str(kept), "The lamp \udcff was lit.")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("  The lamp \ufffd was lit.\n")
