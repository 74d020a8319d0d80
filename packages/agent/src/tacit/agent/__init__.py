"""A person's agent: it arranges things with other people's agents, over a sealed post.

async with Agent(folder) as agent:
    agent.connect()
    await agent.ask("dinner with ben on Friday evening")
    for question in (await agent.pending())["questions"]:
        ...

The name is imported when it is used: whoever needs only the post does not pay for the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.agent.shell.io.agent import Agent

__all__ = ["Agent"]


def __getattr__(name: str) -> Any:
    if name != "Agent":
        raise AttributeError(name)
    return importlib.import_module("tacit.agent.shell.io.agent").Agent
