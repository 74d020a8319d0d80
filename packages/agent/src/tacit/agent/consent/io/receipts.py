"""Receipts: who got what of the owner, when, and what allowed it.

A2ACP-129. Which field left, and under which answer, the journal says; its value is read from the packet as
long as that is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.a2acp.consent import tiers
from tacit.agent.consent.io import by_hand
from tacit.agent.guests.io import operations as guests
from tacit.agent.kernel import records
from tacit.agent.kernel.state import US
from tacit.agent.spaces.io import operations as spaces
from tacit.base.moment import rfc3339
from tacit.base.strict_json import as_list, as_object

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.base.strict_json import Json


def disclosures(agent: AgentCore, who: str) -> Fields:
    """All of them, or those to one counterpart."""
    found: list[Fields] = []
    known: set[str] = set()
    said_via = {
        one.question_id: one.via
        for one, _ in agent.journal.records("x.a2acp.answered")
        if isinstance(one, records.Answered) and one.via
    }
    for one, at in agent.journal.records("x.a2acp.sent"):
        if not isinstance(one, records.Sent):
            continue
        known.add(one.packet_id)
        if who and one.peer != who:
            continue
        body = agent.vault.packet(one.peer, one.packet_id, US) or {}
        for name, basis, question in one.bases:
            found.append(
                {
                    "to": one.peer,
                    "thread_id": one.thread_id,
                    "packet_id": one.packet_id,
                    "field": name,
                    "value": _sent_value(body, name, agent.settings.policy()),
                    "basis": basis,
                    "question_id": question or None,
                    "via": said_via.get(question),
                    "at": rfc3339(at),
                }
            )
    found += by_hand.disclosures(agent.post.store, known, who)
    found += spaces.disclosures(agent.post.store, who)
    found += [] if who else guests.disclosures(agent)
    return {"disclosures": sorted(found, key=lambda one: one["at"])}


def _sent_value(body: Fields, name: str, policy: tiers.Policy) -> Any:
    carriers = ("context", "context_provided", "shared_context", "aggregated_context")
    found = [value for one in carriers for value in _carried(body.get(one), name, policy)]
    for one in as_list(as_object(body.get("context")).get("proposed_alternatives")):
        found += _carried(one, name, policy)
    if found:
        return found[0] if len(found) == 1 else found
    return as_object(as_object(body.get("proposal")).get("details")).get(name)


def _carried(fields: Json, name: str, policy: tiers.Policy) -> list[Any]:
    """What a part of a packet carries under a field's name, or under another name of it."""
    named = as_object(fields)
    return [value for key, value in named.items() if key == name or tiers.canonical(policy, key) == name]
