"""The running turn: what it works on, what it has done so far, and how it may still be changed.

Rows: C2A-082, C2A-163, C2A-164, C2A-180, C2A-188, C2A-219. `ChatToolUse` is what the model did through its
tools. A turn that is to end keeps a running side-effecting call until that has ended; from then on nothing of
it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tacit.c2a.vocabulary import Mode, Priority

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered
    from tacit.harness.effects import ModelTurn
    from tacit.harness.question import TurnQuestion

READS: Final = frozenset(
    {
        "read", "grep", "glob", "ls", "list", "find", "cat", "search", "view", "todowrite", "toolsearch",
        "websearch", "webfetch", "web_search", "update_plan", "list_dir", "read_file", "grep_files",
        "view_image",
        "chat_list_events", "chat_read_thread", "chat_read_channel", "chat_members", "chat_search",
        "chat_claim", "chat_react", "chat_defer", "chat_resolve", "chat_progress",
        "chat_attach",
    }
)  # fmt: skip
"""Tools that change nothing, and chat tools that are no outbound chat (C2A-166)."""


def has_effects(tool: str) -> bool:
    """May this tool have changed something outside? Unknown ones may."""
    name = tool.rsplit(".", 1)[-1].rsplit("__", 1)[-1].casefold()
    return name not in READS


@dataclass(slots=True)
class ChatToolUse:
    """What the model did through the chat tools."""

    replied: set[str] = field(default_factory=set[str])
    """Events that a send of this turn answers, once the send is stored."""
    sends: int = 0
    """How many stand: written, and not refused."""
    written: int = 0
    """How many were written in all; numbers their keys."""
    discharged: set[str] = field(default_factory=set[str])
    """Events closed by a signal or a resolve."""
    deferred: set[str] = field(default_factory=set[str])
    attachments: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    """Files that the next message of the turn carries, or its last word."""


@dataclass(slots=True)
class RunningTurn:
    """A turn under way."""

    turn: ModelTurn
    question: TurnQuestion
    began: Moment
    acts: ChatToolUse = field(default_factory=ChatToolUse)
    side_effects: bool = False
    tools: dict[str, bool] = field(default_factory=dict[str, bool])
    """Calls under way, and whether each may have effects."""
    at_model: bool = False
    """The model has it; until then it is still being put together, and counts as next in the queue."""
    is_ending: bool = False
    """Aborted: whatever still comes out of it is dropped."""
    waiting: list[Delivered] = field(default_factory=list["Delivered"])
    """Immediate events, and more of the question, that enter at the next boundary."""
    inserted: list[Delivered] = field(default_factory=list["Delivered"])
    interrupt_at: Moment | None = None
    waits_for: tuple[str, str] = ("", "")
    """What a person is asked in the middle of it: a code and a sentence; empty while nobody is."""

    @property
    def has_spoken(self) -> bool:
        """Has anything gone out?"""
        return self.acts.sends > 0

    @property
    def is_in_effect(self) -> bool:
        """Does a call with effects run at this moment?"""
        return any(self.tools.values())

    def tool_started(self, call_id: str, name: str) -> None:
        """A tool call began."""
        self.tools[call_id] = has_effects(name)
        self.side_effects |= has_effects(name)

    def tool_waits(self, call_id: str, *, waits: bool) -> None:
        """A call waits for a person's leave, and so has no effect yet; or it goes on."""
        if call_id in self.tools:
            self.tools[call_id] = not waits

    def drop_waiting(self, event_id: str) -> bool:
        """Let go of what waits for a boundary; false when this does not."""
        left = [one for one in self.waiting if one.event_id != event_id]
        if len(left) == len(self.waiting):
            return False
        self.waiting = left
        if not any(one.priority is Priority.URGENT for one in left):
            self.interrupt_at = None
        return True

    def let_in(self, event: Delivered) -> None:
        """The model has it: as more of its question, or beside that where it is immediate."""
        if event.mode is Mode.IMMEDIATE:
            self.inserted.append(event)
            return
        self.question = replace(self.question, events=(*self.question.events, event))
        self.turn = replace(self.turn, events=(*self.turn.events, event))

    def enter(self) -> tuple[Delivered, ...]:
        """What waits for a boundary and has the turn's audience, taken in; an interruption for it is off."""
        found = tuple(one for one in self.waiting if one.audience == self.turn.audience)
        self.waiting = [one for one in self.waiting if one not in found]
        for event in found:
            self.let_in(event)
        if not any(one.priority is Priority.URGENT for one in self.waiting):
            self.interrupt_at = None
        return found

    def holds(self, event_id: str) -> bool:
        """Is this event part of the turn?"""
        return self.question.holds(event_id) or any(one.event_id == event_id for one in self.inserted)
