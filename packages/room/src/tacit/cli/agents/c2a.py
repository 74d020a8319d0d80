"""`tacit c2a`: the C2A protocol on standard input and output, for harnesses that start a program (C2A-007).

One JSON-RPC message a line, in both directions, passed on to the hub's `/c2a` as it is. With `--self-test` it
checks what a first C2A needs against the running hub, in a room of its own (C2A-228).
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import aiohttp
import click

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.proving import checks
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command()
@click.argument("name", metavar="[GROUP]", required=False)
@click.option("--self-test", is_flag=True, help="Check the nine parts of a minimal C2A and report each.")
@pass_session
def c2a(session: CliSession, name: str | None, self_test: bool) -> None:
    """Speak C2A over standard input and output, as the agent given with --as (or --token)."""
    if self_test:
        from tacit.cli.agents.c2a_check import report

        report(session)
        return
    group_id = session.resolve_group(name) if name else None
    token = session.credential(group_id)
    asyncio.run(_bridge(session.url, token, session.proof_for(token)))


async def _bridge(url: str, token: str | None, proven_by: bytes | None) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with (
            aiohttp.ClientSession(trace_configs=checks(url, proven_by)) as client,
            client.ws_connect(url + "/c2a", headers=headers, max_msg_size=2**20, heartbeat=30.0) as socket,
        ):
            forward = loop.create_task(_forward(reader, socket))
            try:
                await _back(socket, _write)
            finally:
                forward.cancel()
    except aiohttp.WSServerHandshakeError as error:
        raise Refused("permission_denied", f"the hub refused the session (HTTP {error.status})") from error
    except (aiohttp.ClientError, OSError) as error:
        raise Unavailable(f"the hub at {url} cannot be reached") from error


async def _forward(reader: asyncio.StreamReader, socket: aiohttp.ClientWebSocketResponse) -> None:
    """From standard input to the hub; the end of the input ends the session."""
    while line := await reader.readline():
        if line.strip():
            await socket.send_str(line.decode("utf-8", "replace").rstrip("\n"))
    await socket.close()


async def _back(socket: aiohttp.ClientWebSocketResponse, write: Callable[[str], Any]) -> None:
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT:
            write(message.data)


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
