"""Dispositions: what becomes of an event for a session (C2A-056, 057, 116 to 123, 132, 145, 163).

Two of the seven are open states (`deferred`, `claimed`), five are final. `change` says which record a wish
becomes, or why not; `Duties` folds the records. Knows nothing of delivery or of the clock: `now` is an
argument.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention import records
from tacit.attention.codes import Refusal, refusal
from tacit.attention.eta import eta_of
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.values import Intent, Mode, Policy
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Every duty of a group, folded from deliveries and dispositions."""

    __slots__ = ("_by_event", "_duties")

    def __init__(self) -> None:
        self._duties: dict[tuple[str, str], Duty] = {}
        self._by_event: dict[str, set[str]] = {}

    def get(self, event_id: str, session: str) -> Duty | None:
        """How a session stands to an event; None when it never got it."""
        return self._duties.get((event_id, session))

    def of_event(self, event_id: str) -> list[Duty]:
        """Every session's duty towards an event."""
        return [self._duties[event_id, session] for session in sorted(self._by_event.get(event_id, ()))]

    def __iter__(self) -> Iterator[Duty]:
        return iter(self._duties.values())

    def open_of(self, session: str) -> int:
        """How many answers a session owes."""
        return sum(1 for duty in self._duties.values() if duty.session == session and duty.owed)

    def delivered(self, record: records.Delivery, created_at: Moment) -> None:
        """Fold a delivery: the first opens the duty, later ones count or change its policy."""
        key = (record.event_id, record.session)
        known = self._duties.get(key)
        if known is None:
            self._by_event.setdefault(record.event_id, set()).add(record.session)
            self._duties[key] = Duty(
                record.event_id,
                record.session,
                Policy(record.policy),
                Mode(record.mode),
                created_at,
                Intent(record.intent),
                record.deadline_ms,
                record.attempt,
                request_id=record.request_id,
            )
            return
        # A deferred event that is delivered again is open again; its time starts anew.
        back = known.disposition is Disposition.DEFERRED
        self._duties[key] = replace(
            known,
            policy=Policy(record.policy),
            mode=Mode(record.mode),
            attempt=max(known.attempt, record.attempt),
            redelivered=0 if back else known.redelivered + 1,
            deadline_ms=record.deadline_ms,
            disposition=None if back else known.disposition,
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
            resurfaces_at=Moment(record.resurfaces_at) if record.resurfaces_at is not None else None,
            shift_us=known.shift_us + record.shift_us,
        )
