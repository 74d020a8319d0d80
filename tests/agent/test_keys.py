"""An agent's own keys: registered once though the answer is lost, replaced without losing what is on its way."""

import asyncio
import contextlib

import pytest
from tests.agent_support import Person, people_on
from tests.relay_support import Relay

from tacit.base.errors import Refused, Unavailable
from tacit.relay.io import registry


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


async def enrol_code(relay, person):
    code = "code-" + person.username
    expires = relay.clock.now() + 10**12
    await relay.office.store.write(
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
