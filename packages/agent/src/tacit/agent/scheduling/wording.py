"""A brain's words on their way into a packet: values that are cleared by now take their places.

A2ACP-071.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.consent.tiers import Tier, tier
from tacit.agent.brain import placeholders
from tacit.agent.consent.consenting import facts_of, is_released, own_name, told_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.brain.port import Thought
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View

STYLE: Final = "communication_style"
"""The profile's word on how the owner likes to sound: for the brain alone."""


def told_apart(
    ws: Workspace, peer: str, approved: Mapping[str, str], facts: Fields
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is known of the owner, by field: what may be said to a counterpart without a question, the rest.

    A field stands in both when its owner released another value than the profile's: that one may be said.
    """
    cleared: dict[str, Any] = {}
    withheld: dict[str, Any] = {}
    for name, value in (*ws.profile.items(), *facts.items()):
        if name == STYLE:
            continue
        level = tier(ws.policy, name, peer)
        if level is Tier.ALWAYS or (level is Tier.ASK and is_released(ws, approved, name, value)):
            cleared[name] = value
            continue
        withheld[name] = [withheld[name], value] if name in withheld else value
        told = told_in(ws, approved, own_name(ws, name)) if level is Tier.ASK else None
        if told is not None:
            cleared[name] = told
    return cleared, withheld


def words_of(ws: Workspace, view: View, thought: Thought | None) -> tuple[list[str], str]:
    """The summaries and the reasoning of a thought, with the values that are cleared by now.

    Words that name a value which is not cleared are empty: code writes its own in their place. So are all of
    them when the brain was unsure.
    """
    if thought is None or thought.ask_owner:
        return [], ""
    thread = ws.thread(view.thread.thread_id)
    known, _ = told_apart(ws, thread.peer, thread.approved, facts_of(ws, thread))
    said = [placeholders.filled(one, known) or "" for one in thought.summaries]
    return said, placeholders.filled(thought.reasoning, known) or ""
