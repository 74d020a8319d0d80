"""Which situation holds for a reaction on an agent's message."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tacit.attention import Roster, RosterAgent, RosterPerson, decide
from tacit.attention.decide.decision import content_shown
from tacit.attention.read.cues import SaidLine
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import SECOND, Moment
from tacit.c2a.signals import INBOUND
from tests.attention.world import START, Room, event, lead_gets, state


@pytest.mark.spec("C2A-137", "C2A-138", "C2A-109", "C2A-133")
def test_reactions_on_an_agents_message_come_back_as_signals_without_a_turn() -> None:
    room = Room()
    room.say("I would drop the index", by="lead")
    for emoji, mode in (
        ("👍", "notify"),
        ("🙅", "notify"),
        ("✅", "notify"),
        ("👀", "tool_mailbox"),
        ("🎉", "silent"),
    ):
        decisions = room.put(_reaction("m1", emoji))
        assert (decisions["lead"].mode, decisions["lead"].policy) == (mode, "must_not_respond")
        assert not any(content_shown(one.mode) or one.obliges for one in decisions.values())
    assert set(INBOUND) == {"agree", "declined", "done"}


@pytest.mark.spec("C2A-138")
def test_a_no_to_an_approval_that_an_agent_waits_for_is_shown_to_it() -> None:
    room = Room()
    room.say("ok to merge?", by="lead", to=["user"])
    decisions = room.put(_reaction("m1", "🙅"))
    assert (decisions["lead"].mode, decisions["lead"].reason) == ("buffered", "reaction")
    assert decisions["worker"].mode == "silent"


def _reaction(on: str, emoji: str) -> Any:
    made = event(kind="chat.reaction", actor_id="user", emoji=emoji)
    made.data["event_id"] = on
    return made


def test_a_reaction_on_an_unknown_message_is_kept_and_nothing_more() -> None:
    assert lead_gets(_reaction("gone", "👍"), state()).mode == "silent"
    assert Moment(START) == START


PAIR = Roster.of([RosterAgent("kit")])


def alone(text: str, roster: Roster = PAIR, settings: Settings = DEFAULTS, **more: Any) -> str:
    """The situation of kit towards what the room's owner says."""
    return decide(event(text), roster, state(at=START, **more), settings)["kit"].situation.value


@pytest.mark.spec("C2A-077")
@pytest.mark.parametrize(
    ("text", "situation"),
    [
        ("Write a Python function that sorts names", "alone"),
        ("I can't get docker to start", "alone"),
        ("does anyone know how to undo a rebase?", "alone"),
        ("please leave", "alone"),
        ("stop", "cancellation"),
        ("ok to merge the migration?", "approval"),
        ("@zoe can you check the build?", "alone"),
        ("@kit can you check the build?", "direct_mention"),
        ("thanks!", "ambient"),
        ("hello", "ambient"),
        ("ok", "ambient"),
    ],
)
def test_what_a_person_says_who_is_alone_with_an_agent_is_said_to_it(text: str, situation: str) -> None:
    assert alone(text) == situation


SAID = "the old branch fails on the runner"


@pytest.mark.spec("C2A-077")
def test_with_anybody_else_there_the_rules_of_a_room_hold() -> None:
    outside = SaidLine("x:eve", (), Moment(START - 60 * SECOND))
    assert alone(SAID) == "alone"
    assert alone(SAID, Roster.of([RosterAgent("kit"), RosterAgent("ada")])) == "ambient"
    assert alone(SAID, Roster.of([RosterAgent("kit")], [RosterPerson("usr:ann")])) == "ambient"
    assert alone(SAID, floor=(outside,)) == "ambient"
    assert (
        alone(SAID, floor=(msgspec.structs.replace(outside, at=Moment(START - 2 * 3_600 * SECOND)),))
        == "alone"
    )
    assert decide(event(SAID, by="svc:bridge"), PAIR)["kit"].situation == "ambient"
    assert decide(event(SAID, by="kit"), PAIR)["kit"].situation == "own"


def test_where_names_alone_count_nobody_is_meant_without_one() -> None:
    assert alone(SAID, settings=Settings(dialogue=False)) == "ambient"
