"""What threads teach: from one that is over, and from a word that contradicts what was remembered.

A2ACP-079, A2ACP-185, A2ACP-187, A2ACP-189, A2ACP-191, A2ACP-192, A2ACP-193.

Only agents that the owner has let in teach, and only of themselves: a guest or a stranger teaches nothing,
and what somebody says of a third person is kept nowhere. What is remembered spares questions: what is known
is not asked for, what is too old is asked for again, and what a familiar counterpart always asks for goes
with the first packet, as far as the owner shares it anyway. It moves no tier, answers no question of the
owner's, and where a proposal rests on it the owner is shown since when and from whom.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.consent import aliases
from tacit.a2acp.consent.tiers import Tier, canonical, ready, tier
from tacit.a2acp.threads.states import CATEGORIES, TERMINAL
from tacit.agent.kernel.state import DECLINED, THEM, US
from tacit.agent.memory import patterns, relationship
from tacit.agent.memory.acquaintance import Acquaintance, AcquaintanceTables
from tacit.agent.memory.record import day, learned_patterns
from tacit.agent.memory.records import CONTRADICTED, LEARNED, Remembered
from tacit.agent.memory.relationship import Episode, Known, Relationship, recalled
from tacit.agent.scheduling.goal import HELPFUL, MEETING, Need
from tacit.agent.scheduling.view import AVAILABILITY, CARRIERS, view_of
from tacit.base.moment import Moment, rfc3339
from tacit.base.strict_json import as_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.a2acp.consent.tiers import PolicyLookup
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View

BLOCKED: Final = "blocked"
AGENT: Final = "agent:"
CHANGED: Final = "memory_changed"
MOST_NAMES: Final = 20
ASKED_AS: Final = {aliases.GENERAL_LOCATION: "location_preference"}
"""By which name a field is asked for, where the tiers' own is another."""
_PROMPTED: Final = ("value", "last_updated", "confidence", "source")
_AGAIN: Final = "To be sure that what was said some time ago is still right"


# Learning.


def finished(ws: Workspace, thread: Thread) -> None:
    """A thread is over: remember how it went, and what the counterpart told of itself in it."""
    if thread.state not in TERMINAL or thread.closed_reason == BLOCKED or not _teaches(ws, thread.peer):
        return
    before = recalled(ws.read, thread.peer)
    view = view_of(ws, thread)
    found, contradicted = relationship.learned(before, list(_told(ws, thread)), thread.thread_id)
    found = relationship.with_episode(found, _episode(ws, view, before))
    keep(ws, thread.peer, found, LEARNED, thread.thread_id)
    _tell(ws, thread, contradicted)


def heard(ws: Workspace, thread: Thread, fields: Fields) -> None:
    """A packet that contradicts what is remembered takes its place at once (A2ACP-193)."""
    if not _teaches(ws, thread.peer):
        return
    before = recalled(ws.read, thread.peer)
    told = [one for one in _lasting(ws, fields, ws.now) if one[0] in before.cache] if before.cache else []
    found, contradicted = relationship.learned(before, told, thread.thread_id)
    if contradicted:
        keep(ws, thread.peer, found, CONTRADICTED, thread.thread_id)
        _tell(ws, thread, contradicted)


def keep(ws: Workspace, peer: str, found: Relationship, why: str, thread_id: str = "") -> None:
    """Put what is remembered of a counterpart in the place of what was."""
    ws.keep(peer, msgspec.to_builtins(found), name=relationship.name_of(peer))
    ws.say(Remembered(peer, why, thread_id))


def _teaches(ws: Workspace, peer: str) -> bool:
    return peer.startswith(AGENT) and ws.peer_of(peer).welcome


def _tell(ws: Workspace, thread: Thread, keys: Iterable[str]) -> None:
    for key in keys:
        ws.notice(thread.thread_id, CHANGED, key)


def _told(ws: Workspace, thread: Thread) -> Iterator[tuple[str, Any, Moment]]:
    for entry in thread.packets:
        if entry.side == THEM:
            yield from _lasting(ws, ws.packet(thread, entry.packet_id, THEM), entry.at)


def _lasting(ws: Workspace, fields: Fields, at: Moment) -> Iterator[tuple[str, Any, Moment]]:
    lists = ready(ws.policy)
    for name in CARRIERS:
        for key, value in as_object(fields.get(name)).items():
            chain = lists.chain(key)
            if relationship.is_lasting(chain):
                yield chain[-1], value, at


def _episode(ws: Workspace, view: View, before: Relationship) -> Episode:
    thread = view.thread
    lists = ready(ws.policy)
    named = partial(_names, lists)
    told = {lists.chain(one)[-1] for one in view.theirs}
    if any(one.side == THEM and one.type == "resolution" for one in thread.packets):
        # Whoever proposes a time has said when it has time.
        told.add(AVAILABILITY)
    asked = {one for one in thread.asked if ":" not in one} | {
        lists.chain(one.field)[-1] for one in view.asked
    }
    # What went along unasked, as it always is asked for, was asked for.
    ours = {lists.chain(one)[-1] for one in view.ours}
    asked |= ours & set(patterns.usually_requests(before.episodes))
    category: object = view.intent.get("category")
    return Episode(
        thread_id=thread.thread_id,
        at=thread.since,
        category=str(category) if category in CATEGORIES else "",
        outcome=thread.state,
        told=named(told),
        declined=named(name for name, status in thread.wants.items() if status == DECLINED),
        requested=named(asked),
        waited=_waits(thread),
        flexibility={key: one for key, one in view.flexibility.items() if key in patterns.DIMENSIONS},
        proposals=thread.past_proposals,
    )


def _names(lists: PolicyLookup, found: Iterable[str]) -> tuple[str, ...]:
    """Names of the draft's or of the owner's; one that a counterpart made up could say anything."""
    return tuple(sorted(one for one in found if lists.knows(lists.chain(one)))[:MOST_NAMES])


def _waits(thread: Thread) -> tuple[int, ...]:
    found: list[int] = []
    ours: Moment | None = None
    for entry in thread.packets:
        if entry.side == US:
            ours = entry.at
        elif ours is not None:
            found.append(max(0, entry.at - ours))
            ours = None
    return tuple(found)


# Using.


def is_familiar(ws: Workspace, view: View) -> bool:
    """Whether enough of this kind was brought to its end with the counterpart (A2ACP-084)."""
    category = view.goal.category if view.goal is not None else ""
    return ws.book.completions.get((view.thread.peer, category), 0) >= patterns.FAMILIAR_FROM


def enriching(ws: Workspace, view: View) -> tuple[str, ...]:
    """What a familiar counterpart always asks for and may have anyway (A2ACP-079, A2ACP-080)."""
    peer = view.thread.peer
    known = ws.book.part(AcquaintanceTables).acquaintances.get(peer, Acquaintance())
    if known.completed < patterns.FAMILIAR_FROM:
        return ()
    asked = patterns.usually_requests(recalled(ws.read, peer).episodes)
    return tuple(one for one in asked if tier(ws.policy, one, peer) is Tier.ALWAYS)


def left_to_them(ws: Workspace, view: View, *, times_told: bool) -> bool:
    """Whether a familiar counterpart can propose by itself, and is not asked for its times (A2ACP-191).

    It needs ours for that, which therefore must be told without a question, and has to be one that tells its
    own as a rule.
    """
    goal, peer = view.goal, view.thread.peer
    if goal is None or goal.kind != MEETING or not times_told or not is_familiar(ws, view):
        return False
    if tier(ws.policy, "time_windows", peer) is not Tier.ALWAYS:
        return False
    return AVAILABILITY in patterns.usually_shares(recalled(ws.read, peer).episodes)


def needs(ws: Workspace, view: View, *, times_told: bool) -> list[Need]:
    """What a first packet asks for: what is not known, and what was known too long ago (A2ACP-192).

    A wish to be told something is asked as it is, whatever is remembered: the owner wants to hear it now.
    """
    goal = view.goal
    if goal is None or goal.kind != MEETING:
        return list(goal.wants) if goal is not None else []
    spared = set(view.remembered)
    if left_to_them(ws, view, times_told=times_told):
        spared.add(AVAILABILITY)
    wanted = [one for one in goal.wants if canonical(ws.policy, one.field) not in spared]
    named = {canonical(ws.policy, one.field) for one in wanted}
    old = relationship.to_verify(recalled(ws.read, view.thread.peer), ws.now)
    again = [one for one in old if one in relationship.LASTING and one not in named]
    return [*wanted, *(Need(ASKED_AS.get(one, one), _AGAIN, HELPFUL) for one in again)]


def rests_on(ws: Workspace, view: View) -> list[Fields]:
    """What of this thread rests on memory, for the owner to see: what, since when, and from whom."""
    told = {canonical(ws.policy, one) for one in view.theirs}
    wants = view.goal.wants if view.goal is not None else ()
    spared = {canonical(ws.policy, one.field) for one in wants} - told
    return [shown(key, one) for key, one in sorted(view.remembered.items()) if key in spared]


def shown(key: str, known: Known) -> Fields:
    """One remembered value with its source."""
    source = "you" if known.source == relationship.OWNER else "them"
    return {"field": key, "value": known.value, "since": rfc3339(known.at), "told_by": source}


def for_a_prompt(ws: Workspace, peer: str) -> Fields:
    """What a model may know of this counterpart, as it stands now (A2ACP-064, A2ACP-194)."""
    found = recalled(ws.read, peer)
    known = relationship.shown_cache(found, ws.now, day)
    values = {key: {one: said[one] for one in _PROMPTED} for key, said in known.items()}
    habits = {key: value for key, value in learned_patterns(found).items() if value}
    return {**({"known": values} if values else {}), **({"usually": habits} if habits else {})}
