"""What the host's ways in and out need of the hub, as values that whoever composes fills in.

`SessionPorts` is for a conversation (`tacit.hub.host.protocol`), `HookPorts` for the webhooks
(`tacit.hub.host.hooks`). So neither knows the hub itself, and nobody stands in a circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.ports import Clock, Entropy
    from tacit.hub.host.activities import Activities
    from tacit.hub.host.host import Host
    from tacit.hub.host.tools import Tools
    from tacit.hub.store.async_ledger import AsyncLedger


@dataclass(frozen=True, slots=True)
class SessionPorts:
    """What one harness's messages reach."""

    ledger: AsyncLedger
    host: Host
    tools: Tools
    refused: Callable[[str], None]
    """A call was refused with this code."""
    presence: Callable[[str, str, str], None]
    """In a group, a session has this status."""
    type_in: Callable[[str, str, str | None], Awaitable[None]]
    """In a group, somebody writes in a conversation, or in none in particular."""
    activities: Activities
    """What agents do in their turns."""


@dataclass(frozen=True, slots=True)
class HookPorts:
    """What webhooks reach."""

    ledger: AsyncLedger
    host: Host
    clock: Clock
    entropy: Entropy
