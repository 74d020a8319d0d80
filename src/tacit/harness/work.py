"""How each piece of work stands at the agent, and what of that the hub has not heard.

A piece of work is an event that the model is to see. It is queued, with its place; worked on, with its turn;
waiting for a person or for the next day's budget; or failed and tried again at a certain time. The hub is
told of every change and, while anything is not finished, of all of it again as a sign of life. What the hub
sees itself is not told: answers, dispositions, and that what it has just delivered is next in an empty queue.
So the way of a question to its prompt costs the ledger nothing. Values only; the time is an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.c2a.notifications import Work
from tacit.harness.drivers.failures import sentence
from tacit.harness.parking import PERMISSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.harness.failing import Failing
    from tacit.harness.question import Question
    from tacit.harness.running import RunningTurn

HELD: Final = "asked_to_wait"
ASKED_TO_WAIT: Final = "whoever asked said to wait, and has not gone on yet"
LIFE_EVERY: Final = 30 * SECOND
"""How often the hub hears of work on which nothing has changed."""


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
    questions: Iterable[Question],
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
        self._life_at: Moment | None = None

    def forget(self) -> None:
        """Another connection: whoever is there now has heard nothing."""
        self._told, self._life_at = {}, None

    @property
    def life_due(self) -> Moment | None:
        """When everything is told again; None while there is nothing to tell of."""
        if not self._told or self._life_at is None:
            return None
        return Moment(self._life_at + LIFE_EVERY)

    def due(self, states: Iterable[Work], now: Moment) -> list[Work]:
        """What is to be told now, in order: what has changed, or all of it when a sign of life is due.

        What is new and next the hub knows as it stands: it is told of with the first sign of life.
        """
        standing = {one.event_id: one for one in states}
        if self._life_at is None:  # whoever is there has heard nothing, and may know of an earlier process
            is_life_due = True
        else:
            is_life_due = bool(self._told) and now - self._life_at >= LIFE_EVERY
        found = [one for one in standing.values() if is_life_due or self._is_news(one)]
        if is_life_due or not self._told:
            self._life_at = now
        self._told = standing
        return found

    def _is_news(self, one: Work) -> bool:
        known = self._told.get(one.event_id)
        return known != one and not (known is None and one == Work(one.event_id, "queued"))
