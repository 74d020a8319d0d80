"""What the agent destroys is gone from its folder: keys as they die, prekeys as they are used, words past their time."""

import msgspec
import pytest

from tacit.a2acp.post.io.inbox import DAY
from tacit.a2acp.post.io.schema import SCHEMA
from tacit.a2acp.post.io.store import FILE, AgentStore
from tacit.a2acp.post.settings import HISTORY_DAYS
from tacit.base.errors import Unavailable
from tacit.base.io import sqlite
from tacit.seal import session
from tests.agent_support import people_on
from tests.relay_support import Relay, until

_DEAD_AFTER_A_STEP = ("root", "own_private", "sending", "receiving", "sending_header", "receiving_header",
                      "next_sending_header", "next_receiving_header")  # fmt: skip


def secrets_of(sessions):
    """Every secret of some ratchets."""
    found = set()
    for one in sessions:
        found |= {getattr(one.ratchet, name) for name in _DEAD_AFTER_A_STEP}
        found |= {key for kept in one.ratchet.skipped for key in (kept.message_key, kept.header_key)}
    return found - {None}


class Graveyard:
    """Every key of an agent that has died, noted at the moment of its death."""

    def __init__(self, store):
        self.dead = set()
        self._store = store
        self._prekeys = self._private()
        self._alive = set()
        keep = store.set_sessions

        def noted(address, sessions):
            before = secrets_of(store.sessions(address))
            keep(address, sessions)
            self.dead |= before - secrets_of(sessions)

        store.set_sessions = noted

    def _private(self):
        rows = self._store.rows("SELECT private, kind, id FROM prekeys")
        return {self._store.secrets.show(row[0], "prekeys", "private", *row[1:]) for row in rows}

    def buried(self):
        """The dead of now: those noted, and prekeys that are no longer there; none is alive elsewhere."""
        now = self._private()
        self.dead |= self._prekeys - now
        self._prekeys |= now
        alive = set(now)
        for (address,) in self._store.rows("SELECT address FROM sessions"):
            alive |= secrets_of(self._store.sessions(address))
        return self.dead - alive


def found_in(folder, keys):
    """Which of some keys stand in any byte of any file of a folder."""
    content = b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    return [key for key in keys if key in content]


@pytest.mark.spec("A2ACP-245", "A2ACP-212")
async def test_no_destroyed_key_stays_in_any_byte_of_the_folder(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        graves = {person: Graveyard(person.post.store) for person in (alice, bob)}
        said = {alice: [], bob: []}
        for number in range(12):
            one, other = (alice, bob) if number % 4 < 3 else (bob, alice)
            one.say(other, f"line {number}")
            said[other].append(f"line {number}")
            await until(lambda other=other: len(other.texts()) == len(said[other]))
            await one.sent()
            for person, grave in graves.items():
                assert not found_in(person.folder, grave.buried())
        assert all(len(grave.buried()) > 8 for grave in graves.values())


@pytest.mark.spec("A2ACP-245")
async def test_nor_after_a_crash_between_two_packets(tmp_path):
    """A process that is killed closes nothing: what it leaves behind is what a copy of the folder holds now."""
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        grave = Graveyard(bob.post.store)
        for number in range(5):
            alice.say(bob, f"line {number}")
        await until(lambda: len(bob.texts()) == 5)
        await alice.sent()
        left = tmp_path / "left"
        left.mkdir()
        for path in bob.folder.iterdir():
            (left / path.name).write_bytes(path.read_bytes())
        assert len(grave.buried()) >= 5
        assert not found_in(left, grave.buried())
        again = AgentStore(left)
        assert again.sessions(alice.address)
        again.close()
        assert not found_in(left, grave.buried())


@pytest.mark.spec("A2ACP-212")
def test_a_file_from_before_is_rewritten_without_what_it_still_held(tmp_path):
    path = tmp_path / FILE
    old = sqlite.connect(path)
    SCHEMA.migrate(old, path)
    key = b"an old chain key, thirty-two b.!"
    old.execute("INSERT INTO sessions VALUES (?,?)", ("agent:x@y", key * 40))
    old.execute("DELETE FROM sessions")
    old.close()
    assert found_in(tmp_path, [key])
    AgentStore(tmp_path).close()
    assert not found_in(tmp_path, [key])


def test_a_file_that_an_older_program_holds_open_is_left_alone(tmp_path):
    path = tmp_path / FILE
    old = sqlite.connect(path)
    SCHEMA.migrate(old, path)
    old.execute("BEGIN")
    old.execute("SELECT * FROM sessions").fetchall()
    with pytest.raises(Unavailable):
        sqlite.connect(path, erases=True, patience_ms=50)
    old.execute("COMMIT")
    old.close()


async def test_what_was_said_is_gone_after_the_days_that_its_owner_chose(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "the key is under the mat")
        await bob.has("the key is under the mat")
        await alice.sent()
        with bob.post.store.transaction():
            bob.post.inbox.handled(bob.post.inbox.unhandled())
            bob.post.store.choose(HISTORY_DAYS, "7")
        relay.clock.ahead += 8 * DAY
        for person in (alice, bob):
            assert found_in(person.folder, [b"under the mat"])
            person.post.inbox.forget_old()
        assert found_in(alice.folder, [b"under the mat"])
        assert not found_in(bob.folder, [b"under the mat"])
        relay.clock.ahead += 83 * DAY
        alice.post.inbox.forget_old()
        assert not found_in(alice.folder, [b"under the mat"])
        # Its id stays: it is neither asked for again nor sent again.
        assert bob.post.store.row("SELECT count(*) FROM history")[0] == 1
        with alice.post.store.transaction():
            packet_id = alice.post.store.row("SELECT packet_id FROM history")[0]
            alice.post.outbox.again(bob.address, [packet_id])
        assert not alice.post.outbox.waiting()


async def test_what_is_not_yet_handled_is_kept_however_old_it_is(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "read me")
        await bob.has("read me")
        relay.clock.ahead += 91 * DAY
        bob.post.inbox.forget_old()
        (waiting,) = bob.post.inbox.unhandled()
        assert msgspec.json.decode(waiting.payload)["context"]["text"] == "read me"


@pytest.mark.spec("A2ACP-222", "A2ACP-259")
async def test_what_could_not_be_sent_is_told_when_nobody_would_take_it_any_more_and_goes_with_the_history(
    tmp_path,
):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        words = "said to nobody, for a long time"
        sent = alice.say(bob, words)
        relay.clock.ahead += session.REMEMBERED - DAY
        alice.post.inbox.forget_old()
        assert alice.post.outbox.pending(sent) == "waiting"
        relay.clock.ahead += 2 * DAY
        alice.post.inbox.forget_old()
        assert alice.post.outbox.pending(sent) == "failed: expired"
        assert f"{sent} was not delivered: expired" in alice.notes()
        assert found_in(alice.folder, [words.encode()])
        relay.clock.ahead += 30 * DAY
        alice.post.inbox.forget_old()
        assert alice.post.outbox.pending(sent) is None
        assert not found_in(alice.folder, [words.encode()])
