"""The way out of a decision: a body becomes a packet that consent has cleared, or a question, or nothing.

A2ACP-038, A2ACP-043, A2ACP-056, A2ACP-070, A2ACP-071, A2ACP-072, A2ACP-073, A2ACP-102, A2ACP-103,
A2ACP-278.

Whatever wrote the body, a brain, a command or this engine, it goes this way. A value that is not cleared
and turns up in some string stops the packet: it is written again without the brain's words, and if that
does not help the thread is paused and both owners are told.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import PolicyLookup, Tier, ready, tier
from tacit.a2acp.packets import dates, formats, packet, profile
from tacit.a2acp.threads.states import MOST_ROUNDS, ThreadTurns
from tacit.agent.consent.consenting import allowed_by, facts_of, is_released, told_in
from tacit.agent.groups.members import fanout_id, headed, members_of, open_legs, policy_in
from tacit.agent.kernel import records
from tacit.agent.kernel.state import HUB, MEMBER, THEM, US
from tacit.agent.memory.relationship import TOLD
from tacit.agent.scheduling.view import negotiates, view_of
from tacit.base.errors import Refused
from tacit.wire import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.consent.walk import HeldValue
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Moment

USER_APPROVED: Final = "user_approved"
IMPLICIT: Final = "implicit"
_IMPLICITLY: Final = "implicit:"
_NOT_WRITTEN: Final = frozenset({"uncleared_value", codes.TOO_LARGE})
"""Why a draft may not leave that is nobody's mistake: it is tried otherwise, or given up in public."""


def bases(thread: Thread) -> dict[str, str]:
    """What allows each field in a thread."""
    return {
        name: IMPLICIT if question.startswith(_IMPLICITLY) else USER_APPROVED
        for name, question in thread.approved.items()
    }


def held(ws: Workspace, view: View, packet_type: str, body: Fields) -> tuple[HeldValue, ...]:
    """What of a body would have to wait for the owner (A2ACP-070)."""
    thread = ws.thread(view.thread.thread_id)
    found = consent.examine(
        body,
        packet_type,
        policy_in(ws, thread),
        thread.peer,
        bases(thread),
        known=known(view),
        members=members_of(ws, thread),
    )
    return found.held


def known(view: View) -> tuple[object, ...]:
    """What the counterpart has said itself: no news to it."""
    remembered = (one.value for one in view.remembered.values() if one.source == TOLD)
    return (*view.theirs.values(), *remembered)


def may_speak(thread: Thread, packet_type: str = "context") -> bool:
    """Whether another packet of ours stays within the limit of round trips (A2ACP-102, A2ACP-103)."""
    return _turns(thread).may_send(US, packet_type)


def exhausted(thread: Thread) -> bool:
    """Whether all round trips were made, whoever spoke last."""
    return _turns(thread).exhausted


def _turns(thread: Thread) -> ThreadTurns:
    return ThreadTurns(thread.turns, thread.last_side, MOST_ROUNDS + thread.granted)


def send(
    ws: Workspace,
    view: View,
    packet_type: str,
    body: Fields,
    *,
    plain: Fields | None = None,
    spoken: tuple[str, ...] = (),
    fanout: str = "",
) -> str:
    """Let a packet leave; its id, or an empty text when it is not sent.

    `plain` is the same without words that a brain wrote, for when those give something away. `spoken` are
    the fields that the owner says with this very packet: released for it, and for no other. `fanout` names
    what goes to several at once.
    """
    thread = ws.thread(view.thread.thread_id)
    if thread.role == HUB:
        return _to_all(ws, thread, packet_type, body)
    peer = ws.peer_of(thread.peer)
    fitted = (
        profile.downgraded(packet_type, body, peer.features, peer.version)
        if peer.heard
        else (packet_type, body)
    )
    if fitted is None or not (peer.heard or packet.may_send(packet_type, peer.features)):
        # Nothing is known of them yet: a type of ours would be taken for a context.
        return ""
    if plain is not None and peer.heard:
        plain = (profile.downgraded(packet_type, plain, peer.features, peer.version) or fitted)[1]
    packet_type, body = fitted
    if negotiates(packet_type) and (thread.paused or not may_speak(thread, packet_type)):
        return ""
    tried = [headed(ws, thread, one, fanout) for one in (body, plain) if one is not None]
    cleared = _cleared(ws, view, thread, packet_type, tried, spoken)
    if cleared is None:
        return ""
    _keep(ws, thread, cleared)
    return cleared.packet_id


def _to_all(ws: Workspace, hub: Thread, packet_type: str, body: Fields) -> str:
    """One packet for each participant, each examined for the one it is for (A2ACP-174)."""
    fanout = fanout_id(ws)
    sent = [send(ws, view_of(ws, one), packet_type, body, fanout=fanout) for one in open_legs(ws, hub)]
    return next((one for one in sent if one), "")


def _cleared(
    ws: Workspace,
    view: View,
    thread: Thread,
    packet_type: str,
    bodies: list[Fields],
    spoken: tuple[str, ...],
) -> Any:
    packet_id = packet.identifier("pkt_", ws.draw(17))
    asked = frozenset(need.field for need in view.asked)
    members = members_of(ws, thread)
    for tried in bodies:
        if _misdated(tried, known(view), ws.now):
            continue
        fields = formats.hinted(tried, first=not thread.introduced)
        try:
            fields = profile.trimmed(fields, _most(ws, thread), keep=asked)
            draft = consent.PacketDraft(thread.peer, packet_type, thread.wire, packet_id, ws.now, fields)
            return consent.clear(
                draft,
                policy_in(ws, thread),
                bases(thread) | dict.fromkeys(spoken, USER_APPROVED),
                asked,
                scanner(ws, thread, spoken),
                known=known(view),
                members=members,
                passed_on=thread.role == MEMBER,
            )
        except Refused as refused:
            if refused.code not in _NOT_WRITTEN:
                raise
    give_up(ws, thread)
    return None


def _misdated(body: Fields, said: tuple[object, ...], now: Moment) -> bool:
    """Whether a date of ours has a weekday that is not its own (A2ACP-075); what they said is theirs."""
    faults = set(dates.weekday_faults_in(body, now))
    return bool(faults - set(dates.weekday_faults_in(list(said), now)))


def _most(ws: Workspace, thread: Thread) -> int:
    """The largest context that both sides take, by what they said in this thread (A2ACP-043)."""
    said = (ws.packet(thread, one.packet_id, THEM) for one in thread.packets if one.side == THEM)
    return min(map(packet.context_limit, said), default=packet.MAX_CONTEXT_BYTES)


def scanner(ws: Workspace, thread: Thread, spoken: tuple[str, ...] = ()) -> Scanner:
    """What must not turn up in any string for this counterpart (A2ACP-071)."""
    policy = policy_in(ws, thread)
    return scanner_for(ws, thread.peer, thread.approved, facts_of(ws, thread), spoken, policy)


def scanner_for(
    ws: Workspace,
    peer: str,
    approved: Mapping[str, str],
    facts: Fields,
    spoken: tuple[str, ...] = (),
    policy: Policy | None = None,
) -> Scanner:
    """The same for a counterpart, and what was released to it.

    `facts` are what another program knows of the owner for this thread. What our own address says stands in
    every packet and is no secret: the owner's name, most often. A value of a released field that is not the
    one released stays a secret, and the released ones are there to be told from it.
    """
    said = [(name, told_in(ws, approved, name)) for name in approved]
    secret: list[tuple[str, Any]] = [(name, value) for name, value in said if value is not None]
    kept: list[tuple[str, Any]] = []
    for name, value in (*ws.profile.items(), *facts.items()):
        level = tier(policy or ws.policy, name, peer)
        if level is Tier.ALWAYS or Scanner([(name, value)]).found(ws.me):
            continue
        if level is Tier.ASK and is_released(ws, approved, name, value):
            continue
        opened = allowed_by(ws, approved, name) and not allowed_by(ws, dict.fromkeys(spoken, "spoken"), name)
        (kept if opened else secret).append((name, value))
    return Scanner(secret, kept=kept)


def gives_away(
    ws: Workspace, peer: str, approved: Mapping[str, str], facts: Fields
) -> Callable[[object], frozenset[str]]:
    """The search for what a counterpart may not be told, in words that are no packet yet."""
    opened = partial(_opened, ready(ws.policy), frozenset(approved))
    return partial(scanner_for(ws, peer, approved, facts).hits, cleared=opened)


def _opened(lists: PolicyLookup, approved: frozenset[str], name: str) -> bool:
    return not approved.isdisjoint(lists.chain(name))


def give_up(ws: Workspace, thread: Thread) -> None:
    """Nothing that may leave could be written: pause, and say so on both sides (A2ACP-056, A2ACP-088)."""
    if thread.paused:
        return
    ws.change(thread, paused=True, consider="")
    ws.notice(thread.thread_id, "generation_failed")
    last = next((one.packet_id for one in reversed(thread.packets) if one.side == THEM), "")
    if not last:
        # They have said nothing yet: nobody waits for our answer.
        return
    body: dict[str, Any] = {"code": "generation_failed", "retry_expected": True, "in_reply_to": last}
    packet_id = packet.identifier("pkt_", ws.draw(17))
    draft = consent.PacketDraft(thread.peer, packet.PROCESSING_ERROR, thread.wire, packet_id, ws.now, body)
    _keep(ws, thread, consent.clear(draft, ws.policy, bases(thread), frozenset(), scanner(ws, thread)))


def _keep(ws: Workspace, thread: Thread, cleared: Any) -> None:
    ws.keep(thread.peer, cleared.body, name=cleared.packet_id)
    disclosed = tuple((name, basis, allowed_by(ws, thread.approved, name)) for name, basis in cleared.bases)
    ws.say(
        records.Sent(
            thread.thread_id,
            thread.peer,
            cleared.packet_id,
            cleared.type,
            ws.values.keyed_hash(ws.kept[cleared.packet_id][1]),
            disclosed,
            negotiates=negotiates(cleared.type),
        )
    )
