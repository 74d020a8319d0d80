"""Sign-in links: a code that signs one person in, once, for a short while (CCCS-041, CCCS-042).

A link holds no token: whoever opens it exchanges its code for a token of that browser's own, so that a link
in a shell's history, a log or a message is worth nothing afterwards. Of a code only the digest is held, in
memory alone: links end by use, by time, with the token that made them, with their person, and with the hub.
Time is an argument: seconds that never go back.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.hub.people.credentials import digest

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

PREFIX: Final = "lnk_"
"""How the public id of a link begins; it is listed and revoked as a token's is."""
MOST: Final = 64
"""Links of one person at a time; the oldest goes."""
MARK: Final = "/#sign-in="
"""What a link's address says before its code; browsers keep what stands behind `#` to themselves."""
OWNERS_MINUTES: Final = 15
"""How long the link works that the hub prints for its owner."""
_BYTES: Final = 24


@dataclass(frozen=True, slots=True)
class SignInLink:
    """Whom a link signs in, which token made it, until when it works."""

    link_id: str
    principal: str
    group_id: str | None
    maker: str
    until: float


class SignInLinks:
    """The links of one hub that still work."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._live: dict[bytes, SignInLink] = {}

    def make(self, principal: str, group_id: str | None, *, maker: str, until: float) -> str:
        """The code of a new link, in clear for the only time."""
        code = base64.urlsafe_b64encode(self._entropy.draw(_BYTES)).decode()
        made = SignInLink(PREFIX + self._entropy.draw(6).hex(), principal, group_id, maker, until)
        theirs = [
            name for name, one in self._live.items() if (one.principal, one.group_id) == (principal, group_id)
        ]
        for name in theirs[: max(0, len(theirs) - MOST + 1)]:
            del self._live[name]
        self._live[digest(code)] = made
        return code

    def find(self, code_hash: bytes, now: float, *, spends: bool) -> SignInLink | None:
        """Whom the code with this digest signs in; `spends`: it is worth nothing from now on."""
        self._forget_old(now)
        return self._live.pop(code_hash, None) if spends else self._live.get(code_hash)

    def ids(self, group_id: str, principal: str, now: float) -> list[str]:
        """The public ids of somebody's links."""
        self._forget_old(now)
        return [
            one.link_id
            for one in self._live.values()
            if one.principal == principal and one.group_id in {group_id, None}
        ]

    def drop(self, *, token_id: str | None = None, actor: tuple[str, str] | None = None) -> list[SignInLink]:
        """End a link by its id, all that a token made, or all of one (group, person)."""
        dead = [
            name
            for name, one in self._live.items()
            if (token_id is not None and token_id in {one.link_id, one.maker})
            or (actor is not None and (one.group_id, one.principal) == actor)
        ]
        return [self._live.pop(name) for name in dead]

    def _forget_old(self, now: float) -> None:
        for name in [name for name, one in self._live.items() if one.until <= now]:
            del self._live[name]
