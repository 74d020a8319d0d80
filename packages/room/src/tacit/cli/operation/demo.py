"""The demo's lobby: opened once, then three scripted agents live in it for as long as the hub runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.client import Hub
from tacit.harness.demo.scripts import CAST, WELCOME
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tacit.harness.io.scripted import ScriptedDriver
from tacit.harness.io.supervisor import SupervisedAgent, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.harness.demo.scripts import ScriptedAgent
    from tacit.harness.io.context import Teller

LOBBY: Final = "Lobby"


async def lobby(hub: Hub) -> tuple[str, dict[str, str]]:
    """The lobby's id and a token for each of its agents; opens it when it is not there."""
    groups = [one for one in await hub.groups() if one["title"] == LOBBY]
    group = groups[0] if groups else await hub.create_group(LOBBY)
    group_id = str(group["group_id"])
    present = {one["actor_id"] for one in group["actors"]}
    tokens: dict[str, str] = {}
    for part in CAST:
        if part.name in present:
            made = await hub.issue_token(group_id, part.name)
        else:
            made = await hub.add_actor(group_id, part.name, title=part.title, roles=list(part.roles))
        tokens[part.name] = str(made["token"])
    async with Hub(hub.url, tokens[CAST[0].name]) as guide:
        text = {"text": WELCOME, "format": "markdown", "client_id": f"welcome-{group_id}"}
        if not await guide.search(group_id, "scripted agent kit and rio"):
            await guide.append(group_id, "chat.message", text)
    return group_id, tokens


def _supervised(url: str, token: str, part: ScriptedAgent, state: Path) -> SupervisedAgent:
    config = AgentConfig(url, token, part.name, state / part.name)

    def make(tell: Teller) -> Harness:
        return Harness(config, ScriptedDriver(part.script), tell=tell)

    return SupervisedAgent(part.name, make, state / f"{part.name}.log")


def company(
    url: str, tokens: dict[str, str], state: Path, tell: Callable[[str], Teller | None]
) -> Supervisor:
    """The three agents under a supervisor, ready to run."""
    return Supervisor([_supervised(url, tokens[part.name], part, state) for part in CAST], tell)
