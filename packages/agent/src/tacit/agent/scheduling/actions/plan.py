"""Which actions follow from a confirmed proposal, who carries each out, and how a failure is told.

A2ACP-161, A2ACP-166, A2ACP-169.

All of it is computed from the proposal's packet, so that both sides, and one side before and after a crash,
come to the same actions under the same ids. Knows nothing of how it is done or undone.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.a2acp.packets import bodies
    from tacit.base.strict_json import Json, JsonObject

EACH: Final = "each"
PROPOSER: Final = "proposer"

TIME: Final = ("date", "time", "duration", "timezone", "handover_date")
PLACE: Final = ("place", "venue", "address", "location", "format")
_TELLING: Final = (*TIME, *PLACE)


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of `actions_on_confirm`, as one agent carries it out."""

    action_id: str
    """The same whenever and wherever it is computed; tells nothing of what it names."""
    index: int
    """Its place in the proposal."""
    action: str
    service: str
    executor: str
    """The address of the agent that carries it out."""
    reversible: bool
    label: str
    """Its name for its owner, unlike any other of the proposal: what is ticked."""


def action_id(thread_id: str, packet_id: str, index: int, executor: str) -> str:
    """An id made of the proposal and of who acts; the same action has the same one after every crash."""
    seed = "\n".join(("tacit action 1", thread_id, packet_id, str(index), executor))
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
    return "act_" + base64.b32encode(digest).decode("ascii").lower()[:26]


def is_calendar(action: str, service: str = "") -> bool:
    """Whether it concerns everybody's own calendar."""
    return "calendar" in {*action.lower().split("_"), *service.lower().split("_")}


def plan(
    entries: Sequence[bodies.PacketAction],
    *,
    thread_id: str,
    packet_id: str,
    proposer: str,
    participants: Iterable[str],
) -> tuple[Action, ...]:
    """Every action of a proposal, in its order, once for each agent that carries it out (A2ACP-166).

    Without an `executor`, or with one that is none, calendar entries are everybody's and the rest is the
    proposer's.
    """
    everybody = sorted({proposer, *participants})
    names = [entry.action for entry in entries]
    planned: list[Action] = []
    for index, entry in enumerate(entries):
        service = entry.service or ""
        label = entry.action if names.count(entry.action) == 1 else f"{entry.action}#{index + 1}"
        for who in _executors(entry.executor, entry.action, service, proposer, everybody):
            ident = action_id(thread_id, packet_id, index, who)
            planned.append(Action(ident, index, entry.action, service, who, entry.reversible, label))
    return tuple(planned)


def _executors(
    said: str | None, action: str, service: str, proposer: str, everybody: Sequence[str]
) -> Sequence[str]:
    if said is not None and said.startswith("agent:"):
        try:
            # A stranger's address is nobody here: then nobody acts, rather than everybody.
            return [who for who in everybody if who == str(address.parse(said))]
        except Refused:
            return []
    if said not in {EACH, PROPOSER}:
        said = EACH if is_calendar(action, service) else PROPOSER
    return everybody if said == EACH else [proposer]


def mine(actions: Iterable[Action], me: str) -> tuple[Action, ...]:
    """What I carry out, in the order in which I do it.

    Irreversible actions come last: whatever fails before them can still be undone as if nothing had been.
    """
    return tuple(
        sorted(
            (each for each in actions if each.executor == me),
            key=lambda each: (not each.reversible, each.index),
        )
    )


def failure(action: Action, details: Mapping[str, Json]) -> JsonObject:
    """The failure as a constraint: `context.conflict` of the next packet (A2ACP-169).

    It says which action failed for which time and place, all of which the other side has confirmed itself;
    what a service answered stays with the owner.
    """
    excluded = {name: details[name] for name in _TELLING if name in details}
    placed = any(name in details for name in PLACE) and not is_calendar(action.action, action.service)
    return {
        "type": "constraint_clash",
        "field": "location_preference" if placed else "time_windows",
        "agent_a_values": [excluded],
        "agent_b_values": [],
        "attempted_resolution": "an action failed and was undone",
        "failed_action": action.action,
    }
