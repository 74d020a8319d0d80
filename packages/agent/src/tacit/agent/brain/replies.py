"""What a model answered, read as data: one JSON object of the task's form, or it counts for nothing.

A2ACP-071, A2ACP-075, A2ACP-083, A2ACP-084, A2ACP-088.

Theory of operation. A model is a stranger that writes well. Its answer is found in whatever text it sent,
exactly one object of bounded size; a member of the wrong type makes it malformed, a member that nobody asked
for is not looked at. Of what it says, words are taken, and facts only where code can vouch for them: times
must lie ahead, structured times of a packet are read by code alone, a place must stand in the owner's own
sentence, fields that are asked for must be known ones, a summary has no number that its option lacks. Which
fields of ours are offered is never a model's to say: that follows from the event. A text that gives away
what is withheld makes the answer malformed, as does the name of a value where no name may stand.
"""

from __future__ import annotations

import json
import math
import re
from datetime import date
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tacit.a2acp.consent import aliases
from tacit.a2acp.consent.tiers import DEFAULT, canonical
from tacit.a2acp.packets import vocabulary
from tacit.a2acp.packets.dates import zone_of_owner
from tacit.agent.brain import numbers, occasions, placeholders, writing
from tacit.agent.brain.port import READ_PACKET, READ_REQUEST, WRITE_PROPOSAL, Task, Thought
from tacit.agent.brain.requests import PROJECTS, QUESTIONS, SCHEDULING, WHAT, uncarried
from tacit.agent.scheduling import limits
from tacit.agent.scheduling.dates import zones as zone_words
from tacit.agent.scheduling.dates.sentence import contradictions
from tacit.agent.scheduling.goal import DURATION, HANDOVER, INFORMATION, MEETING, Goal, Need
from tacit.base.moment import DAY, MINUTE, Moment, Span, merged, without
from tacit.base.quoting import stripped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.a2acp.consent.tiers import Policy
    from tacit.base.strict_json import Json, JsonObject

LONGEST_ANSWER: Final = 64 * 1024
LOOKED_AHEAD: Final = 400 * DAY
MOST_TIMES: Final = 14
MOST_BRACES: Final = 50
"""That begin no object, in the prose around one."""
WHEN: Final = "When should it be?"
UNREAD: Final = "This was not understood for certain: say what, with whom and when"
_CATEGORY: Final = {MEETING: SCHEDULING, HANDOVER: PROJECTS, INFORMATION: QUESTIONS}
_DIMENSIONS: Final = ("date", "time", "location", "format")
_OWN_FIELDS: Final = frozenset({"acceptance", "handover_date", "location_preference", "project_details"})
_EVENT: Final = re.compile(r"[a-z]{2,20}(?:[ _-][a-z]{2,20}){0,2}", re.ASCII)
_FIELD: Final = re.compile(r"[a-z][a-z0-9]{1,20}(?:_[a-z0-9]{1,20}){0,5}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)", re.ASCII)


def _object(**members: Json) -> JsonObject:
    return {"type": "object", "additionalProperties": False, "required": [*members], "properties": members}


def _list(of: Json) -> JsonObject:
    return {"type": "array", "items": of}


_TEXT: Final[JsonObject] = {"type": "string"}
_SURE: Final[JsonObject] = {"type": "number", "minimum": 0, "maximum": 1}
_GOAL: Final = _object(
    kind={"type": "string", "enum": [MEETING, HANDOVER, INFORMATION]},
    summary=_TEXT,
    event_type=_TEXT,
    times=_list(_object(**{"date": _TEXT, "from": _TEXT, "to": _TEXT})),
    minutes={"type": "integer"},
    place=_TEXT,
    urgency={"type": "string", "enum": ["low", "normal", "urgent"]},
    wants=_list(_object(field=_TEXT, reason=_TEXT, priority=_TEXT)),
    flexibility=_object(**dict.fromkeys(_DIMENSIONS, _TEXT)),
    unclear=_list(_TEXT),
    confidence=_SURE,
)
SCHEMAS: Final[Mapping[str, JsonObject]] = {
    READ_REQUEST: _GOAL,
    READ_PACKET: _GOAL,
    WRITE_PROPOSAL: _object(summaries=_list(_TEXT), reasoning=_TEXT, confidence=_SURE),
}
"""By task, the JSON Schema of its answer; times are dates and hours by the owner's clocks."""


class MalformedAnswer(ValueError):
    """An answer that cannot be used; the text says why, in words of ours."""


def read(task: Task, text: str, base: Thought) -> Thought:
    """The thought of an answer; `base` is what the rules make of the same task."""
    fields = found(text)
    scene = task.scene
    thread_id = fields.get("thread_id")
    if thread_id is not None and scene is not None and thread_id != scene.thread_id:
        raise MalformedAnswer("it speaks of another thread")
    if task.kind == WRITE_PROPOSAL:
        thought = _words(task, fields)
    else:
        thought = Thought(goal=_goal(task, fields, base), confidence=confidence(fields.get("confidence")))
    if scene is not None and scene.gives_away is not None:
        said = [*thought.summaries, thought.reasoning, *(_spoken(thought.goal) if thought.goal else ())]
        if scene.gives_away(said):
            raise MalformedAnswer("it holds a value that may not be said")
    return thought


def found(text: str) -> JsonObject:
    """The one object in a text; prose and fences around it are let go."""
    if len(text) > LONGEST_ANSWER:
        raise MalformedAnswer("it is too long")
    whole: list[JsonObject] = []
    at = failed = 0
    try:
        while (at := text.find("{", at)) >= 0:
            try:
                value, at = _DECODER.raw_decode(text, at)
            except json.JSONDecodeError:
                at, failed = at + 1, failed + 1
                if failed > MOST_BRACES:
                    raise MalformedAnswer("it has too many braces that begin nothing") from None
                continue
            whole.append(value)
    except (RecursionError, _Twice):
        raise MalformedAnswer("it is no plain JSON object") from None
    if len(whole) != 1:
        raise MalformedAnswer("it is not exactly one JSON object")
    return whole[0]


class _Twice(ValueError):
    """A member that stands twice."""


def _members(pairs: list[tuple[str, Json]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Twice
    return members


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members)


def confidence(value: object) -> float:
    """From 0 to 1; what is missing or no number is 0 (A2ACP-084)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return 0.0 if math.isnan(value) else float(min(max(value, 0), 1))


# Words.


def _words(task: Task, fields: Mapping[str, Json]) -> Thought:
    summaries = _texts(fields, "summaries")
    if len(summaries) != len(task.options):
        raise MalformedAnswer(f"it has {len(summaries)} summaries for {len(task.options)} options")
    reasoning = _text(fields, "reasoning", 400)
    for said, option in zip(summaries, task.options, strict=True):
        if not said:
            raise MalformedAnswer("a summary is empty")
        _only_numbers_of(said, (option,), task)
    _only_numbers_of(reasoning, task.options, task)
    for said in (*summaries, reasoning):
        _known_names(said, task)
    return Thought(summaries=summaries, reasoning=reasoning, confidence=confidence(fields.get("confidence")))


def _only_numbers_of(said: str, options: tuple[JsonObject, ...], task: Task) -> None:
    goal = task.goal
    known = {goal.minutes} | numbers.found_in(json.dumps(goal.details, default=str)) if goal else set[int]()
    wrong = numbers.beyond(said, options, frozenset(known))
    if wrong:
        raise MalformedAnswer(f"its words have {wrong} that the details lack")


def _known_names(said: str, task: Task) -> None:
    """Placeholders stand for fields of the owner's, and for nothing else."""
    scene = task.scene
    names = {**scene.profile, **scene.withheld} if scene is not None else {}
    if placeholders.filled(said, dict.fromkeys(names, "")) is None:
        raise MalformedAnswer("it names a value that nobody has")


# Goals.


def _goal(task: Task, fields: Mapping[str, Json], base: Thought) -> Goal:
    ruled = base.goal or Goal(kind=INFORMATION, category=QUESTIONS, summary="")
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in _CATEGORY:
        raise MalformedAnswer("its kind is none")
    common = Goal(
        kind=kind,
        category=_CATEGORY[kind],
        summary=_text(fields, "summary", 140) or ruled.summary,
        urgency=vocabulary.urgency(fields.get("urgency", ruled.urgency)),
        flexibility=_flexibility(fields) | ruled.flexibility,
        unclear=_unclear(task, fields),
        details=ruled.details,
        excluded=ruled.excluded,
    )
    made = _meeting(task, fields, ruled, common) if kind == MEETING else _other(task, fields, ruled, common)
    if any(placeholders.present(one) for one in _spoken(made)):
        raise MalformedAnswer("it names a value where none may stand")
    if task.kind != READ_REQUEST:
        return made
    left = uncarried(task.text, task.now, task.timezone, task.addressees, place=made.place)
    return replace(made, spans=(), unclear=(*left, *made.unclear)) if left else made


def _meeting(task: Task, fields: Mapping[str, Json], ruled: Goal, common: Goal) -> Goal:
    event, name = _event(fields, ruled)
    spans = _spans(task, fields)
    context = _object_in(task.packet, "context")
    if (
        ruled.kind == MEETING
        and ruled.spans
        and not ruled.unclear
        and (context.get("time_windows") or not spans)
    ):
        # Windows that were said as data are read by code.
        spans = ruled.spans
    spans = without(spans, ruled.excluded) if ruled.excluded else spans
    stated = DURATION in ruled.details or DURATION in context
    minutes = ruled.minutes if stated else _integer(fields, "minutes")
    longest = max(((one.end - one.start) // MINUTE for one in spans), default=24 * 60)
    wants = _wants(task, fields, occasions.wants(event), MEETING)
    return replace(
        common,
        summary=f"{writing.title(name)}{writing.days_of(spans, task.timezone)}",
        event_type=name,
        spans=spans,
        minutes=min(minutes if 5 <= minutes <= 24 * 60 else event.minutes, longest),
        place=_place(task, fields) or ruled.place,
        wants=tuple(need for need in wants if not context.get(need.field)),
        offers=occasions.offers(event),
        unclear=common.unclear or (() if spans else (WHEN,)),
    )


def _other(task: Task, fields: Mapping[str, Json], ruled: Goal, common: Goal) -> Goal:
    """A hand-over or a question: what is offered and needed is the rules' where they read the same."""
    kind, ours = common.kind, task.kind == READ_REQUEST
    if ruled.kind == kind:
        wants = _wants(task, fields, ruled.wants, kind)
        return replace(ruled, wants=wants, summary=common.summary, unclear=common.unclear)
    if kind == HANDOVER:
        first = (occasions.TAKES, occasions.TAKES_WHEN) if ours else (occasions.DETAILS,)
        offers = ("project_details", "deadline") if ours else ("acceptance", "handover_date")
        return replace(common, wants=_wants(task, fields, first, kind), offers=offers)
    wants = _wants(task, fields, (), kind) if ours else ()
    unclear = (WHAT,) if ours and not wants and not common.unclear else common.unclear
    return replace(common, wants=wants, unclear=unclear)


def _event(fields: Mapping[str, Json], ruled: Goal) -> tuple[occasions.Occasion, str]:
    """The event that code found in the words, else the model's, else a meeting."""
    named = occasions.event_of(ruled.event_type) if ruled.event_type else None
    if named is not None and named is not occasions.MEETING:
        return named, named.name
    said = _text(fields, "event_type", 60).lower()
    known = occasions.event_of(said)
    if known is not None:
        return known, known.name
    if _EVENT.fullmatch(said):
        return occasions.MEETING, re.sub(r"[ -]", "_", said)
    return occasions.MEETING, occasions.MEETING.name


def _spans(task: Task, fields: Mapping[str, Json]) -> tuple[Span, ...]:
    listed = _objects(fields, "times")
    if len(listed) > MOST_TIMES:
        raise MalformedAnswer("it names too many times")
    zone = zone_of_owner(task.timezone)
    spans: list[Span] = []
    for one in listed:
        day, start, end = one.get("date"), _minute(one.get("from")), _minute(one.get("to"))
        if not isinstance(day, str) or not _DATE.fullmatch(day) or start is None or end is None:
            raise MalformedAnswer("a time is not a date with two hours")
        try:
            at = date.fromisoformat(day)
        except ValueError:
            raise MalformedAnswer("a date is on no calendar") from None
        end = end if end > start else end + 24 * 60
        span = Span(zone_words.moment(at, start, zone), zone_words.moment(at, end, zone, late=True))
        spans.append(Span(max(span.start, task.now), min(span.end, Moment(task.now + LOOKED_AHEAD))))
    ahead = merged(one for one in spans if one.end > one.start)
    if listed and not ahead:
        raise MalformedAnswer("all its times are over, or too far ahead")
    return ahead


def _minute(value: object) -> int | None:
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    minute = int(found[1]) * 60 + int(found[2]) if found else None
    return minute if minute is not None and minute <= 24 * 60 else None


def _wants(task: Task, fields: Mapping[str, Json], first: tuple[Need, ...], kind: str) -> tuple[Need, ...]:
    """What code needs, then what the model would like to know of known fields; five in all (A2ACP-105)."""
    policy = task.scene.policy if task.scene is not None else DEFAULT
    found = list(first)
    for one in _objects(fields, "wants"):
        name = one.get("field")
        if isinstance(name, str) and _may_be_asked(name, policy, anything=kind == INFORMATION):
            reason = one.get("reason")
            reason = stripped(reason, 200) if isinstance(reason, str) else ""
            if reason and not placeholders.present(reason):
                found.append(Need(name, reason, vocabulary.priority(one.get("priority"))))
    return limits.five(limits.askable(found, frozenset(), lambda name: canonical(policy, name)))[0]


def _may_be_asked(name: str, policy: Policy, *, anything: bool) -> bool:
    if not _FIELD.fullmatch(name) or canonical(policy, name) in DEFAULT.never_share:
        return False
    own = {*policy.always_share, *policy.ask_first}
    return anything or name in aliases.WORDS or name in _OWN_FIELDS or name in own


def _unclear(task: Task, fields: Mapping[str, Json]) -> tuple[str, ...]:
    """What a model could not read, and days that are not what they are called (A2ACP-075, A2ACP-076)."""
    wrong = contradictions(task.text, task.now, task.timezone) if task.kind == READ_REQUEST else ()
    said = tuple(stripped(one, 200) for one in _texts(fields, "unclear")[:3] if one)
    return tuple(dict.fromkeys((*wrong, *said)))


def _place(task: Task, fields: Mapping[str, Json]) -> str:
    """Where, if the owner has said it in these words."""
    place = _text(fields, "place", 120)
    said = " ".join(task.text.split()).casefold()
    return place if task.kind == READ_REQUEST and place and place.casefold() in said else ""


def _flexibility(fields: Mapping[str, Json]) -> dict[str, str]:
    said = fields.get("flexibility", {})
    if not isinstance(said, dict):
        raise MalformedAnswer("its flexibility is no object")
    known = {name: vocabulary.flexibility(said[name]) for name in _DIMENSIONS if said.get(name)}
    return {name: value for name, value in known.items() if value == said[name]}


def _spoken(goal: Goal) -> Iterator[str]:
    """The texts of a goal that may leave."""
    yield from (goal.summary, goal.place, goal.event_type, *goal.unclear)
    yield from (one.reason for one in goal.wants)


# Members of an answer.


def _text(fields: Mapping[str, Json], name: str, limit: int) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise MalformedAnswer(f"its {name} is no text")
    return stripped(value, limit)


def _texts(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    listed = fields.get(name, [])
    texts = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or len(texts) != len(listed):
        raise MalformedAnswer(f"its {name} are no texts")
    return tuple(stripped(text, 200) for text in texts)


def _objects(fields: Mapping[str, Json], name: str) -> list[JsonObject]:
    listed = fields.get(name, [])
    objects = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or len(objects) != len(listed):
        raise MalformedAnswer(f"its {name} are no objects")
    return objects


def _object_in(fields: Mapping[str, Json], name: str) -> JsonObject:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _integer(fields: Mapping[str, Json], name: str) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedAnswer(f"its {name} is no whole number")
    return value
