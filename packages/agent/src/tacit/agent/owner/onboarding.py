"""The first minute of an agent: who its owner is, and what it may share unasked.

A2ACP-120, A2ACP-230, A2ACP-231, A2ACP-233. Two steps, as data, so that a terminal and a page ask the same:
name, rough location and the timezone, which is detected and can be corrected; then five switches. Whoever
goes through with Enter has the defaults. Knows nothing of where it is asked or kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent import aliases, tiers
from tacit.a2acp.consent.tiers import Policy, Tier
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

NAME: Final = "name"
AREA: Final = aliases.GENERAL_LOCATION
TIMEZONE: Final = aliases.TIMEZONE
LONGEST: Final = 120
"""Signs of a name or an area."""


@dataclass(frozen=True, slots=True)
class Blank:
    """Something the owner is asked for in the first step."""

    key: str
    text: str
    example: str


@dataclass(frozen=True, slots=True)
class Switch:
    """One of the five switches, and the fields that it stands for (A2ACP-233)."""

    label: str
    text: str
    fields: tuple[str, ...]


BLANKS: Final = (
    Blank(NAME, "Your name", "Anna"),
    Blank(AREA, "Roughly where you are", "central Reading"),
    Blank(TIMEZONE, "Your timezone", "Europe/London"),
)
SWITCHES: Final = (
    Switch(
        "availability", "When you are free", (aliases.GENERAL_AVAILABILITY, aliases.SPECIFIC_AVAILABILITY)
    ),
    Switch("area", "Roughly where you are", (aliases.GENERAL_LOCATION,)),
    Switch("dietary", "What you eat", ("dietary",)),
    Switch("budget", "What you would spend", ("budget_range",)),
    Switch("location", "Exactly where you are", (aliases.SPECIFIC_LOCATION,)),
)
LEVELS: Final = tuple(str(one) for one in Tier)
_STRICTEST: Final = (Tier.NEVER, Tier.ASK, Tier.ALWAYS)


def level(policy: Policy, switch: Switch) -> str:
    """How a switch stands: where its fields differ, the strictest."""
    found = {tiers.tier(policy, name, "") for name in switch.fields}
    return str(next(one for one in _STRICTEST if one in found))


def settled(policy: Policy, chosen: Mapping[str, str], *, confirmed: bool = False) -> Policy:
    """The permissions after the five switches; what is not named stays as it is."""
    known = {one.label: one for one in SWITCHES}
    for label, wanted in chosen.items():
        switch = known.get(label)
        if switch is None or wanted not in LEVELS:
            raise Refused(
                "bad_switch",
                f"the switches are {', '.join(known)}, each {', '.join(LEVELS)}",
                row="A2ACP-231",
            )
        for name in switch.fields:
            if tiers.tier(policy, name, "") != wanted:
                policy = tiers.changed(policy, name, Tier(wanted), confirmed=confirmed)
    return policy


def profiled(profile: Mapping[str, object], said: Mapping[str, object]) -> dict[str, object]:
    """The profile after the first step; an empty answer changes nothing."""
    found = dict(profile)
    for one in BLANKS:
        value = " ".join(str(said.get(one.key) or "").split())
        if len(value) > LONGEST or not value.isprintable():
            raise Refused(
                "bad_profile", f"{one.text.lower()}: {LONGEST} plain signs at most", row="A2ACP-230"
            )
        if value:
            found[one.key] = value
    return found


def zone(named: Iterable[str], known: Callable[[str], bool]) -> str:
    """The first source that names a zone we know: TZ, the system's link, its file; else nothing."""
    for source in named:
        text = source.strip().removeprefix(":")
        _, found, rest = text.rpartition("/zoneinfo/")
        name = (rest if found else text).removeprefix("posix/").removeprefix("right/")
        if name and not name.startswith("/") and known(name):
            return name
    return ""
