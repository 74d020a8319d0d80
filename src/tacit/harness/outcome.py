"""How a turn ends: one visible message, silence, another try, or `failed`.

Rows: C2A-059, C2A-087, C2A-118, C2A-119, C2A-120, C2A-163, C2A-164. One semantic answer: if the model
answered with the tool, its last word is not posted as well. Silence is an outcome. A model that failed before
anything left is tried again, three times in all. Decides from values alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.harness.drivers.port import FailureKind
from tacit.harness.effects import Effect, Post, Postpone, React, Settle, Tell
from tacit.harness.silence import said

if TYPE_CHECKING:
    from tacit.harness.drivers.port import Failure, TurnOutcome
    from tacit.harness.running import RunningTurn

ATTEMPTS: Final = 3
PAUSES: Final = (2.0, 8.0)
"""Seconds before the second and the third try."""
LONGEST_PAUSE: Final = 3600.0
"""Seconds that a model's server may ask us to wait; who asks for more is asked again all the same."""


@dataclass(frozen=True, slots=True)
class RetryTurn:
    """Run the same question once more after a while."""

    pause: float


def ended(running: RunningTurn, outcome: TurnOutcome) -> list[Effect] | RetryTurn:
    """What follows from a turn that was not aborted."""
    if outcome.failure is None:
        return [*_answer(running, outcome.text), *_merged(running)]
    if running.has_spoken:
        return [*_after_words(running, outcome.failure), *_merged(running)]
    if outcome.failure.kind is not FailureKind.PERMANENT and running.question.attempt < ATTEMPTS:
        pause = PAUSES[min(running.question.attempt, len(PAUSES)) - 1]
        return RetryTurn(max(pause, min(outcome.failure.retry_after or 0.0, LONGEST_PAUSE)))
    return [*failed(running, outcome.failure), *_merged(running)]


def failed(running: RunningTurn, failure: Failure) -> list[Effect]:
    """The event could not be handled: the hub is told, and through it a person."""
    carrier = running.turn.carrier
    error = {"code": failure.code, "message": "the agent could not handle this", "hint": failure.hint}
    told = Tell(
        "error",
        "a turn failed for good",
        {"eventId": carrier.event_id, "code": failure.code, "hint": failure.hint},
    )
    if running.question.may_be_answered:
        return [Settle(carrier.event_id, "failed", {"error": error}), told]
    return [Settle(carrier.event_id, "ignored"), told]


def _answer(running: RunningTurn, text: str) -> list[Effect]:
    question, acts = running.question, running.acts
    event_id = running.turn.carrier.event_id
    if any(question.holds(one) for one in acts.replied) and not acts.attachments:
        return [Settle(event_id)]
    if not question.may_be_answered:
        return [Settle(event_id, "ignored")]
    body = said(text, obliged=question.is_obliged)
    if event_id in acts.deferred:
        return [Postpone(event_id)]
    if event_id in acts.discharged:
        # A signal said it; words beside it are only posted when they answer what is owed.
        return [Settle(event_id)]
    if body or acts.attachments:
        return [Post(running.turn, body, tuple(acts.attachments)), Settle(event_id)]
    if question.is_obliged:
        # Silence where an answer is owed shows as a sign. It closes the matter between agents; a person's
        # question stays open, so that somebody is told when its time runs out.
        sign = "done" if running.turn.carrier.author.kind == "agent" else "seen"
        return [React(event_id, sign), Settle(event_id)]
    return [Settle(event_id, "ignored")]


def _after_words(running: RunningTurn, failure: Failure) -> list[Effect]:
    """The turn broke after something had gone out: it is not run again (C2A-164)."""
    if any(running.question.holds(one) for one in running.acts.replied):
        return [Settle(running.turn.carrier.event_id)]
    return failed(running, failure)


def _merged(running: RunningTurn) -> list[Effect]:
    """Every fragment but the newest was merged into it (C2A-087)."""
    *others, carrier = running.turn.events
    return [Settle(one.event_id, "superseded", {"mergedInto": carrier.event_id}) for one in others]
