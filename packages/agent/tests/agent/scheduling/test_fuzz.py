"""Whatever a counterpart sends, of every type and in every state: taken, or dropped by a documented error."""

from __future__ import annotations

import copy
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import packet
from tacit.a2acp.threads.states import TRANSITIONS, State
from tacit.base.errors import PeerFault, Refused
from tacit.base.strict_json import canonical
from tests.agent.scheduling.desk import Desk, Desks, begun, desks
from tests.conformance.write_packet_vectors import BODIES, HEADER

HINTS = [
    None, True, False, 0, 1, -1, 5, 1.5, 10**15, -(10**15), "", " ", "x", "\u202e", "2026-03-27", "2026-02-30",
    "18:00/21:00", "18:00+00:00/21:00+00:00", "25:99", "99999-01-01", "Europe/London", "Mars/Base", "PT1H", "PT99999H",
    "P1Y", "-PT1H", "confirmed", "counter", "declined", "surface_to_users", "required", "thr_dinner", "urgent",
    "time_windows", "specific_availability", "dietary", "health_info", "calendar", "each", "FAILED", "COMPLETED",
    "DECLINED", "done", "failed", "narrowed", "agent:anna@relay.example", "agent:ben@relay.example",
    "not_flexible", {}, [], [None], [[]], [{}], {"a": {"a": {}}}, {"field": "time_windows"}, {"date": "2026-03-27"},
    {"option": "x", "details": {"time": 1}}, {"action": "calendar"}, [{"date": "2026-03-27", "time": "18:00/19:00"}],
]  # fmt: skip
KEYS = [
    "intent", "context", "context_provided", "shared_context", "needs", "escalation", "conflict", "recommend",
    "proposed_alternatives", "alternatives", "flexibility", "time_windows", "timezone", "proposed_date", "status",
    "in_reply_to", "change_request", "selected_alternative", "action_results", "state", "closed_reason", "details",
    "requires_confirmation_from", "confirmation_timeout", "on_timeout", "actions_on_confirm", "field", "summary",
    "context_unavailable", "location_preference", "updated_intent", "new_threads", "urgency", "proposal", "duration",
]  # fmt: skip
values = st.one_of(
    st.sampled_from(HINTS),
    st.recursive(
        st.sampled_from(HINTS),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4),
        ),
        max_leaves=6,
    ),
)


def places(value, here=()):
    """Every place in a body."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*here, key)
        yield from places(inner, (*here, key))


@st.composite
def bodies(draw):
    """A body of some type, with some of it changed, taken away, doubled or added."""
    kind = draw(st.sampled_from([*BODIES, "hologram"]))
    body = copy.deepcopy(BODIES.get(kind, BODIES["context"]))
    for _ in range(draw(st.integers(0, 4))):
        found = list(places(body))
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        at = body
        for step in way:
            at = at[step]
        what = draw(st.sampled_from(["put", "put", "take", "add"]))
        if what == "put":
            at[last] = copy.deepcopy(draw(values))
        elif what == "take":
            del at[last]
        elif isinstance(at, list):
            at.extend(copy.deepcopy(at) * draw(st.integers(1, 8)))
        else:
            at[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(values))
    return kind, body


@cache
def prepared(stage: str) -> tuple[Desks, str]:
    """Two desks and their thread, as far as a stage."""
    both = desks()
    thread = begun(both, "dinner with ben on Friday evening")
    if stage == "opened":
        return both, thread
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    if stage == "proposed":
        return both, thread
    if stage == "stalled":
        both.ben.answer(both.ben.question("checkpoint"), counter=("time", "20:30"))
        both.ben.now += 49 * 3600 * 1_000_000
        both.ben.settle()
        return both, thread
    both.confirmed()
    return both, thread


def about(both: Desks, thread: str, body: dict) -> dict:
    """The body with the ids that matter here, where it names any."""
    standing = both.ben.thread(thread).proposal
    if "in_reply_to" in body and isinstance(body["in_reply_to"], str) and standing is not None:
        body["in_reply_to"] = standing.packet_id
    results = body.get("action_results")
    if standing is not None and isinstance(results, list):
        for one, planned in zip(results, standing.actions, strict=False):
            if isinstance(one, dict) and "action_id" in one:
                one["action_id"] = planned.action_id
    return body


def taken(ben: Desk, peer: str, thread: str, number: int, kind: str, body: dict) -> bool:
    """Hand a packet over as the post and the agent do; whether it got as far as the engine."""
    header = {
        **HEADER, "type": kind, "from": peer, "to": ben.me, "thread_id": thread, "packet_id": f"pkt_fuzzed{number:04}",
    }  # fmt: skip
    try:
        read = packet.read(canonical({**body, **header}))
    except (PeerFault, Refused, ValueError):
        return False
    ben.receive(peer, thread, read.packet_id, kind, read.fields)
    ben.settle()
    return True


def lawful(ben: Desk) -> None:
    """States moved by the table alone, and nothing that was not released is in any body that left."""
    from tacit.agent.kernel import records

    for one in ben.log:
        if isinstance(one, records.Moved) and one.reason != "user_declined":
            assert TRANSITIONS[State(one.before), one.cause] == one.after
    assert "RIVER" not in str([one.fields for one in ben.sent])


STAGES = ["opened", "proposed", "stalled", "completed"]
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
packets = st.lists(bodies(), min_size=1, max_size=4)


@pytest.mark.spec("A2ACP-025", "A2ACP-036", "A2ACP-156")
@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=40, **SLOW)
@given(said=packets, fresh=st.booleans())
def test_a_packet_of_any_content_is_taken_or_dropped_and_leads_to_no_untold_error(stage, said, fresh):
    check(stage, said, fresh=fresh)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=3000, **SLOW)
@given(said=packets, fresh=st.booleans())
def test_very_many_packets_of_any_content_lead_to_no_untold_error(stage, said, fresh):
    check(stage, said, fresh=fresh)


def check(stage: str, said: list, *, fresh: bool) -> None:
    both, thread = copy.deepcopy(prepared(stage))
    ben, peer = both.ben, both.anna.me
    ben.own["home_address"] = "RIVERSIDE 17"
    where = "thr_of_a_stranger" if fresh else thread
    for number, (kind, body) in enumerate(said):
        taken(ben, peer, where, number, kind, about(both, thread, body))
    for question in ben.questions():
        assert ben.content(question) is not None
    # And it still works for others: what comes next is taken.
    ben.receive(peer, "thr_the_next_one", "pkt_next", "context", copy.deepcopy(BODIES["context"]))
    ben.settle()
    assert "thr_the_next_one" in ben.book.threads
    ben.restarted()
    lawful(ben)
