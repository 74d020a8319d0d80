"""A team of agents, as an owner writes it down in one TOML file: read into values, or refused.

    group = "Lobby"

    [[agent]]
    name = "ada"
    driver = "codex"
    options = ["--access", "write", "--cwd", "/srv/project"]
    roles = ["reviewer"]
    instructions = "You look after the build."
    budget = { cost_usd = 5.0, tokens = 2000000, turns = 200 }
    worktree = true
    price_in = 1.25
    price_out = 10.0

Every fault is reported, not only the first; an entry with a fault fails alone, and the others are read. The
crew keeps its agents in the same form (`document_of`). Opens no file.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import Refused
from tacit.harness.budget import DailyBudget

if TYPE_CHECKING:
    from collections.abc import Mapping


MOST_SESSIONS: Final = 8
"""Sessions of one agent: each is a process of its program, with a model behind it."""
SLOT: Final = "session-"
"""The folder of a further session, in the agent's own; its number follows."""


@dataclass(frozen=True, slots=True)
class TeamMember:
    """One agent of a team."""

    name: str
    driver: str
    group: str
    options: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    title: str | None = None
    instructions: str = ""
    budget: DailyBudget = DailyBudget()
    time_limit: float = 1800.0
    claims: bool = True
    ambient: tuple[str, ...] = ()
    prices: str = ""
    """A list of prices of one's own."""
    price_in: float | None = None
    price_out: float | None = None
    """Dollars for a million tokens, where no list has the model."""
    worktree: bool = False
    """Does it work in a git worktree and on a branch of its own?"""
    sessions: int = 1
    """How many questions it may work on side by side, each in a session of its model's."""


@dataclass(frozen=True, slots=True)
class Team:
    """The agents of a document, and what is wrong with the entries that are none."""

    members: tuple[TeamMember, ...]
    faults: tuple[str, ...] = ()


_MEMBERS: Final[dict[str, tuple[type, ...]]] = {
    "name": (str,),
    "driver": (str,),
    "group": (str,),
    "options": (list,),
    "roles": (list,),
    "title": (str,),
    "instructions": (str,),
    "budget": (dict,),
    "time_limit": (int, float),
    "claims": (bool,),
    "ambient": (list,),
    "prices": (str,),
    "price_in": (int, float),
    "price_out": (int, float),
    "worktree": (bool,),
    "sessions": (int,),
}
_NO_LONGER: Final = frozenset({"permission_wait"})
"""Keys of earlier versions that mean nothing any more: a question waits until it is answered."""
_MAY_BE_NOTHING: Final = frozenset({"price_in", "price_out"})
_BUDGET: Final[dict[str, tuple[type, ...]]] = {"cost_usd": (int, float), "tokens": (int,), "turns": (int,)}


def team_of(document: Mapping[str, Any]) -> Team:
    """The agents of a document; `Refused` when it is wrong as a whole, or no entry is right."""
    rows: object = document.get("agent")
    faults = [f"unknown key `{name}`" for name in sorted(document.keys() - {"agent", "group"})]
    if not isinstance(rows, list) or not rows:
        raise Refused("invalid_request", "a team has at least one [[agent]]", details={"faults": faults})
    is_wrong = bool(faults)
    default = document.get("group")
    members: dict[tuple[str, str], TeamMember] = {}
    for number, row in enumerate(cast("list[object]", rows), 1):
        given = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
        wrong = _faults(given, default)
        faults += [f"agent {number}: {fault}" for fault in wrong]
        if not wrong:
            member = _member(given, str(given.get("group") or default))
            if members.setdefault((member.group, member.name), member) is not member:
                faults.append(f"agent {number}: {member.name} is named twice in {member.group}")
    if is_wrong or not members:
        raise Refused("invalid_request", "; ".join(faults), details={"faults": faults})
    return Team(tuple(members.values()), tuple(faults))


def member_of(given: Mapping[str, Any]) -> TeamMember:
    """One agent from its document, which names its group; `Refused` with every fault."""
    if faults := _faults(given, None):
        raise Refused("invalid_request", "; ".join(faults), details={"faults": faults})
    return _member(given, str(given["group"]))


def document_of(member: TeamMember) -> dict[str, Any]:
    """A member as its document says it: what is as usual is left out."""
    budget = {name: value for name, value in asdict(member.budget).items() if value is not None}
    usual = TeamMember("", "", "")
    found: dict[str, Any] = {"name": member.name, "driver": member.driver, "group": member.group}
    for name in _MEMBERS.keys() - {"name", "driver", "group", "budget"}:
        value = getattr(member, name)
        if value != getattr(usual, name):
            found[name] = list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
    return {**found, "budget": budget} if budget else found


def _faults(given: Mapping[str, Any], group: object) -> list[str]:
    found = [f"`{name}` is missing" for name in ("name", "driver") if not given.get(name)]
    if not given.get("group") and not isinstance(group, str):
        found.append("`group` is missing, here and at the top")
    found += _kinds(given, _MEMBERS)
    budget = given.get("budget")
    if isinstance(budget, dict):
        found += [f"budget: {fault}" for fault in _kinds(cast("dict[str, Any]", budget), _BUDGET)]
    for name in ("options", "roles", "ambient"):
        words = given.get(name)
        if isinstance(words, list) and not all(isinstance(word, str) for word in cast("list[object]", words)):
            found.append(f"`{name}` is a list of texts")
    return found


def _kinds(given: Mapping[str, Any], known: Mapping[str, tuple[type, ...]]) -> list[str]:
    found: list[str] = []
    for name, value in given.items():
        if name in _NO_LONGER:
            continue
        if name not in known:
            found.append(f"unknown key `{name}`")
        elif not isinstance(value, known[name]) or (isinstance(value, bool) and bool not in known[name]):
            found.append(f"`{name}` has the wrong type")
        elif isinstance(value, int | float) and not isinstance(value, bool) and not _fits(name, value):
            found.append(f"`{name}` has to be a number above 0")
        elif name == "sessions" and value > MOST_SESSIONS:
            found.append(f"`{name}` is at most {MOST_SESSIONS}")
    return found


def _fits(name: str, value: float) -> bool:
    return is_amount(value) or (name in _MAY_BE_NOTHING and value == 0)


def is_amount(value: float) -> bool:
    """Is this a limit that can be kept to?"""
    return 0 < value < math.inf


def _member(given: Mapping[str, Any], group: str) -> TeamMember:
    return TeamMember(
        str(given["name"]),
        str(given["driver"]),
        group,
        tuple(given.get("options", ())),
        tuple(given.get("roles", ())),
        given.get("title"),
        str(given.get("instructions", "")),
        DailyBudget(**given.get("budget", {})),
        float(given.get("time_limit", 1800.0)),
        bool(given.get("claims", True)),
        tuple(given.get("ambient", ())),
        str(given.get("prices", "")),
        given.get("price_in"),
        given.get("price_out"),
        bool(given.get("worktree", False)),
        int(given.get("sessions", 1)),
    )
