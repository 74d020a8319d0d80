"""What a relay tells an agent: kept until that agent has surely heard it (A2ACP-019, A2ACP-222, A2ACP-256).

A notice is on disk before it is said, and goes when the pong comes back to a ping that followed it: whoever
answers pings in order has read what came before. A socket that died unnoticed loses nothing; at worst
something is said twice. Control frames carry no number, so that any agent that speaks WebSocket is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.relay.io import registry
from tacit.wire import frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.relay.io.connection import MailboxConnection
    from tacit.relay.io.store import RelayStore


async def tell(
    store: RelayStore, account: int, frame: frames.Frame, connected: Callable[[int], MailboxConnection | None]
) -> None:
    """Keep a notice, then say it if the agent is connected; else it is said at the next login."""
    encoded = frames.encode(frame)
    number = await store.write(lambda file: registry.add_notice(file, account, encoded))
    connection = connected(account)
    if connection is not None:
        connection.say_notice(number, encoded)


def say_all(store: RelayStore, connection: MailboxConnection) -> None:
    """Whatever an agent has not surely heard, at its login."""
    for number, frame in registry.notices(store.reader, connection.account):
        connection.say_notice(number, frame)


async def heard(store: RelayStore, account: int, number: int) -> None:
    """A pong came back: all notices up to `number` were read."""
    await store.write(lambda file: registry.forget_notices(file, account, number))
