"""Who may use the agent's own page: links that work once, and what they open (A2ACP-274).

A link is handed to the owner over a way that only the owner has: the terminal or the socket in the folder.
Used once, it becomes a session; both end by time, and with the process, for nothing of them is kept on disk.
Only digests are held and looked up, so that neither memory nor timing gives a link or a token away.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

LINK_LASTS: Final = 3600 * SECOND
SESSION_LASTS: Final = 7 * 24 * 3600 * SECOND
MOST: Final = 64
"""Links, and sessions, at a time; the oldest goes."""
_BYTES: Final = 24
_Held = TypeVar("_Held")


@dataclass(frozen=True, slots=True)
class Opened:
    """What a link gave: a session, and the question that it is about."""

    token: str = field(repr=False)
    question_id: str


class SignIn:
    """The links and sessions of one start of an agent."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._links: dict[str, tuple[Moment, str]] = {}
        self._used: dict[str, Moment] = {}
        self._sessions: dict[str, Moment] = {}

    def link(self, now: Moment, question_id: str = "") -> str:
        """A new link's secret part."""
        made = self._draw()
        _put(self._links, _digest(made), (Moment(now + LINK_LASTS), question_id))
        return made

    def open(self, link: str, now: Moment) -> Opened:
        """Use a link up."""
        name = _digest(link)
        if name in self._used:
            raise Refused("used_link", "this link was used already; `tacit agent page` prints a new one")
        until, question_id = self._links.pop(name, (None, ""))
        if until is None:
            raise Refused("unknown_link", "this link opens nothing here; `tacit agent page` prints a new one")
        if until <= now:
            raise Refused("expired_link", "this link is too old; `tacit agent page` prints a new one")
        _put(self._used, name, now)
        token = self._draw()
        _put(self._sessions, _digest(token), Moment(now + SESSION_LASTS))
        return Opened(token, question_id)

    def check(self, token: str, now: Moment) -> None:
        """Refuse whoever has no session here."""
        until = self._sessions.get(_digest(token))
        if until is None:
            raise Refused(
                "unknown_token", "this page is not signed in here; `tacit agent page` prints a link"
            )
        if until <= now:
            raise Refused(
                "expired_token", "this page was open for too long; `tacit agent page` prints a link"
            )

    def _draw(self) -> str:
        return base64.urlsafe_b64encode(self._entropy.draw(_BYTES)).decode()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _put(held: dict[str, _Held], name: str, value: _Held) -> None:
    held[name] = value
    while len(held) > MOST:
        held.pop(next(iter(held)))
