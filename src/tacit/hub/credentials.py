"""Credentials: who a token speaks for (CCCS-005, CCCS-041, CCCS-042). Stored hashed, shown once, revocable.

A token is 256 random bits, so a plain sha256 is as good as it gets. An actor's or person's token is bound to
its group; the owner's and a service's are not.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.ledger.codes import denied
from tacit.ledger.commands import IssueCredential
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from tacit.base.ports import Entropy

PREFIX: Final = "tct_"
LOCAL: Final = "local"
"""The token id of a caller who is taken at its word (local trust)."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What a token proves."""

    token_id: str
    principal: str
    group_id: str | None = None
    groups: frozenset[str] | None = None

    @property
    def is_owner(self) -> bool:
        """The owner's own token."""
        return self.principal == USER

    def require_group(self, group_id: str) -> None:
        """Refuse a group that this credential has no part in, whether it exists or not."""
        if self.group_id is not None and self.group_id != group_id:
            raise denied("this credential belongs to another group", "CCCS-042")
        if self.groups is not None and group_id not in self.groups:
            raise denied("this service has no part in this group", "CCCS-042")

    def require_owner(self) -> None:
        """Refuse everyone but the owner."""
        if not self.is_owner:
            raise denied("only the owner may do this", "CCCS-045")

    @property
    def is_owners_token(self) -> bool:
        """The owner's own token, and not merely a caller's word for it."""
        return self.is_owner and self.token_id != LOCAL

    def require_owners_token(self) -> None:
        """Refuse everyone but the owner, and under local trust everyone who only says so."""
        self.require_owner()
        if self.token_id == LOCAL:
            raise denied("under local trust nobody is known to be the owner", "CCCS-045")


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token, in clear for the only time."""

    token: str
    credential: Credential

    @property
    def record(self) -> IssueCredential:
        """What is kept of it: its hash, and whom it speaks for."""
        who = self.credential
        groups = tuple(sorted(who.groups)) if who.groups is not None else None
        return IssueCredential(digest(self.token), who.token_id, who.principal, who.group_id, groups)


def digest(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_token(entropy: Entropy) -> str:
    """A fresh token."""
    return PREFIX + base64.urlsafe_b64encode(entropy.draw(32)).decode().rstrip("=")


class Registry:
    """All live credentials, held in memory and kept in the store."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._live: dict[bytes, Credential] = {}

    def load(self, connection: apsw.Connection) -> None:
        """Read what is stored, on a reader's connection; tokens of removed actors are dead."""
        rows = connection.execute(
            "SELECT c.token_hash, c.token_id, c.principal, c.group_id, s.groups FROM credentials c "
            "LEFT JOIN services s ON s.name=c.principal LEFT JOIN groups g ON g.group_id=c.group_id "
            "LEFT JOIN actors a ON a.group_no=g.number AND a.actor_id=c.principal "
            "WHERE c.revoked IS NULL AND a.removed IS NULL"
        )
        self._live.clear()
        for token_hash, token_id, principal, group_id, groups in rows:
            allowed = frozenset(json.loads(groups)) if groups else None
            self._live[bytes(token_hash)] = Credential(token_id, principal, group_id, allowed)

    def find(self, token: str) -> Credential | None:
        """The credential behind a token; None when it proves nothing."""
        return self._live.get(digest(token))

    def prepare(
        self, principal: str, group_id: str | None = None, groups: Iterable[str] | None = None
    ) -> Issued:
        """A new token that is not stored yet."""
        token = new_token(self._entropy)
        token_id = "tok_" + self._entropy.draw(6).hex()
        return Issued(
            token,
            Credential(token_id, principal, group_id, frozenset(groups) if groups is not None else None),
        )

    def admit(self, issued: Issued) -> None:
        """Let a stored token in."""
        self._live[digest(issued.token)] = issued.credential

    def drop(self, *, token_id: str | None = None, actor: tuple[str, str] | None = None) -> list[str]:
        """Forget revoked tokens, or all of one (group, actor); returns the ids that died."""
        dead = [
            key
            for key, credential in self._live.items()
            if credential.token_id == token_id
            or (actor is not None and (credential.group_id, credential.principal) == actor)
        ]
        return [self._live.pop(key).token_id for key in dead]

    def ids(self) -> frozenset[str]:
        """The public ids of every live token."""
        return frozenset(one.token_id for one in self._live.values())

    def of(self, group_id: str, principal: str) -> list[str]:
        """The token ids of one principal in a group."""
        return [
            credential.token_id
            for credential in self._live.values()
            if credential.principal == principal and credential.group_id in {group_id, None}
        ]
