"""The choice of a brain: what is taken, what is refused, and which model a tier has."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tacit.agent.brain.configured import LARGE, MEDIUM, SMALL, Configured, Definition, configured, plain
from tacit.base.errors import Refused

ONE = {"driver": "openai", "model": "m", "options": {"base_url": "http://127.0.0.1:1/v1"}}
TWO = {"driver": "codex", "model": "big", "options": {}}


def test_without_a_choice_every_tier_is_the_rules() -> None:
    found = configured(None)
    assert not found.has_models
    assert [found.tier(name) for name in (SMALL, MEDIUM, LARGE)] == [None, None, None]


@pytest.mark.spec("A2ACP-081")
def test_a_tier_that_is_not_named_is_the_one_below_it() -> None:
    found = configured({"tiers": {"small": "rules", "medium": ONE}})
    assert found.tier(SMALL) is None
    assert found.tier(MEDIUM) == found.tier(LARGE) == Definition("openai", "m", ONE["options"])


def test_the_setting_comes_back_as_it_was_kept() -> None:
    found = configured({"tiers": {"large": TWO}, "secondary": ONE, "budget": {"usd_per_day": 0.5}})
    assert configured(plain(found)) == found
    assert plain(Definition("codex", "big")) == TWO


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "codex",
        {"tiers": {"huge": ONE}},
        {"tiers": {"small": "model"}},
        {"tiers": {"small": {"driver": "telepathy", "model": "m"}}},
        {"tiers": {"small": {"model": "m"}}},
        {"tiers": {"small": {**ONE, "key": "sk-1"}}},
        {"tiers": {"small": {**ONE, "model": 4}}},
        {"tiers": {}, "secondary": ONE},
        {"tiers": {"small": ONE}, "budget": {"usd_per_day": -1}},
        {"tiers": {"small": ONE}, "budget": {"tokens_per_day": 1.5}},
        {"tiers": {"small": ONE}, "budget": {"usd_per_day": math.inf}},
        {"tiers": {"small": ONE}, "budget": {"usd_per_day": math.nan}},
        {"tiers": {"small": {**ONE, "options": {"words": "x" * 20_000}}}},
        {"tiers": {"small": {**ONE, "options": {"a": object()}}}},
        {"unknown": 1},
    ],
)
def test_a_choice_that_is_none_is_refused_and_nothing_of_it_is_quoted(wrong: Any) -> None:
    with pytest.raises(Refused) as refused:
        configured(wrong)
    assert refused.value.code == "bad_brain"
    assert "sk-1" not in str(refused.value)


def test_the_rules_are_a_brain_too() -> None:
    assert configured({"tiers": {"small": "rules"}}) == Configured({"small": "rules"})
