"""What an owner answers to a question, whichever feature asked it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said to one question."""

    share: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Field to value; None stands for the value that was shown."""
    decline: frozenset[str] = frozenset()
    decline_all: bool = False
    confirm: bool = False
    alternative: int | None = None
    ticks: frozenset[str] = frozenset()
    counter: tuple[str, str] | None = None
    refuse: bool = False
    excuse: str = ""
    choose: int | None = None
    dismiss: bool = False
    via: str = ""
    """Where it was said; for the receipt, and for whoever asks who closed a question."""
