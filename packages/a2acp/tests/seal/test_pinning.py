import pytest

from tacit.seal import identity
from tests.post_support import people


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
def test_a_changed_key_blocks_until_a_person_decides():
    alice, bob = people()
    pin = identity.observe(None, bob.me.public, 5)
    assert pin.usable
    assert identity.observe(pin, bob.me.public, 6).serial == 6
    swapped = identity.observe(pin, alice.me.public, 7)
    assert not swapped.usable
    assert swapped.keys == bob.me.public
    assert not identity.observe(swapped, bob.me.public, 8).usable
    assert identity.accept(swapped).keys == alice.me.public
    assert identity.reject(swapped) == identity.Pin(bob.me.public, 5, identity.Trust.PINNED)
    assert identity.verified(swapped) is swapped


@pytest.mark.spec("A2ACP-015")
def test_a_rotation_signed_by_the_old_key_moves_the_pin_by_itself():
    alice, bob = people()
    pin = identity.verified(identity.observe(None, bob.me.public, 5))
    moved = identity.observe(pin, alice.me.public, 6, rotation_proven=True)
    assert (moved.keys, moved.trust) == (alice.me.public, identity.Trust.PINNED)


@pytest.mark.spec("A2ACP-251")
def test_an_older_statement_never_replaces_a_newer():
    alice, bob = people()
    pin = identity.observe(None, bob.me.public, 5)
    assert identity.observe(pin, alice.me.public, 4, rotation_proven=True) == pin


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
def test_numbers_that_begin_anew_are_followed_by_proof_or_put_before_a_person_but_never_under_the_same_key():
    alice, bob = people()
    pin = identity.observe(None, bob.me.public, 2**53 - 1)
    assert identity.observe(pin, bob.me.public, 1, reset=True) == pin
    assert identity.observe(pin, alice.me.public, 1, rotation_proven=True, reset=True).serial == 1
    asked = identity.observe(pin, alice.me.public, 1, reset=True)
    assert not asked.usable
    assert identity.accept(asked) == identity.Pin(alice.me.public, 1)


def test_every_state_and_sighting_has_a_row():
    assert set(identity.TRANSITIONS) == {
        (trust, seen) for trust in identity.Trust for seen in identity.Sighting
    }
