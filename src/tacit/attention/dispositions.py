"""Dispositions: what becomes of an event for a session (C2A-056, 057, 116 to 123, 132, 145, 163).

Two of the seven are open states (`deferred`, `claimed`), five are final. `change` says which record a wish
becomes, or why not; `Duties` folds the records. Knows nothing of delivery or of the clock: `now` is an
argument.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the shelves read these types
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention import records
from tacit.attention.codes import Refusal, refusal
from tacit.attention.eta import eta_of
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.values import Directedness, Intent, Mode, Policy, Priority, Reason
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

MS: Final = 1000


class Disposition(StrEnum):
    """The seven words for how an event ended or stands."""

    RESPONDED = "responded"
    ACKNOWLEDGED = "acknowledged"
    DEFERRED = "deferred"
    CLAIMED = "claimed"
    IGNORED = "ignored"
    SUPERSEDED = "superseded"
    FAILED = "failed"


FINAL: Final = frozenset(Disposition) - {Disposition.DEFERRED, Disposition.CLAIMED}
PERMITTED: Final[dict[Policy, frozenset[Disposition]]] = {
    Policy.MUST_RESPOND: frozenset(Disposition) - {Disposition.IGNORED},
    Policy.MAY_RESPOND: frozenset(Disposition),
    Policy.ACK_ONLY: frozenset({Disposition.ACKNOWLEDGED, Disposition.IGNORED, Disposition.SUPERSEDED}),
    Policy.MUST_NOT_RESPOND: frozenset({Disposition.IGNORED, Disposition.SUPERSEDED}),
}
_EXCUSES: Final = frozenset({"queued", "blocked"})
_SATISFIED_BY_AGREEING: Final = frozenset({Intent.APPROVAL, Intent.RECEIPT, Intent.ACKNOWLEDGEMENT})


@dataclass(frozen=True, slots=True)
class Duty:
    """How one session stands to one event that was delivered to it."""

    event_id: str
    session: str
    policy: Policy
    mode: Mode
    created_at: Moment
    intent: Intent = Intent.PLAIN
    deadline_ms: int | None = None
    attempt: int = 1
    redelivered: int = 0
    disposition: Disposition | None = None
    closed: bool = False
    declined: bool = False
    signal: str | None = None
    resurfaces_at: Moment | None = None
    shift_us: int = 0
    request_id: str = ""
    """The id of the record that first delivered it: the name of the delivery on every wire."""
    accepted: bool = False
    held: bool = False
    """Was the session ever obliged?"""
    directedness: Directedness = Directedness.TO_ME
    reason: Reason = Reason.DIRECT_MESSAGE
    priority: Priority = Priority.NORMAL
    needs_claim: bool = False
    thread_window: bool = False
    because: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    """The reason that was given with the disposition."""

    @property
    def deadline_at(self) -> Moment | None:
        """When the obligation runs out; None when it has no deadline."""
        if self.deadline_ms is None:
            return None
        return Moment(self.created_at + self.deadline_ms * MS + self.shift_us)

    @property
    def owed(self) -> bool:
        """Is an answer still owed?"""
        return self.policy is Policy.MUST_RESPOND and not self.closed

    @property
    def live(self) -> bool:
        """Can time or a connection still bring something?"""
        return not self.closed


@dataclass(frozen=True, slots=True)
class Wish:
    """What a session reports of an event."""

    disposition: Disposition | None
    signal: str | None = None
    reason: str = ""
    eta: str | None = None


def change(
    duty: Duty, wish: Wish, now: Moment, settings: Settings = DEFAULTS
) -> records.Disposition | Refusal:
    """The record that a wish becomes, or the rule that refuses it."""
    if duty.closed:
        return _again(duty, wish)
    if wish.signal == "unclear":
        return _record(duty, wish, shift_us=settings.clarify_ms * MS)
    disposition = wish.disposition
    if disposition is None:
        return refusal("invalid_request", "a disposition is needed", "C2A-117")
    if wish.signal == "declined" and duty.policy is Policy.MUST_RESPOND:
        return _record(duty, wish, closes=True, declined=True)
    if duty.policy is Policy.MUST_NOT_RESPOND and wish.signal is not None:
        if disposition is Disposition.CLAIMED:
            return refusal("policy_forbids", "there is nothing to take on: no answer is wanted", "C2A-063")
        return _record(duty, replace(wish, disposition=Disposition.IGNORED), closes=True)
    if disposition not in PERMITTED[duty.policy]:
        return refusal(
            "invalid_request",
            f"{duty.policy} does not end {disposition}",
            {Policy.MUST_RESPOND: "C2A-120", Policy.ACK_ONLY: "C2A-119"}.get(duty.policy, "C2A-118"),
        )
    if disposition is Disposition.DEFERRED:
        return _deferred(duty, wish, now, settings)
    return _record(duty, wish, closes=disposition in FINAL and _satisfies(duty, wish))


def _again(duty: Duty, wish: Wish) -> records.Disposition | Refusal:
    """A repeat of what is already so leaves it so (C2A-159); anything else comes too late."""
    same = duty.disposition is wish.disposition or (duty.declined and wish.signal == "declined")
    if same or wish.disposition is Disposition.SUPERSEDED:
        return _record(duty, replace(wish, disposition=duty.disposition), closes=True, declined=duty.declined)
    return refusal("invalid_request", f"the event ended as {duty.disposition}", "C2A-122")


def _satisfies(duty: Duty, wish: Wish) -> bool:
    """A receipt closes an obligation only when a receipt was all that was asked for (C2A-121)."""
    if wish.disposition is not Disposition.ACKNOWLEDGED or duty.policy is not Policy.MUST_RESPOND:
        return True
    return wish.signal == "agree" and duty.intent in _SATISFIED_BY_AGREEING


def _deferred(duty: Duty, wish: Wish, now: Moment, settings: Settings) -> records.Disposition | Refusal:
    excused = wish.signal in _EXCUSES
    if not excused and not 1 <= len(wish.reason.strip()) <= 500:
        return refusal(
            "invalid_request",
            "a deferral says why, in 1 to 500 characters",
            "C2A-057",
            remedy="give a reason",
        )
    if not excused and duty.policy is not Policy.MUST_RESPOND:
        return refusal("invalid_request", "only an obligation can be deferred", "C2A-145")
    back = eta_of(wish.eta, now) if wish.eta else None
    return _record(duty, wish, resurfaces_at=back or Moment(now + settings.defer_ms * MS))


def _record(
    duty: Duty,
    wish: Wish,
    *,
    closes: bool = False,
    declined: bool = False,
    resurfaces_at: Moment | None = None,
    shift_us: int = 0,
) -> records.Disposition:
    disposition = Disposition.IGNORED if declined else wish.disposition
    return records.Disposition(
        event_id=duty.event_id,
        session=duty.session,
        disposition=disposition.value if disposition else None,
        closes=closes,
        declined=declined,
        signal=wish.signal,
        reason=wish.reason or None,
        eta=wish.eta,
        resurfaces_at=resurfaces_at,
        shift_us=shift_us,
    )


def withdrawn(duty: Duty, signal: str) -> records.Disposition | None:
    """A reaction was taken back: the event is open again if its disposition came from it."""
    if duty.signal != signal:
        return None
    return records.Disposition(event_id=duty.event_id, session=duty.session, signal=None)


class Duties:
    """Every duty of a group, folded from deliveries and dispositions.

    Where they are kept is the caller's choice; those that are live are always at hand.
    """

    __slots__ = ("_by_event", "_duties")

    def __init__(
        self,
        duties: MutableMapping[tuple[str, str], Duty] | None = None,
        by_event: MutableMapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._duties: MutableMapping[tuple[str, str], Duty] = {} if duties is None else duties
        self._by_event: MutableMapping[str, tuple[str, ...]] = {} if by_event is None else by_event

    def get(self, event_id: str, session: str) -> Duty | None:
        """How a session stands to an event; None when it never got it."""
        return self._duties.get((event_id, session))

    def of_event(self, event_id: str) -> list[Duty]:
        """Every session's duty towards an event."""
        return [self._duties[event_id, session] for session in self._by_event.get(event_id, ())]

    def __iter__(self) -> Iterator[Duty]:
        return iter(self._duties.values())

    def open_of(self, session: str) -> int:
        """How many answers a session owes."""
        return sum(1 for duty in self._duties.values() if duty.session == session and duty.owed)

    def waiting_of(self, session: str) -> list[Duty]:
        """What was delivered to a session and not taken in by it, in the order of delivery."""
        found = [duty for duty in self if duty.session == session and duty.live and not duty.accepted]
        return sorted(found, key=lambda duty: duty.request_id)

    def accepted(self, event_id: str, session: str) -> None:
        """Fold an acceptance."""
        known = self._duties.get((event_id, session))
        if known is not None and not known.accepted:
            self._duties[event_id, session] = replace(known, accepted=True)

    def delivered(self, record: records.Delivery, created_at: Moment, record_id: str = "") -> None:
        """Fold a delivery: the first opens the duty, later ones count or change its policy."""
        key = (record.event_id, record.session)
        known = self._duties.get(key)
        if known is None:
            sessions = {*self._by_event.get(record.event_id, ()), record.session}
            self._by_event[record.event_id] = tuple(sorted(sessions))
            self._duties[key] = Duty(
                record.event_id,
                record.session,
                Policy(record.policy),
                Mode(record.mode),
                created_at,
                Intent(record.intent),
                record.deadline_ms,
                record.attempt,
                request_id=record_id,
                held=record.policy == Policy.MUST_RESPOND,
                directedness=Directedness(record.directedness),
                reason=Reason(record.reason),
                priority=Priority(record.priority),
                needs_claim=record.needs_claim,
                thread_window=record.thread_window,
                because=record.because,
            )
            return
        # A deferred event that is delivered again is open again, and so is one that now obliges (or obliges
        # once more after it had ended): its time starts anew.
        obliges = Policy(record.policy) is Policy.MUST_RESPOND
        raised = obliges and (known.closed or known.policy is not Policy.MUST_RESPOND)
        back = known.disposition is Disposition.DEFERRED or raised
        self._duties[key] = replace(
            known,
            policy=Policy(record.policy),
            mode=Mode(record.mode),
            directedness=Directedness(record.directedness),
            reason=Reason(record.reason),
            priority=Priority(record.priority),
            needs_claim=record.needs_claim,
            because=record.because or known.because,
            attempt=max(known.attempt, record.attempt),
            accepted=False,
            held=known.held or record.policy == Policy.MUST_RESPOND,
            closed=False if back else known.closed,
            redelivered=0 if back else known.redelivered + 1,
            deadline_ms=record.deadline_ms,
            disposition=None if back else known.disposition,
            declined=False if back else known.declined,
            signal=None if back else known.signal,
            resurfaces_at=None if back else known.resurfaces_at,
            created_at=created_at if back else known.created_at,
            shift_us=0 if back else known.shift_us,
        )

    def disposed(self, record: records.Disposition) -> None:
        """Fold a disposition."""
        key = (record.event_id, record.session)
        known = self._duties.get(key)
        if known is None:
            return
        self._duties[key] = replace(
            known,
            disposition=Disposition(record.disposition) if record.disposition else None,
            closed=record.closes,
            declined=record.declined,
            signal=record.signal,
            note=record.reason or "",
            resurfaces_at=Moment(record.resurfaces_at) if record.resurfaces_at is not None else None,
            shift_us=known.shift_us + record.shift_us,
        )
