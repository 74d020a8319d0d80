"""Prices by model, the cost of a turn by them, and a budget that binds in the middle of a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.base.errors import Refused
from tacit.harness.budget import DailyBudget, Spending
from tacit.harness.drivers.port import Price, TokenUsage, TurnOutcome
from tacit.harness.io.pricing import known_prices, price_for
from tacit.harness.prices import price_list, priced
from tacit.harness.team import TeamMember

HERE = Path.cwd()


def test_the_list_that_comes_with_tacit_has_a_day_and_a_source():
    known = known_prices("", HERE)
    assert known.as_of[:2] == "20"
    assert "compare" in known.source, "it says how far it can be trusted"
    assert all(0 < one.cached <= one.input < one.output for one in known.models.values())
    assert len(known.models) > 10


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "anthropic/Claude-Sonnet-4-5",
        "claude-sonnet-4-5-latest",
    ],
)
def test_a_model_is_known_with_and_without_its_maker_and_date(name):
    assert known_prices("", HERE).of(name) == Price(3.0, 15.0, 0.3)


def test_a_model_that_is_not_in_the_list_has_no_price():
    assert known_prices("", HERE).of("gpt-5-secret") is None


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"as_of": "2026-01-01"},
        {"models": {"m": [1, 2]}},
        {"as_of": "2026-01-01", "models": {"m": 3}},
        {"as_of": "2026-01-01", "models": {"m": [1]}},
        {"as_of": "2026-01-01", "models": {"m": [1, -2]}},
        {"as_of": "2026-01-01", "models": {"m": [1, "2"]}},
        {"as_of": "2026-01-01", "models": {"m": [True, 2]}},
    ],
)
def test_a_list_that_makes_no_sense_is_refused(document):
    with pytest.raises(Refused):
        price_list(document)


def test_what_the_agent_says_goes_before_the_price_and_that_before_an_estimate():
    price = Price(2.0, 10.0, 0.5)
    used = TokenUsage(1_000_000, 100_000, 400_000)
    assert priced(TurnOutcome("t", "x", used, cost_usd=0.7), price, 0).cost_usd == 0.7
    assert priced(TurnOutcome("t", "x", used), price, 0).cost_usd == pytest.approx(1.2 + 0.2 + 1.0)
    guess = priced(TurnOutcome("t", "y" * 400), price, 4_000)
    assert (guess.usage, guess.estimated) == (TokenUsage(1000, 100), True)
    assert guess.cost_usd == pytest.approx(0.003)
    assert priced(TurnOutcome("t", "x", used), None, 0).cost_usd is None


@pytest.mark.parametrize(
    ("driver", "model", "more", "fits"),
    [
        ("codex", "gpt-5", {}, True),
        ("codex", "", {}, False),
        ("openai", "qwen3", {}, False),
        ("openai", "qwen3", {"price_in": 0, "price_out": 0}, True),
        ("claude", "", {}, True),
        ("acp", "", {}, False),
        ("acp", "", {"price_in": 1.0, "price_out": 2.0}, True),
        ("command", "", {}, False),
        ("command", "", {"price_in": 1.0}, False),
    ],
)
def test_a_budget_in_dollars_is_refused_where_dollars_cannot_be_counted(driver, model, more, fits):
    member = TeamMember("ada", driver, "Lobby", budget=DailyBudget(cost_usd=1.0), **more)
    if fits:
        price_for(member, model, HERE)
    else:
        with pytest.raises(Refused, match="price"):
            price_for(member, model, HERE)
    if not more:
        price_for(TeamMember("ada", driver, "Lobby", budget=DailyBudget(tokens=5)), model, HERE)


def test_an_own_list_is_taken_from_where_it_was_meant(tmp_path):
    (tmp_path / "mine.toml").write_text('as_of = "2026-01-01"\n[models]\nqwen3 = [0.1, 0.2]\n')
    member = TeamMember("ada", "openai", "Lobby", budget=DailyBudget(cost_usd=1.0), prices="mine.toml")
    assert price_for(member, "qwen3", tmp_path) == Price(0.1, 0.2, 0.1)
    with pytest.raises(Refused, match="cannot be read"):
        price_for(member, "qwen3", tmp_path / "elsewhere")


def test_a_turn_may_use_what_is_left_of_the_day():
    left = DailyBudget(tokens=1000, cost_usd=1.0).left(Spending(1, 300, 100, 0, 0.4), Price(1.0, 10.0, 0.1))
    assert (left.tokens, left.cost_usd) == (600, pytest.approx(0.6))
    assert not left.is_used_up(TokenUsage(500, 50), None)
    assert left.is_used_up(TokenUsage(500, 100), None)
    assert left.is_used_up(TokenUsage(0, 10), 0.7)
