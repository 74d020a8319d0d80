"""What an effect leaves in the store before anything of it is done (append, then act)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.base.moment import Moment, rfc3339
from tacit.harness import chat_tools
from tacit.harness.budget import day_of
from tacit.harness.effects import (
    Begin,
    Defer,
    Effect,
    Join,
    PostAnswer,
    Postpone,
    React,
    Return,
    Settle,
    Spent,
)
from tacit.harness.io.outbox_sender import disposition
from tacit.harness.io.store import OutboxRow

if TYPE_CHECKING:
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.store import StoreTransaction


def persist(writing: StoreTransaction, effect: Effect, context: HarnessContext, now: Moment) -> None:
    """Write one effect down, inside the transaction of all that follow from one input."""
    match effect:
        case Begin():
            writing.begin(effect.turn.id, [one.event_id for one in effect.turn.events])
        case Join():
            writing.begin(effect.turn_id, [one.event_id for one in effect.events])
        case Return():
            writing.give_back(effect.event_ids, failed=effect.failed)
        case Settle():
            writing.end(effect.event_id, "done", now)
            if effect.disposition is not None:
                writing.say(disposition(effect.event_id, effect.disposition, effect.more), now)
        case Postpone():
            writing.end(effect.event_id, "deferred", now)
        case PostAnswer() | React() | Defer():
            writing.say(_row(effect, context, now), now)
        case Spent():
            writing.spent(effect, now, context.model)
        case _:
            return


def _row(effect: PostAnswer | React | Defer, context: HarnessContext, now: Moment) -> OutboxRow:
    """What is to be said, under a key that is the same however often this is decided."""
    match effect:
        case PostAnswer():
            event_id = effect.turn.carrier.event_id
            key = f"{event_id}:{context.name}:reply:{context.store.replies_to(event_id)}"
            arguments = chat_tools.reply(effect.turn, effect.body, key, effect.attachments)
            return OutboxRow(key, effect.turn.id, event_id, chat_tools.SEND, arguments, "ready")
        case React():
            arguments = {"inReplyTo": effect.event_id, "signal": effect.signal}
            key = f"react:{effect.event_id}:{effect.signal}"
            return OutboxRow(key, "", effect.event_id, "chat.react", arguments, "ready")
        case Defer():
            arguments = {"eventId": effect.event_id, "reason": effect.reason, "eta": rfc3339(effect.until)}
            key = f"defer:{effect.event_id}:{day_of(now)}"
            return OutboxRow(key, "", effect.event_id, "chat.defer", arguments, "ready")
