"""Redaction: the content of an event goes, its envelope stays, and the chain of hashes still holds.

A link of the chain covers the envelope as it is and the content by a salted hash. The salt is a random number
that stands beside the event and goes with the content: whoever guesses the words of an event that is gone has
nothing left to try them against. Events from before there were salts are in the chain by the hash of all
their bytes; when such a one is redacted that hash stays, and short words can be guessed from it.

What remains is `head`, where it stood and to whom (`KEPT`), and who had it taken away. Pure; the bytes on the
disk are the business of `io/erasure`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.ledger.envelope import Redaction, decode
from tacit.ledger.taken_back import kept_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SALT_BYTES: Final = 16
GONE: Final = b""
"""In the place of the salt of an event whose content was taken away."""
_CONTENT: Final = b',"data":'


def parts(raw: bytes) -> tuple[bytes, bytes]:
    """The envelope up to its data, and the rest.

    No member before `data` can hold these signs: inside of a text its quotes would be escaped.
    """
    at = raw.find(_CONTENT)
    return (raw[:at], raw[at:]) if at >= 0 else (raw, b"")


def digest(raw: bytes, salt: bytes | None) -> bytes:
    """What of an event the chain of hashes covers; the salt of one from before there were any is None."""
    if salt is None:
        return sha256(raw).digest()
    head, content = parts(raw)
    if salt:
        return sha256(head + sha256(salt + content).digest()).digest()
    try:
        left = decode(raw).redacted
        kept = bytes.fromhex(left.hash) if left is not None else b""
    except (msgspec.DecodeError, ValueError):
        left, kept = None, b""
    if left is None:  # its salt is gone, yet it does not say who took its content: no link fits it
        return sha256(raw).digest()
    return sha256(head + kept).digest() if left.salted else kept


class Remains(msgspec.Struct, frozen=True):
    """What a fold above the ledger must still know of an event: members of its data, and what it heard."""

    data: dict[str, Any] = {}
    heard: dict[str, Any] = {}


NOTHING_MORE: Final = Remains()


def redacted(raw: bytes, salt: bytes | None, by: str, at: str, remains: Remains = NOTHING_MORE) -> bytes:
    """The event without its content; one that has lost it already stays as it is."""
    if salt == GONE:
        return raw
    head, content = parts(raw)
    hashed = sha256(raw if salt is None else salt + content).hexdigest()
    says = Redaction(by=by, at=at, hash=hashed, salted=salt is not None, heard=remains.heard)
    return b"".join(
        (
            head,
            _CONTENT,
            _left(decode(raw).data, remains.data),
            b',"redacted":',
            msgspec.json.encode(says),
            b"}",
        )
    )


def _left(data: Mapping[str, Any], more: Mapping[str, Any]) -> bytes:
    key = {"client_id": data["client_id"]} if "client_id" in data else {}
    return msgspec.json.encode({**kept_of(data), **key, **more, "text": "", "deleted": True})
