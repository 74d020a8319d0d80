"""Commands about contacts, while the agent runs elsewhere."""

from __future__ import annotations

import asyncio

import pytest

from tacit.a2acp.post.io.post import Post
from tacit.agent.shell.commands import post
from tacit.agent.shell.io import door
from tacit.base.io.system import SystemEntropy
from tests.agent.arrangements import pair


@pytest.mark.spec("A2ACP-195", "A2ACP-196")
async def test_an_agent_that_runs_ends_its_threads_with_a_blocked_contact_before_the_command_is_done(
    tmp_path,
):
    async with pair(tmp_path) as (_, anna, ben), door.served(anna, anna.folder):
        thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
        assert anna.journal.book.threads[thread].is_open
        other = Post(anna.folder, clock=anna.clock, entropy=SystemEntropy())
        try:
            other.inbox.block(ben.me)
            await asyncio.to_thread(post._forget, other, ben.me)
        finally:
            other.store.close()
        assert not anna.journal.book.threads[thread].is_open
