"""What groups add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.groups.fold import PART
from tacit.agent.groups.io import operations
from tacit.agent.kernel.feature import Feature, handler
from tacit.base import agent_requests as asked

NOTICES: Final = {
    "part_failed": "goes on without somebody who could not carry out their part",
    "went_on_without": "goes on without you",
    "goes_ahead": "goes ahead: enough have confirmed; you may still say yes",
    "left_the_group": "goes on without somebody who wants no part in it",
    "people_left": "goes on without some who were in it",
    "another_list": "names other people to others: compare the digest of its list with them",
    "unsigned_list": "has people who may have been told another list: compare its digest with them",
    "one_key_twice": "has somebody in it by two addresses of one key, who counts once",
    "transfer_declined": "stays with you: the role was not accepted",
    "transferred": "is coordinated by somebody else now",
    "coordinates_now": "is coordinated by your agent now; everybody is asked again",
}

OPERATIONS: Final = {
    "group": handler(asked.AgentThread, lambda agent, request: operations.group(agent, request.thread_id)),
    "transfer": handler(
        asked.AgentTransfer,
        lambda agent, request: operations.transfer(agent, request.thread_id, request.to, request.reason),
    ),
}

FEATURE: Final = Feature(part=PART, notices=NOTICES, operations=OPERATIONS)
