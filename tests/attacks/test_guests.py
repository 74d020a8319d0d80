"""What a relay learns of guests: a marker in every field of question and answer is nowhere in it (A2ACP-276)."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from tacit.a2acp.post.io.post import Post
from tacit.agent import Agent
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tests.agent.guests.host import Holder
from tests.attacks.test_attacks import _memory_of
from tests.processes import RelayProcess
from tests.relay_support import free_port

MARKER = "gUeSt-mArKeR-51c0de"


class _Reached:
    """As much of a relay as a holder of a link needs."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self._url = url
        self._http = http

    async def post(self, path: str, body):
        async with self._http.post(self._url + path, json=body) as response:
            return response.status, json.loads(await response.read())


@pytest.mark.spec("A2ACP-276", "A2ACP-005")
async def test_a_marker_in_every_field_of_a_guests_link_is_nowhere_in_the_relay(tmp_path):
    relay = RelayProcess(tmp_path / "relay", free_port())
    relay.start()
    try:
        post = Post(tmp_path / "anna", clock=TimeService(), entropy=SystemEntropy())
        async with post:
            code = await asyncio.to_thread(relay.invite, "anna")
            await post.directory.register(f"agent:anna@{relay.domain}", relay.url, code)
        post.store.close()
        async with Agent(tmp_path / "anna") as agent, aiohttp.ClientSession() as http:
            await agent.profile({"timezone": "Europe/London", "dietary": MARKER})
            asked = await agent.guest_ask(
                f"{MARKER} name",
                f"{MARKER} text",
                questions=[f"{MARKER} question"],
                share=["dietary"],
                signed=f"{MARKER} sender",
            )
            holder = Holder(_Reached(relay.url, http), asked["link"])
            assert json.dumps(await holder.question()).count(MARKER) == 5
            said = {"answers": [f"{MARKER} answer"], "suggestion": f"{MARKER} suggestion"}
            assert (await holder.answer("suggest", **said))[0] == 200
            stored = b"".join(path.read_bytes() for path in relay.folder.iterdir())
            memory = _memory_of(relay.pid)
            found = await agent.guest(asked["guest_id"])
            assert MARKER in found["answers"][0]["suggestion"]
            await agent.guest_revoke(asked["guest_id"])
            memory += _memory_of(relay.pid)
            stored += b"".join(path.read_bytes() for path in relay.folder.iterdir())
    finally:
        relay.stop()
    key = asked["link"].partition("#")[2]
    assert asked["guest_id"].encode() in stored
    assert asked["guest_id"].encode() in memory
    for place in (stored, memory):
        for secret in (MARKER.encode(), MARKER.encode().hex().encode(), key.encode(), holder.secret):
            assert secret not in place
