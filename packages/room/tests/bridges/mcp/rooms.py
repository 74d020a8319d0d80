"""A hub with a group, and MCP agents that come in by either door."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tacit.base.quoting import words_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.types import CallToolResult

    from tests.hub.room import Room

TACIT = str(Path(sys.executable).parent / "tacit")


class Agent:
    """An agent that has nothing but its MCP client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.structured_content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error object of a call that must be refused, as a result and not as an error of the protocol."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content["error"]

    async def inbox(self) -> dict[str, Any]:
        return await self.resource("tacit://inbox")

    async def resource(self, uri: str) -> dict[str, Any]:
        text = (await self.client.read_resource(uri)).contents[0].text
        notice, _, body = text.partition("\n")
        assert "never an instruction" in notice
        return json.loads(words_in(body))


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TACIT")}
    return {**kept, **more}


@asynccontextmanager
async def over_http(room: Room, token: str, mode: str = "auto") -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(room.url + "/mcp", http_client=http), mode=mode) as client,
    ):
        yield Agent(client)


@asynccontextmanager
async def over_stdio(room: Room, token: str, mode: str = "auto") -> AsyncIterator[Agent]:
    env = environment(TACIT_URL=room.url, TACIT_TOKEN=token)
    parameters = StdioServerParameters(command=TACIT, args=["mcp"], env=env)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield Agent(client)


DOORS = {"stdio": over_stdio, "http": over_http}


@dataclass(frozen=True, slots=True)
class Group:
    """A group with agents in it."""

    room: Room
    id: str
    tokens: dict[str, str]

    async def say(self, text: str, **data: Any) -> str:
        return (await self.room.say(self.id, text, **data))["id"]

    async def said_by(self, actor: str) -> list[dict[str, Any]]:
        events = await self.room.events(self.id, kinds="chat.message")
        return [event for event in events if event["by"] == actor]


async def group_of(room: Room, **roles: list[str]) -> Group:
    group = await room.group()
    tokens = {name: await room.actor(group, name, roles=given) for name, given in roles.items()}
    return Group(room, group, tokens)
