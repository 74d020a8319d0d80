"""On whose behalf the hub is reading: the credential that pays for it, and how its leaving is noticed.

Said once, where a door has made sure of who asks; whatever is read for that request finds it here. What the
hub does of its own accord is done for the house.
"""

from __future__ import annotations

import contextvars
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tacit.base.fair_turns import HOUSE

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the id of its credential, and who wants to be told when it has left."""

    owner: str = HOUSE
    leaving: dict[Callable[[], None], None] = field(default_factory=dict["Callable[[], None]", None])


THE_HOUSE: Final = Caller()
_CALLER: Final[contextvars.ContextVar[Caller]] = contextvars.ContextVar("tacit_caller", default=THE_HOUSE)


def caller() -> Caller:
    """Who asks."""
    return _CALLER.get()


def reading_for(who: Caller) -> None:
    """From now on this task, and what it starts, reads for somebody."""
    _CALLER.set(who)


def for_the_house() -> contextvars.Context:
    """A context in which the hub does something of its own accord."""
    context = contextvars.copy_context()
    context.run(_CALLER.set, THE_HOUSE)
    return context
