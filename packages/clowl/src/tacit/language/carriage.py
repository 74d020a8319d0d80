"""Carriage: how a message travels inside other protocols (CLOWL-091, CLOWL-092).

The bytes of `encode` are the same on every transport. Inside A2ACP a message is `context.clowl`, inside MCP
the argument or result `message`; in both the sender it names must be the one the outer protocol
authenticated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.language.findings import Finding, Reading
from tacit.language.message import encode, to_value
from tacit.language.reading import read_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.language.message import Message

A2ACP_MEMBER = "clowl"
MCP_MEMBER = "message"


def to_line(message: Message) -> bytes:
    """One line of JSON Lines."""
    return encode(message) + b"\n"


def into_a2acp(message: Message) -> dict[str, Any]:
    """The context of an A2ACP packet; its permission filter applies as to any other context."""
    return {A2ACP_MEMBER: to_value(message)}


def from_a2acp(context: Mapping[str, Any], *, sender: str) -> Reading:
    """The message in an A2ACP context, sent by the packet's authenticated `sender`."""
    return from_authenticated(context.get(A2ACP_MEMBER), sender=sender)


def into_mcp(message: Message) -> dict[str, Any]:
    """The arguments, or the structured result, of an MCP tool call."""
    return {MCP_MEMBER: to_value(message)}


def from_mcp(arguments: Mapping[str, Any], *, sender: str) -> Reading:
    """The message in the arguments or the result of an MCP tool call."""
    return from_authenticated(arguments.get(MCP_MEMBER), sender=sender)


def from_authenticated(value: object, *, sender: str, strict: bool = False) -> Reading:
    """A message whose sender the transport knows; another `from` is E002 (CLOWL-018)."""
    reading = read_value(value, strict=strict)
    if reading.message is None or reading.message.sender == sender:
        return reading
    fault = Finding("$.from", "E002", "is not the authenticated sender", "CLOWL-018")
    return Reading(None, (fault,), reading.warnings)
