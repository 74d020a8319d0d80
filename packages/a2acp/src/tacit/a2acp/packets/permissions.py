"""The `permissions` of a packet: which fields it carries, which it withholds, on what consent.

A2ACP-038, A2ACP-039, A2ACP-040.

Checked against the body that is really sent; the consent filter makes the block. Withheld are names alone,
never of a field that is carried after all. Received blocks are shown and believed in nothing.
"""

from __future__ import annotations

from typing import Any, Final, cast

from tacit.base.errors import Refused

CARRIERS: Final = ("context", "context_provided", "shared_context")
"""The members whose keys are fields of a person's."""
STRUCTURAL: Final = frozenset({"flexibility", "conflict", "proposed_alternatives"})
"""Keys there that speak of the negotiation and are no fields."""


def shared_fields(body: dict[str, Any]) -> tuple[str, ...]:
    """The names of the fields that a body carries, in its order (A2ACP-039)."""
    names: dict[str, None] = {}
    for carrier in CARRIERS:
        inside: object = body.get(carrier)
        if isinstance(inside, dict):
            names |= dict.fromkeys(cast("dict[str, object]", inside))
    return tuple(name for name in names if name not in STRUCTURAL)


def check(body: dict[str, Any]) -> None:
    """`Refused` unless a body that carries a person's fields says so, exactly."""
    shared, said = set(shared_fields(body)), body.get("permissions")
    if said is None:
        if shared:
            raise Refused("bad_packet", "permissions are missing beside what is shared", row="A2ACP-039")
        return
    if set(said["shared_fields"]) != shared:
        raise Refused("bad_packet", "shared_fields are not what the packet carries", row="A2ACP-039")
    if shared & set(said["withheld_fields"]):
        raise Refused("bad_packet", "a field is withheld and carried at once", row="A2ACP-040")
