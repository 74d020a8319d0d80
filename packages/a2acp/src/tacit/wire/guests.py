"""What an agent says to its relay about the link of a guest, and how large anything of it may be.

A2ACP-276, A2ACP-277.

A relay sees a random id, the digest of a proof, sealed bytes of few sizes, and times. It learns no name, no
question, no answer and no key. Every command can be repeated: the same one changes nothing the second time.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from tacit.base.errors import Refused
from tacit.wire import codes
from tacit.wire.encoding import UNREADABLE, canonical

OPEN: Final = "open"
"""Keep a sealed question until a moment."""
FETCH: Final = "fetch"
"""Hand out the answers after a number; those up to it are on the agent's disk."""
REVOKE: Final = "revoke"
"""Show the question to nobody any more and take no answer; what was answered before can be fetched."""
LONGEST_DAYS: Final = 7
MOST_ANSWERS: Final = 20
AT_ONCE: Final = 4
"""So many answers are handed out together; the next ones when the agent has these."""
STEP: Final = 2048
"""Sealed texts have a multiple of so many bytes, beside nonce and tag: their length says little."""
OVERHEAD: Final = 12 + 16
LARGEST_QUESTION: Final = 8 * STEP
LARGEST_ANSWER: Final = 4 * STEP
LARGEST_COMMAND: Final = 48 * 1024
LARGEST_SUBMISSION: Final = 16 * 1024
PROOF_BYTES: Final = 32
_ID: Final = re.compile(r"[a-z2-7]{26}", re.ASCII)


class GuestCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent's word about one link, signed; `at` in microseconds."""

    owner: str
    at: int
    nonce: str
    do: str
    guest: str
    until: int = 0
    question: str = ""
    proof_digest: str = ""
    after: int = 0
    sig: str = ""


class GuestAnswer(msgspec.Struct, frozen=True):
    """One sealed answer as the relay hands it to the agent."""

    number: int
    at: int
    sealed: str


class GuestStanding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a relay says of a link to the agent that made it."""

    open: bool
    left: int = 0
    """How many more answers it takes."""
    answers: list[GuestAnswer] = []


def is_guest_id(text: str) -> bool:
    """Whether `text` can be the id of a link."""
    return _ID.fullmatch(text) is not None


def fits(sealed: bytes, largest: int) -> bool:
    """Whether sealed bytes have one of the sizes that they may have."""
    inside = len(sealed) - OVERHEAD
    return 0 < inside <= largest and inside % STEP == 0


def padded(text: bytes, largest: int) -> bytes:
    """A JSON text filled up with spaces; `Refused` when it is too long."""
    length = -(-max(1, len(text)) // STEP) * STEP
    if length > largest:
        raise Refused(codes.TOO_LARGE, "this is too long for a link", row="A2ACP-276")
    return text.ljust(length, b" ")


def signed_bytes(relay: str, command: GuestCommand) -> bytes:
    """What the agent signs: everything in it, for this relay."""
    told = {key: value for key, value in msgspec.to_builtins(command).items() if key != "sig"}
    return f"a2acp-guest-v1\n{relay}\n".encode() + canonical(told)


def read_command(raw: bytes) -> GuestCommand:
    """The command in `raw`, in shape; `Refused` otherwise. Its signature is the caller's to check."""
    try:
        found = msgspec.json.decode(raw, type=GuestCommand)
    except UNREADABLE:
        raise _bad("not a guest command") from None
    if found.do not in {OPEN, FETCH, REVOKE} or not is_guest_id(found.guest):
        raise _bad("a guest command opens, fetches or revokes one link")
    if not (0 <= found.until < 2**53 and 0 <= found.after < 2**53 and 0 <= found.at < 2**53):
        raise _bad("a number is out of bounds")
    return found


def _bad(text: str) -> Refused:
    return Refused("bad_request", text, row="A2ACP-276")
