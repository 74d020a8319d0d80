"""What scheduling adds to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.feature import Feature
from tacit.agent.scheduling.io import unreadable

NOTICES: Final = {
    "stalled": "has had no answer for too long and stands still",
    "expired": "has run out of time",
    "completed": "is done",
    "declined": "was declined",
    "withdrawn": "was withdrawn by the other side",
    "slot_taken": "had its time taken meanwhile; another is looked for",
    "action_failed": "could not be carried out; what was done is undone",
    "not_undone": "left something that cannot be undone",
    "reminder": "still waits for your answer",
    "relay_out_of_reach": "waits: the relay has been out of reach for longer than it waits for answers",
    "generation_failed": "is paused: nothing could be written that may leave",
    "their_agent_failed": "is paused: the other agent could not write an answer",
    "after_the_end": "has ended, and the other side has written again",
    "proposals_crossed": "has two proposals at once; yours stands",
    "different_alternatives": "had two different choices; it is proposed again",
    "another_previous_intent": "was described otherwise by the other side",
    "waits": "waits for something that is away now; it is tried again",
    "paused": "is paused",
    "not_sent": "has a packet that could not be sent",
    unreadable.CODE: "waits: a calendar of yours cannot be read; see `tacit agent calendar list`",
}

FEATURE: Final = Feature(notices=NOTICES)
