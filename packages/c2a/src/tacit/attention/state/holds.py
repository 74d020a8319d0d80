"""Holds: whoever asked says "wait", and the work rests until they go on (C2A-083, C2A-122).

An order to wait holds what its author asked of the agents that it reaches, in that place; the owner's, as a
reply, also what somebody else asked. Nobody else's word holds anything: it is a message like others. What is
held is deferred: no deadline runs, and the agent's harness stops where it is. The next line of whoever asked
gives the time back and the work goes on; without one it comes back by itself after `hold_ms`. A function from
the event and the fold to records; `now` is an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.decide.matrix import Situation
from tacit.attention.state import records
from tacit.c2a.vocabulary import Disposition, Intent, Policy
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.obligations import Obligation
    from tacit.base.moment import Moment
    from tacit.ledger.envelope import Event

MS: Final = 1000
HELD: Final = "whoever asked said to wait"
"""The reason of what is held."""


def held_or_resumed(
    event: Event, decisions: Decisions, parsed: ParsedMessage, attention: Attention, now: Moment
) -> list[records.Written]:
    """What a message holds, or what it lets go on."""
    if parsed.by_agent:
        return []
    if parsed.intent is not Intent.HOLD:
        return [
            records.DispositionRecord(
                event_id=one.event_id, session=one.session, shift_us=_rested(one, attention, now)
            )
            for one in _asked(event, parsed, attention)
            if is_held(one)
        ]
    reached = {agent for agent, one in decisions.exceptions.items() if one.situation is Situation.HOLD}
    until = now + attention.settings.hold_ms * MS
    return [
        records.DispositionRecord(
            event_id=one.event_id,
            session=one.session,
            disposition=Disposition.DEFERRED.value,
            reason=HELD,
            resurfaces_at=until,
            shift_us=_rested(one, attention, now),
        )
        for one in _asked(event, parsed, attention)
        if one.session in reached and one.policy is not Policy.MUST_NOT_RESPOND
    ]


def is_held(obligation: Obligation) -> bool:
    """Does it rest because whoever asked said to wait?"""
    return obligation.disposition is Disposition.DEFERRED and obligation.note == HELD


def _asked(event: Event, parsed: ParsedMessage, attention: Attention) -> Iterator[Obligation]:
    """What is open of the author's earlier questions there; for an owner's reply, of what it is under."""
    root, author = parsed.conversation.thread, parsed.author.id
    for question in attention.asking.questions.by_channel[parsed.conversation.id]:
        if question.event_id == event.id:
            continue
        under = root is not None and root in {question.thread, question.event_id}
        if (question.by == author and (root is None or under)) or (under and author == USER):
            latest = attention.versions.latest(question.event_id)
            yield from (one for one in attention.obligations.of_event(latest) if not one.closed)


def _rested(obligation: Obligation, attention: Attention, now: Moment) -> int:
    """How long it has rested so far, which does not count towards its deadline."""
    if not is_held(obligation) or obligation.resurfaces_at is None:
        return 0
    whole = attention.settings.hold_ms * MS
    return max(0, min(whole, whole - (obligation.resurfaces_at - now)))
