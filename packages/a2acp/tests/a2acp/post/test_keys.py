"""An agent's own keys: registered once though the answer is lost, replaced without losing what is on its way."""

import asyncio
import contextlib

import pytest

from tacit.a2acp.post.io.schema import SCHEMA
from tacit.a2acp.post.io.store import FILE, AgentStore
from tacit.base.errors import Refused, Unavailable
from tacit.base.io import sqlite
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.seal import limits
from tests.agent_support import Person, arrived, people_on
from tests.relay_support import Relay, until


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


async def enrol_code(relay, person):
    code = "code-" + person.username
    expires = relay.clock.now() + 10**12
    await relay.mailboxes.store.write(
        lambda file: registry.add_code(
            file, code=code, purpose="enrol", username=person.username, expires=expires
        )
    )
    return code


@contextlib.asynccontextmanager
async def lossy(relay):
    """The relay behind a way that carries every request and loses every answer."""

    async def carry(reader, writer):
        answer, onward = await asyncio.open_connection("127.0.0.1", relay.port)

        async def pass_on():
            while data := await reader.read(65_536):
                onward.write(data)

        carrying = asyncio.create_task(pass_on())
        await answer.read(10)
        carrying.cancel()
        writer.transport.abort()
        onward.close()

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-013")
async def test_a_registration_whose_answer_was_lost_is_found_again(tmp_path):
    async with Relay(tmp_path / "relay") as relay, lossy(relay) as url:
        zoe = Person(tmp_path / "zoe", relay, "zoe")
        async with zoe.post:
            code = await relay.invite("zoe")
            with pytest.raises(Unavailable, match="run the same command again"):
                await zoe.post.directory.register(zoe.address, url, code)
            assert not zoe.post.store.has_identity()
            me = await zoe.post.directory.register(zoe.address, relay.url, code)
            assert zoe.post.store.pending(zoe.address) is None
            assert me.relay_url == relay.url
            await zoe.online()
            await zoe.offline()
        zoe.post.store.close()


@pytest.mark.spec("A2ACP-215")
async def test_a_registration_that_never_arrived_is_tried_again_with_the_same_keys(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        zoe = Person(tmp_path / "zoe", relay, "zoe")
        async with zoe.post:
            with pytest.raises(Refused):
                await zoe.post.directory.register(zoe.address, relay.url, "wrong")
            kept = zoe.post.store.pending(zoe.address)
            me = await zoe.post.directory.register(zoe.address, relay.url, await relay.invite("zoe"))
            assert (me.identity, me.serial > kept.serial) == (kept.identity, True)
        zoe.post.store.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-015")
async def test_a_rotation_whose_answer_was_lost_is_found_again(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _), lossy(relay) as url:
        before = alice.post.store.me()
        code = await enrol_code(relay, alice)
        with pytest.raises(Unavailable):
            await alice.post.directory.register(alice.address, url, code, rotate=True)
        assert alice.post.store.me() == before
        # Even without the flag: the relay takes no other key any more.
        me = await alice.post.directory.register(alice.address, relay.url, code)
        assert me.identity != before.identity
        await alice.online()


async def rotate(relay, person):
    code = await enrol_code(relay, person)
    return await person.post.directory.register(person.address, relay.url, code, rotate=True)


@pytest.mark.spec("A2ACP-209", "A2ACP-015", "A2ACP-002")
async def test_a_rotation_loses_neither_what_waits_in_the_mailbox_nor_in_the_outbox(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        await bob.online()
        bob.say(alice, "first letter")
        await bob.sent()
        sent = alice.say(bob, "sealed under the old key", thread="thr_second")
        bundle = await alice.post.directory.prekeys(bob.address)
        (waiting,) = alice.post.outbox.waiting()
        assert alice.post.outbox.seal(waiting.position, bundle).packet_id == sent
        await rotate(relay, alice)
        await alice.online()
        await alice.has("first letter")
        await bob.has("sealed under the old key")
        assert [one.packet_id for one in arrived(bob.post)] == [sent]


@pytest.mark.spec("A2ACP-015", "A2ACP-219")
async def test_a_running_conversation_goes_on_over_a_rotation(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        for person in (bob, alice):
            await person.online()
        alice.say(bob, "one")
        await bob.has("one")
        bob.say(alice, "two")
        await alice.has("two")
        await alice.offline()
        bob.say(alice, "in the running session")
        await bob.sent()
        await rotate(relay, alice)
        await alice.online()
        await alice.has("two", "in the running session")
        bob.say(alice, "still for the old key")
        await alice.has("two", "in the running session", "still for the old key")
        alice.say(bob, "under the new key")
        await bob.has("one", "under the new key")
        bob.say(alice, "and back")
        await until(lambda: "and back" in alice.texts())


@pytest.mark.spec("A2ACP-245", "A2ACP-252")
async def test_replaced_keys_are_destroyed_after_two_months_and_never_handed_out(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        before = await bob.post.directory.prekeys(alice.address)
        await rotate(relay, alice)
        await alice.post.publish()
        after = await bob.post.directory.prekeys(alice.address)
        assert after.signed_id != before.signed_id
        (former,) = alice.post.store.formers()
        relay.clock.ahead += limits.REPLACED_KEPT - 60 * SECOND
        alice.post.inbox.forget_old()
        assert alice.post.store.formers() == [former]
        assert alice.post.store.signed(before.signed_id) is not None
        relay.clock.ahead += 120 * SECOND
        alice.post.inbox.forget_old()
        assert alice.post.store.formers() == []
        assert alice.post.store.row("SELECT 1 FROM prekeys WHERE replaced_at IS NOT NULL") is None
        assert alice.post.store.signed(after.signed_id) is not None


@pytest.mark.spec("A2ACP-212")
def test_a_folder_of_an_earlier_release_opens_with_all_it_held(tmp_path):
    path = tmp_path / FILE
    file = sqlite.connect(path)
    earlier = sqlite.Schema(SCHEMA.application_id, SCHEMA.steps[:2])
    earlier.migrate(file, path)
    file.execute("INSERT INTO prekeys VALUES (3, 7, x'aa', 1)")
    file.execute(
        "INSERT INTO identity VALUES (1, 'agent:a@b.example', 'https://b.example', x'01', x'02', 5, x'')"
    )
    file.close()
    store = AgentStore(tmp_path)
    assert store.signed(7) == b"\xaa"
    assert store.me().serial == 5
    assert store.formers() == []
    assert store.pending("agent:a@b.example") is None
    store.close()
