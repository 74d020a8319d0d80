"""The port through which the door calls the chat tools of one session.

Whoever composes gives it: the hub hands over its own tools, `tacit mcp` a client of a running hub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.c2a.errors import Refusal


class ToolCaller(Protocol):
    """One session's way to its tools."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """Run a chat tool by its C2A name; a "no" is an outcome, also when the hub cannot be reached."""
        ...
