"""The Double Ratchet with header encryption, XChaCha20-Poly1305 inside (A2ACP-243).

After Signal's published algorithm, in its variant with encrypted headers. That variant is why it is built
here: a relay must not see ratchet keys or counters, which would link packets to each other and tell their
order, and the `doubleratchet` package has no such mode.

Theory of operation
-------------------

What state there is. A `Ratchet` is one side's half of a session: a frozen value, kept by the caller. It
holds

- `root`: the one secret from which all that follows is derived, known to both sides;
- `own_private`: our present ratchet key; its public half travels in the header of all that we send;
- two chains, `sending` and `receiving`, each a secret that gives one message key a step, with the counters
  `sent`, `got` and `previous_sent` (the length that our chain before this one had);
- four header keys: the present one of each direction, and the next one of each, known a turn in advance;
- `skipped`: keys of messages that were passed over and may still come.

What moves it. There are two movements, one inside the other.

    step, one for each message:   chain -> MAC(chain, 2) = next chain
                                        -> MAC(chain, 1) = message key
                                           message key, header nonce -> key and nonce, used once
    turn, one for each change     root, DH(ours, theirs) -> HKDF -> next root, new chain, next header key
    of direction:

A *step* is all that happens while one side goes on talking. A *turn* happens when a message comes whose
header opens with the next receiving header key: that key came out of the root step that made the peer's
present chain and is used by nobody before the peer's next turn. The reader then does two root steps: one
with its present key, for the chain it receives on, and one with a fresh key, for the chain it will send on.
The next header keys become the present ones. Nothing in the open says that a turn took place; the reader
finds out by which key opens the header.

The two sides start apart. The initiator has a sending chain at once (its fresh key with the peer's signed
prekey) and nothing to receive on. The responder starts with its prekey as ratchet key and no chain at all;
the first message it opens is its first turn, and before that it cannot `seal`.

What can go wrong, and what holds then.

- *Late, lost, reordered.* The header tells the number in its chain and the length of the chain before. What
  lies between is stepped over and its keys are put into `skipped`, looked at first with every message. Only
  the peer can make us do so, since nobody else can seal a header; and not without end: `MAX_SKIP` at a
  time, `MAX_STORED` in all, of `MAX_CHAINS` chains, the oldest forgotten first, and those that are past
  their time with `aged`. What was forgotten cannot be opened and is asked for again, sealed anew, by gap
  recovery.
- *Altered or invented.* A header that no key opens changes nothing. A genuine header over an altered body
  would have moved the chain; as opening gives a new value or raises, the caller still has the state it had,
  and the honest message opens afterwards. So nobody on the way can burn keys.
- *Repeated.* The message key is gone with the first opening: the number lies before `got` and is not among
  the skipped.
- *Stolen.* Neither a step nor a turn can be undone, so a stolen state opens nothing earlier, save what
  waits in `skipped`, which is why that is bounded. A thief who only listens is shut out again: after our
  next turn from what we send, as that chain rests on a fresh private key, and with the peer's answer from
  what we receive.
- *Used twice.* A state that seals two different messages under one message key would give both away. The
  caller therefore writes the state after `seal` down together with the sealed bytes, before they reach a
  socket, and sends these very bytes when it repeats itself; and a backup never holds a ratchet. Against a
  folder or a machine that was set back to an earlier copy none of this helps, so the random nonce of the
  header goes into the key and the nonce of the body: the second message is sealed under another key. It
  cannot be opened by a reader who has had the first, and says so; but it tells nothing.
- *Counted out.* Counters have four bytes. More than four thousand million messages without an answer raise
  `OverflowError`, and that message is refused.

Why so. A header key serves a whole chain, so each header has a nonce of its own, drawn at random and sent;
what seals a body comes from its message key and that nonce, so no second one need travel. The header is
sealed without associated data and the body with the sealed header as part of its own: a header cannot be
moved to another body, and can be opened before anything is known of the body. `opens` asks only that, so that
a caller with several sessions picks the right one by a cheap look and treats a failure behind it as final.

Knows nothing of identities, signatures or padding: `seal.session` puts those around it. Randomness is an
argument, and so is the time: a key that was skipped `JUST_NOW` gets its moment from the caller, by `aged`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.seal import primitives
from tacit.seal.limits import MAX_CHAINS, MAX_SKIP, MAX_STORED, SKIPPED_KEPT
from tacit.seal.primitives import NONCE_BYTES, TAG_BYTES, CannotOpen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.base.ports import Entropy
    from tacit.seal.x3dh import Secret

JUST_NOW: Final = 0
"""In place of a moment, until the caller has told it."""
_HEADER_BYTES: Final = 40
SEALED_HEADER_BYTES: Final = NONCE_BYTES + _HEADER_BYTES + TAG_BYTES
OVERHEAD: Final = SEALED_HEADER_BYTES + TAG_BYTES


@dataclass(frozen=True, slots=True, repr=False)
class Skipped:
    """The key of a message that has not come yet."""

    header_key: bytes
    number: int
    message_key: bytes
    at: int = JUST_NOW


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


def _message_key(key: bytes, header_nonce: bytes) -> tuple[bytes, bytes]:
    output = primitives.hkdf(
        key, salt=header_nonce, info=b"tacit-ratchet-message-v2", length=32 + NONCE_BYTES
    )
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
    key, nonce = _message_key(message_key, header_nonce)
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
        # What is still missing of the chain that ends here is kept first: after the turn nothing leads back.
        state = _turn(_skip(state, header.previous), header.public, entropy.draw(32))
    state = _skip(state, header.number)
    # A number that was had before and is not among the skipped: a repeat.
    if state.receiving is None or header.number != state.got:
        raise CannotOpen
    chain, message_key = _chain_step(state.receiving)
    key, nonce = _message_key(message_key, message[:NONCE_BYTES])
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
        # A kept header key may be the present one: its other numbers are no business of this function.
        for kept in state.skipped:
            if kept.header_key == header_key and kept.number == header.number:
                key, nonce = _message_key(kept.message_key, message[:NONCE_BYTES])
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
    return replace(state, receiving=chain, got=max(state.got, until), skipped=newest(kept))


def newest(
    kept: Sequence[Skipped], *, keys: int = MAX_STORED, chains: int = MAX_CHAINS
) -> tuple[Skipped, ...]:
    """The last of some skipped keys: no more than `keys`, of no more than `chains` chains."""
    kept = kept[-keys:] if keys else ()
    order = list(dict.fromkeys(one.header_key for one in reversed(kept)))
    if len(order) <= chains:
        return tuple(kept)
    allowed = set(order[:chains])
    return tuple(one for one in kept if one.header_key in allowed)


def aged(state: Ratchet, now: Moment, confirmed: ConfirmedTime) -> Ratchet:
    """The state at a moment: what was skipped just now bears it, what is too old by `confirmed` is gone."""
    if not state.skipped:
        return state
    stamped = (one if one.at != JUST_NOW else replace(one, at=int(now)) for one in state.skipped)
    return replace(state, skipped=tuple(one for one in stamped if confirmed - one.at < SKIPPED_KEPT))


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
