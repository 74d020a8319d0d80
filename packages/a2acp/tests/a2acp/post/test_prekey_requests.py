"""How long a peer without prekeys is left alone: a moment first, longer each time, until a packet was sealed."""

import asyncio

import pytest

from tacit.a2acp.post.io.prekey_requests import PrekeyRequests


@pytest.mark.spec("A2ACP-245")
async def test_a_peer_that_had_no_prekeys_is_asked_again_soon_and_then_rarer(monkeypatch):
    now = 100.0
    loop = asyncio.get_running_loop()
    requests = PrekeyRequests(None, None, lambda: None)

    def rested() -> float:
        """The seconds for which the peer is left alone."""
        nonlocal now
        began = now
        requests.rest("bob")
        while requests.rests("bob"):
            assert requests.resting() == ["bob"]
            assert requests.take("bob", "pkt_1") == (False, None)
            assert not requests._wanted
            now += 0.5
        assert requests.resting() == []
        return now - began

    with monkeypatch.context() as patched:
        patched.setattr(loop, "time", lambda: now)
        assert [rested() for _ in range(6)] == [1, 2, 4, 8, 15, 15]
        requests.sealed("bob")
        assert rested() == 1
        assert requests.take("bob", "pkt_1") == (False, None)
        assert requests._wanted == {"bob": "pkt_1"}
