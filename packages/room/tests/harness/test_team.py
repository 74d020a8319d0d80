"""A team's file: read into agents, or refused with everything that is wrong."""

from __future__ import annotations

import tomllib

import pytest

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.harness.budget import DailyBudget, Spending, day_of, next_day
from tacit.harness.drivers.port import TokenUsage
from tacit.harness.team import document_of, member_of, team_of

GOOD = """
group = "Lobby"

[[agent]]
name = "ada"
driver = "codex"
options = ["--access", "write"]
roles = ["reviewer"]
budget = { cost_usd = 5, turns = 10 }

[[agent]]
name = "bob"
driver = "command"
group = "Other"
options = ["--", "./answer.sh"]
claims = false
"""


def test_a_team_is_read():
    ada, bob = team_of(tomllib.loads(GOOD)).members
    assert (ada.name, ada.group, ada.options, ada.roles) == (
        "ada",
        "Lobby",
        ("--access", "write"),
        ("reviewer",),
    )
    assert ada.budget == DailyBudget(turns=10, cost_usd=5)
    assert (bob.group, bob.claims, bob.budget) == ("Other", False, DailyBudget())


def test_every_fault_is_told():
    bad = {
        "agent": [{"name": "ada", "roles": "x", "colour": 1}, {"driver": "codex", "group": "g"}],
        "extra": 1,
    }
    with pytest.raises(Refused) as refused:
        team_of(bad)
    faults = refused.value.details["faults"]
    assert faults == [
        "unknown key `extra`",
        "agent 1: `driver` is missing",
        "agent 1: `group` is missing, here and at the top",
        "agent 1: `roles` has the wrong type",
        "agent 1: unknown key `colour`",
        "agent 2: `name` is missing",
    ]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"agent": []},
        {"group": "g", "extra": 1, "agent": [{"name": "a", "driver": "d"}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "budget": {"euros": 1}}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "budget": {"turns": -1}}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "budget": {"cost_usd": float("nan")}}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "time_limit": 0}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "options": [1]}]},
        {"group": "g", "agent": [{"name": "a", "driver": "d", "time_limit": True}]},
    ],
)
def test_a_bad_team_is_refused(document):
    with pytest.raises(Refused):
        team_of(document)


def test_one_wrong_entry_fails_alone():
    right = {"name": "ada", "driver": "d", "worktree": True}
    team = team_of({"group": "g", "agent": [{"name": "bob"}, right, right, {"name": 1, "driver": "d"}]})
    assert [one.name for one in team.members] == ["ada"]
    assert team.members[0].worktree
    assert team.faults == (
        "agent 1: `driver` is missing",
        "agent 3: ada is named twice in g",
        "agent 4: `name` has the wrong type",
    )


def test_a_member_is_the_same_when_it_was_written_down_and_read_again():
    for member in team_of(tomllib.loads(GOOD)).members:
        assert member_of(document_of(member)) == member
    with pytest.raises(Refused, match="`group` is missing"):
        member_of({"name": "ada", "driver": "codex"})


def test_a_budget_says_which_limit_is_used_up():
    spent = Spending().and_turn(TokenUsage(100, 20, 50), 0.5).and_turn(TokenUsage(100, 20, 50), None)
    assert (spent.turns, spent.tokens, spent.tokens_cached, spent.cost_usd) == (2, 240, 100, 0.5)
    assert DailyBudget().used_up(spent) == ""
    assert DailyBudget(cost_usd=0.5).used_up(spent) == "the day's budget of $0.50 is used up"
    assert DailyBudget(tokens=240).used_up(spent) == "the day's budget of 240 tokens is used up"
    assert DailyBudget(turns=2).used_up(spent) == "the day's budget of 2 turns is used up"
    assert DailyBudget(turns=3, tokens=241, cost_usd=0.51).used_up(spent) == ""


def test_a_day_is_a_day_in_utc():
    late = Moment(1_768_348_799 * SECOND)
    assert day_of(late) == "2026-01-13"
    assert day_of(next_day(late)) == "2026-01-14"


def test_sessions_are_a_whole_number_within_bounds():
    ada = team_of(tomllib.loads(GOOD.replace("roles", "sessions = 3\nroles"))).members[0]
    assert ada.sessions == 3
    assert document_of(ada)["sessions"] == 3
    assert member_of(document_of(ada)) == ada
    for wrong in ("0", "9", "true", '"two"', "1.5"):
        with_one_wrong = team_of(tomllib.loads(GOOD.replace("roles", f"sessions = {wrong}\nroles")))
        assert [one.name for one in with_one_wrong.members] == ["bob"]
        assert "`sessions`" in with_one_wrong.faults[0]
