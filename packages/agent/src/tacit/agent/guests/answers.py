"""What a guest said, as a value and as the packets of any other counterpart (A2ACP-275, A2ACP-276).

The page sends a small JSON object; whatever else has the key may send anything, so it is read strictly and
within bounds. It is data of somebody unknown: it chooses between yes, no and another suggestion, and its
words are only ever shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.vocabulary import CONFIRMED, COUNTER, DECLINED, USER_DECLINED
from tacit.base.errors import PeerFault
from tacit.base.strict_json import Malformed, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.guests.fold import Guest
    from tacit.base.strict_json import Json

CONFIRM: Final = "confirm"
DECLINE: Final = "decline"
SUGGEST: Final = "suggest"
CHOICES: Final = (CONFIRM, DECLINE, SUGGEST)
MOST_QUESTIONS: Final = 5
LONGEST_ANSWER: Final = 500
LONGEST_SUGGESTION: Final = 1000
_STATUS: Final = {CONFIRM: CONFIRMED, DECLINE: DECLINED, SUGGEST: COUNTER}
_REPLY: Final = {CONFIRM: "yes", DECLINE: "no", SUGGEST: ""}


@dataclass(frozen=True, slots=True)
class GuestReply:
    """One answer: a choice or none, words for each question, and a suggestion."""

    choice: str = ""
    answers: tuple[str, ...] = ()
    suggestion: str = ""

    def fields(self) -> Fields:
        """As it is kept and shown."""
        return {"choice": self.choice, "answers": list(self.answers), "suggestion": self.suggestion}


def read(raw: bytes) -> GuestReply:
    """The answer in what came unsealed; `PeerFault` when it is none."""
    try:
        fields = parse(raw.rstrip(b" "))
    except Malformed:
        raise PeerFault("a guest's answer is no JSON") from None
    if not isinstance(fields, dict) or fields.get("v") != 1:
        raise PeerFault("a guest's answer is an object of version 1")
    return checked(fields)


def checked(fields: Mapping[str, Json]) -> GuestReply:
    """An answer within its bounds; `PeerFault` otherwise."""
    choice = _text(fields.get("choice", ""), LONGEST_ANSWER)
    suggestion = _text(fields.get("suggestion", ""), LONGEST_SUGGESTION)
    said = fields.get("answers", [])
    if choice not in {"", *CHOICES} or not isinstance(said, list) or len(said) > MOST_QUESTIONS:
        raise PeerFault("a guest's answer is out of its bounds")
    answers = tuple(_text(text, LONGEST_ANSWER).strip() for text in said)
    reply = GuestReply(choice, answers, suggestion.strip())
    if not (reply.choice or any(reply.answers)) or (choice == SUGGEST and not reply.suggestion):
        raise PeerFault("a guest's answer says nothing")
    return reply


def _text(value: Json, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise PeerFault("a guest's answer is out of its bounds")
    return value


def packets(
    reply: GuestReply, guest: Guest, questions: Sequence[str], *, proposed: bool, source: str
) -> list[Fields]:
    """The answer as packets of `guest:<id>`: what it tells, and what it says to a proposal.

    Checked by the schemas of everybody's packets, so that whoever counts packets need not know of guests.
    """
    head: Fields = {"thread_id": guest.thread_id, "from": guest.address, "source": source}
    found: list[Fields] = []
    provided: Fields = {}
    told = [
        {"question": question, "answer": answer}
        for question, answer in zip(questions, reply.answers, strict=False)
        if answer
    ]
    if told:
        provided["answers"] = told
    if reply.choice and not proposed:
        provided["reply"] = _REPLY[reply.choice] or reply.suggestion
    if provided:
        found.append({**head, "type": schemas.CONTEXT_RESPONSE, "context_provided": provided})
    if reply.choice and proposed:
        response: Fields = {
            **head,
            "type": schemas.RESOLUTION_RESPONSE,
            "status": _STATUS[reply.choice],
            "in_reply_to": guest.packet_id,
        }
        if reply.choice == SUGGEST:
            response["change_request"] = {"field": "proposal", "suggestion": reply.suggestion}
        if reply.choice == DECLINE:
            response["reason_class"] = USER_DECLINED
        found.append(response)
    for one in found:
        schemas.check_in(one["type"], one)
    return found
