"""What an agent may send: each refusal with its code, and a send that passes them all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.send.rules import REACTIONS, SURFACES, Permit, may_send
from tacit.attention.send.surroundings import AnsweredEvent, EarlierSend, Surroundings
from tacit.attention.settings import LIMITS, Settings
from tacit.attention.state.claims import HeldClaim
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal, number_of, refusal
from tacit.c2a.tools import Send
from tacit.c2a.vocabulary import ConversationKind, Disposition
from tests.attention.world import START, event, lead_gets, state, thread

if TYPE_CHECKING:
    from tacit.attention import Decision


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


SEND = Send(
    "lead", "main", "The migration locks the table for a minute.", "k1", "channel", "to_me", in_reply_to="e1"
)


NAMED = lead_gets(event("@lead how long does it lock"))


def answered(decision: Decision = NAMED, **more: Any) -> AnsweredEvent:
    return AnsweredEvent(
        **{
            "event_id": "e1",
            "author": "user",
            "by_agent": False,
            "text": "how long does it lock",
            "decision": decision,
            **more,
        }
    )


def around(**more: Any) -> Surroundings:
    return Surroundings(**{"kind": ConversationKind.CHANNEL, "answered": answered(), **more})


def code(
    send: Send = SEND,
    where: Surroundings | None = None,
    settings: Settings | None = None,
    now: Moment = START,
) -> str:
    found = may_send(send, where or around(), now, settings or Settings())
    if isinstance(found, Permit):
        return "ok"
    assert found.row.startswith("C2A-")
    assert found.number == number_of(found.code)
    error = found.error()
    assert isinstance(error["data"], dict)
    return found.code


def test_an_answer_to_an_obligation_passes() -> None:
    assert may_send(SEND, around(), START) == Permit()


@pytest.mark.spec("C2A-147", "C2A-148", "C2A-149", "C2A-150", "C2A-151")
@pytest.mark.parametrize(
    ("change", "missing", "row"),
    [
        ({"target": ""}, ["target"], "C2A-147"),
        ({"in_reply_to": None, "started_by": "e1"}, ["inReplyTo"], "C2A-148"),
        ({"idempotency_key": ""}, ["idempotencyKey"], "C2A-149"),
        ({"visibility": ""}, ["visibility"], "C2A-150"),
        ({"directedness": ""}, ["directedness"], "C2A-151"),
        (
            {"target": "", "idempotency_key": "", "visibility": "", "directedness": ""},
            ["target", "idempotencyKey", "visibility", "directedness"],
            "C2A-147",
        ),
    ],
)
def test_a_send_that_lacks_members_is_told_which(
    change: dict[str, Any], missing: list[str], row: str
) -> None:
    found = may_send(replace(SEND, **change), around(), START)
    assert isinstance(found, Refusal)
    assert (found.number, found.row, found.details["missing"]) == (-32602, row, missing)


@pytest.mark.spec("C2A-148")
def test_only_a_turn_that_an_event_started_has_to_say_what_it_answers() -> None:
    assert code(replace(SEND, started_by="e1")) == "ok"
    fresh = replace(SEND, in_reply_to=None)
    assert code(fresh, around(answered=None)) == "ok"
    assert code(replace(fresh, started_by="e1"), around(answered=None)) == "invalid_request"
    lost = may_send(SEND, around(found=False, answered=None), START)
    assert isinstance(lost, Refusal)
    assert (lost.number, lost.row) == (-32005, "C2A-148")


@pytest.mark.spec("C2A-147", "C2A-150", "C2A-151", "C2A-058")
@pytest.mark.parametrize(
    ("change", "where", "number", "row"),
    [
        ({"visibility": "whisper"}, {}, -32602, "C2A-150"),
        ({"directedness": "to_you"}, {}, -32602, "C2A-151"),
        ({"visibility": "ephemeral"}, {"ephemeral": False}, -32003, "C2A-150"),
        ({"justification": "bored"}, {}, -32602, "C2A-058"),
        ({}, {"known_target": False}, -32005, "C2A-147"),
    ],
)
def test_a_send_says_only_what_is_possible(
    change: dict[str, Any], where: dict[str, Any], number: int, row: str
) -> None:
    found = may_send(replace(SEND, **change), around(**where), START)
    assert isinstance(found, Refusal)
    assert (found.number, found.row) == (number, row)


@pytest.mark.spec("C2A-058")
@pytest.mark.parametrize("word", ["owner", "claimed", "helps", "unblocks"])
def test_each_justification_is_taken(word: str) -> None:
    assert code(replace(SEND, justification=word)) == "ok"


FITTING = {
    "dm": {"dm"},
    "thread": {"thread", "dm"},
    "channel": {"channel"},
    "ephemeral": {"dm", "thread", "channel", "system", "tool"},
}


@pytest.mark.spec("C2A-150")
@pytest.mark.parametrize("kind", list(ConversationKind))
@pytest.mark.parametrize("visibility", FITTING)
def test_a_visibility_fits_its_target_or_the_send_is_refused(visibility: str, kind: ConversationKind) -> None:
    found = may_send(replace(SEND, visibility=visibility), around(kind=kind, ephemeral=True), START)
    if kind.value in FITTING[visibility]:
        assert found == Permit()
    else:
        assert isinstance(found, Refusal)
        assert (found.number, found.row) == (-32602, "C2A-150")


@pytest.mark.spec("C2A-149")
def test_a_repeated_key_is_the_same_message_or_a_conflict() -> None:
    same = may_send(SEND, around(sent_with_key=EarlierSend("m9", SEND.body, "main")), START)
    assert same == Permit(duplicate_of="m9")
    assert code(where=around(sent_with_key=EarlierSend("m9", "other", "main"))) == "idempotency_conflict"
    assert (
        code(where=around(sent_with_key=EarlierSend("m9", SEND.body, "elsewhere"))) == "idempotency_conflict"
    )


@pytest.mark.spec("C2A-002", "C2A-004", "C2A-061")
def test_what_is_not_for_the_agent_cannot_be_answered_however_it_was_found() -> None:
    for what in (event("lunch was good"), event("@worker please look"), event("build 5 passed")):
        assert code(where=around(answered=answered(lead_gets(what)))) == "policy_forbids"


@pytest.mark.spec("C2A-196")
def test_thanks_cannot_be_answered() -> None:
    found = may_send(SEND, around(answered=answered(lead_gets(event("@lead thanks")))), START)
    assert isinstance(found, Refusal)
    assert (found.code, found.row) == ("policy_forbids", "C2A-196")


@pytest.mark.spec("C2A-060")
def test_a_receipt_is_one_short_message_that_asks_nothing() -> None:
    notice = answered(lead_gets(event("the freeze starts at noon", priority="attention")))
    receipt = replace(SEND, body="Received, the board is frozen on our side as well.")
    assert code(receipt, around(answered=notice)) == "ok"
    assert code(replace(SEND, body="x" * 141), around(answered=notice)) == "policy_forbids"
    assert code(replace(receipt, body="Received, but why?"), around(answered=notice)) == "policy_forbids"
    assert code(replace(receipt, mentions=("worker",)), around(answered=notice)) == "policy_forbids"
    assert code(receipt, around(answered=replace(notice, receipts=1))) == "policy_forbids"


@pytest.mark.spec("C2A-153", "C2A-071", "C2A-103")
def test_a_role_mention_is_answered_by_whoever_claimed_it() -> None:
    role = answered(lead_gets(event("please look", to=["@all"])))
    mine, theirs = (
        HeldClaim("event:e1", "lead", Moment(START + 1)),
        HeldClaim("event:e1", "worker", Moment(START + 1)),
    )
    assert code(where=around(answered=role)) == "claim_required"
    assert code(where=around(answered=role, holder=mine)) == "ok"
    assert code(where=around(answered=role, holder=theirs)) == "claim_conflict"
    assert code(where=around(holder=theirs)) == "ok"


@pytest.mark.spec("C2A-153", "C2A-101")
def test_in_a_thread_a_claim_is_needed_only_among_several_without_an_owner() -> None:
    reply = answered(
        lead_gets(event("the index is slow", reply_to="x"), thread(participants={"lead", "worker"}))
    )
    assert code(where=around(answered=reply, agents_in_thread=1)) == "ok"
    assert code(where=around(answered=reply, agents_in_thread=2)) == "claim_required"
    assert code(where=around(answered=reply, agents_in_thread=2, thread_owned=True)) == "ok"
    assert code(where=around(answered=reply, agents_in_thread=2, owns=True)) == "ok"


@pytest.mark.spec("C2A-104", "C2A-185")
def test_an_edited_or_deleted_message_is_answered_in_its_newest_form() -> None:
    found = may_send(SEND, around(answered=answered(superseded=True, replaced_by="e2")), START)
    assert isinstance(found, Refusal)
    assert (found.number, found.details["replacedBy"]) == (-32014, "e2")
    assert code(where=around(answered=answered(disposition=Disposition.SUPERSEDED))) == "event_superseded"


@pytest.mark.spec("C2A-174")
def test_an_expired_event_needs_a_look_at_the_thread_first() -> None:
    late = answered(expired_at=START)
    assert code(where=around(answered=late)) == "stale_event"
    assert code(where=around(answered=replace(late, read_at=Moment(START - 1)))) == "stale_event"
    assert code(where=around(answered=replace(late, read_at=Moment(START + 1)))) == "ok"


@pytest.mark.spec("C2A-195")
def test_an_agent_does_not_answer_itself() -> None:
    assert code(where=around(answered=answered(author="lead", by_agent=True))) == "policy_forbids"


@pytest.mark.spec("C2A-191")
def test_after_leaving_one_brief_goodbye_passes_and_nothing_else() -> None:
    bye = replace(SEND, body="Goodbye, and good luck.")
    gone = around(left=True, goodbye_for="e1")
    assert code(bye, gone) == "ok"
    assert code(replace(bye, body="ok"), gone) == "ok"
    assert code(replace(bye, body="But why?"), gone) == "left_conversation"
    assert code(replace(bye, body="x" * 201), gone) == "left_conversation"
    assert code(replace(bye, mentions=("worker",)), gone) == "left_conversation"
    assert code(bye, around(left=True)) == "left_conversation"
    assert code(replace(bye, in_reply_to=None), around(left=True, answered=None)) == "left_conversation"


@pytest.mark.spec("C2A-198")
def test_an_ended_exchange_takes_no_more_messages_but_a_person_can_still_be_answered() -> None:
    stopped = frozenset({"lead", "worker"})
    assert (
        code(where=around(answered=answered(by_agent=True, author="worker"), stopped=stopped))
        == "loop_stopped"
    )
    assert code(replace(SEND, in_reply_to=None), around(answered=None, stopped=stopped)) == "loop_stopped"
    assert code(where=around(stopped=stopped)) == "ok"


@pytest.mark.spec("C2A-164", "C2A-166", "C2A-168")
def test_one_meaning_gives_one_message() -> None:
    before = (EarlierSend("m5", "It locks for a minute.", "main", turn="t1", attempt=1),)
    assert (
        code(replace(SEND, body="it locks, for a MINUTE"), around(answered=answered(answers=before)))
        == "already_responded"
    )
    assert (
        code(replace(SEND, turn="t1", attempt=2), around(answered=answered(answers=before)))
        == "already_responded"
    )
    assert code(replace(SEND, turn="t1", attempt=1), around(answered=answered(answers=before))) == "ok"
    assert code(replace(SEND, turn="t2"), around(answered=answered(answers=before))) == "ok"


@pytest.mark.spec("C2A-112")
def test_a_mention_that_obliges_nobody_contradicts_itself() -> None:
    found = may_send(replace(SEND, mentions=("worker",), directedness="ambient"), around(), START)
    assert isinstance(found, Refusal)
    assert (found.number, found.details["reason"]) == (-32602, "directedness_mismatch")


@pytest.mark.spec("C2A-114")
def test_one_responder_is_addressed_rather_than_a_room() -> None:
    several = may_send(replace(SEND, mentions=("worker", "tester")), around(), START)
    assert several == Permit(("multiple_responders",))
    assert code(replace(SEND, channel_wide=True)) == "policy_forbids"
    assert code(replace(SEND, channel_wide=True), settings=Settings(channel_mentions_by_agents=True)) == "ok"


@pytest.mark.spec("C2A-113")
@pytest.mark.parametrize(
    ("body", "signal"),
    [("Got it!", "agree"), ("on it", "working"), ("Approved.", "agree"), ("not me", "declined")],
)
def test_a_signal_is_used_where_it_says_it_all(body: str, signal: str) -> None:
    found = may_send(replace(SEND, body=body), around(), START)
    assert isinstance(found, Refusal)
    assert (found.number, found.details["signal"]) == (-32021, signal)
    assert set(REACTIONS.values()) <= {"agree", "working", "declined", "done", "seen"}


@pytest.mark.spec("C2A-197")
def test_a_send_says_something_new() -> None:
    said = "the migration LOCKS the table, for a minute"
    peer = answered(by_agent=True, author="worker")
    assert code(where=around(answered=peer, recent=(said,))) == "no_new_information"
    assert code(replace(SEND, body="How long does it lock?"), around(answered=peer)) == "no_new_information"
    old = ("the migration locks the table for a minute", "a b", "c d", "e f", "g h", "i j")
    assert code(where=around(answered=peer, recent=old)) == "ok"
    assert code(replace(SEND, attachments=True), around(answered=peer, recent=old[:1])) == "ok"
    assert code(where=around(answered=peer, recent=old[:1]), settings=Settings(similarity=1.1)) == "ok"
    refused = may_send(SEND, around(answered=peer, recent=(said,)), START)
    assert isinstance(refused, Refusal)
    assert "say it once otherwise" in refused.remedy


@pytest.mark.spec("C2A-197")
def test_an_answer_to_a_person_is_never_refused_for_likeness() -> None:
    said = "the migration LOCKS the table, for a minute"
    assert code(where=around(recent=(said,))) == "ok"
    assert code(replace(SEND, body="How long does it lock?"), around()) == "ok"
    assert code(replace(SEND, body="Yes."), around(recent=("Yes.", "Yes."))) == "ok"


@pytest.mark.spec("C2A-205")
def test_sends_are_limited_by_the_minute_and_say_when_to_come_back() -> None:
    now = Moment(START + 60_000_000)
    six = tuple(Moment(START + n * 1_000_000) for n in range(6))
    found = may_send(SEND, around(sends_here=six), Moment(START + 10_000_000))
    assert isinstance(found, Refusal)
    assert (found.code, found.details["retryAfterMs"]) == ("rate_limited", 50_000)
    assert "sends_per_conversation" in found.remedy
    assert code(where=around(sends_here=six), now=now) == "ok"
    twenty = tuple(Moment(START + n) for n in range(20))
    assert code(where=around(sends=twenty), now=Moment(START + 100)) == "rate_limited"
    assert (
        code(where=around(sends=twenty), now=Moment(START + 100), settings=Settings(sends_per_minute=30))
        == "ok"
    )
    assert set(LIMITS) <= set(Settings.__dataclass_fields__)


@pytest.mark.spec("C2A-064")
def test_a_send_that_answers_nothing_is_a_new_post_under_the_other_rules() -> None:
    fresh = replace(SEND, in_reply_to=None)
    assert code(fresh, around(answered=None)) == "ok"
    assert code(fresh, around(answered=None, left=True)) == "left_conversation"
    assert code(fresh, around(answered=None, recent=(SEND.body,))) == "no_new_information"


@pytest.mark.spec("C2A-207")
def test_private_talk_waits_for_a_person() -> None:
    no = Refusal("approval_required", "a person has to approve this first", "C2A-207")
    assert code(where=around(reveals_private=True, approval=no)) == "approval_required"
    assert code(where=around(reveals_private=True, approval=None)) == "ok"


@pytest.mark.spec("C2A-105", "C2A-106", "C2A-107", "C2A-108")
def test_each_goal_of_a_sender_has_the_effect_that_the_table_promises() -> None:
    effects = {
        "C2A-105": lead_gets(event("finish the report", by="worker", to=["lead"])),
        "C2A-106": lead_gets(event("who can finish the report", by="worker", to=["@all"])),
        "C2A-107": lead_gets(
            event("half of it is done", by="worker", reply_to="x"), thread(participants={"lead"})
        ),
        "C2A-108": lead_gets(event("the report has ten pages", by="worker", directedness="ambient")),
    }
    promised = {one.row: one.effect for one in SURFACES}
    for row, decision in effects.items():
        assert promised[row].startswith(f"{decision.directedness} / {decision.policy}")
    assert state().participants == frozenset()


@pytest.mark.spec("C2A-016")
def test_a_refusal_has_a_code_of_the_table() -> None:
    with pytest.raises(KeyError):
        refusal("made_up", "x", "C2A-016")
