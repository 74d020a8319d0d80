"""The filter that every packet passes on its way out, and that alone makes it fit to leave.

A2ACP-038, A2ACP-039, A2ACP-040, A2ACP-070, A2ACP-071, A2ACP-072, A2ACP-080, A2ACP-134, A2ACP-135,
A2ACP-139, A2ACP-140, A2ACP-148.

Theory of operation. A draft comes from anybody: a model, a surface, a command, our own rules. Nothing it
says about itself counts, neither its `permissions` nor its claims of approval. It is copied as plain JSON
(what is examined is what is sent), cut down to the keys of its type, and its fields are walked
(`consent.walk`). What has to be asked and was not approved is left out and handed back by `examine`; what
never goes is left out. Then the block of permissions is written from what is there, and every text and key
of the result is searched for values that may not go: those the caller's scanner was made of, and those just
taken out of this very draft. A hit refuses the whole packet, naming fields and no value: the words around a
value cannot be mended here.

What can go wrong: a secret nobody told us of, in words of a model's own, in a free text. For this there is
only the caller's care in what it lets a model see. Approvals come from the caller, as a field and its
basis; that they are true is the engine's matter. Approving a narrow name (`cuisine_preference`) opens that
name, approving the tier field opens all that it covers.

A packet that was cleared before and has not left yet, read back from the vault (A2ACP-072, A2ACP-215).

Only what `filter.clear` made is kept under a packet's id, and the journal names it by a keyed hash: a body
that is not the same any more is not restored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from tacit.a2acp.consent import aliases, onward
from tacit.a2acp.consent.disguises import UNSEEN, name, visible
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.shape import SHAPES, trimmed
from tacit.a2acp.consent.walk import HeldValue, Removed, Walk, weakest
from tacit.a2acp.packets.cleared import Cleared
from tacit.a2acp.packets.schemas import check_out
from tacit.base.errors import Corrupt, Refused
from tacit.base.strict_json import Malformed, canonical, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.a2acp.consent.tiers import Policy, PolicyLookup
    from tacit.a2acp.packets.packet import Fields
    from tacit.base.moment import Moment


NO_CONSENT: Final = "none"
DECLINED: Final = "declined"
NOT_AVAILABLE: Final = "not_available"
_CARRIERS: Final = ("context", "context_provided", "shared_context")
"""The parts of a packet whose keys are the shared fields (A2ACP-039)."""
_PERMITTED: Final = frozenset(
    {"context", "context_request", "context_response", "thread_fork", "resolution", "resolution_response"}
)
"""Types that may carry fields of their owner, and then say which."""


@dataclass(frozen=True, slots=True)
class PacketDraft:
    """A packet that somebody would like to send."""

    to: str
    type: str
    thread_id: str
    packet_id: str
    at: Moment
    body: Fields = field(repr=False)


@dataclass(frozen=True, slots=True)
class Examined:
    """What may go of a draft, what its owner has to be asked, and the names of what never goes."""

    kept: Fields = field(repr=False)
    held: tuple[HeldValue, ...]
    withheld: tuple[str, ...]


def examine(
    body: Fields,
    packet_type: str,
    policy: Policy,
    counterpart: str,
    approved: Mapping[str, str],
    *,
    known: Iterable[object] = (),
    members: frozenset[str] = frozenset(),
) -> Examined:
    """The filter's view of a body, for asking before anything is sent (A2ACP-070).

    `known` are the values that the counterpart said in this thread, `members` the addresses that take part in
    it: both are no news to it.
    """
    walk = Walk(policy, counterpart, approved, known=known, members=members)
    kept = _walked(body, packet_type, walk)
    withheld = {removed.names[0] for removed in walk.removed if removed.never}
    return Examined(kept, tuple(walk.held), tuple(sorted(withheld)))


def clear(
    draft: PacketDraft,
    policy: Policy,
    approved: Mapping[str, str],
    asked: frozenset[str],
    scanner: Scanner,
    *,
    known: Iterable[object] = (),
    members: frozenset[str] = frozenset(),
    passed_on: bool = False,
    check: Callable[[str, Fields], object] | None = None,
) -> Cleared:
    """The packet that may leave, or `Refused`.

    `asked` are the fields that the counterpart asked for in this thread; `known` what it said there as values
    of its own, not what it asked or suggested: a guess is no knowledge. `passed_on` when it goes to the
    coordinator of a group, who is told what it may tell the others.
    """
    known = tuple(known)
    walk = Walk(policy, draft.to, approved, known=known, members=members)
    body = _walked(draft.body, draft.type, walk)
    _without_reasons(body, draft.type, walk.lists, asked)
    if draft.type in _PERMITTED:
        _declare(body, walk, asked)
        named: list[str] = body["permissions"]["shared_fields"] if "permissions" in body else []
        if passed_on and (onwards := [one for one in named if onward.listed(policy, one)]):
            body["permissions"]["onward_fields"] = onwards
    uncleared = _uncleared(body, scanner, walk, known)
    if uncleared:
        names = sorted({walk.lists.chain(one)[-1] for one in uncleared})
        raise Refused(
            "uncleared_value",
            f"the packet holds a value of: {', '.join(names)}",
            row="A2ACP-071",
            details={"fields": names},
        )
    (check or check_out)(draft.type, body)
    return Cleared(
        to=draft.to,
        type=draft.type,
        thread_id=draft.thread_id,
        packet_id=draft.packet_id,
        at=draft.at,
        body=body,
        bases=tuple(walk.bases.items()),
    )


def _walked(body: Fields, packet_type: str, walk: Walk) -> Fields:
    shape = SHAPES.get(packet_type)
    if shape is None:
        raise Refused("unknown_type", "a packet of this type is not sent", row="A2ACP-072")
    return cast("Fields", trimmed(shape, _plain(body), "", walk.area))


def _plain(body: Fields) -> Fields:
    """The body as its bytes will say it: nothing that is one thing looked at and another written."""
    try:
        value = parse(canonical(body))
    except (Malformed, TypeError, ValueError, RecursionError):
        raise Refused("bad_packet", "the body is no plain JSON object", row="A2ACP-072") from None
    if not isinstance(value, dict):
        raise Refused("bad_packet", "the body is no plain JSON object", row="A2ACP-072")
    return cast("Fields", _seen(value))


def _seen(value: object) -> object:
    """The value without characters that nobody sees: none in keys; in texts those that only carry others."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        found = {visible(key): _seen(inner) for key, inner in fields.items()}
        if len(found) != len(fields):
            raise Refused("bad_packet", "two keys look the same", row="A2ACP-072")
        return found
    if isinstance(value, list):
        return [_seen(one) for one in cast("list[object]", value)]
    return UNSEEN.sub("", value) if isinstance(value, str) else value


def _without_reasons(body: Fields, packet_type: str, lists: PolicyLookup, asked: frozenset[str]) -> None:
    """No hint, no reason (A2ACP-139, A2ACP-140, A2ACP-148), and no refusal of what nobody asked for."""
    if "actual_reason" in body:
        body["actual_reason"] = None
    if packet_type != "context_response" or "context_unavailable" not in body:
        return
    wanted = {one: field for field in sorted(asked) for one in (lists.chain(field)[-1], name(field))}
    entries: list[Fields] = []
    for entry in cast("list[Fields]", body["context_unavailable"]):
        refused = entry.get("field")
        if not isinstance(refused, str):
            continue
        # As the counterpart spelt it: the draft's spelling could say more.
        called = wanted.get(name(refused)) or wanted.get(lists.chain(refused)[-1])
        if called is not None:
            status = NOT_AVAILABLE if entry.get("status") == NOT_AVAILABLE else DECLINED
            entries.append({"field": called, "status": status, "hint": None})
    body["context_unavailable"] = entries


def _declare(body: Fields, walk: Walk, asked: frozenset[str]) -> None:
    """`permissions` of what is sent (A2ACP-038, A2ACP-039, A2ACP-040); none where nothing is at stake."""
    carried = [cast("Fields", body[one]) for one in _CARRIERS if one in body]
    shared = [
        key for key in dict.fromkeys(key for part in carried for key in part) if key not in aliases.STRUCTURAL
    ]
    withheld = {one for removed in walk.removed for one in _sayable(removed, walk.lists, asked)}
    for entry in cast("list[Fields]", body.get("context_unavailable", [])):
        if entry["status"] == DECLINED:
            withheld.add(entry["field"])
    if not carried and not withheld and not walk.bases:
        return
    body["permissions"] = {
        "shared_fields": shared,
        "withheld_fields": sorted(withheld - set(shared)),
        "consent_level": weakest(walk.bases.values()) if walk.bases else NO_CONSENT,
    }


def _sayable(removed: Removed, lists: PolicyLookup, asked: frozenset[str]) -> Iterable[str]:
    """The names under which a removed field may be called withheld.

    As the counterpart called it, where it asked. Else only in words of the shipped table: a name that a draft
    made up, or one of the owner's own, could tell what it is meant to keep.
    """
    requested = [
        one
        for one in asked
        if name(one) == removed.names[0] or lists.chain(one)[-1] in {removed.names[0], removed.names[-1]}
    ]
    if requested:
        return requested
    return [one for one in removed.names if one in aliases.WORDS][:1]


def _uncleared(body: Fields, scanner: Scanner, walk: Walk, known: tuple[object, ...]) -> frozenset[str]:
    """The fields of which a value stands where it may not.

    Names of what is refused or withheld are the counterpart's own words or the table's. Were they searched, a
    counterpart could ask for a field called like its guess, and learn from our silence.
    """
    removed = Scanner((one.names[-1], one.value) for one in walk.removed)
    said = {key: value for key, value in body.items() if key not in {"permissions", "context_unavailable"}}
    return scanner.hits(said, known=known, cleared=walk.cleared, firm=walk.firm, also=removed)


def restored(kept: PacketDraft, *, named: str, hashed: str) -> Cleared:
    """The packet again; `named` is the journal's keyed hash of it, `hashed` that of what was read."""
    if named != hashed:
        raise Corrupt(
            "a packet that waits to leave is not what was decided",
            hint="the agent's folder was changed from outside; restore a backup",
        )
    return Cleared(kept.to, kept.type, kept.thread_id, kept.packet_id, kept.at, kept.body)
