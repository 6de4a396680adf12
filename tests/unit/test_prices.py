"""What tokens cost: the table, the user's prices, and what is not known."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from reread.config import load
from reread.errors import SettingsError
from reread.llm.prices import FREE, Price, price
from reread.types import Completion

OPENAI = "https://api.openai.com/v1"


def test_every_price_in_the_table_can_be_used_and_has_its_date() -> None:
    table = tomllib.loads((resources.files("reread.llm") / "prices.toml").read_text("utf-8"))
    assert re.fullmatch(r"20\d\d-\d\d", table.pop("dated"))
    models = [(host, model) for host in table for model in table[host]]
    assert len(models) >= 12
    for host, model in models:
        found = price(f"openai:{model}", f"https://{host}/v1", {})
        assert found is not None
        assert 0 < found.cached <= found.prompt <= found.completion
        assert found.dated


@pytest.mark.parametrize(
    ("name", "base_url", "right"),
    [
        ("openai:gpt-4o-mini", OPENAI, 0.15),
        ("openai:gpt-4o-mini-2024-07-18", OPENAI, 0.15),
        ("openai:gpt-4o-mini", "https://elsewhere.example/v1", None),
        ("openai:gpt-unheard-of", OPENAI, None),
        ("openai:qwen3:4b", "http://127.0.0.1:11434/v1", 0.0),
        ("openai:openai/gpt-oss-20b", "http://localhost:1234/v1", 0.0),
        ("openai:gpt-4o", "http://127.0.0.1:4000/v1", None),
        ("openai:anthropic/claude-x", "http://127.0.0.1:4000/v1", None),
        ("openai:gpt-oss:120b-cloud", "http://127.0.0.1:11434/v1", None),
        ("openai:mistral", "http://192.168.1.7:8000/v1", None),
        ("local:qwen", None, 0.0),
        ("scripted:extractive", None, 0.0),
        ("mine:own", None, None),
    ],
)
def test_a_price_belongs_to_a_model_at_a_host(
    name: str, base_url: str | None, right: float | None
) -> None:
    found = price(name, base_url, {})
    assert (found.prompt if found else None) == right


@pytest.mark.parametrize("named", ["gpt-4o", "openai:gpt-4o"])
def test_the_users_price_wins(named: str) -> None:
    own = {named: {"prompt": 7.0, "completion": 9.0}}
    for base_url in (OPENAI, "http://127.0.0.1:4000/v1"):
        found = price("openai:gpt-4o", base_url, own)
        assert found == Price(prompt=7.0, completion=9.0, cached=7.0)


def test_the_cost_of_a_reply_is_exact() -> None:
    tariff = Price(prompt=2.0, completion=8.0, cached=0.5)
    done = Completion(text="", prompt_tokens=1_000, completion_tokens=100, reused_tokens=600)
    assert tariff.of(done) == pytest.approx((400 * 2.0 + 600 * 0.5 + 100 * 8.0) / 1e6)


def test_the_cost_of_what_was_not_counted_is_not_known_unless_it_is_free() -> None:
    assert Price(prompt=2.0, completion=8.0, cached=0.5).of(Completion(text="x")) is None
    assert FREE.of(Completion(text="x")) == 0.0


def config(home: Path, text: str) -> dict[str, dict[str, float]]:
    (home / "config.toml").write_text(text)
    return {k: dict(v) for k, v in load({"REREAD_HOME": str(home)}).prices.items()}


def test_prices_are_read_from_the_configuration(tmp_path: Path) -> None:
    found = config(tmp_path, '[prices]\n"m:1" = { prompt = 1, completion = 2.5, cached = 0 }\n')
    assert found == {"m:1": {"prompt": 1, "completion": 2.5, "cached": 0}}
    assert config(tmp_path, "") == {}


@pytest.mark.parametrize(
    "text",
    [
        "prices = 3",
        "[prices]\nm = 3",
        "[prices]\nm = { prompt = 1 }",
        "[prices]\nm = { prompt = 1, completion = -2 }",
        "[prices]\nm = { prompt = 1, completion = true }",
        "[prices]\nm = { prompt = '1', completion = 2 }",
        "[prices]\nm = { prompt = 1, completion = inf }",
        "[prices]\nm = { prompt = 1, completion = 2, output = 3 }",
    ],
)
def test_a_price_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        config(tmp_path, text)
    assert "config.toml" in caught.value.line
    assert "\n" not in caught.value.line
