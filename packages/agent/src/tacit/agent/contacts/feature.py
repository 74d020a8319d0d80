"""What contacts add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.contacts.io import finding, first_contact, people
from tacit.agent.kernel.feature import Feature, handler
from tacit.base import agent_requests as asked

OPERATIONS: Final = {
    "me": handler(asked.AgentNothing, lambda agent, _request: people.me(agent)),
    "contacts": handler(asked.AgentNothing, lambda agent, _request: people.contacts(agent)),
    "contact": handler(
        asked.AgentContact, lambda agent, request: people.contact(agent, request.who, request.decision)
    ),
    "add": handler(asked.AgentAdd, lambda agent, request: finding.add(agent, request.uri)),
    "match": handler(asked.AgentMatch, lambda agent, request: finding.match_text(agent, request.text)),
    "find": handler(
        asked.AgentFindHere,
        lambda agent, request: finding.find(agent, request.account, private=request.private),
    ),
}

FEATURE: Final = Feature(
    questions={first_contact.KIND: first_contact.answer}, turn=first_contact.turn, operations=OPERATIONS
)
