"""A brain of rules: no model, no network, the same thought for the same task (A2ACP-090, A2ACP-076).

Good enough for the whole scheduling scenario, a hand-over and a question for information. A counterpart's
packet is data without authority: its words can choose the kind of goal, the event and the times to look at,
and nothing else; what we want and offer is ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from tacit.a2acp.packets.dates import zone_named
from tacit.agent.brain import occasions, writing
from tacit.agent.brain.port import (
    READ_PACKET,
    READ_REQUEST,
    WRITE_PROPOSAL,
    Task,
    Thought,
)
from tacit.agent.brain.requests import (
    PROJECTS,
    QUESTIONS,
    SCHEDULING,
    WITHOUT_DATE,
    read_request,
)
from tacit.agent.brain.wish import turned_round
from tacit.agent.scheduling.dates.sentence import contradictions, read_when
from tacit.agent.scheduling.goal import HANDOVER, INFORMATION, MEETING, Goal
from tacit.base.errors import Bug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment, Span
    from tacit.base.strict_json import Json, JsonObject

_LONGEST_TEXT: Final = 400
"""Characters of a counterpart's sentence that are read."""
_KINDS: Final = {
    SCHEDULING: MEETING, "group_scheduling": MEETING, PROJECTS: HANDOVER, QUESTIONS: INFORMATION,
    "information_request": INFORMATION, "information_sharing": INFORMATION,
}  # fmt: skip
_EVENT_TYPE: Final = re.compile(r"[a-z]{2,20}(?:[ _-][a-z]{2,20}){0,2}", re.ASCII)
_DURATION: Final = re.compile(r"PT(?:(\d{1,2})H)?(?:(\d{1,3})M)?", re.ASCII)
_URGENCIES: Final = frozenset({"low", "normal", "urgent"})


class WindowReading(Protocol):
    """What was read of a counterpart's windows."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The stretches."""
        ...

    @property
    def unclear(self) -> tuple[str, ...]:
        """What has to be asked."""
        ...


class ReadWindows(Protocol):
    """How a counterpart's `time_windows` are read: the packets' own reader."""

    def __call__(
        self, value: object, *, timezone: str | None, proposed_date: str | None, now: Moment
    ) -> WindowReading:
        """The windows as spans, and what is unclear."""
        ...


class Rules:
    """The port `Brain` by rules."""

    def __init__(self, read_windows: ReadWindows) -> None:
        self._read_windows = read_windows

    async def think(self, task: Task) -> Thought:
        """The thought for a task; nothing is awaited."""
        if task.kind == READ_REQUEST:
            goal = read_request(task.text, task.now, task.timezone, task.addressees)
            return Thought(goal=goal, confidence=0.5 if goal.unclear else 1.0)
        if task.kind == READ_PACKET:
            goal = self._of_packet(task)
            return Thought(goal=goal, confidence=0.5 if goal.unclear else 1.0)
        if task.kind == WRITE_PROPOSAL:
            return Thought(
                summaries=tuple(writing.summary(option) for option in task.options),
                reasoning=writing.reasoning(task.options),
            )
        raise Bug("a brain was given a task of no kind")

    def _of_packet(self, task: Task) -> Goal:
        intent, context = _object(task.packet.get("intent")), _object(task.packet.get("context"))
        kind = _kind(intent, context)
        urgency = intent.get("urgency")
        urgency = urgency if isinstance(urgency, str) and urgency in _URGENCIES else "normal"
        if kind == HANDOVER:
            missing = "project_details" not in context and "project" not in context
            return Goal(
                kind=kind, category=PROJECTS, summary="Hand-over of a project", urgency=urgency,
                wants=(occasions.DETAILS,) if missing else (), offers=("acceptance", "handover_date"),
            )  # fmt: skip
        if kind == INFORMATION:
            return Goal(kind=kind, category=QUESTIONS, summary="Question", urgency=urgency)
        return self._meeting(task, intent, context, urgency)

    def _meeting(
        self, task: Task, intent: Mapping[str, Json], context: Mapping[str, Json], urgency: str
    ) -> Goal:
        said = _text(intent.get("summary"))
        event, name = _event(context, said)
        spans, unclear = self._times(task, event, context, said)
        return Goal(
            kind=MEETING,
            category=SCHEDULING,
            summary=f"{writing.title(name)}{writing.days_of(spans, task.timezone)}",
            urgency=urgency,
            event_type=name,
            spans=spans,
            minutes=_minutes(context.get("duration")) or event.minutes,
            wants=tuple(need for need in occasions.wants(event) if not context.get(need.field)),
            offers=occasions.offers(event),
            unclear=unclear,
        )

    def _times(
        self, task: Task, event: occasions.Occasion, context: Mapping[str, Json], said: str
    ) -> tuple[tuple[Span, ...], tuple[str, ...]]:
        """Their windows; without any the day they propose, the day their summary names, or the next days."""
        proposed = _text(context.get("proposed_date"))
        zone = _text(context.get("timezone"))
        zone = zone if zone_named(zone) is not None else ""
        wrong = [
            question
            for words in (said, proposed)
            for question in contradictions(words, task.now, zone or task.timezone)
        ]
        if context.get("time_windows"):
            reading = self._read_windows(
                context["time_windows"], timezone=zone or None, proposed_date=proposed or None, now=task.now
            )
            ahead = tuple(span for span in reading.spans if span.end > task.now)
            return tuple(sorted(ahead)), tuple(dict.fromkeys([*wrong, *reading.unclear]))
        for words in (proposed, said):
            when = read_when(
                words, task.now, zone or task.timezone, usual=event.hours, minutes=event.minutes,
                ambiguous_zone=not zone,
            )  # fmt: skip
            if when.spans or when.unclear:
                turned = turned_round(words, when)
                return () if turned else when.spans, tuple(dict.fromkeys([*wrong, *when.unclear, *turned]))
        spans = read_when(WITHOUT_DATE, task.now, task.timezone, usual=event.hours).spans
        return ((), tuple(wrong)) if wrong else (spans, ())


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _kind(intent: Mapping[str, Json], context: Mapping[str, Json]) -> str:
    """By category; without one that is known, by what the context has."""
    category = intent.get("category")
    if isinstance(category, str) and category in _KINDS:
        return _KINDS[category]
    if context.keys() & {"time_windows", "proposed_date", "event_type"}:
        return MEETING
    if context.keys() & {"project_details", "project", "handover_date"}:
        return HANDOVER
    words = tuple(re.findall(r"[a-z]+", _text(intent.get("summary")).lower()))
    return MEETING if occasions.named(words) else INFORMATION


def _event(context: Mapping[str, Json], said: str) -> tuple[occasions.Occasion, str]:
    """The event and its name: theirs where it is a name, else what the summary speaks of, else a meeting."""
    given = _text(context.get("event_type"))
    known = occasions.event_of(given)
    if known is not None:
        return known, known.name
    plain = given.strip().lower()
    if _EVENT_TYPE.fullmatch(plain):
        return occasions.MEETING, re.sub(r"[ -]", "_", plain)
    named = occasions.named(tuple(re.findall(r"[a-z]+", said.lower())))
    chosen = next((each.event for each in named if not each.weak), occasions.MEETING)
    return chosen, chosen.name


def _minutes(value: object) -> int:
    """`PT1H30M` in minutes; nothing for another form, or more than a day."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    minutes = int(found.group(1) or 0) * 60 + int(found.group(2) or 0) if found else 0
    return minutes if minutes <= 24 * 60 else 0
