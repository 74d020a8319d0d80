"""An agent's keys at rest: wrapped, locked, changed from one way to the other, and gone when they are gone."""

from contextlib import closing

import pytest

from tacit.a2acp.post.io.schema import FILE, protection_method
from tacit.a2acp.post.io.store import AgentStore, Myself
from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.seal import key_protection
from tacit.seal.identity import Identity
from tacit.seal.key_protection import PASSPHRASE
from tests.a2acp.post.test_erasure import Graveyard, found_in, secrets_of
from tests.agent_support import Person, people_on
from tests.relay_support import Relay, until

PHRASE = b"correct horse battery"


def protect(store, phrase=PHRASE):
    found = key_protection.begin(
        PASSPHRASE, SystemEntropy().draw(16), phrase, SystemEntropy(), passes=1, memory_bytes=8 * 1024 * 1024
    )
    with store.transaction():
        store.secrets.protect(*found)
    store.rewrite()


def unprotect(store):
    with store.transaction():
        store.secrets.protect(None, None)
    store.rewrite()


def living(store):
    """Every secret that the store holds now."""
    me = store.me().identity
    found = {me.signing_seed, me.agreement_private}
    for former in store.formers():
        found |= {former.signing_seed, former.agreement_private}
    for kind, identifier in store.rows("SELECT kind, id FROM prekeys"):
        found.add(store._prekey(kind, identifier))
    for (address,) in store.rows("SELECT address FROM sessions"):
        found |= secrets_of(store.sessions(address))
    return found


async def talk(alice, bob):
    await bob.online()
    await alice.online()
    alice.say(bob, "one")
    await until(lambda: "one" in bob.texts())
    bob.say(alice, "two")
    await until(lambda: "two" in alice.texts())
    await alice.sent()
    await bob.sent()


@pytest.mark.spec("A2ACP-212", "A2ACP-246")
async def test_under_protection_no_key_stands_in_any_byte_of_the_folder_and_everything_works(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        for person in (alice, bob):
            protect(person.post.store)
        await talk(alice, bob)
        for person in (alice, bob):
            assert len(living(person.post.store)) > 100
            assert not found_in(person.folder, living(person.post.store))


@pytest.mark.spec("A2ACP-212")
async def test_a_plain_folder_is_protected_and_laid_open_again_with_all_it_holds(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await talk(alice, bob)
        await alice.offline()
        store = alice.post.store
        with store.transaction():
            store.add_former(store.me().identity, 2**50)
            store.set_pending(store.me())
        before = living(store)
        assert set(found_in(alice.folder, before)) == before
        protect(store)
        assert protection_method(alice.folder / FILE) == PASSPHRASE
        assert living(store) == before
        assert not found_in(alice.folder, before)
        assert store.pending(alice.address) == store.me()
        unprotect(store)
        assert protection_method(alice.folder / FILE) is None
        assert living(store) == before
        assert set(found_in(alice.folder, before)) == before
        await alice.online()
        alice.say(bob, "three")
        await until(lambda: "three" in bob.texts())


@pytest.mark.spec("A2ACP-212", "A2ACP-245")
async def test_neither_a_dead_key_nor_what_it_was_wrapped_into_stays(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        protect(bob.post.store)
        grave = Graveyard(bob.post.store)
        wrapped = set()

        def note():
            rows = bob.post.store.rows("SELECT state FROM sessions UNION ALL SELECT private FROM prekeys")
            wrapped.update(row[0] for row in rows)
            return {row[0] for row in rows}

        note()
        await bob.online()
        await alice.online()
        for number in range(6):
            alice.say(bob, f"line {number}")
            await until(lambda number=number: len(bob.texts()) == number + 1)
            present = note()
            assert not found_in(bob.folder, grave.buried())
            assert not found_in(bob.folder, {kept[-32:] for kept in wrapped - present})
        assert len(wrapped - note()) >= 5
        assert len(grave.buried()) >= 5


@pytest.mark.spec("A2ACP-212")
async def test_a_locked_folder_tells_no_key_and_a_wrong_passphrase_says_so(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        protect(alice.post.store)
        locked = Person(alice.folder, relay, "alice").post.store
        for use in (locked.me, lambda: locked.set_sessions("agent:x@y", ())):
            with pytest.raises(Refused) as refused:
                use()
            assert refused.value.code == "keys_locked"
        assert locked.has_identity()
        with pytest.raises(Refused) as refused:
            locked.secrets.unlock(b"wrong horse battery")
        assert refused.value.code == "wrong_passphrase"
        locked.secrets.unlock(PHRASE)
        assert locked.me() == alice.post.store.me()
        locked.close()


@pytest.mark.spec("A2ACP-212")
async def test_who_opened_the_keys_before_they_were_protected_another_way_writes_nothing_more(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        other = AgentStore(alice.folder)
        assert other.me() == alice.post.store.me()
        protect(alice.post.store)
        with pytest.raises(Refused):
            other.me()
        other.secrets.unlock(PHRASE)
        protect(other, b"another long phrase")
        with pytest.raises(Unavailable):
            alice.post.store.set_sessions("agent:x@y", ())
        unprotect(other)
        with pytest.raises(Unavailable):
            alice.post.store.me()
        other.close()


def test_a_key_moved_to_another_row_is_damage(tmp_path):
    store = AgentStore(tmp_path)
    protect(store)
    with store.transaction():
        store.add_prekey(1, 7, b"p" * 32, 0)
        store.add_prekey(1, 8, b"q" * 32, 0)
        store.run("UPDATE prekeys SET private=(SELECT private FROM prekeys WHERE id=7) WHERE id=8")
    assert store.single(1, 7) == b"p" * 32
    with pytest.raises(Corrupt):
        store.single(1, 8)
    store.close()


@pytest.mark.spec("A2ACP-212")
def test_a_file_that_could_not_be_written_anew_is_not_taken_for_one_that_was(tmp_path):
    store = AgentStore(tmp_path)
    store._file.set_busy_timeout(1)
    with closing(connect(tmp_path / FILE)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="not rewritten"):
            store.rewrite()
        other.execute("ROLLBACK")
    store.rewrite()
    store.close()


@pytest.mark.spec("A2ACP-212")
@pytest.mark.parametrize("protected", [False, True])
def test_keys_that_are_kept_are_read_back_the_same(tmp_path, protected):
    store = AgentStore(tmp_path)
    if protected:
        protect(store)
    me = Myself("agent:a@r.example", "https://r.example", Identity(b"s" * 32, b"a" * 32), 3, b"record")
    with store.transaction():
        store.set_identity(me)
    assert store.me() == me
    store.close()
