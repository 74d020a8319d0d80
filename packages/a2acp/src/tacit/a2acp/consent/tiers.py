"""The three tiers, what one owner decided for one counterpart, and how a name finds its tier.

A2ACP-119, A2ACP-120, A2ACP-121, A2ACP-122, A2ACP-123, A2ACP-124, A2ACP-127.

A key is read as a chain of names, from its own to the widest (`date`, `time_windows`,
`specific_availability`). An entry that releases (`always_share`, a promotion) holds for the name it gives
and whatever narrower name leads to it; an entry that restricts (`never_share`, a restriction) holds for the
whole field that its name belongs to. So naming a part can release a part, and never more; and what is
withheld cannot be had under a wider or narrower name. An unknown name that contains a withheld one
(`my_health_info`) is withheld too. Two fields are released by nobody: secrets, and what belongs to other
people.

Knows nothing of packets, approvals or values.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.a2acp.consent import aliases
from tacit.a2acp.consent.disguises import name
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

UNPROMOTABLE: Final = frozenset({aliases.CREDENTIALS, aliases.OTHER_PEOPLE})


class Tier(StrEnum):
    """How far a field may go without a question."""

    ALWAYS = "always"
    ASK = "ask"
    NEVER = "never"


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for one counterpart alone (A2ACP-122)."""

    label: str = ""
    promote_to_always_share: tuple[str, ...] = ()
    restrict_to_never_share: tuple[str, ...] = ()
    notes: str = ""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """An owner's permissions (A2ACP-119)."""

    always_share: tuple[str, ...] = ()
    ask_first: tuple[str, ...] = ()
    never_share: tuple[str, ...] = ()
    overrides: dict[str, Override] = {}
    """By agent address."""
    aliases: dict[str, str] = {}
    """The owner's own names for fields, before the shipped table."""
    onward_fields: tuple[str, ...] = ()
    """What the coordinator of a group may pass on to everybody in it (A2ACP-181)."""


DEFAULT: Final = Policy(
    always_share=(aliases.TIMEZONE, aliases.GENERAL_LOCATION),
    ask_first=(
        aliases.GENERAL_AVAILABILITY,
        "event_preferences",
        aliases.SPECIFIC_AVAILABILITY,
        "dietary",
        "budget_range",
        aliases.SPECIFIC_LOCATION,
        "transport_mode",
        "contact_details",
        "project_details",
    ),
    never_share=(
        "health_info",
        "financial_details_beyond_budget",
        "work_schedule_internals",
        "private_conversations",
        aliases.CREDENTIALS,
        aliases.OTHER_PEOPLE,
    ),
)
"""A new owner's permissions (A2ACP-120)."""

_MOST_CHAINS: Final = 4096
_BASE: Final = frozenset({*DEFAULT.always_share, *DEFAULT.ask_first, *DEFAULT.never_share})


class PolicyLookup:
    """A policy made ready for many questions: every name in it folded once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._aliases = {name(alias): name(target) for alias, target in policy.aliases.items()}
        self._always, self._ask = _named(policy.always_share), _named(policy.ask_first)
        self._overridden = _named(
            one
            for override in policy.overrides.values()
            for one in (*override.promote_to_always_share, *override.restrict_to_never_share)
        )
        self._own = self._always | self._ask | _named(policy.never_share) | self._overridden
        words = sorted(aliases.WORDS | _BASE | self._own | set(self._aliases) | set(self._aliases.values()))
        self._joined = {word.replace("_", ""): word for word in words}
        self._words = frozenset(words)
        self._chains: dict[str, tuple[str, ...]] = {}
        self._never = self._whole(policy.never_share)

    def chain(self, key: str) -> tuple[str, ...]:
        """The names of a key, its own first, the tier field's last."""
        found = self._chains.get(key)
        if found is None:
            if len(self._chains) >= _MOST_CHAINS:
                self._chains.clear()
            found = self._chains[key] = self._chain(key)
        return found

    def _chain(self, key: str) -> tuple[str, ...]:
        at = name(key)
        if at not in self._words:
            at = self._joined.get(at.replace("_", ""), at)
        names = [at]
        while (following := self._next(names[-1])) is not None and following not in names:
            names.append(following)
        return tuple(names)

    def _next(self, at: str) -> str | None:
        shipped = aliases.SHIPPED.get(at)
        if at in UNPROMOTABLE or shipped in UNPROMOTABLE:
            return shipped
        own = self._aliases.get(at)
        if own is not None:
            return own
        for beginning, target in aliases.PATTERNS:
            if at.startswith(beginning):
                return target
        return shipped

    def knows(self, names: tuple[str, ...]) -> bool:
        """Whether a key means a field that somebody has named before, or stays what it is."""
        return len(names) != 1 or names[0] in self._words

    def named_by_owner(self, names: tuple[str, ...]) -> bool:
        """Whether the owner's lists speak of the field, under any of its names."""
        return not self._own.isdisjoint(names)

    def locked(self, names: tuple[str, ...]) -> bool:
        """Whether nobody can release the field."""
        return self._withheld(names, UNPROMOTABLE)

    def tier(self, names: tuple[str, ...], counterpart: str) -> Tier:
        """The override's, else the base tier, else ask (A2ACP-123); the stricter list wins (A2ACP-124)."""
        override = self.policy.overrides.get(counterpart)
        if override is None or self.locked(names):
            return self.base(names)
        if self._withheld(names, self._whole(override.restrict_to_never_share)):
            return Tier.NEVER
        if not _named(override.promote_to_always_share).isdisjoint(names):
            return Tier.ALWAYS
        return self.base(names)

    def base(self, names: tuple[str, ...]) -> Tier:
        """The tier for whoever has no override."""
        if self.locked(names) or self._withheld(names, self._never):
            return Tier.NEVER
        for one in names:
            if one in self._ask:
                return Tier.ASK
            if one in self._always:
                return Tier.ALWAYS
        return Tier.ASK

    def _whole(self, listed: Iterable[str]) -> frozenset[str]:
        return frozenset(one for entry in listed for one in (name(entry), self.chain(entry)[-1]))

    def _withheld(self, names: tuple[str, ...], withheld: frozenset[str]) -> bool:
        return not withheld.isdisjoint(names) or self._contains(names, withheld)

    def _contains(self, names: tuple[str, ...], withheld: frozenset[str]) -> bool:
        """Whether an unknown name has within it, word by word, one that leads to what is withheld."""
        if self.knows(names):
            return False
        parts = names[0].split("_")
        runs = (
            "_".join(parts[start:end])
            for start in range(len(parts))
            for end in range(start + 1, min(start + 5, len(parts)) + 1)
        )
        return any(not withheld.isdisjoint(self.chain(run)) for run in runs)


def _named(entries: Iterable[str]) -> frozenset[str]:
    return frozenset(name(entry) for entry in entries)


_ready: list[PolicyLookup] = []
"""The last policy that was asked about, made ready: nearly every question is about the same one."""


def ready(policy: Policy) -> PolicyLookup:
    """A policy made ready, kept until another is asked about."""
    if not _ready or _ready[0].policy is not policy:
        _ready[:] = [PolicyLookup(policy)]
    return _ready[0]


def canonical(policy: Policy, key: str) -> str:
    """The tier field that a key stands for, in any spelling of it; an unknown key stays itself."""
    return ready(policy).chain(key)[-1]


def tier(policy: Policy, field: str, counterpart: str) -> Tier:
    """How far a field may go to one counterpart."""
    lists = ready(policy)
    return lists.tier(lists.chain(field), counterpart)


def changed(
    policy: Policy, field: str, to: Tier, counterpart: str | None = None, *, confirmed: bool = False
) -> Policy:
    """The policy after the owner's word about a field: for everybody, or for one counterpart.

    `confirmed` is the owner's typed confirmation, without which nothing leaves the base tier `never_share`.
    Only entries of this very name are touched: where another one still decides, the change is refused rather
    than that one taken away with all else that it holds.
    """
    lists = PolicyLookup(policy)
    names = lists.chain(field)
    if to is not Tier.NEVER:
        _check_loosening(lists, names, confirmed=confirmed)
    after = (
        _for_all(policy, names[0], to) if counterpart is None else _for_one(policy, names[0], to, counterpart)
    )
    now = PolicyLookup(after)
    if (now.base(names) if counterpart is None else now.tier(names, counterpart)) is not to:
        raise Refused("other_entry_holds", "another entry of the permissions decides this", row="A2ACP-124")
    return after


def _check_loosening(lists: PolicyLookup, names: tuple[str, ...], *, confirmed: bool) -> None:
    if lists.locked(names):
        raise Refused("never_released", "this field is shared with nobody", row="A2ACP-124")
    if lists.base(names) is Tier.NEVER and not confirmed:
        raise Refused(
            "confirmation_needed", "a field of never_share needs a typed confirmation", row="A2ACP-124"
        )


def _for_all(policy: Policy, field: str, to: Tier) -> Policy:
    return msgspec.structs.replace(
        policy,
        always_share=_listed(policy.always_share, field, within=to is Tier.ALWAYS),
        ask_first=_listed(policy.ask_first, field, within=to is Tier.ASK),
        never_share=_listed(policy.never_share, field, within=to is Tier.NEVER),
    )


def _for_one(policy: Policy, field: str, to: Tier, counterpart: str) -> Policy:
    before = policy.overrides.get(counterpart, Override())
    after = msgspec.structs.replace(
        before,
        promote_to_always_share=_listed(before.promote_to_always_share, field, within=to is Tier.ALWAYS),
        restrict_to_never_share=_listed(before.restrict_to_never_share, field, within=to is Tier.NEVER),
    )
    return msgspec.structs.replace(policy, overrides={**policy.overrides, counterpart: after})


def _listed(entries: tuple[str, ...], field: str, *, within: bool) -> tuple[str, ...]:
    others = tuple(one for one in entries if name(one) != field)
    return (*others, field) if within else others
