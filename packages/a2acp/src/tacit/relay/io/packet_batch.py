"""A batch: the packets heard in one go of the loop, checked round by round (A2ACP-004, A2ACP-249, A2ACP-257).

First what costs little, for all of them; then the signatures; then each is routed, in the order they came.
The same work packet by packet takes a twentieth longer: verification and the rest push each other out of the
processor's caches. A batch is small, so nobody waits for it. Knows nothing of mailboxes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, Unavailable
from tacit.relay.packet_checks import retry_after
from tacit.wire import codes, envelope

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from tacit.base.moment import Moment
    from tacit.relay.io.connection import MailboxConnection
    from tacit.relay.packet_checks import PacketChecks
    from tacit.wire import frames
    from tacit.wire.envelope import Envelope

    class Refuse(Protocol):
        """Tells a sender which packet was not taken."""

        def __call__(
            self,
            connection: MailboxConnection,
            code: str,
            packet_id: str | None = None,
            wait: int | None = None,
        ) -> None:
            """Say why, and when to try again."""
            ...

    Heard = tuple[MailboxConnection, frames.PacketFrame, Moment]
    Opened = tuple[MailboxConnection, Envelope, str, Moment]
    Route = Callable[[MailboxConnection, Envelope, str, Moment], None]

MOST: Final = 64


class PacketBatch:
    """Packets that wait for the end of this go of the loop."""

    def __init__(self, checks: PacketChecks, *, route: Route, refuse: Refuse) -> None:
        self._checks = checks
        self._route = route
        self._refuse = refuse
        self._heard: list[Heard] = []

    def add(self, connection: MailboxConnection, frame: frames.PacketFrame, now: Moment) -> None:
        """Take a packet that an agent sent."""
        if connection.account == 0:
            # Not even its id is looked for: nobody has paid for that.
            self._refuse(connection, codes.NOT_AUTHENTICATED)
            return
        self._heard.append((connection, frame, now))
        if len(self._heard) >= MOST:
            self._flush()
        elif len(self._heard) == 1:
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        heard, self._heard = self._heard, []
        self._check(heard)

    def _check(self, heard: list[Heard]) -> None:
        done = False
        try:
            self._verify(self._open(heard))
            done = True
        finally:
            if not done:
                self._contain(heard)

    def _contain(self, heard: list[Heard]) -> None:
        """A mistake of our own must cost only the packet that met it.

        The others go once more, each alone: what was stored already is known as a repeat. The culprit's
        connection is closed; nothing unanswered is thought accepted.
        """
        if len(heard) == 1:
            heard[0][0].close(codes.CLOSE_BROKEN)
            return
        for packet in heard:
            asyncio.get_running_loop().call_soon(self._check, [packet])

    def _open(self, heard: list[Heard]) -> list[Opened]:
        opened: list[Opened] = []
        for connection, frame, now in heard:
            raw = bytes(frame.envelope)
            try:
                found = self._checks.from_agent(raw, speaker=connection.address, now=now)
            except Refused as refused:
                self._answer(connection, refused, envelope.packet_id_of(raw))
            else:
                opened.append((connection, found, frame.sig, now))
        return opened

    def _verify(self, opened: list[Opened]) -> None:
        sound: list[Opened] = []
        for packet in opened:
            connection, found, sig, _ = packet
            try:
                self._checks.check_signature(found, sig, connection.check)
            except Refused as refused:
                self._answer(connection, refused, found.packet_id)
            else:
                sound.append(packet)
        for connection, found, sig, now in sound:
            try:
                self._checks.first_contact(connection.account, found.recipient, now)
                self._route(connection, found, sig, now)
            except Refused as refused:
                self._answer(connection, refused, found.packet_id)
            except Unavailable:
                self._refuse(connection, codes.UNAVAILABLE, found.packet_id, 5)

    def _answer(self, connection: MailboxConnection, refused: Refused, packet_id: str | None) -> None:
        self._refuse(connection, refused.code, packet_id, retry_after(refused))
