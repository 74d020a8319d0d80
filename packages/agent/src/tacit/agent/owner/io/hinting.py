"""Hints and newness as a face asks for them; what was shown is a record, and is not shown again.

A2ACP-232, A2ACP-234.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.kernel import records
from tacit.agent.owner import hints
from tacit.agent.owner.hints import HintTables
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore


def named(peer: str) -> str:
    """A counterpart by its name alone, which an address cannot make into anything but a name."""
    return peer.removeprefix("agent:").partition("@")[0]


async def due(agent: AgentCore) -> Fields:
    """The hints whose moment has come and which nobody has shown yet."""
    book = agent.journal.book
    found = [
        (name, book.part(HintTables).hints[name])
        for name in hints.TEXTS
        if name in book.part(HintTables).hints
    ]
    return {
        "hints": [
            {"hint": name, "text": hints.TEXTS[name].format(who=named(one.peer)), "thread_id": one.thread_id}
            for name, one in found
            if not one.seen
        ]
    }


async def seen(agent: AgentCore, hint: str) -> Fields:
    """A face has shown a hint; said twice, it is the same."""
    known = agent.journal.book.part(HintTables).hints.get(hint)
    if known is None:
        raise Refused("unknown_hint", "no such hint is due", row="A2ACP-234")
    if not known.seen:
        await agent.decide(lambda ws: ws.say(records.Hinted(hint)))
    return {"hint": hint}


def newness(agent: AgentCore, peer: str) -> Fields:
    """What a question says of a counterpart that is new (A2ACP-232); nothing for one that is not."""
    if peer == agent.me:
        return {}
    told = hints.new_contact(agent.journal.book.part(HintTables).tallies.get(peer), named(peer))
    return {} if told is None else {"new_contact": True, "new_contact_text": told}
