"""A small real SMTP server, for what mails."""

from __future__ import annotations

import asyncio
import contextlib


@contextlib.asynccontextmanager
async def mail_server():
    """A small real SMTP server: what it was sent, and where it listens."""
    letters: list[tuple[str, bytes]] = []

    async def serve(reader, writer):
        async def say(line: str) -> None:
            writer.write(line.encode() + b"\r\n")
            await writer.drain()

        await say("220 here")
        to = ""
        while line := (await reader.readline()).decode().strip():
            word = line.upper().split(" ")[0]
            if word == "RCPT":
                to = line.partition("<")[2].rstrip(">")
            if word == "DATA":
                await say("354 go on")
                text = await reader.readuntil(b"\r\n.\r\n")
                letters.append((to, text[:-5]))
            await say("221 bye" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield letters, server.sockets[0].getsockname()[1]
