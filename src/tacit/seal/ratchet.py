"""The Double Ratchet with header encryption, XChaCha20-Poly1305 inside (A2ACP-243).

After Signal's published algorithm. Header encryption is why it is built here: a relay must not see ratchet
keys or counters, and the `doubleratchet` package has no such mode. A state is a value: sealing or opening
gives the next one, and a failed opening leaves the old one as it was. Skipped message keys are kept, up to
limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.seal import primitives
from tacit.seal.primitives import NONCE_BYTES, TAG_BYTES, CannotOpen

if TYPE_CHECKING:
    from tacit.base.ports import Entropy
    from tacit.seal.x3dh import Secret

MAX_SKIP: Final = 1_000
"""How far one message may run ahead of the chain."""
MAX_STORED: Final = 2_000
"""How many skipped keys are kept in all; the oldest go first."""

_HEADER_BYTES: Final = 40
SEALED_HEADER_BYTES: Final = NONCE_BYTES + _HEADER_BYTES + TAG_BYTES
OVERHEAD: Final = SEALED_HEADER_BYTES + TAG_BYTES


@dataclass(frozen=True, slots=True, repr=False)
class Skipped:
    """The key of a message that has not come yet."""

    header_key: bytes
    number: int
    message_key: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Ratchet:
    """One side's state."""

    root: bytes
    own_private: bytes
    sending: bytes | None
    receiving: bytes | None
    sent: int
    got: int
    previous_sent: int
    sending_header: bytes | None
    receiving_header: bytes | None
    next_sending_header: bytes
    next_receiving_header: bytes
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class _Header:
    public: bytes
    previous: int
    number: int


def _root_step(root: bytes, shared: bytes) -> tuple[bytes, bytes, bytes]:
    output = primitives.hkdf(shared, salt=root, info=b"tacit-ratchet-root-v1", length=96)
    return output[:32], output[32:64], output[64:]


def _chain_step(chain: bytes) -> tuple[bytes, bytes]:
    return primitives.mac(chain, b"\x02"), primitives.mac(chain, b"\x01")


def _message_key(key: bytes) -> tuple[bytes, bytes]:
    output = primitives.hkdf(key, salt=b"", info=b"tacit-ratchet-message-v1", length=32 + NONCE_BYTES)
    return output[:32], output[32:]


def start_initiator(secret: Secret, their_prekey: bytes, own_private: bytes) -> Ratchet:
    """The state of the side that writes first."""
    root, sending, next_header = _root_step(secret.root, primitives.agree(own_private, their_prekey))
    return Ratchet(
        root=root,
        own_private=own_private,
        sending=sending,
        receiving=None,
        sent=0,
        got=0,
        previous_sent=0,
        sending_header=secret.header,
        receiving_header=None,
        next_sending_header=next_header,
        next_receiving_header=secret.next_header,
    )


def start_responder(secret: Secret, prekey_private: bytes) -> Ratchet:
    """The state of the side that is written to."""
    return Ratchet(
        root=secret.root,
        own_private=prekey_private,
        sending=None,
        receiving=None,
        sent=0,
        got=0,
        previous_sent=0,
        sending_header=None,
        receiving_header=None,
        next_sending_header=secret.next_header,
        next_receiving_header=secret.header,
    )


def seal(state: Ratchet, plaintext: bytes, associated: bytes, header_nonce: bytes) -> tuple[Ratchet, bytes]:
    """The next state and the message: sealed header, then ciphertext."""
    if state.sending is None or state.sending_header is None:
        raise CannotOpen
    chain, message_key = _chain_step(state.sending)
    header = (
        primitives.agreement_public(state.own_private)
        + state.previous_sent.to_bytes(4, "big")
        + state.sent.to_bytes(4, "big")
    )
    sealed_header = header_nonce + primitives.encrypt(state.sending_header, header_nonce, header, b"")
    key, nonce = _message_key(message_key)
    ciphertext = primitives.encrypt(key, nonce, plaintext, primitives.framed(associated, sealed_header))
    return replace(state, sending=chain, sent=state.sent + 1), sealed_header + ciphertext


def opens(state: Ratchet, message: bytes) -> bool:
    """Whether the message's header belongs to this state; says nothing yet of its body."""
    return (
        _open_header(state.receiving_header, message) is not None
        or _open_header(state.next_receiving_header, message) is not None
        or any(_open_header(key, message) is not None for key in {kept.header_key for kept in state.skipped})
    )


def open_message(
    state: Ratchet, message: bytes, associated: bytes, entropy: Entropy
) -> tuple[Ratchet, bytes]:
    """The next state and the plaintext; `CannotOpen` leaves the caller with the state it had."""
    bound = primitives.framed(associated, message[:SEALED_HEADER_BYTES])
    ciphertext = message[SEALED_HEADER_BYTES:]
    found = _open_skipped(state, message, ciphertext, bound)
    if found is not None:
        return found
    header = _open_header(state.receiving_header, message)
    if header is None:
        header = _open_header(state.next_receiving_header, message)
        if header is None:
            raise CannotOpen
        state = _turn(_skip(state, header.previous), header.public, entropy.draw(32))
    state = _skip(state, header.number)
    if state.receiving is None or header.number != state.got:
        raise CannotOpen
    chain, message_key = _chain_step(state.receiving)
    key, nonce = _message_key(message_key)
    plaintext = primitives.decrypt(key, nonce, ciphertext, bound)
    return replace(state, receiving=chain, got=state.got + 1), plaintext


def _open_header(key: bytes | None, message: bytes) -> _Header | None:
    if key is None or len(message) < OVERHEAD:
        return None
    try:
        data = primitives.decrypt(key, message[:NONCE_BYTES], message[NONCE_BYTES:SEALED_HEADER_BYTES], b"")
    except CannotOpen:
        return None
    return _Header(data[:32], int.from_bytes(data[32:36], "big"), int.from_bytes(data[36:40], "big"))


def _open_skipped(
    state: Ratchet, message: bytes, ciphertext: bytes, bound: bytes
) -> tuple[Ratchet, bytes] | None:
    for header_key in dict.fromkeys(kept.header_key for kept in state.skipped):
        header = _open_header(header_key, message)
        if header is None:
            continue
        for kept in state.skipped:
            if kept.header_key == header_key and kept.number == header.number:
                key, nonce = _message_key(kept.message_key)
                plaintext = primitives.decrypt(key, nonce, ciphertext, bound)
                rest = tuple(other for other in state.skipped if other is not kept)
                return replace(state, skipped=rest), plaintext
    return None


def _skip(state: Ratchet, until: int) -> Ratchet:
    if state.receiving is None or state.receiving_header is None:
        return state
    if until - state.got > MAX_SKIP:
        raise CannotOpen
    chain, kept = state.receiving, list(state.skipped)
    for number in range(state.got, until):
        chain, message_key = _chain_step(chain)
        kept.append(Skipped(state.receiving_header, number, message_key))
    return replace(state, receiving=chain, got=max(state.got, until), skipped=tuple(kept[-MAX_STORED:]))


def _turn(state: Ratchet, their_public: bytes, fresh_private: bytes) -> Ratchet:
    root, receiving, next_receiving = _root_step(
        state.root, primitives.agree(state.own_private, their_public)
    )
    root, sending, next_sending = _root_step(root, primitives.agree(fresh_private, their_public))
    return replace(
        state,
        root=root,
        own_private=fresh_private,
        sending=sending,
        receiving=receiving,
        sent=0,
        got=0,
        previous_sent=state.sent,
        sending_header=state.next_sending_header,
        receiving_header=state.next_receiving_header,
        next_sending_header=next_sending,
        next_receiving_header=next_receiving,
    )
