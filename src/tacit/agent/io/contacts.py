"""The people an agent deals with, as every face lists and judges them (A2ACP-020, A2ACP-032, A2ACP-247).

The same dictionaries for every face. A list names no safety numbers: each takes a while to compute, and is
compared with one person at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.io.vault import erase
from tacit.base.errors import Refused
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.agent.io.commands import Commands
    from tacit.agent.packets.packet import Fields

DECISIONS: Final = ("show", "add", "accept", "reject", "verified", "block", "unblock")


async def contacts(agent: Commands, who: str = "", decision: str = "") -> Fields:
    """Everybody who is known; or one, after a decision about it."""
    if not who:
        rows = agent.post.store.rows("SELECT address FROM contacts ORDER BY address")
        return {"contacts": [_line(agent, name) for (name,) in rows]}
    found = str(address.parse_typed(who))
    if decision:
        await _decide(agent, found, decision)
    return _whole(agent, found)


async def _decide(agent: Commands, who: str, decision: str) -> None:
    inbox, store = agent.post.inbox, agent.post.store
    match decision:
        case "show":
            return
        case "add":
            inbox.welcome(who)
        case "accept":
            inbox.welcome(who)
            known = store.contact(who)
            if known is not None and known.pin is not None and not known.pin.usable:
                agent.post.decide(who, decision)
        case "reject" | "verified":
            agent.post.decide(who, decision)
        case "block":
            inbox.block(who)
            erase(store, who)
            await agent.forget(who)
        case "unblock":
            inbox.block(who, blocked=False)
        case _:
            raise Refused("bad_decision", f"a decision is one of {', '.join(DECISIONS)}", row="A2ACP-020")
    await agent.refresh()


def _line(agent: Commands, who: str) -> Fields:
    known = agent.post.store.contact(who)
    if known is None:
        raise Refused("unknown_contact", "this address is not among your contacts", row="A2ACP-020")
    override = agent.outside.policy().overrides.get(who)
    return {
        "address": who,
        "label": override.label if override is not None else "",
        "welcome": known.welcome,
        "blocked": known.reputation.blocked,
        "flagged": known.reputation.flagged,
        "key": str(known.pin.trust) if known.pin else "unknown",
    }


def _whole(agent: Commands, who: str) -> Fields:
    value: dict[str, Any] = _line(agent, who)
    known = agent.post.store.contact(who)
    pin = known.pin if known is not None else None
    value["safety_number"] = agent.post.safety_number(who) if pin is not None else None
    if pin is not None and pin.offered is not None:
        value["offered_safety_number"] = agent.post.safety_number(who, offered=True)
    return value
