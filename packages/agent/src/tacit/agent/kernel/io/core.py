"""What every feature of the personal agent stands on: journal, vault, post, clock, one decision at a time.

A feature is a module of functions that take this; the agent itself is one object that has it all. A setting
is a value in the vault, named by the journal, and is changed by what it is at the moment of the change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from tacit.agent.kernel import records
from tacit.agent.kernel.io.setting_values import missing

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Mapping
    from pathlib import Path

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.post import Post
    from tacit.a2acp.post.io.relay_connection import RelayConnection
    from tacit.agent.kernel.io.changes import Changes
    from tacit.agent.kernel.io.journal import Journal
    from tacit.agent.kernel.io.vault import Vault
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.io.time_service import TimeService
    from tacit.base.moment import Span
    from tacit.base.ports import Entropy


Decided = TypeVar("Decided")
State = TypeVar("State")


class OwnPage(Protocol):
    """The agent's own page, while it is served."""

    @property
    def address(self) -> str:
        """Where it is; the address alone lets nobody in."""
        ...

    def link(self, question_id: str = "") -> str:
        """An address that signs its owner in once."""
        ...


class OwnerSettings(Protocol):
    """What the owner has told of itself and allowed."""

    def policy(self) -> Policy:
        """The owner's permissions."""
        ...

    def profile(self) -> Fields:
        """What the owner has told of itself."""
        ...

    def choices(self) -> Fields:
        """How much the agent may do unasked."""
        ...

    def zone(self) -> str:
        """The owner's zone."""
        ...


class AgentCore(ABC):
    """What features use of the agent; whoever runs it gives the rest."""

    folder: Path
    journal: Journal
    vault: Vault
    post: Post
    settings: OwnerSettings
    clock: TimeService
    entropy: Entropy
    changes: Changes
    connection: RelayConnection | None
    states: dict[type[Any], Any]
    """What features remember while the agent runs, each in a type of its own."""
    sentences: Mapping[str, str]
    """What the owner is told, by code."""
    deeds: dict[str, asyncio.Task[bool]]
    """What is under way beside the wheel, by name."""
    unreadable: dict[str, set[str]]
    page: OwnPage | None = None
    me: str

    @abstractmethod
    async def decide(self, decision: Callable[[Workspace], Decided]) -> Decided:
        """Make one decision durable; what it gives back."""

    @abstractmethod
    def workspace(self) -> Workspace:
        """For one decision, or for looking."""

    @abstractmethod
    async def settle(self) -> None:
        """Do all that can be done now."""

    @abstractmethod
    async def refresh(self) -> None:
        """The same, unless it is being done already."""

    @abstractmethod
    async def slot_free(self, slot: Span | None, thread_id: str) -> bool:
        """Whether a slot is free in every calendar, asked now."""

    @abstractmethod
    def beside(self, name: str, work: Coroutine[Any, Any, bool]) -> None:
        """Do something slow beside the wheel, under this name."""

    def running(self, kind: type[State]) -> State:
        """What a feature remembers while the agent runs; new when it is first asked for."""
        state: State = self.states.setdefault(kind, kind())
        return state

    async def revise(self, name: str, change: Callable[[Fields], Fields]) -> Fields:
        """Change a setting by what it is when the change is made, so that two at once are both kept."""

        def revised(ws: Workspace) -> Fields:
            value_id = ws.book.settings.get(name, "")
            before = cast("Fields | None", ws.read(value_id))
            if value_id and before is None:
                raise missing()
            kept = change(before or {})
            ws.say(records.Set(name, ws.keep("", kept)))
            return kept

        return await self.decide(revised)

    async def set_to(self, name: str, value: Any) -> None:
        """Put a setting in the place of what it was."""
        await self.decide(lambda ws: ws.say(records.Set(name, ws.keep("", value))))
