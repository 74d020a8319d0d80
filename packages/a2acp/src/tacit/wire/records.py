"""Key records, prekeys and rotation: what a relay hands out about an agent (A2ACP-015, A2ACP-021, A2ACP-245).

A record's statement travels in canonical bytes with the agent's own signature, so a relay can withhold it but
not change it. `serial` rises with each statement, in small steps: an older one cannot be served in place of a
newer, and nobody who speaks for an agent for a moment can take the last number. A recovered account begins
its numbers again, under a new key, and says so (`reset`).

A record carries the rotations that led to its key, each signed by the key before, so that whoever slept
through several can follow them one by one. Knows shapes and the bytes to sign; checking a signature is the
caller's.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from tacit.base.errors import Refused
from tacit.wire import address, codes
from tacit.wire.encoding import UNREADABLE, b64, canonical, canonical_object, unb64

# Every reader of JSON holds these numbers exactly, and every file does.
_NUMBERS: Final = 2**53
LARGEST_STEP: Final = 1_000
"""By how much the serial of one registration may rise."""
LARGEST_LEAP: Final = 1_000_000
"""By how much it may have risen while somebody was not looking: more registrations than anybody makes."""
MOST_ROTATIONS: Final = 32
"""How many rotations a record carries; whoever slept through more asks a person."""
MOST_ROTATION_BYTES: Final = 24 * 1024


class Statement(msgspec.Struct, frozen=True):
    """What an agent says of itself."""

    address: str
    signing_key: str
    agreement_key: str
    serial: int
    supported_versions: list[str] = []
    supported_encryption: list[str] = []
    previous_signing_key: str | None = None
    reset: bool = False


class SignedStatement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement as received, signed by its own signing key, and by the key before it after a rotation."""

    statement: msgspec.Raw
    sig: str
    rotation_sig: str | None = None


class KeyRecord(SignedStatement, frozen=True, omit_defaults=True):
    """An agent's present statement, and the rotations that led to its key, oldest first."""

    rotations: list[SignedStatement] = []


class Prekey(msgspec.Struct, frozen=True):
    """A public agreement key for first packets, signed by its owner."""

    id: int
    key: str
    sig: str
    epoch: int = 0


class Bundle(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that is needed to write to a sleeping stranger."""

    record: KeyRecord
    signed: Prekey | None = None
    one_time: Prekey | None = None
    last_resort: Prekey | None = None


class PrekeyRequest(msgspec.Struct, frozen=True):
    """Who asks for an agent's prekeys; `at` in microseconds, `nonce` makes each request another one."""

    requester: str
    at: int
    nonce: str
    sig: str


def prekey_request_signed_bytes(owner: str, requester: str, at: int, nonce: str) -> bytes:
    """What the requester signs: for whose prekeys, and when."""
    return "\n".join(("a2acp-prekey-request-v1", owner, requester, str(at), nonce)).encode("utf-8")


def read_prekey_request(raw: bytes) -> PrekeyRequest:
    """The request in `raw`; `Refused` when nobody has signed it."""
    try:
        return msgspec.json.decode(raw, type=PrekeyRequest)
    except UNREADABLE:
        raise Refused(codes.BAD_SIGNATURE, "say who asks for prekeys, and sign it", row="A2ACP-245") from None


def statement_bytes(statement: Statement) -> bytes:
    """The canonical bytes of a statement."""
    return canonical(msgspec.to_builtins(statement))


def statement_signed_bytes(raw: bytes) -> bytes:
    """What the signing key signs."""
    return b"a2acp-key-record-v1\n" + raw


def rotation_signed_bytes(raw: bytes) -> bytes:
    """What the previous signing key signs to hand over."""
    return b"a2acp-key-rotation-v1\n" + raw


def prekey_signed_bytes(owner: str, kind: str, identifier: int, key: str, epoch: int = 0) -> bytes:
    """What the owner signs for one prekey.

    The kind keeps a one-time key from posing as another, the epoch one device's key from posing as another's.
    """
    label = ("a2acp-prekey-v2", str(epoch)) if epoch else ("a2acp-prekey-v1",)
    return "\n".join((*label, owner, kind, str(identifier), key)).encode("utf-8")


def enrolment_signed_bytes(*, relay: str, owner: str, code: str, statement: bytes) -> bytes:
    """What an agent signs to register: possession of the key, for this relay, with this code."""
    return b"\n".join((b"a2acp-enrol-v1", relay.encode(), owner.encode(), code.encode(), statement))


def contact_tag(relay: str, contact: str) -> str:
    """What an agent calls an accepted contact towards its relay, which can try an address and read none."""
    named = f"a2acp-contact-v1\n{relay}\n{contact}".encode()
    return b64(hashlib.blake2b(named, digest_size=16).digest())


def read_statement(raw: bytes) -> Statement:
    """The statement in `raw`; `Refused` when it is not canonical or a key has not 32 bytes."""
    try:
        statement = msgspec.convert(canonical_object(raw), Statement)
    except msgspec.ValidationError:
        said = "a key statement is one JSON object in canonical form, with all its fields"
        raise Refused(codes.BAD_ENVELOPE, said, row="A2ACP-021") from None
    address.parse(statement.address)
    for key in (statement.signing_key, statement.agreement_key, statement.previous_signing_key):
        if key is not None and (decoded := unb64(key)) is not None and len(decoded) == 32:
            continue
        if key is not None:
            raise Refused(codes.BAD_ENVELOPE, "a key has 32 bytes in base64url", row="A2ACP-021")
    if not 0 <= statement.serial < _NUMBERS:
        raise Refused(codes.BAD_ENVELOPE, "serial is a number below 2 to the 53", row="A2ACP-021")
    return statement


def bounded_rotations(rotations: list[SignedStatement]) -> list[SignedStatement]:
    """The newest rotations, as many as a record carries."""
    kept: list[SignedStatement] = []
    size = 0
    for rotation in reversed(rotations[-MOST_ROTATIONS:]):
        size += len(msgspec.json.encode(rotation))
        if size > MOST_ROTATION_BYTES:
            break
        kept.append(rotation)
    return kept[::-1]


def read_record(raw: bytes) -> KeyRecord:
    """The key record in `raw`."""
    try:
        return msgspec.json.decode(raw, type=KeyRecord)
    except UNREADABLE:
        raise Refused(codes.BAD_ENVELOPE, "not a key record", row="A2ACP-021") from None


def read_bundle(raw: bytes) -> Bundle:
    """The bundle in `raw`."""
    try:
        bundle = msgspec.json.decode(raw, type=Bundle)
    except UNREADABLE:
        raise Refused(codes.BAD_ENVELOPE, "not a prekey bundle", row="A2ACP-021") from None
    for prekey in (bundle.signed, bundle.one_time, bundle.last_resort):
        if prekey is not None and not (0 <= prekey.id < _NUMBERS and 0 <= prekey.epoch < _NUMBERS):
            raise Refused(codes.BAD_ENVELOPE, "a prekey's id is a number below 2 to the 53", row="A2ACP-245")
    return bundle


def prekey_of(fields: dict[str, Any]) -> Prekey:
    """A prekey from its JSON fields; its key must have 32 bytes."""
    try:
        prekey = msgspec.convert(fields, Prekey)
    except msgspec.ValidationError:
        raise Refused(codes.BAD_ENVELOPE, "a prekey has id, key and sig", row="A2ACP-245") from None
    key = unb64(prekey.key)
    numbers = 0 <= prekey.id < _NUMBERS and 0 <= prekey.epoch < _NUMBERS
    if key is None or len(key) != 32 or not numbers:
        raise Refused(codes.BAD_ENVELOPE, "a prekey has 32 bytes in base64url", row="A2ACP-245")
    return prekey
