"""A refusal as a value (C2A-016); its code is one of `tacit.c2a.errors`, and so is its number.

A policy's "no" is an outcome, not an exception: `Refusal` carries the code, the row that refused, and how
to get a yes. Texts carry no user content.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.c2a.errors import CODES, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Refusal:
    """No, with the rule and the way to a yes."""

    code: str
    message: str
    row: str
    remedy: str = ""
    details: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def number(self) -> int:
        """The JSON-RPC code."""
        return number_of(self.code, self.details.get("reason"))

    def error(self) -> dict[str, object]:
        """The JSON-RPC error object; `data` is the CCCS error object."""
        details: dict[str, object] = {"row": self.row, **self.details}
        if self.remedy:
            details["remedy"] = self.remedy
        data = {"code": self.code, "message": self.message, "details": details}
        return {"code": self.number, "message": self.message, "data": data}


def refusal(code: str, message: str, row: str, *, remedy: str = "", **details: object) -> Refusal:
    """A refusal whose code is in the table."""
    if code not in CODES:
        raise KeyError(code)
    return Refusal(code, message, row, remedy, details)
