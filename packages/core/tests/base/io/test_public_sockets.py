import contextlib
import ipaddress

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver

from tacit.base.io.public_sockets import PrivateAddressError, public_sockets

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
pytestmark = pytest.mark.spec("A2ACP-256")


class Rebinding(AbstractResolver):
    """A name whose first answer is public, and the next one this machine."""

    def __init__(self):
        self.answers = ["192.0.2.1", "127.0.0.1"]
        self.asked = 0

    async def resolve(self, host, port=0, family=0):
        address = self.answers[min(self.asked, 1)]
        self.asked += 1
        return [{"hostname": host, "host": address, "port": port, "family": 2, "proto": 6, "flags": 0}]

    async def close(self):
        pass


@contextlib.asynccontextmanager
async def site():
    """A server on this machine: its port, and what was asked of it."""
    asked = []

    async def answer(request):
        asked.append(request.path)
        return web.Response()

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1], asked
    finally:
        await runner.cleanup()


async def get(url, *, allowed=(), resolver=None):
    connector = aiohttp.TCPConnector(socket_factory=public_sockets(allowed), resolver=resolver)
    async with aiohttp.ClientSession(connector=connector) as http, http.get(url) as response:
        return response.status


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
async def test_nothing_is_sent_to_this_machine_by_name_or_by_number_unless_it_is_listed(host):
    async with site() as (port, asked):
        with pytest.raises(aiohttp.ClientConnectorError) as refused:
            await get(f"http://{host}:{port}/a")
        assert isinstance(refused.value.os_error, PrivateAddressError)
        assert asked == []
        assert await get(
            f"http://{host.replace('[::ffff:127.0.0.1]', '127.0.0.1')}:{port}/b", allowed=LOOPBACK
        )
        assert asked == ["/b"]


async def test_a_name_that_was_public_when_it_was_looked_at_leads_nowhere_when_it_is_this_machine_by_then():
    resolver = Rebinding()
    assert (await resolver.resolve("rebinding.example"))[0]["host"] == "192.0.2.1"
    async with site() as (port, asked):
        with pytest.raises(aiohttp.ClientConnectorError):
            await get(f"http://rebinding.example:{port}/a", resolver=resolver)
        assert (asked, resolver.asked) == ([], 2)
