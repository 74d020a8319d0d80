"""Claims: at most one live owner for an event or thread.

Rows: C2A-136, C2A-144, C2A-152, C2A-153, C2A-154, C2A-155, C2A-156, C2A-157, C2A-158, C2A-222. A table of
transitions, folded from `x.c2a.claim` records. A claim that has run out owns nothing, even before its end is
written down. One session holds so many and no more, and whoever holds more than half of that renews none:
what it does not get to runs out, and is others' again. Knows nothing of delivery; `now` is an argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings, how_to_change
from tacit.attention.state import records
from tacit.base.moment import Moment, rfc3339
from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping


MS: Final = 1000


class Holding(StrEnum):
    """Is a target owned?"""

    FREE = "free"
    HELD = "held"


TRANSITIONS: Final[dict[tuple[Holding, str], Holding]] = {
    (Holding.FREE, "take"): Holding.HELD,
    (Holding.FREE, "assign"): Holding.HELD,
    (Holding.HELD, "renew"): Holding.HELD,
    (Holding.HELD, "release"): Holding.FREE,
    (Holding.HELD, "expire"): Holding.FREE,
}
"""What each record does; a pair that is not here changes nothing, so that a replayed record is harmless."""


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim in force until `expires_at`."""

    target: str
    session: str
    expires_at: Moment
    thread: str | None = None
    during: str | None = None
    """The event that a lease was taken for, where its taker said so."""


def event_target(event_id: str) -> str:
    """The claim target of an event."""
    return f"event:{event_id}"


def thread_target(root: str) -> str:
    """The claim target of a thread."""
    return f"thread:{root}"


def path_target(path: str) -> str | None:
    """The claim target of a file or folder, named from its project's root; None when it is not so named.

    A claim on a path is a lease: it says that somebody is at it. It concerns no message, covers what is
    inside a folder, and ends with the turn in which it was taken.
    """
    parts = [part for part in path.strip().split("/") if part not in {"", "."}]
    if path.strip().startswith(("/", "~")) or ".." in parts or not parts or not path.isprintable():
        return None
    return "path:" + "/".join(parts)


def _overlaps(path: str, other: str) -> bool:
    """Is one path the other, or inside it?"""
    shorter, longer = sorted((path, other), key=len)
    return longer == shorter or longer.startswith(shorter + "/")


class Claims:
    """Every claim of a group between two events."""

    __slots__ = ("_held",)

    def __init__(self, held: MutableMapping[str, HeldClaim] | None = None) -> None:
        self._held: MutableMapping[str, HeldClaim] = {} if held is None else held

    def __iter__(self) -> Iterator[HeldClaim]:
        return iter(self._held.values())

    def holder(self, target: str, thread: str | None, now: Moment) -> HeldClaim | None:
        """Who owns the target at this time: by a claim on it, on its thread, or, for a thread, inside it."""
        own = self._live(target, now)
        if own is None and thread is not None:
            own = self._live(thread_target(thread), now)
        return own

    def rival(self, target: str, thread: str | None, session: str, now: Moment) -> HeldClaim | None:
        """Somebody else's claim that stands in the way of this one."""
        held = self.holder(target, thread, now)
        if held is not None and held.session != session:
            return held
        if is_lease(target):
            for one in self._held.values():
                if one.session != session and one.expires_at > now and _overlaps(one.target, target):
                    return one
        if target.startswith("thread:"):
            root = target.removeprefix("thread:")
            for one in self._held.values():
                if one.thread == root and one.session != session and one.expires_at > now:
                    return one
        return None

    def _live(self, target: str, now: Moment) -> HeldClaim | None:
        held = self._held.get(target)
        return held if held is not None and held.expires_at > now else None

    def apply(self, record: records.ClaimRecord, at: Moment) -> None:
        """Fold a record; it took effect at `at`."""
        known = self._held.get(record.target)
        if known is not None and known.expires_at <= at and record.action in {"take", "assign"}:
            known = None
        state = Holding.FREE if known is None else Holding.HELD
        after = TRANSITIONS.get((state, record.action))
        if after is None or (known is not None and known.session != record.session):
            return
        if after is Holding.FREE:
            del self._held[record.target]
        else:
            self._held[record.target] = HeldClaim(
                record.target, record.session, Moment(record.expires_at), record.thread, record.during
            )

    def ended(self, now: Moment) -> list[records.ClaimRecord]:
        """The records for claims that have run out: each reopens its target (C2A-155)."""
        return [
            records.ClaimRecord(target=held.target, thread=held.thread, session=held.session, action="expire")
            for held in sorted(self._held.values(), key=lambda one: (one.expires_at, one.target))
            if held.expires_at <= now
        ]

    def end_leases(self, session: str, event_ids: Collection[str]) -> None:
        """A turn of the session, about these events, is over: it is at no file any more.

        What was taken during another turn of it stays, for several may run side by side.
        """
        for one in list(self._held.values()):
            is_its = one.session == session and (one.during is None or one.during in event_ids)
            if is_its and is_lease(one.target):
                del self._held[one.target]

    def of_session(self, session: str, now: Moment) -> list[HeldClaim]:
        """The live claims of a session."""
        return [held for held in self._held.values() if held.session == session and held.expires_at > now]

    def held_beside(self, target: str, session: str, now: Moment) -> int:
        """How many others of the target's sort a session holds: questions and threads, or files."""
        return sum(
            1
            for held in self.of_session(session, now)
            if held.target != target and is_lease(held.target) == is_lease(target)
        )


def is_lease(target: str) -> bool:
    """Is it a file that is claimed, and no message?"""
    return target.startswith("path:")


def _most(target: str) -> str:
    """The setting that bounds claims of this sort."""
    return "leases_per_session" if is_lease(target) else "claims_per_session"


def has_room(claims: Claims, target: str, session: str, now: Moment, settings: Settings) -> bool:
    """May the session hold this one too?"""
    return claims.held_beside(target, session, now) < getattr(settings, _most(target))


def may_renew(claims: Claims, target: str, session: str, now: Moment, settings: Settings) -> bool:
    """Does a claim last longer by what its session does? Not while that holds more than half its most."""
    most: int = getattr(settings, _most(target))
    return claims.held_beside(target, session, now) + 1 <= max(1, most // 2)


def take(
    claims: Claims,
    target: str,
    session: str,
    now: Moment,
    *,
    thread: str | None = None,
    ttl_ms: int | None = None,
    assigned: bool = False,
    during: str | None = None,
    settings: Settings = DEFAULTS,
) -> records.ClaimRecord | Refusal:
    """The record of a claim, or of its renewal; refused while somebody else owns the target."""
    wanted = settings.claim_ttl_ms if ttl_ms is None else ttl_ms
    if not settings.claim_ttl_min_ms <= wanted <= settings.claim_ttl_max_ms:
        return refusal(
            "invalid_request",
            "a claim lasts between its least and its most time",
            "C2A-155",
            remedy=f"give ttlMs from {settings.claim_ttl_min_ms} to {settings.claim_ttl_max_ms}",
        )
    rival = claims.rival(target, thread, session, now)
    if rival is not None:
        return conflict(rival)
    held = claims.holder(target, None, now)
    until = now + wanted * MS
    if held is None and not has_room(claims, target, session, now, settings):
        return too_many(target, settings)
    if held is not None and not may_renew(claims, target, session, now, settings):
        until = min(until, held.expires_at)
    return records.ClaimRecord(
        target=target,
        thread=thread,
        session=session,
        action="renew" if held is not None else ("assign" if assigned else "take"),
        expires_at=until,
        during=during,
    )


def too_many(target: str, settings: Settings) -> Refusal:
    """The session holds as much as one may (C2A-155)."""
    name = _most(target)
    return refusal(
        "rate_limited",
        f"a session holds at most {getattr(settings, name)} of these at once",
        "C2A-155",
        remedy=f"answer what you hold, or give it back with `release`; {how_to_change(name)}",
        limit=name,
    )


def conflict(rival: HeldClaim) -> Refusal:
    """Somebody else owns it (C2A-103)."""
    return refusal(
        "claim_conflict",
        "another session owns this",
        "C2A-103",
        remedy="leave it to the owner, or try again when the claim has ended",
        owner=rival.session,
        expiresAt=rfc3339(rival.expires_at),
    )


def release(claims: Claims, target: str, session: str, now: Moment) -> records.ClaimRecord | Refusal | None:
    """The record that gives a claim back; None when there was none."""
    held = claims.holder(target, None, now)
    if held is None:
        return None
    if held.session != session:
        return conflict(held)
    return records.ClaimRecord(target=target, thread=held.thread, session=session, action="release")


def renewals(
    claims: Claims, session: str, targets: Iterable[str], now: Moment, settings: Settings = DEFAULTS
) -> list[records.ClaimRecord]:
    """The owner spoke or reported progress: its claims there last longer, unless it hoards (C2A-155)."""
    found: list[records.ClaimRecord] = []
    for target in targets:
        held = claims.holder(target, None, now)
        if held is None or held.session != session:
            continue
        if may_renew(claims, target, session, now, settings):
            until = max(held.expires_at, now + settings.claim_ttl_ms * MS)
            found.append(
                records.ClaimRecord(
                    target=target, thread=held.thread, session=session, action="renew", expires_at=until
                )
            )
    return found


def assignee(members: Iterable[str], owners: frozenset[str], load: Mapping[str, int]) -> str | None:
    """Whom the host picks when nobody claimed: the stream's owner, else the least loaded, ties by id.

    Row C2A-222.
    """
    ranked = sorted(members, key=lambda one: (one not in owners, load.get(one, 0), one))
    return ranked[0] if ranked else None


def assign_at(created_at: Moment, settings: Settings = DEFAULTS) -> Moment:
    """When an unclaimed role mention is assigned."""
    return Moment(created_at + settings.assign_after_ms * MS)


@dataclass(frozen=True, slots=True)
class OpenOffer:
    """A question to several agents: who may take it, since when it stands open, who holds it."""

    event_id: str
    members: tuple[str, ...]
    at: Moment
    held: bool = False
    assigned: bool = False
