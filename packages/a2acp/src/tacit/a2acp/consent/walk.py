"""One walk through the fields of a packet: what may go, what has to be asked, what never goes.

A2ACP-070, A2ACP-121, A2ACP-135, A2ACP-204. Each key is judged by its own names, by what its value tells (a
place, an hour), and by the field it stands in: all of them must be free to go, so the stricter of parent and
child wins. A key inside a field belongs to that field when it means the same, when it only builds its value
(`aliases.PARTS`), or when the owner approved the field and nobody knows the key: then it is part of what
the owner was shown.

Approvals open what has to be asked and nothing else: no basis opens `never_share`. What was removed is kept
for the search of the other texts. Knows nothing of free text, permissions or schemas.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.consent import aliases, values
from tacit.a2acp.consent.disguises import name
from tacit.a2acp.consent.shape import NOTHING
from tacit.a2acp.consent.tiers import Policy, Tier, ready
from tacit.base.strict_json import canonical as bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREAUTHORISED: Final = "user_preauthorised"
APPROVED: Final = "user_approved"
IMPLICIT: Final = "implicit"
BASES: Final = (PREAUTHORISED, APPROVED, IMPLICIT)
"""On what a field goes, strongest first."""

_FLEXIBILITIES: Final = frozenset({"flexible", "somewhat_flexible", "not_flexible"})
_DIMENSIONS: Final = frozenset(
    {"date", "time", "location", "place", "format", "budget", "duration", "party_size"}
)
_SIDES: Final = ("agent_a_values", "agent_b_values")
_TIMES: Final = "time_windows"
_OF_SPACES: Final = frozenset({"changes", "returned", "field_versions", "members"})
_LOCATION: Final[tuple[str, ...]] = (aliases.SPECIFIC_LOCATION,)
_AVAILABILITY: Final[tuple[str, ...]] = (aliases.SPECIFIC_AVAILABILITY,)
_COARSE: Final = frozenset({aliases.GENERAL_AVAILABILITY, aliases.GENERAL_LOCATION})
"""Fields that are general as long as they name no day and no hour."""


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A value that may go once its owner says so."""

    field: str
    """The name to ask for: the key's own, or the field that its value makes it."""
    path: str
    value: object = dataclasses.field(repr=False)


@dataclass(frozen=True, slots=True)
class Removed:
    """A value that does not go; kept so that it can be looked for elsewhere in the packet."""

    names: tuple[str, ...]
    value: object = dataclasses.field(repr=False)
    never: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """Why a field may go: its names and its basis."""

    names: tuple[str, ...]
    basis: str


def weakest(bases: Iterable[str]) -> str:
    """The weakest of some bases; the strongest when there are none."""
    return BASES[max(map(BASES.index, bases), default=0)]


class Walk:
    """One walk, with what it found on the way."""

    def __init__(
        self,
        policy: Policy,
        counterpart: str,
        approved: Mapping[str, str],
        *,
        known: Iterable[object] = (),
        members: frozenset[str] = frozenset(),
    ) -> None:
        self.lists = ready(policy)
        self._counterpart = counterpart
        self._members = members | {counterpart}
        self._approved: dict[str, str] = {}
        for field_name, basis in approved.items():
            if basis in {APPROVED, IMPLICIT}:
                at = name(field_name)
                self._approved[at] = weakest((basis, self._approved.get(at, basis)))
        self._theirs = {bytes_of(one) for value in known for one in _within(value)}
        self.held: list[HeldValue] = []
        self.removed: list[Removed] = []
        self.bases: dict[str, str] = {}
        """The fields that go, wherever they stand, with their bases; structural ones are not among them."""

    def cleared(self, field_name: str) -> bool:
        """Whether a field's values may go to this counterpart."""
        names = self.lists.chain(field_name)
        free = not aliases.FREE.keys().isdisjoint(names) and not self.lists.named_by_owner(names)
        return free or self._basis(names, floor=Tier.ALWAYS) is not None

    def firm(self, field_name: str) -> bool:
        """Whether a field is the owner's own and never goes: a counterpart's guess at it is not echoed."""
        names = self.lists.chain(field_name)
        return self.lists.tier(names, self._counterpart) is Tier.NEVER and aliases.OTHER_PEOPLE not in names

    def area(self, fields: dict[str, object], path: str) -> object:
        """The fields of one part of a packet that may go."""
        if path == "change_request":
            return self._change_request(fields, path)
        if (part := path.partition("[")[0]) in _OF_SPACES:
            return self._of_space(part, fields, path)
        kept: dict[str, object] = {}
        for key, value in fields.items():
            inner = self._top(key, value, f"{path}.{key}")
            if inner is not NOTHING:
                kept[key] = inner
        return kept

    def _top(self, key: str, value: object, path: str) -> object:
        names = self.lists.chain(key)
        if not self.lists.named_by_owner(names):
            if names[0] == "flexibility" and isinstance(value, dict):
                return self._flexibility(cast("dict[str, object]", value), path)
            if names[0] == "conflict" and isinstance(value, dict):
                return self._conflict(cast("dict[str, object]", value), path)
            if names[0] == "proposed_alternatives" and isinstance(value, list):
                return self._alternatives(cast("list[object]", value), path)
            if names[0] == "participants" and isinstance(value, list):
                return self._participants(key, cast("list[object]", value))
        return self._entry(key, value, None, path)

    def _entry(self, key: str, value: object, parent: Ground | None, path: str) -> object:
        ground = self._ground(key, value, parent, path)
        if ground is None:
            return NOTHING
        inner = self._inside(key, value, ground, path)
        if inner is not NOTHING and (parent is None or ground.names[-1] != parent.names[-1]):
            self.bases[key] = weakest((ground.basis, self.bases.get(key, ground.basis)))
        return inner

    def _inside(self, key: str, value: object, ground: Ground, path: str) -> object:
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            kept = {one: self._entry(one, inner, ground, f"{path}.{one}") for one, inner in fields.items()}
            found: object = {one: inner for one, inner in kept.items() if inner is not NOTHING}
        elif isinstance(value, list):
            entries = cast("list[object]", value)
            inner_values = [
                self._entry(key, one, ground, f"{path}[{place}]") for place, one in enumerate(entries)
            ]
            found = [one for one in inner_values if one is not NOTHING]
        else:
            return value
        return found if found or not value else NOTHING

    def _ground(self, key: str, value: object, parent: Ground | None, path: str) -> Ground | None:
        """Why a key may go with its value; None when it may not, which is then on record."""
        names = self.lists.chain(key)
        if self._is_free(names, value):
            return Ground(names, PREAUTHORISED if parent is None else parent.basis)
        bases: list[str] = []
        demands: list[tuple[tuple[str, ...], Tier]] = []
        never = self.lists.tier(names, self._counterpart) is Tier.NEVER
        if parent is not None:
            bases.append(parent.basis)
        if parent is not None and not never and self._belongs(names, parent):
            names = parent.names
        else:
            floor = Tier.ASK if names[-1] == aliases.TIMEZONE and not values.is_zone(value) else Tier.ALWAYS
            demands.append((names, floor))
        demands.extend((told, Tier.ALWAYS) for told in self._told(key, names, value))
        for demand, floor in demands:
            basis = self._basis(demand, floor=floor)
            if basis is None:
                self._remove(names, demand, value, path)
                return None
            bases.append(basis)
        return Ground(names, weakest(bases))

    def _is_free(self, names: tuple[str, ...], value: object) -> bool:
        fits = any(one in aliases.FREE and aliases.FREE[one](value) for one in names)
        return fits and not self.lists.named_by_owner(names) and not values.tells_place(value)

    def _belongs(self, names: tuple[str, ...], parent: Ground) -> bool:
        if names[-1] == parent.names[-1]:
            return True
        if names[0] in aliases.PARTS and not self.lists.named_by_owner(names):
            return True
        return parent.basis != PREAUTHORISED and not self.lists.knows(names)

    def _told(self, key: str, names: tuple[str, ...], value: object) -> Iterable[tuple[str, ...]]:
        """What a value asks for beside its key; what it holds is judged where it stands."""
        single = not isinstance(value, dict | list)
        if values.is_place(key) or _place_among(_scalars(value), single=single):
            yield _LOCATION
        if single and not _COARSE.isdisjoint(names) and values.tells_time(value):
            yield _AVAILABILITY

    def _basis(self, names: tuple[str, ...], *, floor: Tier) -> str | None:
        """On what a field goes; None when it does not. `floor` is the tier it has at least."""
        tier = self.lists.tier(names, self._counterpart)
        if tier is Tier.NEVER:
            return None
        if tier is Tier.ALWAYS and floor is Tier.ALWAYS:
            return PREAUTHORISED
        return next((self._approved[one] for one in names if one in self._approved), None)

    def _remove(self, names: tuple[str, ...], demand: tuple[str, ...], value: object, path: str) -> None:
        never = self.lists.tier(demand, self._counterpart) is Tier.NEVER
        self.removed.append(Removed((*names, *(one for one in demand if one not in names)), value, never))
        if not never:
            self.held.append(HeldValue(demand[0], path, value))

    def _flexibility(self, fields: dict[str, object], path: str) -> object:
        kept: dict[str, object] = {}
        for key, value in fields.items():
            plain = name(key) in _DIMENSIONS or self.lists.chain(key)[0] in aliases.WORDS
            if plain and isinstance(value, str) and value in _FLEXIBILITIES:
                kept[key] = value
            elif (inner := self._entry(key, value, None, f"{path}.{key}")) is not NOTHING:
                kept[key] = inner
        return kept

    def _conflict(self, fields: dict[str, object], path: str) -> object:
        """Both sides' values of a field: what the counterpart said is theirs, the rest as the field."""
        claimed = fields.get("field")
        about = claimed if isinstance(claimed, str) else _TIMES
        if not aliases.STRUCTURAL.union(aliases.FREE).isdisjoint(self.lists.chain(about)):
            about = _TIMES
        kept: dict[str, object] = {}
        for key, value in fields.items():
            where = f"{path}.{key}"
            if key in {"type", "field", "attempted_resolution"}:
                inner = self._text(value, where)
                inner = "" if inner is NOTHING and key == "attempted_resolution" else inner
            elif key in _SIDES and isinstance(value, list):
                inner = self._side(about, cast("list[object]", value), where)
            elif key == "values_by_agent" and isinstance(value, dict):
                inner = {
                    agent: self._side(about, cast("list[object]", said), f"{where}.{agent}")
                    for agent, said in cast("dict[str, object]", value).items()
                    if agent in self._members and isinstance(said, list)
                }
            else:
                inner = self._entry(key, value, None, where)
            if inner is not NOTHING:
                kept[key] = inner
        return kept

    def _side(self, about: str, said: list[object], path: str) -> list[object]:
        kept: list[object] = []
        for place, one in enumerate(said):
            where = f"{path}[{place}]"
            if bytes_of(one) in self._theirs:
                kept.append(one)
            elif not values.tells_time(one) or self._ground(_TIMES, one, None, where) is not None:
                inner = self._entry(about, one, None, where)
                if inner is not NOTHING:
                    kept.append(inner)
        return kept

    def _alternatives(self, entries: list[object], path: str) -> object:
        kept: list[object] = []
        for place, entry in enumerate(entries):
            where = f"{path}[{place}]"
            if not isinstance(entry, dict):
                inner = self._text(entry, where)
            else:
                inner = self._alternative(cast("dict[str, object]", entry), where)
            if inner is not NOTHING and inner != {}:
                kept.append(inner)
        return kept if kept or not entries else NOTHING

    def _alternative(self, entry: dict[str, object], path: str) -> object:
        kept: dict[str, object] = {}
        before = dict(self.bases)
        for key, value in entry.items():
            where = f"{path}.{key}"
            said = key in {"option", "rationale"}
            if key == "details" and isinstance(value, dict):
                inner = self.area(cast("dict[str, object]", value), where)
            else:
                inner = self._text(value, where) if said else self._entry(key, value, None, where)
            if inner is not NOTHING:
                kept[key] = inner
            elif said:
                # Half an alternative is none, and what went with it does not go after all.
                self.bases = before
                return NOTHING
        return kept

    def _text(self, value: object, path: str) -> object:
        """A text of our own among the fields: it names no place and no time unless these may go."""
        if isinstance(value, dict | list):
            return NOTHING
        demands: list[tuple[str, ...]] = [_LOCATION] if values.tells_place(value) else []
        if values.tells_time(value):
            demands.append(_AVAILABILITY)
        for demand in demands:
            if self._basis(demand, floor=Tier.ALWAYS) is None:
                self._remove(demand, demand, value, path)
                return NOTHING
        return value

    def _participants(self, key: str, entries: list[object]) -> object:
        """The members of the thread, whom each of them knows; others are other people."""
        kept: list[object] = []
        for entry in entries:
            agent = cast("dict[str, object]", entry).get("agent") if isinstance(entry, dict) else entry
            if not isinstance(agent, str) or agent not in self._members:
                self.removed.append(Removed((aliases.OTHER_PEOPLE,), agent, never=True))
            elif isinstance(entry, dict):
                status = cast("dict[str, object]", entry).get("status")
                kept.append({"agent": agent, **({"status": status} if aliases.is_label(status) else {})})
            else:
                kept.append(agent)
        if not kept and entries:
            return NOTHING
        self.bases[key] = PREAUTHORISED
        return kept

    def _change_request(self, fields: dict[str, object], path: str) -> object:
        """`field` and `suggestion`: the suggestion is a value of that field (A2ACP-053)."""
        wanted, suggestion = fields.get("field"), fields.get("suggestion")
        if not isinstance(wanted, str) or "suggestion" not in fields:
            return NOTHING
        if values.tells_time(suggestion) and self._ground(_TIMES, suggestion, None, path) is None:
            return NOTHING
        inner = self._entry(wanted, suggestion, None, f"{path}.suggestion")
        return NOTHING if inner is NOTHING else {"field": wanted, "suggestion": inner}

    # Shared spaces (A2ACP-204).

    def _of_space(self, part: str, fields: dict[str, object], path: str) -> object:
        match part:
            case "changes":
                return self._space_change(fields, path)
            case "returned":
                # What its recipient wrote goes back to it, whole or not at all.
                return fields if bytes_of({"value": fields.get("value")}) in self._theirs else NOTHING
            case "field_versions":
                # Names of what its recipient wrote.
                return {
                    key: _scalars_of(value) for key, value in fields.items() if bytes_of(key) in self._theirs
                }
            case _:
                return {key: _scalars_of(value) for key, value in fields.items() if key in self._members}

    def _space_change(self, fields: dict[str, object], path: str) -> object:
        """A field of a space: each name of its path is a field within the one before; whole or not at all.

        A name below the first that means nothing to anybody is an item's, and says as much as its list.
        """
        named = fields.get("field")
        if not isinstance(named, str):
            return NOTHING
        kept = {key: fields[key] for key in ("field", "v", "at", "mark", "deleted") if key in fields}
        first, *below = named.split("/")
        value: object = fields.get("value")
        if "value" not in fields:
            # That a field is gone tells its name, which was told with its value.
            return kept if fields.get("deleted") is True else NOTHING
        for name_of in reversed(below):
            names = self.lists.chain(name_of)
            if self.lists.knows(names) or self.lists.tier(names, self._counterpart) is Tier.NEVER:
                value = {name_of: value}
        before, removed = dict(self.bases), len(self.removed)
        inner = self._top(first, value, f"{path}.{first}")
        if inner is NOTHING or len(self.removed) > removed:
            self.bases = before
            return NOTHING
        return {**kept, "value": fields["value"]}


def _scalars_of(value: object) -> dict[str, object]:
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return {key: one for key, one in fields.items() if not isinstance(one, dict | list)}


def _within(value: object) -> Iterable[Any]:
    """A value and everything inside it that says something by itself."""
    if isinstance(value, dict):
        yield value
        for inner in cast("dict[str, object]", value).values():
            yield from _within(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _within(inner)
    elif isinstance(value, str):
        yield value


def _scalars(value: object) -> list[object]:
    """The value itself, or what stands directly inside it; not what stands deeper."""
    if isinstance(value, dict):
        inside = list(cast("dict[str, object]", value).values())
    elif isinstance(value, list):
        inside = cast("list[object]", value)
    else:
        return [value]
    return [one for one in inside if not isinstance(one, dict | list)]


def _place_among(direct: list[object], *, single: bool) -> bool:
    """A place in one text; or, of several, one that only shows when they are read together."""
    if single:
        return values.tells_place(direct)
    alone = any(values.tells_place(one) for one in direct)
    return not alone and values.tells_place(direct)
