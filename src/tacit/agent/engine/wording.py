"""A brain's words on their way into a packet: values that are cleared by now take their places.

A2ACP-071.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.brain import placeholders
from tacit.agent.consent.tiers import Tier, canonical, tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.agent.brain.port import Thought
    from tacit.agent.engine.view import View
    from tacit.agent.engine.workspace import Workspace


def is_cleared(ws: Workspace, peer: str, released: Mapping[str, str], name: str) -> bool:
    """Whether a field of the owner's may be said to a counterpart without a question."""
    return tier(ws.policy, name, peer) is Tier.ALWAYS or canonical(ws.policy, name) in released


def words_of(ws: Workspace, view: View, thought: Thought | None) -> tuple[list[str], str]:
    """The summaries and the reasoning of a thought, with the values that are cleared by now.

    Words that name a value which is not cleared are empty: code writes its own in their place. So are all of
    them when the brain was unsure.
    """
    if thought is None or thought.ask_owner:
        return [], ""
    peer, released = view.thread.peer, ws.thread(view.thread.thread_id).approved
    known = {name: value for name, value in ws.profile.items() if is_cleared(ws, peer, released, name)}
    said = [placeholders.filled(one, known) or "" for one in thought.summaries]
    return said, placeholders.filled(thought.reasoning, known) or ""
