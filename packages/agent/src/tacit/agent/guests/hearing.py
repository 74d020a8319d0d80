"""Decisions about guests: an answer is here, a link is taken back, a link is over (A2ACP-276, A2ACP-277).

An answer that cannot be read is kept as such and told; it counts for nothing. The same bytes twice are one
answer, under whatever number a relay hands them out. After revocation what came by the link counts for
nothing, and the owner still sees it. Nothing here touches trust, memory or permissions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.guests import answers
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.fold import BY_LINK, BY_OWNER, EXPIRED, REVOKED, GuestTables
from tacit.agent.guests.question import GuestQuestion, content_of
from tacit.agent.scheduling import concluding
from tacit.base.errors import PeerFault, Refused
from tacit.base.strict_json import canonical
from tacit.wire.guests import MOST_ANSWERS

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.guests.answers import GuestReply
    from tacit.agent.guests.fold import Guest
    from tacit.agent.kernel.workspace import Workspace

MOST_PASTED: Final = 20
ANSWERED: Final = "guest_answered"
UNREADABLE: Final = "guest_unreadable"


def guest_of(ws: Workspace, guest_id: str) -> Guest:
    """A guest; `Refused` for one that is not ours."""
    found = ws.book.part(GuestTables).guests.get(guest_id)
    if found is None:
        raise Refused("unknown_guest", "this agent has asked no such guest", row="A2ACP-277")
    return found


def kept(ws: Workspace, guest_id: str) -> None:
    """The relay has the question."""
    if not guest_of(ws, guest_id).kept:
        ws.say(guest_records.GuestKept(guest_id))


def heard(ws: Workspace, guest_id: str, number: int, sealed: bytes, opened: bytes | None) -> None:
    """An answer came by the link; `opened` is None when the key does not open it."""
    guest = guest_of(ws, guest_id)
    if number <= guest.number:
        return
    mac = ws.values.keyed_hash(sealed)
    again = any(one.mac == mac for one in guest.heard)
    many = sum(one.source == BY_LINK for one in guest.heard) >= MOST_ANSWERS
    if again or many:
        ws.say(guest_records.GuestPassed(guest_id, number))
        return
    try:
        reply = answers.read(opened) if opened is not None else None
        if reply is not None:
            _packets(ws, guest, reply, BY_LINK)
    except PeerFault:
        reply = None
    content = ws.keep(guest.address, reply.fields() if reply is not None else {})
    choice = reply.choice if reply is not None else ""
    ws.say(
        guest_records.GuestHeard(guest_id, content, BY_LINK, choice, mac, number, readable=reply is not None)
    )
    ws.notice(guest.thread_id, ANSWERED if reply is not None else UNREADABLE, guest_id)
    _recounted(ws, guest)


def pasted(ws: Workspace, guest_id: str, reply: GuestReply) -> None:
    """The owner's word of what the guest replied, as the owner let it stand."""
    guest = guest_of(ws, guest_id)
    if sum(one.source == BY_OWNER for one in guest.heard) >= MOST_PASTED:
        raise Refused("too_many_answers", "this guest has answered often enough", row="A2ACP-277")
    _packets(ws, guest, reply, BY_OWNER)
    content = ws.keep(guest.address, reply.fields())
    mac = ws.values.keyed_hash(canonical(reply.fields()))
    ws.say(guest_records.GuestHeard(guest_id, content, BY_OWNER, reply.choice, mac))
    _recounted(ws, guest)


def revoked(ws: Workspace, guest_id: str) -> None:
    """The owner takes the link back; the relay is told as soon as it can be."""
    guest = guest_of(ws, guest_id)
    if guest.revoked:
        return
    ws.say(guest_records.GuestRevoked(guest_id))
    if guest.ended == "" and not guest.kept:
        # Nobody ever had it: there is nothing to take back.
        ws.say(guest_records.GuestEnded(guest_id, REVOKED))
    _recounted(ws, guest)


def ended(ws: Workspace, guest_id: str) -> None:
    """The relay takes nothing more for the link, and all that it took is here."""
    guest = guest_of(ws, guest_id)
    if not guest.ended:
        ws.say(guest_records.GuestEnded(guest_id, REVOKED if guest.revoked else EXPIRED))
        _recounted(ws, guest)


def _recounted(ws: Workspace, guest: Guest) -> None:
    """Where the guest was asked for a group, what that comes to now."""
    if guest.hub:
        concluding.settle(ws, guest.hub)


def question_of(ws: Workspace, guest: Guest) -> GuestQuestion:
    """What the guest is asked; empty when it was forgotten."""
    return content_of(ws.read(guest.content)).question or GuestQuestion()


def packets_of(ws: Workspace, guest: Guest, reply: GuestReply, source: str) -> list[Fields]:
    """An answer as the packets of this guest."""
    return _packets(ws, guest, reply, source)


def _packets(ws: Workspace, guest: Guest, reply: GuestReply, source: str) -> list[Fields]:
    question = question_of(ws, guest)
    proposed = question.proposal is not None
    return answers.packets(reply, guest, question.questions, proposed=proposed, source=source)
