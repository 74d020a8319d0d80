"""The seal of a guest's link: one secret, one link, one direction (A2ACP-276)."""

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tacit.seal import guest_seal
from tacit.seal.primitives import CannotOpen

SECRET = bytes(range(32))
GUEST = "a" * 26
NONCE = bytes(12)

pytestmark = pytest.mark.spec("A2ACP-276")


def test_what_is_sealed_opens_for_the_same_secret_link_and_direction_alone():
    sealed = guest_seal.seal(SECRET, GUEST, guest_seal.ANSWER, b"yes", NONCE)
    assert guest_seal.unseal(SECRET, GUEST, guest_seal.ANSWER, sealed) == b"yes"
    altered = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for secret, guest, direction, body in (
        (bytes(32), GUEST, guest_seal.ANSWER, sealed),
        (SECRET, "b" * 26, guest_seal.ANSWER, sealed),
        (SECRET, GUEST, guest_seal.QUESTION, sealed),
        (SECRET, GUEST, guest_seal.ANSWER, altered),
        (SECRET, GUEST, guest_seal.ANSWER, b"short"),
    ):
        with pytest.raises(CannotOpen):
            guest_seal.unseal(secret, guest, direction, body)


def test_the_key_and_the_proof_are_what_any_other_program_derives():
    def derived(info: bytes) -> bytes:
        return HKDF(SHA256(), 32, None, info).derive(SECRET)

    assert guest_seal.proof(SECRET) == derived(b"tacit-guest-proof-v1")
    sealed = guest_seal.seal(SECRET, GUEST, guest_seal.QUESTION, b"text", NONCE)
    bound = f"tacit-guest-v1\n{GUEST}\nquestion".encode()
    assert AESGCM(derived(b"tacit-guest-key-v1")).decrypt(sealed[:12], sealed[12:], bound) == b"text"


def test_the_same_text_has_the_same_nonce_and_another_text_another():
    assert guest_seal.repeatable_nonce(SECRET, b"a") == guest_seal.repeatable_nonce(SECRET, b"a")
    assert guest_seal.repeatable_nonce(SECRET, b"a") != guest_seal.repeatable_nonce(SECRET, b"b")
    assert guest_seal.repeatable_nonce(SECRET, b"a") != guest_seal.repeatable_nonce(bytes(32), b"a")
