"""How a turn ends: one visible message, silence, another try, or `failed`.

Rows: C2A-059, C2A-087, C2A-118, C2A-119, C2A-120, C2A-163, C2A-164. One semantic answer: if the model
answered with the tool, its last word is not posted as well. Silence is an outcome. A model that failed before
anything left is tried again: three times in all where the agent itself is at fault, for hours where its
model is away, and in a new session where the old one is full. What fails for good says why, and what a person
can do now. Decides from values alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.c2a.notifications import Work
from tacit.harness.drivers.failures import retryable, sentence
from tacit.harness.drivers.port import Failure, FailureKind
from tacit.harness.effects import Effect, PostAnswer, Postpone, React, Report, Settle, Tell
from tacit.harness.silence import said

if TYPE_CHECKING:
    from tacit.harness.drivers.port import TurnOutcome
    from tacit.harness.running import RunningTurn

FAULTS: Final = 3
"""How often a question is tried when the agent itself fails on it."""
ATTEMPTS: Final = 30
"""How often in all. What is outside the agent comes back by itself: with the pauses below, after four hours
somebody should look."""
PAUSES: Final = (2.0, 8.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds before the second try, the third, and so on; the last for all that follow."""
LONGEST_PAUSE: Final = 3600.0
"""Seconds that a model's server may ask us to wait; who asks for more is asked again all the same."""
PASSING: Final = frozenset({"model_unavailable", "rate_limited"})
"""Failures outside the agent: nothing about the question or the agent makes them."""
AFRESH: Final = "Your earlier session was full: this is a new one. Look up what you need to know."

WORDLESS: Final = "Your last turn on this ended without a word: say your answer, or why there is none."
BEGUN: Final = "You have begun on this before; check what is done already."


@dataclass(frozen=True, slots=True)
class RetryTurn:
    """Run the same question once more after a while."""

    pause: float
    failure: Failure
    fresh: bool = False
    """In a new session: the old one is full."""
    note: str = ""
    """What the model should know about the try before."""


def ended(running: RunningTurn, outcome: TurnOutcome, faults: int = 0) -> list[Effect] | RetryTurn:
    """What follows from a turn that was not aborted; `faults` of the agent's own it has behind it."""
    failure = outcome.failure
    if failure is None and _is_wordless(running, outcome.text):
        failure = retryable("no_answer")
    if failure is None:
        return [*_answer(running, outcome.text), *_merged(running)]
    if running.has_spoken:
        return [*_after_words(running, failure), *_merged(running)]
    if failure.code == "context_full" and not running.turn.fresh:
        return RetryTurn(0.0, failure, fresh=True)
    if _is_tried_again(running, failure, faults):
        pause = PAUSES[min(running.question.attempt, len(PAUSES)) - 1]
        pause = max(pause, min(failure.retry_after or 0.0, LONGEST_PAUSE))
        return RetryTurn(pause, failure, note=_about_the_try(running, failure))
    return [*failed(running, failure), *_merged(running)]


def _about_the_try(running: RunningTurn, failure: Failure) -> str:
    """What was done is not done twice, and whoever said nothing is not asked the same in the same words."""
    wordless = WORDLESS if failure.code == "no_answer" else ""
    return " ".join(filter(None, (wordless, BEGUN if running.side_effects else "")))


def _is_wordless(running: RunningTurn, text: str) -> bool:
    """Was a person's question met with nothing at all?

    Silence that a model chooses has a word for it. Where not even that came, the model may have refused in a
    form that its agent does not hand on, and a sign that it was read would hide that.
    """
    question, acts = running.question, running.acts
    if text.strip() or not question.is_obliged or running.turn.carrier.author.kind == "agent":
        return False
    return not (acts.sends or acts.discharged or acts.deferred or acts.attachments)


def _is_tried_again(running: RunningTurn, failure: Failure, faults: int) -> bool:
    if failure.kind is FailureKind.PERMANENT or running.question.attempt >= ATTEMPTS:
        return False
    return failure.code in PASSING or faults + 1 < FAULTS


def cut(running: RunningTurn) -> list[Effect]:
    """We ended a turn that had spoken: it is not run again, and its question does not stay open."""
    hint = "it was interrupted for something urgent after it had said something"
    return [
        *_after_words(running, Failure(FailureKind.CANCELLED, "cancelled", hint)),
        *_merged(running),
    ]


def why(failure: Failure, attempts: int) -> str:
    """What happened and what now, as one sentence; which agent, whoever shows it knows."""
    tries = f", also when it was tried again ({attempts} times in all)" if attempts > 1 else ""
    if failure.kind is FailureKind.PERMANENT:
        return f"{sentence(failure)}{tries}; then ask again, or hand it to another agent"
    return f"{sentence(failure)}{tries}; ask again, hand it to another agent, or look into the agent's log"


def failed(running: RunningTurn, failure: Failure) -> list[Effect]:
    """The event could not be handled: the hub is told, and through it a person."""
    carrier = running.turn.carrier
    message = why(failure, running.question.attempt)
    error = {"code": failure.code, "message": message, "hint": failure.hint}
    told = Tell(
        "error",
        f"a turn failed for good: {message}",
        {"eventId": carrier.event_id, "code": failure.code, "hint": failure.hint},
    )
    if running.question.may_be_answered:
        work = Work(carrier.event_id, "failed", running.turn.id, code=failure.code, message=message)
        return [Settle(carrier.event_id, "failed", {"error": error}), Report(work), told]
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
        return [PostAnswer(running.turn, body, tuple(acts.attachments)), Settle(event_id)]
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
