"""What a guest is asked: the question behind the link, and the words to send it with (A2ACP-275, A2ACP-277).

Theory of operation. The owner types whom, what, and up to five questions; that is the owner's own word. What
the agent adds of its owner (a name to sign with, a zone, a field that was named) goes through the consent
filter like every packet, as one for `guest:<id>`: what may always go does, what was named for this message
does, anything else is refused before there is a link. A sentence with a definite time becomes a proposal with
a calendar entry; one with a wide stretch becomes a question for the time. All of it is shown to the owner,
word for word, and nobody has the link before the owner has sent it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import to_builtins
from msgspec.structs import replace

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import Tier, tier
from tacit.a2acp.consent.walk import APPROVED
from tacit.a2acp.packets import formats, packet
from tacit.a2acp.packets.dates import spoken, wall, zone_named, zone_of_owner
from tacit.a2acp.threads.states import State
from tacit.agent.brain.requests import read
from tacit.agent.brain.writing import title
from tacit.agent.groups.confirmation import QUORUM
from tacit.agent.groups.fold import GroupTables
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.answers import MOST_QUESTIONS
from tacit.agent.guests.question import GuestFact, GuestProposal, GuestQuestion
from tacit.agent.scheduling import proposal_slots
from tacit.agent.scheduling.calendars.entry import entry
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.wire.guests import LONGEST_DAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.goal import Goal
    from tacit.base.moment import Span
    from tacit.base.strict_json import Json

DAY: Final = 24 * 3600 * SECOND
LONGEST_NAME: Final = 80
LONGEST_TEXT: Final = 1500
LONGEST_QUESTION: Final = 200
LONGEST_FACT: Final = 300
MOST_FACTS: Final = 8
SIGNS: Final = ("name", "timezone")
"""Fields that go into every message if they may always go."""
_MINUTE: Final = 60 * SECOND


@dataclass(frozen=True, slots=True)
class GuestWish:
    """What the owner wants a guest to be asked, in the owner's words."""

    name: str
    text: str
    questions: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    """Fields of the profile that the owner releases for this message."""
    signed: str = ""
    """How the owner signs, typed; else the profile's name, if it may go."""
    days: int = LONGEST_DAYS
    group: str = ""
    """A group that we coordinate: it is about what stands there, and counts toward its quorum."""


def guest_wish(
    name: str,
    text: str,
    questions: Sequence[str],
    share: Sequence[str],
    signed: str,
    days: int,
    group: str = "",
) -> GuestWish:
    """A wish within its bounds, or `Refused`."""
    texts = [(name, LONGEST_NAME, "a name"), (text, LONGEST_TEXT, "a text")]
    texts += [(one, LONGEST_QUESTION, "each question") for one in questions]
    for one, longest, what in texts:
        if not one.strip() or len(one) > longest:
            raise Refused("bad_guest", f"{what} has 1 to {longest} characters", row="A2ACP-275")
    if len(questions) > MOST_QUESTIONS:
        raise Refused("bad_guest", f"at most {MOST_QUESTIONS} questions", row="A2ACP-275")
    if len(signed) > LONGEST_NAME or len(share) > MOST_FACTS:
        raise Refused("bad_guest", "a signature is short, and few fields are shared", row="A2ACP-277")
    if not 1 <= days <= LONGEST_DAYS:
        raise Refused("bad_guest", f"a link lasts 1 to {LONGEST_DAYS} days", row="A2ACP-277")
    return GuestWish(
        name.strip(),
        text.strip(),
        tuple(one.strip() for one in questions),
        tuple(share),
        signed.strip(),
        days,
        group,
    )


def invite(ws: Workspace, asked: GuestWish, zone: str, guest_id: str, secret: bytes) -> str:
    """Begin a guest thread; its guest's id."""
    thread_id = packet.identifier("thr_", ws.draw(17))
    packet_id = packet.identifier("pkt_", ws.draw(17))
    address = f"guest:{guest_id}"
    until = Moment(ws.now + asked.days * DAY)
    # A letter says more than a request and goes as it is; no time is made of words that were turned round.
    goal, wish = read(asked.text, ws.now, zone)
    goal = replace(goal, spans=()) if wish.coverage.weighty(goal.place) else goal
    told, bases = _cleared(ws, asked, goal, address, thread_id, packet_id)
    hub = _hub(ws, asked.group) if asked.group else None
    shown = _question(ws, asked, goal, told, zone, packet_id, until)
    if hub is not None:
        shown = _of_group(ws, hub, shown, told, zone, packet_id)
    content = ws.keep(address, {"name": asked.name, "question": to_builtins(shown), "told": told})
    kept = ws.keep(address, secret.hex())
    about = hub.proposal.packet_id if hub is not None and hub.proposal is not None else ""
    ws.say(
        guest_records.GuestAsked(
            guest_id, thread_id, packet_id, content, kept, until, tuple(bases.items()),
            hub=hub.thread_id if hub is not None else "", about=about,
        )
    )  # fmt: skip
    return guest_id


def _cleared(
    ws: Workspace, asked: GuestWish, goal: Goal, address: str, thread_id: str, packet_id: str
) -> tuple[Fields, dict[str, str]]:
    """What the owner's fields tell, and on what ground; `Refused` for one that may not go."""
    given: Fields = {"text": asked.text}
    if asked.questions:
        given["questions"] = list(asked.questions)
    missing = [name for name in asked.share if name not in ws.profile]
    if missing:
        raise Refused("unknown_field", "your profile has no such field", row="A2ACP-277")
    always = [name for name in SIGNS if name in ws.profile and tier(ws.policy, name, address) is Tier.ALWAYS]
    named = dict.fromkeys((*asked.share, *always))
    given |= {name: ws.profile[name] for name in named}
    approved = dict.fromkeys(("text", "questions", *asked.share), APPROVED)
    body: Fields = {
        "intent": {"category": goal.category, "summary": goal.summary, "urgency": goal.urgency},
        "context": given,
    }
    members = frozenset({ws.me, address})
    examined = consent.examine(body, packet.CONTEXT, ws.policy, address, approved, members=members)
    kept: Fields = examined.kept.get("context") or {}
    if examined.held or examined.withheld or any(name not in kept for name in named):
        raise Refused("never_shared", "a field that you named never goes to anybody", row="A2ACP-277")
    draft = consent.PacketDraft(address, packet.CONTEXT, thread_id, packet_id, ws.now, body)
    cleared = consent.clear(draft, ws.policy, approved, frozenset(), Scanner(()), members=members)
    told: Fields = cleared.body["context"]
    return {name: told[name] for name in named}, {
        name: basis for name, basis in cleared.bases if name in named
    }


def _question(
    ws: Workspace, asked: GuestWish, goal: Goal, told: Fields, zone: str, packet_id: str, until: Moment
) -> GuestQuestion:
    """What the page shows, whole: nothing else of ours reaches the guest."""
    there = zone if "timezone" in told else ""
    slot = _definite(goal)
    questions = list(asked.questions)
    proposal, ics = None, ""
    if slot is not None:
        what = title(goal.event_type) if goal.event_type else goal.summary
        proposal = GuestProposal(what, _when(slot, zone, there), goal.place)
        ics = entry(packet_id, _details(slot, goal, zone, what), ws.now).decode()
    elif goal.spans and not questions:
        questions = [f"What time suits you? {_when(goal.spans[0], zone, there, between=True)}"]
    sender = asked.signed or str(told.get("name") or "")
    facts = [
        GuestFact(name.replace("_", " ").capitalize(), _text(value))
        for name, value in told.items()
        if name not in SIGNS
    ]
    return GuestQuestion(
        to=asked.name,
        sender=sender,
        text=asked.text,
        facts=facts,
        proposal=proposal,
        questions=questions,
        until_text=spoken(wall(until, zone_of_owner(zone)).date()),
        ics=ics,
    )


def _hub(ws: Workspace, group_id: str) -> Thread:
    """The coordinator's thread of a group in which a proposal stands that a quorum confirms."""
    group = ws.book.part(GroupTables).groups.get(group_id)
    if group is None or group.coordinator != ws.me or group.mode != QUORUM:
        raise Refused("not_for_guests", "a guest counts in a group of yours with a quorum", row="A2ACP-277")
    hub = ws.thread(ws.book.part(GroupTables).legs[group_id, ws.me])
    if hub.state is not State.PROPOSED or hub.proposal is None:
        raise Refused("nothing_stands", "in this group nothing is proposed now", row="A2ACP-277")
    return hub


def _of_group(
    ws: Workspace, hub: Thread, question: GuestQuestion, told: Fields, zone: str, packet_id: str
) -> GuestQuestion:
    """The question with what stands in the group: what, when and where, and nobody's reasons."""
    details = proposal_slots.chosen_details(ws, hub)
    slot = proposal_slots.slot_of(details, ws)
    if slot is None:
        raise Refused("nothing_stands", "what is proposed has no definite time", row="A2ACP-277")
    there = zone if "timezone" in told else ""
    what, place = str(details.get("summary") or "Appointment"), str(details.get("place") or "")
    proposal = GuestProposal(what, _when(slot, zone, there), place)
    return replace(question, proposal=proposal, ics=entry(packet_id, details, ws.now).decode())


def _definite(goal: Goal) -> Span | None:
    """The one slot that a sentence names; None where it leaves room to look for one."""
    if len(goal.spans) != 1 or not goal.minutes or goal.unclear:
        return None
    span = goal.spans[0]
    return span if span.end - span.start <= 2 * goal.minutes * _MINUTE else None


def _details(slot: Span, goal: Goal, zone: str, what: str) -> Fields:
    window = formats.write_window(slot, zone_of_owner(zone))
    return {"date": window["date"], "time": window["time"], "summary": what, "place": goal.place}


def _when(span: Span, zone: str, there: str, *, between: bool = False) -> str:
    """`Friday 27 March 2026, 19:00 to 20:30 (Europe/London)`."""
    clock = zone_named(zone) or zone_of_owner("UTC")
    start, end = wall(span.start, clock), wall(span.end, clock)
    last = (
        end.strftime("%H:%M") if end.date() <= start.date() or between else end.strftime("%H:%M (next day)")
    )
    times = f"between {start:%H:%M} and {last}" if between else f"{start:%H:%M} to {last}"
    return f"{spoken(start.date())}, {times}" + (f" ({there})" if there else "")


def _text(value: Json) -> str:
    return ", ".join(map(str, value if isinstance(value, list) else [value]))[:LONGEST_FACT]


def message(question: GuestQuestion, link: str) -> str:
    """The words to send the link with: all that they say is what the page shows."""
    lines = [f"Hello {question.to},", "", question.text]
    lines += [f"{fact.label}: {fact.text}" for fact in question.facts]
    proposal = question.proposal
    if proposal is not None:
        lines += ["", ", ".join(filter(None, (proposal.summary, proposal.when, proposal.place)))]
    if question.questions:
        lines += ["", *(f"{number}. {text}" for number, text in enumerate(question.questions, 1))]
    lines += [
        "",
        f"To answer, open this link and tap; it works until {question.until_text}.",
        "Please keep it to yourself: whoever has it can answer.",
        link,
        "",
        "Or simply reply to me.",
    ]
    if question.sender:
        lines += ["", question.sender]
    return "\n".join(lines)
