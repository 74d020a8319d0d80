"""Whom the agent knows, and who it is itself: what every face shows alike (A2ACP-020, A2ACP-247)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.agent.brain.coverage import HARMLESS
from tacit.agent.brain.requests import matter_in
from tacit.agent.brain.wish import Addressees
from tacit.agent.contacts.io import finding
from tacit.agent.memory.io import forgetting
from tacit.base.errors import Refused
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore

SHOW: Final = "show"
DECISIONS: Final = (SHOW, "add", "accept", "reject", "verified", "block", "unblock", "remove")


def addressee(agent: AgentCore, text: str, to: Sequence[str]) -> str:
    """Whom a wish is for: the address given, or the one contact whose name the sentence has."""
    if len(to) > 1:
        raise Refused("not_supported", "a program asks one person at a time", row="A2ACP-266")
    if to:
        return str(address.parse_typed(to[0]))
    words = {word.strip(".,;:!?'\"").casefold() for word in text.split()}
    found = [who for who in _welcome(agent) if _user(who) in words or (_label(agent, who) or "\0") in words]
    if len(found) == 1:
        return found[0]
    matter = matter_in(text, agent.clock.now(), agent.settings.zone())
    if matter:
        raise Refused("unclear_request", matter, row="A2ACP-076")
    if found:
        named = " and ".join(_user(who) for who in found)
        raise Refused("who", f"you name {named}: say with whom, --to NAME@RELAY for each", row="A2ACP-020")
    raise Refused("who", "say with whom: --to NAME@RELAY", row="A2ACP-020")


def addressed(agent: AgentCore, peers: Iterable[str]) -> Addressees:
    """By which names those are known whom a wish goes to, and which names are other contacts'."""
    to = tuple(dict.fromkeys(peers))
    names = frozenset(name for who in to for name in _names(agent, who))
    others = frozenset(name for who in _welcome(agent) if who not in to for name in _names(agent, who))
    return Addressees(names, others - names, several=len(to) > 1)


def _names(agent: AgentCore, who: str) -> list[str]:
    """The words by which somebody may be called."""
    label = _label(agent, who).split()
    words = label if len(label) == 1 else [word for word in label if word not in HARMLESS]
    return [*words, *re.split(r"[._-]+", _user(who))]


def _welcome(agent: AgentCore) -> list[str]:
    return [str(row[0]) for row in agent.post.store.rows("SELECT address FROM contacts WHERE welcome=1")]


def _user(who: str) -> str:
    return address.parse(who).username.casefold()


def _label(agent: AgentCore, who: str) -> str:
    override = agent.settings.policy().overrides.get(who)
    return override.label.casefold() if override is not None else ""


async def me(agent: AgentCore) -> Fields:
    """The agent's own card, to give away, and its relay."""
    return {**finding.own_card(agent.post), "relay": agent.post.store.me().relay_url}


async def contacts(agent: AgentCore) -> Fields:
    """Everyone it knows, by address; safety numbers are for looking at one."""
    rows = agent.post.store.rows("SELECT address FROM contacts ORDER BY address")
    return {"contacts": [_line(agent, who) for (who,) in rows]}


def _line(agent: AgentCore, who: str) -> Fields:
    known = agent.post.store.contact(who)
    if known is None:
        raise Refused("unknown_contact", "this address is not among your contacts", row="A2ACP-020")
    override = agent.settings.policy().overrides.get(who)
    return {
        "address": who,
        "label": override.label if override is not None else "",
        "welcome": known.welcome,
        "blocked": known.reputation.blocked,
        "flagged": known.reputation.flagged,
        "key": str(known.pin.trust) if known.pin else "unknown",
    }


def named(agent: AgentCore, who: str) -> str:
    """The address of a contact by what a person typed: all of it, or the name alone where one has it."""
    if "@" in who:
        return str(address.parse_typed(who))
    name = who.strip().lower().removeprefix("agent:")
    rows = agent.post.store.rows(
        "SELECT address FROM contacts WHERE address>=? AND address<?", f"agent:{name}@", f"agent:{name}A"
    )
    if len(rows) != 1:
        raise Refused("who", "say the whole address: NAME@RELAY", row="A2ACP-020")
    return str(rows[0][0])


def accepted(agent: AgentCore, peer: str) -> str:
    """Whom a program may write to: contacts that the owner has accepted, and not blocked."""
    known = agent.post.store.contact(peer)
    if known is None or not known.welcome or known.reputation.blocked:
        raise Refused(
            "not_a_contact", "a program writes to accepted contacts of its owner's only", row="A2ACP-266"
        )
    return peer


async def contact(agent: AgentCore, who: str, decision: str = SHOW) -> Fields:
    """One contact with its safety number, after the owner's word on it."""
    found = str(address.parse_typed(who))
    post = agent.post
    match decision:
        case "show":
            pass
        case "add":
            post.inbox.welcome(found)
        case "accept":
            post.inbox.welcome(found)
            known = post.store.contact(found)
            if known is not None and known.pin is not None and not known.pin.usable:
                post.decide(found, decision)
        case "reject" | "verified":
            post.decide(found, decision)
        case "block" | "unblock":
            post.inbox.block(found, blocked=decision == "block")
            if decision == "block":
                await forgetting.forget(agent, found)
        case "remove":
            post.inbox.remove(found)
            await forgetting.forget(agent, found)
            return {"address": found, "removed": True}
        case _:
            raise Refused("bad_choice", f"a decision is one of {', '.join(DECISIONS)}", row="A2ACP-020")
    shown = _line(agent, found)
    known = post.store.contact(found)
    pin = known.pin if known is not None else None
    shown["safety_number"] = post.safety_number(found) if pin is not None else None
    if pin is not None and pin.offered is not None:
        shown["offered_safety_number"] = post.safety_number(found, offered=True)
    return shown
