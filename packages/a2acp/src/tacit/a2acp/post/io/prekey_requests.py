"""Asking for peers' prekeys beside the writing, so that a silent relay holds up its own people alone.

A2ACP-209, A2ACP-245.

A first packet needs a bundle from the peer's relay. It is asked for here, a few at a time; the writer takes
it when it is there and goes on with other packets meanwhile. A peer whose relay gave none rests for a while,
for longer each time.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tacit.a2acp.post import timing
from tacit.base.errors import PeerFault, Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.a2acp.post.io.directory import Directory
    from tacit.a2acp.post.io.outbox import Outbox
    from tacit.seal.x3dh import PublicPrekeys

_log: Final = logging.getLogger("tacit.agent")
_AT_ONCE: Final = 8


class PrekeyRequests:
    """Bundles that are wanted, on their way, and there; `wake` is told when one has come."""

    def __init__(self, directory: Directory, outbox: Outbox, wake: Callable[[], None]) -> None:
        self._directory = directory
        self._outbox = outbox
        self._wake = wake
        # By peer: the packet that is refused if its peer does not exist.
        self._wanted: dict[str, str] = {}
        self._asking: set[str] = set()
        self._bundles: dict[str, PublicPrekeys | None] = {}
        self._resting: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._called = asyncio.Event()

    def take(self, peer: str, packet_id: str) -> tuple[bool, PublicPrekeys | None]:
        """Whether an answer is there, and the answer; asks when there is none yet. Each is used once."""
        if peer in self._bundles:
            return True, self._bundles.pop(peer)
        if peer not in self._asking and not self.rests(peer):
            self._wanted.setdefault(peer, packet_id)
            self._called.set()
        return False, None

    def rests(self, peer: str) -> bool:
        """Whether a peer is left alone for now."""
        return asyncio.get_running_loop().time() < self._resting.get(peer, 0.0)

    def resting(self) -> list[str]:
        """Who is left alone for now."""
        now = asyncio.get_running_loop().time()
        self._resting = {peer: end for peer, end in self._resting.items() if now < end}
        return list(self._resting)

    def rest(self, peer: str) -> None:
        """Leave a peer alone for a while, and for longer each time until a packet to it was sealed."""
        failures = self._failures.get(peer, 0)
        self._failures[peer] = failures + 1
        self._resting[peer] = asyncio.get_running_loop().time() + timing.PREKEY_LOOKUP.pause(failures)

    def sealed(self, peer: str) -> None:
        """A packet to this peer was sealed."""
        self._failures.pop(peer, None)

    async def run(self) -> None:
        """Ask, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                for peer in list(self._wanted)[: _AT_ONCE - len(self._asking)]:
                    self._asking.add(peer)
                    tasks.create_task(self._ask(peer, self._wanted.pop(peer)))
                self._called.clear()
                await self._called.wait()

    async def _ask(self, peer: str, packet_id: str) -> None:
        try:
            self._bundles[peer] = await self._directory.prekeys(peer)
        except Refused as refused:
            self._outbox.refused(packet_id, refused.code)
        except (Unavailable, PeerFault) as error:
            _log.info("keys not available: %s", type(error).__name__)
            self.rest(peer)
        finally:
            self._asking.discard(peer)
            self._called.set()
        self._wake()
