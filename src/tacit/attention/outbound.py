"""Outbound posture: what an agent may send, and what it must do to be allowed.

Rows: C2A-002, 004, 058, 060, 061, 064, 103, 104, 111 to 115, 147 to 153, 164 to 168, 174, 191, 195 to 198,
205 and 207. An ordered table of checks over two values: the send, and what is known of its surroundings. The
first "no" stands, with code, row and remedy. Nothing is stored or shown before the last check has passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention import posture, rates
from tacit.attention.claims import Held, conflict
from tacit.attention.codes import Refusal, refusal
from tacit.attention.dispositions import Disposition
from tacit.attention.settings import DEFAULTS, Settings, how_to_change
from tacit.attention.similarity import nearest, normalised
from tacit.attention.values import Directedness, Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.send import Send, Surroundings
    from tacit.base.moment import Moment

    Check = Callable[[Send, Surroundings, Moment, Settings], Refusal | None]


@dataclass(frozen=True, slots=True)
class Permit:
    """Yes; `duplicate_of` when the same send was taken before, so that nothing is sent again."""

    warnings: tuple[str, ...] = ()
    duplicate_of: str | None = None


def may_send(
    send: Send, around: Surroundings, now: Moment, settings: Settings = DEFAULTS
) -> Permit | Refusal:
    """Whether this may be sent now."""
    shaped = posture.shape(send, around)
    if shaped is not None:
        return shaped
    first = around.sent_with_key
    if first is not None:
        if first.body == send.body and first.target == send.target:
            return Permit(duplicate_of=first.event_id)
        return refusal(
            "idempotency_conflict", "this key was used for another message", "C2A-149", remedy="use a new key"
        )
    for check in CHECKS:
        refused = check(send, around, now, settings)
        if refused is not None:
            return refused
    several = len(send.mentions) > 1
    return Permit(("multiple_responders",) if several else ())


def _own(send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    if around.answered is not None and around.answered.author == send.session:
        return refusal("policy_forbids", "an agent does not answer itself", "C2A-195")
    return None


def _superseded(_send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    answered = around.answered
    if answered is None or not answered.superseded:
        return None
    details = {"replacedBy": answered.replaced_by} if answered.replaced_by else {}
    return refusal(
        "event_superseded",
        "the message was edited, deleted or merged into a later one",
        "C2A-104",
        remedy="answer the replacing event, if there is one",
        **details,
    )


def _left(send: Send, around: Surroundings, _now: Moment, settings: Settings) -> Refusal | None:
    if not around.left:
        return None
    asked = around.goodbye_for
    brief = len(send.body) <= settings.farewell_chars and not send.mentions and "?" not in send.body
    if asked is not None and send.in_reply_to in {None, asked} and brief:
        return None
    return refusal(
        "left_conversation",
        "the agent has left this conversation"
        if asked is None
        else "a goodbye is brief, names nobody and asks nothing",
        "C2A-191",
        remedy="post here again after somebody names the agent",
    )


def _looping(send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    answered = around.answered
    towards = answered is None or answered.by_agent
    if send.session not in around.stopped or not towards or around.says_goodbye(send):
        return None
    return refusal(
        "loop_stopped",
        "this exchange between agents went in circles and was ended",
        "C2A-198",
        remedy=f"a person's message opens it again; {how_to_change('exchange_limit')}",
    )


def _policy(send: Send, around: Surroundings, _now: Moment, settings: Settings) -> Refusal | None:
    answered = around.answered
    if answered is None:
        return None
    if around.taken_by_other(send.session, answered.decision) is not None:
        return None
    policy = answered.decision.policy
    if policy is Policy.MUST_NOT_RESPOND:
        row = "C2A-196" if answered.decision.reason == "gratitude" else "C2A-061"
        return refusal(
            "policy_forbids", "this message is not the agent's to answer", row, remedy="stay silent"
        )
    if policy is Policy.ACK_ONLY:
        short = len(send.body) <= settings.receipt_chars and not send.mentions and "?" not in send.body
        if not short or answered.receipts:
            return refusal(
                "policy_forbids",
                "only one short receipt or a reaction is wanted",
                "C2A-060",
                remedy=f"react, or send one message of up to {settings.receipt_chars} letters, no question",
            )
    return None


def _claim(send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    answered = around.answered
    if answered is None:
        return None
    decision = answered.decision
    rival: Held | None = around.taken_by_other(send.session, decision)
    if rival is not None:
        return conflict(rival)
    if decision.directedness is Directedness.TO_ME or around.holds(send.session) or around.owns:
        return None
    contested = around.agents_in_thread >= 2 and not around.thread_owned
    if decision.needs_claim or (decision.policy is Policy.MAY_RESPOND and contested):
        return refusal(
            "claim_required",
            "several agents can see this; claim it before answering",
            "C2A-153",
            remedy="call chat.claim for the event or its thread",
        )
    return None


def _stale(_send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    answered = around.answered
    if answered is None or answered.expired_at is None:
        return None
    if answered.read_at is not None and answered.read_at > answered.expired_at:
        return None
    return refusal(
        "stale_event",
        "the event has expired; the thread may have moved on",
        "C2A-174",
        remedy="call chat.read_thread, then answer if it is still needed",
    )


def _answered(send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    """One meaning, one message: no second copy under a new key, no rerun of a turn that has spoken."""
    answered = around.answered
    if answered is None:
        return None
    body = normalised(send.body)
    for earlier in answered.answers:
        rerun = earlier.turn == send.turn and earlier.attempt < send.attempt and not earlier.failed
        if rerun or (normalised(earlier.body) == body and not earlier.failed):
            return refusal(
                "already_responded",
                "the session has answered this already",
                "C2A-164" if rerun else "C2A-168",
                remedy="send something new from a later turn",
                eventId=earlier.event_id,
            )
    closed = answered.disposition in {Disposition.SUPERSEDED, Disposition.FAILED}
    if closed:
        return refusal("event_superseded", "the event is closed", "C2A-104")
    return None


def _new(send: Send, around: Surroundings, _now: Moment, settings: Settings) -> Refusal | None:
    if send.attachments or around.says_goodbye(send):
        return None
    others = list(around.recent[-settings.similar_window :])
    if around.answered is not None:
        others.append(around.answered.text)
    if nearest(send.body, others) < settings.similarity:
        return None
    return refusal(
        "no_new_information",
        "the message says nothing that was not just said",
        "C2A-197",
        remedy=f"add a fact, a question or an action; {how_to_change('similarity')}",
    )


def _rate(_send: Send, around: Surroundings, now: Moment, settings: Settings) -> Refusal | None:
    for past, limit, name in (
        (around.sends, settings.sends_per_minute, "sends_per_minute"),
        (around.sends_here, settings.sends_per_conversation, "sends_per_conversation"),
    ):
        wait = rates.retry_after_ms(past, limit, now)
        if wait is not None:
            return refusal(
                "rate_limited",
                f"at most {limit} messages a minute",
                "C2A-205",
                remedy=f"wait; {how_to_change(name)}",
                retryAfterMs=wait,
                limit=name,
            )
    return None


def _approval(_send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    return around.approval if around.reveals_private else None


CHECKS: Final[tuple[Check, ...]] = (
    _own,
    _superseded,
    _left,
    _looping,
    _policy,
    _claim,
    _stale,
    _answered,
    posture.mentions_oblige,
    posture.no_broadcast,
    posture.reaction_would_do,
    _new,
    _rate,
    _approval,
)
