"""Who may have which name: registrations on their way, sessions, enrolment codes.

A2ACP-010, A2ACP-011, A2ACP-012, A2ACP-013, A2ACP-014, A2ACP-019.

No password exists anywhere. An email address is kept only as a keyed hash. Answers to the first step do not
tell whether a name or a mailbox is taken. Codes are compared by their hashes, so timing tells nothing.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.relay.settings import RelayLimits

CODE_BYTES: Final = 16
BEGINNING: Final = Moment(0)


def code_text(random: bytes) -> str:
    """A code a person can copy: 128 bits in base32, in groups of four."""
    text = base64.b32encode(random).decode("ascii").rstrip("=").lower()
    return "-".join(text[i : i + 4] for i in range(0, len(text), 4))


def email_code(random: bytes) -> str:
    """Eight digits: five tries at one in a hundred million."""
    return f"{int.from_bytes(random, 'big') % 100_000_000:08d}"


def code_hash(code: str) -> bytes:
    """What is stored and compared in place of a code."""
    return hashlib.sha256(b"tacit-code\n" + code.replace("-", "").replace(" ", "").lower().encode()).digest()


def email_hash(pepper: bytes, email: str) -> bytes:
    """What is stored of an email address."""
    return hashlib.blake2b(email.strip().lower().encode(), key=pepper, digest_size=32).digest()


def check_username(username: str) -> None:
    """`Refused` for a name that cannot be registered by anyone."""
    if not address.is_username(username):
        raise Refused("bad_username", "a username has 1 to 32 of a-z 0-9 . _ -", row="A2ACP-010")
    if username in address.RESERVED or address.skeleton(username) in _RESERVED_SKELETONS:
        raise Refused("bad_username", "this username is reserved", row="A2ACP-010")


_RESERVED_SKELETONS: Final = frozenset(address.skeleton(name) for name in address.RESERVED)


def check_email(email: str) -> None:
    """`Refused` for what cannot be an email address."""
    name, at, host = email.strip().partition("@")
    if (
        not name
        or not at
        or "." not in host
        or len(email) > 254
        or any(char.isspace() for char in email.strip())
    ):
        raise Refused("bad_email", "not an email address", row="A2ACP-011")


@dataclass(slots=True)
class PendingRegistration:
    """A registration on its way."""

    username: str
    email_hash: bytes
    code_hash: bytes
    expires: Moment
    tries: int
    confirmed: bool = False
    challenge: bytes = b""


@dataclass(frozen=True, slots=True)
class AccountSession:
    """A person who proved a passkey a moment ago, or came by a recovery."""

    account: int
    username: str
    expires: Moment
    begun: Moment = BEGINNING
    passkey: bytes = b""
    recovered: bool = False


def confirm(pending: PendingRegistration | None, code: str, limits: RelayLimits) -> PendingRegistration:
    """The registration with its email proven; a wrong code costs a try, and the tries end (A2ACP-019)."""
    wrong = Refused("bad_code", "wrong or expired code", row="A2ACP-019")
    if pending is None or pending.tries >= limits.email_code_tries:
        raise wrong
    pending.tries += 1
    if code_hash(code) != pending.code_hash:
        raise wrong
    pending.confirmed = True
    return pending
