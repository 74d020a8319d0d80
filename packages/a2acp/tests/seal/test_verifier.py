"""Two implementations, one table: whatever libsodium refuses, the relay's verifier refuses."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.seal import primitives, verifier
from tests.seal import edwards
from tests.seal.edwards import (
    BASE,
    TORSION,
    L,
    P,
    add,
    decode,
    encode,
    hashed,
    message_with,
    signed,
    times,
    with_y,
)
from tests.seal.test_primitives import ED25519

SECRET, NONCE = 0x1D5A_77F3, 0x3C0F_FEE1
KEY, R = times(SECRET, BASE), times(NONCE, BASE)
SMALL = [times(n, TORSION) for n in range(8)]
FREE = [y for y in range(19) if with_y(y) is not None]
"""Points whose y has a second spelling, y + p."""


def honest():
    return encode(KEY), b"hello", signed(encode(R), encode(KEY), b"hello", SECRET, NONCE)


def small_key_and_small_r(point):
    """R is minus the hash times the key; S is zero. Anybody can write it."""
    public = encode(point)
    message = message_with(public, public, lambda found: times(8 - found % 8, point) == point)
    return public, message, public + bytes(32)


def small_key_and_honest_r(public):
    """Under a key of small order the hash drops out for one message in eight, and anybody can sign."""
    message = message_with(encode(R), public, lambda found: found % 8 == 0)
    return public, message, encode(R) + NONCE.to_bytes(32, "little")


def mixed_key(*, drops_out):
    """A key with a part of order eight; `drops_out`: the hash makes that part vanish."""
    public = encode(add(KEY, TORSION))
    message = message_with(encode(R), public, lambda found: (found % 8 == 0) is drops_out)
    return public, message, signed(encode(R), public, message, SECRET, NONCE)


def mixed_r():
    r = encode(add(R, TORSION))
    return encode(KEY), b"hello", signed(r, encode(KEY), b"hello", SECRET, NONCE)


def small_r(r):
    return encode(KEY), b"hello", signed(r, encode(KEY), b"hello", SECRET, 0)


def large_s(times_order):
    public, message, signature = honest()
    s = int.from_bytes(signature[32:], "little") + times_order * L
    return public, message, signature[:32] + s.to_bytes(32, "little")


def spelt_twice(y, sign):
    return (y + P | sign << 255).to_bytes(32, "little")


def eight_times_the_equation_holds(public, message, signature):
    """What a verifier with cofactor would ask."""
    s = int.from_bytes(signature[32:], "little")
    key, r = decode(public), decode(signature[:32])
    right = add(r, times(hashed(signature[:32], public, message), key))
    return times(8 * s, BASE) == times(8, right)


REFUSED_BY_BOTH = {
    **{f"small key {n}, small R": small_key_and_small_r(point) for n, point in enumerate(SMALL)},
    **{f"small key {n}, honest R": small_key_and_honest_r(encode(point)) for n, point in enumerate(SMALL)},
    "identity key, negative zero": small_key_and_honest_r((1 | 1 << 255).to_bytes(32, "little")),
    "order-two key, negative zero": small_key_and_honest_r((P - 1 | 1 << 255).to_bytes(32, "little")),
    **{
        f"key y={y} sign={sign} spelt as y+p": small_key_and_honest_r(spelt_twice(y, sign))
        for y in FREE
        for sign in (0, 1)
    },
    "R is the identity": small_r(encode(edwards.IDENTITY)),
    "R is the identity, negative zero": small_r((1 | 1 << 255).to_bytes(32, "little")),
    "R is the identity, spelt as 1+p": small_r(spelt_twice(1, 0)),
    **{f"R is small point {n}": small_r(encode(point)) for n, point in enumerate(SMALL)},
    **{f"S + {n} orders": large_s(n) for n in (1, 2, 7, 15)},
    "not on the curve": (
        next(y for y in range(2, 99) if with_y(y) is None).to_bytes(32, "little"),
        b"hello",
        honest()[2],
    ),
}
HOLDS_WITH_THE_COFACTOR_ONLY = {
    "key with a small part": mixed_key(drops_out=False),
    "R with a small part": mixed_r(),
}
TAKEN_BY_BOTH = {"honest": honest(), "key with a small part that drops out": mixed_key(drops_out=True)}


@pytest.mark.spec("A2ACP-248", "A2ACP-249")
@pytest.mark.parametrize(("seed", "public", "message", "signature"), ED25519)
def test_openssl_under_our_rules_agrees_with_rfc_8032(seed, public, message, signature):
    public, message, signature = map(bytes.fromhex, (public, message, signature))
    assert verifier.verify(public, message, signature)
    assert not verifier.verify(public, message + b"x", signature)


@pytest.mark.spec("A2ACP-249")
@pytest.mark.parametrize("case", REFUSED_BY_BOTH)
def test_weak_keys_weak_r_and_second_spellings_are_refused_by_both_implementations(case):
    assert not primitives.verify(*REFUSED_BY_BOTH[case])
    assert not verifier.verify(*REFUSED_BY_BOTH[case])


@pytest.mark.spec("A2ACP-249")
@pytest.mark.parametrize("case", TAKEN_BY_BOTH)
def test_what_holds_without_the_cofactor_is_taken_by_both_implementations(case):
    assert primitives.verify(*TAKEN_BY_BOTH[case])
    assert verifier.verify(*TAKEN_BY_BOTH[case])


@pytest.mark.spec("A2ACP-249")
@pytest.mark.parametrize("case", HOLDS_WITH_THE_COFACTOR_ONLY)
def test_neither_implementation_multiplies_by_the_cofactor(case):
    public, message, signature = HOLDS_WITH_THE_COFACTOR_ONLY[case]
    assert eight_times_the_equation_holds(public, message, signature)
    assert not verifier.verify(public, message, signature)
    assert not primitives.verify(public, message, signature)


@pytest.mark.spec("A2ACP-249")
def test_a_key_with_a_small_part_cannot_register():
    assert not primitives.is_sound_signing_key(encode(add(KEY, TORSION)))
    assert primitives.is_sound_signing_key(encode(KEY))


@pytest.mark.spec("A2ACP-249")
@pytest.mark.parametrize("sizes", [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_misshapen_keys_and_signatures_verify_nothing(sizes):
    public, signature = sizes
    assert not verifier.verify(bytes(public), b"x", bytes(signature))


edges = st.one_of(
    st.sampled_from([encode(point) for point in SMALL]),
    st.builds(spelt_twice, st.integers(0, 18), st.integers(0, 1)),
    st.just(encode(KEY)),
    st.builds(lambda n: encode(times(n, BASE)), st.integers(1, 50)),
    st.binary(min_size=32, max_size=32),
)
numbers = st.one_of(st.integers(0, 40), st.integers(L - 3, L + 3), st.integers(0, 2**256 - 1))


@given(edges, edges, numbers, st.binary(max_size=40))
@example(encode(KEY), encode(R), NONCE, b"")
@settings(max_examples=400, deadline=None)
@pytest.mark.spec("A2ACP-249")
def test_no_signature_that_libsodium_refuses_is_taken(public, r, s, message):
    signature = r + s.to_bytes(32, "little")
    assert primitives.verify(public, message, signature) or not verifier.verify(public, message, signature)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
@settings(max_examples=100, deadline=None)
@pytest.mark.spec("A2ACP-248", "A2ACP-249")
def test_both_take_every_honest_signature_and_neither_takes_it_with_one_bit_changed(seed, message, bit):
    public, signature = primitives.signing_public(seed), primitives.sign(seed, message)
    changed = bytearray(signature)
    changed[bit // 8] ^= 1 << bit % 8
    for verify in (primitives.verify, verifier.verify):
        assert verify(public, message, signature)
        assert not verify(public, message, bytes(changed))
        assert not verify(public, message + b"!", signature)
