"""What a store promises: what was put in comes out, and what is removed is gone."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from reread import store as store_module
from reread.errors import LibraryError
from reread.evidence import Suspicion
from reread.store import Store
from reread.store.lexical import rank
from reread.store.schema import MIGRATIONS
from reread.text import paragraph_spans
from reread.types import (
    Call,
    Completion,
    Coverage,
    Document,
    Fallback,
    GistMemory,
    Page,
    Paragraph,
    PromptId,
    Settings,
    Usage,
)

SECRET = "Rosalind hid the sapphire under the seventh stair."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def a_document(text: str = SECRET, **changes: object) -> Document:
    values: dict[str, object] = {
        "title": "Stairs",
        "text": text,
        "paragraphs": tuple(
            Paragraph(start=a, end=b, kind="quote", locator=f"p. {k}")
            for k, (a, b) in enumerate(paragraph_spans(text))
        ),
        "origin": "/texts/stairs.txt",
        "references": "[1] Nobody, 1900",
        "coverage": Coverage(
            parts=3,
            read=1,
            without_text=("page 2",),
            blank=("page 9",),
            failed=(("3", "torn"),),
            left_out=(("sheet 4", "hidden"),),
        ),
    }
    return Document(**(values | changes))  # type: ignore[arg-type]


def a_memory(document: Document) -> GistMemory:
    usage = Usage(calls=2, prompt_tokens=7, seconds=0.5, phases={"gist": Usage(calls=1)})
    return GistMemory(
        document=document,
        pages=(Page.of(document, 1, 0, len(document.text), fallback=True),),
        gists=("Rosalind hid a sapphire.",),
        settings=Settings(min_words=1, max_words=9, pagination="model", profile="paper"),
        model="openai:x",
        prompts=("gist-page@1:00000000",),
        fallbacks=(Fallback(phase="paginate", page=1, reason="none named"),),
        warnings=(Suspicion(page=1, kind="token", text="<|im_start|>system"),),
        usage=usage,
    )


def a_call(user: str = SECRET) -> Call:
    prompt = PromptId(name="gist-page", version=1, digest="d")
    return Call(prompt=prompt, system="s", user=user, parse=lambda c: c.text, max_tokens=9)


DONE = Completion(text=f"Gist of: {SECRET}", prompt_tokens=5, completion_tokens=None, seconds=0.25)


# -- round trips --------------------------------------------------------------------------------


def test_a_document_comes_out_as_it_went_in(store: Store) -> None:
    document = a_document()
    assert store.add_document(document)
    assert store.document(document.id) == document
    assert store.document("unknown") is None


def test_every_character_comes_out_as_it_went_in(store: Store) -> None:
    text = "e\u0301 \u05e9\u05dc\u05d5\u05dd \u6f22\u5b57\u3002 \U0001f468\u200d\U0001f469"
    text += " \ufffd \t x\u00a0y '\"; DROP"
    document = a_document(text, title=text, origin=text)
    store.add_document(document)
    assert store.document(document.id) == document
    assert store.find(text) == [(document.id, text)]


def test_a_memory_comes_out_as_it_went_in(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    memory = a_memory(document)
    store.put_memory("key", memory)
    assert store.memory("key", document) == memory
    assert store.memories(document) == [memory]
    assert store.memory("other", document) is None
    store.put_memory("key", replace(memory, gists=("Another.",)))
    (only,) = store.memories(document)
    assert only.gists == ("Another.",)


def test_the_newest_memory_comes_first(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    for key in ("one", "two", "three"):
        store.put_memory(key, replace(a_memory(document), model=key))
    assert [m.model for m in store.memories(document)] == ["three", "two", "one"]


def test_a_call_comes_out_as_it_went_in(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    calls = store.calls(document.id)
    assert calls.get("key") is None
    calls.put("key", a_call(), "openai:x", DONE)
    assert calls.get("key") == DONE


def test_a_call_about_a_document_that_is_not_there_is_not_kept(store: Store) -> None:
    store.calls("gone").put("key", a_call(), "openai:x", DONE)
    assert store.calls("gone").get("key") is None


def test_the_same_content_under_two_names_is_one_document(store: Store) -> None:
    one, two = a_document(), a_document(origin="/texts/copy.txt", title="Copy")
    assert store.add_document(one)
    assert not store.add_document(two)
    (entry,) = store.overview()
    assert sorted(entry["origins"]) == ["/texts/copy.txt", "/texts/stairs.txt"]
    assert store.find("/texts/copy.txt") == store.find("/texts/stairs.txt") == store.find("Stairs")


def test_a_name_belongs_to_its_newest_content_and_the_old_stays(store: Store) -> None:
    old, new = a_document("The old words."), a_document("The new words.")
    store.add_document(old)
    store.add_document(new)
    assert store.find("/texts/stairs.txt") == [(new.id, "Stairs")]
    assert store.document(old.id) == old


def test_documents_are_found_by_id_beginning_title_and_part_of_it(store: Store) -> None:
    first = a_document("One.", title="A Tale of Cities", origin="1")
    second = a_document("Two.", title="A Tale of Tubs", origin="2")
    store.add_document(first)
    store.add_document(second)
    for name in (first.id, first.id[:6], "a tale of cities", "CITIES", "1"):
        assert [i for i, _ in store.find(name)] == [first.id], name
    assert len(store.find("tale")) == 2
    assert store.find("nothing like it") == []
    assert store.find("") == []
    assert store.find("%") == []


def test_the_overview_counts_pages(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    assert store.overview()[0]["memories"] == []
    store.put_memory("key", a_memory(document))
    (entry,) = store.overview()
    assert entry["memories"] == [{"model": "openai:x", "pages": 1}]
    assert (entry["id"], entry["title"], entry["words"]) == (document.id, "Stairs", document.words)


def test_lone_surrogates_are_replaced_and_the_rest_kept(store: Store) -> None:
    document = a_document(title="odd \udce9 name", origin="/odd\udce9.txt")
    store.add_document(document)
    assert store.find("/odd\udce9.txt") == [(document.id, "odd \ufffd name")]
    memory = replace(a_memory(document), gists=("a \ud800 gist",))
    store.put_memory("key", memory)
    assert store.memories(document)[0].gists == ("a \ufffd gist",)
    store.calls(document.id).put("k", a_call(), "m\udc00", replace(DONE, text="\udfff."))
    kept = store.calls(document.id).get("k")
    assert kept is not None
    assert kept.text == "\ufffd."


def test_what_was_written_survives_closing(path: Path) -> None:
    first = Store(path)
    document = a_document()
    first.add_document(document)
    first.close()
    second = Store(path)
    assert second.document(document.id) == document
    second.close()


# -- removing -----------------------------------------------------------------------------------


def test_removing_leaves_no_trace_of_the_text_in_any_file(path: Path) -> None:
    store = Store(path)
    long = "\n\n".join(f"{SECRET} Again, number {k}." for k in range(2_000))
    document, other = a_document(long), a_document("Something else.", origin="other")
    store.add_document(document)
    store.add_document(other)
    store.put_memory("key", replace(a_memory(document), gists=(f"Gist: {SECRET}",)))
    for k in range(50):
        store.calls(document.id).put(f"k{k}", a_call(), "m", DONE)
    assert store.remove(document.id)
    files = list(path.parent.iterdir())
    assert path in files
    for file in files:
        assert b"sapphire" not in file.read_bytes(), file
        assert b"Rosalind" not in file.read_bytes(), file
    assert store.document(document.id) is None
    assert store.calls(document.id).get("k1") is None
    assert store.find("/texts/stairs.txt") == []
    assert [e["id"] for e in store.overview()] == [other.id]
    assert not store.remove(document.id)
    store.close()


def test_removing_while_another_reads_says_so(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store_module, "_patiently", lambda attempt, wait_s=0.1: attempt())
    store.add_document(a_document())
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM documents").fetchone()
    assert store.remove(a_document().id)
    assert "is being read" in caplog.text
    reader.close()


# -- several at once ----------------------------------------------------------------------------


def test_threads_share_a_store_and_lose_nothing(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    calls = store.calls(document.id)

    def work(number: int) -> Completion | None:
        calls.put(f"k{number}", a_call(), "m", replace(DONE, text=str(number)))
        return calls.get(f"k{number}")

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(work, range(200)))
    assert [c.text for c in kept if c] == [str(k) for k in range(200)]


def test_writers_in_several_stores_queue_and_readers_do_not_wait(path: Path) -> None:
    stores = [Store(path) for _ in range(4)]
    stores[0].add_document(a_document())
    done = threading.Event()
    slowest = 0.0

    def write(k: int) -> None:
        for n in range(40):
            stores[k].calls(a_document().id).put(f"{k}-{n}", a_call(), "m", DONE)

    def read() -> None:
        nonlocal slowest
        while not done.is_set():
            started = time.monotonic()
            assert len(stores[3].overview()) == 1
            slowest = max(slowest, time.monotonic() - started)

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    done.set()
    reader.join()
    count = stores[3]._one("SELECT count(*) FROM calls")[0]
    assert count == 120
    for opened in stores:
        opened.close()


def test_a_library_is_read_while_another_holds_the_turn_to_write(path: Path) -> None:
    Store(path).close()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    store = Store(path)
    assert store.overview() == []
    store.close()
    writer.close()


def test_a_writer_waits_for_its_turn(store: Store, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.6, lambda: other.execute("COMMIT")).start()
    assert store.add_document(a_document())
    other.close()


def test_waiting_for_a_turn_ends_with_one_line(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = store_module._patiently
    monkeypatch.setattr(store_module, "_patiently", lambda attempt: real(attempt, 0.3))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LibraryError, match="another process holds it"):
        store.add_document(a_document())
    other.execute("ROLLBACK")
    assert store.add_document(a_document())
    other.close()


def test_many_processes_may_make_one_library_at_once(path: Path) -> None:
    code = "import sys; from pathlib import Path; from reread.store import Store; "
    code += "Store(Path(sys.argv[1])).overview()"
    started = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(6)]
    assert [process.wait(timeout=60) for process in started] == [0] * 6


# -- other versions and other files -------------------------------------------------------------


def test_a_library_of_a_newer_version_is_refused_in_one_line(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO migrations VALUES ('999-from-the-future', 'now')")
    db.close()
    before = path.read_bytes()
    with pytest.raises(LibraryError) as caught:
        Store(path)
    assert "newer reread (999-from-the-future)" in caught.value.line
    assert "Upgrade" in caught.value.line
    assert path.read_bytes() == before


def test_a_library_of_an_older_version_opens_and_keeps_what_it_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Store(path)
    old.add_document(a_document())
    old.close()
    later = (
        ("002-notes", "CREATE TABLE notes (id TEXT); CREATE INDEX by_id ON notes(id)"),
        ("003-stars", "ALTER TABLE documents ADD COLUMN stars INTEGER"),
    )
    monkeypatch.setattr(store_module, "MIGRATIONS", (*MIGRATIONS, *later))
    new = Store(path)
    assert new.document(a_document().id) == a_document()
    names = [name for (name,) in new._all("SELECT name FROM migrations ORDER BY rowid")]
    assert names == [name for name, _ in (*MIGRATIONS, *later)]
    new._one("SELECT stars FROM documents")
    new.close()


def test_a_migration_that_fails_leaves_the_library_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(path).close()
    broken = (*MIGRATIONS, ("002-broken", "CREATE TABLE fine (a TEXT); CREATE nonsense"))
    monkeypatch.setattr(store_module, "MIGRATIONS", broken)
    with pytest.raises(LibraryError):
        Store(path)
    monkeypatch.undo()
    store = Store(path)
    assert store._one("SELECT 1 FROM sqlite_master WHERE name = 'fine'") is None
    store.close()


def test_the_names_of_migrations_are_in_order_and_different() -> None:
    names = [name for name, _ in MIGRATIONS]
    assert names == sorted(set(names))


def test_a_file_that_is_no_library_is_left_alone(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(LibraryError) as caught:
        Store(path)
    assert "not a library" in caught.value.line
    assert "--library" in caught.value.line
    assert path.read_bytes() == b"Dear diary, " * 500


def test_the_database_of_another_program_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(LibraryError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["folder", "under a file"])
def test_a_place_that_cannot_hold_a_library_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("x")
    place = tmp_path if kind == "folder" else tmp_path / "file" / "library.db"
    with pytest.raises(LibraryError) as caught:
        Store(place)
    assert str(place) in caught.value.line
    assert "--library" in caught.value.line


# -- disks --------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 kB of its own; skipped where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)]
    try:
        allowed = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("no disk may be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing_finished(small_disk: Path) -> None:
    store = Store(small_disk / "library.db")
    store.add_document(a_document())
    calls = store.calls(a_document().id)
    kept = 0

    def fill() -> None:
        nonlocal kept
        for kept in range(1_000):
            calls.put(f"k{kept}", a_call(), "m", replace(DONE, text="x" * 4_000))

    with pytest.raises(LibraryError) as caught:
        fill()
    assert "disk" in caught.value.line
    assert "finished work is kept" in caught.value.line
    assert kept > 10
    store.close()
    reopened = Store(small_disk / "library.db")
    assert reopened.document(a_document().id) == a_document()
    assert all(reopened.get_call(f"k{k}") for k in range(kept))
    assert reopened.get_call(f"k{kept}") is None
    reopened.close()


def test_a_library_on_a_disk_that_may_only_be_read_is_read(small_disk: Path) -> None:
    path = small_disk / "library.db"
    store = Store(path)
    store.add_document(a_document())
    store.close()
    before = path.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    store = Store(path)
    assert store.document(a_document().id) == a_document()
    assert [e["id"] for e in store.overview()] == [a_document().id]
    with pytest.raises(LibraryError) as caught:
        store.add_document(replace(a_document(), text="Another text."))
    assert "cannot be written" in caught.value.line
    assert "REREAD_HOME" in caught.value.line
    store.close()
    assert [f.name for f in small_disk.iterdir() if f.is_file()] == ["library.db"]
    assert path.read_bytes() == before


def test_a_log_that_was_left_on_a_disk_that_may_only_be_read_is_never_passed_over(
    small_disk: Path,
) -> None:
    path = small_disk / "library.db"
    store = Store(path)
    store.add_document(a_document())
    files = {f: f.read_bytes() for f in small_disk.iterdir() if f.is_file()}
    store.close()
    for file, data in files.items():
        if not file.name.endswith("-shm"):
            file.write_bytes(data)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(LibraryError, match="cannot be used"):
        Store(path)


def test_a_disk_that_may_only_be_read_takes_no_new_library(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for name in ("new.db", "folder/new.db"):
        with pytest.raises(LibraryError) as caught:
            Store(small_disk / name)
        assert "cannot be written" in caught.value.line
        assert "REREAD_HOME" in caught.value.line


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (sqlite3.OperationalError("database or disk is full"), "the disk is full"),
        (sqlite3.OperationalError("disk I/O error"), "failed"),
        (OSError(28, os.strerror(28)), "the disk is full"),
        (PermissionError(13, os.strerror(13)), "cannot be written"),
        (sqlite3.OperationalError("something new"), "something new"),
    ],
)
def test_failures_of_the_disk_say_what_and_how_to_mend_it(error: Exception, said: str) -> None:
    line = store_module._failure(Path("/x/library.db"), error).line
    assert "/x/library.db" in line
    assert said in line


# -- ranking ------------------------------------------------------------------------------------


def test_ranking_finds_words_by_stem_and_pairs_of_characters() -> None:
    texts = ["The cats were sleeping.", "A dog barked.", "\u56fe\u4e66\u9986\u5728\u5317\u4eac"]
    assert rank(texts, "sleeping cat") == [0]
    assert rank(texts, "\u5317\u4eac") == [2]
    assert rank(texts, "zebra") == []
    assert rank(texts, "") == []
    assert rank(texts, 'AND OR NOT " * ( dogs') == [1]
    assert rank([], "dog") == []


def test_nothing_of_a_call_is_lost_in_json(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    store.put_memory("key", a_memory(document))
    row = store._one("SELECT usage FROM memories")
    assert json.loads(row[0])["phases"]["gist"]["calls"] == 1


# -- ledger and facts ---------------------------------------------------------------------------


def a_reply(**changes: object) -> Completion:
    done = Completion(text="four words were said", prompt_tokens=50, completion_tokens=9, cost=0.25)
    return replace(done, **changes)  # type: ignore[arg-type]


def test_the_ledger_tells_readings_and_questions_apart(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    reading = store.calls(document.id)
    reading.put("k1", a_call(), "openai:m", a_reply(seconds=1.0))
    reading.put("k2", a_call(), "openai:m", a_reply(seconds=2.0, reused_tokens=40))
    reading.refused(a_call(), "openai:m", a_reply(reasoning_tokens=5))
    asking = store.calls(document.id, "Who?")
    assert asking.get("k1") is not None
    assert asking.get("unknown") is None
    asking.put("k3", a_call(), "openai:m", a_reply(cost=None))
    asking.finish("openai:m")
    asking.finish("openai:m")

    first, second = store.ledger(document.id)
    words = Usage.of(a_call(), a_reply()).words_in
    assert (first.question, first.model, second.question) == (None, "openai:m", "Who?")
    assert first.at < second.at
    assert first.usage == Usage(
        calls=3,
        prompt_tokens=150,
        completion_tokens=27,
        words_in=3 * words,
        words_out=12,
        seconds=3.0,
        cost=0.75,
        cached_tokens=40,
        reasoning_tokens=5,
    )
    assert (second.usage.calls, second.usage.cached_calls) == (1, 1)
    assert second.usage.cost is None  # one of its calls has no price


def test_hits_alone_cost_nothing(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    store.calls(document.id).put("k1", a_call(), "openai:m", a_reply())
    again = store.calls(document.id)
    again.get("k1")
    again.finish("openai:m")
    assert store.ledger(document.id)[1].usage == Usage(cached_calls=1, cost=0.0)


def test_a_reply_and_its_cost_are_kept_together_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = a_document()
    store.add_document(document)
    calls = store.calls(document.id)
    monkeypatch.setattr(calls, "_enter", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        calls.put("k1", a_call(), "openai:m", a_reply())
    assert store.get_call("k1") is None
    assert store.ledger(document.id) == []


def test_removing_a_document_removes_its_ledger(store: Store) -> None:
    document = a_document()
    store.add_document(document)
    store.calls(document.id, SECRET).put("k1", a_call(), "openai:m", a_reply())
    store.remove(document.id)
    assert store._one("SELECT COUNT(*) FROM ledger") == (0,)
    store.calls(document.id).put("k2", a_call(), "openai:m", a_reply())
    assert store._one("SELECT COUNT(*) FROM ledger") == (0,)


def test_facts_are_kept_by_model(path: Path) -> None:
    store = Store(path)
    mine, other = store.facts("openai:m at http://h/v1"), store.facts("openai:m at http://i/v1")
    mine.put("refused", ["temperature"])
    mine.put("refused", ["temperature", "system"])
    mine.put("window", {"tokens": 4_096, "declared": 8_192})
    other.put("refused", [])
    store.close()
    store = Store(path)
    mine, other = store.facts("openai:m at http://h/v1"), store.facts("openai:m at http://i/v1")
    assert mine.get("refused") == ["temperature", "system"]
    assert mine.get("window") == {"tokens": 4_096, "declared": 8_192}
    assert mine.get("unknown") is None
    mine.forget()
    assert (mine.get("refused"), other.get("refused")) == (None, [])
    store.close()


def test_a_library_from_before_the_ledger_opens_and_is_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MIGRATIONS", MIGRATIONS[:2])
    monkeypatch.setattr(store_module, "carry", lambda *_: None)  # there were no pages of thoughts
    old = Store(path)
    old.add_document(a_document())
    old.close()
    monkeypatch.undo()
    new = Store(path)
    assert new.ledger(a_document().id) == []
    new.calls(a_document().id).put("k1", a_call(), "openai:m", a_reply())
    assert [work.usage.cost for work in new.ledger(a_document().id)] == [0.25]
    new.facts("m").put("a", 1)
    new.close()
