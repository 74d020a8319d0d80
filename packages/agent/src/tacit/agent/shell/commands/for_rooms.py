"""The agent as a room needs it: whose it is, and as a process while the room holds it.

All that the room's `tacit agent join` takes of the agent; what is done in a room is the room's matter.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tacit.a2acp.post.io.schema import FILE
from tacit.a2acp.post.io.store import AgentStore
from tacit.agent.shell.commands import keys
from tacit.agent.shell.commands.arrange import opened_agent
from tacit.agent.shell.commands.process import stop_by, without_words
from tacit.agent.terminal.commands.asking import invocation
from tacit.base.errors import Refused
from tacit.base.io import agent_socket
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

__all__ = ["own_name", "running", "stop_by", "without_words"]


def own_name(folder: Path) -> str:
    """The agent's own name at its relay, as the running agent says it or its folder does."""
    if not (folder / FILE).exists():
        raise Refused("no_agent", f"there is no agent in {folder}; make one with `tacit agent register`")
    try:
        own = str(agent_socket.ask(folder, "me", {})["address"])
    except ConnectionError:
        store = AgentStore(folder)
        try:
            keys.unlock(store, invocation().passphrase_file)
            own = store.me().address
        finally:
            store.close()
    return address.parse(own).username


@asynccontextmanager
async def running(stopped: asyncio.Event) -> AsyncGenerator[tuple[asyncio.Future[Any], asyncio.Future[Any]]]:
    """This folder's agent, at its socket: its life, which ends by `stopped`, and its notifications."""
    from tacit.agent.owner.io import nudging
    from tacit.agent.shell.io import door

    async with opened_agent() as opened, door.served(opened, opened.folder):
        yield asyncio.ensure_future(opened.run(stopped)), asyncio.ensure_future(nudging.run(opened))
