"""With whom somebody last talked in a channel, and when; of what was said nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import MutableMapping


class LastTalk(msgspec.Struct, frozen=True, array_like=True):
    """The other side of somebody's newest exchange, empty for several at once, and when that was."""

    who: str
    at: Moment


class LastTalks:
    """By channel and principal."""

    __slots__ = ("_talks",)

    def __init__(self, talks: MutableMapping[tuple[str, str], LastTalk] | None = None) -> None:
        self._talks: MutableMapping[tuple[str, str], LastTalk] = {} if talks is None else talks

    def of(self, channel: str, principal: str) -> LastTalk | None:
        """With whom somebody last talked there."""
        return self._talks.get((channel, principal))

    def said(self, channel: str, author: str, to: frozenset[str], at: Moment) -> None:
        """Somebody spoke to these."""
        others = sorted(to - {author})
        for listener in others:
            self._talks[channel, listener] = LastTalk(author, at)
        if others:
            self._talks[channel, author] = LastTalk(others[0] if len(others) == 1 else "", at)
