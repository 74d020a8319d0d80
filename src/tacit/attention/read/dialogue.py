"""Dialogue: who is talking with whom in a channel, and whose dialogue a line without a name goes on with.

Rows: C2A-070, C2A-072, C2A-075, C2A-081, C2A-083, C2A-214. People name each other once and then just talk.
For each channel the fold keeps a `Floor`: its last lines, as who spoke to whom and when. Nothing of what was
said is in it: words that are taken back leave no trace, and a rebuild without them decides the same. A line
that names nobody and replies to nothing is compared with it: for everybody whom it could go on with, `cues`
gives some thirty whole numbers and `grade` makes one confidence of them, by a table that was learnt from
chats which people had labelled. Then it is a turn, a knock, or one more line of the mailbox.

What is fixed stays so whatever the table says: an exchange older than `LIKELY_S` is over; after `SURE_S`,
after thanks, and with somebody who had no word with the author a line knocks and no more; whoever has called
somebody else by name has turned to them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from tacit.attention.read import grade
from tacit.attention.read.cues import KEPT, Floor, LookBack, SaidLine
from tacit.c2a.vocabulary import OPEN, SOCIAL, Intent

if TYPE_CHECKING:
    from collections.abc import Collection

    from tacit.base.moment import Moment

SURE_S: Final = 300
"""How long after the last word between two a line may be as good as addressed."""
LIKELY_S: Final = 600
"""How long after the last word between two a line can still go on with it."""
TURN: Final = 0.6
"""From here on a line is as good as addressed."""
KNOCK: Final = 0.25
"""From here on it is worth a knock."""
FIRST: Final = 0.4
"""The same for somebody who had no word with the author yet and is not named either."""
OWED: Final = 0.5
"""How sure it is at least that an author goes on with a question that has no answer yet."""
_KNOCKS: Final = TURN - 0.01
_NOTHING: Final = KNOCK - 0.01
_LONG: Final = 400
_STEP: Final = 20
_READ: Final = 2_000
"""Characters of a line that are looked at."""
_YOU: Final = re.compile(r"\b(?:you|your|you're|u|ur)\b", re.IGNORECASE)

Follows: TypeAlias = "tuple[Continuation, ...]"


class Continuation(msgspec.Struct, frozen=True):
    """One whose dialogue a line may go on with."""

    who: str
    confidence: float
    owed: bool = False
    """Whether its author still waits for this one's answer: then it belongs to what was asked."""
    ago_s: int | None = None
    """How long ago the two spoke; None when they did not."""
    named: bool = False
    """Whether its name stands somewhere in the line."""
    theirs: bool = False
    """Whether the other spoke last of the two."""

    @property
    def sure(self) -> bool:
        """Is it as good as addressed?"""
        return self.confidence >= TURN


class Wording(msgspec.Struct, frozen=True):
    """What of a line's text counts for the dialogue."""

    asks: bool
    length: int
    social: bool
    you: bool
    inside: frozenset[str] = frozenset()
    """Whose names stand in it without being called."""


def wording_of(said: str, intent: Intent, inside: frozenset[str] = frozenset()) -> Wording:
    """What of a line's prose counts."""
    return Wording(
        asks="?" in said or intent in OPEN,
        length=min(len(said), _LONG) // _STEP * _STEP,
        social=intent in SOCIAL,
        you=_YOU.search(said[:_READ]) is not None,
        inside=inside,
    )


def follows(floor: Floor, author: str, wording: Wording, at: Moment) -> Follows:
    """Whose dialogue a line may go on with, the likeliest first."""
    if not floor or floor[-1].at > at:
        # Nothing was said; or later than the line, when something of the past is looked at again.
        return ()
    seen = LookBack(floor, author, wording, at)
    found = [_graded(who, seen) for who in seen.candidates()]
    if not any(one.sure for one in found):
        # Whoever was called a moment ago and has yet to say something is told what is added.
        found = [replace(one, confidence=max(one.confidence, OWED)) if one.owed else one for one in found]
    found.sort(key=lambda one: (-one.confidence, one.who))
    return tuple(found)


def _graded(who: str, seen: LookBack) -> Continuation:
    known = seen.others.get(who)
    ago = seen.ago(known.newest) if known is not None and known.newest else None
    named = who in seen.wording.inside
    confidence = min(grade.confidence(seen.cues(who)), _most(who, seen, ago, named=named))
    if ago is None and not named and confidence < FIRST:
        confidence = min(confidence, _NOTHING)
    return Continuation(
        who,
        round(confidence, 3),
        owed=seen.is_owed(who),
        ago_s=ago,
        named=named,
        theirs=seen.is_theirs(who),
    )


def _most(who: str, seen: LookBack, ago: int | None, *, named: bool) -> float:
    """How sure it can be at all: the rules that the table does not move."""
    if ago is None or named:
        return _KNOCKS if ago is None or ago > SURE_S else 1.0
    if ago > LIKELY_S or seen.has_turned_from(who):
        return _NOTHING
    return _KNOCKS if ago > SURE_S or seen.has_thanked(who) else 1.0


def heard(floor: Floor, line: SaidLine) -> Floor:
    """The floor after one more line."""
    return (*floor[1 - KEPT :], line)


def taken_up(found: Follows) -> Collection[str]:
    """Whom a line counts as spoken to, for the lines after it."""
    return (found[0].who,) if found and found[0].confidence >= grade.HALF else ()
