"""One question as a person meets it at a terminal: which keys it takes, and what each key says.

A2ACP-128, A2ACP-131, A2ACP-143, A2ACP-144, A2ACP-149, A2ACP-273. Pure: a card and a key give a card and
perhaps a deed (an answer, later, quit, why), so that the lines of `tacit agent`, the full screen of
`tacit agent inbox` and a test are the same thing. One key is an answer; only a value of the owner's own is
typed, and what is typed is part of the card, so that nothing that happens meanwhile loses it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tacit.agent.terminal.commands.values import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.agent_results import ConsentFieldResult, QuestionResult

ASK: Final = ""
EDIT: Final = "edit"
COUNTER: Final = "counter"
COUNTER_WHAT: Final = "counter_what"
EXCUSE: Final = "excuse"
TICK: Final = "tick"
TYPING: Final = frozenset({EDIT, COUNTER})

LATER: Final = "later"
QUIT: Final = "quit"
WHY: Final = "why"
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being typed, and where the cursor stands."""

    text: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """A question, and what its owner has chosen and typed so far."""

    question: QuestionResult
    picks: Mapping[str, int] = field(default_factory=dict[str, int])
    """By field, which of its values is shared; a field that is not here is not shared."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """By field, the owner's own words in place of the known values."""
    ticks: frozenset[str] = frozenset()
    at: int = 0
    mode: str = ASK
    draft: Draft = field(default_factory=Draft)
    counter: str = ""
    """What a counter is about: `time`, `place`, or nothing yet."""
    told: str = ""

    @property
    def question_id(self) -> str:
        """Which question it is."""
        return self.question.question_id

    @property
    def fields(self) -> list[ConsentFieldResult]:
        """The fields it asks for."""
        return self.question.fields


@dataclass(frozen=True, slots=True)
class Deed:
    """What a key asks for."""

    what: str
    answer: Mapping[str, object] = field(default_factory=dict[str, object])


def begun(question: QuestionResult) -> Card:
    """A question as it is first shown: what its owner's own wish needs is chosen already (A2ACP-134)."""
    picks = {one.field: 0 for one in question.fields if one.ticked and len(one.values) == 1}
    return Card(question, picks=picks)


# Keys.


def press(card: Card, key: str) -> tuple[Card, Deed | None]:
    """What a key makes of a card: a printable sign, or `enter`, `escape`, `backspace`, `up` and so on."""
    card = replace(card, told="")
    if card.mode in TYPING:
        return _typed(card, key)
    if card.mode == ASK and key in _ALWAYS:
        return card, Deed(_ALWAYS[key])
    if key == "escape":
        return replace(card, mode=ASK), None
    match card.mode:
        case "counter_what":
            return _counter_what(card, key)
        case "excuse":
            return _excused(card, key)
        case "tick":
            return _ticked(card, key)
        case _:
            return _KINDS.get(card.question.kind, _yes_or_no)(card, key)


def pasted(card: Card, text: str) -> Card:
    """Text from a clipboard: into what is being typed, and nowhere else: it answers nothing."""
    if card.mode not in TYPING:
        return card
    for sign in " ".join(text.split()):
        card, _ = _typed(card, sign)
    return card


_ALWAYS: Final = {"s": LATER, "q": QUIT, "?": WHY}


def _answered(card: Card, **said: object) -> tuple[Card, Deed]:
    return card, Deed(ANSWER, {"question_id": card.question_id, **said})


def _told(card: Card, text: str) -> tuple[Card, None]:
    return replace(card, told=text), None


def _digit(key: str, count: int) -> int | None:
    """A digit as an index: `1` is the first."""
    number = int(key) - 1 if len(key) == 1 and key in "123456789" else -1
    return number if 0 <= number < count else None


def _consent(card: Card, key: str) -> tuple[Card, Deed | None]:
    count = len(card.fields)
    number = _digit(key, count)
    if number is not None:
        return _cycled(replace(card, at=number)), None
    match key:
        case "y":
            return _share_all(card)
        case "n":
            return _answered(card, decline_all=True)
        case "enter":
            return _share_chosen(card)
        case "e":
            return _edited(card), None
        case "up" | "down":
            return replace(card, at=(card.at + (1 if key == "down" else -1)) % max(count, 1)), None
        case " ":
            return _cycled(card), None
        case _:
            return card, None


def _cycled(card: Card) -> Card:
    """The next choice for a field: each value that is known, then not to share it."""
    one = card.fields[card.at]
    name = one.field
    choices = 1 if name in card.values else len(one.values)
    following = card.picks.get(name, -1) + 1
    if not choices:
        return replace(card, told=f"your agent does not know it: e types it ({plain(name)})")
    picks = {key: value for key, value in card.picks.items() if key != name}
    return replace(card, picks=picks if following >= choices else {**picks, name: following})


def _edited(card: Card) -> Card:
    one = card.fields[card.at]
    name = one.field
    shown = card.values.get(name)
    if shown is None:
        first = one.values[card.picks.get(name, 0)] if one.values else ""
        shown = first if isinstance(first, str) else json.dumps(first, ensure_ascii=False)
    return replace(card, mode=EDIT, draft=Draft(shown, len(shown)))


def _share_all(card: Card) -> tuple[Card, Deed | None]:
    for number, one in enumerate(card.fields):
        name = one.field
        if name in card.picks or name in card.values:
            continue
        if len(one.values) != 1:
            how = f"{number + 1} chooses its value" if one.values else "e types it"
            return _told(replace(card, at=number), f"{plain(name)}: {how}")
        card = replace(card, picks={**card.picks, name: 0})
    everything = {one.field: card.picks.get(one.field, 0) for one in card.fields}
    return _share_chosen(replace(card, picks=everything))


def _share_chosen(card: Card) -> tuple[Card, Deed | None]:
    share: dict[str, object] = {}
    for one in card.fields:
        name = one.field
        if name not in card.picks:
            continue
        if name in card.values:
            share[name] = json_or_text(card.values[name])
        else:
            share[name] = None if len(one.values) == 1 else one.values[card.picks[name]]
    if not share:
        return _told(card, "nothing is chosen: y shares all of it, n nothing")
    declined = [one.field for one in card.fields if one.field not in share]
    return _answered(card, share=share, decline=declined)


def json_or_text(text: str) -> object:
    """JSON where it is JSON, else the text itself; nothing is no value, and stays the word that was typed."""
    try:
        found: object = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text
    return text if found is None else found


def _no_number(name: str) -> object:
    raise ValueError(name)


def _checkpoint(card: Card, key: str) -> tuple[Card, Deed | None]:
    proposal = card.question.proposal
    number = _digit(key, len(proposal.alternatives) if proposal else 0)
    missing = [one for one in ticks_needed(card) if one not in card.ticks]
    if (key == "y" or number is not None) and missing:
        return _told(card, f"it cannot be undone: t ticks {plain(missing[0])} first")
    if number is not None:
        return _answered(card, alternative=number, ticks=sorted(card.ticks))
    match key:
        case "y":
            return _answered(card, confirm=True, ticks=sorted(card.ticks))
        case "n":
            return _answered(card, refuse=True)
        case "x":
            return replace(card, mode=EXCUSE), None
        case "c":
            return _countering(card), None
        case "t" if ticks_needed(card):
            return _tick(card), None
        case _:
            return card, None


def ticks_needed(card: Card) -> list[str]:
    """The actions that cannot be undone, by the names under which they are ticked (A2ACP-172)."""
    proposal = card.question.proposal
    return [action.tick for action in proposal.actions if action.tick] if proposal else []


def _tick(card: Card) -> Card:
    needed = ticks_needed(card)
    if len(needed) > 1:
        return replace(card, mode=TICK)
    return replace(card, ticks=card.ticks ^ {needed[0]})


def _ticked(card: Card, key: str) -> tuple[Card, None]:
    needed = ticks_needed(card)
    number = _digit(key, len(needed))
    if number is not None:
        card = replace(card, ticks=card.ticks ^ {needed[number]})
    return (replace(card, mode=ASK) if key == "enter" else card), None


def counters(card: Card) -> list[str]:
    """What another suggestion can be about: `time`, `place`, or nothing when it names its field itself."""
    said = card.question.choices
    return [one.removeprefix("counter").strip() for one in said if one.startswith("counter")]


def _countering(card: Card) -> Card:
    offered = counters(card)
    if len(offered) > 1:
        return replace(card, mode=COUNTER_WHAT)
    return replace(card, mode=COUNTER, counter=offered[0] if offered else "", draft=Draft())


def _counter_what(card: Card, key: str) -> tuple[Card, None]:
    for one in counters(card):
        if key == one[:1]:
            return replace(card, mode=COUNTER, counter=one, draft=Draft()), None
    return card, None


def _excused(card: Card, key: str) -> tuple[Card, Deed | None]:
    chosen = {"a": "again", "l": "leave"}.get(key)
    return _answered(card, excuse=chosen) if chosen else (card, None)


def _escalation(card: Card, key: str) -> tuple[Card, Deed | None]:
    number = _digit(key, len(card.question.choices))
    return (card, None) if number is None else _answered(card, choose=number)


def _promotion(card: Card, key: str) -> tuple[Card, Deed | None]:
    if key == "n":
        return _answered(card, dismiss=True)
    return _yes_or_no(card, key)


def _failure(card: Card, key: str) -> tuple[Card, Deed | None]:
    return _answered(card, dismiss=True) if key in {"y", "d"} else (card, None)


def _yes_or_no(card: Card, key: str) -> tuple[Card, Deed | None]:
    if key == "y":
        return _answered(card, confirm=True)
    return _answered(card, refuse=True) if key == "n" else (card, None)


_KINDS: Final = {
    "consent": _consent,
    "checkpoint": _checkpoint,
    "escalation": _escalation,
    "promotion": _promotion,
    "failure": _failure,
}


# Typing.


def _typed(card: Card, key: str) -> tuple[Card, Deed | None]:
    if key == "escape":
        return replace(card, mode=ASK, draft=Draft()), None
    if key == "enter":
        return _entered(card)
    return replace(card, draft=_edit(card.draft, key)), None


def _edit(draft: Draft, key: str) -> Draft:
    text, at = draft.text, draft.at
    match key:
        case "backspace":
            return Draft(text[: max(at - 1, 0)] + text[at:], max(at - 1, 0))
        case "delete":
            return Draft(text[:at] + text[at + 1 :], at)
        case "left":
            return Draft(text, max(at - 1, 0))
        case "right":
            return Draft(text, min(at + 1, len(text)))
        case "home" | "up":
            return Draft(text, 0)
        case "end" | "down":
            return Draft(text, len(text))
        case "clear":
            return Draft()
        case _ if len(key) == 1 and key.isprintable():
            return Draft(text[:at] + key + text[at:], at + 1)
        case _:
            return draft


def _entered(card: Card) -> tuple[Card, Deed | None]:
    text = card.draft.text.strip()
    if not text:
        return replace(card, mode=ASK, draft=Draft()), None
    if card.mode == EDIT:
        name = card.fields[card.at].field
        kept = replace(card, mode=ASK, draft=Draft(), values={**card.values, name: text})
        return replace(kept, picks={**kept.picks, name: 0}), None
    name, marked, value = (card.counter, "=", text) if card.counter else text.partition("=")
    if not marked or not value.strip():
        return _told(card, "write it as FIELD=VALUE")
    return _answered(replace(card, mode=ASK, draft=Draft()), counter=[name.strip(), value.strip()])


def taken_over(card: Card, former: Card) -> Card:
    """A question that takes another's place keeps what was typed and chosen there, where it still fits."""
    names = {one.field: one for one in card.fields}
    values = {name: text for name, text in former.values.items() if name in names}
    picks = {
        name: pick
        for name, pick in former.picks.items()
        if name in values or (name in names and 0 <= pick < len(names[name].values))
    }
    card = replace(card, values=values, picks={**card.picks, **picks})
    if former.mode == EDIT:
        name = former.fields[former.at].field
        if name in names:
            at = [one.field for one in card.fields].index(name)
            return replace(card, mode=EDIT, at=at, draft=former.draft)
    if former.mode == COUNTER and former.counter in counters(card):
        return replace(card, mode=COUNTER, counter=former.counter, draft=former.draft)
    return card
