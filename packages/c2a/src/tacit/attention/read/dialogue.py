"""Dialogue: who is talking with whom in a channel, and whose dialogue a line without a name goes on with.

Rows: C2A-070, C2A-072, C2A-075, C2A-081, C2A-083, C2A-214. People name each other once and then just talk.
For each channel the fold keeps a `Floor`: its last lines, as who spoke to whom and when. Nothing of what was
said is in it: words that are taken back leave no trace, and a rebuild without them decides the same. A line
without a name counts there as spoken to its author's `partner`, by a rule of thumb for people and agents
alike, so that the floor does not depend on the table.

A line that names nobody and replies to nothing is compared with the floor: for every agent whom it could go
on with, `cues` gives some whole numbers and `grade` makes one confidence of them, by a table that was learnt
from chats which people had labelled. Then it is a turn, a knock, or one more line of the mailbox.

What is fixed stays so whatever the table says: an exchange older than `LIKELY_S` is over, and so is one that
ended with thanks; a question to whoever knows ("does anyone …?") is the room's; after `SURE_S`, and with
somebody who had no word with the author, a line knocks and no more; whoever has called somebody else by name
has turned to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.read import grade
from tacit.attention.read.continuation import TURN, Continuation, Follows
from tacit.attention.read.cues import KEPT, Floor, LookBack, OtherSide, SaidLine
from tacit.base.moment import SECOND
from tacit.c2a.vocabulary import OPEN, Intent

if TYPE_CHECKING:
    from collections.abc import Collection, Container

    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.base.moment import Moment

SURE_S: Final = 300
"""How long after the last word between two a line may be as good as addressed."""
LIKELY_S: Final = 600
"""How long after the last word between two a line can still go on with it."""
KNOCK: Final = 0.16
"""From here on it is worth a knock."""
FIRST: Final = 0.22
"""The same for an agent that had no word with the author yet and is not named either."""
ENGAGED: Final = 0.4
"""The same for one that has just spoken to somebody else."""
PARTNER_S: Final = 180
"""How long a line without a name counts as spoken to its author's partner."""
NEARLY: Final = 0.9
"""How sure it is that whoever has nearly been called by name is meant: of 300 such lines 96 % were theirs."""
FRESH_S: Final = 120
"""How long after a person's word to the author a line is theirs and no agent's."""
_KNOCKS: Final = TURN - 0.01
_NONE: Final = OtherSide()


def talking(floor: Floor, who: frozenset[str], at: Moment) -> frozenset[str]:
    """Those of some who have spoken in the last lines: a name that is nearly theirs can be theirs."""
    if not who or not floor or floor[-1].at > at:
        return frozenset()
    return who & {line.by for line in floor}


def follows(
    floor: Floor,
    author: str,
    inside: Collection[str],
    at: Moment,
    agents: Container[str],
    nearly: frozenset[str] = frozenset(),
) -> Follows:
    """Which agents' dialogue a line may go on with, the likeliest first; or the person whose it surely is.

    `inside` are those whose names stand in it without being called, `nearly` those who nearly were: it is
    theirs and nobody else's.
    """
    if not floor or floor[-1].at > at:
        # Nothing was said; or later than the line, when something of the past is looked at again.
        return ()
    seen = LookBack(floor, author, agents, at)
    if nearly:
        return tuple(_nearly(who, seen, agents) for who in sorted(nearly))
    named = sorted(one for one in inside if one in agents) if inside else ()
    found = [one for who in seen.candidates(named) if (one := _graded(who, seen, inside)) is not None]
    if not found or not any(one.sure for one in found):
        person = partner(floor, author, at, FRESH_S, theirs=True)
        if person and person not in agents:
            found.append(Continuation(person, TURN, theirs=True))
    if len(found) > 1:
        found.sort(key=lambda one: (-one.confidence, one.who))
    return tuple(found)


def _nearly(who: str, seen: LookBack, agents: Container[str]) -> Continuation:
    """How surely a line is for somebody whose name was nearly called."""
    if who not in agents:
        return Continuation(who, TURN, nearly=True)
    known = seen.others.get(who, _NONE)
    ago = seen.ago(known.newest) if known.newest else None
    most = _most(who, known, seen, ago, named=True)
    return Continuation(who, min(most, NEARLY), ago, theirs=seen.is_theirs(known), nearly=True)


def _graded(who: str, seen: LookBack, inside: Collection[str]) -> Continuation | None:
    """How surely a line goes on with one agent; None when that is not worth a knock."""
    known = seen.others.get(who, _NONE)
    newest, named = known.newest, who in inside
    ago = seen.ago(newest) if newest else None
    most = _most(who, known, seen, ago, named=named)
    found = min(most, grade.confidence(seen.cues(who, known, inside))) if most >= KNOCK else 0.0
    if found < (KNOCK if newest or named else ENGAGED if known.last_to else FIRST):
        return None
    return Continuation(who, round(found, 3), ago, named, seen.is_theirs(known), seen.has_asked(known))


def _most(who: str, known: OtherSide, seen: LookBack, ago: int | None, *, named: bool) -> float:
    """How sure it can be at all: the rules that the table does not move."""
    if ago is None or named:
        return _KNOCKS if ago is None or ago > SURE_S else 1.0
    if ago > LIKELY_S or seen.has_turned_from(who, known) or seen.has_ended(known):
        return 0.0
    return _KNOCKS if ago > SURE_S else 1.0


def heard(floor: Floor, parsed: ParsedMessage, above: ParsedMessage | None, at: Moment) -> Floor:
    """The floor after one more line; a nameless one counts as spoken to its author's partner.

    `above` is what it replies to. Whoever calls somebody in a thread goes on there; an agent's answer in one
    may be taken up in the open.
    """
    author, target = parsed.author.id, parsed.target
    to = target.agents | target.people
    if not target.is_aimed and above is not None:
        to = frozenset({above.author.id})
    to = to or parsed.nearly
    named = bool(to)
    if parsed.conversation.thread is not None and not (named and parsed.by_agent):
        return floor
    goes_on = not (named or target.is_aimed or parsed.asks_room)
    if goes_on and (other := partner(floor, author, at, PARTNER_S)):
        to = frozenset({other})
    others = tuple(sorted(to - {author})) if to else ()
    ends = parsed.asks_room or parsed.intent is Intent.THANKS
    line = SaidLine(author, others, at, parsed.intent in OPEN, named, ends)
    return (*floor[1 - KEPT :], line)


def partner(floor: Floor, author: str, at: Moment, within_s: int, *, theirs: bool = False) -> str:
    """Who had the newest exchange with an author: spoke to them or, unless `theirs`, was spoken to alone."""
    since = at - within_s * SECOND
    for line in reversed(floor):
        if line.at < since:
            break
        if author in line.to:
            return line.by
        if line.by == author and (line.to or line.ends):
            # Whoever has thanked or asked the room is done; of several nobody is the partner.
            return line.to[0] if len(line.to) == 1 and not (theirs or line.ends) else ""
    return ""
