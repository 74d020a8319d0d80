import pytest

from tacit.seal import identity
from tests.post_support import ALICE, BOB, people


@pytest.mark.spec("A2ACP-247")
def test_safety_numbers_agree_on_both_sides_and_change_with_the_key():
    alice, bob = people()
    mine = identity.safety_number(
        our_address=ALICE,
        our_signing=alice.me.signing_public,
        their_address=BOB,
        their_signing=bob.me.signing_public,
    )
    theirs = identity.safety_number(
        our_address=BOB,
        our_signing=bob.me.signing_public,
        their_address=ALICE,
        their_signing=alice.me.signing_public,
    )
    swapped = identity.safety_number(
        our_address=ALICE,
        our_signing=alice.me.signing_public,
        their_address=BOB,
        their_signing=alice.me.signing_public,
    )
    assert mine == theirs != swapped
    assert len(mine.split()) == 12
    assert "signing_seed" not in repr(alice.me)


@pytest.mark.spec("A2ACP-247")
def test_a_fingerprint_is_thirty_digits_and_its_owners_half_of_the_safety_number():
    alice, bob = people()
    mine = identity.fingerprint(ALICE, alice.me.signing_public)
    theirs = identity.fingerprint(BOB, bob.me.signing_public)
    assert [len(one) for one in mine.split(" ")] == [5] * 6
    assert mine.replace(" ", "").isdecimal()
    both = identity.safety_number(
        our_address=ALICE,
        our_signing=alice.me.signing_public,
        their_address=BOB,
        their_signing=bob.me.signing_public,
    )
    assert both == " ".join(sorted((mine, theirs)))
    assert identity.fingerprint(BOB, alice.me.signing_public) != mine, "a key is somebody's"
