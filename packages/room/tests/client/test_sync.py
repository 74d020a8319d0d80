"""The blocking twin: the same calls, from a thread without a loop."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from tacit.client import Hub, SocketHub, SyncHub

ASYNC_ONLY = {"session", "known"}


@pytest.mark.parametrize("twin", [SyncHub, SocketHub])
def test_the_twin_has_every_public_method_of_the_async_client(twin):
    def public(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}

    assert public(Hub) - ASYNC_ONLY <= public(twin)


@pytest.mark.parametrize("twin", [SyncHub, SocketHub])
async def test_a_program_without_a_loop_can_talk_and_follow(room, twin):
    def program() -> list[str]:
        with twin(room.url, room.owner_token) as hub:
            group = hub.create_group("Lobby")["group_id"]
            hub.add_actor(group, "ada", role="peer")
            first = hub.send(group, "one")
            hub.send(group, "two", reply_to=first.id)
            assert [event.data["text"] for event in hub.thread(group, first.id)] == ["one", "two"]
            assert [event.data["text"] for event in hub.search(group, "tw")] == ["two"]
            assert hub.inbox(group, "ada").unread_count == 2
            assert hub.whoami() == "user"
            texts = []
            for event in hub.follow(group, kinds=["chat.*"]):
                texts.append(event.data["text"])
                if len(texts) == 2:
                    break
            return texts

    assert await asyncio.to_thread(program) == ["one", "two"]
