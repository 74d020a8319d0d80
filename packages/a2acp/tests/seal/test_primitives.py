"""Official vectors: RFC 8032, RFC 7748, draft-irtf-cfrg-xchacha-03, RFC 5869, the Argon2 reference."""

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from tacit.seal import primitives
from tacit.seal.primitives import CannotOpen

h = bytes.fromhex

ED25519 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]

SMALL_ORDER_ED25519 = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]
SMALL_ORDER_X25519 = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


@pytest.mark.spec("A2ACP-248")
@pytest.mark.parametrize(("seed", "public", "message", "signature"), ED25519)
def test_ed25519_agrees_with_rfc_8032(seed, public, message, signature):
    assert primitives.signing_public(h(seed)) == h(public)
    assert primitives.sign(h(seed), h(message)) == h(signature)
    assert primitives.verify(h(public), h(message), h(signature))
    assert not primitives.verify(h(public), h(message) + b"x", h(signature))


@pytest.mark.spec("A2ACP-243")
def test_x25519_agrees_with_rfc_7748():
    alice = h("77076d0a7318a57d3c16c17251b26645c6c4a3c7f5a0b2a6d7a8f3f6c5a5a0a0")
    assert len(primitives.agreement_public(alice)) == 32
    assert primitives.agree(
        h("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
        h("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
    ) == h("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
    assert primitives.agree(
        h("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
        h("e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"),
    ) == h("95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957")


@pytest.mark.spec("A2ACP-243")
def test_xchacha20_poly1305_agrees_with_the_irtf_draft():
    key = bytes(range(0x80, 0xA0))
    nonce = bytes(range(0x40, 0x58))
    associated = h("50515253c0c1c2c3c4c5c6c7")
    plaintext = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    sealed = h(
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
        "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
        "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49"
    )
    assert primitives.encrypt(key, nonce, plaintext, associated) == sealed
    assert primitives.decrypt(key, nonce, sealed, associated) == plaintext


def test_hkdf_agrees_with_rfc_5869():
    assert primitives.hkdf(
        h("0b" * 22), salt=h("000102030405060708090a0b0c"), info=h("f0f1f2f3f4f5f6f7f8f9"), length=42
    ) == h("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    assert primitives.hkdf(h("0b" * 22), salt=b"", info=b"", length=42) == h(
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )


@pytest.mark.spec("A2ACP-225")
def test_argon2id_agrees_with_the_reference_implementation():
    # libsodium takes no secret and no associated data, so RFC 9106's own vector checks OpenSSL, which checks us.
    reference = Argon2id(
        salt=h("02" * 16),
        length=32,
        iterations=3,
        lanes=4,
        memory_cost=32,
        ad=h("04" * 12),
        secret=h("03" * 8),
    )
    assert reference.derive(h("01" * 32)) == h(
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"
    )
    other = Argon2id(salt=b"somesaltsomesalt", length=32, iterations=2, lanes=1, memory_cost=65_536)
    ours = primitives.password_key(b"password", b"somesaltsomesalt", passes=2, memory_bytes=1 << 26)
    assert ours == other.derive(b"password")


@pytest.mark.spec("A2ACP-249")
@pytest.mark.parametrize("point", SMALL_ORDER_ED25519)
def test_identity_point_and_small_order_signing_keys_verify_nothing(point):
    identity_r_and_zero_s = h(SMALL_ORDER_ED25519[0]) + bytes(32)
    assert not primitives.is_sound_signing_key(h(point))
    assert not primitives.verify(h(point), b"anything at all", identity_r_and_zero_s)


@pytest.mark.spec("A2ACP-243")
@pytest.mark.parametrize("point", SMALL_ORDER_X25519)
def test_small_order_agreement_keys_agree_on_nothing(point):
    assert not primitives.is_sound_agreement_key(h(point))
    with pytest.raises(CannotOpen):
        primitives.agree(bytes(range(32)), h(point))


@pytest.mark.spec("A2ACP-243")
@pytest.mark.parametrize("length", [0, 31, 33])
def test_an_agreement_key_of_another_length_agrees_on_nothing(length):
    with pytest.raises(CannotOpen, match=r"^the seal does not open$"):
        primitives.agree(bytes(range(32)), bytes(range(1, length + 1)))


@pytest.mark.spec("A2ACP-243")
@pytest.mark.parametrize("where", ["ciphertext", "nonce", "key", "associated", "short"])
def test_one_altered_bit_anywhere_does_not_open(where):
    key, nonce, associated = bytes(32), bytes(24), b"header"
    sealed = primitives.encrypt(key, nonce, b"secret", associated)
    given = {"key": key, "nonce": nonce, "ciphertext": sealed, "associated": associated}
    if where == "short":
        given["ciphertext"] = sealed[:15]
    else:
        given[where] = bytes([given[where][0] ^ 1]) + given[where][1:]
    with pytest.raises(CannotOpen):
        primitives.decrypt(given["key"], given["nonce"], given["ciphertext"], given["associated"])
