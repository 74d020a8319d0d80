"""A hub beside the test: on a loop of its own thread, for clients that block."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tacit.hub.config import Limits
from tacit.hub.server import Server
from tests.hub.room import config


class Beside:
    """A hub on a loop of its own thread, for a client that blocks."""

    def __init__(self, folder: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.server = self.run(self._begin(folder))

    async def _begin(self, folder: Any) -> Server:
        # Generated callers also ask without a token and with wrong ones, over and over.
        server = Server(config(folder, limits=Limits(failed_sign_ins_per_second=10_000)))
        await server.start()
        return server

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def close(self) -> None:
        self.run(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
