"""What people arrange, as data: how long it takes, when it usually is, and which fields matter.

A2ACP-077, A2ACP-078.

A field that is wanted carries its reason, which is shown to the other side (A2ACP-035). Knows nothing of
sentences beyond the words that name a kind of event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.a2acp.packets.tokens import Sentence
from tacit.agent.scheduling.dates.words import Hours
from tacit.agent.scheduling.goal import HELPFUL, NICE_TO_HAVE, REQUIRED, Need

if TYPE_CHECKING:
    from collections.abc import Sequence


class Occasion(NamedTuple):
    """One kind of meeting."""

    name: str
    words: tuple[str, ...]
    """What it is called, in small letters; several words are a phrase."""
    minutes: int
    hours: Hours
    meal: bool = False
    place: bool = True
    """Whether people go somewhere for it."""
    costs: bool = False


TIMES: Final = Need("time_windows", "Need your availability to find a time that suits both", REQUIRED)
DIETARY: Final = Need(
    "dietary", "Need dietary requirements to choose a place where everybody can eat", HELPFUL
)
PLACE: Final = Need("location_preference", "A preferred area makes it easier to choose a place", NICE_TO_HAVE)
DETAILS: Final = Need("project_details", "Need to know what is handed over and in what state it is", REQUIRED)
TAKES: Final = Need("acceptance", "Need to know whether you take the project over", REQUIRED)
TAKES_WHEN: Final = Need("handover_date", "Need a date on which you can take it over", REQUIRED)


def _at(start: float, end: float) -> Hours:
    return Hours(int(start * 60), int(end * 60))


OCCASIONS: Final = (
    Occasion("dinner", ("dinner", "supper"), 90, _at(17.5, 22), meal=True, costs=True),
    Occasion("lunch", ("lunch",), 60, _at(11.5, 14.5), meal=True, costs=True),
    Occasion("breakfast", ("breakfast",), 60, _at(7, 11), meal=True, costs=True),
    Occasion("brunch", ("brunch",), 90, _at(10, 14), meal=True, costs=True),
    Occasion("barbecue", ("barbecue", "bbq", "barbeque"), 180, _at(12, 22), meal=True),
    Occasion("picnic", ("picnic",), 120, _at(11, 19), meal=True),
    Occasion("coffee", ("coffee", "tea", "cuppa"), 45, _at(8, 18)),
    Occasion(
        "drinks",
        ("drinks", "drink", "beer", "beers", "pint", "pints", "cocktails"),
        120,
        _at(17, 23),
        costs=True,
    ),
    Occasion(
        "game_night",
        ("game night", "games night", "board games", "board game night", "poker night"),
        180,
        _at(18, 23),
    ),
    Occasion("quiz", ("quiz", "pub quiz", "quiz night"), 150, _at(18, 23)),
    Occasion(
        "cinema",
        ("cinema", "film", "movie", "movies", "movie night", "film night"),
        150,
        _at(16, 23),
        costs=True,
    ),
    Occasion("theatre", ("theatre", "theater", "opera", "play"), 180, _at(17, 23), costs=True),
    Occasion("concert", ("concert", "gig"), 180, _at(17, 23), costs=True),
    Occasion("party", ("party", "birthday party"), 240, _at(14, 23.5)),
    Occasion("walk", ("walk", "stroll"), 60, _at(9, 19)),
    Occasion("run", ("run", "jog"), 60, _at(7, 20)),
    Occasion("hike", ("hike", "hiking"), 240, _at(8, 18)),
    Occasion("bike_ride", ("bike ride", "cycle", "ride"), 120, _at(8, 19)),
    Occasion(
        "sport",
        ("tennis", "squash", "badminton", "football", "basketball", "climbing", "golf"),
        90,
        _at(8, 21),
    ),
    Occasion("gym", ("gym", "workout", "yoga", "swim", "swimming"), 75, _at(7, 21)),
    Occasion("museum", ("museum", "exhibition", "gallery"), 120, _at(10, 18)),
    Occasion("playdate", ("playdate", "play date"), 120, _at(14, 18)),
    Occasion("visit", ("visit", "come over", "come round"), 120, _at(10, 20)),
    Occasion(
        "video_call",
        ("video call", "zoom", "zoom call", "facetime", "video chat"),
        30,
        _at(9, 20),
        place=False,
    ),
    Occasion("call", ("call", "phone call", "ring", "phone", "chat", "talk"), 30, _at(9, 20), place=False),
    Occasion("interview", ("interview",), 60, _at(9, 18)),
    Occasion("workshop", ("workshop", "training"), 180, _at(9, 18)),
    Occasion("review", ("review", "retro", "retrospective", "demo"), 60, _at(9, 18), place=False),
    Occasion("standup", ("standup", "stand-up"), 15, _at(9, 12), place=False),
    Occasion("study_session", ("study session", "study"), 120, _at(9, 20)),
    Occasion(
        "catch_up",
        ("catch up", "catch-up", "catchup", "get together", "hang out", "meet up", "meetup"),
        60,
        _at(9, 20),
    ),
    Occasion(
        "meeting", ("meeting", "meet", "appointment", "session", "one to one", "1:1", "see"), 60, _at(9, 18)
    ),
)
GENERAL: Final = frozenset({"meeting", "catch_up"})
"""Kinds that say little: another kind named beside them is what is meant, as in "catch up over coffee"."""
BY_NAME: Final = {event.name: event for event in OCCASIONS}
MEETING: Final = BY_NAME["meeting"]
_BY_WORDS: Final = {
    tuple(token.text for token in Sentence(words).tokens): event
    for event in OCCASIONS
    for words in event.words
}
_LONGEST: Final = max(len(words) for words in _BY_WORDS)
_WEAK: Final = frozenset({"see", "meet", "meeting", "play", "ring", "phone", "talk", "chat", "run", "ride",
"study",
                          "drink", "session", "visit", "review", "training", "cycle", "demo"})  # fmt: skip
"""Words that also mean something else; another word for an event in the same sentence outweighs them."""

_VERBS: Final = frozenset({"see", "meet", "play", "visit", "talk", "chat"})


class Named(NamedTuple):
    """An event that a sentence names, and where: from word `start` up to `end`."""

    event: Occasion
    start: int
    end: int
    weak: bool
    is_verb: bool = False
    """Whether it says no more than that people do something: `play tennis`."""


def named(words: Sequence[str]) -> list[Named]:
    """Every event in a row of small words, in their order, phrases before the words in them."""
    found: list[Named] = []
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            phrase = tuple(words[at : at + length])
            if phrase in _BY_WORDS:
                weak = length == 1 and phrase[0] in _WEAK
                verb = length == 1 and phrase[0] in _VERBS
                found.append(Named(_BY_WORDS[phrase], at, at + length, weak, verb))
                at += length - 1
                break
        at += 1
    return found


def event_of(name: str) -> Occasion | None:
    """The event of a packet's `event_type`, in whatever spelling."""
    plain = name.strip().lower().replace("-", " ").replace("_", " ")
    found = BY_NAME.get(plain.replace(" ", "_"))
    return found or _BY_WORDS.get(tuple(plain.split()))


def wants(event: Occasion) -> tuple[Need, ...]:
    """What is asked of the other side for it, most important first."""
    return (TIMES, *((DIETARY,) if event.meal else ()), *((PLACE,) if event.place else ()))


def offers(event: Occasion) -> tuple[str, ...]:
    """Our own fields that matter for it."""
    return (
        "time_windows",
        *(("dietary",) if event.meal else ()),
        *(("location_preference",) if event.place else ()),
        *(("budget_range",) if event.costs else ()),
    )
