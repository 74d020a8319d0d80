from __future__ import annotations

import pytest

from tacit.client import Hub
from tacit.hub.config import HubConfig
from tacit.hub.server import Server


class Room:
    """A real hub on a real socket that can be stopped and started on the same port and folder."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.server: Server | None = None
        self.port = 0

    async def start(self) -> None:
        self.server = Server(HubConfig(self.folder, port=self.port))
        await self.server.start()
        self.port = self.server.port

    async def stop(self) -> None:
        if self.server is not None:
            await self.server.stop()
            self.server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def owner_token(self) -> str:
        return (self.folder / "owner.token").read_text().strip()


@pytest.fixture
async def room(tmp_path):
    room = Room(tmp_path)
    await room.start()
    yield room
    await room.stop()


@pytest.fixture
async def owner(room):
    async with Hub(room.url, room.owner_token, retry_for=10) as hub:
        yield hub


@pytest.fixture
async def group(owner):
    return (await owner.create_group("Lobby"))["group_id"]
