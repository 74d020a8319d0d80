"""Passkeys: the W3C's test vectors, another implementation beside ours, and every step of the ceremonies in turn."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path

import cbor2
import pytest
import webauthn
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from hypothesis import given
from hypothesis import strategies as st
from webauthn.helpers import structs
from webauthn.helpers.exceptions import WebAuthnException

from tacit.base.errors import Refused
from tacit.seal import cbor
from tacit.seal.passkey import PasskeyCredential, Passkeys, Site
from tacit.wire.encoding import b64, unb64

RP, ORIGIN = "example.org", "https://example.org"
VECTORS = json.loads((Path(__file__).parent / "passkey_vectors.json").read_text())["vectors"]
OURS = Passkeys(Site(RP, (ORIGIN, "https://www.example.org")))
CHALLENGE = bytes(range(32))
RSA_KEY = rsa.generate_private_key(65537, 2048)


def answer(credential_id: bytes, **response: bytes) -> dict:
    id_ = b64(credential_id)
    sent = {name: b64(value) for name, value in response.items()}
    return {"id": id_, "rawId": id_, "type": "public-key", "response": sent}


def ours(call, *given):
    try:
        return call(*given)
    except Refused:
        return None


def theirs_created(response: dict, challenge: bytes) -> PasskeyCredential | None:
    try:
        made = webauthn.verify_registration_response(
            credential=response, expected_challenge=challenge, expected_rp_id=RP, expected_origin=[ORIGIN],
            require_user_verification=True,
        )  # fmt: skip
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return PasskeyCredential(made.credential_id, made.credential_public_key, made.sign_count)


def theirs_asserted(response: dict, challenge: bytes, known: PasskeyCredential) -> int | None:
    try:
        return webauthn.verify_authentication_response(
            credential=response, expected_challenge=challenge, expected_rp_id=RP, expected_origin=[ORIGIN],
            credential_public_key=known.public_key, credential_current_sign_count=known.sign_count,
            require_user_verification=True,
        ).new_sign_count  # fmt: skip
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None


class Key:
    """A key of one kind, and what an authenticator does with it."""

    def __init__(self, kind: str) -> None:
        self.id = hashlib.sha256(kind.encode()).digest()
        match kind:
            case "EdDSA":
                key = ed25519.Ed25519PrivateKey.generate()
                self.cose = {1: 1, 3: -8, -1: 6, -2: key.public_key().public_bytes_raw()}
                self.sign = key.sign
            case "ES256":
                curve = ec.generate_private_key(ec.SECP256R1())
                at = curve.public_key().public_numbers()
                self.cose = {1: 2, 3: -7, -1: 1, -2: at.x.to_bytes(32, "big"), -3: at.y.to_bytes(32, "big")}
                self.sign = lambda message: curve.sign(message, ec.ECDSA(hashes.SHA256()))
            case _:
                n = RSA_KEY.public_key().public_numbers().n
                self.cose = {1: 3, 3: -257, -1: n.to_bytes(256, "big"), -2: b"\x01\x00\x01"}
                self.sign = lambda message: RSA_KEY.sign(message, padding.PKCS1v15(), hashes.SHA256())

    def data(self, *, flags=0x45, count=1, cose=None, id_=None, more=b"", rp=RP) -> bytes:
        head = hashlib.sha256(rp.encode()).digest() + bytes([flags]) + count.to_bytes(4, "big")
        if not flags & 0x40:
            return head + more
        made = self.id if id_ is None else id_
        return head + bytes(16) + len(made).to_bytes(2, "big") + made + cbor2.dumps(cose or self.cose) + more

    def creation(self, *, client=None, attestation=None, **data) -> dict:
        given = {"fmt": "none", "attStmt": {}, "authData": self.data(**data)} | (attestation or {})
        return answer(
            self.id,
            clientDataJSON=client_data("webauthn.create", **(client or {})),
            attestationObject=cbor2.dumps(given),
        )

    def assertion(self, *, client=None, **data) -> dict:
        client, sent = client_data("webauthn.get", **(client or {})), self.data(**{"flags": 0x05, **data})
        signature = self.sign(sent + hashlib.sha256(client).digest())
        return answer(self.id, clientDataJSON=client, authenticatorData=sent, signature=signature)

    @property
    def known(self) -> PasskeyCredential:
        return PasskeyCredential(self.id, cbor2.dumps(self.cose), 0)


def client_data(kind: str, **other) -> bytes:
    data = {"type": kind, "challenge": b64(CHALLENGE), "origin": ORIGIN, "crossOrigin": False, **other}
    return json.dumps(data).encode()


KINDS = ("EdDSA", "ES256", "RS256")
KEYS = {kind: Key(kind) for kind in KINDS}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
@pytest.mark.spec("A2ACP-011")
def test_of_the_specifications_vectors_those_of_a_verified_user_are_taken_as_the_other_library_takes_them(
    vector,
):
    made = {name: bytes.fromhex(value) for name, value in vector["creation"].items()}
    used = {name: bytes.fromhex(value) for name, value in vector["assertion"].items()}
    id_, challenge = made.pop("credential_id"), made.pop("challenge")
    response, again = answer(id_, **made), used.pop("challenge")
    authenticator = cbor2.loads(made["attestationObject"])["authData"]
    is_verified = bool(authenticator[32] & 0x04)
    is_ours = not vector["name"].endswith(("es384", "es512", "ed448"))
    created = ours(OURS.created, response, challenge)
    assert (created is not None) is (is_verified and is_ours)
    if created is None:
        assert theirs_created(response, challenge) is None
        _, end = cbor.read(authenticator, 55 + len(id_))
        created = PasskeyCredential(id_, authenticator[55 + len(id_) : end], 0)
    assert created.credential_id == id_
    login = answer(id_, **used)
    is_verified = bool(used["authenticatorData"][32] & 0x04)
    counted = ours(OURS.asserted, login, again, created)
    assert (counted is not None) is (is_verified and is_ours)
    assert counted == theirs_asserted(login, again, created) or not is_ours


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.spec("A2ACP-011", "A2ACP-014")
def test_a_passkey_is_made_and_used_as_the_other_library_has_it(kind):
    key = KEYS[kind]
    response = key.creation()
    created = OURS.created(response, CHALLENGE)
    assert created == theirs_created(response, CHALLENGE)
    login = key.assertion(count=7)
    assert OURS.asserted(login, CHALLENGE, created) == theirs_asserted(login, CHALLENGE, created) == 7


def test_the_browser_is_asked_the_same_as_by_the_other_library():
    made = webauthn.generate_registration_options(
        rp_id=RP, rp_name="Tacit relay", user_name="ann", user_id=b"id", challenge=CHALLENGE,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=b"other")],
    )  # fmt: skip
    options = OURS.creation_options(username="ann", user_id=b"id", challenge=CHALLENGE, exclude=[b"other"])
    assert options == json.loads(webauthn.options_to_json(made))
    asked = webauthn.generate_authentication_options(
        rp_id=RP, challenge=CHALLENGE, user_verification=structs.UserVerificationRequirement.REQUIRED
    )
    assert OURS.request_options(CHALLENGE) == json.loads(webauthn.options_to_json(asked))


WRONG = {
    "another challenge": {"client": {"challenge": b64(bytes(32))}},
    "another page": {"client": {"origin": "https://example.org.evil.test"}},
    "a page of another scheme": {"client": {"origin": "http://example.org"}},
    "another site": {"rp": "example.com"},
    "nobody present": {"flags": 0x04},
    "nobody verified": {"flags": 0x01},
    "a copy that cannot be": {"flags": 0x15},
    "more than there is to say": {"more": b"\x00"},
    "extensions that are missing": {"flags": 0x85},
}
"""What neither ceremony takes."""


@pytest.mark.parametrize(
    "change",
    [
        *({**change, "flags": change.get("flags", 0x05) | 0x40} for change in WRONG.values()),
        {"client": {"type": "webauthn.get"}},
        {"flags": 0x05},
    ],
    ids=[*WRONG, "the other ceremony", "no key"],
)
@pytest.mark.spec("A2ACP-011")
def test_a_creation_that_is_not_whole_is_refused(change):
    response = KEYS["ES256"].creation(**change)
    assert ours(OURS.created, response, CHALLENGE) is None
    assert theirs_created(response, CHALLENGE) is None


@pytest.mark.parametrize("id_", [b"", b"other", bytes(1024)], ids=["none", "another", "too long"])
@pytest.mark.spec("A2ACP-011")
def test_a_creation_has_the_id_that_it_is_sent_with(id_):
    assert ours(OURS.created, KEYS["ES256"].creation(id_=id_), CHALLENGE) is None


@pytest.mark.parametrize(
    "change",
    [*WRONG.values(), {"client": {"type": "webauthn.create"}}],
    ids=[*WRONG, "the other ceremony"],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.spec("A2ACP-014")
def test_a_login_that_is_not_whole_is_refused(kind, change):
    key = KEYS[kind]
    response = key.assertion(**change)
    assert ours(OURS.asserted, response, CHALLENGE, key.known) is None
    assert theirs_asserted(response, CHALLENGE, key.known) is None


@pytest.mark.parametrize(("kept", "sent"), [(5, 5), (5, 4), (5, 0), (2**32 - 1, 1)])
@pytest.mark.spec("A2ACP-014")
def test_a_counter_that_did_not_grow_is_refused(kept, sent):
    key = KEYS["ES256"]
    known = PasskeyCredential(key.id, cbor2.dumps(key.cose), kept)
    response = key.assertion(count=sent)
    assert ours(OURS.asserted, response, CHALLENGE, known) is None
    assert theirs_asserted(response, CHALLENGE, known) is None


def test_a_passkey_that_counts_nothing_is_taken_each_time():
    key = KEYS["EdDSA"]
    assert OURS.asserted(key.assertion(count=0), CHALLENGE, key.known) == 0


def test_a_login_names_the_passkey_that_signed_it():
    response = KEYS["ES256"].assertion()
    other = PasskeyCredential(b"other", KEYS["ES256"].known.public_key, 0)
    assert ours(OURS.asserted, response, CHALLENGE, other) is None
    for wrong in ({"type": "password"}, {"rawId": b64(b"other")}, {"id": b64(b"other")}):
        assert ours(OURS.asserted, {**response, **wrong}, CHALLENGE, KEYS["ES256"].known) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.spec("A2ACP-014")
def test_a_login_with_the_key_of_another_is_refused(kind):
    key = KEYS[kind]
    for other in KINDS:
        if other != kind:
            known = PasskeyCredential(key.id, KEYS[other].known.public_key, 0)
            assert ours(OURS.asserted, key.assertion(), CHALLENGE, known) is None


N = RSA_KEY.public_key().public_numbers().n
EDWARDS, CURVE, MODULUS = (KEYS[kind].cose for kind in KINDS)
WRONG_KEYS = {
    "a point that is not on the curve": {**CURVE, -2: bytes(32)},
    "a coordinate that is cut": {**CURVE, -3: CURVE[-3][:31]},
    "another curve": {**CURVE, -1: 2},
    "another algorithm for the curve": {**CURVE, 3: -35},
    "a kind that does not go with the algorithm": {**CURVE, 1: 3},
    "an Edwards point under which anybody signs": {**EDWARDS, -2: b"\x01" + bytes(31)},
    "an Edwards key that is cut": {**EDWARDS, -2: EDWARDS[-2][:31]},
    "a modulus that is too small": {**MODULUS, -1: (2**1023 + 1).to_bytes(128, "big")},
    "a modulus that takes long": {**MODULUS, -1: (2**8191 + 1).to_bytes(1024, "big")},
    "an even modulus": {**MODULUS, -1: (N + 1).to_bytes(256, "big")},
    "an exponent of one": {**MODULUS, -2: b"\x01"},
    "an even exponent": {**MODULUS, -2: b"\x02"},
    "an exponent that takes long": {**MODULUS, -2: b"\x01" + bytes(62) + b"\x01"},
    "no kind": {3: -7, -1: 1, -2: CURVE[-2], -3: CURVE[-3]},
    "a list": [1, 2],
    "a number": 4,
}


@pytest.mark.parametrize("cose", WRONG_KEYS.values(), ids=WRONG_KEYS.keys())
@pytest.mark.spec("A2ACP-011")
def test_a_key_that_nobody_should_log_in_with_is_refused_when_it_is_made_and_when_it_is_used(cose):
    key = KEYS["ES256"]
    assert ours(OURS.created, key.creation(cose=cose), CHALLENGE) is None
    known = PasskeyCredential(key.id, cbor2.dumps(cose), 0)
    assert ours(OURS.asserted, key.assertion(), CHALLENGE, known) is None


@given(st.sampled_from(KINDS), st.data())
@pytest.mark.spec("A2ACP-014")
def test_a_login_that_was_changed_anywhere_is_refused(kind, data):
    key = KEYS[kind]
    response = key.assertion()
    field = data.draw(st.sampled_from(sorted(response["response"])))
    raw = bytearray(unb64(response["response"][field]))
    raw[data.draw(st.integers(0, 4095)) % len(raw)] ^= 1 << data.draw(st.integers(0, 7))
    response["response"][field] = b64(bytes(raw))
    assert ours(OURS.asserted, response, CHALLENGE, key.known) is None


@given(st.sampled_from(KINDS), st.data())
def test_no_changed_creation_is_taken_that_the_other_library_refuses(kind, data):
    key = KEYS[kind]
    raw = bytearray(key.data())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    response = key.creation(attestation={"authData": bytes(raw[: data.draw(st.integers(0, len(raw)))])})
    created = ours(OURS.created, response, CHALLENGE)
    assert created is None or created == theirs_created(response, CHALLENGE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.binary(max_size=40).map(b64),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("id", "rawId", "type", "response")
INNER = ("clientDataJSON", "attestationObject", "authenticatorData", "signature")


@given(st.sampled_from((*FIELDS, *INNER)), JSON, st.booleans())
def test_whatever_comes_is_taken_or_refused_and_nothing_else_happens(field, value, is_left_out):
    key = KEYS["ES256"]
    for call, response, known in (
        (OURS.created, key.creation(), ()),
        (OURS.asserted, key.assertion(), (key.known,)),
    ):
        changed = copy.deepcopy(response)
        place = changed if field in FIELDS else changed["response"]
        if is_left_out:
            place.pop(field, None)
        else:
            place[field] = value
        ours(call, changed, CHALLENGE, *known)


@given(st.binary(max_size=80))
def test_bytes_of_any_kind_are_taken_or_refused(raw):
    key = KEYS["ES256"]
    for name in ("clientDataJSON", "attestationObject"):
        changed = key.creation()
        changed["response"][name] = b64(raw)
        assert ours(OURS.created, changed, CHALLENGE) is None
    assert ours(OURS.created, key.creation(attestation={"authData": raw}), CHALLENGE) is None


# CBOR.

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.text(max_size=30) | st.binary(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.integers(-(2**64), 2**64 - 1) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_cbor_is_read_as_the_other_library_writes_it(value):
    written = cbor2.dumps(value)
    try:
        assert cbor.read(written) == (value, len(written))
    except ValueError:
        assert _depth(value) > cbor.DEEPEST
    for end in range(len(written)):
        with pytest.raises(ValueError):
            cbor.read(written[:end])


def _depth(value) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=-1)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_the_other_library_reads_them_or_not_at_all(raw):
    try:
        value, end = cbor.read(raw)
    except ValueError:
        return
    assert cbor2.loads(raw[:end]) == value


@pytest.mark.parametrize(
    "written",
    [
        "f97e00", "fb3ff0000000000000", "c11a514b67b0", "5f4101ff", "9f01ff", "bf0101ff", "a201020103",
        "a1f501", "a1810101", "a1410101", "e0", "f7", "f820", "1c", "62c328", "ff", "",
        "81" * 12 + "01", "9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff00",
    ],
)  # fmt: skip
def test_what_no_authenticator_writes_is_not_read(written):
    with pytest.raises(ValueError):
        cbor.read(bytes.fromhex(written))


def test_true_is_not_one():
    with pytest.raises(ValueError):
        cbor.read(cbor2.dumps({1: 2}).replace(b"\x01\x02", b"\xf5\x02"))
