"""The operations of the crew: the owner's alone, with the owner's own token, and never under local trust.

Whoever may do these can start programs on the hub's machine, so a hub does them only when it was told to
run a crew. What an agent is told to run is a list of words for a known driver; no shell reads them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tacit.base.errors import Refused
from tacit.harness.crew import CrewKey
from tacit.harness.drivers.catalogue import CATALOGUE, FLAGS
from tacit.harness.team import member_of
from tacit.ledger.codes import CODES, invalid
from tacit.ledger.principal import require_actor_id
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Generator

    from tacit.hub.hub import RunningHub
    from tacit.hub.operations import requests
    from tacit.hub.people.credentials import Credential


def _require_crew(hub: RunningHub, credential: Credential) -> None:
    credential.require_owners_token()
    if not hub.config.crew:
        raise invalid("this hub runs no crew: start it with `tacit up --crew`", "CCCS-112", reason="crew_off")


@contextmanager
def _in_the_hubs_words() -> Generator[None]:
    """A refusal of a driver or of git as one of the hub's codes, with its own as the reason."""
    try:
        yield
    except Refused as refused:
        if refused.code in CODES:
            raise
        details = {**refused.details, "reason": refused.code}
        raise Refused("invalid_request", refused.message, details=details) from refused


async def list_crew(hub: RunningHub, credential: Credential, _request: requests.Nothing) -> object:
    """The agents that the hub runs, and what it could run."""
    credential.require_owners_token()
    drivers = [
        {
            "name": one.name,
            "description": one.description,
            "takes": {flag: FLAGS[flag] for flag in one.takes},
            "program": one.program,
            "key_env": one.key_env,
            "has_key": bool(one.key_env and os.environ.get(one.key_env)),
            "installed": one.installed,
            "install": one.install,
        }
        for one in CATALOGUE
    ]
    if not hub.config.crew:
        return {"enabled": False, "agents": [], "drivers": drivers}
    agents = await hub.crew.list()
    return {"enabled": True, "agents": agents, "drivers": drivers, "home": str(Path.home())}


async def add_to_crew(hub: RunningHub, credential: Credential, request: requests.NewCrewAgent) -> object:
    """Take an agent in: checked, added to the room when it is not there, and started."""
    _require_crew(hub, credential)
    require_actor_id(request.actor_id)
    given: dict[str, Any] = msgspec.to_builtins(request)
    start = given.pop("start")
    group_id, name = given.pop("group_id"), given.pop("actor_id")
    budget = {limit: value for limit, value in given.pop("budget").items() if value is not None}
    document = {key: value for key, value in given.items() if value is not None}
    group = await hub.ledger.read(lambda reader: reader.group(group_id))
    with _in_the_hubs_words():
        member = member_of({**document, "name": name, "group": group_id, "budget": budget})
        entry = await hub.crew.add(member, start=False)
        await _let_in(hub, credential, request, present=group.actor(name) is not None)
        if start:
            await hub.crew.start(entry.key)
        return await hub.crew.show(entry.key)


async def _let_in(
    hub: RunningHub,
    credential: Credential,
    request: requests.NewCrewAgent | requests.CrewInviteRequest,
    *,
    present: bool,
) -> None:
    """Add the agent to its room, unless it is there; if that fails it is not of the crew either."""
    if present:
        return
    data: dict[str, Any] = {"actor_id": request.actor_id}
    data |= {"title": request.title} if request.title else {}
    data |= {"roles": request.roles} if request.roles else {}
    try:
        await hub.ledger.append(
            Submission(request.group_id, credential.principal, "actor.add", data, msgspec.json.encode(data))
        )
    except Refused:
        key = CrewKey(request.group_id, request.actor_id)
        if hub.crew.has(key):
            await hub.crew.remove(key)
        raise


async def start_agent(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """Start an agent, or start it anew."""
    _require_crew(hub, credential)
    key = CrewKey(request.group_id, request.actor_id)
    await hub.crew.start(key)
    return await hub.crew.show(key)


async def stop_agent(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """Let an agent leave; it stays away over restarts."""
    _require_crew(hub, credential)
    key = CrewKey(request.group_id, request.actor_id)
    await hub.crew.stop(key)
    return await hub.crew.show(key)


async def remove_from_crew(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """Run an agent no more."""
    _require_crew(hub, credential)
    key = CrewKey(request.group_id, request.actor_id)
    await hub.crew.remove(key)
    return {"removed": True, "folder": str(hub.crew.state_folder(key))}


async def show_log(hub: RunningHub, credential: Credential, request: requests.CrewLogRequest) -> object:
    """The end of an agent's log."""
    _require_crew(hub, credential)
    return await hub.crew.log(CrewKey(request.group_id, request.actor_id), request.limit)


async def show_diff(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """What an agent changed in its worktree."""
    _require_crew(hub, credential)
    with _in_the_hubs_words():
        return await hub.crew.diff(CrewKey(request.group_id, request.actor_id))


async def change_worktree(
    hub: RunningHub, credential: Credential, request: requests.CrewWorktreeRequest
) -> object:
    """Merge, rebase or discard; a conflict is an answer with its files, and changes nothing."""
    _require_crew(hub, credential)
    key = CrewKey(request.group_id, request.actor_id)
    with _in_the_hubs_words():
        outcome = await hub.crew.change_worktree(key, request.op, force=request.force)
    return outcome.as_json()


async def invite_agent(
    hub: RunningHub, credential: Credential, request: requests.CrewInviteRequest
) -> object:
    """A code for an agent of another machine, shown once; it is worth one token of that agent."""
    _require_crew(hub, credential)
    require_actor_id(request.actor_id)
    group = await hub.ledger.read(lambda reader: reader.group(request.group_id))
    await _let_in(hub, credential, request, present=group.actor(request.actor_id) is not None)
    code = await hub.crew.invite(CrewKey(request.group_id, request.actor_id), request.hours)
    return {"group_id": request.group_id, "actor_id": request.actor_id, "code": code, "hours": request.hours}
