"""What another node of this relay has written: the news that a node acts upon.

Everything else that it wrote is read from the file when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StoredElsewhere:
    """A packet that another node has stored."""

    recipient: int
    position: int
    sender: str
    tag: str
    size: int
    envelope: bytes
    sig: str


@dataclass(frozen=True, slots=True)
class RemovedElsewhere:
    """A packet that another node has removed: it was received, replaced or is past its time."""

    recipient: int
    position: int
    sender: str
    tag: str
    size: int


@dataclass(slots=True)
class BatchNews:
    """The news of one batch; what it removed comes before what it stored."""

    operator: bool = False
    # Accounts by number.
    agents: set[int] = field(default_factory=set[int])
    written: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    removed: list[RemovedElsewhere] = field(default_factory=list[RemovedElsewhere])
    stored: list[StoredElsewhere] = field(default_factory=list[StoredElsewhere])
    notices: list[tuple[int, int, bytes]] = field(default_factory=list[tuple[int, int, bytes]])
    prekeys: set[int] = field(default_factory=set[int])
    answered: set[str] = field(default_factory=set[str])
    domains: set[str] = field(default_factory=set[str])
    scores: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    claimed: list[int] = field(default_factory=list[int])
