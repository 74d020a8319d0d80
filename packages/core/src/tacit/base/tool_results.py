"""A tool's result as MCP carries it, in two forms: a structure, and text.

Whatever quotes somebody says so before the first word of it, in both: some clients show their model the
structure alone, others the text alone. In the structure the frame is its member `about`, which stands first
however a client orders members: as they came, or by their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base.quoting import set_off

if TYPE_CHECKING:
    from collections.abc import Mapping

ABOUT: Final = "about"
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool's result as MCP carries it."""

    structure: dict[str, Any]
    text: str
    is_error: bool = False


def framed(value: dict[str, Any], notice: str) -> dict[str, Any]:
    """The value; when it quotes somebody, with a first member that says so."""
    return {ABOUT: notice, **value} if value.get("untrusted") is True else value


def as_text(value: Mapping[str, Any], notice: str) -> str:
    """The value as JSON; where it quotes somebody, set off like every quotation."""
    text = _encode(value).decode()
    return f"{notice}\n{set_off(text)}" if value.get("untrusted") is True else text
