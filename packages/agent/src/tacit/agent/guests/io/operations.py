"""Asking people without an agent, as commands; and what the wheel does for it at the relay.

A2ACP-275, A2ACP-276, A2ACP-277.

What must reach the relay is read from the state: questions that it may lack, links that were taken back,
answers that it may have. Each step can be repeated. A relay that is away holds up a guest and nothing else.
Mail leaves only with the fingerprint of exactly the words that were shown.
"""

from __future__ import annotations

import base64
import logging
from email.message import EmailMessage
from email.utils import parseaddr
from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from tacit.agent.guests import answers, hearing, inviting, outcome
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.fold import BY_OWNER, GuestTables
from tacit.agent.guests.question import content_of
from tacit.agent.guests.replies import LONGEST, read_reply
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.io.smtp import SmtpServer
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.base.quoting import shown, shown_in
from tacit.base.strict_json import canonical
from tacit.seal import guest_seal
from tacit.seal.primitives import CannotOpen
from tacit.wire import address, guests
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.relay_connection import RelayConnection
    from tacit.agent.guests.answers import GuestReply
    from tacit.agent.guests.fold import Guest, GuestSaid
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.base.agent_requests import AgentGuestPaste
    from tacit.base.strict_json import Json

_log: Final = logging.getLogger("tacit.agent")
MAIL: Final = "mail_server"
LOOK_AGAIN: Final = 300 * SECOND
"""After which the relay is asked again, though it said nothing."""
REST: Final = 30 * SECOND
_MOST_FETCHES: Final = 8
_ID_BYTES: Final = 17


# What an owner does.


async def ask(
    agent: AgentCore,
    name: str,
    text: str,
    *,
    questions: Sequence[str] = (),
    share: Sequence[str] = (),
    signed: str = "",
    days: int = guests.LONGEST_DAYS,
    group: str = "",
) -> Fields:
    """Make a link and the words to send it with; nobody has them before the owner sends them."""
    await _without_agent(agent, name)
    asked = inviting.guest_wish(name, text, questions, share, signed, days, group)
    guest_id = base64.b32encode(agent.workspace().draw(_ID_BYTES)).decode().lower()[:26]
    secret = agent.workspace().draw(guest_seal.SECRET_BYTES)
    zone = agent.settings.zone()
    await agent.decide(lambda ws: inviting.invite(ws, asked, zone, guest_id, secret))
    try:
        await _carried(agent, guest_id, strict=True)
    except Refused:
        await agent.decide(lambda ws: hearing.revoked(ws, guest_id))
        raise
    return _shown(agent, _guest(agent, guest_id), whole=True)


async def _without_agent(agent: AgentCore, name: str) -> None:
    """An address is asked for first: whoever has an agent is asked by it (A2ACP-275)."""
    if not name.startswith("agent:"):
        return
    who = str(address.parse_typed(name))
    try:
        await agent.post.directory.refresh(who)
    except Refused as refused:
        if refused.code == "unknown_recipient":
            return
        raise
    raise Refused("has_agent", "this person has an agent: tacit agent ask --to", row="A2ACP-275")


async def listed(agent: AgentCore) -> Fields:
    """Everybody who was asked by a link, the last first."""
    await _all_carried(agent)
    asked = [one for one, _ in agent.journal.records("x.a2acp.guest_asked")]
    names = [one.guest_id for one in asked if isinstance(one, guest_records.GuestAsked)]
    return {"guests": [_shown(agent, _guest(agent, one), whole=False) for one in reversed(names)]}


async def show(agent: AgentCore, guest_id: str) -> Fields:
    """One guest: what was asked, every answer, and which one counts."""
    await _carried(agent, _guest(agent, guest_id).guest_id)
    return _shown(agent, _guest(agent, guest_id), whole=True)


async def revoke(agent: AgentCore, guest_id: str) -> Fields:
    """Take a link back: what came by it is fetched to be seen, and counts for nothing."""
    await agent.decide(lambda ws: hearing.revoked(ws, guest_id))
    await _carried(agent, guest_id)
    return _shown(agent, _guest(agent, guest_id), whole=True)


async def forget(agent: AgentCore, guest_id: str) -> Fields:
    """Let go of every word about a guest; that somebody was asked, and when, stays."""
    await revoke(agent, guest_id)
    agent.vault.forget(_guest(agent, guest_id).address)
    return {"forgotten": guest_id}


async def paste(agent: AgentCore, request: AgentGuestPaste) -> Fields:
    """Read a reply that came another way; kept only when the owner says that it is read rightly."""
    guest, text = _guest(agent, request.guest_id), request.text
    if not text.strip() or len(text) > LONGEST:
        raise Refused("bad_reply", f"a reply has 1 to {LONGEST} characters", row="A2ACP-275")
    question = hearing.question_of(agent.workspace(), guest)
    reply = read_reply(text, question.questions, proposed=question.proposal is not None)
    correction = {"choice": request.choice, "answers": request.answers, "suggestion": request.suggestion}
    corrected = {name: value for name, value in correction.items() if value is not None}
    found = {**reply.fields(), **corrected}
    if found["choice"] == answers.SUGGEST and not found["suggestion"]:
        found["suggestion"] = text.strip()[: answers.LONGEST_SUGGESTION]
    read = {"guest_id": guest.guest_id, "source": BY_OWNER, **found, "text": shown(text), "kept": False}
    if not request.keep:
        return read
    try:
        kept = answers.checked(found)
    except PeerFault as fault:
        raise Refused(
            "unclear_reply", f"{fault}: say what it means with a choice or answers", row="A2ACP-275"
        ) from None
    await agent.decide(lambda ws: hearing.pasted(ws, guest.guest_id, kept))
    return {**read, "kept": True}


async def result(agent: AgentCore, guest_id: str) -> Fields:
    """What to send a guest who said yes: a text, and the calendar entry (A2ACP-277)."""
    guest = _guest(agent, guest_id)
    return outcome.result(guest, hearing.question_of(agent.workspace(), guest))


# Mail, by the owner's own server.


async def mail_server(agent: AgentCore, url: str | None) -> Fields:
    """Show or set the server by which mail to guests leaves; its password is shown to nobody."""
    if url is not None:
        if url and not SmtpServer(url, encrypted=True).sender:
            raise Refused("bad_mail", "say from which address: …?from=me@example.org", row="A2ACP-275")
        await agent.set_to(MAIL, url or None)
    kept = _mail_url(agent)
    server = SmtpServer(kept) if kept else None
    return {"host": server.host if server else None, "from": server.sender if server else None}


async def mail(agent: AgentCore, guest_id: str, to: str, fingerprint: str = "") -> Fields:
    """Show the mail that would go; with the fingerprint of just that, send it.

    Before the guest has answered it is the question; after a yes, the result with its calendar entry.
    """
    guest = _guest(agent, guest_id)
    kept = _mail_url(agent)
    if not kept:
        raise Refused("no_mail", "first: tacit agent guest mail-server", row="A2ACP-275")
    if "\n" in to or "\r" in to or parseaddr(to)[1] != to or "@" not in to:
        raise Refused("bad_address", "give one mail address", row="A2ACP-275")
    server = SmtpServer(kept, encrypted=True)
    told = _mail_of(agent, guest)
    words = {"from": server.sender, "to": to, **told}
    mac = agent.vault.keyed_hash(canonical(words))
    if not fingerprint:
        return {**words, "fingerprint": mac, "sent": False}
    if fingerprint != mac:
        raise Refused("not_shown", "these are not the words that were shown; look again", row="A2ACP-275")
    await server.send(_message(words))
    await agent.decide(lambda ws: ws.say(guest_records.GuestMailed(guest_id, mac)))
    return {**words, "fingerprint": mac, "sent": True}


def _mail_url(agent: AgentCore) -> str:
    value_id = agent.journal.book.settings.get(MAIL)
    return str((agent.vault.value(value_id) if value_id else None) or "")


def _mail_of(agent: AgentCore, guest: Guest) -> Fields:
    question = hearing.question_of(agent.workspace(), guest)
    counted = guest.counted
    if counted is not None and counted.choice == answers.CONFIRM:
        return {"subject": "It is settled", **outcome.result(guest, question)}
    link = _link(agent, guest)
    if link is None:
        raise Refused("link_over", "this link is over; ask anew", row="A2ACP-277")
    subject = f"A question from {question.sender}" if question.sender else "A question for you"
    return {"subject": shown(subject), "text": inviting.message(question, link), "ics": None}


def _message(words: Fields) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = words["from"], words["to"], words["subject"]
    message.set_content(words["text"])
    if words["ics"]:
        message.add_attachment(
            words["ics"].encode(), maintype="text", subtype="calendar", filename="appointment.ics"
        )
    return message


# What the wheel does.


async def turned(agent: AgentCore, connection: RelayConnection, asked: dict[str, Moment]) -> bool:
    """Bring open links and their answers up to date; `asked` says when each is to be asked about again."""
    news, connection.guest_news = connection.guest_news, False
    now, did = agent.clock.now(), False
    for guest_id in list(agent.journal.book.part(GuestTables).open_guests):
        if asked.get(guest_id, Moment(0)) > now and not news:
            continue
        before = _guest(agent, guest_id)
        done = await _carried(agent, guest_id)
        asked[guest_id] = Moment(now + (LOOK_AGAIN if done else REST))
        did = did or _guest(agent, guest_id) != before
    return did


def due(agent: AgentCore, connection: RelayConnection | None, asked: dict[str, Moment]) -> bool:
    """Whether there is a link to bring up to date now, and a line to the relay to suggest that it answers."""
    still = agent.journal.book.part(GuestTables).open_guests
    if connection is None or not connection.connected.is_set() or not still:
        return False
    now = agent.clock.now()
    return connection.guest_news or any(asked.get(one, Moment(0)) <= now for one in still)


async def _carried(agent: AgentCore, guest_id: str, *, strict: bool = False) -> bool:
    """Tell the relay what it lacks of one link and take what it has; whether that is done.

    `strict`: what the relay refuses for good is told to who asked.
    """
    guest = _guest(agent, guest_id)
    if guest.ended:
        return True
    try:
        if not guest.kept and guest.until <= agent.clock.confirmed():
            await agent.decide(lambda ws: hearing.ended(ws, guest_id))
            return True
        if not guest.kept:
            await _opened(agent, guest)
        await _fetched(agent, guest_id)
    except Unavailable as away:
        _log.info("a guest's link waits: %s", away)
        return False
    except (Refused, PeerFault) as fault:
        code = fault.code if isinstance(fault, Refused) else "peer_fault"
        _log.warning("a guest's link: %s", code)
        if strict:
            raise
        if code == "not_found" and guest.kept:
            # The relay has let go of it: nothing more can come.
            await agent.decide(lambda ws: hearing.ended(ws, guest_id))
        return False
    return True


async def _all_carried(agent: AgentCore) -> None:
    for guest_id in list(agent.journal.book.part(GuestTables).open_guests):
        await _carried(agent, guest_id)


async def _opened(agent: AgentCore, guest: Guest) -> None:
    secret = _secret(agent, guest)
    question = hearing.question_of(agent.workspace(), guest)
    plain = guests.padded(canonical(to_builtins(question)), guests.LARGEST_QUESTION)
    # The nonce is made of what it seals, so that a repeat is the same bytes.
    nonce = guest_seal.repeatable_nonce(secret, plain)
    sealed = guest_seal.seal(secret, guest.guest_id, guest_seal.QUESTION, plain, nonce)
    digest = guest_seal.proof_digest(secret)
    await agent.post.directory.guest(
        guests.OPEN, guest.guest_id, until=int(guest.until), question=b64(sealed), proof_digest=b64(digest)
    )
    await agent.decide(lambda ws: hearing.kept(ws, guest.guest_id))


async def _fetched(agent: AgentCore, guest_id: str) -> None:
    """Take the answers in their order until there are none, then end a link that is over."""
    for _ in range(_MOST_FETCHES):
        guest = _guest(agent, guest_id)
        do = guests.REVOKE if guest.revoked else guests.FETCH
        found = await agent.post.directory.guest(do, guest_id, after=guest.number)
        if guest.revoked:
            found = await agent.post.directory.guest(guests.FETCH, guest_id, after=guest.number)
        fresh = [one for one in found.answers if one.number > guest.number]
        for one in sorted(fresh, key=lambda one: one.number):
            await _take(agent, guest, one)
        if not fresh:
            if not found.open:
                await agent.decide(lambda ws: hearing.ended(ws, guest_id))
            return


async def _take(agent: AgentCore, guest: Guest, answer: guests.GuestAnswer) -> None:
    sealed = unb64(answer.sealed) or b""
    try:
        opened = guest_seal.unseal(_secret(agent, guest), guest.guest_id, guest_seal.ANSWER, sealed)
    except CannotOpen:
        opened = None
    await agent.decide(lambda ws: hearing.heard(ws, guest.guest_id, answer.number, sealed, opened))


# What is shown.


def _guest(agent: AgentCore, guest_id: str) -> Guest:
    return hearing.guest_of(agent.workspace(), guest_id)


def _secret(agent: AgentCore, guest: Guest) -> bytes:
    kept = agent.vault.value(guest.secret)
    if not isinstance(kept, str):
        raise Refused("link_over", "this link's key is gone; ask anew", row="A2ACP-277")
    return bytes.fromhex(kept)


def _link(agent: AgentCore, guest: Guest) -> str | None:
    if guest.revoked or guest.ended or guest.until <= agent.clock.now():
        return None
    return f"{agent.post.store.me().relay_url}/g/{guest.guest_id}#{b64(_secret(agent, guest))}"


def _state(agent: AgentCore, guest: Guest) -> str:
    if guest.revoked:
        return "revoked"
    if guest.ended or guest.until <= agent.clock.now():
        return "over"
    return "open" if guest.kept else "waiting"


def _shown(agent: AgentCore, guest: Guest, *, whole: bool) -> Fields:
    content = content_of(agent.vault.value(guest.content))
    question = content.question
    counted = guest.counted
    found: Fields = {
        "guest_id": guest.guest_id,
        "thread_id": guest.thread_id,
        "name": content.name,
        "state": _state(agent, guest),
        "asked_at": rfc3339(guest.asked_at),
        "until": rfc3339(guest.until),
        "summary": question.text if question is not None else None,
        "answers": [_answer(agent, guest, one, counts=one is counted) for one in guest.heard],
        "counts": counted.choice or "words" if counted is not None else None,
        "mailed": guest.mailed,
    }
    if whole:
        link = _link(agent, guest) if question is not None else None
        text = inviting.message(question, link) if question is not None and link else None
        found |= {"link": link, "text": text, "question": to_builtins(question)}
    return found


def _answer(agent: AgentCore, guest: Guest, said: GuestSaid, *, counts: bool) -> Fields:
    value: Json = agent.vault.value(said.answer)
    kept = value if isinstance(value, dict) else {}
    packets: list[Fields] = []
    if said.readable and kept:
        reply: GuestReply = answers.checked(kept)
        packets = hearing.packets_of(agent.workspace(), guest, reply, said.source)
    return {
        "at": rfc3339(said.at),
        "source": said.source,
        "readable": said.readable,
        "counts": counts,
        "choice": said.choice or None,
        "answers": shown_in(kept.get("answers") or [], answers.LONGEST_ANSWER),
        "suggestion": shown(kept.get("suggestion") or "", answers.LONGEST_SUGGESTION) or None,
        "packets": shown_in(packets, answers.LONGEST_SUGGESTION),
    }


def disclosures(agent: AgentCore) -> list[Fields]:
    """What guests were told of the owner, beyond what the owner typed, and what allowed it."""
    found: list[Fields] = []
    for one, at in agent.journal.records("x.a2acp.guest_asked"):
        if not isinstance(one, guest_records.GuestAsked):
            continue
        guest = _guest(agent, one.guest_id)
        told = content_of(agent.vault.value(one.content)).told
        found += [
            {
                "to": guest.address,
                "thread_id": one.thread_id,
                "packet_id": one.packet_id,
                "field": field,
                "value": told.get(field),
                "basis": basis,
                "question_id": None,
                "via": None,
                "at": rfc3339(at),
            }
            for field, basis in one.bases
        ]
    return found
