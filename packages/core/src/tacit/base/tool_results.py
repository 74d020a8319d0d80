"""What is served over MCP, and a tool's result as MCP carries it, in two forms: a structure, and text.

A `Surface` is the port that whoever has tools gives to the server (`tacit.base.io.mcp_server`).

Whatever quotes somebody says so before the first word of it, in both forms: some clients show their model the
structure alone, others the text alone. In the structure the frame is its member `about`, which stands first
however a client orders members: as they came, or by their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from tacit.base.quoting import set_off

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

ABOUT: Final = "about"
CALLER: Final = "tacit.caller"
"""Under which name the ASGI scope of a request over HTTP carries who calls."""
_encode: Final = msgspec.json.Encoder(order="deterministic").encode
Caller = TypeVar("Caller")


@dataclass(frozen=True, slots=True)
class Page:
    """A page on which a person answers before a call can go on."""

    id: str
    message: str
    """What the person is told before they open it."""
    link: Callable[[], Awaitable[str]]
    """Gives its address; empty when there is none any more."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's result as MCP carries it."""

    structure: dict[str, Any]
    text: str
    is_error: bool = False
    page: Page | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of the protocol, where a result has no place for a refusal."""

    code: int
    message: str
    data: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Surface(Generic[Caller]):
    """What is served to clients over MCP, and how a request of a caller's is carried out."""

    name: str
    title: str
    instructions: str
    lists: Mapping[str, Callable[[], dict[str, Any]]]
    """The answer to each list that a client may ask for, by its method: `tools/list`, ..."""
    call: Callable[[Caller, str, Mapping[str, Any]], Awaitable[ToolResult]]
    read: Callable[[Caller, str], Awaitable[dict[str, Any] | Fault]] | None = None
    """The answer to `resources/read`; None where there are no resources."""
    prompt: Callable[[str], dict[str, Any] | Fault] | None = None
    """The answer to `prompts/get`; None where there are no prompts."""


def framed(value: dict[str, Any], notice: str) -> dict[str, Any]:
    """The value; when it quotes somebody, with a first member that says so."""
    return {ABOUT: notice, **value} if value.get("untrusted") is True else value


def as_text(value: Mapping[str, Any], notice: str) -> str:
    """The value as JSON; where it quotes somebody, set off like every quotation."""
    text = _encode(value).decode()
    return f"{notice}\n{set_off(text)}" if value.get("untrusted") is True else text
