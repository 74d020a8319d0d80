import pytest

from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND, Moment
from tacit.seal import http_signature, primitives
from tests.post_support import Repeatable

URL = "https://b.example/v1/federation/packets"
BODY = b'{"packets":[]}'
NOW = Moment(1_800_000_000 * SECOND)
SEED = Repeatable().draw(32)
PUBLIC = primitives.signing_public(SEED)


def signed(**changes):
    return http_signature.sign_request(**{
        "method": "POST", "url": URL, "body": BODY, "content_type": "application/json", "key_id": "a.example",
        "seed": SEED, "now": NOW, "nonce": "n" * 22, **changes,
    })  # fmt: skip


def verify(headers, **changes):
    return http_signature.verify_request(**{
        "method": "POST", "url": URL, "headers": headers, "body": BODY, "public": PUBLIC, "now": NOW, **changes,
    })  # fmt: skip


@pytest.mark.spec("A2ACP-255")
def test_a_signed_request_names_its_relay():
    headers = signed()
    assert http_signature.claimed_key_id(headers) == "a.example"
    assert verify(headers) == http_signature.VerifiedSignature("a.example", "n" * 22)


@pytest.mark.spec("A2ACP-255")
@pytest.mark.parametrize(
    "change",
    [
        {"body": b'{"packets":[1]}'},
        {"url": "https://c.example/v1/federation/packets"},
        {"method": "PUT"},
        {"public": primitives.signing_public(Repeatable("other").draw(32))},
        {"now": Moment(NOW + 301 * SECOND)},
        {"now": Moment(NOW - 301 * SECOND)},
    ],
)
def test_whatever_is_altered_or_stale_does_not_hold(change):
    with pytest.raises(PeerFault):
        verify(signed(), **change)


@pytest.mark.spec("A2ACP-255")
def test_a_missing_or_thin_signature_does_not_hold():
    for headers in (
        {},
        {"Signature": "x", "Signature-Input": "y"},
        {**signed(), "Content-Type": "text/plain"},
    ):
        with pytest.raises(PeerFault):
            verify(headers)
    with pytest.raises(PeerFault):
        verify(signed(nonce="short"))
    assert http_signature.claimed_key_id({}) is None


@pytest.mark.spec("A2ACP-255")
def test_the_signature_base_agrees_with_rfc_9421_appendix_b_2_6():
    base = (
        '"date": Tue, 20 Apr 2021 02:07:55 GMT\n'
        '"@method": POST\n'
        '"@path": /foo\n'
        '"@authority": example.com\n'
        '"content-type": application/json\n'
        '"content-length": 18\n'
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    seed = bytes.fromhex("9f8362f87a484a954e6e740c5b4c0e84229139a20aa8ab56ff66586f6a7d29c5")
    public = bytes.fromhex("26b40b8f93fff3d897112f7ebc582b232dbd72517d082fe83cfb30ddce43d1bb")
    assert primitives.signing_public(seed) == public
    import base64

    expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    assert primitives.sign(seed, base.encode()) == base64.b64decode(expected)
