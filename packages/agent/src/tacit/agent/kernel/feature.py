"""What one feature of the personal agent adds to the kernel, as one value.

A feature is a folder beside the kernel, and its `feature.py` holds its `Feature`; `agent/features.py` lists
them. The kernel and the shell know features by these values alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.agent.kernel.book import Part
    from tacit.agent.kernel.records import Record

Change: TypeAlias = dict[str, Any]


def no_change(_record: Record) -> Change | None:
    """None: a feature without records of its own has nothing to say of any."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature; what it does not name it does not add."""

    part: Part | None = None
    """Its part of the state."""
    change: Callable[[Record], Change | None] = no_change
    """What a record of its own means to whoever shows the agent."""
    lasting: str = ""
    """How the names of its values in the vault begin that stay when a contact's time is over."""
    notices: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the owner is told, by code: sentences that go on from what the thread is about."""
