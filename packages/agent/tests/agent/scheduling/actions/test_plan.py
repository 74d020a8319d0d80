"""Actions computed from a proposal: whose they are, in which order, how a failure is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import bodies, schemas
from tacit.a2acp.packets.shapes import MalformedPacket
from tacit.agent.scheduling.actions import plan as plans
from tacit.agent.scheduling.actions.plan import Action, plan

ALICE, BOB, EVE = "agent:alice@a2acp.io", "agent:bob@a2acp.io", "agent:eve@a2acp.io"
BOOK = {
    "action": "book_table",
    "service": "restaurant_booking",
    "requires_user_approval": True,
    "reversible": True,
}
ENTER = {"action": "add_calendar_event", "requires_user_approval": True, "reversible": True}
PAY = {"action": "pay_deposit", "requires_user_approval": True, "reversible": False}
RESOLUTION = {
    "proposal": {"summary": "Dinner", "details": {}},
    "requires_confirmation_from": [ALICE, BOB],
    "confirmation_timeout": "PT24H",
    "on_timeout": "expire",
}
DETAILS = {
    "event_type": "dinner", "date": "2026-03-27", "time": "19:00+00:00/20:30+00:00", "venue": "Dopo",
    "estimated_cost": "GBP 30",
}  # fmt: skip


def of(*entries: dict[str, Any], proposer: str = BOB) -> tuple[Action, ...]:
    return plan(
        [msgspec.convert(entry, bodies.PacketAction) for entry in entries],
        thread_id="thr_x9y8z7",
        packet_id="pkt_a1b2c3d4",
        proposer=proposer,
        participants=(ALICE, BOB),
    )


def who(*entries: dict[str, Any]) -> list[tuple[str, str]]:
    return [(action.action, action.executor) for action in of(*entries)]


@pytest.mark.spec("A2ACP-166")
@pytest.mark.parametrize(
    ("entry", "executors"),
    [
        (BOOK, [BOB]), (ENTER, [ALICE, BOB]), ({**ENTER, "action": "reserve", "service": "calendar"}, [ALICE, BOB]),
        ({**BOOK, "executor": "each"}, [ALICE, BOB]), ({**ENTER, "executor": "proposer"}, [BOB]),
        ({**BOOK, "executor": ALICE}, [ALICE]), ({**BOOK, "executor": EVE}, []), ({**BOOK, "executor": "agent:x"}, []),
        ({**BOOK, "executor": "whoever"}, [BOB]), ({**ENTER, "executor": None}, [ALICE, BOB]),
        ({**BOOK, "action": "recalendarise"}, [BOB]),
    ],
)  # fmt: skip
def test_calendar_entries_are_everybodys_and_the_rest_is_the_proposers_unless_said(
    entry: dict[str, Any], executors: list[str]
) -> None:
    assert [action.executor for action in of(entry)] == executors


@pytest.mark.spec("A2ACP-166")
def test_each_side_computes_the_same_and_carries_out_its_own() -> None:
    actions = of(BOOK, ENTER)
    assert [action.action for action in plans.mine(actions, BOB)] == ["book_table", "add_calendar_event"]
    assert [action.action for action in plans.mine(actions, ALICE)] == ["add_calendar_event"]
    assert plans.mine(actions, EVE) == ()


@pytest.mark.spec("A2ACP-166")
def test_an_id_is_the_same_after_every_crash_and_another_for_everything_else() -> None:
    assert of(BOOK, ENTER) == of(BOOK, ENTER)
    ids = {action.action_id for action in of(BOOK, ENTER, ENTER)}
    assert len(ids) == 5
    assert all(action_id.startswith("act_") and len(action_id) == 30 for action_id in ids)
    other = plan(
        [msgspec.convert(BOOK, bodies.PacketAction)],
        thread_id="thr_x9y8z7",
        packet_id="pkt_other",
        proposer=BOB,
        participants=(),
    )
    assert other[0].action_id not in ids
    # Written down once: an entry of last week is found under it after an update.
    assert of(BOOK)[0].action_id == plans.action_id("thr_x9y8z7", "pkt_a1b2c3d4", 0, BOB)
    assert of(BOOK)[0].action_id == "act_oexpxpir5tdc3mlptuzroyu3no"


@settings(max_examples=80)
@given(
    st.tuples(st.text(), st.text(), st.integers(0, 9), st.text()),
    st.tuples(st.text(), st.text(), st.integers(0, 9), st.text()),
)
def test_different_actions_never_share_an_id(
    one: tuple[str, str, int, str], two: tuple[str, str, int, str]
) -> None:
    clean = [tuple(str(part).replace("\n", "") for part in each) for each in (one, two)]
    same = plans.action_id(clean[0][0], clean[0][1], one[2], clean[0][3]) == plans.action_id(
        clean[1][0], clean[1][1], two[2], clean[1][3]
    )
    assert same is (clean[0] == clean[1])


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"action": ""},
        {"action": 1, "reversible": True},
        {"action": "x"},
        {**BOOK, "reversible": "no"},
        {**BOOK, "executor": 7},
    ],
)
def test_an_entry_that_packets_do_not_let_in_is_refused(entry: dict[str, Any]) -> None:
    said = {**RESOLUTION, "actions_on_confirm": [BOOK]}
    schemas.check_in("resolution", said)
    with pytest.raises(MalformedPacket):
        schemas.check_in("resolution", {**said, "actions_on_confirm": [entry]})


@pytest.mark.spec("A2ACP-161")
def test_actions_run_in_their_order_with_irreversible_ones_last() -> None:
    actions = plans.mine(of(PAY, BOOK, ENTER), BOB)
    assert [action.action for action in actions] == ["book_table", "add_calendar_event", "pay_deposit"]


@pytest.mark.spec("A2ACP-169")
def test_a_failure_tells_what_failed_when_and_where_and_nothing_else() -> None:
    details = {**DETAILS, "summary": "Dinner", "dietary": ["vegan"], "note": "private"}
    told = plans.failure(of(BOOK)[0], details)
    assert told["failed_action"] == "book_table"
    assert told["field"] == "location_preference"
    assert told["agent_a_values"] == [
        {"date": "2026-03-27", "time": "19:00+00:00/20:30+00:00", "venue": "Dopo"}
    ]
    assert "vegan" not in str(told)
    assert "private" not in str(told)
    assert plans.failure(of(ENTER)[0], details)["field"] == "time_windows"
