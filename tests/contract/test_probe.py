"""What a test of a model finds out, on servers that differ in one thing each, and who uses it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from endpoint import MODEL, Endpoint, Seen
from weather import Fault, Made

from reread.errors import ContextExceeded, ModelRefused, ModelUnavailable, SettingsError
from reread.library import Library
from reread.llm.compatible import Compatible
from reread.llm.facts import Learned, Unkept, about
from reread.llm.probe import Report, findings, probe
from reread.llm.scripted import Scripted
from reread.llm.sizes import fewest_tokens
from reread.store.books import StoredFacts
from reread.text import estimate_tokens
from reread.types import Call, PromptId

HERE = "http://127.0.0.1:9/v1"


class Obedient(Endpoint):
    """A server whose model does as it is told, with traits of its own.

    Args:
        form: The strictest form it keeps replies to.
        heeds: Whether it heeds the system role.
        sees: Tokens of a prompt that reach the model; the rest of its beginning is lost.
    """

    def __init__(
        self,
        *,
        form: str = "json_schema",
        heeds: bool = True,
        sees: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.form = form
        self.heeds = heeds
        self.sees = sees

    def made(self, seen: Seen) -> Made | Fault:
        made = super().made(seen)
        if isinstance(made, Fault):
            return made
        body = seen.body
        shape = (body.get("response_format") or {}).get("type")
        if (shape == "json_schema" and self.form != "json_schema") or (
            shape == "json_object" and self.form in ("grammar", "none")
        ):
            return Fault(status=400, message=f"response_format {shape} is not supported")
        words = " ".join(
            str(m["content"]) for m in body["messages"] if m["role"] == "user" or self.heeds
        ).split()
        text = " ".join(words[-(self.sees or len(words)) :])
        return replace(made, text=self.said(text, shape, body))

    def said(self, text: str, shape: str | None, body: dict[str, Any]) -> str:
        if shape == "json_schema":
            return json.dumps({"shade": "dark-7"})
        if "grammar" in body and self.form == "grammar":
            return "dark-7"
        if shape == "json_object":
            return json.dumps({"answer": "dark"})
        if "code word" in text:
            found = re.search(r"code word is (\S+)\.", text)
            return found[1] if found else "I do not know it."
        if "Repeat the first" in text:
            return " ".join(text.split()[:12])
        return "Dark."


def model_of(server: Endpoint, **more: Any) -> Compatible:
    values: dict[str, Any] = {"name": f"openai:{MODEL}", "model": MODEL, "api_key": "k"}
    return Compatible(base_url=server.base_url, **(values | more))


def a_call() -> Call:
    return Call(
        prompt=PromptId(name="gist-page", version=1, digest=""),
        system="Be brief.",
        user="Hello.",
        parse=lambda completion: completion.text,
        max_tokens=9,
    )


def found(**traits: Any) -> Report:
    with Obedient(**traits) as server:
        return probe(model_of(server))


# -- one thing each -----------------------------------------------------------------------------


def test_a_server_that_can_everything() -> None:
    report = found(event_s=0.001)
    assert (report.window_tokens, report.window_declared) == (8_192, 8_192)
    assert report.structured == "json_schema"
    assert report.system_role == "taken"
    assert report.refused == ()
    assert report.reasoning == "none"
    assert report.streaming
    assert report.counts_tokens
    assert report.reused_tokens == 0
    assert report.prompt_speed is not None
    assert report.reply_speed is not None


def test_what_it_took_is_stated_and_small() -> None:
    with Obedient() as server:
        report = probe(model_of(server))
        seen = list(server.seen)
    assert report.calls == len(seen) == 6
    sent = sum(sum(estimate_tokens(m["content"]) for m in s.body["messages"]) for s in seen)
    assert report.prompt_tokens == sent
    assert sum(s.words for s in seen) < 6_200
    remote = [s for s in seen if s.words < 4_000]
    assert sum(s.words for s in remote) < 1_500


@pytest.mark.parametrize("form", ["json_schema", "grammar", "json_object", "none"])
def test_the_strictest_form_it_keeps_to(form: str) -> None:
    report = found(form=form)
    assert report.structured == form
    assert report.refused == (() if form == "json_schema" else ("response_format",))


def test_a_schema_that_is_taken_and_not_obeyed_is_none() -> None:
    class Careless(Obedient):
        def said(self, text: str, shape: str | None, body: dict[str, Any]) -> str:
            return "Dark." if shape else super().said(text, shape, body)

    with Careless() as server:
        report = probe(model_of(server))
    assert (report.structured, report.refused) == ("none", ())


@pytest.mark.parametrize(
    ("traits", "role"),
    [({}, "taken"), ({"heeds": False}, "ignored"), ({"refuses": ["system"]}, "refused")],
)
def test_what_becomes_of_the_system_role(traits: dict[str, Any], role: str) -> None:
    with Obedient(**traits) as server:
        model = model_of(server)
        report = probe(model)
        assert report.system_role == role
        body = model.body(a_call())
    roles = [m["role"] for m in body["messages"]]
    assert roles == (["system", "user"] if role == "taken" else ["user"])


@pytest.mark.parametrize(
    "refused", [["max_tokens"], ["temperature"], ["max_tokens", "temperature", "stream_options"]]
)
def test_the_parameters_it_refuses(refused: list[str]) -> None:
    report = found(refuses=refused)
    assert report.refused == tuple(sorted(refused))
    assert report.streaming


@pytest.mark.parametrize(
    ("thinking", "where"),
    [
        ("", "none"),
        ("tags", "in the reply"),
        ("unopened", "in the reply"),
        ("reasoning_content", "apart"),
        ("reasoning", "apart"),
    ],
)
def test_where_reasoning_stands(thinking: Any, where: str) -> None:
    assert found(thinking=thinking).reasoning == where


def test_replies_in_one_piece_are_not_streaming() -> None:
    assert not found(streams=False).streaming
    assert not found(refuses=["stream"]).streaming


def test_speed_is_measured_from_the_pieces() -> None:
    report = found(delay_s=0.2, event_s=0.02)
    assert report.prompt_speed is not None
    assert report.reply_speed is not None
    assert report.prompt_speed < (report.repeated_tokens or 0) / 0.2
    assert report.reply_speed < 12 / 0.02


def test_a_cache_is_seen_by_what_is_reported() -> None:
    with Obedient() as server:
        model = model_of(server)
        plain = model.raw

        def cached(body: Any) -> dict[str, Any]:
            reply = plain(body)
            if "three words" in str(body["messages"]):
                reply["usage"]["prompt_tokens_details"] = {"cached_tokens": 512}
            return reply

        model.raw = cached  # type: ignore[method-assign]
        report = probe(model)
    assert report.reused_tokens == 512
    assert report.repeated_tokens is not None
    assert report.repeated_tokens > 512


# -- the window ---------------------------------------------------------------------------------


def test_a_window_that_is_cut_silently_is_found_and_planned_with() -> None:
    with Obedient(window=32_768, cut=4_096) as server:
        model = model_of(server)
        report = probe(model)
        assert (report.window_declared, report.window_tokens) == (32_768, 4_096)
        assert model.capabilities.context_tokens == 4_096
        again = model_of(server, facts=model.facts)
        assert again.capabilities.context_tokens == 4_096


def test_a_prompt_that_is_read_whole_is_said() -> None:
    report = found()
    assert report.window_checked is not None
    assert report.window_checked >= 4_600


def test_where_no_tokens_are_counted_the_reply_decides() -> None:
    whole = found(usage=False)
    assert not whole.counts_tokens
    assert whole.window_checked == 4_600 + 20
    assert found(usage=False, sees=3_000).window_checked == 1_840 + 20
    assert found(usage=False, sees=1_000).window_checked is None


def test_a_limit_that_is_said_aloud_is_learned() -> None:
    report = found(window=32_768, limit=3_000)
    assert (report.window_tokens, report.window_checked) == (3_000, None)


def test_a_remote_server_that_declares_its_window_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reread.llm.probe.is_local", lambda base_url: False)
    with Obedient() as server:
        report = probe(model_of(server))
        assert max(s.words for s in server.seen) < 1_300
        assert report.window_checked is None
    with Obedient(window=None) as server:
        assert probe(model_of(server)).window_checked is not None


# -- kept ---------------------------------------------------------------------------------------


def test_it_is_done_once_and_again_when_asked() -> None:
    with Obedient() as server:
        model = model_of(server)
        first = findings(model, again=False)
        calls = len(server.seen)
        assert findings(model_of(server, facts=model.facts), again=False) == first
        assert len(server.seen) == calls
        server.refuses = ("temperature",)
        assert findings(model, again=True).refused == ("temperature",)
        assert len(server.seen) > calls


def test_again_begins_without_what_was_learned_before() -> None:
    with Obedient(refuses=["temperature"], window=32_768, cut=4_096) as server:
        model = model_of(server)
        probe(model)
        server.refuses, server.cut = (), None
        report = probe(model)
        assert (report.refused, report.window_tokens) == ((), 32_768)


def test_a_test_that_fails_unlearns_nothing() -> None:
    with Obedient(refuses=["temperature"], window=32_768, cut=4_096) as server:
        model = model_of(server)
        report = probe(model)
        server.faults = [Fault(status=401)] * 9
        with pytest.raises(ModelRefused):
            findings(model, again=True)
        assert model.learned.refused == {"temperature"}
        assert model.capabilities.context_tokens == 4_096
        assert findings(model_of(server, facts=model.facts), again=False) == report


def test_a_scripted_model_has_nothing_to_test() -> None:
    with pytest.raises(SettingsError, match="scripted:extractive is no endpoint"):
        findings(Scripted(), again=False)


def test_a_server_that_is_not_there_is_said() -> None:
    model = Compatible(name="openai:m", model="m", base_url=HERE)
    with pytest.raises(ModelUnavailable, match="no model server answers"):
        probe(model)
    assert model.facts.get("probe") is None


# -- what ordinary calls learn ------------------------------------------------------------------


@contextmanager
def library(server: Endpoint, home: Path) -> Iterator[Library]:
    opened = Library(config=server.config(home))
    try:
        yield opened
    finally:
        opened.close()


LARGE: dict[str, Any] = {"min_words": 500, "max_words": 1_900}
TEXT = "\n\n".join(
    f"On day {k}, Anna found map number {k} near the old harbour and told nobody of it. " * 6
    for k in range(20)
)


def read(server: Endpoint, home: Path, text: str = TEXT, **settings: Any) -> None:
    path = home / "text.txt"
    path.write_text(text)
    with library(server, home) as opened:
        opened.read(path, **settings)


def test_a_refused_parameter_is_not_tried_again_in_the_next_run(tmp_path: Path) -> None:
    with Endpoint(refuses=["temperature", "max_tokens"]) as server:
        read(server, tmp_path)
        assert sum(s.status == 400 for s in server.seen) >= 2
        server.forget()
        read(server, tmp_path, TEXT + "\n\nAnd so it went on and on for days.")
        assert server.seen
        assert all(s.status == 200 for s in server.seen)


def test_a_refusal_that_the_change_does_not_mend_is_not_kept() -> None:
    faults = [Fault(status=400, message="temperature is too hot"), Fault(status=418)]
    with Endpoint(faults=faults) as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="418"):
            model.complete(a_call())
        assert model.facts.get("refused") is None
        server.faults = [Fault(status=400, message="Unsupported parameter: 'temperature'")]
        fresh = model_of(server, facts=model.facts)
        fresh.complete(a_call())
        assert model.facts.get("refused") == ["temperature"]


def test_a_smaller_window_is_known_in_the_next_run(tmp_path: Path) -> None:
    with Endpoint(window=16_384, limit=2_500) as server:
        read(server, tmp_path, **LARGE)
        assert any(s.status == 400 for s in server.seen)
        server.forget()
        with library(server, tmp_path) as opened:
            assert opened.model.capabilities.context_tokens == 2_500
        read(server, tmp_path, **LARGE)
        assert not server.seen


def test_a_smaller_window_is_forgotten_when_another_is_declared(tmp_path: Path) -> None:
    with Endpoint(window=16_384, limit=2_500) as server:
        read(server, tmp_path, **LARGE)
        server.window, server.limit = 32_768, None
        with library(server, tmp_path) as opened:
            assert opened.model.capabilities.context_tokens == 32_768


def test_a_limit_on_tokens_a_minute_is_not_kept() -> None:
    message = "Request too large for m on tokens per min (TPM): Limit 4096, Requested 5000."
    with Endpoint(faults=[Fault(status=429, message=message)]) as server:
        model = model_of(server)
        with pytest.raises(ContextExceeded):
            model.complete(a_call())
        assert model.capabilities.context_tokens == 4_096
        assert model_of(server, facts=model.facts).capabilities.context_tokens == 8_192


def test_tokens_are_learned_between_documents_and_kept(tmp_path: Path) -> None:
    russian = "\n\n".join("Анна нашла старую карту возле гавани. " * 12 for _ in range(40))

    class Efficient(Endpoint):
        """Its vocabulary knows Cyrillic well: half the tokens that were guessed."""

        def made(self, seen: Seen) -> Made | Fault:
            made = super().made(seen)
            return (
                made
                if isinstance(made, Fault)
                else replace(made, prompt_tokens=(made.prompt_tokens or 0) // 2)
            )

    with Efficient() as server:
        read(server, tmp_path, russian)
        with library(server, tmp_path) as opened:
            counted = opened.model.count_tokens(russian)
    assert counted == pytest.approx(estimate_tokens(russian) / 2, rel=0.1)
    assert counted >= fewest_tokens(russian)


def test_nothing_is_written_when_nothing_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint() as server:
        read(server, tmp_path)
        put: list[str] = []
        real = StoredFacts.put

        def noted(self: StoredFacts, name: str, value: Any) -> None:
            put.append(name)
            real(self, name, value)

        monkeypatch.setattr(StoredFacts, "put", noted)
        with library(server, tmp_path) as opened:
            opened.ask("Who found a map near the harbour?", tmp_path / "text.txt")
            put.clear()
            opened.ask("Who found a map near the harbour?", tmp_path / "text.txt")
    assert put == []


def test_a_report_of_another_version_is_made_anew() -> None:
    with Obedient() as server:
        model = model_of(server)
        model.facts.put("probe", {"model": "m", "colour": "blue"})
        assert findings(model, again=False).structured == "json_schema"


def test_everyday_work_makes_no_calls_of_its_own(tmp_path: Path) -> None:
    with Endpoint() as server:
        read(server, tmp_path)
        assert "other" not in server.phases()


def test_a_server_that_counts_only_what_was_new_is_not_taken_for_one_that_cuts() -> None:
    learned = Learned()
    assert not learned.cut(3_000, 2_900)
    assert not learned.cut(40, 2_900)  # the same again: evaluated before
    assert Learned().cut(2_048, 2_900)
    assert learned.cut(3_000, 4_000)  # more than ever before, and not whole


def test_facts_belong_to_a_model_at_an_endpoint_and_hold_no_secret() -> None:
    assert about("openai:m", "https://user:secret@h.example:8/v1") == (
        "openai:m at https://h.example:8/v1"
    )
    facts = Unkept()
    facts.put("refused", ["a"])
    assert Learned(facts).refused == {"a"}
    Learned(facts).refuse("b", kept=True)
    assert facts.get("refused") == ["a", "b"]
    Learned(facts).refuse("c", kept=False)
    assert facts.get("refused") == ["a", "b"]
