import pytest

from tacit.seal import pinning
from tests.post_support import people


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
def test_a_changed_key_blocks_until_a_person_decides():
    alice, bob = people()
    pin = pinning.observe(None, bob.me.public, 5)
    assert pin.usable
    assert pinning.observe(pin, bob.me.public, 6).serial == 6
    swapped = pinning.observe(pin, alice.me.public, 7)
    assert not swapped.usable
    assert swapped.keys == bob.me.public
    assert not pinning.observe(swapped, bob.me.public, 8).usable
    assert pinning.accept(swapped).keys == alice.me.public
    assert pinning.reject(swapped) == pinning.Pin(bob.me.public, 5, pinning.Trust.PINNED)
    assert pinning.verified(swapped) is swapped


@pytest.mark.spec("A2ACP-015")
def test_a_rotation_signed_by_the_old_key_moves_the_pin_by_itself():
    alice, bob = people()
    pin = pinning.verified(pinning.observe(None, bob.me.public, 5))
    moved = pinning.observe(pin, alice.me.public, 6, rotation_proven=True)
    assert (moved.keys, moved.trust) == (alice.me.public, pinning.Trust.PINNED)


@pytest.mark.spec("A2ACP-251")
def test_an_older_statement_never_replaces_a_newer():
    alice, bob = people()
    pin = pinning.observe(None, bob.me.public, 5)
    assert pinning.observe(pin, alice.me.public, 4, rotation_proven=True) == pin


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
def test_numbers_that_begin_anew_are_followed_by_proof_or_put_before_a_person_but_never_under_the_same_key():
    alice, bob = people()
    pin = pinning.observe(None, bob.me.public, 2**53 - 1)
    assert pinning.observe(pin, bob.me.public, 1, reset=True) == pin
    assert pinning.observe(pin, alice.me.public, 1, rotation_proven=True, reset=True).serial == 1
    asked = pinning.observe(pin, alice.me.public, 1, reset=True)
    assert not asked.usable
    assert pinning.accept(asked) == pinning.Pin(alice.me.public, 1)


def test_every_state_and_sighting_has_a_row():
    assert set(pinning.TRANSITIONS) == {(trust, seen) for trust in pinning.Trust for seen in pinning.Sighting}
