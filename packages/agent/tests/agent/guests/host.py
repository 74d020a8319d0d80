"""One personal agent on a real relay, and guests: in a browser, or by hand with what a browser does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from typing import Any

from playwright.async_api import async_playwright

from tacit.agent import Agent
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import parse_rfc3339
from tacit.seal import guest_seal
from tacit.wire import guests
from tacit.wire.encoding import b64, unb64
from tests.agent.arrangements import MONDAY, registered
from tests.relay_support import PATIENCE, Relay

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]


@contextlib.asynccontextmanager
async def host(folder, *, line: bool = False, now: str = MONDAY, **more: Any):
    """A relay and Anna's agent; with `line` it is connected."""
    async with Relay(folder / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(now) - relay.clock.now()
        await registered(relay, folder / "anna", "anna")
        async with Agent(folder / "anna", clock=relay.clock, **more) as agent:
            await agent.profile({"timezone": "Europe/London", "name": "Anna", "dietary": "no meat"})
            if line:
                agent.connect()
                await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
            yield relay, agent


class Holder:
    """Whoever has a link, without a browser."""

    def __init__(self, relay: Relay, link: str) -> None:
        self.relay = relay
        place, _, key = link.partition("#")
        self.guest_id = place.rsplit("/", 1)[1]
        self.secret = unb64(key) or b""
        self.proof = b64(guest_seal.proof(self.secret))

    async def post(self, what: str, **body: Any) -> tuple[int, Any]:
        return await self.relay.post(f"/v1/guests/{self.guest_id}/{what}", {"proof": self.proof, **body})

    async def question(self) -> dict[str, Any]:
        status, found = await self.post("question")
        assert status == 200, found
        sealed = unb64(found["question"]) or b""
        return json.loads(guest_seal.unseal(self.secret, self.guest_id, guest_seal.QUESTION, sealed))

    def sealed(self, plain: bytes) -> str:
        padded = guests.padded(plain, guests.LARGEST_ANSWER)
        nonce = SystemEntropy().draw(guest_seal.NONCE_BYTES)
        return b64(guest_seal.seal(self.secret, self.guest_id, guest_seal.ANSWER, padded, nonce))

    async def answer(self, choice: str = "confirm", **more: Any) -> tuple[int, Any]:
        said = {"v": 1, "choice": choice, "answers": [], "suggestion": "", **more}
        return await self.post("answers", answer=self.sealed(json.dumps(said).encode()))


@contextlib.asynccontextmanager
async def browser():
    """A real Chromium, without any code of ours in it."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        try:
            yield opened
        finally:
            await opened.close()
