"""How each piece of work stands at the agent, and what of that the hub has not heard.

A piece of work is an event that the model is to see. It is queued, with its place; worked on, with its turn;
waiting for a person or for the next day's budget; or failed and tried again at a certain time. The hub is
told of every change and, while anything is not finished, of all of it again every half a minute. What the hub
sees itself is not told: answers, dispositions, and that what it has just delivered is next in an empty queue.
So the way of a question to its prompt costs the ledger nothing.

A deadline counts silence (C2A-173), and any report counts for everything that this connection has spoken of.
So where a deadline is shorter than two minutes, one report leaves four times in it, with whatever the hub has
not been told yet; a long queue with short deadlines costs no more. Values only; the time is an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.c2a.notifications import Work
from tacit.harness.drivers.failures import sentence
from tacit.harness.orders import PERMISSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.harness.failing import Failing
    from tacit.harness.question import TurnQuestion
    from tacit.harness.running import RunningTurn

MS: Final = 1_000
HELD: Final = "asked_to_wait"
ASKED_TO_WAIT: Final = "whoever asked said to wait, and has not gone on yet"
LONGEST_SILENCE: Final = 30 * SECOND
"""How often the hub hears of all work on which nothing has changed."""
SIGNS_IN_A_DEADLINE: Final = 4
"""The hub reminds its session after half a deadline of silence: one sign of life may get lost before that."""


def between_signs(deadlines_ms: Iterable[int]) -> int:
    """How many microseconds a session may be silent at most while it has work with these deadlines."""
    each = (deadline_ms * MS // SIGNS_IN_A_DEADLINE for deadline_ms in deadlines_ms)
    return min((LONGEST_SILENCE, *each))


def running_states(running: RunningTurn) -> list[Work]:
    """The turn under way; one that is ending has no work any more, but what came into it is asked again."""
    if running.is_ending:
        left = (*running.waiting, *running.inserted)
        return [Work(one.event_id, "queued") for one in left if one.event_id not in running.acts.replied]
    if not running.at_model:
        return [Work(one.event_id, "queued") for one in (*running.question.live, *running.waiting)]
    waits_for, message = running.waits_for
    state = "waiting" if waits_for else "working"
    events = (*running.question.live, *running.inserted)
    found = [
        Work(one.event_id, state, running.turn.id, code=waits_for, message=message)
        for one in events
        if one.event_id not in running.acts.replied
    ]
    return [*found, *(Work(one.event_id, "queued") for one in running.waiting)]


def queued_states(
    questions: Iterable[TurnQuestion],
    failing: Failing,
    now: Moment,
    *,
    before: int,
    pause: tuple[Moment, str] | None,
) -> list[Work]:
    """What waits, in the order in which it will be begun; `before` it are as many as run."""
    found: list[Work] = []
    for question in questions:
        failure = failing.of(question.carrier.event_id)
        if pause is not None:
            until, reason = pause
            said = Work("", "waiting", code="over_budget", message=reason, retry_at=rfc3339(until))
        elif failure is not None and question.not_before > now:
            retry = rfc3339(question.not_before)
            said = Work("", "failed", code=failure.code, message=sentence(failure), retry_at=retry)
        elif question.waits_for:
            said = Work("", "waiting", code=PERMISSION, message=question.waits_for)
        elif question.is_held and question.not_before > now:
            retry = rfc3339(question.not_before)
            said = Work("", "waiting", code=HELD, message=ASKED_TO_WAIT, retry_at=retry)
        else:
            said = Work("", "queued", position=before)
            before += 1
        found += [_of(one.event_id, said) for one in question.live]
    return found


def _of(event_id: str, said: Work) -> Work:
    return Work(event_id, said.state, said.turn, said.position, said.code, said.message, said.retry_at)


class WorkReport:
    """What the hub was told last."""

    def __init__(self) -> None:
        self._told: dict[str, Work] = {}
        """How each piece of work stood, as the hub knows; those that were told longest ago come first."""
        self._untold: set[str] = set()
        """Those of which the hub was told nothing on this connection, as it knows how they stand."""
        self._all_at: Moment | None = None
        self._sign_at: Moment | None = None
        self._silence = LONGEST_SILENCE

    def forget(self) -> None:
        """Another connection: whoever is there now has heard nothing."""
        self._told, self._untold, self._all_at, self._sign_at = {}, set(), None, None

    def brought_again(self, event_id: str) -> None:
        """The hub may know nothing more of how this stands: it is told with the next sign of life."""
        if event_id in self._told:
            self._untold.add(event_id)

    @property
    def life_due(self) -> Moment | None:
        """When something is told though nothing has changed; None while there is nothing to tell of."""
        if not self._told or self._all_at is None or self._sign_at is None:
            return None
        return Moment(min(self._all_at + LONGEST_SILENCE, self._sign_at + self._silence))

    def due(self, states: Iterable[Work], now: Moment, silence: int = LONGEST_SILENCE) -> list[Work]:
        """What is to be told now, in order: what has changed, and more when a sign of life is due.

        What is new and next the hub knows as it stands: it is told of with the first sign of life. `silence`
        is how many microseconds may pass without a sign of life (`between_signs`).
        """
        standing = {work.event_id: work for work in states}
        self._silence = silence
        if self._all_at is None or self._sign_at is None:
            # Whoever is there now has heard nothing, and may know of an earlier process.
            self._all_at = self._sign_at = now
            return self._noted(standing, list(standing.values()))
        if not self._told:
            self._all_at = self._sign_at = now
        is_all_due = now - self._all_at >= LONGEST_SILENCE
        is_sign_due = is_all_due or now - self._sign_at >= silence
        chosen = [
            work
            for work in standing.values()
            if is_all_due or self._is_news(work) or (is_sign_due and work.event_id in self._untold)
        ]
        if is_all_due:
            self._all_at = now
        if is_sign_due:
            self._sign_at = now
            chosen = chosen or [standing[event_id] for event_id in self._told if event_id in standing][:1]
        return self._noted(standing, chosen)

    def _noted(self, standing: dict[str, Work], chosen: list[Work]) -> list[Work]:
        now_told = {work.event_id for work in chosen}
        new = standing.keys() - self._told.keys()
        self._untold = ((self._untold & standing.keys()) | new) - now_told
        rest = {event_id: standing[event_id] for event_id in self._told if event_id in standing}
        self._told = {
            event_id: work for event_id, work in rest.items() if event_id not in now_told
        } | standing
        return chosen

    def _is_news(self, work: Work) -> bool:
        known = self._told.get(work.event_id)
        return known != work and not (known is None and work == Work(work.event_id, "queued"))
