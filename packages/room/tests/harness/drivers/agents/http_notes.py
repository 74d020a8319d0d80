"""The notes of `notes.py` behind streamable HTTP, for those who hold the token."""

import asyncio

import uvicorn
from mcp.server.mcpserver import MCPServer


class Notes:
    def __init__(self):
        self.read = []
        self.refused = 0

    async def __aenter__(self):
        server = MCPServer("notes")

        @server.tool()
        def read_note(name: str) -> str:
            """Read a note."""
            self.read.append(name)
            return f"the note {name} says blue"

        app = server.streamable_http_app()

        async def guarded(scope, receive, send):
            if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer pass":
                self.refused += 1
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            await app(scope, receive, send)

        config = uvicorn.Config(guarded, host="127.0.0.1", port=0, log_config=None, ws="none")
        self._server = uvicorn.Server(config)
        self._server.install_signal_handlers = lambda: None
        self._task = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        return self

    async def __aexit__(self, *exc):
        self._server.should_exit = True
        self._server.force_exit = True
        await self._task
