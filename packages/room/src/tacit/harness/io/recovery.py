"""After a crash: what an earlier process was doing, read from its store (C2A-163, C2A-164, C2A-166).

A turn whose answer is in the outbox is finished, not run again: the answer goes out under its key. A turn
that had not spoken is run again. A turn that had spoken elsewhere but not answered is not run again; a
person is told. What came into a turn beside its question is another question, answered or not by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.harness.belonging import part_of
from tacit.harness.chat_tools import SEND
from tacit.harness.effects import Effect, Return, Settle, Tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment
    from tacit.harness.conduct import Conduct
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.store import InboxRow

CRASHES: Final = 30
"""A question that has been begun this often without an end, or a failure that was told, is what ends the
process."""


def recovered(
    context: HarnessContext, conduct: Conduct, now: Moment, held: Mapping[str, str] | None = None
) -> list[Effect]:
    """Put everything that is not done back into the conduct; gives what has to be settled.

    `held` are the events for which a person was asked for a permission, and which it is.
    """
    effects: list[Effect] = []
    again: list[InboxRow] = []
    turns: dict[tuple[str, object], list[InboxRow]] = {}
    waiting = context.store.waiting()
    before: set[str] = set()
    for kept in waiting:
        context.view.heard(kept.event)
        if kept.state == "turn":
            part = part_of(kept.event, kept.turn_id, before)
            turns.setdefault((kept.turn_id, part), []).append(kept)
        else:
            again.append(kept)
        before.add(kept.event.event_id)
    for (turn_id, _), events in turns.items():
        settled = _settled(context, turn_id, events)
        effects += settled
        if not settled:
            again += events
            effects.append(Return(tuple(one.event.event_id for one in events)))
    # In the order in which they came: what was under way is not put behind what waited for it.
    place = {one.event.event_id: number for number, one in enumerate(waiting)}
    again.sort(key=lambda one: place[one.event.event_id])
    claims = conduct.restore([(one.event, one.turn_id, one.failed, one.runs) for one in again], now, held)
    return [*effects, *claims]


def _settled(context: HarnessContext, turn_id: str, events: list[InboxRow]) -> list[Effect]:
    ids = [one.event.event_id for one in events]
    spoken = [
        row
        for row in context.store.outgoing(turn_id=turn_id)
        if row.name == SEND and row.state in {"ready", "sent"}
    ]
    *others, carrier = ids
    merged: list[Effect] = [Settle(one, "superseded", {"mergedInto": carrier}) for one in others]
    if any(row.event_id in ids for row in spoken):
        return [Settle(carrier), *merged]
    # What had only come into the turn is asked on its own, whatever the turn has said to others.
    was_its_question = turn_id.rpartition(".")[0] in ids
    if (spoken and was_its_question) or max(one.runs - one.failed for one in events) >= CRASHES:
        error = {"code": "agent_died", "message": "the agent was interrupted after it had acted"}
        told = Tell("error", "a turn was interrupted and cannot be run again", {"eventId": carrier})
        return [Settle(carrier, "failed", {"error": error}), *merged, told]
    return []
