"""What things will cost, cost now, and have cost: estimates, budgets and ledgers."""

from __future__ import annotations

import json
import os
import pty
import re
import select
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command import Ended, environ, kill, run, start, story
from endpoint import MODEL, Endpoint

from reread import Library
from reread.errors import BudgetReached, UsageError
from reread.ports import Step
from reread.types import Usage

PRICES = f"[prices]\n{MODEL} = {{ prompt = 2.0, cached = 0.5, completion = 8.0 }}\n"
QUESTION = "Who lost the violin near the old harbour?"
BY_RULE = ("--pagination", "uniform")


@dataclass
class Desk:
    """A home with prices, an endpoint, and a way to run commands on both."""

    endpoint: Endpoint
    home: Path

    @property
    def env(self) -> dict[str, str]:
        return environ(self.home, self.endpoint.environ(self.home))

    @property
    def file(self) -> Path:
        return self.home / "story.txt"

    def run(self, *args: str | Path) -> Ended:
        return run(*args, env=self.env)

    def json(self, *args: str | Path) -> Any:
        done = self.run(*args, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "config.toml").write_text(PRICES)
    (tmp_path / "story.txt").write_text(story(3_000))
    with Endpoint() as endpoint:
        yield Desk(endpoint, tmp_path)


def cost_of(usage: dict[str, Any]) -> float:
    fresh = usage["prompt_tokens"] - usage["cached_tokens"]
    tokens = fresh * 2.0 + usage["cached_tokens"] * 0.5 + usage["completion_tokens"] * 8.0
    return float(tokens / 1e6)


# -- before -------------------------------------------------------------------------------------


def test_an_estimate_by_rule_is_exact_and_sends_nothing(desk: Desk) -> None:
    told = desk.json("estimate", desk.file, *BY_RULE)
    assert not desk.endpoint.seen
    assert desk.run("list").out == ""
    used = desk.json("read", desk.file, *BY_RULE)[0]
    reading = told["reading"]
    assert told["document"]["pages"] == [used["document"]["pages"]] * 2
    for figure in ("calls", "words_in", "prompt_tokens"):
        assert reading[figure] == [used["usage"][figure]] * 2, figure
    assert reading["remembered"] == [0, 0]
    low, high = reading["completion_tokens"]
    assert low <= used["usage"]["completion_tokens"] <= high
    low, high = reading["cost"]
    assert low <= used["usage"]["cost"] <= high
    assert told["price"] == {"prompt": 2.0, "completion": 8.0, "cached": 0.5, "dated": None}


def test_an_estimate_of_what_the_model_decides_is_a_range_that_holds_it(desk: Desk) -> None:
    told = desk.json("estimate", desk.file)
    used = desk.json("read", desk.file)[0]["usage"]
    for figure in ("calls", "words_in", "prompt_tokens", "completion_tokens", "cost"):
        low, high = told["reading"][figure]
        assert low <= used[figure] <= high, figure
    assert told["reading"]["calls"][0] < told["reading"]["calls"][1]


@pytest.mark.parametrize("strategy", ["parallel", "sequential", "gists"])
def test_a_question_is_estimated_from_the_memory_that_is_there(desk: Desk, strategy: str) -> None:
    desk.run("read", desk.file)
    told = desk.json("estimate", "story", "--strategy", strategy)
    assert told["reading"]["calls"] == [0, 0]
    assert told["reading"]["cost"] == [0.0, 0.0]
    used = desk.json("ask", "story", QUESTION, "--strategy", strategy)["usage"]
    for figure in ("calls", "prompt_tokens"):
        low, high = told["question"][figure]
        assert low <= used[figure] <= high, figure


def test_what_is_remembered_is_not_estimated_again(desk: Desk) -> None:
    before = desk.json("estimate", desk.file, *BY_RULE)["reading"]["calls"][0]
    assert desk.run("read", desk.file, *BY_RULE, "--budget", "3calls").code == 4
    told = desk.json("estimate", desk.file, *BY_RULE)["reading"]
    assert (told["calls"], told["remembered"]) == ([before - 3] * 2, [3, 3])


def test_several_sources_are_estimated_each_and_together(desk: Desk) -> None:
    folder = desk.home / "notes"
    folder.mkdir()
    for name, seed in (("a", 2), ("b", 3), ("c", 2)):
        (folder / f"{name}.txt").write_text(story(1_000, seed=seed))
    (folder / "d.pdf").write_text("%PDF-1.4 cut off")
    done = desk.run("estimate", desk.file, folder, *BY_RULE, "--json")
    assert done.code == 3
    assert not desk.endpoint.seen
    told = json.loads(done.out)
    story_, a, b, c, d = told["sources"]
    assert [one["source"] for one in (a, d)] == [str(folder / "a.txt"), str(folder / "d.pdf")]
    assert [one["again"] for one in (story_, a, b, c)] == [False, False, False, True]
    assert d["error"] in done.err
    alone = desk.json("estimate", folder / "b.txt", *BY_RULE)
    assert {key: b[key] for key in alone} == alone
    total = told["total"]
    each = (story_, a, b)
    assert total["documents"] == 3
    assert total["words"] == sum(one["document"]["words"] for one in each)
    for figure in ("calls", "words_in", "prompt_tokens", "completion_tokens", "cost"):
        low, high = total["reading"][figure]
        assert low == pytest.approx(sum(one["reading"][figure][0] for one in each)), figure
        assert high == pytest.approx(sum(one["reading"][figure][1] for one in each)), figure
        asked = [one["question"][figure] for one in each]
        assert total["question"][figure] == [min(x for x, _ in asked), max(y for _, y in asked)]
    assert total["reading"]["seconds"] is None
    used = [
        one["usage"] for one in json.loads(desk.run("read", folder, *BY_RULE, "--json").out)[:3]
    ]
    assert sum(one["calls"] for one in used) == sum(one["reading"]["calls"][0] for one in (a, b))


def test_several_estimates_for_people_are_a_line_each_and_a_total(desk: Desk) -> None:
    other = desk.home / "other.txt"
    other.write_text(story(1_000, seed=2))
    done = desk.run("estimate", desk.home / "*.txt", *BY_RULE)
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split(": ")[0].split("  ")[-1] for line in lines[:2]] == ["other", "story"]
    assert re.match(
        r"together 2 documents, [\d,]+ words, 9 pages, by openai:.*: 9 calls, ", lines[2]
    )
    assert re.match(r"one question about one of them: 2 to 4 calls, ", lines[3])
    assert len(lines) == 4
    assert done.err.count("`reread models test` measures it") == 1
    nothing = desk.run("estimate", desk.home / "*.zip", desk.home / "no.txt", "--json")
    assert nothing.code == 1
    told = json.loads(nothing.out)
    assert told["total"] is None
    asked = [str(desk.home / "*.zip"), str(desk.home / "no.txt")]
    assert [one["source"] for one in told["sources"]] == asked


def test_time_is_told_once_the_speed_was_measured(desk: Desk) -> None:
    assert desk.json("estimate", desk.file)["reading"]["seconds"] is None
    library = Library(config=desk.endpoint.config(desk.home))
    facts = library.model.facts  # type: ignore[attr-defined]
    facts.put("probe", {"prompt_speed": 100.0, "reply_speed": 10.0})
    library.close()
    told = desk.json("estimate", desk.file, *BY_RULE, "--workers", "1")["reading"]
    low, high = told["seconds"]
    outs = told["completion_tokens"]
    assert low == pytest.approx(told["prompt_tokens"][0] / 100 + outs[0] / 10)
    assert high == pytest.approx(told["prompt_tokens"][1] / 100 + outs[1] / 10)
    eight = desk.json("estimate", desk.file, *BY_RULE, "--workers", "8")["reading"]["seconds"]
    assert eight == pytest.approx([low / 8, high])


def test_an_estimate_for_people_says_what_is_not_known(desk: Desk) -> None:
    (desk.home / "config.toml").write_text("")
    done = desk.run("estimate", desk.file, *BY_RULE)
    assert done.code == 0
    assert re.search(r"^reading +7 calls, [\d,]+ words in, [\d,]+ tokens in, ", done.out, re.M)
    assert re.search(r"^one question +2 to 4 calls, ", done.out, re.M)
    assert "time not known" in done.out
    assert done.out.count("$0") == 2  # it runs on this machine
    assert "`reread models test` measures it" in done.err


def test_a_price_that_is_not_known_is_not_zero(desk: Desk) -> None:
    (desk.home / "config.toml").write_text("")
    model = Library(
        config=desk.endpoint.config(desk.home, model="openai:gpt-4o", context_tokens=8_192)
    )
    told = model.estimate(desk.file)
    model.close()
    assert told.reading.cost is None
    assert told.price is None


# -- meanwhile ----------------------------------------------------------------------------------


def test_calls_are_bounded_exactly_and_the_rerun_goes_on(desk: Desk) -> None:
    done = desk.run("read", desk.file, "--budget", "5calls", "--workers", "4")
    assert done.code == 4
    assert done.line == (
        "reread: the budget of 5 calls is reached. "
        "Finished work is kept; run again with a new budget to go on"
    )
    assert len(desk.endpoint.seen) == 5
    again = desk.run("read", desk.file)
    assert again.code == 0
    assert "5 calls remembered" in again.out
    assert desk.endpoint.repeats() == 0


@pytest.mark.parametrize("workers", ["1", "8"])
@pytest.mark.parametrize("budget", ["0.02usd", "6000tokens"])
def test_a_budget_is_never_overdrawn_and_mostly_used(desk: Desk, budget: str, workers: str) -> None:
    assert desk.run("read", desk.file, "--budget", budget, "--workers", workers).code == 4
    spent = desk.json("show", only_id(desk))["spent"]
    assert spent["calls"] == len(desk.endpoint.seen) > 0
    if budget.endswith("usd"):
        assert 0.008 < spent["cost"] <= 0.02
    else:
        assert 2_500 < spent["prompt_tokens"] + spent["completion_tokens"] <= 6_000


def only_id(desk: Desk) -> str:
    (entry,) = json.loads(desk.run("list", "--json").out)
    return str(entry["id"])


def test_asking_keeps_to_the_budget_too(desk: Desk) -> None:
    desk.run("read", desk.file)
    seen = len(desk.endpoint.seen)
    ask = ("ask", "story", QUESTION, "--no-thoughts", "--budget", "1calls")
    done = desk.run(*ask)
    assert (done.code, done.out) == (4, "")
    assert len(desk.endpoint.seen) == seen + 1
    assert desk.run(*ask).code == 0  # one is remembered
    assert len(desk.endpoint.seen) == seen + 2


def test_what_is_remembered_needs_no_budget(desk: Desk) -> None:
    desk.run("ask", desk.file, QUESTION)
    done = desk.run("ask", desk.file, QUESTION, "--budget", "0calls")
    assert done.code == 0


def test_a_budget_that_ends_between_sources_names_what_was_not_read(desk: Desk) -> None:
    other = desk.home / "other.txt"
    other.write_text(story(2_000, seed=2))
    calls = desk.json("estimate", desk.file, *BY_RULE)["reading"]["calls"][0]
    budget = f"{calls + 1}calls"
    done = desk.run("read", desk.file, other, *BY_RULE, "--budget", budget, "--json")
    assert done.code == 4
    first, second = json.loads(done.out)
    assert first["usage"]["calls"] == calls
    assert second == {"source": str(other), "error": done.line.removeprefix("reread: ")}


@pytest.mark.parametrize("budget", ["5", "5eur", "-1usd"])
def test_a_budget_that_is_none_is_a_usage_error(desk: Desk, budget: str) -> None:
    done = desk.run("read", desk.file, "--budget", budget)
    assert done.code == 2
    assert "0.50usd, 200000tokens or 500calls" in done.line
    assert not desk.endpoint.seen


def test_a_library_keeps_to_one_budget(desk: Desk) -> None:
    config = desk.endpoint.config(desk.home)
    library = Library(config=config, budget="4calls")
    with pytest.raises(BudgetReached):
        library.read(desk.file)
    with pytest.raises(BudgetReached):
        library.read(desk.file)
    library.close()
    assert len(desk.endpoint.seen) == 4
    with pytest.raises(UsageError):
        Library(config=config, budget="much")


def test_progress_carries_what_was_consumed_so_far(desk: Desk) -> None:
    steps: list[Step] = []
    library = Library(config=desk.endpoint.config(desk.home), progress=steps.append)
    memory = library.read(desk.file)
    library.close()
    used = [step.usage for step in steps if step.usage]
    assert len(used) == len(steps) > 3
    assert [u.calls for u in used] == sorted(u.calls for u in used)
    assert used[-1].calls == memory.usage.calls


def test_a_terminal_shows_calls_tokens_and_cost_so_far(desk: Desk) -> None:
    config = desk.endpoint.config(desk.home, prices={MODEL: {"prompt": 2.0, "completion": 8.0}})
    assert config.prices
    desk.endpoint.delay_s = 0.05
    master, slave = pty.openpty()
    env = desk.env | {"TERM": "xterm", "COLUMNS": "160"}
    process = start("read", desk.file, env=env, stderr=slave)
    os.close(slave)
    shown = b""
    while select.select([master], [], [], 30)[0]:
        try:
            piece = os.read(master, 65_536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    process.communicate(timeout=30)
    os.close(master)
    assert process.returncode == 0
    assert re.search(rb"page \d+ \xc2\xb7 \d+ calls, [\d,]+ tokens, \$0\.\d+ so far", shown)


# -- afterwards ---------------------------------------------------------------------------------


def test_every_usage_tells_its_cost(desk: Desk) -> None:
    used = desk.json("read", desk.file)[0]["usage"]
    assert used["cost"] == pytest.approx(cost_of(used))
    assert sum(p["cost"] for p in used["phases"].values()) == pytest.approx(used["cost"])
    asked = desk.json("ask", desk.file, QUESTION)["usage"]
    assert asked["cost"] == pytest.approx(cost_of(asked))
    again = desk.json("ask", desk.file, QUESTION)["usage"]
    assert (again["calls"], again["cached_calls"], again["cost"]) == (0, 2, 0.0)


def test_a_model_on_this_machine_costs_nothing_and_an_unknown_price_is_null(desk: Desk) -> None:
    (desk.home / "config.toml").write_text("")
    assert desk.json("read", desk.file)[0]["usage"]["cost"] == 0.0
    assert desk.endpoint.seen


def test_the_ledger_tells_what_a_document_and_each_answer_took(desk: Desk) -> None:
    read = desk.json("read", desk.file)[0]["usage"]
    asked = [desk.json("ask", "story", q)["usage"] for q in (QUESTION, "Who found the map?")]
    desk.json("ask", "story", QUESTION)
    spent = desk.json("show", "story")["spent"]
    assert [entry["question"] for entry in spent["by"]] == [
        None,
        QUESTION,
        "Who found the map?",
        QUESTION,
    ]
    figures = ("calls", "prompt_tokens", "completion_tokens", "words_in", "words_out", "cost")
    for entry, used in zip(spent["by"], (read, *asked), strict=False):
        for figure in figures:
            assert entry["usage"][figure] == pytest.approx(used[figure]), figure
        assert entry["model"] == f"openai:{MODEL}"
    assert spent["by"][3]["usage"]["calls"] == 0
    assert spent["by"][3]["usage"]["cached_calls"] == 2
    assert spent["cost"] == pytest.approx(read["cost"] + sum(u["cost"] for u in asked))
    assert spent["calls"] == len(desk.endpoint.seen)
    shown = desk.run("show", "story").out
    assert f"spent so far: {spent['calls']} calls (2 remembered)" in shown
    assert f'asked "{QUESTION}" by openai:{MODEL}: 3 calls, ' in shown


def test_what_was_spent_is_known_after_a_kill(desk: Desk) -> None:
    desk.endpoint.delay_s = 0.05
    process = start("read", desk.file, "--workers", "1", env=desk.env)
    while len(desk.endpoint.seen) < 6:
        pass
    kill(process)
    spent = desk.json("show", only_id(desk))["spent"]
    assert spent["calls"] in (len(desk.endpoint.seen) - 1, len(desk.endpoint.seen))
    assert spent["cost"] > 0


def test_a_refused_reply_is_in_the_ledger(tmp_path: Path) -> None:
    with Endpoint(reply=lambda phase, user: "I am sorry, but I can't help with that.") as endpoint:
        library = Library(config=endpoint.config(tmp_path))
        (tmp_path / "story.txt").write_text(story(1_000))
        memory = library.read(tmp_path / "story.txt", pagination="uniform")
        spent = sum((w.usage for w in library.spent(memory.document)), Usage())
        library.close()
        assert len(memory.fallbacks) == len(memory.pages)
        assert spent.calls == len(endpoint.seen) == 2 * len(memory.pages)
