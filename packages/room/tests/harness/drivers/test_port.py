"""The values between a harness and its driver: what a turn may use, and what is shown of it."""

from __future__ import annotations

import pytest

from tacit.harness.drivers.port import Price, TokenUsage, TurnAllowance, cut, permission

PRICE = Price(input=2.0, output=10.0, cached=0.5)
TURN = TokenUsage(input=600_000, output=100_000, cached=200_000)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (TokenUsage(), 0.0),
        (TokenUsage(input=1_000_000), 2.0),
        (TokenUsage(output=1_000_000), 10.0),
        (TokenUsage(input=1_000_000, cached=1_000_000), 0.5),
        (TURN, 0.8 + 0.1 + 1.0),
        # More was read again than came in: a count that is wrong earns nothing back.
        (TokenUsage(input=0, cached=1_000_000), 0.5),
    ],
)
def test_what_was_read_again_has_a_price_of_its_own(usage, cost):
    assert PRICE.cost(usage) == pytest.approx(cost)


@pytest.mark.spec("C2A-163")
@pytest.mark.parametrize(
    ("allowance", "said", "used_up"),
    [
        (TurnAllowance(), None, False),
        (TurnAllowance(), 99.0, False),
        (TurnAllowance(tokens=700_001), None, False),
        (TurnAllowance(tokens=700_000), None, True),
        (TurnAllowance(tokens=700_001, cost_usd=1.0), 0.9, False),
        (TurnAllowance(cost_usd=1.0), 1.0, True),
        (TurnAllowance(cost_usd=1.0), 0.9, False),
        # What nobody says is reckoned, where there is a price; what cannot be reckoned reaches nothing.
        (TurnAllowance(cost_usd=1.8, price=PRICE), None, True),
        (TurnAllowance(cost_usd=2.0, price=PRICE), None, False),
        (TurnAllowance(cost_usd=1.0), None, False),
        (TurnAllowance(price=PRICE), None, False),
        # What the agent says goes before what is reckoned.
        (TurnAllowance(cost_usd=1.8, price=PRICE), 0.1, False),
        (TurnAllowance(cost_usd=1.8, price=PRICE), 0.0, False),
    ],
)
def test_a_turn_has_used_up_what_it_may_at_the_very_bound(allowance, said, used_up):
    assert allowance.is_used_up(TURN, said) is used_up


@pytest.mark.parametrize(
    ("count", "tokens", "cost"), [(0, 900, 3.0), (1, 900, 3.0), (2, 450, 1.5), (7, 128, 3.0 / 7)]
)
def test_slots_share_what_there_is(count, tokens, cost):
    found = TurnAllowance(900, 3.0, PRICE).shared_by(count)
    assert (found.tokens, found.cost_usd, found.price) == (tokens, pytest.approx(cost), PRICE)
    assert TurnAllowance().shared_by(count) == TurnAllowance()


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "abc"), ("aé", 3, "aé"), ("aéb", 2, "a"), ("a\ud800", 2, "a\ud800")],
)
def test_half_a_letter_is_left_out(text, limit, shown):
    assert cut(text, limit) == shown


@pytest.mark.parametrize(
    ("title", "details", "files", "whole"),
    [
        (1, 1, 50, True),
        (1, 1, 51, False),
        (10**6, 1, 1, False),
        (1, 10**6, 1, False),
    ],
)
def test_what_is_not_shown_whole_says_so(title, details, files, whole):
    paths = tuple(f"{number}.py" for number in range(files))
    found = permission("edit", "t" * title, "d" * details, paths=paths, call_id="c1", directory="/d")
    assert found.whole is whole
    assert found.paths == paths[:50]
    assert (found.call_id, found.directory) == ("c1", "/d")


def test_tokens_of_two_calls_are_added_each_to_its_kind():
    assert TokenUsage(1, 2, 3) + TokenUsage(10, 20, 30) == TokenUsage(11, 22, 33)
