"""A folder's key under its owner's secret, and secrets under the folder's key."""

from dataclasses import replace

import pytest

from tacit.base.errors import Corrupt, Refused
from tacit.seal import key_protection
from tacit.seal.key_protection import KEYRING, PASSPHRASE, FolderKey
from tacit.seal.primitives import CannotOpen
from tests.post_support import Repeatable

QUICK = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}
PHRASE = b"correct horse battery"


def begun(method=PASSPHRASE, secret=PHRASE):
    return key_protection.begin(method, b"s" * 16, secret, Repeatable("folder"), **QUICK)


@pytest.mark.spec("A2ACP-212")
@pytest.mark.parametrize("method", [PASSPHRASE, KEYRING])
def test_the_owners_secret_opens_the_folders_key_and_no_other_does(method):
    protection, key = begun(method)
    assert key_protection.unlock(key_protection.decode(protection.encode()), PHRASE) == key
    with pytest.raises(Refused) as refused:
        key_protection.unlock(protection, PHRASE + b"!")
    assert refused.value.code == {PASSPHRASE: "wrong_passphrase", KEYRING: "wrong_keyring"}[method]
    assert key.key not in protection.encode()
    assert "folder" not in repr(key)


@pytest.mark.parametrize("change", [{"passes": 2}, {"salt": b"t" * 16}, {"method": KEYRING}])
def test_what_stands_in_the_open_is_bound(change):
    protection, _ = begun()
    with pytest.raises(Refused):
        key_protection.unlock(replace(protection, **change), PHRASE)


def test_a_short_passphrase_is_refused():
    with pytest.raises(Refused) as refused:
        begun(secret=b"too short")
    assert refused.value.code == "weak_passphrase"


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"\xc1",
        replace(begun()[0], passes=17).encode(),
        replace(begun()[0], memory_bytes=2**31).encode(),
        replace(begun()[0], method="none").encode(),
        replace(begun()[0], salt=b"").encode(),
    ],
)
def test_a_protection_that_asks_for_too_much_or_cannot_be_read_is_damage(kept):
    with pytest.raises(Corrupt):
        key_protection.decode(kept)


def test_a_secret_opens_only_at_its_place_and_unaltered():
    key, entropy = FolderKey(b"k" * 32), Repeatable("wrap")
    kept = key.wrap(b"a secret", b"here", entropy)
    assert key.unwrap(kept, b"here") == b"a secret"
    assert key.wrap(b"a secret", b"here", entropy) != kept
    for wrong, place in ((kept, b"there"), (kept[:-1] + bytes([kept[-1] ^ 1]), b"here"), (b"", b"here"), (kept[:30], b"here")):  # fmt: skip
        with pytest.raises(CannotOpen):
            key.unwrap(wrong, place)
