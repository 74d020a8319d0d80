"""No overlap, said to the other side and to both owners (A2ACP-097, A2ACP-098, A2ACP-100).

`agent_a` is the side that began the thread. The values are those that both sides have told each other
already; of what was tried only that it was tried and why it failed is told, never what calendars hold.
Alternatives may change what a side cannot change: they are for people to choose from, so an escalation goes
with them (A2ACP-042). Knows nothing of who may see what.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.packets.dates import spoken, wall, zone_of_owner
from tacit.agent.scheduling.tries import (
    FOLLOWING_WEEK,
    OTHER_FORMAT,
    OTHER_TIMES,
    OUR_DAY,
    THEIR_DAY,
    WHY_FAILED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from tacit.agent.scheduling.options import Option
    from tacit.agent.scheduling.tries import Try
    from tacit.base.moment import Span

NO_OVERLAP: Final = "no_overlap"
CONSTRAINT_CLASH: Final = "constraint_clash"
SURFACE_TO_USERS: Final = "surface_to_users"
MOST_ALTERNATIVES: Final = 3
_FIRST_FROM_WEEK: Final = 2
_NAMES: Final = {
    FOLLOWING_WEEK: "the following week",
    OTHER_TIMES: "other times of day",
    OTHER_FORMAT: "another format",
}


def conflict_context(
    *,
    field: str,
    ours: Sequence[Any],
    theirs: Sequence[Any],
    we_began: bool,
    made: Iterable[Try],
    zone: str,
    kind: str = NO_OVERLAP,
) -> dict[str, Any]:
    """`conflict` and `proposed_alternatives` for a packet's context; both sides' values as they were told."""
    made = tuple(made)
    return {
        "conflict": {
            "type": kind,
            "field": field,
            "agent_a_values": list(ours if we_began else theirs),
            "agent_b_values": list(theirs if we_began else ours),
            "attempted_resolution": attempted(made),
        },
        "proposed_alternatives": [
            {
                "option": _named(one, option, zone),
                "rationale": _rationale(option.why, we_began=we_began),
                "details": details_of(one.event_type, option.span, zone),
            }
            for one, option in alternatives(made)
        ],
    }


def alternatives(made: Iterable[Try]) -> tuple[tuple[Try, Option], ...]:
    """At most three finds for people: two of the following week, one of each other try, then the rest."""
    first: list[tuple[Try, Option]] = []
    rest: list[tuple[Try, Option]] = []
    for one in made:
        found = (*one.options, *one.suggestions)
        some = _FIRST_FROM_WEEK if one.name == FOLLOWING_WEEK else 1
        first += ((one, option) for option in found[:some])
        rest += ((one, option) for option in found[some:])
    return tuple((*first, *rest)[:MOST_ALTERNATIVES])


def escalation(made: Iterable[Try], *, subject: str = "") -> dict[str, str]:
    """What asks both owners (A2ACP-100); `subject` is what the thread is about, where that was told."""
    about = f" for {subject}" if subject else ""
    found = bool(alternatives(made))
    prompt = (
        f"No common time{about}. Does one of the alternatives suit you, or should it be left?"
        if found
        else f"No common time{about}, and no alternative. Should we go on trying, or should it be left?"
    )
    return {
        "recommend": SURFACE_TO_USERS,
        "reason": "what agents may vary by themselves is exhausted",
        "suggested_prompt": prompt,
    }


PROMPT: Final = "It could not be carried out. Does one of the alternatives suit you, or should it be left?"


def after_failure(made: Iterable[Try]) -> dict[str, str]:
    """The same, where a time had been agreed on and could not be carried out (A2ACP-171)."""
    return {
        **escalation(made),
        "reason": "What was agreed could not be carried out, and nothing else that was offered is left",
        "suggested_prompt": PROMPT,
    }


def attempted(made: Iterable[Try]) -> str:
    """What was tried and why it failed, in one sentence for both sides."""
    tried = [f"{_NAMES.get(one.name, one.name)} ({WHY_FAILED[one.why_failed]})" for one in made]
    return "tried " + ", ".join(tried) if tried else "nothing else could be tried"


def log_of(made: Iterable[Try]) -> list[dict[str, Any]]:
    """Each try for the thread's own log (A2ACP-099)."""
    return [
        {
            "try": one.name,
            "varies": list(one.varies),
            "options": len(one.options),
            "suggestions": len(one.suggestions),
            "failed": one.why_failed,
            "why": WHY_FAILED[one.why_failed],
        }
        for one in made
    ]


def details_of(event_type: str, span: Span, zone: str) -> dict[str, str]:
    """A span in the words of a proposal's details: a date, and times with their offsets."""
    known = zone_of_owner(zone)
    start, end = wall(span.start, known), wall(span.end, known)
    details = {"date": start.date().isoformat(), "time": f"{_clock(start)}/{_clock(end)}"}
    return {"event_type": event_type, **details} if event_type else details


def _clock(shown: datetime) -> str:
    """`19:00+01:00`: offsets of whole minutes are all that there are today."""
    offset = shown.utcoffset() or timedelta(0)
    minutes = offset // timedelta(minutes=1)
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    return f"{shown:%H:%M}{sign}{hours:02}:{rest:02}"


def _named(one: Try, option: Option, zone: str) -> str:
    """`Following week: Wednesday 1 April 2026, 19:00+01:00/21:00+01:00`."""
    known = zone_of_owner(zone)
    start = wall(option.span.start, known)
    times = details_of("", option.span, zone)["time"]
    lead = {
        FOLLOWING_WEEK: "Following week",
        OTHER_FORMAT: f"{one.event_type.capitalize()} instead",
        OTHER_TIMES: "Another time of day",
    }.get(one.name, one.name)
    return f"{lead}: {spoken(start.date())}, {times}"


def _rationale(why: str, *, we_began: bool) -> str:
    if why in {OUR_DAY, THEIR_DAY}:
        initiators = (why == OUR_DAY) == we_began
        return f"the day that suits the {'initiator' if initiators else 'other side'}, one week later"
    return {
        FOLLOWING_WEEK: "the same, one week later",
        OTHER_FORMAT: "another format, free on one side so far",
        OTHER_TIMES: "the same day at another time, free on one side so far",
    }.get(why, "free on both sides, but it changes what one side cannot change")
