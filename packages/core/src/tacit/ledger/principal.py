"""Principals: who can write events (CCCS-004, CCCS-005, CCCS-006, CCCS-039).

`user` is the owner, `system` the hub, `svc:<name>` a tool or a bridge, `usr:<id>` a further person, anything
else an actor. Knows nothing of credentials.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

from tacit.base.enums import quick_members
from tacit.ledger.codes import denied, invalid

USER: Final = "user"
SYSTEM: Final = "system"
RESERVED_SERVICES: Final = "svc:cccc."

_ACTOR: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_SERVICE: Final = re.compile(r"svc:[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
_PERSON: Final = re.compile(r"usr:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


@quick_members
class PrincipalKind(Enum):
    """What sort of writer a principal is."""

    USER = "user"
    SYSTEM = "system"
    ACTOR = "actor"
    SERVICE = "service"
    PERSON = "person"

    # There is one of each: their identity says it as well as their name, and is asked for every event.
    __hash__ = object.__hash__

    @property
    def is_human(self) -> bool:
        """A person: the owner or a further one."""
        return self in {PrincipalKind.USER, PrincipalKind.PERSON}


ACTOR: Final = PrincipalKind.ACTOR
PERSON: Final = PrincipalKind.PERSON
_LONGEST: Final = 128
"""More characters than any principal has: what is longer is not worth remembering."""


def kind_of(principal: str) -> PrincipalKind | None:
    """The kind that the spelling of a principal stands for; None when it is no principal at all."""
    return _kind_of(principal) if len(principal) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _kind_of(principal: str) -> PrincipalKind | None:
    if principal == USER:
        return PrincipalKind.USER
    if principal == SYSTEM:
        return PrincipalKind.SYSTEM
    if principal.startswith("svc:"):
        return PrincipalKind.SERVICE if _SERVICE.match(principal) else None
    if principal.startswith("usr:"):
        return PrincipalKind.PERSON if _PERSON.match(principal) else None
    return PrincipalKind.ACTOR if _ACTOR.match(principal) else None


def require_actor_id(actor_id: str) -> None:
    """Refuse an id that an actor may not have."""
    if kind_of(actor_id) is not PrincipalKind.ACTOR:
        raise invalid(
            "an actor id is 1 to 64 letters, digits, '.', '_' or '-', starts with a letter or digit, and is "
            "neither 'user' nor 'system'",
            "CCCS-004",
        )


def require_service(name: str, *, allowed: frozenset[str] = frozenset()) -> None:
    """Refuse a service name that is malformed, or reserved and not listed in the hub's configuration."""
    if kind_of(name) is not PrincipalKind.SERVICE:
        raise invalid("a service is named svc:<name>, preferably svc:com.example.mybot", "CCCS-005")
    if name.startswith(RESERVED_SERVICES) and name not in allowed:
        raise denied("names under svc:cccc. are reserved; list this one with --allow-service", "CCCS-006")
