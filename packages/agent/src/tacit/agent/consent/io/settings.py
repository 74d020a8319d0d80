"""What an owner tells the agent for good: profile, permissions, calendars, actions and how much it may do.

A2ACP-062, A2ACP-119, A2ACP-122, A2ACP-134, A2ACP-268. Each is a value in the vault, named by the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.consent import onward, tiers
from tacit.a2acp.packets.dates import zone
from tacit.agent.consent import answering
from tacit.agent.kernel.io.core import AgentCore
from tacit.agent.scheduling.facts import checked as read_facts
from tacit.agent.scheduling.io.outside import OWN_CALENDAR, Outside, check_handler
from tacit.base.errors import Refused
from tacit.base.moment import DAY, Moment, Span
from tacit.base.quoting import shown
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.packets.packet import Fields

FIRST_LOOK_DAYS: Final = 30
"""How far a calendar is read when it is added."""
CHOICES: Final = {"implicit_consent": ("prompt_once", "auto"), "autonomy": ("low", "medium", "high")}


class Settings(AgentCore):
    """The settings of an agent."""

    outside: Outside

    async def profile(self, changes: Mapping[str, Any]) -> Fields:
        """Tell the agent of its owner; None takes a key away."""
        declared = changes.get("timezone")
        # Counterparts read it: a name that means another zone elsewhere, or several, tells them nothing.
        if declared is not None and zone(declared) is None:
            raise Refused("bad_timezone", "a timezone is a name such as Europe/London")
        if changes:
            await self.revise("profile", lambda kept: _without_none({**kept, **changes}))
        return {"profile": self.outside.profile()}

    async def permissions(
        self, name: str = "", level: str = "", *, counterpart: str = "", confirmed: bool = False
    ) -> Fields:
        """Show or change what may be shared."""
        who = str(address.parse_typed(counterpart)) if counterpart else None
        if name and level in {"onward", "not-onward"}:
            on = level == "onward"
            await self.decide(lambda ws: answering.set_policy(ws, onward.changed(ws.policy, name, on=on)))
        elif name:
            to = tiers.Tier(level)
            await self.decide(
                lambda ws: answering.set_policy(
                    ws, tiers.changed(ws.policy, name, to, who, confirmed=confirmed)
                )
            )
        policy = self.outside.policy()
        return {
            "always_share": list(policy.always_share),
            "ask_first": list(policy.ask_first),
            "never_share": list(policy.never_share),
            "onward_fields": list(policy.onward_fields),
            "overrides": {
                one: {
                    "label": found.label,
                    "promote_to_always_share": list(found.promote_to_always_share),
                    "restrict_to_never_share": list(found.restrict_to_never_share),
                    "notes": found.notes,
                }
                for one, found in policy.overrides.items()
            },
        }

    async def choose(self, name: str = "", value: str = "") -> Fields:
        """Show or set how much the agent may do unasked (A2ACP-062, A2ACP-134)."""
        if not name:
            return {key: self.outside.choices().get(key, first) for key, (first, *_) in CHOICES.items()}
        if value not in CHOICES.get(name, ()):
            raise Refused(
                "bad_choice", f"{name} is one of {', '.join(CHOICES.get(name, ()))}", row="A2ACP-062"
            )
        await self.revise("choices", lambda kept: {**kept, name: value})
        return await self.choose()

    async def add_calendar(self, name: str, definition: Fields) -> Fields:
        """Read, or also write, a calendar of the owner's; one that cannot be read now is not added."""
        if name == OWN_CALENDAR or not name or shown(name) != name:
            raise Refused("bad_calendar_name", f"choose a short name in one line, other than {OWN_CALENDAR}")
        now = self.clock.now()
        answer = await self.outside.first_reading(definition, Span(now, Moment(now + FIRST_LOOK_DAYS * DAY)))
        kept = await self.revise("calendars", lambda kept: {**kept, name: definition})
        return {
            "calendars": sorted(kept),
            "days": FIRST_LOOK_DAYS,
            "busy_times": len(answer.spans),
            "notices": list(answer.notices),
        }

    async def remove_calendar(self, name: str) -> Fields:
        """Read and write a calendar no more; what is in it stays there."""
        if name == OWN_CALENDAR:
            raise Refused("own_calendar", f"{OWN_CALENDAR} is your agent's own calendar and stays")

        def without(kept: Fields) -> Fields:
            if name not in kept:
                raise Refused(
                    "unknown_calendar", "no calendar has this name: see `tacit agent calendar list`"
                )
            for action, handler in self.outside.handlers().items():
                if handler.get("kind") == "calendar" and handler.get("calendar") == name:
                    raise Refused(
                        "calendar_in_use",
                        f"your action {action} writes to this calendar: give it another one first, "
                        f"with `tacit agent action add {action} calendar NAME`",
                    )
            return {other: definition for other, definition in kept.items() if other != name}

        return {"calendars": sorted(await self.revise("calendars", without))}

    async def calendars(self) -> Fields:
        """The calendars, and whether each can be read now."""
        now = self.clock.now()
        return {"calendars": await self.outside.readable(Span(now, Moment(now + 7 * DAY)))}

    async def facts(self, found: Any) -> Fields:
        """What another program knows of the owner's calendar, for every thread; None for nothing any more."""
        kept = read_facts(found) if found is not None else {}
        if "fields" in kept:
            raise Refused("bad_facts", "fields belong to a wish, or to the profile", row="A2ACP-268")
        await self.set_to("facts", kept)
        return {"facts": sorted(kept)}

    async def add_handler(self, name: str, definition: Fields) -> Fields:
        """Let the agent do something once all have confirmed."""
        check_handler(definition)
        if (
            definition.get("kind") == "calendar"
            and definition.get("calendar") not in self.outside.calendar_definitions()
        ):
            raise Refused("unknown_calendar", "add the calendar first: tacit agent calendar add")
        found = await self.revise("handlers", lambda kept: {**kept, name: definition})
        return {"actions": sorted(found)}


def _without_none(values: Mapping[str, Any]) -> Fields:
    return {key: value for key, value in values.items() if value is not None}
