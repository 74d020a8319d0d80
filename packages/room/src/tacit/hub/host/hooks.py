"""Webhooks: sessions that are called instead of calling (C2A-007, C2A-008, C2A-011).

Each delivery is a signed POST; a 2xx answer whose body accepts the event is the acknowledgement. One at a
time and in order: an event that is not accepted is tried again with growing pauses before the next goes out.
The signature is an HMAC-SHA256 over the time and the body, so that a receiver can tell our calls from
anybody's and refuse old ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout

from tacit.attention.io.state_store import Archive
from tacit.base.errors import TacitError, Unavailable
from tacit.c2a.messages import accepts, without_lines
from tacit.c2a.negotiation import CAPABILITIES, VERSIONS, Agreement
from tacit.c2a.retry import redeliver_after
from tacit.c2a.vocabulary import NEWER
from tacit.hub.host.dispatch import Link
from tacit.ledger.codes import invalid
from tacit.ledger.commands import DropWebhook, SetWebhook

if TYPE_CHECKING:
    from tacit.hub.host.ports import HookPorts

log: Final = logging.getLogger("tacit.hub")
SIGNATURE: Final = "Tacit-Signature"
TIMEOUT_SECONDS: Final = 30.0
ANSWER_BYTES: Final = 64 * 1024
MOST_WAITING: Final = 256
_encode: Final = msgspec.json.Encoder().encode


def signature(secret: str, at: int, body: bytes) -> str:
    """What stands in the signature header: `t=<unix seconds>,v1=<hex>`."""
    mac = hmac.new(secret.encode(), str(at).encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={mac}"


def full_agreement(version: str = NEWER) -> Agreement:
    """Everything that the host can do, except to interrupt."""
    sections = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
    sections["injection"]["interrupt"] = False
    return Agreement(version, sections)


class HookWire:
    """One webhook as a wire."""

    def __init__(self, ports: HookPorts, url: str, secret: str) -> None:
        self._ports = ports
        self._url = url
        self._secret = secret
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.link: Link | None = None
        self.version = NEWER

    @property
    def kept(self) -> tuple[str, str, str]:
        """As the ledger has it: address, secret and version."""
        return self._url, self._secret, self.version

    def anew(self) -> HookWire:
        """The same address with an empty queue."""
        return HookWire(self._ports, self._url, self._secret)

    def start(self) -> None:
        """Begin to send."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def send(self, message: dict[str, Any]) -> None:
        """Queue one message; one that nobody has to answer is left out when very much waits already."""
        if "id" in message or self._queue.qsize() < MOST_WAITING:
            self._queue.put_nowait(message)

    def end(self, code: int, reason: str) -> None:
        """Stop sending."""
        del code, reason
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        timeout = ClientTimeout(total=TIMEOUT_SECONDS)
        async with ClientSession(timeout=timeout) as client:
            while True:
                message = await self._queue.get()
                tries = 1
                while self._wanted(message) and not await self._post(client, message):
                    await asyncio.sleep(redeliver_after(tries))
                    tries += 1
                    # What was said before it may have been taken back since.
                    message["params"] = without_lines(message["params"])
                    kept = message["params"].get("reliability")
                    if kept is not None:
                        message["params"]["reliability"] = {**kept, "attempt": kept["attempt"] + 1}

    def _wanted(self, message: dict[str, Any]) -> bool:
        """What was answered or called back in the meantime is not posted (any more)."""
        return "id" not in message or (self.link is not None and self.link.expects(str(message["id"])))

    async def _post(self, client: ClientSession, message: dict[str, Any]) -> bool:
        body = _encode(message)
        at = self._ports.clock.now() // 1_000_000
        headers = {"Content-Type": "application/json", SIGNATURE: signature(self._secret, at, body)}
        try:
            async with client.post(self._url, data=body, headers=headers, allow_redirects=False) as response:
                status, answer = response.status, await response.content.read(ANSWER_BYTES)
        except (ClientError, TimeoutError, OSError) as error:
            log.info("a webhook did not answer", extra={"fault": type(error).__name__})
            return "id" not in message
        return "id" not in message or (200 <= status < 300 and self._take(str(message["id"]), answer))

    def _take(self, request_id: str, answer: bytes) -> bool:
        """Is this event over with? A refusal is not posted again as it is (C2A-030)."""
        try:
            value: object = msgspec.json.decode(answer)
        except msgspec.DecodeError:
            return False
        said = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        link, refused = self.link, isinstance(said.get("error"), dict)
        if link is None or not (refused or accepts(said.get("result", said))):
            return False
        event_id = link.answered(request_id, error=refused)
        if refused:
            self._ports.host.refused(link, event_id, said["error"])
        return True


class Webhooks:
    """All webhooks of one hub."""

    def __init__(self, ports: HookPorts) -> None:
        self._ports = ports
        self._wires: dict[tuple[str, str], HookWire] = {}
        self._syncing = asyncio.Lock()

    async def open(self) -> None:
        """Start every webhook that is kept and can be started."""
        with suppress(Unavailable):
            await self.sync()

    async def sync(self) -> None:
        """Call the addresses that are kept and no others; none in a group where another node does.

        `Unavailable` when there is one that cannot be called now; the others are.
        """
        failed: Unavailable | None = None
        async with self._syncing:
            acts = self._ports.host.acts
            kept = {(row[0], row[1]): row[2:] for row in await self._rows() if acts(row[0])}
            for (group_id, session), wire in list(self._wires.items()):
                if kept.get((group_id, session)) != wire.kept:
                    self._end(group_id, session)
            for (group_id, session), (url, secret, version) in kept.items():
                if (group_id, session) not in self._wires:
                    wire = HookWire(self._ports, url, secret)
                    failed = await self._resume(group_id, session, wire, version) or failed
        if failed is not None:
            raise failed

    async def groups(self) -> set[str]:
        """The groups in which an address is kept."""
        return {row[0] for row in await self._rows()}

    async def _rows(self) -> list[tuple[str, str, str, str, str]]:
        return await self._ports.ledger.read(
            lambda reader: reader.connection.execute(
                "SELECT group_id, session, url, secret, version FROM webhooks"
            ).fetchall()
        )

    async def _resume(self, group_id: str, session: str, wire: HookWire, version: str) -> Unavailable | None:
        """Start one; why it cannot be started now, if another try is of use."""
        try:
            if await self._is_gone(group_id, session):
                await self.remove(group_id, session)
            elif session in self._ports.host.online(group_id):
                # It is connected itself, here or at another node: it is called when that has ended.
                wire.version = version
                self._wires[group_id, session] = wire
            else:
                await self._start(group_id, session, wire, version)
        except TacitError as error:
            log.warning("a webhook was not started", extra={"fault": type(error).__name__})
            return error if isinstance(error, Unavailable) else None
        return None

    async def _is_gone(self, group_id: str, session: str) -> bool:
        group = await self._ports.ledger.read(lambda reader: reader.group(group_id))
        return group.actor(session) is None

    async def back(self, group_id: str, session: str) -> None:
        """The session's own connection ended: its webhook, if it has one, goes on."""
        before = self._wires.get((group_id, session))
        if (
            before is None
            or self._ports.ledger.is_closing
            or self._ports.host.link(group_id, session) is not None
        ):
            return
        try:
            await self._start(group_id, session, before.anew(), before.version)
        except TacitError as error:
            log.warning("a webhook was not started", extra={"fault": type(error).__name__})

    async def _start(self, group_id: str, session: str, wire: HookWire, version: str) -> None:
        agreement = full_agreement(version)
        per_minute = await self._ports.ledger.read(
            lambda reader: Archive.on(reader, reader.group(group_id)).attention.settings.injected_per_minute
        )
        # The wire itself keeps order and tries again; the link must not send beside it.
        agreement.capabilities["delivery"]["redelivery"] = False
        link = Link(
            session, group_id, agreement, wire, per_minute=per_minute, accepted=self._ports.host.accepted
        )
        wire.link, wire.version = link, version
        self._wires[group_id, session] = wire
        wire.start()
        try:
            await self._ports.host.attach(link)
        except TacitError:
            # One that gets nothing is not to be taken for one that is called.
            if self._wires.get((group_id, session)) is wire:
                self._end(group_id, session)
            raise

    async def set(self, group_id: str, session: str, url: str, version: str | None) -> str:
        """Call this address from now on; gives the secret, for the only time."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise invalid("a webhook is an http or https address", "C2A-011")
        if version is not None and version not in VERSIONS:
            raise invalid(f"version is one of {', '.join(VERSIONS)}", "C2A-025")
        secret = self._ports.entropy.draw(32).hex()

        await self._ports.ledger.record(SetWebhook(group_id, session, url, secret, version or NEWER))
        if self._ports.host.acts(group_id):
            await self._start(group_id, session, HookWire(self._ports, url, secret), version or NEWER)
        return secret

    async def remove(self, group_id: str, session: str) -> bool:
        """Call this session no more; whether it was called, from here or from another node."""
        was_kept = any(row[:2] == (group_id, session) for row in await self._rows())
        await self._ports.ledger.record(DropWebhook(group_id, session))
        return self._end(group_id, session) or was_kept

    def _end(self, group_id: str, session: str) -> bool:
        wire = self._wires.pop((group_id, session), None)
        if wire is None or wire.link is None:
            return False
        wire.end(1000, "removed")
        self._ports.host.detach(wire.link)
        return True

    def forget(self, group_id: str, session: str) -> None:
        """The session's actor is no more: nothing is posted from here on, and the address is forgotten."""
        wire = self._wires.get((group_id, session))
        if wire is not None:
            wire.end(1000, "removed")
            self._ports.host.spawn(self.remove(group_id, session))

    def link_for(self, group_id: str, session: str, wire: Any) -> Link:
        """The link under which a plain request is answered: the session's own, or one with every right."""
        known = self._ports.host.link(group_id, session)
        if known is not None:
            return known
        return Link(
            session, group_id, full_agreement(), wire, per_minute=60, accepted=self._ports.host.accepted
        )

    def close(self) -> None:
        """Stop every sender."""
        for wire in self._wires.values():
            wire.end(1001, "stopping")
