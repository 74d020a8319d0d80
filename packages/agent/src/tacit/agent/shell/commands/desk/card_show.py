"""A card as lines: what a question says, and which keys it takes now (A2ACP-129, A2ACP-143, A2ACP-273).

Somebody else's words are data. They stand in quotation marks with a name before them, every line of them
behind a bar, without control or direction marks, 280 signs at most. A line of keys begins with a mark that no
other line has, and that no quotation can contain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tacit.agent.shell.commands.arrange_show import TITLES, offer, remembered
from tacit.agent.shell.commands.desk.card import EDIT, counters, ticks_needed
from tacit.agent.terminal.commands.values import plain, value_text, who
from tacit.base.commands.quotation import clean, label, quoted
from tacit.base.commands.terminal import cells, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.agent.shell.commands.desk.card import Card
    from tacit.base.agent_results import ConsentFieldResult, ProposalResult

Line = list[tuple[str, str]]
"""Parts of a line, each with its style: `title who own quote key dim warn notice chosen cursor` or none."""

BAR: Final = "│ "
MARK: Final = "» "
"""What a line of keys begins with, and no other line."""
EXPLAINED: Final = {
    "consent": "Nothing of this leaves before you answer. What you do not share is declined, unexplained.",
    "checkpoint": "It is agreed only when both people say yes. Until then nothing is booked or entered.",
    "escalation": "The agents cannot find a way by themselves: what you choose is told to the other side.",
    "first_contact": "Yes lets them write to your agent; no blocks them and erases what they sent.",
    "promotion": "Yes shares this with this one person from now on without asking; `tacit agent permissions`"
    " takes it back.",
    "scope": "What you allowed for the old matter does not hold for the new one. Yes goes on, no ends it.",
    "space_invite": "Yes joins: its members' agents and yours tell each other what is written there."
    " Nothing of yours is in it before you write it.",
    "space_write": "Nothing of this is written before you answer. A yes holds for these in this space.",
    "space_member": "Yes tells this member your fields of the space; no keeps them from it.",
    "failure": "Your agent could not undo this. See to it yourself, then say that it is done.",
}
_UNSAID: Final = frozenset({"excuses", "alternatives", "from", "counterpart"})


# Words.


def name_of(address: str) -> str:
    """A counterpart by the name in its address."""
    return who(address).partition("@")[0]


def said_by(speaker: str, text: object, width: int, indent: str = "  ") -> list[Line]:
    """Somebody's words with their name, every line behind a bar."""
    told = wrapped(f"{speaker}: {quoted(text)}", max(width - len(indent) - 3, 20))
    return [[("quote", f"{indent}{BAR}{line}")] for line in told]


def _peer(card: Card) -> str:
    return name_of(card.question.counterpart)


# The card.


def title(card: Card, position: str = "") -> Line:
    """What kind of question it is, and with whom."""
    kind = card.question.kind
    parts = [
        ("title", TITLES.get(kind, label(kind))),
        ("", " "),
        ("who", who(card.question.counterpart)),
    ]
    return [*parts, ("dim", f"   {position}")] if position else parts


def shown(card: Card, width: int = 80, position: str = "") -> list[Line]:
    """The card without its keys."""
    one = card.question
    lines = [title(card, position)]
    if one.new_contact and one.new_contact_text:
        told = wrapped(one.new_contact_text, max(width - 4, 20))
        lines += [[("own", f"  {' ' if number else '★'} {line}")] for number, line in enumerate(told)]
    for number in range(len(card.fields)):
        lines += _field(card, number, width)
    if one.proposal:
        lines += _proposal(card, one.proposal, width)
    lines += _about(card, width)
    if one.kind == "escalation":
        lines += _choices(card, width)
    lines += _mode(card, width)
    return [*lines, [("warn", f"  {card.told}")]] if card.told else lines


def _field(card: Card, number: int, width: int) -> list[Line]:
    one = card.fields[number]
    chosen = one.field in card.picks
    style, mark = ("chosen", "✓") if chosen else ("", "·")
    arrow = ">" if number == card.at and len(card.fields) > 1 else " "
    told = wrapped(f"{label(one.field)}: {_value(card, one)}", max(width - 6, 20))
    first: Line = [("key", f" {arrow}{number + 1} "), (style, f"{mark} {told[0]}")]
    lines = [first, *([(style, f"      {line}")] for line in told[1:])]
    priority = one.priority.replace("_", " ")
    if one.own:
        reason = plain(one.reason)
        return [*lines, [("dim", f"      {priority}: {reason[:1].lower()}{reason[1:]}")]]
    return [*lines, *said_by(f"{priority}, {_peer(card)}", one.reason, width, "      ")]


def _value(card: Card, one: ConsentFieldResult) -> str:
    name = one.field
    if name in card.values:
        return f"{plain(card.values[name])} (yours)"
    if not one.values:
        return "your agent does not know it"
    if name in card.picks:
        return value_text(one.values[card.picks[name]])
    return " / ".join(value_text(value) for value in one.values)


def _keyed(key: str, text: str, width: int, style: str = "") -> list[Line]:
    """A key and what it stands for, over as many lines as that takes."""
    told = wrapped(text, max(width - 6, 20))
    return [[("key", f"  {key} "), (style, told[0])], *([(style, f"    {BAR}{line}")] for line in told[1:])]


def _proposal(card: Card, proposal: ProposalResult, width: int) -> list[Line]:
    by = "your agent" if proposal.by == "us" else f"{_peer(card)}'s agent"
    # What a yes confirms comes first; what its proposer says of it is a quotation.
    told = wrapped(offer(proposal.details or {}), max(width - 4, 20))
    lines: list[Line] = [[("title", f"  {line}")] for line in told if line]
    lines += said_by(by, proposal.summary or "", width)
    if proposal.reasoning:
        lines += said_by("because", proposal.reasoning, width)
    for number, other in enumerate(proposal.alternatives):
        instead = f"instead: {offer(other.details or {})} {quoted(other.summary or '')}"
        lines += _keyed(str(number + 1), instead, width)
    for action in proposal.actions:
        by = "your agent" if action.executor == "us" else "theirs"
        line: Line = [("dim", f"    then {label(action.action)}, by {by}")]
        if tick := action.tick:
            ticked = tick in card.ticks
            line.append(("chosen" if ticked else "warn", "  ✓ ticked" if ticked else "  cannot be undone"))
        lines.append(line)
    return lines


def _about(card: Card, width: int) -> list[Line]:
    lines: list[Line] = []
    about = card.question.about or {}
    for name, value in about.items():
        if name in _UNSAID or not value:
            continue
        if card.question.kind == "promotion":
            lines.append([("", f"  Share {label(value)} with {_peer(card)} from now on?")])
        elif name == "remembered":
            told = remembered(_peer(card), value)
            lines += [[("dim", f"  {line}")] for one in told for line in wrapped(one, max(width - 4, 20))]
        elif name == "tried":
            lines += [
                [("dim", f"    tried {clean(step)}"[:width])]
                for step in msgspec.convert(value, list[object])[:5]
            ]
        else:
            lines += said_by(label(name.replace("_", " ")), value, width)
    return lines


def _choices(card: Card, width: int) -> list[Line]:
    """What can be chosen: the last two are ours, the others came out of packets."""
    choices = card.question.choices
    lines: list[Line] = []
    for number, choice in enumerate(choices):
        text = quoted(choice) if number < len(choices) - 2 else choice
        lines += _keyed(str(number + 1), text, width)
    return lines


def _mode(card: Card, width: int) -> list[Line]:
    match card.mode:
        case "edit" | "counter":
            what = label(card.fields[card.at].field) if card.mode == EDIT else card.counter or "FIELD=VALUE"
            text, at = card.draft.text, card.draft.at
            written = [("", plain(text[:at])), ("cursor", plain(text[at : at + 1]) or " ")]
            return [[("own", f"  {what} ▏"), *written, ("", plain(text[at + 1 :]))]]
        case "excuse":
            about = card.question.about or {}
            excuses = msgspec.convert(about.get("excuses") or {}, dict[str, str])
            lines: list[Line] = [[("", "  Exactly this would be said:")]]
            for key, name in (("a", "again"), ("l", "leave")):
                lines += _keyed(key, quoted(excuses.get(name, "")), width, "own")
            return lines
        case "tick":
            return [
                [("key", f"  {number + 1} "), ("", f"{'✓' if one in card.ticks else '·'} {label(one)}")]
                for number, one in enumerate(ticks_needed(card))
            ]
        case _:
            return []


# Keys.


def keys(card: Card, width: int) -> list[Line]:
    """The keys that do something now."""
    return key_lines(named_keys(card), width)


def key_lines(named: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """Keys and what they do, in as many lines as it takes."""
    lines: list[Line] = [[("dim", MARK)]]
    used = cells(MARK)
    for key, what in named:
        needed = cells(f"{key} {what}  ")
        if used + needed > width:
            lines.append([("dim", MARK)])
            used = cells(MARK)
        lines[-1] += [("key", key), ("dim", f" {what}  ")]
        used += needed
    return lines


def named_keys(card: Card) -> list[tuple[str, str]]:
    """The keys of a card, each with what it does."""
    match card.mode:
        case "edit" | "counter":
            return [("Enter", "take it"), ("Esc", "leave it")]
        case "counter_what":
            return [*((one[:1], one) for one in counters(card)), ("Esc", "back")]
        case "excuse":
            return [("a", "say this, try another time"), ("l", "say this, leave it"), ("Esc", "back")]
        case "tick":
            return [("1-9", "tick"), ("Enter", "back")]
        case _:
            own = _ANSWERS.get(card.question.kind, _plain_keys)(card)
            return [*own, ("s", "later"), ("?", "why"), ("q", "quit")]


def _up_to(count: int) -> str:
    return "1" if count == 1 else f"1-{min(count, 9)}"


def _plain_keys(_card: Card) -> list[tuple[str, str]]:
    return [("y", "yes"), ("n", "no")]


def _consent_keys(card: Card) -> list[tuple[str, str]]:
    many = len(card.fields)
    return [
        ("y", "share all" if many > 1 else "share"),
        ("n", "share nothing"),
        (_up_to(many), "choose"),
        ("e", "edit"),
        ("Enter", "share chosen"),
    ]


def _checkpoint_keys(card: Card) -> list[tuple[str, str]]:
    found = [("y", "confirm")]
    proposal = card.question.proposal
    others = len(proposal.alternatives) if proposal else 0
    if others:
        found.append((_up_to(others), "instead"))
    if ticks_needed(card):
        found.append(("t", "tick"))
    return [*found, ("c", "suggest a change"), ("x", "excuse"), ("n", "refuse")]


def _escalation_keys(card: Card) -> list[tuple[str, str]]:
    return [(_up_to(len(card.question.choices)), "choose")]


_ANSWERS: Final[dict[str, Callable[[Card], list[tuple[str, str]]]]] = {
    "consent": _consent_keys,
    "checkpoint": _checkpoint_keys,
    "escalation": _escalation_keys,
    "first_contact": lambda _card: [("y", "let them in"), ("n", "block")],
    "promotion": lambda _card: [("y", "always share"), ("n", "keep asking")],
    "scope": lambda _card: [("y", "go on with it"), ("n", "end it")],
    "failure": lambda _card: [("y", "seen to it")],
    "space_invite": lambda _card: [("y", "join"), ("n", "decline")],
    "space_write": lambda _card: [("y", "write it"), ("n", "do not")],
    "space_member": lambda _card: [("y", "tell them"), ("n", "do not")],
}
