"""Dialogue: with whom somebody was last talking in a channel, and what a line without a name goes on with.

Rows: C2A-070, C2A-072, C2A-075. People name each other once and then just talk. For each principal of a
channel the fold keeps one `Partner`: the other side of its newest exchange, when that was, and who of the two
spoke. A line that names nobody and replies to nothing goes to its author's partner, the surer the fresher
that is, and surest when it is the author's turn. The spans were chosen on 20,701 lines of chat that people
had labelled: of lines within a minute of the partner's own 80 % were for the partner and 9 % for somebody
else; after four minutes fewer than half were. What comes of it is measured by `bench/chatlog.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Collection, MutableMapping

MINUTE: Final = 60 * SECOND
SURE: Final = (2 * MINUTE, MINUTE)
"""How long a line surely goes on: after a word of the partner's, and after one's own."""
LIKELY: Final = (10 * MINUTE, 3 * MINUTE)
"""The same for a line that may well go on."""


class Partner(msgspec.Struct, frozen=True, array_like=True):
    """The other side of somebody's newest exchange in a channel."""

    who: str
    at: Moment
    spoke: bool
    """Whether the partner spoke last of the two: then it is one's own turn."""


class Continuation(msgspec.Struct, frozen=True):
    """Whose dialogue a line goes on with."""

    who: str
    sure: bool


def continuation(partner: Partner | None, at: Moment) -> Continuation | None:
    """Whose dialogue a line of this moment goes on with, by its author's partner."""
    if partner is None:
        return None
    age, which = at - partner.at, 0 if partner.spoke else 1
    if not 0 <= age <= LIKELY[which]:
        # Too old; or of later than the line, when something of the past is looked at again.
        return None
    return Continuation(partner.who, age <= SURE[which])


def spoke(
    partners: MutableMapping[tuple[str, str], Partner],
    channel: str,
    author: str,
    to: Collection[str],
    at: Moment,
) -> None:
    """Somebody spoke to others there: each has the author as its partner; of several, the author has none."""
    for one in to:
        partners[channel, one] = Partner(author, at, spoke=True)
    if len(to) == 1:
        partners[channel, author] = Partner(next(iter(to)), at, spoke=False)
    elif to:
        partners.pop((channel, author), None)
