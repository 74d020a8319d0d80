"""What an agent may send, and what it must do to be allowed: the shape of a send, then a table of checks.

Rows: C2A-002, C2A-004, C2A-058, C2A-060, C2A-061, C2A-064, C2A-103, C2A-104, C2A-105, C2A-106, C2A-107,
C2A-108, C2A-109, C2A-110, C2A-111, C2A-112, C2A-113, C2A-114, C2A-115, C2A-147, C2A-148, C2A-149, C2A-150,
C2A-151, C2A-152, C2A-153, C2A-164, C2A-168, C2A-174, C2A-191, C2A-195, C2A-196, C2A-197, C2A-198, C2A-205,
C2A-207. Two values come in: the send, and what is known of its surroundings. The first "no" stands, with
code, row and remedy. A mention obliges, so it is never used to inform or to thank; one responder rather than
a room; a signal rather than a sentence. Nothing is stored or shown before the last check has passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention.decide import decision
from tacit.attention.send.similarity import nearest, normalised
from tacit.attention.settings import DEFAULTS, Settings, how_to_change
from tacit.attention.state.claims import HeldClaim, conflict
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.tools import JUSTIFICATIONS, VISIBILITIES
from tacit.c2a.vocabulary import AIM, ConversationKind, Directedness, Disposition, Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.send.surroundings import Surroundings
    from tacit.base.moment import Moment
    from tacit.c2a.tools import Send

    Check = Callable[[Send, Surroundings, Moment, Settings], Refusal | None]


_FITS: Final[dict[str, frozenset[ConversationKind]]] = {
    "dm": frozenset({ConversationKind.DM}),
    "thread": frozenset({ConversationKind.THREAD, ConversationKind.DM}),
    "channel": frozenset({ConversationKind.CHANNEL}),
    "ephemeral": frozenset(ConversationKind),
}
REACTIONS: Final[dict[str, str]] = {
    "got it": "agree",
    "ok": "agree",
    "okay": "agree",
    "ack": "agree",
    "acknowledged": "agree",
    "understood": "agree",
    "noted": "agree",
    "sounds good": "agree",
    "will do": "working",
    "on it": "working",
    "working on it": "working",
    "im on it": "working",
    "approved": "agree",
    "lgtm": "agree",
    "agreed": "agree",
    "not me": "declined",
    "not mine": "declined",
    "done": "done",
    "seen": "seen",
    "thanks": "seen",
    "thank you": "seen",
}
_SIGNS: Final = re.compile(r"[^\w\s]")


@dataclass(frozen=True, slots=True)
class Surface:
    """A goal of the sender, how the host renders it, and what recipients get."""

    goal: str
    rendered: str
    effect: str
    row: str


SURFACES: Final[tuple[Surface, ...]] = (
    Surface("get one agent to act", "a dm or a direct mention", "to_me / must_respond", "C2A-105"),
    Surface("put work up for a role", "a role mention", "to_my_role / may_respond after claim", "C2A-106"),
    Surface(
        "add to a thread one owns",
        "a post in it, nobody named",
        "to_my_role / may_respond, as a knock",
        "C2A-107",
    ),
    Surface("share context", "a channel post, nobody named", "ambient / must_not_respond", "C2A-108"),
    Surface("say received, yes or no", "a reaction signal", "no turn for anybody", "C2A-109"),
    Surface("report progress", "notifications/progress", "digest or screen, never must_respond", "C2A-110"),
)


def shape(send: Send, around: Surroundings) -> Refusal | None:
    """Refuse a send that lacks a member or says something impossible."""
    missing = [
        name
        for name, value in (
            ("target", send.target),
            ("idempotencyKey", send.idempotency_key),
            ("visibility", send.visibility),
            ("directedness", send.directedness),
        )
        if not value
    ]
    if send.started_by is not None and send.in_reply_to is None:
        missing.append("inReplyTo")
    if missing:
        row = _ROWS[missing[0]]
        return refusal("invalid_request", "a send lacks a member", row, missing=missing)
    if send.visibility not in VISIBILITIES:
        return refusal("invalid_request", f"visibility is one of {', '.join(VISIBILITIES)}", "C2A-150")
    if send.directedness not in set(Directedness):
        return refusal("invalid_request", f"directedness is one of {', '.join(AIM)}", "C2A-151")
    if send.justification is not None and send.justification not in JUSTIFICATIONS:
        return refusal("invalid_request", f"justification is one of {', '.join(JUSTIFICATIONS)}", "C2A-058")
    if not around.known_target:
        return refusal("event_not_found", "the target is unknown", "C2A-147")
    if not around.found:
        return refusal("event_not_found", "the event that this answers is unknown", "C2A-148")
    if send.visibility == "ephemeral" and not around.ephemeral:
        return refusal("unsupported_capability", "this surface has no ephemeral messages", "C2A-150")
    if around.kind not in _FITS[send.visibility]:
        return refusal("invalid_request", "the visibility does not fit the target", "C2A-150")
    return None


_ROWS: Final = {
    "target": "C2A-147",
    "inReplyTo": "C2A-148",
    "idempotencyKey": "C2A-149",
    "visibility": "C2A-150",
    "directedness": "C2A-151",
}


def mentions_oblige(send: Send, _around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    """A mention creates an obligation; one that is declared ambient contradicts itself (C2A-112)."""
    if (send.mentions or send.channel_wide) and send.directedness == Directedness.AMBIENT:
        return refusal(
            "invalid_request",
            "a mention obliges; this send says that it obliges nobody",
            "C2A-112",
            remedy="leave the mention out, or declare to_me or to_my_role",
            reason="directedness_mismatch",
        )
    return None


def no_broadcast(send: Send, _around: Surroundings, _now: Moment, settings: Settings) -> Refusal | None:
    """An agent addresses one responder, not a room (C2A-114)."""
    if send.channel_wide and not settings.channel_mentions_by_agents:
        return refusal(
            "policy_forbids",
            "an agent does not mention a whole channel",
            "C2A-114",
            remedy=f"name one agent or a role; {how_to_change('channel_mentions_by_agents')}",
        )
    return None


def reaction_would_do(send: Send, around: Surroundings, _now: Moment, _settings: Settings) -> Refusal | None:
    """A signal says it all (C2A-113); a goodbye and an answer that was asked for in words may be short."""
    if send.in_reply_to is None or send.attachments or around.says_goodbye(send):
        return None
    words = " ".join(_SIGNS.sub("", send.body.casefold()).split())
    signal = REACTIONS.get(words)
    if signal is None:
        return None
    return refusal(
        "use_reaction", "a reaction says this", "C2A-113", remedy=f"chat.react with `{signal}`", signal=signal
    )


@dataclass(frozen=True, slots=True)
class Permit:
    """Yes; `duplicate_of` when the same send was taken before, so that nothing is sent again."""

    warnings: tuple[str, ...] = ()
    duplicate_of: str | None = None


def may_send(
    send: Send, around: Surroundings, now: Moment, settings: Settings = DEFAULTS
) -> Permit | Refusal:
    """Whether this may be sent now."""
    shaped = shape(send, around)
    if shaped is not None:
        return shaped
    first = around.sent_with_key
    if first is not None:
        if first.body == send.body and first.target == send.target:
            return Permit(duplicate_of=first.event_id)
        return refusal(
            "idempotency_conflict", "this key was used for another message", "C2A-149", remedy="use a new key"
        )
    refused = may_append(send, around, now, settings)
    if refused is not None:
        return refused
    several = len(send.mentions) > 1
    return Permit(("multiple_responders",) if several else ())


def may_append(send: Send, around: Surroundings, now: Moment, settings: Settings) -> Refusal | None:
    """The first check that says no, whatever door the message comes by."""
    refusals = (check(send, around, now, settings) for check in CHECKS)
    return next((one for one in refusals if one is not None), None)


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
    rival: HeldClaim | None = around.taken_by_other(send.session, decision)
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
        rerun = earlier.turn == send.turn and earlier.attempt < send.attempt
        if rerun or normalised(earlier.body) == body:
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
    """Agents do not repeat themselves to one another (C2A-197).

    An answer to a person is for that person to judge: "Yes." to a second question says something new.
    """
    if send.attachments or around.says_goodbye(send):
        return None
    if around.answered is not None and not around.answered.by_agent:
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
        remedy="say it once otherwise, with what is new in it (a fact, a question, an action), or be silent; "
        + how_to_change("similarity"),
    )


def _rate(_send: Send, around: Surroundings, now: Moment, settings: Settings) -> Refusal | None:
    for past, limit, name in (
        (around.sends, settings.sends_per_minute, "sends_per_minute"),
        (around.sends_here, settings.sends_per_conversation, "sends_per_conversation"),
    ):
        wait = decision.retry_after_ms(past, limit, now)
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
    mentions_oblige,
    no_broadcast,
    reaction_would_do,
    _new,
    _rate,
    _approval,
)
