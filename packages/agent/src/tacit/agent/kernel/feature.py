"""What one feature of the personal agent adds to the kernel, as one value.

A feature is a folder beside the kernel, and its `feature.py` holds its `Feature`; `agent/features.py` lists
them. The kernel knows features by these values alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.answer import Answer
    from tacit.agent.kernel.book import StatePart
    from tacit.agent.kernel.io.changes import Change
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.records import Record
    from tacit.agent.kernel.state import Question

Agent_contra = TypeVar("Agent_contra", contravariant=True)
Request = TypeVar("Request")
Answers: TypeAlias = "Callable[[AgentCore, Question, Answer], Awaitable[Fields]]"


class Handler(NamedTuple, Generic[Agent_contra]):
    """Who carries an operation out, and the shape that it reads."""

    shape: Any
    run: Callable[[Agent_contra, Any], Awaitable[Any]]


def handler(shape: type[Request], run: Callable[[AgentCore, Request], Awaitable[Any]]) -> Handler[AgentCore]:
    """A handler whose function takes what its shape reads."""
    return Handler(shape, run)


def no_change(_record: Record) -> Change | None:
    """None: a feature without records of its own has nothing to say of any."""
    return None


async def no_turn(_agent: AgentCore) -> bool:
    """False: a feature that nothing has to be done for."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature; what it does not name it does not add."""

    part: StatePart | None = None
    """Its part of the state."""
    change: Callable[[Record], Change | None] = no_change
    """What a record of its own means to whoever shows the agent."""
    lasting: str = ""
    """How the names of its values in the vault begin that stay when a contact's time is over."""
    notices: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the owner is told, by code: sentences that go on from what the thread is about."""
    questions: Mapping[str, Answers] = field(default_factory=dict[str, "Answers"])
    """The kinds of questions that it answers itself; the others are about a thread."""
    turn: Callable[[AgentCore], Awaitable[bool]] = no_turn
    """Its work in a turn of the wheel; whether it did anything."""
    operations: Mapping[str, Handler[AgentCore]] = field(default_factory=dict[str, "Handler[AgentCore]"])
    """What it carries out when it is asked, by name (`tacit.base.agent_operations`)."""
