"""A peer that shares no line with `tacit.seal`: X3DH by the `x3dh` package, ratchet by `doubleratchet`.

The packages know nothing of encrypted headers, separate agreement keys or our outer form. What is added here is
written from Signal's papers and our own page alone, with OpenSSL (`cryptography`) in place of libsodium: header
keys come out of the very root steps that the package makes, HChaCha20 is spelled out. Randomness is an argument,
so a conversation with this peer repeats and can be written down as a vector.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import x3dh
import xeddsa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from doubleratchet import AEAD, AuthenticationFailedException, DoubleRatchet, EncryptedMessage, Header
from doubleratchet.recommended import (
    HashFunction,
    diffie_hellman_ratchet_curve25519,
    kdf_hkdf,
    kdf_separate_hmacs,
)
from x3dh import base_state
from x3dh.models import BaseStateModel, IdentityKeyPairModel, SignedPreKeyPairModel
from x3dh.types import SecretType

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tests.post_support import Repeatable

NONCE = 24
ONE_TIME, LAST_RESORT = 1, 2
_THRESHOLD = 1_000


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The packages are asynchronous in form only."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the package waits for something")


def framed(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def dh(private: bytes, public: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))


def dh_public(private: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


# XChaCha20-Poly1305: HChaCha20 for a key of its own, then OpenSSL's ChaCha20-Poly1305.


def _quarter(x: list[int], a: int, b: int, c: int, d: int) -> None:
    for one, other, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[one] = (x[one] + x[other]) & 0xFFFFFFFF
        mixed = x[third] ^ x[one]
        x[third] = ((mixed << turn) | (mixed >> (32 - turn))) & 0xFFFFFFFF


def _hchacha20(key: bytes, nonce: bytes) -> bytes:
    x = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), *struct.unpack("<4I", nonce)]
    for _ in range(10):
        for i in range(4):
            _quarter(x, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            _quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<8I", *x[:4], *x[12:])


def _aead(key: bytes, nonce: bytes) -> tuple[ChaCha20Poly1305, bytes]:
    return ChaCha20Poly1305(_hchacha20(key, nonce[:16])), bytes(4) + nonce[16:]


def encrypt(key: bytes, nonce: bytes, plain: bytes, associated: bytes) -> bytes:
    cipher, short = _aead(key, nonce)
    return cipher.encrypt(short, plain, associated)


def decrypt(key: bytes, nonce: bytes, sealed: bytes, associated: bytes) -> bytes:
    cipher, short = _aead(key, nonce)
    return cipher.decrypt(short, sealed, associated)


# X3DH.


class _Agreement(x3dh.BaseState):
    @staticmethod
    def _encode_public_key(key_format: x3dh.IdentityKeyFormat, pub: bytes) -> bytes:
        return pub


@dataclass
class Keys:
    """One side's private keys, as the package's state and as bytes."""

    signing: bytes
    agreement: bytes
    signed: bytes
    singles: dict[tuple[int, int], bytes]

    @property
    def signing_public(self) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self.signing).public_key().public_bytes_raw()

    @property
    def agreement_public(self) -> bytes:
        return dh_public(self.agreement)

    def state(self, info: bytes) -> _Agreement:
        priv = xeddsa.priv_force_sign(self.agreement, False)
        return _Agreement.from_model(
            BaseStateModel(
                identity_key=IdentityKeyPairModel(secret=self.agreement, secret_type=SecretType.PRIV),
                signed_pre_key=SignedPreKeyPairModel(
                    priv=self.signed, sig=xeddsa.ed25519_priv_sign(priv, dh_public(self.signed)), timestamp=0
                ),
                old_signed_pre_key=None,
                pre_keys=frozenset(self.singles.values()),
            ),
            x3dh.IdentityKeyFormat.CURVE_25519,
            x3dh.HashFunction.SHA_256,
            info,
        )


class _LongSecret:
    """The package asks for 32 bytes; the variant with encrypted headers needs 96 of the same output."""

    def __init__(self) -> None:
        self.rest = b""

    async def hkdf_derive(self, hash_function, length, salt, info, key_material):
        assert length == 32
        output = hkdf(key_material, salt, info, 96)
        self.rest = output[32:]
        return output[:32]


def agreed(task, draws: Repeatable | None = None):
    """What the package's key agreement gives, and the two header keys behind it."""
    long_secret, drawn = _LongSecret(), []

    def token_bytes(count: int) -> bytes:
        assert draws is not None
        drawn.append(draws.draw(count))
        return drawn[-1]

    before = base_state.CryptoProviderImpl, base_state.secrets
    base_state.CryptoProviderImpl = long_secret
    base_state.secrets = SimpleNamespace(token_bytes=token_bytes, choice=lambda among: among[0])
    try:
        found = at_once(task())
    finally:
        base_state.CryptoProviderImpl, base_state.secrets = before
    return found, long_secret.rest[:32], long_secret.rest[32:]


def context(initiator: tuple[bytes, bytes], responder: tuple[bytes, bytes]) -> bytes:
    return framed(b"tacit-x3dh-v1", framed(*initiator, *responder))


# Double Ratchet.


class _RootKdf(kdf_hkdf.KDF):
    made: list[bytes]

    @staticmethod
    def _get_hash_function():
        return HashFunction.SHA_256

    @staticmethod
    def _get_info():
        return b"tacit-ratchet-root-v1"

    @classmethod
    async def derive(cls, key, data, length):
        output = await super().derive(key, data, length + 32)
        cls.made.append(output[length:])
        return output[:length]


class _ChainKdf(kdf_separate_hmacs.KDF):
    @staticmethod
    def _get_hash_function():
        return HashFunction.SHA_256


class _Aead(AEAD):
    """Key and nonce of a body come from the message key and the nonce of the sealed header."""

    @staticmethod
    def _of(key: bytes, associated: bytes) -> tuple[bytes, bytes]:
        length = struct.unpack(">I", associated[:4])[0]
        header = associated[4 + length + 4 :]
        output = hkdf(key, header[:NONCE], b"tacit-ratchet-message-v2", 32 + NONCE)
        return output[:32], output[32:]

    @staticmethod
    async def encrypt(plaintext, key, associated_data):
        return encrypt(*_Aead._of(key, associated_data), plaintext, associated_data)

    @staticmethod
    async def decrypt(ciphertext, key, associated_data):
        try:
            return decrypt(*_Aead._of(key, associated_data), ciphertext, associated_data)
        except InvalidTag:
            raise AuthenticationFailedException from None


def _header_bytes(header: Header) -> bytes:
    lengths = struct.pack(">II", header.previous_sending_chain_length, header.sending_chain_length)
    return header.ratchet_pub + lengths


class _HeaderSealed(DoubleRatchet):
    """`associated_data` is the caller's with header key and nonce; what is bound is the sealed header."""

    @staticmethod
    def _build_associated_data(associated_data, header):
        associated, key, nonce = associated_data
        return framed(associated, nonce + encrypt(key, nonce, _header_bytes(header), b""))


class CannotRead(Exception):
    pass


class Ratchet:
    """The package's ratchet, with header keys kept around it as section 4 of the paper says."""

    def __init__(self, draws: Repeatable, header: bytes, next_header: bytes, root: bytes) -> None:
        made = self._made = []
        self._draws = draws
        self._root_kdf = type("_RootKdf", (_RootKdf,), {"made": made})
        self._dh = type(
            "_DH",
            (diffie_hellman_ratchet_curve25519.DiffieHellmanRatchet,),
            {"_generate_priv": staticmethod(lambda: draws.draw(32))},
        )
        self._secret = (root, header, next_header)
        self._ratchet: DoubleRatchet | None = None
        self._responder_key = b""
        self._old: list[bytes] = []
        self.sending = self.receiving = None
        self.next_sending = self.next_receiving = b""

    def _parts(self) -> dict[str, Any]:
        return {
            "diffie_hellman_ratchet_class": self._dh, "root_chain_kdf": self._root_kdf,
            "message_chain_kdf": _ChainKdf, "message_chain_constant": b"\x02\x01",
            "dos_protection_threshold": _THRESHOLD, "max_num_skipped_message_keys": 2 * _THRESHOLD, "aead": _Aead,
        }  # fmt: skip

    def as_initiator(self, their_prekey: bytes) -> Ratchet:
        root, self.sending, self.next_receiving = self._secret
        self._first = lambda message, associated: at_once(
            _HeaderSealed.encrypt_initial_message(
                **self._parts(),
                shared_secret=root,
                recipient_ratchet_pub=their_prekey,
                message=message,
                associated_data=associated,
            )
        )
        return self

    def as_responder(self, prekey_private: bytes) -> Ratchet:
        _, self.next_receiving, self.next_sending = self._secret
        self._responder_key = prekey_private
        return self

    def seal(self, plain: bytes, associated: bytes) -> bytes:
        nonce = self._draws.draw(NONCE)
        bound = (associated, self.sending, nonce)
        if self._ratchet is None:
            self._ratchet, message = self._first(plain, bound)
            self.next_sending = self._made[-1]
        else:
            message = at_once(self._ratchet.encrypt_message(plain, bound))
        return nonce + encrypt(self.sending, nonce, _header_bytes(message.header), b"") + message.ciphertext

    def _header(self, message: bytes) -> tuple[Header, bytes, bool] | None:
        nonce, sealed = message[:NONCE], message[NONCE : NONCE + 56]
        for key in (*self._old, self.receiving, self.next_receiving):
            if key is None:
                continue
            try:
                plain = decrypt(key, nonce, sealed, b"")
            except InvalidTag:
                continue
            header = Header(plain[:32], *struct.unpack(">II", plain[32:]))
            return header, key, key == self.next_receiving
        return None

    def reads(self, message: bytes) -> bool:
        return self._header(message) is not None

    def open(self, message: bytes, associated: bytes) -> bytes:
        found = self._header(message)
        if found is None:
            raise CannotRead
        header, key, turns = found
        sealed = EncryptedMessage(header, message[NONCE + 56 :])
        bound = (associated, key, message[:NONCE])
        if self._ratchet is None:
            self._ratchet, plain = at_once(
                _HeaderSealed.decrypt_initial_message(
                    **self._parts(),
                    shared_secret=self._secret[0],
                    own_ratchet_priv=self._responder_key,
                    message=sealed,
                    associated_data=bound,
                )
            )
        else:
            plain = at_once(self._ratchet.decrypt_message(sealed, bound))
        if turns:
            self._old += [self.receiving] if self.receiving else []
            self.sending, self.receiving = self.next_sending, self.next_receiving
            self.next_receiving, self.next_sending = self._made[-2], self._made[-1]
        return plain


# Whole bodies.


@dataclass
class Bound:
    """What a body is bound to."""

    sender: str
    recipient: str
    packet_id: str
    header: bytes

    def encode(self) -> bytes:
        names = (self.sender.encode(), self.recipient.encode(), self.packet_id.encode())
        return framed(b"tacit-seal-v1", *names, self.header)


@dataclass
class Session:
    ratchet: Ratchet
    ephemeral: bytes
    opening: bytes | None


@dataclass
class ReferencePeer:
    """Seals and opens whole bodies, with sessions newest first."""

    keys: Keys
    other: tuple[bytes, bytes]
    """The other side's signing and agreement key."""
    draws: Repeatable
    sessions: list[Session] = field(default_factory=list)

    def begin(self, signed: tuple[int, bytes, bytes], single: tuple[int, int, bytes]) -> None:
        """A session towards the other's prekeys; the signed one comes with the package's own signature."""
        info = context((self.keys.signing_public, self.keys.agreement_public), self.other)
        bundle = x3dh.Bundle(
            identity_key=self.other[1],
            signed_pre_key=signed[1],
            signed_pre_key_sig=signed[2],
            pre_keys=frozenset({single[2]}),
        )
        state = self.keys.state(info)
        (root, _, header), key, next_key = agreed(lambda: state.get_shared_secret_active(bundle), self.draws)
        assert header.pre_key == single[2]
        opening = (
            self.keys.agreement_public + header.ephemeral_key + signed[0].to_bytes(8, "big")
            + bytes([single[0]]) + single[1].to_bytes(8, "big")
        )  # fmt: skip
        started = Ratchet(self.draws, key, next_key, root).as_initiator(signed[1])
        self.sessions.insert(0, Session(started, header.ephemeral_key, opening))

    def seal(self, payload: bytes, bound: Bound, length: int, session: int = 0) -> bytes:
        used = self.sessions[session]
        signed = b"a2acp-inner-v1\n" + bound.encode() + payload
        content = Ed25519PrivateKey.from_private_bytes(self.keys.signing).sign(signed) + payload + b"\x80"
        plain = content + bytes(length - len(content))
        message = used.ratchet.seal(plain, bound.encode())
        if used.opening is not None:
            message = self._box(b"\x01" + used.opening + message, bound)
        return b"\x01" + message

    def open(self, body: bytes, bound: Bound) -> bytes:
        assert body[:1] == b"\x01"
        message = body[1:]
        for session in self.sessions:
            if session.ratchet.reads(message):
                plain = session.ratchet.open(message, bound.encode())
                session.opening = None
                self._first_is(session)
                return self._checked(plain, bound)
        inner = self._unbox(message, bound)
        assert inner[:1] == b"\x01"
        return self._open_first(inner[1:], bound)

    def _open_first(self, inner: bytes, bound: Bound) -> bytes:
        opening, message = inner[:81], inner[81:]
        known = next((one for one in self.sessions if one.ephemeral == opening[32:64]), None)
        if known is None:
            known = self._respond(opening)
            self._first_is(known)
        return self._checked(known.ratchet.open(message, bound.encode()), bound)

    def _respond(self, opening: bytes) -> Session:
        assert opening[:32] == self.other[1]
        single = self.keys.singles[opening[72], int.from_bytes(opening[73:], "big")]
        info = context(self.other, (self.keys.signing_public, self.keys.agreement_public))
        state = self.keys.state(info)
        header = x3dh.Header(
            identity_key=opening[:32],
            ephemeral_key=opening[32:64],
            signed_pre_key=dh_public(self.keys.signed),
            pre_key=dh_public(single),
        )
        (root, _, used), key, next_key = agreed(lambda: state.get_shared_secret_passive(header))
        return Session(Ratchet(self.draws, key, next_key, root).as_responder(used.priv), opening[32:64], None)

    def _first_is(self, session: Session) -> None:
        self.sessions = [session, *(one for one in self.sessions if one is not session)]

    def _checked(self, plain: bytes, bound: Bound) -> bytes:
        content = plain.rstrip(b"\0")
        assert content.endswith(b"\x80")
        signature, payload = content[:64], content[64:-1]
        signed = b"a2acp-inner-v1\n" + bound.encode() + payload
        Ed25519PublicKey.from_public_bytes(self.other[0]).verify(signature, signed)
        return payload

    def _box_key(self, shared: bytes, ephemeral: bytes, recipient: bytes, bound: Bound) -> bytes:
        return hkdf(shared, bytes(32), framed(b"tacit-box-v1", ephemeral, recipient, bound.encode()), 32)

    def _box(self, content: bytes, bound: Bound) -> bytes:
        private, nonce = self.draws.draw(32), self.draws.draw(NONCE)
        ephemeral = dh_public(private)
        key = self._box_key(dh(private, self.other[1]), ephemeral, self.other[1], bound)
        return ephemeral + nonce + encrypt(key, nonce, content, bound.encode())

    def _unbox(self, message: bytes, bound: Bound) -> bytes:
        ephemeral, nonce = message[:32], message[32 : 32 + NONCE]
        key = self._box_key(dh(self.keys.agreement, ephemeral), ephemeral, self.keys.agreement_public, bound)
        return decrypt(key, nonce, message[32 + NONCE :], bound.encode())
