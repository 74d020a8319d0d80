"""What arrives: packets of the post's become decisions, one at a time (A2ACP-072)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.post.io.store import OWN_FAULTS
from tacit.agent.brain.io.thinking import Thinking
from tacit.agent.kernel import records
from tacit.agent.scheduling import receiving
from tacit.base.errors import PeerFault, Refused
from tacit.base.faults import place_of

if TYPE_CHECKING:
    from tacit.a2acp.post.io.inbox import Arrived
    from tacit.agent.kernel.workspace import Workspace

_log: Final = logging.getLogger("tacit.agent")


class Taking(Thinking):
    """The agent's way in."""

    async def arrived(self) -> bool:
        """Take what the post has for us, in its order; whether there was anything."""
        did = False
        while found := self.post.inbox.unhandled():
            for one in found:
                await self._taken(one)
                with self.post.store.transaction():
                    self.post.inbox.handled([one])
            did = True
        return did

    async def _taken(self, one: Arrived) -> None:
        """Take one packet; one that cannot be taken is counted against its sender and let go.

        Only a fault of this device keeps it for later.
        """
        try:
            await self.decide(lambda ws: _take(ws, one))
        except OWN_FAULTS:
            raise
        except (Refused, PeerFault) as fault:
            _log.warning("a packet is dropped: %s", type(fault).__name__)
        except Exception as fault:  # noqa: BLE001 - one packet must not stop the agent, nor come for ever
            _log.error("a packet is dropped: %s", place_of(fault))
        else:
            return
        await self.decide(lambda ws: _dropped(ws, one))


def _take(ws: Workspace, one: Arrived) -> None:
    if not one.payload:
        # Its sender was forgotten before it was read.
        return
    fields = schemas.normalised(one.type, packet.read(one.payload).fields)
    receiving.receive(
        ws,
        peer=one.peer,
        packet_id=one.packet_id,
        thread_id=one.thread_id,
        packet_type=one.type,
        fields=fields,
        ready=one.ready,
    )


def _dropped(ws: Workspace, one: Arrived) -> None:
    ws.say(records.Violated(one.thread_id, one.peer, "not_taken"))
