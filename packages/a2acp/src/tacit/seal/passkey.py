"""Passkeys: WebAuthn registration and login, user verification required (A2ACP-011, A2ACP-014).

The two ceremonies of the W3C's Web Authentication, level 3, sections 7.1 and 7.2, for what this site asks
for: no attestation, and keys of Ed25519, P-256 or RSA with PKCS #1. An attestation that comes all the same is
not looked at: without a list of makers it proves nothing that its absence would not. Signatures are checked
by `cryptography`. Challenges and stored credentials are values of the caller; only public keys ever reach
this side. Every step that fails has the same answer, so that nobody learns which.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from tacit.base.errors import Refused
from tacit.seal import cbor
from tacit.seal.verifier import checker, is_weak_point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TIMEOUT: Final = 60_000
"""Milliseconds that a person has for it, as a hint to the browser."""
LONGEST_ID: Final = 1023
EDDSA, ES256, RS256 = -8, -7, -257
RSA_BITS: Final = range(2048, 4097)
_PRESENT, _VERIFIED, _MAY_BE_COPIED, _IS_COPIED, _HAS_KEY, _HAS_MORE = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
"""Flags of an authenticator's data."""

Response = TypeVar("Response")
_SHA256: Final = hashes.SHA256()
_ECDSA: Final = ec.ECDSA(_SHA256)
_BAD: Final = (ValueError, msgspec.DecodeError, RecursionError)
"""All that reading a stranger's answer raises."""


@dataclass(frozen=True, slots=True)
class Site:
    """Whom a passkey is for: the relay's host name, and the origins its page is served from."""

    rp_id: str
    origins: tuple[str, ...]
    name: str = "Tacit relay"


@dataclass(frozen=True, slots=True)
class PasskeyCredential:
    """The public half of a passkey."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


class _Creation(msgspec.Struct):
    client_data: str = msgspec.field(name="clientDataJSON")
    attestation: str = msgspec.field(name="attestationObject")


class _Assertion(msgspec.Struct):
    client_data: str = msgspec.field(name="clientDataJSON")
    data: str = msgspec.field(name="authenticatorData")
    signature: str


class _CeremonyAnswer(msgspec.Struct, Generic[Response]):
    id: str
    raw_id: str = msgspec.field(name="rawId")
    type: str
    response: Response


class _ClientData(msgspec.Struct):
    type: str
    challenge: str
    origin: str


class Passkeys:
    """The two ceremonies for one site."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def creation_options(
        self, *, username: str, user_id: bytes, challenge: bytes, exclude: Sequence[bytes] = ()
    ) -> dict[str, Any]:
        """What the browser needs to make a passkey."""
        return {
            "rp": {"name": self._site.name, "id": self._site.rp_id},
            "user": {"id": _text(user_id), "name": username, "displayName": username},
            "challenge": _text(challenge),
            "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in (EDDSA, ES256, RS256)],
            "timeout": TIMEOUT,
            "excludeCredentials": [{"id": _text(known), "type": "public-key"} for known in exclude],
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": True,
                "userVerification": "required",
            },
            "attestation": "none",
        }

    def created(self, response: Mapping[str, Any], challenge: bytes) -> PasskeyCredential:
        """The new passkey, or `Refused`."""
        try:
            return self._creation(response, challenge)
        except _BAD:
            raise _refused() from None

    def _creation(self, response: Mapping[str, Any], challenge: bytes) -> PasskeyCredential:
        answer = msgspec.convert(response, _CeremonyAnswer[_Creation])
        credential_id = _id_of(answer)
        self._check_client_data(_bytes(answer.response.client_data), "webauthn.create", challenge)
        made = self._authenticator(_attested(_bytes(answer.response.attestation)))
        if not 1 <= len(made.credential_id) <= LONGEST_ID or made.credential_id != credential_id:
            raise ValueError("no credential, or another one")
        _verifier(made.public_key)  # a key that could verify nothing is not kept
        return made

    def request_options(self, challenge: bytes) -> dict[str, Any]:
        """What the browser needs to log in; it names no credential, so it tells nobody who is registered."""
        return {
            "challenge": _text(challenge),
            "timeout": TIMEOUT,
            "rpId": self._site.rp_id,
            "allowCredentials": [],
            "userVerification": "required",
        }

    def asserted(self, response: Mapping[str, Any], challenge: bytes, known: PasskeyCredential) -> int:
        """The new signature counter of a valid login, or `Refused`."""
        try:
            return self._assertion(response, challenge, known)
        except _BAD:
            raise _refused() from None

    def _assertion(self, response: Mapping[str, Any], challenge: bytes, known: PasskeyCredential) -> int:
        answer = msgspec.convert(response, _CeremonyAnswer[_Assertion])
        if _id_of(answer) != known.credential_id:
            raise ValueError("another credential")
        client_data = _bytes(answer.response.client_data)
        self._check_client_data(client_data, "webauthn.get", challenge)
        data = _bytes(answer.response.data)
        count = self._authenticator(data).sign_count
        if (count or known.sign_count) and count <= known.sign_count:
            raise ValueError("a counter that did not grow: a copy of the key may be in use")
        signed = data + sha256(client_data).digest()
        if not _verifier(known.public_key)(signed, _bytes(answer.response.signature)):
            raise ValueError("not its signature")
        return count

    def _check_client_data(self, raw: bytes, kind: str, challenge: bytes) -> None:
        """Did the browser do this, for this challenge, on a page of this site?"""
        data = msgspec.json.decode(raw, type=_ClientData)
        if data.type != kind or data.challenge != _text(challenge) or data.origin not in self._site.origins:
            raise ValueError("made for something else")

    def _authenticator(self, data: bytes) -> PasskeyCredential:
        """Its counter and, of a new passkey, id and key; for this site, and with its user verified."""
        if len(data) < 37 or data[:32] != sha256(self._site.rp_id.encode()).digest():
            raise ValueError("made for another site")
        flags, count, at = data[32], int.from_bytes(data[33:37], "big"), 37
        if (
            not flags & _PRESENT
            or not flags & _VERIFIED
            or (flags & _IS_COPIED and not flags & _MAY_BE_COPIED)
        ):
            raise ValueError("nobody was asked")
        credential_id, public_key = b"", b""
        if flags & _HAS_KEY:
            start = 55 + int.from_bytes(data[53:55], "big")  # behind the maker's id and the length
            credential_id = data[55:start]
            _, at = cbor.read(data, start)
            public_key = data[start:at]
        if flags & _HAS_MORE:
            _, at = cbor.read(data, at)
        if at != len(data):
            raise ValueError("more than there is to say")
        return PasskeyCredential(credential_id, public_key, count)


def _id_of(answer: _CeremonyAnswer[Any]) -> bytes:
    if answer.type != "public-key" or answer.id != answer.raw_id:
        raise ValueError("no answer of a passkey")
    return _bytes(answer.id)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    """The bytes of unpadded base64url, in its one spelling."""
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _text(data) != text:
        raise ValueError("not base64url")
    return data


def _attested(attestation: bytes) -> bytes:
    """The authenticator's data in an attestation; what vouches for it is not looked at."""
    match cbor.whole_map(attestation):
        case {"authData": bytes(data)}:
            return data
        case _:
            raise ValueError("no attestation")


def _verifier(cose: bytes) -> Callable[[bytes, bytes], bool]:
    """A check of message and signature for a key as COSE writes it; `ValueError` for any other key."""
    match cbor.whole_map(cose):
        case {1: 1, 3: -8, -1: 6, -2: bytes(x)} if len(x) == 32 and not is_weak_point(x):
            return checker(x)
        case {1: 2, 3: -7, -1: 1, -2: bytes(x), -3: bytes(y)} if len(x) == len(y) == 32:
            point = ec.EllipticCurvePublicNumbers(_number(x), _number(y), ec.SECP256R1()).public_key()
            return _holds(lambda message, signature: point.verify(signature, message, _ECDSA))
        case {1: 3, 3: -257, -1: bytes(n), -2: bytes(e)} if _is_modulus(_number(n)) and len(e) <= 4:
            modulus = rsa.RSAPublicNumbers(_number(e), _number(n)).public_key()
            return _holds(
                lambda message, signature: modulus.verify(signature, message, padding.PKCS1v15(), _SHA256)
            )
        case _:
            raise ValueError("a key of another kind")


def _is_modulus(n: int) -> bool:
    return n.bit_length() in RSA_BITS and n % 2 == 1


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _holds(verify: Callable[[bytes, bytes], None]) -> Callable[[bytes, bytes], bool]:
    def check(message: bytes, signature: bytes) -> bool:
        try:
            verify(message, signature)
        except InvalidSignature:
            return False
        return True

    return check


def _refused() -> Refused:
    return Refused("passkey_refused", "the passkey was not accepted", row="A2ACP-011")
