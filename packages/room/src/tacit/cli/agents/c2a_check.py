"""The self-test of C2A: the nine parts of a minimal build, each pass or fail (C2A-228).

Runs a hub of its own in a temporary folder with two agents on real sockets, so that nobody's rooms are
touched; exit code 1 when a part fails.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp

from tacit.attention.settings import DEFAULTS
from tacit.base.commands.terminal import styled
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.base.quoting import words_in
from tacit.c2a.delivery_shape import faults
from tacit.c2a.messages import Author, Delivered, Part
from tacit.c2a.negotiation import CAPABILITIES
from tacit.c2a.vocabulary import (
    AuthorKind,
    ConversationKind,
    Directedness,
    Mode,
    Policy,
    Priority,
    Reason,
)
from tacit.client import Hub
from tacit.harness import question as questions
from tacit.harness.prompt import event_block
from tacit.hub.config import HubConfig
from tacit.hub.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.cli.session import CliSession

EVERYTHING: Final = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
WAIT_SECONDS: Final = 5.0


class CheckFailed(Exception):
    """A part did not do what it should."""


def _require(fact: object, what: str) -> None:
    if not fact:
        raise CheckFailed(what)


class ProbeAgent:
    """A harness without a model: it accepts what comes and calls tools."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._count = 0
        self.heard: list[dict[str, Any]] = []

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One request; deliveries that come meanwhile are accepted and kept."""
        self._count += 1
        await self._socket.send_json(
            {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        )
        while True:
            message = await self._socket.receive_json(timeout=WAIT_SECONDS)
            if message.get("id") == self._count and "method" not in message:
                return message
            await self._take(message)

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """One tool call."""
        return await self.ask("tools/call", name=name, arguments=arguments)

    async def _take(self, message: dict[str, Any]) -> None:
        if message.get("method") == "chat/deliver":
            self.heard.append(message)
            result = {"accepted": True, "eventId": message["params"]["eventId"]}
            await self._socket.send_json({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def delivery(self) -> dict[str, Any]:
        """The params of the next delivery."""
        seen = len(self.heard)
        while len(self.heard) == seen:
            await self._take(await self._socket.receive_json(timeout=WAIT_SECONDS))
        return self.heard[-1]["params"]


class Bench:
    """A hub, a group, two agents of one role."""

    def __init__(self, hub: Hub, group: str, ada: ProbeAgent, bob: ProbeAgent) -> None:
        self.hub = hub
        self.group = group
        self.ada = ada
        self.bob = bob

    async def say(self, text: str, **more: Any) -> str:
        """The owner says something."""
        return (await self.hub.send(self.group, text, **more)).id


async def _envelope(bench: Bench) -> None:
    event = await bench.say("@ada which branch do we release from?")
    params = await bench.ada.delivery()
    _require(params["eventId"] == event and not faults(params), "a delivery lacks a member")
    _require(params["addressedToMe"] and params["policy"] == params["attention"]["policy"], "flags disagree")


async def _directedness(bench: Bench) -> None:
    # Said by another: what an asker says just before belongs to the question (C2A-083).
    said = await bench.bob.call(
        "chat.send_message", target="conversation:main", content="lunch was good today",
        idempotencyKey="directedness-1", visibility="channel", directedness="ambient",
    )  # fmt: skip
    _require("error" not in said, "an agent may not speak to the room")
    event = await bench.say("@ada and the date?")
    params = await bench.ada.delivery()
    _require(params["eventId"] == event, "something said to the room was pushed")
    _require(params["target"]["directedness"] == "to_me", "a mention is not to_me")


async def _policies(bench: Bench) -> None:
    event = await bench.say("@bob please look at the index")
    await bench.bob.delivery()
    refused = await _send(bench.ada, event, "I can do it", "policies-1")
    _require(refused.get("error", {}).get("code") == -32010, "a forbidden answer was not refused")


async def _send(agent: ProbeAgent, event: str, text: str, key: str) -> dict[str, Any]:
    return await agent.call(
        "chat.send_message", target="conversation:main", content=text, inReplyTo=event, idempotencyKey=key,
        visibility="channel", directedness="to_other",
    )  # fmt: skip


async def _notify(bench: Bench) -> None:
    await bench.say("@backend who has time for a review of the parser change")
    params = await bench.ada.delivery()
    _require("content" not in params and "knock" in params, "a knock carries the text")
    await bench.bob.delivery()


async def _assembly(_bench: Bench) -> None:
    start = Moment(SECOND)
    pieces = [_fragment(f"e{n}", f"part {n}", Moment(start + n * SECOND)) for n in range(5)]
    question = questions.begun(pieces[0], start)
    for piece in pieces[1:]:
        _require(questions.takes(question, piece, piece.created_at, DEFAULTS), "a fragment was not taken in")
        question = questions.added(question, piece, piece.created_at)
    whole = questions.closed(question)
    _require(whole is not None and whole.events == tuple(pieces), "fragments were not merged")
    block = event_block(whole.events if whole is not None else (), "5f3a9c1e")
    _require(all(piece.text in words_in(block) for piece in pieces), "a fragment is not shown")


def _fragment(event_id: str, text: str, at: Moment) -> Delivered:
    return Delivered(
        event_id, "c", ConversationKind.CHANNEL, Author("ann", AuthorKind.HUMAN, "Ann"), Directedness.TO_ME,
        Policy.MUST_RESPOND, Mode.BUFFERED, Reason.DIRECT_MENTION.value, Priority.NORMAL, at,
        f"{event_id}:ada", (Part(text=text),),
    )  # fmt: skip


async def _reactions(bench: Bench) -> None:
    event = await bench.say("@ada please tidy the backlog")
    await bench.ada.delivery()
    for signal, closes in (("seen", False), ("queued", False), ("done", True)):
        answer = await bench.ada.call("chat.react", inReplyTo=event, signal=signal)
        _require(answer.get("result", {}).get("closed") is closes, f"{signal} did not do its part")


async def _sending(bench: Bench) -> None:
    event = await bench.say("@ada what is the plan?")
    await bench.ada.delivery()
    first = await _send(bench.ada, event, "We ship on Friday.", "plan-1")
    again = await _send(bench.ada, event, "We ship on Friday.", "plan-1")
    _require(
        first["result"]["eventId"] == again["result"]["eventId"], "a repeated send made a second message"
    )
    other = await _send(bench.ada, event, "We ship on Monday.", "plan-1")
    _require(other.get("error", {}).get("code") == -32018, "a key was taken for another body")
    bare = await bench.ada.call(
        "chat.send_message", target="conversation:main", content="x", idempotencyKey="b"
    )
    _require(bare.get("error", {}).get("code") == -32602, "a send without directedness was taken")


async def _claims(bench: Bench) -> None:
    event = await bench.say("@backend could one of you restart the runner")
    await asyncio.gather(bench.ada.delivery(), bench.bob.delivery())
    early = await _send(bench.bob, event, "restarting it now", "claims-1")
    _require(early.get("error", {}).get("code") == -32012, "an answer before a claim was not refused")
    answers = await asyncio.gather(
        bench.ada.call("chat.claim", eventId=event), bench.bob.call("chat.claim", eventId=event)
    )
    _require(sum("result" in one for one in answers) == 1, "a claim has not exactly one owner")


async def _repeats(bench: Bench) -> None:
    body = {"text": "@ada one more thing: who reviews?", "client_id": "repeat-1"}
    first = await bench.hub.append(bench.group, "chat.message", body)
    again = await bench.hub.append(bench.group, "chat.message", body)
    _require(first.id == again.id and again.duplicate, "a platform's retry made a second event")
    params = await bench.ada.delivery()
    _require(params["eventId"] == first.id, "the event was not delivered")
    _require(
        params["reliability"]["idempotencyKey"] == f"{first.id}:ada", "the key does not name the receiver"
    )


PARTS: Final[tuple[tuple[str, Callable[[Bench], Awaitable[None]]], ...]] = (
    ("envelope", _envelope),
    ("directedness defaults", _directedness),
    ("response policies", _policies),
    ("notify", _notify),
    ("buffered assembly", _assembly),
    ("reactions", _reactions),
    ("idempotent send with directedness", _sending),
    ("channel claims", _claims),
    ("retry and dedup", _repeats),
)


async def run(folder: Path) -> list[dict[str, Any]]:
    """Every part in turn; one that fails does not keep the others from being tried."""
    server = Server(HubConfig(data=folder, port=0))
    await server.start()
    try:
        return await _run(server)
    finally:
        await server.stop()


async def _run(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with Hub(server.url, server.hub.owner_token) as hub, aiohttp.ClientSession() as client:
        for name, part in PARTS:
            group = (await hub.create_group(name))["group_id"]
            agents = [await _agent(server, client, hub, group, one) for one in ("ada", "bob")]
            try:
                await part(Bench(hub, group, *agents))
            except (CheckFailed, TimeoutError, KeyError) as error:
                why = str(error) if isinstance(error, CheckFailed) else f"no answer ({type(error).__name__})"
                found.append({"part": name, "pass": False, "why": why})
            else:
                found.append({"part": name, "pass": True})
    return found


async def _agent(
    server: Server, client: aiohttp.ClientSession, hub: Hub, group: str, name: str
) -> ProbeAgent:
    added = await hub.add_actor(group, name, roles=["backend"])
    headers = {"Authorization": f"Bearer {added['token']}"}
    agent = ProbeAgent(await client.ws_connect(server.url + "/c2a", headers=headers))
    info = {"name": "self-test", "version": "1"}
    answer = await agent.ask(
        "initialize", protocolVersion="2026-06-24", clientInfo=info, capabilities=EVERYTHING
    )
    _require("result" in answer, "initialize was refused")
    return agent


def report(session: CliSession) -> None:
    """Run and print; refuses at the end when a part failed."""
    with tempfile.TemporaryDirectory(prefix="tacit-c2a-") as folder:
        found = asyncio.run(run(Path(folder)))

    def show() -> None:
        for one in found:
            mark, style = ("pass", "green") if one["pass"] else ("FAIL", "bold red")
            why = f": {one['why']}" if "why" in one else ""
            session.out.print(f"{styled(mark, style)}  {one['part']}{why}")

    session.answer({"parts": found}, show)
    failed = [one["part"] for one in found if not one["pass"]]
    if failed:
        raise Refused("internal", f"{len(failed)} of {len(found)} parts failed")
