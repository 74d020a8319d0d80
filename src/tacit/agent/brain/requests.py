"""A person's sentence read into a goal, by rules (A2ACP-090): a meeting, a hand-over, a question, or unread.

Whom it is for is said by address, elsewhere; names are passed over. The summary is made of the goal, never of
the sentence, so that nothing slips out in it which a field would have been asked for. What cannot be read for
certain is a question in `unclear` (A2ACP-076).
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.agent.brain import occasions, writing
from tacit.agent.brain.dates import When, read_when
from tacit.agent.brain.tokens import Sentence
from tacit.agent.negotiation.goal import HANDOVER, INFORMATION, MEETING, REQUIRED, Goal, Need
from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.agent.spans import Span
    from tacit.base.moment import Moment

SCHEDULING: Final = "scheduling"
PROJECTS: Final = "project_coordination"
QUESTIONS: Final = "information"

WHAT: Final = "What should be arranged: a meeting, a hand-over, or a question to ask?"
WHICH_PROJECT: Final = "What is to be handed over?"
WHICH_FIELD: Final = "What exactly should be asked?"
WITHOUT_DATE: Final = "the next 7 days"
"""Where a meeting is to be looked for when no day was named."""

_POLITE: Final = (
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
     "available", "reschedule", "appointment"}
)  # fmt: skip
_FREE: Final = frozenset(
    {"free", "available", "availability", "up", "fancies", "wants", "time", "come", "join", "meet"}
)
_ASKS: Final = frozenset({"what", "where", "which", "who", "whose", "how", "whether", "if", "when", "why"})
_SMALL: Final = frozenset(
    {"the", "a", "an", "his", "her", "their", "your", "my", "our", "its", "is", "are", "was", "does", "do",
    "did", "he",
     "she", "they", "it", "to", "me", "us", "what", "which", "whether", "if", "please", "some", "any", "s",
     "has", "have"}
)  # fmt: skip
_STOPS: Final = frozenset(
    {"with", "for", "and", "or", "to", "about", "because", "so", "but", "on", "at", "in", "near", "by",
    "from", ",", ".", "?",
     "!", ";", ":", "please", "if", "then", "regarding", "re", "that", "must", "ideally", "preferably", "(",
     ")", "around"}
)  # fmt: skip
_NO_PLACE: Final = frozenset(
    {"person", "all", "least", "case", "order", "touch", "advance", "once", "first", "last", "time",
    "times", "general",
     "particular", "future", "turn", "total", "short", "it", "that", "this", "them", "us", "him", "her", "me"}
)  # fmt: skip
_LONGEST_PHRASE: Final = 8
_LONGEST_FIELD: Final = 48
_MOST_PEOPLE: Final = 100
_SHORTEST: Final = 15


def read_request(text: str, now: Moment, zone: str) -> Goal:
    """The goal in a sentence; one with `unclear` where it cannot be read for certain."""
    when = read_when(text, now, zone)
    said = _Said(Sentence(when.rest), _words(when.rest), _urgency(_words(text)))
    goal = _handover(said, when, zone) or _question(said)
    if goal is not None:
        return goal
    found = _event(said, when)
    if found is None:
        return Goal(
            kind=MEETING, category=SCHEDULING, summary="Unread request", urgency=said.urgency, unclear=(WHAT,)
        )
    return _meeting(text, said, found, now, zone)


class _Said(NamedTuple):
    """The sentence without its words about time."""

    sentence: Sentence
    words: tuple[str, ...]
    """One for each token: small words, figures as they stand."""
    urgency: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(token.text.lower() for token in Sentence(text).tokens)


def _has(words: tuple[str, ...], phrases: Iterable[tuple[str, ...]]) -> tuple[int, int] | None:
    """Where the first of these phrases stands, and the place behind it."""
    for phrase in phrases:
        for at in range(len(words) - len(phrase) + 1):
            if words[at : at + len(phrase)] == phrase:
                return at, at + len(phrase)
    return None


def _urgency(words: tuple[str, ...]) -> str:
    if _has(words, _CALM):
        return "low"
    return "urgent" if _has(words, _URGENT) else "normal"


# Meetings.


class _Meeting(NamedTuple):
    event: occasions.Occasion
    either: bool
    """Another kind of event would do as well."""


def _event(said: _Said, when: When) -> _Meeting | None:
    found = occasions.named(said.words)
    strong = [each for each in found if not each.weak] or found[:1]
    if strong:
        either = len(strong) > 1 and "or" in said.words[strong[0].end : strong[1].start]
        return _Meeting(strong[0].event, either)
    if when.spans or when.unclear or when.flexible or _ARRANGES & set(said.words):
        return _Meeting(occasions.MEETING, either=False) if said.words or when.spans or when.unclear else None
    return None


def _meeting(text: str, said: _Said, found: _Meeting, now: Moment, zone: str) -> Goal:
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
    place = _place(said) if event.place else ""
    return Goal(
        kind=MEETING,
        category=SCHEDULING,
        summary=f"{writing.title(event.name)}{dated}",
        urgency=said.urgency,
        event_type=event.name,
        spans=spans,
        minutes=when.minutes or _fitting(event.minutes, spans, exact=when.exact),
        place=place,
        flexibility=flexibility,
        wants=occasions.wants(event),
        offers=occasions.offers(event),
        details=_details(said),
        unclear=when.unclear,
    )


def _fitting(minutes: int, spans: tuple[Span, ...], *, exact: bool) -> int:
    """The usual length, or what fits into the longest window that was named."""
    longest = max((span.end - span.start for span in spans), default=0) // (60 * SECOND)
    return minutes if exact or not spans or longest >= minutes else max(longest, _SHORTEST)


def _details(said: _Said) -> dict[str, Any]:
    details: dict[str, Any] = {}
    size = _party_size(said)
    if size:
        details["party_size"] = size
    for words in (("to", "discuss"), ("to", "talk", "about"), ("regarding",), ("about",), ("re",)):
        place = _has(said.words, (words,))
        if place is not None:
            topic = _phrase(
                said, place[1], stops=frozenset({".", ",", "?", "!", ";", "with", "please", "at"})
            )
            if topic:
                details["topic"] = topic
            break
    return details


def _party_size(said: _Said) -> int:
    """`for 4`, `party of six`, `the four of us`."""
    for at in range(len(said.words)):
        number = said.sentence.number(at) if said.words[at] not in {"a", "an"} else None
        if number is None or not 1 < number[0] <= _MOST_PEOPLE:
            continue
        after = said.words[number[1] : number[1] + 2]
        before = said.words[max(at - 2, 0) : at]
        counted = after[:1] in {("people",), ("persons",), ("guests",)} or after == ("of", "us")
        if counted or before in {("party", "of"), ("table", "for")}:
            return number[0]
        if before[-1:] == ("for",) and not (after and after[0].isalpha() and after[0] not in _STOPS):
            return number[0]
    return 0


def _place(said: _Said) -> str:
    """What follows `at`, `in` or `near`, as it was written, once the words about time are gone."""
    for at, word in enumerate(said.words):
        if word not in {"at", "in", "near", "somewhere", "around"} or said.words[at + 1 : at + 2] == ():
            continue
        place = _phrase(said, at + 1, stops=_STOPS)
        inner = [each for each in place.lower().split() if each not in {"the", "a", "an"}]
        if inner and inner[0] not in _NO_PLACE and any(letter.isalpha() for letter in place):
            return place
    return ""


def _phrase(said: _Said, at: int, *, stops: frozenset[str]) -> str:
    """Tokens up to one that stops, as they were written."""
    end = at
    while end < len(said.words) and end - at < _LONGEST_PHRASE and said.words[end] not in stops:
        end += 1
    if end == at:
        return ""
    tokens = said.sentence.tokens
    return said.sentence.text[tokens[at].start : tokens[end - 1].end]


# Hand-overs.


def _handover(said: _Said, when: When, zone: str) -> Goal | None:
    found = _has(said.words, _HANDS_OVER)
    if found is None:
        return None
    at, end = found
    if said.words[at:end] == ("hand",):
        over = _has(said.words[end:], (("over",), ("off",)))
        if over is None:
            return None
        project = _before(said, end, end + over[0]) or _phrase(said, end + over[1], stops=_STOPS)
    else:
        project = _phrase(said, end, stops=_STOPS) or _behind_a_name(said, end)
    project = _without_articles(project)
    if said.words[at] in {"transfer", "pass"} and not _WORK & set(project.lower().split()):
        return None
    details: dict[str, Any] = {"project": project} if project else {}
    until = ""
    if when.spans:
        last = writing.last_day(when.spans, zone)
        details["deadline"] = last.isoformat()
        until = f" by {writing.spoken(last)}"
    return Goal(
        kind=HANDOVER,
        category=PROJECTS,
        summary=f"Hand-over of a project{until}",
        urgency=said.urgency,
        spans=when.spans,
        flexibility=when.flexible,
        wants=(occasions.TAKES, occasions.TAKES_WHEN),
        offers=("project_details",),
        details=details,
        unclear=when.unclear if project else (*when.unclear, WHICH_PROJECT),
    )


def _before(said: _Said, at: int, over: int) -> str:
    """The project of `hand the website over`; a single name there is whom it goes to."""
    words = [word for word in said.words[at:over] if word not in _SMALL]
    if not words or said.words[at] not in {"the", "my", "our", "this", "all"}:
        return ""
    tokens = said.sentence.tokens
    return said.sentence.text[tokens[at].start : tokens[over - 1].end]


def _behind_a_name(said: _Said, at: int) -> str:
    """The project of `hand over to Bob the website project`."""
    if said.words[at : at + 1] != ("to",):
        return ""
    for place in range(at + 2, min(at + 5, len(said.words))):
        if said.words[place] in {"the", "my", "our"}:
            return _phrase(said, place, stops=_STOPS)
    return ""


def _without_articles(phrase: str) -> str:
    words = phrase.split()
    while words and words[0].lower() in {"the", "my", "our", "a", "an", "this"}:
        words = words[1:]
    return " ".join(words)


# Questions.


def _question(said: _Said) -> Goal | None:
    asked = _asked(_nameless(said))
    if asked is None:
        return None
    field = field_name(asked)
    spaced = field.replace("_", " ")
    return Goal(
        kind=INFORMATION,
        category=QUESTIONS,
        summary=f"Question: {spaced}" if field else "Question",
        urgency=said.urgency,
        wants=(Need(field, f"This is what is asked: {spaced}", REQUIRED),) if field else (),
        unclear=() if field else (WHICH_FIELD,),
    )


def _nameless(said: _Said) -> tuple[str, ...]:
    """The words without a name behind `does` or `is`: "where does Bob live" asks where somebody lives."""
    verbs = {"does", "do", "did", "is", "has"}
    return tuple(
        word
        for at, word in enumerate(said.words)
        if not (
            at
            and said.words[at - 1] in verbs
            and said.sentence.tokens[at].written.istitle()
            and "'" not in word
        )
    )


def _asked(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words that say what is asked; None where a sentence asks for nothing, or to meet."""
    words = _impolite(words)
    if not words:
        return None
    first = words[0]
    if first == "ask":
        return _asked_of_somebody(words)
    if first in {"what", "what's", "whats", "which", "who", "whose", "where", "how", "when", "does", "is"}:
        if first in {"when", "is", "does", "where", "how"} and _FREE & set(words):
            return None
        if first in {"how", "what"} and words[1:2] == ("about",):
            return None
        if first == "when" and words[1:2] in {("is",), ("are",)}:
            return words[2:]
        return words[1:] if first not in {"does", "is", "where", "how", "when", "who"} else words
    if (
        words[:2] == ("find", "out")
        or first in {"get", "request", "need"}
        or words[:2] in {("i", "need"), ("tell", "me")}
    ):
        rest = words[2:] if words[:2] in {("find", "out"), ("i", "need"), ("tell", "me")} else words[1:]
        owned = any(word.endswith("'s") for word in rest) or "from" in rest or words[:2] == ("find", "out")
        return _if_no_event(_until(rest, {"from"})) if owned else None
    return None


def _asked_of_somebody(words: tuple[str, ...]) -> tuple[str, ...] | None:
    for at in range(1, min(len(words), 7)):
        if words[at] in {"for", "about"}:
            return _if_no_event(words[at + 1 :])
        if words[at] in _ASKS:
            if words[at] in {"whether", "if", "when"} and _FREE & set(words[at:]):
                return None
            return words[at:] if words[at] not in {"what", "which"} else words[at + 1 :]
        if words[at : at + 2] in {("to", "send"), ("to", "give"), ("to", "tell"), ("to", "share")}:
            return _if_no_event(words[at + 2 :])
        if words[at] == "to":
            return None
    return None


def _if_no_event(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """`ask Bob for lunch` asks to meet; `ask Bob for the lunch menu` asks for a menu."""
    trimmed = tuple(word for word in words if word.isalpha() or "'" in word or "-" in word)
    found = occasions.named(trimmed)
    return None if found and found[-1].end == len(trimmed) else words


def _until(words: tuple[str, ...], stops: set[str]) -> tuple[str, ...]:
    end = next((at for at, word in enumerate(words) if word in stops), len(words))
    return words[:end]


def _impolite(words: tuple[str, ...]) -> tuple[str, ...]:
    gone = True
    while gone:
        gone = False
        for phrase in _POLITE:
            if words[: len(phrase)] == phrase:
                words, gone = words[len(phrase) :], True
    return words


def field_name(words: tuple[str, ...]) -> str:
    """`shirt_size` of "Bob's shirt size": small ASCII letters and figures, names and small words left out."""
    kept: list[str] = []
    for word in words:
        if word in {".", "?", "!", ",", ";"} and kept:
            break
        if word in _SMALL or word.endswith("'s"):
            continue
        plain = unicodedata.normalize("NFKD", word.replace("'", "")).encode("ascii", "ignore").decode()
        plain = "".join(letter for letter in plain.lower() if letter.isalnum())
        if plain:
            kept.append(plain)
    name = "_".join(kept)
    while len(name) > _LONGEST_FIELD and "_" in name:
        name = name.rpartition("_")[0]
    return name[:_LONGEST_FIELD]
