"""Posture: whom an agent obliges, and that it does so on purpose (C2A-105 to C2A-115, C2A-147 to C2A-151).

The shape of a send, and the manners of addressing: a mention obliges, so it is never used to inform or to
thank; one responder rather than a room; a signal rather than a sentence. `SURFACES` says how each goal is
rendered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention.codes import Refusal, refusal
from tacit.attention.settings import Settings, how_to_change
from tacit.attention.values import AIM, ConversationKind, Directedness

if TYPE_CHECKING:
    from tacit.attention.send import Send, Surroundings
    from tacit.base.moment import Moment

VISIBILITIES: Final = ("dm", "thread", "channel", "ephemeral")
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
JUSTIFICATIONS: Final = ("owner", "claimed", "helps", "unblocks")
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
    if not around.writable:
        return refusal("permission_denied", "the session may not write there", "C2A-147")
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


def believed(declared: Directedness, computed: Directedness) -> Directedness:
    """A sender can lower an obligation, never raise it (C2A-115)."""
    return min(declared, computed, key=AIM.index)
