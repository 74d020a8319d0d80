"""Acts of a session: reactions, deferrals, resolving, progress, asking a person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.attention.send.rules import Permit, may_send
from tacit.attention.send.surroundings import Surroundings
from tacit.attention.state import records
from tacit.attention.state.acts import Act, defer, react, resolve
from tacit.attention.state.claims import Claims, event_target, take, thread_target
from tacit.attention.state.obligations import Obligation
from tacit.c2a.errors import Refusal
from tacit.c2a.tools import Send
from tacit.c2a.vocabulary import ConversationKind, Disposition, Mode, Policy, Priority, Reason
from tests.attention.world import START, event, lead_gets

DUTY = Obligation("e1", "lead", Policy.MUST_RESPOND, Mode.BUFFERED, START, deadline_ms=300_000)


def held_by(session: str, target: str = event_target("e1")) -> Claims:
    claims = Claims()
    record = take(claims, target, session, START)
    assert isinstance(record, records.Claim)
    claims.apply(record, START)
    return claims


@pytest.mark.spec("C2A-136", "C2A-126", "C2A-128")
@pytest.mark.parametrize("signal", ["claimed", "working"])
def test_a_signal_that_claims_goes_through_the_claims(signal: str) -> None:
    free = react(DUTY, signal, Claims(), START)
    assert isinstance(free, Act)
    assert [records.kind_of(one) for one in free.records] == ["x.c2a.claim", "x.c2a.disposition"]
    taken = react(DUTY, signal, held_by("worker"), START)
    assert isinstance(taken, Refusal)
    assert taken.number == -32011


@pytest.mark.spec("C2A-143", "C2A-123")
def test_a_reaction_records_its_disposition_or_says_what_is_wrong() -> None:
    done = react(DUTY, "done", Claims(), START)
    assert isinstance(done, Act)
    assert done.reaction == {"event_id": "e1", "actor_id": "lead", "emoji": "✅", "signal": "done"}
    assert not done.reroute
    no = react(DUTY, "declined", Claims(), START)
    assert isinstance(no, Act)
    assert no.reroute
    unknown, nowhere = react(DUTY, "shrug", Claims(), START), react(None, "seen", Claims(), START)
    assert isinstance(unknown, Refusal)
    assert isinstance(nowhere, Refusal)
    assert (unknown.number, nowhere.number) == (-32602, -32005)
    own = react(DUTY, "x.party", Claims(), START, own={"x.party": None})
    assert own == Act((), {"event_id": "e1", "actor_id": "lead", "emoji": "[x.party]", "signal": "x.party"})
    again = replace(DUTY, disposition=Disposition.RESPONDED, closed=True)
    repeated = react(again, "done", Claims(), START)
    assert isinstance(repeated, Act)
    forbidden = react(replace(DUTY, policy=Policy.MUST_NOT_RESPOND), "claimed", Claims(), START)
    assert isinstance(forbidden, Refusal)
    assert forbidden.number == -32010


@pytest.mark.spec("C2A-145")
def test_deferring_needs_an_obligation_and_a_reason() -> None:
    assert isinstance(defer(DUTY, "busy until noon", "2h", START), Act)
    for obligation, reason in (
        (DUTY, ""),
        (replace(DUTY, policy=Policy.MAY_RESPOND), "busy"),
        (None, "busy"),
    ):
        assert isinstance(defer(obligation, reason, None, START), Refusal)


@pytest.mark.spec("C2A-146")
def test_resolving_ends_what_is_open_and_gives_claims_back() -> None:
    targets = [event_target("e1"), thread_target("r")]
    obligations = [DUTY, replace(DUTY, event_id="e2", closed=True), replace(DUTY, session="worker")]
    found = resolve(obligations, held_by("lead"), "lead", targets, START)
    assert isinstance(found, Act)
    assert [records.kind_of(one) for one in found.records] == ["x.c2a.disposition", "x.c2a.claim"]
    stranger = resolve(obligations, held_by("lead"), "tester", targets, START)
    assert isinstance(stranger, Refusal)
    assert stranger.number == -32004


@pytest.mark.spec("C2A-102")
def test_a_session_that_needs_a_persons_word_may_ask_for_it() -> None:
    asks = Send(
        "lead",
        "main",
        "Which of the two regions shall I start with?",
        "k",
        "channel",
        "to_me",
        mentions=("user",),
    )
    assert may_send(asks, Surroundings(ConversationKind.CHANNEL), START) == Permit()


@pytest.mark.spec("C2A-039")
def test_priorities_and_reasons_are_closed_sets_and_unknown_priorities_are_normal() -> None:
    assert [one.value for one in Priority] == ["low", "normal", "high", "urgent"]
    assert {one.value for one in Reason} == {
        "direct_message", "direct_mention", "role_mention", "assignment", "approval", "blocker", "thread_question",
        "thread_participation", "to_other", "no_task", "ambient", "status", "gratitude", "reaction", "cancellation",
        "safety", "leave_request", "edited_after_response", "escalation", "digest", "loop_stopped",
    }  # fmt: skip
    assert lead_gets(event("@lead look", urgency="whenever")).priority == "normal"
