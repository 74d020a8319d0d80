"""The default matrix: one case for each entry, and the whole table is covered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention import Roster, RosterAgent
from tacit.attention.decide.matrix import MATRIX, Situation
from tacit.attention.read.cues import SaidLine
from tacit.attention.settings import Settings
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Intent, Priority
from tests.attention.world import ROSTER, START, event, lead_gets, state, thread, three

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.context import ConversationState


def floor(*lines: tuple[float, str, str]) -> ConversationState:
    """The lines of a channel before now: how many seconds ago, who spoke to whom."""
    return state(
        floor=tuple(
            SaidLine(by, (to,), Moment(START - int(ago * SECOND)), named=True) for ago, by, to in lines
        ),
        at=START,
    )


ALONE = Roster.of([RosterAgent("lead", names=("Lead Agent",), role="foreman")])
TALKING = floor((60, "user", "lead"), (30, "lead", "user"))
WORKER_TOO = floor(
    (500, "user", "lead"), (480, "lead", "user"), (200, "usr:ann", "worker"), (190, "worker", "usr:ann")
)
ASKED = floor((5, "user", "lead"))

CASES: list[tuple[Situation, str, Any, Any, tuple[str, str, str]]] = [
    (Situation.NOT_CHAT, "C2A-094", event(kind="chat.read", actor_id="lead", event_id_="x"), None, ("ambient", "must_not_respond", "silent")),
    (Situation.OWN, "C2A-195", event("@lead hello", by="lead"), None, ("to_other", "must_not_respond", "silent")),
    (Situation.UNREADABLE, "C2A-051", event("psst", to=["worker"]), None, ("to_other", "must_not_respond", "silent")),
    (Situation.LOOP_STOPPED, "C2A-198", event("again?", by="worker", to=["lead"]), state(stopped={"lead", "worker"}), ("to_other", "must_not_respond", "tool_mailbox")),
    (Situation.NOTICE_PRESSING, "C2A-078", event(by="system", kind="system.notify", target_actor_id="lead", priority="urgent"), None, ("to_me", "must_respond", "immediate")),
    (Situation.NOTICE, "C2A-078", event(by="system", kind="system.notify", target_actor_id="lead"), None, ("to_me", "ack_only", "notify")),
    (Situation.SIGNAL_SETTLES, "C2A-138", event(kind="chat.reaction", event_id="r", emoji="🙅"), state(reacted=("lead", Intent.APPROVAL), waits={"lead"}), ("to_me", "must_not_respond", "buffered")),
    (Situation.SIGNAL, "C2A-137", event(kind="chat.reaction", event_id="r", emoji="👍"), state(reacted=("lead", Intent.PLAIN)), ("to_me", "must_not_respond", "notify")),
    (Situation.SIGNAL_PLAIN, "C2A-138", event(kind="chat.reaction", event_id="r", emoji="👀"), state(reacted=("lead", Intent.PLAIN)), ("to_me", "must_not_respond", "tool_mailbox")),
    (Situation.EDITED, "C2A-186", event("@lead the other branch", kind="x.c2a.edit", supersedes="e0"), state(responded={"lead"}), ("to_me", "may_respond", "notify")),
    (Situation.WITHDRAWN, "C2A-081", event("cancelled", by="worker", to=["lead"], clowl={"p": "CNCL"}), None, ("to_me", "must_not_respond", "immediate")),
    (Situation.LEAVE, "C2A-190", event("@lead please leave this thread"), thread(), ("to_me", "must_respond", "buffered")),
    (Situation.GRATITUDE, "C2A-067", event("thanks, got it!", to=["lead"]), None, ("to_me", "must_not_respond", "silent")),
    (Situation.GREETED, "C2A-054", event("@lead good morning"), None, ("to_me", "may_respond", "buffered")),
    (Situation.SAFETY, "C2A-081", event("@lead our deploy token was leaked"), None, ("to_me", "must_respond", "immediate")),
    (Situation.CANCELLATION, "C2A-081", event("@lead stop the deploy"), None, ("to_me", "must_respond", "immediate")),
    (Situation.HOLD, "C2A-083", event("@lead hold on a minute"), None, ("to_me", "may_respond", "buffered")),
    (Situation.APPROVAL, "C2A-069", event("@lead ok to merge?"), None, ("to_me", "must_respond", "immediate")),
    (Situation.BLOCKER, "C2A-069", event("@lead I'm blocked on the schema"), None, ("to_me", "must_respond", "buffered")),
    (Situation.ASSIGNMENT, "C2A-069", event("I'm assigning this bug to you", to=["lead"]), None, ("to_me", "must_respond", "buffered")),
    (Situation.RESULT, "C2A-101", event("done", by="worker", to=["lead"], clowl={"p": "DONE"}), None, ("to_me", "may_respond", "buffered")),
    (Situation.INFORMED, "C2A-058", event("so it is", by="worker", to=["lead"], clowl={"p": "INF"}), None, ("to_me", "may_respond", "notify")),
    (Situation.PROGRESS_TO_ME, "C2A-182", event("40", by="worker", to=["lead"], clowl={"p": "PROG"}), None, ("to_me", "must_not_respond", "tool_mailbox")),
    (Situation.DIRECT_MESSAGE, "C2A-066", event("where is the runbook", to=["lead"]), None, ("to_me", "must_respond", "buffered")),
    (Situation.DIRECT_MENTION, "C2A-068", event("@lead the staging logs are in"), None, ("to_me", "must_respond", "buffered")),
    (Situation.THREAD_QUESTION, "C2A-070", event("and which branch", reply_to="x"), thread(replied_to="lead", participants={"lead"}), ("to_me", "must_respond", "buffered")),
    (Situation.ALONE, "C2A-077", event("write a function that sorts names"), None, ("to_me", "must_respond", "buffered")),
    (Situation.LEFT, "C2A-192", event("the index is slow", reply_to="x"), thread(participants={"lead"}, left={"lead"}), ("to_other", "must_not_respond", "tool_mailbox")),
    (Situation.ATTENTION_REQUEST, "C2A-212", event("could one of you restart the runner", to=["@all"], priority="attention"), None, ("to_my_role", "may_respond", "notify")),
    (Situation.ATTENTION, "C2A-212", event("the freeze starts at noon", priority="attention"), None, ("to_my_role", "ack_only", "notify")),
    (Situation.RECEIPT_WANTED, "C2A-062", event("keys were rotated", to=["lead"], receipt_wanted=True), None, ("to_me", "ack_only", "notify")),
    (Situation.ROLE_MENTION, "C2A-071", event("who has time for a review", to=["@all"]), None, ("to_my_role", "may_respond", "notify")),
    (Situation.THREAD_REPLY, "C2A-072", event("the index is the slow part", reply_to="x"), thread(participants={"lead"}), ("to_my_role", "may_respond", "notify")),
    (Situation.WORKER_REPLY, "C2A-156", event("the index is rebuilt", by="worker", reply_to="x"), thread(participants={"lead"}, owners={"lead"}), ("to_my_role", "may_respond", "tool_mailbox")),
    (Situation.TO_OTHER, "C2A-073", event("@worker please rerun the tests"), None, ("to_other", "must_not_respond", "tool_mailbox")),
    (Situation.ANSWER, "C2A-070", event("ok"), state(answers="lead"), ("to_me", "must_respond", "buffered")),
    (Situation.CONTINUED_QUESTION, "C2A-070", event("and which branch is that?"), TALKING, ("to_me", "must_respond", "buffered")),
    (Situation.CONTINUED, "C2A-072", event("the old one fails too"), TALKING, ("to_me", "may_respond", "buffered")),
    (Situation.ADDED, "C2A-083", event("I mean the staging one"), state(adding={"lead"}), ("to_me", "may_respond", "buffered")),
    (Situation.LIKELY_ASKED, "C2A-077", event("does the other one fail too?"), WORKER_TOO, ("to_me", "may_respond", "notify")),
    (Situation.CALLED_BEFORE, "C2A-083", event("the importer is slow"), state(adding={"lead"}, adding_to=Intent.GREETING), ("to_me", "must_respond", "buffered")),
    (Situation.LIKELY_CONTINUED, "C2A-072", event("the other one fails too"), WORKER_TOO, ("to_me", "may_respond", "notify")),
    (Situation.STATUS_DIGEST, "C2A-076", event("build 512 passed"), state(subscribers={"lead"}), ("ambient", "must_not_respond", "digest")),
    (Situation.STATUS, "C2A-076", event("build 512 passed"), None, ("ambient", "must_not_respond", "silent")),
    (Situation.OPEN_REQUEST, "C2A-077", event("does anyone know why staging is slow"), None, ("ambient", "may_respond", "tool_mailbox")),
    (Situation.NO_TASK, "C2A-074", event("the parser is a fine piece of work", by="worker"), None, ("to_other", "must_not_respond", "tool_mailbox")),
    (Situation.AMBIENT, "C2A-075", event("lunch was good today"), None, ("ambient", "must_not_respond", "tool_mailbox")),
]  # fmt: skip


def roster_of(situation: Situation) -> Roster:
    """The room of a case: one of several agents, or the lead and its person alone."""
    return ALONE if situation is Situation.ALONE else ROSTER


NAMES = [case[0].value for case in CASES]


@pytest.mark.spec("C2A-046", "C2A-049", "C2A-050", "C2A-051", "C2A-052")
@pytest.mark.parametrize(("situation", "row", "what", "where", "expected"), CASES, ids=NAMES)
def test_each_entry_of_the_matrix_holds(
    situation: Situation, row: str, what: Any, where: ConversationState | None, expected: tuple[str, str, str]
) -> None:
    decision = lead_gets(what, where, roster=roster_of(situation))
    assert three(decision) == expected
    assert decision.rule("policy").name == f"matrix.{situation.value}"
    assert decision.rule("policy").row == row
    entry = MATRIX[situation]
    assert (entry.directedness.value, entry.policy.value, entry.mode.value) == expected


def test_every_entry_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(MATRIX) == set(Situation)


@pytest.mark.spec("C2A-066")
def test_an_agents_dm_obliges_like_a_persons() -> None:
    assert three(lead_gets(event("the schema is ready", by="worker", to=["lead"]))) == (
        "to_me",
        "must_respond",
        "buffered",
    )


@pytest.mark.spec("C2A-067", "C2A-196")
@pytest.mark.parametrize("text", ["thanks", "got it", "nice", "thank you so much!", "👍", "ok cool"])
def test_small_talk_obliges_nobody_even_by_dm_or_mention(text: str) -> None:
    for what in (event(text, to=["lead"]), event(f"@lead {text}"), event(text, by="worker", to=["lead"])):
        assert three(lead_gets(what)) == ("to_me", "must_not_respond", "silent")
    assert lead_gets(event(text, to=["lead"]), settings=Settings(show_gratitude=True)).mode == "notify"


def test_an_ok_to_an_agent_that_had_asked_is_an_answer() -> None:
    assert lead_gets(event("ok", to=["lead"]), state(awaiting={"lead"})).policy == "must_respond"
    assert lead_gets(event("thanks", to=["lead"]), state(awaiting={"lead"})).policy == "must_not_respond"


@pytest.mark.spec("C2A-069")
def test_approvals_are_immediate_and_pressing_assignments_become_so() -> None:
    assert lead_gets(event("@lead can you approve the PR")).mode == "immediate"
    assert lead_gets(event("@lead you own the rollout from now on")).mode == "buffered"
    raised = lead_gets(event("@lead you own the rollout from now on", priority="attention"))
    assert (raised.mode, raised.rule("mode").row) == ("immediate", "C2A-069")


@pytest.mark.spec("C2A-081")
def test_an_urgent_mention_does_not_wait_for_the_compose_window() -> None:
    decision = lead_gets(event("@lead the staging logs are in", urgency="urgent"))
    assert (decision.mode, decision.priority) == ("immediate", Priority.URGENT)
    assert (
        lead_gets(event("@lead here", by="worker", to=["lead", "tester"], urgency="urgent")).mode
        == "buffered"
    )


@pytest.mark.spec("C2A-068")
def test_a_direct_mention_brings_the_thread_along() -> None:
    assert lead_gets(event("@lead look")).thread_window


@pytest.mark.spec("C2A-070")
def test_a_reply_to_the_agents_message_is_not_missed_for_want_of_a_mention() -> None:
    where = thread(replied_to="lead", participants={"lead", "worker"})
    assert three(lead_gets(event("the staging one", reply_to="x"), where)) == (
        "to_me",
        "must_respond",
        "buffered",
    )
    assert three(lead_gets(event("which one is it", by="worker", reply_to="x"), where)) == (
        "to_me",
        "must_respond",
        "buffered",
    )
    assert three(lead_gets(event("the staging one", by="worker", reply_to="x"), where)) == (
        "to_my_role",
        "may_respond",
        "notify",
    )
    assert lead_gets(event("thanks", reply_to="x"), where).policy == "must_not_respond"


@pytest.mark.spec("C2A-072")
def test_a_remark_to_the_root_of_a_thread_with_several_agents_is_a_knock_unless_the_agent_had_asked() -> None:
    crowd = thread(replied_to="lead", replied_root=True, participants={"lead", "worker"})
    assert three(lead_gets(event("the disk is slow", reply_to="root"), crowd)) == (
        "to_my_role",
        "may_respond",
        "notify",
    )
    assert lead_gets(event("which disk is it", reply_to="root"), crowd).policy == "must_respond"
    asked = thread(replied_to="lead", replied_root=True, participants={"lead", "worker"}, awaiting={"lead"})
    assert lead_gets(event("the second disk", reply_to="root"), asked).policy == "must_respond"
    pair = thread(replied_to="lead", replied_root=True, participants={"lead"})
    assert lead_gets(event("the second disk", reply_to="root"), pair).policy == "must_respond"


@pytest.mark.spec("C2A-078")
def test_notices_are_pressing_when_urgent_or_to_be_confirmed_and_status_when_untargeted() -> None:
    confirm = event(by="system", kind="system.notify", target_actor_id="lead", requires_ack=True)
    assert three(lead_gets(confirm)) == ("to_me", "must_respond", "immediate")
    assert three(lead_gets(event(by="system", kind="system.notify"))) == (
        "ambient",
        "must_not_respond",
        "silent",
    )
    assert (
        three(lead_gets(event(by="system", kind="system.notify", target_actor_id="worker")))[0] == "to_other"
    )


@pytest.mark.spec("C2A-212")
def test_attention_to_one_obliges_with_high_priority_and_to_many_asks_for_a_receipt() -> None:
    named = lead_gets(event("the freeze starts at noon", to=["lead"], priority="attention"))
    assert (named.policy, named.priority, named.rule("priority").row) == ("must_respond", "high", "C2A-212")
    for to in ([], ["@all"]):
        assert lead_gets(event("the freeze starts at noon", to=to, priority="attention")).policy == "ack_only"
    asked = lead_gets(event("could someone restart it", to=["@all"], priority="attention"))
    assert (asked.policy, asked.needs_claim) == ("may_respond", True)


@pytest.mark.spec("C2A-062")
def test_ack_only_comes_from_attention_notices_and_wanted_receipts_alone() -> None:
    sources = {situation for situation, entry in MATRIX.items() if entry.policy == "ack_only"}
    assert sources == {Situation.NOTICE, Situation.ATTENTION, Situation.RECEIPT_WANTED}


@pytest.mark.spec("C2A-173")
def test_only_obligations_have_a_deadline() -> None:
    assert lead_gets(event("@lead look")).deadline_ms == 300_000
    assert lead_gets(event("lunch was good")).deadline_ms is None
    assert all(
        (entry.policy == "must_respond") == (_decided(s).deadline_ms is not None)
        for s, entry in MATRIX.items()
    )


def _decided(situation: Situation) -> Decision:
    return next(
        lead_gets(case[2], case[3], roster=roster_of(situation)) for case in CASES if case[0] is situation
    )


@pytest.mark.spec("C2A-045")
def test_the_three_axes_are_independent_values() -> None:
    seen = {(entry.policy.value, entry.mode.value) for entry in MATRIX.values()}
    assert ("may_respond", "buffered") in seen
    assert len({mode for policy, mode in seen if policy == "may_respond"}) >= 3
    given = _decided(Situation.RESULT)
    assert (given.directedness, given.policy, given.mode) == ("to_me", "may_respond", "buffered")
    assert ROSTER.agents
