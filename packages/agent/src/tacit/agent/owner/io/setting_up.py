"""Onboarding kept: what the owner said in the first minute becomes profile and permissions in one decision.

A2ACP-230, A2ACP-231. A folder that has no address yet can be set up all the same: what was said waits in its
file until there is one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.a2acp.consent.tiers import DEFAULT
from tacit.a2acp.packets.dates import zone
from tacit.agent.consent import answering
from tacit.agent.kernel import records
from tacit.agent.owner import onboarding
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.errors import Refused
from tacit.base.strict_json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.agent_requests import AgentSetup

_WAITS: Final = "onboarding"
_LONGEST_NAME: Final = 100


def is_zone(name: str) -> bool:
    """Whether this is a name by which a counterpart knows the zone too."""
    return zone(name) is not None


def detected_zone(root: Path = Path("/")) -> str:
    """This device's timezone; nothing when it does not say (A2ACP-230)."""
    named = [os.environ.get("TZ", "")]
    link = root / "etc" / "localtime"
    if link.is_symlink():
        named.append(str(link.readlink()))
    file = root / "etc" / "timezone"
    if file.is_file():
        with file.open("rb") as opened:
            named.append(opened.readline(_LONGEST_NAME).decode("ascii", "replace"))
    return onboarding.zone(named, is_zone)


def shown(profile: Mapping[str, object], policy: Policy, *, done: bool) -> Fields:
    """What a face asks, with what would be kept if its owner only pressed Enter."""
    zone = str(profile.get(onboarding.TIMEZONE) or detected_zone() or "UTC")
    known = {**profile, onboarding.TIMEZONE: zone}
    return {
        "done": done,
        "prompts": [
            {"key": one.key, "text": one.text, "example": one.example, "value": known.get(one.key)}
            for one in onboarding.BLANKS
        ],
        "switches": [
            {
                "switch": one.label,
                "text": one.text,
                "fields": list(one.fields),
                "level": onboarding.level(policy, one),
            }
            for one in onboarding.SWITCHES
        ],
        "levels": list(onboarding.LEVELS),
    }


async def setup(agent: AgentCore, request: AgentSetup) -> Fields:
    """Show the first minute, or with `save` keep what was said in it."""
    if request.save:

        def keep(ws: Workspace) -> None:
            profile, policy = _settled(ws.profile, ws.policy, request)
            ws.say(records.Set("profile", ws.keep("", profile)))
            answering.set_policy(ws, policy)

        await agent.decide(keep)
    return shown(
        agent.settings.profile(), agent.settings.policy(), done="profile" in agent.journal.book.settings
    )


def _settled(profile: Mapping[str, object], policy: Policy, request: AgentSetup) -> tuple[Fields, Policy]:
    name = request.profile.get(onboarding.TIMEZONE)
    if name and not is_zone(str(name)):
        raise Refused("bad_timezone", "a timezone is a name such as Europe/London", row="A2ACP-230")
    before = {onboarding.TIMEZONE: detected_zone() or "UTC", **profile}
    after = onboarding.settled(policy, request.switches, confirmed=request.confirmed)
    return onboarding.profiled(before, request.profile), after


def _read(given: Fields) -> AgentSetup:
    return AGENT_OPERATIONS["setup"].request(given, here=True)


def keep_for_later(store: AgentStore, given: Fields) -> None:
    """Keep what was said in a folder that has no address yet."""
    _settled({}, DEFAULT, _read(given))
    with store.transaction():
        store.choose(_WAITS, msgspec.json.encode({**given, "save": True}).decode())


def kept_for_later(store: AgentStore) -> Fields:
    """What was said and waits for an address; empty when nothing does."""
    waits: Fields = msgspec.json.decode(store.setting(_WAITS, "") or "{}", type=JsonObject)
    return waits


async def resume(agent: AgentCore) -> None:
    """Take what was said before there was an address, once."""
    waits = kept_for_later(agent.post.store)
    if not waits:
        return
    if "profile" not in agent.journal.book.settings:
        await setup(agent, _read(waits))
    with agent.post.store.transaction():
        agent.post.store.choose(_WAITS, "")
