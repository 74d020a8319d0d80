"""A packet that was cleared before and has not left yet, read back from the vault (A2ACP-072, A2ACP-215).

Only what `filter.clear` made is kept under a packet's id, and the journal names it by a keyed hash: a body
that is not the same any more is not restored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.packets.cleared import Cleared
from tacit.base.errors import Corrupt

if TYPE_CHECKING:
    from tacit.a2acp.consent.filter import PacketDraft


def restored(kept: PacketDraft, *, named: str, hashed: str) -> Cleared:
    """The packet again; `named` is the journal's keyed hash of it, `hashed` that of what was read."""
    if named != hashed:
        raise Corrupt(
            "a packet that waits to leave is not what was decided",
            hint="the agent's folder was changed from outside; restore a backup",
        )
    return Cleared(kept.to, kept.type, kept.thread_id, kept.packet_id, kept.at, kept.body)
