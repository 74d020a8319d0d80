"""The agent in a room, as an agent among others, over C2A (`tacit agent join`).

Each message that wants an answer of it is read again from the ledger before it counts as the owner's word
(`manners`). An order is noted in a file before it is carried out and after it was answered: killed in
between, it is not carried out twice, and the owner is told. Words of messages are not kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Final

from tacit.agent.shell.commands import for_rooms
from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.base.faults import place_of
from tacit.base.io import agent_socket as socket
from tacit.base.io.private_file import write_private
from tacit.c2a.errors import Refusal
from tacit.c2a.tools import TurnOccasion, fill_send
from tacit.c2a.vocabulary import Policy
from tacit.cli.personal import manners

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.hub_proof import HubAccess
    from tacit.c2a.io.session import AgentSession, Delivery
    from tacit.client import Hub

_log: Final = logging.getLogger("tacit.agent")
_ANSWERABLE: Final = frozenset({Policy.MUST_RESPOND, Policy.MAY_RESPOND})
KEPT: Final = 1000
FILE: Final = "orders.jsonl"


class Orders:
    """Which messages were taken as orders, and which of them were answered: by id, durably."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._open: dict[str, str] = {}
        self._done: dict[str, None] = {}
        for event_id, target in self._read():
            self._apply(event_id, target)
        lines = [(one, "") for one in list(self._done)[-KEPT:]] + list(self._open.items())
        write_private(self._path, b"".join(map(_line, lines)))

    def _read(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        with contextlib.suppress(FileNotFoundError):
            for line in self._path.read_bytes().splitlines():
                with contextlib.suppress(ValueError, TypeError):
                    event_id, target = json.loads(line)
                    found.append((str(event_id), str(target)))
        return found

    def _apply(self, event_id: str, target: str) -> None:
        if target:
            self._open[event_id] = target
        else:
            self._open.pop(event_id, None)
            self._done[event_id] = None

    def _keep(self, event_id: str, target: str) -> None:
        with self._path.open("ab") as file:
            file.write(_line((event_id, target)))
            file.flush()
            os.fsync(file.fileno())
        self._apply(event_id, target)

    def take(self, event_id: str, target: str) -> None:
        """It is about to be carried out; its answer goes to `target`."""
        self._keep(event_id, target)

    def answered(self, event_id: str) -> None:
        """It needs nothing more."""
        self._keep(event_id, "")

    def knows(self, event_id: str) -> bool:
        """Was it taken before?"""
        return event_id in self._open or event_id in self._done

    def interrupted(self) -> list[tuple[str, str]]:
        """What was taken and never answered, with where the answer goes."""
        return list(self._open.items())


def _line(order: tuple[str, str]) -> bytes:
    return json.dumps(order).encode() + b"\n"


class RoomAgent:
    """One agent in one room."""

    def __init__(self, session: AgentSession, hub: Hub, orders: Orders, folder: Path, group_id: str) -> None:
        self._session = session
        self._hub = hub
        self._orders = orders
        self._folder = folder
        self._group_id = group_id
        self._me = ""

    async def run(self) -> None:
        """Answer what is to be answered, until the session ends."""
        self._me = await self._hub.whoami()
        for event_id, target in self._orders.interrupted():
            await self._say(event_id, target, manners.INTERRUPTED, private=True)
            self._orders.answered(event_id)
        async for delivery in self._session.deliveries():
            try:
                await self._take(delivery)
            except TacitError as fault:
                # One message's trouble: the hub sees that it has no answer, and others go on.
                _log.warning("a message could not be dealt with: %s", place_of(fault))

    async def _take(self, delivery: Delivery) -> None:
        event = delivery.event
        if event.policy not in _ANSWERABLE or event.signal is not None:
            await delivery.accept()
            await self._ended(event.event_id, "ignored")
            return
        said = await self._said(event.event_id)
        private = said is not None and bool(said.parties)
        if said is None or not manners.is_the_owners_word(said, self._me):
            await delivery.accept()
            if event.policy is Policy.MUST_RESPOND:
                await self._say(
                    event.event_id, event.reply_target, manners.reply_to_others(said), private=private
                )
            else:
                await self._ended(event.event_id, "ignored")
            return
        known = self._orders.knows(event.event_id)
        if not known:
            self._orders.take(event.event_id, event.reply_target)
        await delivery.accept(duplicate=known)
        if known:
            return
        answer = manners.UNREADABLE if event.supersedes is not None else await self._obeyed(said.text)
        await self._say(event.event_id, event.reply_target, answer, private=True)
        self._orders.answered(event.event_id)

    async def _said(self, event_id: str) -> manners.RoomMessage | None:
        """The message as the ledger has it; None when it is none that can be read."""
        try:
            found = await self._hub.call("event", {"group_id": self._group_id, "event_id": event_id})
        except Refused:
            return None
        event = found["event"]
        text = event["data"].get("text")
        parties = frozenset(str(one) for one in found.get("parties") or ())
        return manners.RoomMessage(str(event["by"]), parties, text if isinstance(text, str) else "")

    async def _obeyed(self, text: str) -> str:
        order = manners.order(text)
        if order is None:
            return manners.HELP
        try:
            found = await socket.asked(self._folder, order.command, dict(order.arguments))
        except Refused as refused:
            return manners.refused(refused.code, refused.message)
        except (ConnectionError, Unavailable):
            return manners.AWAY
        return manners.told(order, found)

    async def _say(self, event_id: str, target: str, text: str, *, private: bool) -> None:
        """Answer an event where it was asked; its key makes every repeat the same message."""
        try:
            await self._session.call("chat.send_message", **_whole(event_id, target, text, private=private))
        except Refused as refused:
            _log.warning("an answer was refused: %s", refused.code)
            await self._ended(event_id, "failed", error={"code": refused.code, "message": refused.message})

    async def _ended(self, event_id: str, how: str, **more: Any) -> None:
        try:
            await self._session.disposition(event_id, how, **more)
        except Refused as refused:
            _log.info("a disposition was refused: %s", refused.code)


def _whole(event_id: str, target: str, text: str, *, private: bool) -> dict[str, Any]:
    """A send with all that goes with it: an answer, as widely as it was asked."""
    given = {"content": text, "idempotencyKey": f"agent:{event_id}"}
    found = fill_send(given, occasion=TurnOccasion(event_id, target, private))
    if isinstance(found, Refusal):
        raise Refused(found.code, found.message)
    return found


async def run(access: HubAccess, state: Path, folder: Path, group_id: str) -> None:
    """In the room until stopped, with the agent that runs, or as it."""
    stopped = asyncio.Event()
    for_rooms.stop_by(stopped, beside=False)
    async with contextlib.AsyncExitStack() as stack:
        work: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(_in_the_room(access, state, folder, group_id))
        ]
        if not await _is_running(folder):
            work += await stack.enter_async_context(for_rooms.running(stopped))
        waiting: asyncio.Future[Any] = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({*work, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.set()
            for one in (work[0], *work[2:], waiting):
                # The agent itself ends by `stopped`, at a moment of its own.
                one.cancel()
            ended = await asyncio.gather(*work, waiting, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, Exception):
                raise fault


async def _is_running(folder: Path) -> bool:
    try:
        await socket.asked(folder, "me", {})
    except ConnectionError:
        return False
    return True


async def _in_the_room(access: HubAccess, state: Path, folder: Path, group_id: str) -> None:
    from tacit.c2a.io.session import AgentSession, Habits
    from tacit.client import Hub

    url, token, proven_by = access
    orders = Orders(state)
    async with (
        Hub(url, token, proven_by=proven_by) as hub,
        AgentSession(
            url,
            token,
            habits=Habits(name="tacit-agent"),
            proven_by=proven_by,
            known=lambda params: orders.knows(str(params.get("eventId"))),
        ) as session,
    ):
        await RoomAgent(session, hub, orders, folder, group_id).run()
