"""A person's sentence read into a goal, by rules (A2ACP-090): a meeting, a hand-over, a question, or unread.

Theory of operation. The time grammar reads the sentence first, then one reader for each kind of goal looks
at the words that are left. Every reader reports which words its goal carries (`wish`, `coverage`); what no
reader
used and is not harmless is quoted in a question, and a goal with a question is never begun (A2ACP-076). So a
negation, a second person, a limit, a condition, whatever it is, is understood or asked about.

Whom it is for is said by address, elsewhere. The summary is made of the goal, never of the sentence, so that
nothing slips out in it which a field would have been asked for. A wish about what is arranged already begins
nothing (`matters`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from tacit.a2acp.packets.dates import spoken
from tacit.a2acp.packets.formats import write_duration
from tacit.agent.brain import coverage, inquiries, matters, names, occasions, writing
from tacit.agent.brain.wish import ANYBODY, Addressees, Wish
from tacit.agent.scheduling.dates.flexibility import DIMENSIONS
from tacit.agent.scheduling.dates.items import Day, Flex
from tacit.agent.scheduling.dates.sentence import read_when
from tacit.agent.scheduling.goal import DURATION, HANDOVER, INFORMATION, MEETING, REQUIRED, Goal, Need
from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from tacit.base.moment import Moment, Span
    from tacit.base.strict_json import JsonObject

SCHEDULING: Final = "scheduling"
PROJECTS: Final = "project_coordination"
QUESTIONS: Final = "information"

WHAT: Final = "What should be arranged: a meeting, a hand-over, or a question to ask?"
WHICH_PROJECT: Final = "What is to be handed over?"
WHICH_FIELD: Final = "What exactly should be asked?"
WHICH_OF_THEM: Final = (
    "Is one of these days meant, or each of them? Please say “or”, or ask for each by itself"
)
WITHOUT_DATE: Final = "the next 7 days"
"""Where a meeting is to be looked for when no day was named."""

_POLITE: Final = (
    ("is", "it", "possible", "to"), ("is", "there", "any", "chance", "of"), ("any", "chance", "of"),
    ("is", "there", "a", "chance", "of"), ("would", "you", "mind"), ("i", "was", "wondering"),
    ("can", "you"), ("could", "you"), ("would", "you"), ("will", "you"), ("i", "want", "to"), ("i", "want",
    "you", "to"),
    ("i'd", "like", "to"), ("i", "would", "like", "to"), ("i'd", "like", "you", "to"), ("i", "need", "to"),
    ("please",),
    ("hey",), ("hi",), ("let's",), ("help", "me"), ("so",), ("kindly",), ("just",), (",",),
)  # fmt: skip
_URGENT: Final = (
    ("urgent",), ("urgently",), ("asap",), ("as", "soon", "as", "possible"), ("right", "away"), ("right",
    "now"),
    ("immediately",), ("emergency",), ("straight", "away"), ("at", "once"),
)  # fmt: skip
_CALM: Final = (
    ("not", "urgent"), ("no", "rush"), ("no", "hurry"), ("whenever",), ("isn't", "urgent"), ("low",
    "priority"),
    ("when", "you", "get", "a", "chance"), ("some", "day"), ("someday",),
)  # fmt: skip
_HANDS_OVER: Final = (
    ("hand", "over"), ("hand", "off"), ("handing", "over"), ("handover", "of"), ("handoff", "of"), ("pass",
    "on"),
    ("handover",), ("handoff",), ("transfer",), ("take", "over"), ("takes", "over"), ("hand",),
)  # fmt: skip
_WORK: Final = frozenset(
    {
        "project",
        "task",
        "role",
        "ownership",
        "responsibility",
        "account",
        "work",
        "job",
        "site",
        "website",
        "newsletter",
    }
)
_ARRANGES: Final = frozenset(
    {"arrange", "schedule", "organise", "organize", "plan", "book", "invite", "set", "find", "together",
    "with", "free",
     "available", "appointment"}
)  # fmt: skip
_STOPS: Final = frozenset(
    {"with", "w", "for", "and", "or", "to", "about", "because", "so", "but", "on", "at", "in", "near", "by",
     "from", ",", ".", "?", "!", ";", ":", "please", "if", "then", "regarding", "re", "that", "must",
     "ideally",
     "preferably", "(", ")", "around", "is", "are", "be", "has", "have", "it's", "i", "i'm", "i'll", "we",
     "we'll",
     "you", "he", "she", "they", "he's", "she's", "they're", "let's", "ask", "tell", "check", "make",
     "can", "will",
     "would", "should", "bring", "thanks"}
)  # fmt: skip
_PLACE_LEADS: Final = frozenset({"at", "in", "near", "somewhere", "around"})
_TOPIC_LEADS: Final = (
    ("to", "discuss"), ("to", "talk", "about"), ("to", "go", "over"), ("to", "review"), ("to", "talk",
    "through"),
    ("regarding",), ("about",), ("re",),
)  # fmt: skip
_TOPIC_STOPS: Final = frozenset({".", ",", "?", "!", ";", "with", "please", "at", "and", "or", "but"})
_NO_PLACE: Final = frozenset(
    {"person", "all", "least", "case", "order", "touch", "advance", "once", "first", "last", "time",
    "times", "general",
     "particular", "future", "turn", "total", "short", "it", "that", "this", "them", "us", "him", "her",
     "me", "latest", "earliest", "most", "my", "diary", "calendar", "agenda",
     "our", "your", "their", "its", "mine", "ours", "yours", "hers", "theirs"}
)  # fmt: skip
_MOST_PEOPLE: Final = 100
_SHORTEST: Final = 15


def read_request(text: str, now: Moment, zone: str, addressees: Addressees = ANYBODY) -> Goal:
    """The goal in a sentence; one with `unclear`, and no times, where it cannot be read for certain."""
    goal, wish = read(text, now, zone, addressees)
    unread = wish.coverage.unread()
    if goal.unclear or not unread:
        return goal
    return replace(goal, spans=(), unclear=(coverage.question(unread),))


def read(text: str, now: Moment, zone: str, addressees: Addressees = ANYBODY) -> tuple[Goal, Wish]:
    """The goal of those words that its readers understood, and the sentence, which knows of the others."""
    wish = Wish(text, read_when(text, now, zone), addressees)
    urgency = _urgency(wish)
    begins = _behind_politeness(wish)
    matter = matters.about(wish, wish.words[begins:])
    if matter:
        return _unread(matter, urgency), wish
    goal = _handover(wish, urgency, zone) or _question(wish, begins, urgency)
    if goal is not None:
        return goal, wish
    found = _event(wish)
    if found is None:
        return _unread(WHAT, urgency), wish
    return _meeting(text, wish, found, urgency, now, zone), wish


def matter_in(text: str, now: Moment, zone: str) -> str:
    """What the owner is told of a wish about what is arranged already; empty for any other."""
    goal, _ = read(text, now, zone)
    return goal.unclear[0] if goal.unclear and goal.unclear[0] in matters.ANSWERS else ""


def uncarried(
    text: str, now: Moment, zone: str, addressees: Addressees = ANYBODY, *, place: str = ""
) -> tuple[str, ...]:
    """What is to be asked whoever read the sentence: no other goal carries it than these readers' own.

    A wish about what is arranged already, and words that turn something round, limit it or name somebody; not
    a name in `place`.
    """
    goal, wish = read(text, now, zone, addressees)
    if goal.unclear and goal.unclear[0] in matters.ANSWERS:
        return goal.unclear[:1]
    weighty = wish.coverage.weighty(place)
    return (coverage.question(weighty),) if weighty else ()


def _unread(question: str, urgency: str) -> Goal:
    return Goal(
        kind=MEETING, category=SCHEDULING, summary="Unread request", urgency=urgency, unclear=(question,)
    )


def _urgency(wish: Wish) -> str:
    calm, urgent = wish.all(_CALM), wish.all(_URGENT)
    for start, end in (*calm, *urgent):
        wish.use(start, end)
    return "low" if calm else "urgent" if urgent else "normal"


def _behind_politeness(wish: Wish) -> int:
    at, gone = 0, True
    while gone:
        gone = False
        for phrase in _POLITE:
            if wish.words[at : at + len(phrase)] == phrase:
                wish.use(at, at + len(phrase))
                at, gone = at + len(phrase), True
    return at


# Meetings.


class _Meeting(NamedTuple):
    event: occasions.Occasion
    either: bool
    """Another kind of event would do as well."""


def _event(wish: Wish) -> _Meeting | None:
    """What is to be arranged; a word that names no kind of event beside one that does is passed over."""
    named = occasions.named(wish.words)
    strong = [each for each in named if not each.weak and each.event.name not in occasions.GENERAL]
    telling = [each for each in named if each.event.name not in occasions.GENERAL and not each.is_verb]
    strong = strong or [each for each in named if not each.weak] or telling[:1] or named[:1]
    for each in named:
        if each.event.name in occasions.GENERAL or each.event is strong[0].event or each.is_verb:
            wish.use(each.start, each.end)
    if strong:
        wish.use(strong[0].start, strong[0].end)
        if strong[0].start and wish.words[strong[0].start - 1] == "over":
            wish.use(strong[0].start - 1, strong[0].start)
        either = len(strong) > 1 and "or" in wish.words[strong[0].end : strong[1].start]
        if either:
            wish.use(strong[0].end, strong[1].end)
        return _Meeting(strong[0].event, either)
    when = wish.when
    if when.spans or when.unclear or when.flexible or _ARRANGES & set(wish.words):
        arranges = wish.words or when.spans or when.unclear
        return _Meeting(occasions.MEETING, either=False) if arranges else None
    return None


def _meeting(text: str, wish: Wish, found: _Meeting, urgency: str, now: Moment, zone: str) -> Goal:
    event = found.event
    when = read_when(text, now, zone, usual=event.hours, minutes=event.minutes)
    spans, flexibility = when.spans, dict(when.flexible)
    if not spans and not when.unclear:
        spans = read_when(WITHOUT_DATE, now, zone, usual=event.hours, minutes=event.minutes).spans
        flexibility.setdefault("date", "flexible")
        dated = ""
    else:
        dated = writing.days_of(spans, zone)
    if found.either:
        flexibility.setdefault("format", "flexible")
    place = _place(wish) if event.place else ""
    details = _details(wish)
    if when.minutes:
        details[DURATION] = write_duration(when.minutes)
    wish.use_times()
    for at, word in enumerate(wish.words):
        if DIMENSIONS.get(word, "") in when.flexible:
            wish.use(at, at + 1)
    names.read_names(wish)
    return Goal(
        kind=MEETING,
        category=SCHEDULING,
        summary=f"{writing.title(event.name)}{dated}",
        urgency=urgency,
        event_type=event.name,
        spans=() if when.together else spans,
        minutes=when.minutes or _fitting(event.minutes, spans, exact=when.exact),
        place=place,
        flexibility=flexibility,
        wants=occasions.wants(event),
        offers=occasions.offers(event),
        details=details,
        unclear=when.unclear or ((WHICH_OF_THEM,) if when.together else ()),
        excluded=when.excluded,
    )


def _fitting(minutes: int, spans: tuple[Span, ...], *, exact: bool) -> int:
    """The usual length, or what fits into the longest window that was named."""
    longest = max((span.end - span.start for span in spans), default=0) // (60 * SECOND)
    return minutes if exact or not spans or longest >= minutes else max(longest, _SHORTEST)


def _details(wish: Wish) -> JsonObject:
    details: JsonObject = {}
    size = _party_size(wish)
    if size:
        details["party_size"] = size
    for lead in _TOPIC_LEADS:
        place = wish.first((lead,))
        if place is not None:
            end = wish.phrase(place[1], _TOPIC_STOPS)
            if end > place[1]:
                details["topic"] = wish.written(place[1], end)
                wish.use(place[0], end)
            break
    return details


def _party_size(wish: Wish) -> int:
    """`for 4`, `party of six`, `the four of us`."""
    for at in range(len(wish.words)):
        number = wish.sentence.number(at) if wish.words[at] not in {"a", "an"} else None
        if number is None or not 1 < number[0] <= _MOST_PEOPLE:
            continue
        after = wish.words[number[1] : number[1] + 2]
        before = wish.words[max(at - 2, 0) : at]
        counted = after[:1] in {("people",), ("persons",), ("guests",)} or after == ("of", "us")
        if counted:
            wish.use(at, number[1] + (2 if after == ("of", "us") else 1))
            return number[0]
        if before in {("party", "of"), ("table", "for")}:
            wish.use(at - 2, number[1])
            return number[0]
        if before[-1:] == ("for",) and not (after and after[0].isalpha() and after[0] not in _STOPS):
            wish.use(at, number[1])
            return number[0]
    return 0


def _place(wish: Wish) -> str:
    """What follows `at`, `in` or `near`, as it was written, and what says more of it."""
    for at, word in enumerate(wish.words):
        if word not in _PLACE_LEADS or not _is_place(wish, at + 1, wish.phrase(at + 1, _STOPS)):
            continue
        end = wish.phrase(at + 1, _STOPS)
        while (
            wish.words[end : end + 1] and wish.words[end] in {"at", "in", "near", "on"} and wish.touches(end)
        ):
            further = wish.phrase(end + 1, _STOPS)
            if not wish.touches(end + 1) or not _is_place(wish, end + 1, further):
                break
            end = further
        wish.use(at, end)
        return wish.written(at + 1, end)
    if wish.first((("in", "person"),)) is not None:
        wish.use(*(wish.first((("in", "person"),)) or (0, 0)))
    return ""


def _is_place(wish: Wish, start: int, end: int) -> bool:
    inner = [word for word in wish.words[start:end] if word not in {"the", "a", "an"}]
    return (
        bool(inner)
        and inner[0] not in _NO_PLACE
        and any(letter.isalpha() for word in inner for letter in word)
    )


# Hand-overs.


def _handover(wish: Wish, urgency: str, zone: str) -> Goal | None:
    found = wish.first(_HANDS_OVER)
    if found is None:
        return None
    at, end = found
    place = (end, wish.phrase(end, _STOPS))
    if wish.words[at:end] == ("hand",):
        over = next((each for each in wish.all((("over",), ("off",))) if each[0] >= end), None)
        if over is None:
            return None
        place = _before(wish, end, over[0]) or (over[1], wish.phrase(over[1], _STOPS))
        end = over[1]
        wish.use(*over)
    elif place[0] == place[1]:
        place = _behind_a_name(wish, end)
    project = _without_articles(wish.written(*place))
    if wish.words[at] in {"transfer", "pass"} and not _WORK & set(project.lower().split()):
        return None
    wish.use(at, at + 1)
    wish.use(*found)
    wish.use(*place)
    names.read_names(wish, "to")
    when = wish.when
    details: JsonObject = {"project": project} if project else {}
    until, deadline = "", _deadline(wish)
    if deadline:
        wish.use_times(Day, Flex)
        last = writing.last_day(when.spans, zone)
        details["deadline"] = last.isoformat()
        until = f" by {spoken(last)}"
    return Goal(
        kind=HANDOVER,
        category=PROJECTS,
        summary=f"Hand-over of a project{until}",
        urgency=urgency,
        spans=when.spans if deadline else (),
        flexibility=when.flexible,
        wants=(occasions.TAKES, occasions.TAKES_WHEN),
        offers=("project_details",),
        details=details,
        unclear=when.unclear if project else (*when.unclear, WHICH_PROJECT),
    )


def _deadline(wish: Wish) -> bool:
    """Whether the times that were read say by when: one naming of days, and no beginning."""
    named = [piece for piece in wish.when.pieces if isinstance(piece.item, Day)]
    begins = any(wish.coverage.word(piece.start) in {"after", "since", "from", "starting"} for piece in named)
    return bool(wish.when.spans) and len(named) == 1 and not begins


def _before(wish: Wish, at: int, over: int) -> tuple[int, int] | None:
    """The project of `hand the website over`; a single name there is whom it goes to."""
    named = over > at and wish.words[at] in {"the", "my", "our", "this", "all"}
    return (at, over) if named and over > at + 1 else None


def _behind_a_name(wish: Wish, at: int) -> tuple[int, int]:
    """The project of `hand over to Bob the website project`."""
    if wish.words[at : at + 1] == ("to",):
        for place in range(at + 2, min(at + 5, len(wish.words))):
            if wish.words[place] in {"the", "my", "our"}:
                return place, wish.phrase(place, _STOPS)
    return at, at


def _without_articles(phrase: str) -> str:
    words = phrase.split()
    while words and words[0].lower() in {"the", "my", "our", "a", "an", "this"}:
        words = words[1:]
    return " ".join(words)


# Questions.


def _question(wish: Wish, begins: int, urgency: str) -> Goal | None:
    field = inquiries.read_question(wish, begins)
    if field is None:
        return None
    spaced = field.replace("_", " ")
    return Goal(
        kind=INFORMATION,
        category=QUESTIONS,
        summary=f"Question: {spaced}" if field else "Question",
        urgency=urgency,
        wants=(Need(field, f"This is what is asked: {spaced}", REQUIRED),) if field else (),
        unclear=() if field else (WHICH_FIELD,),
    )
