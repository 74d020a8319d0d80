"""Deliveries: the `params` of `chat/deliver` in both drafts.

Rows: C2A-001, 029 to 044, 088, 093, 134, 201 and 223. One internal event becomes a superset of both shapes;
the agreed version decides only the form of `content` and the set of conversation kinds. An encoder that would
break a rule refuses instead. Text is redacted here, on its way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.decide.knock import knock_of
from tacit.attention.decide.modes import content_shown
from tacit.attention.decide.redaction import redacted
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.errors import Bug
from tacit.c2a.vocabulary import NEWER, OLDER, ConversationKind, Directedness, Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.message import ParsedMessage
    from tacit.ledger.envelope import Event


_THREE: Final = frozenset({ConversationKind.DM, ConversationKind.CHANNEL, ConversationKind.THREAD})


@dataclass(frozen=True, slots=True)
class Receiver:
    """One agent session and what was agreed with its harness."""

    session: str
    version: str = NEWER
    principal: str = ""


def idempotency_key(event_id: str, session: str) -> str:
    """The same for every attempt, different for every receiver (C2A-041)."""
    return f"{event_id}:{session}"


def wire_policy(policy: Policy, version: str) -> str:
    """The newer draft has no `ack_only` (C2A-055)."""
    return Policy.MUST_NOT_RESPOND.value if policy is Policy.ACK_ONLY and version == NEWER else policy.value


def wire_kind(kind: ConversationKind, decision: Decision, version: str) -> str:
    """The newer draft has three kinds (C2A-032)."""
    if version != NEWER or kind in _THREE:
        return kind.value
    return "dm" if decision.directedness is Directedness.TO_ME else "channel"


def params(
    event: Event,
    parsed: ParsedMessage,
    decision: Decision,
    receiver: Receiver,
    *,
    attempt: int = 1,
    settings: Settings = DEFAULTS,
) -> dict[str, Any]:
    """What `chat/deliver` carries to one session."""
    if decision.escalate:
        raise Bug("an escalated event is not delivered to the harness that cannot take it")
    policy = wire_policy(decision.policy, receiver.version)
    place = parsed.conversation
    conversation = {"id": place.id, "kind": wire_kind(place.kind, decision, receiver.version)}
    if place.stream:
        conversation["streamId"] = place.stream
    if place.thread:
        conversation["threadId"] = place.thread
    target: dict[str, Any] = {
        "mentions": [f"agent:{name}" for name in sorted(parsed.target.agents)],
        "directedness": decision.directedness.value,
    }
    if place.kind is ConversationKind.DM:
        target["recipient"] = f"agent:{receiver.principal or receiver.session}"
    found: dict[str, Any] = {
        "eventId": event.id,
        "source": {"platform": "cccs", "workspaceId": event.group_id},
        "conversation": conversation,
        "author": {
            "id": parsed.author.id,
            "kind": parsed.author.kind.value,
            "displayName": parsed.author.display_name,
        },
        "target": target,
        "addressedToMe": decision.addressed_to_me,
        "policy": policy,
        "timing": {"createdAt": event.ts, "sequence": event.seq},
        "attention": _attention(decision, policy),
        "injection": {
            "mode": decision.mode.value,
            "context": "thread_window" if decision.thread_window else "none",
            "role": "user",
        },
        "reliability": {"attempt": attempt, "idempotencyKey": idempotency_key(event.id, receiver.session)},
    }
    if parsed.supersedes is not None:
        found["supersedes"] = parsed.supersedes
    found.update(_body(event, parsed, decision, receiver.version, settings))
    return found


def _attention(decision: Decision, policy: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "policy": policy,
        "reason": decision.reason.value,
        "priority": decision.priority.value,
    }
    if decision.deadline_ms is not None:
        found["deadlineMs"] = decision.deadline_ms
    return found


def _body(
    event: Event, parsed: ParsedMessage, decision: Decision, version: str, settings: Settings
) -> dict[str, Any]:
    if parsed.signal is not None:
        return {"signal": parsed.signal, "content": [] if version == OLDER else ""}
    if content_shown(decision.mode):
        return {"content": content(event.data, version)}
    text = event.data.get("text")
    knock, _ = knock_of(
        decision,
        sender=f"{parsed.author.kind.value}:{parsed.author.id}",
        conversation=parsed.conversation,
        intent=parsed.intent,
        body=text if isinstance(text, str) else "",
        settings=settings,
    )
    return {"knock": {**knock.members(), "policy": wire_policy(decision.policy, version)}}


def content(data: dict[str, Any], version: str) -> list[dict[str, str]] | str:
    """The message's parts: a list in the older draft, one string in the newer (C2A-035)."""
    text = data.get("text", data.get("message", ""))
    parts = [{"type": "text", "text": redacted(text if isinstance(text, str) else "")}]
    parts += [
        {"type": str(item.get("kind", "file")), "title": redacted(str(item.get("title") or ""))}
        for item in cast("list[dict[str, Any]]", data.get("attachments") or [])
    ]
    if version == OLDER:
        return parts
    return "\n".join(
        part["text"] if part["type"] == "text" and "text" in part else f"[{part['type']}: {part['title']}]"
        for part in parts
    )


def faults(delivered: dict[str, Any]) -> list[str]:
    """What is wrong with a delivery, as a receiver must see it: paths of missing or contradictory members."""
    wrong = [path for path in _REQUIRED if _at(delivered, path) is None]
    mode = _at(delivered, "injection.mode")
    if mode == "notify" and "content" in delivered:
        wrong.append("content")
    if mode == "notify" and "knock" not in delivered and "signal" not in delivered:
        wrong.append("knock")
    if mode in {"immediate", "buffered"} and "content" not in delivered:
        wrong.append("content")
    if delivered.get("policy") != _at(delivered, "attention.policy"):
        wrong.append("policy")
    if delivered.get("policy") not in set(Policy):
        wrong.append("policy")
    if _at(delivered, "injection.role") not in {None, "user"}:
        wrong.append("injection.role")
    return wrong


_REQUIRED: Final = (
    "eventId",
    "conversation.kind",
    "target.directedness",
    "attention.policy",
    "injection.mode",
    "reliability.idempotencyKey",
)


def _at(value: dict[str, Any], path: str) -> object:
    found: Any = value
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, Any]", found).get(name)
    return found


def thread_window(texts: Sequence[str], settings: Settings = DEFAULTS) -> list[int]:
    """Which messages of a thread go along: the root and the last ones, within count and characters (C2A-223).

    `texts` are the earlier messages that the session may read, the root first; gives their places.
    """
    if not texts:
        return []
    room = settings.thread_window_chars - len(texts[0])
    chosen: list[int] = []
    for place in range(len(texts) - 1, 0, -1):
        room -= len(texts[place])
        if room < 0 or len(chosen) == settings.thread_window_messages:
            break
        chosen.append(place)
    return [0, *reversed(chosen)]
