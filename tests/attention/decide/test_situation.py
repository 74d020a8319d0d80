"""Which situation holds for a reaction on an agent's message."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention.decide.modes import content_shown
from tacit.base.moment import Moment
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
