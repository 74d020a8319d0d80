"""What the owner is told of a thread, by its code: sentences that go on from what the thread is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.kernel.records import Noticed
from tacit.agent.scheduling import failures
from tacit.agent.scheduling.io import unreadable
from tacit.agent.spaces.io import operations as spaces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.base.strict_json import Json

NOTICES: Final = {
    "stalled": "has had no answer for too long and stands still",
    "expired": "has run out of time",
    "completed": "is done",
    "declined": "was declined",
    "withdrawn": "was withdrawn by the other side",
    "slot_taken": "had its time taken meanwhile; another is looked for",
    "action_failed": "could not be carried out; what was done is undone",
    "part_failed": "goes on without somebody who could not carry out their part",
    "went_on_without": "goes on without you",
    "not_undone": "left something that cannot be undone",
    "reminder": "still waits for your answer",
    "relay_out_of_reach": "waits: the relay has been out of reach for longer than it waits for answers",
    "generation_failed": "is paused: nothing could be written that may leave",
    "their_agent_failed": "is paused: the other agent could not write an answer",
    "after_the_end": "has ended, and the other side has written again",
    "proposals_crossed": "has two proposals at once; yours stands",
    "different_alternatives": "had two different choices; it is proposed again",
    "another_previous_intent": "was described otherwise by the other side",
    "guest_answered": "has an answer of somebody who was asked by a link",
    "guest_unreadable": "has an answer by a link that could not be read; it counts for nothing",
    "waits": "waits for something that is away now; it is tried again",
    unreadable.CODE: "waits: a calendar of yours cannot be read; see `tacit agent calendar list`",
    "paused": "is paused",
    "goes_ahead": "goes ahead: enough have confirmed; you may still say yes",
    "left_the_group": "goes on without somebody who wants no part in it",
    "people_left": "goes on without some who were in it",
    "another_list": "names other people to others: compare the digest of its list with them",
    "unsigned_list": "has people who may have been told another list: compare its digest with them",
    "one_key_twice": "has somebody in it by two addresses of one key, who counts once",
    "transfer_declined": "stays with you: the role was not accepted",
    "transferred": "is coordinated by somebody else now",
    "coordinates_now": "is coordinated by your agent now; everybody is asked again",
    "not_sent": "has a packet that could not be sent",
    "memory_changed": "has brought something else than was remembered; see `tacit agent memory`",
    "model_away": "No model answers now; what waits for one is kept and dealt with later, in order",
    "budget_spent": "The models' budget of the day is spent; the rules go on alone",
    **spaces.NOTICES,
    "brain_refused": "The chosen brain cannot be opened; the rules go on alone",
}


def text_of(agent: AgentCore, notice: Noticed) -> str:
    """A notice in words: the sentence of its code, and the reason where it has one."""
    text = NOTICES.get(notice.code, notice.code)
    if notice.code == unreadable.CODE and (reasons := unreadable.reasons_of(agent, notice)):
        return f"waits until your calendars can be read: {reasons}"
    kept: Json = agent.vault.value(notice.subject) if notice.code in failures.TOLD_WITH_REASON else None
    reason = kept.get("reason") if isinstance(kept, dict) else None
    return f"{text}. {reason}" if isinstance(reason, str) else text


def subject_of(notice: Noticed) -> str | None:
    """What else a notice names, for whoever looks it up; a reason stands in the text."""
    return None if notice.code in failures.TOLD_WITH_REASON else notice.subject or None


def since(agent: AgentCore, position: int, thread_id: str) -> Fields:
    """What was told of a thread after a position of the journal; nothing where nothing was."""
    records = agent.journal.after(position, "x.a2acp.noticed")
    texts = [
        text_of(agent, record)
        for _, record, _ in records
        if isinstance(record, Noticed) and record.thread_id == thread_id
    ]
    return {"notices": texts} if texts else {}


def last_text(listed: Iterable[Fields], thread_id: str, code: str) -> str:
    """Of all notices the last one of a thread with this code, in words."""
    texts = [one["text"] for one in listed if one["thread_id"] == thread_id and one["code"] == code]
    return str(texts[-1]) if texts else NOTICES.get(code, code)
