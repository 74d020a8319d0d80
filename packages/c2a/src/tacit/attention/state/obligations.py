"""Obligations: how a session stands to an event that was delivered to it, and how that ends.

Rows: C2A-056, C2A-057, C2A-116, C2A-117, C2A-118, C2A-119, C2A-120, C2A-121, C2A-122, C2A-123, C2A-132,
C2A-145, C2A-163. Of the seven dispositions two are open states (`deferred`, `claimed`), five are final.
`change` says which record a reported disposition becomes, or why not; `Obligations` folds the records. An
answer can be put off, but not from one time to the next: what was owed since a moment comes back at its
horizon at the latest, and goes further only if a person agrees. Knows nothing of delivery or of the clock:
`now` is an argument.

Deadlines: what is due when an obligation is not met.

Rows: C2A-056, C2A-059, C2A-122, C2A-161, C2A-173, C2A-174, C2A-175, C2A-176, C2A-177, C2A-178. Redeliver to
the session that is already responsible, then escalate to one and lower the first copy; a deferred event comes
back at its time. A permitted answer that never came is `ignored` when its window closes. All of it counts
silence: time runs from the last sign that the session is at it (`tacit.attention.state.work`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence  # noqa: TC003 - the state store reads these types
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.settings import DEFAULTS, Settings, how_to_change
from tacit.attention.state import records
from tacit.base.moment import LAST, SECOND, Moment, parse_rfc3339
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.vocabulary import Directedness, Disposition, Intent, Mode, Policy, Priority, Reason
from tacit.ledger.ports import Lists, no_lists

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping


MS: Final = 1000
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
class Obligation:
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
    alive_at: Moment = Moment(0)
    """When the session was last known to be at it: a deadline counts silence."""
    instead_of: str = ""
    """The session that it moved from."""
    obliged_at: Moment = Moment(0)
    """Since when it is owed; coming back after it was put off does not start it anew."""

    def horizon(self, settings: Settings) -> Moment:
        """Until when it can be put off without a person: its deadline, and the time of one deferral."""
        deadline_ms = self.deadline_ms if self.deadline_ms is not None else settings.deadline_ms
        return Moment((self.obliged_at or self.created_at) + (deadline_ms + settings.defer_ms) * MS)

    @property
    def quiet_since(self) -> Moment:
        """From when its time runs: its delivery, or the last sign that the session is at it."""
        return Moment(max(self.created_at + self.shift_us, self.alive_at))

    def is_longer_with(self, alive_at: Moment) -> bool:
        """Does a sign of life at this moment give it more time?

        A copy that was lowered is late for good: its session looks at the thread first (C2A-174).
        """
        lowered = self.held and self.policy is not Policy.MUST_RESPOND
        return not self.closed and not lowered and alive_at > self.quiet_since

    @property
    def deadline_at(self) -> Moment | None:
        """When the obligation runs out; None when it has no deadline."""
        return Moment(self.quiet_since + self.deadline_ms * MS) if self.deadline_ms is not None else None

    @property
    def owed(self) -> bool:
        """Is an answer still owed?"""
        return self.policy is Policy.MUST_RESPOND and not self.closed

    @property
    def live(self) -> bool:
        """Can time or a connection still bring something?"""
        return not self.closed


@dataclass(frozen=True, slots=True)
class ReportedDisposition:
    """What a session reports of an event."""

    disposition: Disposition | None
    signal: str | None = None
    reason: str = ""
    eta: str | None = None
    agreed: bool = False
    """A person agreed that it is put off so long."""


def change(
    obligation: Obligation, reported: ReportedDisposition, now: Moment, settings: Settings = DEFAULTS
) -> records.DispositionRecord | Refusal:
    """The record that a reported disposition becomes, or the rule that refuses it."""
    if obligation.closed:
        return _again(obligation, reported)
    if reported.signal == "unclear":
        # Asking back gives time once; who asks again is answered or is late.
        return _record(obligation, reported, shift_us=0 if obligation.shift_us else settings.clarify_ms * MS)
    disposition = reported.disposition
    if disposition is None:
        return refusal("invalid_request", "a disposition is needed", "C2A-117")
    if reported.signal == "declined" and obligation.policy is Policy.MUST_RESPOND:
        return _record(obligation, reported, closes=True, declined=True)
    if obligation.policy is Policy.MUST_NOT_RESPOND and reported.signal is not None:
        if disposition is Disposition.CLAIMED:
            return refusal("policy_forbids", "there is nothing to take on: no answer is wanted", "C2A-063")
        return _record(obligation, replace(reported, disposition=Disposition.IGNORED), closes=True)
    if disposition not in PERMITTED[obligation.policy]:
        return refusal(
            "invalid_request",
            f"{obligation.policy} does not end {disposition}",
            {Policy.MUST_RESPOND: "C2A-120", Policy.ACK_ONLY: "C2A-119"}.get(obligation.policy, "C2A-118"),
        )
    if disposition is Disposition.DEFERRED:
        return _deferred(obligation, reported, now, settings)
    return _record(obligation, reported, closes=disposition in FINAL and _satisfies(obligation, reported))


def _again(obligation: Obligation, reported: ReportedDisposition) -> records.DispositionRecord | Refusal:
    """A repeat of what is already so leaves it so (C2A-159); anything else comes too late."""
    same = obligation.disposition is reported.disposition or (
        obligation.declined and reported.signal == "declined"
    )
    if same or reported.disposition is Disposition.SUPERSEDED:
        return _record(
            obligation,
            replace(reported, disposition=obligation.disposition),
            closes=True,
            declined=obligation.declined,
        )
    return refusal("invalid_request", f"the event ended as {obligation.disposition}", "C2A-122")


def _satisfies(obligation: Obligation, reported: ReportedDisposition) -> bool:
    """A receipt closes an obligation only when a receipt was all that was asked for (C2A-121)."""
    if reported.disposition is not Disposition.ACKNOWLEDGED or obligation.policy is not Policy.MUST_RESPOND:
        return True
    return reported.signal == "agree" and obligation.intent in _SATISFIED_BY_AGREEING


def _deferred(
    obligation: Obligation, reported: ReportedDisposition, now: Moment, settings: Settings
) -> records.DispositionRecord | Refusal:
    excused = reported.signal in _EXCUSES
    if not excused and not 1 <= len(reported.reason.strip()) <= 500:
        return refusal(
            "invalid_request",
            "a deferral says why, in 1 to 500 characters",
            "C2A-057",
            remedy="give a reason",
        )
    if not excused and obligation.policy is not Policy.MUST_RESPOND:
        return refusal("invalid_request", "only an obligation can be deferred", "C2A-145")
    back = (eta_of(reported.eta, now) if reported.eta else None) or Moment(now + settings.defer_ms * MS)
    if obligation.policy is Policy.MUST_RESPOND and not reported.agreed:
        horizon = obligation.horizon(settings)
        if horizon <= now:
            return _put_off_enough()
        back = min(back, horizon)
    return _record(obligation, reported, resurfaces_at=back)


def _put_off_enough() -> Refusal:
    return refusal(
        "approval_required",
        "it was put off as long as it may be without a person",
        "C2A-122",
        remedy="answer now, or decline it so that somebody else gets it; chat.defer asks a person for more "
        f"time; {how_to_change('defer_ms')}",
        limit="defer_ms",
    )


def _record(
    obligation: Obligation,
    reported: ReportedDisposition,
    *,
    closes: bool = False,
    declined: bool = False,
    resurfaces_at: Moment | None = None,
    shift_us: int = 0,
) -> records.DispositionRecord:
    disposition = Disposition.IGNORED if declined else reported.disposition
    return records.DispositionRecord(
        event_id=obligation.event_id,
        session=obligation.session,
        disposition=disposition.value if disposition else None,
        closes=closes,
        declined=declined,
        signal=reported.signal,
        reason=reported.reason or None,
        eta=reported.eta,
        resurfaces_at=resurfaces_at,
        shift_us=shift_us,
    )


def withdrawn(obligation: Obligation, signal: str) -> records.DispositionRecord | None:
    """A reaction was taken back: the event is open again if its disposition came from it."""
    if obligation.signal != signal:
        return None
    return records.DispositionRecord(event_id=obligation.event_id, session=obligation.session, signal=None)


class Obligations:
    """Every obligation of a group, folded from deliveries and dispositions.

    Where they are kept is the caller's choice; those that are live are always at hand.
    """

    __slots__ = ("_by_event", "_obligations")

    def __init__(
        self,
        obligations: MutableMapping[tuple[str, str], Obligation] | None = None,
        by_event: Lists[str, str] | None = None,
    ) -> None:
        self._obligations: MutableMapping[tuple[str, str], Obligation] = (
            {} if obligations is None else obligations
        )
        self._by_event: Lists[str, str] = no_lists() if by_event is None else by_event

    def get(self, event_id: str, session: str) -> Obligation | None:
        """How a session stands to an event; None when it never got it."""
        return self._obligations.get((event_id, session))

    def of_event(self, event_id: str) -> list[Obligation]:
        """Every session's obligation towards an event."""
        return [self._obligations[event_id, session] for session in self._by_event[event_id]]

    def __iter__(self) -> Iterator[Obligation]:
        return iter(self._obligations.values())

    def open_of(self, session: str) -> int:
        """How many answers a session owes."""
        return sum(
            1
            for obligation in self._obligations.values()
            if obligation.session == session and obligation.owed
        )

    def waiting_of(self, session: str) -> list[Obligation]:
        """What was delivered to a session and not taken in by it, in the order of delivery."""
        found = [
            obligation
            for obligation in self
            if obligation.session == session and obligation.live and not obligation.accepted
        ]
        return sorted(found, key=lambda obligation: obligation.request_id)

    def accepted(self, event_id: str, session: str) -> None:
        """Fold an acceptance."""
        known = self._obligations.get((event_id, session))
        if known is not None and not known.accepted:
            self._obligations[event_id, session] = replace(known, accepted=True)

    def all_alive(self, event_ids: Sequence[str], session: str, at: Moment) -> None:
        """The same of several."""
        for event_id in event_ids:
            self.alive(event_id, session, at)

    def alive(self, event_id: str, session: str, at: Moment) -> None:
        """Fold a sign of life: time runs from here, and a silence begins with its first reminder."""
        known = self._obligations.get((event_id, session))
        if known is not None and known.is_longer_with(at):
            self._obligations[event_id, session] = replace(known, alive_at=at, redelivered=0)

    def delivered(
        self, record: records.DeliveryRecord, created_at: Moment, record_id: str = ""
    ) -> Obligation:
        """Fold a delivery: the first opens the obligation, later ones count or change its policy."""
        key = (record.event_id, record.session)
        known = self._obligations.get(key)
        if known is None:
            sessions = {*self._by_event[record.event_id], record.session}
            self._by_event[record.event_id] = tuple(sorted(sessions))
            self._obligations[key] = opened = Obligation(
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
                instead_of=record.instead_of,
                obliged_at=created_at,
            )
            return opened
        # A deferred event that is delivered again is open again, and so is one that now obliges (or obliges
        # once more after it had ended): its time starts anew.
        obliges = Policy(record.policy) is Policy.MUST_RESPOND
        raised = obliges and (known.closed or known.policy is not Policy.MUST_RESPOND)
        back = known.disposition is Disposition.DEFERRED or raised
        self._obligations[key] = again = replace(
            known,
            policy=Policy(record.policy),
            mode=Mode(record.mode),
            directedness=Directedness(record.directedness),
            reason=Reason(record.reason),
            priority=Priority(record.priority),
            needs_claim=record.needs_claim,
            because=record.because or known.because,
            instead_of=record.instead_of or known.instead_of,
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
            obliged_at=created_at if raised else known.obliged_at,
            shift_us=0 if back else known.shift_us,
        )
        return again

    def disposed(self, record: records.DispositionRecord) -> None:
        """Fold a disposition."""
        key = (record.event_id, record.session)
        known = self._obligations.get(key)
        if known is None:
            return
        self._obligations[key] = replace(
            known,
            disposition=Disposition(record.disposition) if record.disposition else None,
            closed=record.closes,
            declined=record.declined,
            signal=record.signal,
            note=record.reason or "",
            resurfaces_at=Moment(record.resurfaces_at) if record.resurfaces_at is not None else None,
            shift_us=known.shift_us + record.shift_us,
        )


DELIVERED: Final = Rule("delivery.recorded", "C2A-206", "so it was decided when it was delivered")


def as_delivered(
    decision: Decision, obligation: Obligation | None, said: Mapping[str, Rule] | None = None
) -> Decision:
    """The decision as the newest delivery left it: an escalation or a lowering may have changed it.

    `said` has the words of rules by their names; a record keeps the names alone.
    """
    if obligation is None or (obligation.policy, obligation.reason) == (decision.policy, decision.reason):
        return decision
    because = tuple(
        (
            part,
            (said or {}).get(name, Rule(name, "C2A-206", DELIVERED.says))
            if (name := obligation.because.get(part))
            else DELIVERED,
        )
        for part in ("directedness", "policy", "mode", "reason", "priority", "deadline")
    )
    return replace(
        decision,
        directedness=obligation.directedness,
        policy=obligation.policy,
        mode=obligation.mode,
        reason=obligation.reason,
        deadline_ms=obligation.deadline_ms,
        needs_claim=obligation.needs_claim,
        because=because,
    )


def decision_in(obligation: Obligation) -> Decision:
    """The decision that a delivery carried, for the wire."""
    return Decision(
        Directedness(obligation.directedness),
        Policy(obligation.policy),
        Mode(obligation.mode),
        Reason(obligation.reason),
        Priority(obligation.priority),
        obligation.deadline_ms,
        obligation.needs_claim,
        obligation.thread_window,
        because=tuple((part, DELIVERED) for part in ("directedness", "policy", "mode", "reason", "priority")),
    )


_UNITS: Final = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hr": 3600,
    "hour": 3600,
}
_DAYS: Final = {"d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800}
_ALL: Final = {**_UNITS, **_DAYS}
_PART: Final = r"(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]+?)s?"
_SPAN: Final = re.compile(rf"(?:in\s+)?{_PART}(?:\s*(?:and\s+)?{_PART})?\Z")


def eta_of(text: str, now: Moment) -> Moment | None:
    """The moment meant by `2026-06-02T19:10:00Z`, `in 20 minutes`, `2h 30m`.

    None for anything else, the past, or what is later than any time that can be written.
    """
    found = parse_rfc3339(text.strip())
    if found is not None:
        return found if found > now else None
    match = _SPAN.match(text.strip().lower())
    if match is None:
        return None
    seconds = 0.0
    for amount, unit in ((match[1], match[2]), (match[3], match[4])):
        if amount is None:
            continue
        if unit not in _ALL:
            return None
        seconds += float(amount) * _ALL[unit]
    back = Moment(now + int(seconds * SECOND))
    return back if now < back <= LAST else None


class DeadlineStep(StrEnum):
    """What a timer may bring."""

    REDELIVER = "redeliver"
    ESCALATE = "escalate"
    RESURFACE = "resurface"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Due:
    """One step and its time."""

    at: Moment
    step: DeadlineStep


def next_step(obligation: Obligation, settings: Settings = DEFAULTS) -> Due | None:
    """The next thing that time brings to an obligation; None when nothing does.

    `redelivered` counts what was done already, so that a restarted hub carries on where it stopped.
    """
    if obligation.closed:
        return None
    if obligation.disposition is Disposition.DEFERRED and obligation.resurfaces_at is not None:
        return Due(obligation.resurfaces_at, DeadlineStep.RESURFACE)
    if obligation.policy is Policy.MUST_RESPOND and obligation.deadline_ms is not None:
        if obligation.redelivered < len(settings.redeliver_at):
            share = settings.redeliver_at[obligation.redelivered]
            return Due(_after(obligation, int(obligation.deadline_ms * share)), DeadlineStep.REDELIVER)
        return Due(_after(obligation, obligation.deadline_ms), DeadlineStep.ESCALATE)
    if obligation.disposition is Disposition.CLAIMED:
        return None
    return Due(_after(obligation, settings.freshness_ms), DeadlineStep.CLOSE)


def _after(obligation: Obligation, milliseconds: int) -> Moment:
    return Moment(obligation.quiet_since + milliseconds * MS)


def is_due(obligation: Obligation, now: Moment, settings: Settings = DEFAULTS) -> DeadlineStep | None:
    """The step that is due now, if any."""
    due = next_step(obligation, settings)
    return due.step if due is not None and due.at <= now else None


def redelivery(obligation: Obligation) -> records.DeliveryRecord:
    """The same event to the same session once more (C2A-175)."""
    return _delivery(obligation, obligation.policy, obligation.deadline_ms)


def lowering(obligation: Obligation) -> records.DeliveryRecord:
    """The session's copy after its time ran out: it may answer, it no longer must (C2A-174)."""
    return _delivery(obligation, Policy.MAY_RESPOND, None)


def closing(obligation: Obligation) -> records.DispositionRecord:
    """Nobody asked for more: the window closes without a word (C2A-059)."""
    return records.DispositionRecord(
        event_id=obligation.event_id,
        session=obligation.session,
        disposition=Disposition.IGNORED.value,
        closes=True,
    )


def _delivery(obligation: Obligation, policy: Policy, deadline_ms: int | None) -> records.DeliveryRecord:
    return records.DeliveryRecord(
        event_id=obligation.event_id,
        session=obligation.session,
        policy=policy.value,
        mode=obligation.mode.value,
        directedness=obligation.directedness.value,
        reason=obligation.reason.value,
        intent=obligation.intent.value,
        priority=obligation.priority.value,
        deadline_ms=deadline_ms,
        attempt=obligation.attempt + 1,
        needs_claim=obligation.needs_claim,
        thread_window=obligation.thread_window,
    )
