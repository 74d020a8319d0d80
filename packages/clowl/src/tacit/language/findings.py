"""What a reader has to say about a message: findings, and the one error that carries them (CLOWL-067).

A finding has a JSON path, a reason, the code to answer with and the row behind it. Reasons never quote a
value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.language.message import Message

_MAX_PATH: Final = 160
_FIRST: Final = ("E014", "E001", "E002", "E015", "E008")


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, or worth a warning."""

    path: str
    code: str
    reason: str
    row: str = ""


class Reading(msgspec.Struct, frozen=True):
    """The outcome of reading: a message with warnings, or faults; never both a message and faults."""

    message: Message | None
    faults: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def code(self) -> str:
        """The code to answer with, the gravest first; empty when the message is valid."""
        return gravest(self.faults)

    def required(self) -> Message:
        """The message, or `Invalid`."""
        if self.message is None:
            raise Invalid(self.faults)
        return self.message


class Invalid(Refused):
    """A message that breaks the language; carries every fault found."""

    def __init__(self, faults: Iterable[Finding]) -> None:
        self.faults = tuple(faults)
        count = len(self.faults)
        super().__init__(
            gravest(self.faults) or "E001",
            f"the CLowl message has {count} fault{'' if count == 1 else 's'}",
            row=self.faults[0].row if self.faults else "",
            details={"faults": [msgspec.to_builtins(fault) for fault in self.faults]},
        )


def gravest(faults: Iterable[Finding]) -> str:
    """The code that decides the answer: a wrong version before a wrong shape before wrong data."""
    codes = {fault.code for fault in faults}
    for code in _FIRST:
        if code in codes:
            return code
    return min(codes, default="")


def step(path: str, name: str) -> str:
    """`path` one member deeper; a name that is not plain is quoted and cut."""
    if name.isascii() and name.isidentifier():
        deeper = f"{path}.{name}"
    else:
        deeper = f"{path}[{msgspec.json.encode(name[:40]).decode()}]"
    return deeper if len(deeper) <= _MAX_PATH else path
