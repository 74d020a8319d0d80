"""What is remembered of one counterpart: its last threads, what it told of itself, and what that was before.

A2ACP-187, A2ACP-189, A2ACP-190, A2ACP-192, A2ACP-193, A2ACP-194.

Theory of operation. One value for a counterpart, kept with it in the vault and nowhere else, so that it goes
when the contact goes. A thread that is over adds an episode, which names fields and holds no value, and the
values that the counterpart told of itself under names that outlast one event (`LASTING`): its diet, its part
of town, how it travels. What it says of an hour, an event or somebody else is not kept, nor a text of its
own making: a sentence under a name that nobody knows teaches nothing. Each value has its own date, and is
used for ninety days from then; after that it is asked for again. A value that contradicts takes the other's
place and both are noted. What the owner corrects or takes away counts over all that was told before.

Everything is bounded: nobody fills a disk by talking. Knows nothing of where it is kept or who is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.consent import aliases
from tacit.base.moment import DAY, Moment
from tacit.base.strict_json import canonical as bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PREFIX: Final = "mem:"
"""How the vault's names of these values begin: they have ages of their own."""
TOLD: Final = "told"
OWNER: Final = "owner"
HIGH, MEDIUM, LOW = "high", "medium", "low"
USED_FOR: Final = 90 * DAY
MOST_EPISODES: Final = 20
MOST_CHANGES: Final = 20
MOST_VALUES: Final = 50
LONGEST_VALUE: Final = 500
EVERYTHING: Final = "*"
"""The key under which all of it was forgotten."""
LASTING: Final = (
    "dietary",
    aliases.GENERAL_LOCATION,
    "transport_mode",
    aliases.TIMEZONE,
    "event_preferences",
    "budget_range",
)
"""What somebody tells of itself that holds beyond one event, by the tiers' names."""
OF_ONE_EVENT: Final = frozenset({"place", "venue", "location", "region", "price", "cost", "estimated_cost"})
"""Names of these fields that say where or for how much this time."""


class Known(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value, when it was said last and by whom."""

    value: Any
    at: Moment
    source: str = TOLD
    thread_id: str = ""
    times: int = 1
    """In how many threads it was told, unchanged."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that took another's place."""

    key: str
    old: Any
    new: Any
    at: Moment
    source: str = TOLD


class Episode(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thread that is over, without a word that was said in it."""

    thread_id: str
    at: Moment
    category: str
    outcome: str
    told: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    requested: tuple[str, ...] = ()
    waited: tuple[int, ...] = ()
    """How long each answer of theirs took, in microseconds."""
    flexibility: dict[str, str] = {}
    proposals: int = 0


class Relationship(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that is remembered of one counterpart beyond what the journal counts."""

    cache: dict[str, Known] = {}
    changes: tuple[Change, ...] = ()
    episodes: tuple[Episode, ...] = ()
    """The last ones, oldest first."""
    forgotten: dict[str, Moment] = {}
    """Keys that the owner had forgotten, and when: what was told before is not learned again."""


def name_of(peer: str) -> str:
    """The vault's name of what is remembered of a counterpart."""
    return f"{PREFIX}{peer}"


def recalled(read: Callable[[str], Any], peer: str) -> Relationship:
    """What is remembered of a counterpart, from wherever values are read."""
    kept = read(name_of(peer))
    return msgspec.convert(kept, Relationship) if kept is not None else Relationship()


def is_lasting(chain: tuple[str, ...]) -> bool:
    """Whether a field, by its names from the nearest to the widest, holds beyond one event."""
    return chain[-1] in LASTING and OF_ONE_EVENT.isdisjoint(chain)


def is_small(value: object) -> bool:
    """Whether a value is one that is remembered: said, and no longer than a sentence or two."""
    return value not in (None, "", [], {}) and len(bytes_of(value)) <= LONGEST_VALUE


def confidence(known: Known, now: Moment) -> str:
    """How far a value can be relied on (A2ACP-190, A2ACP-192)."""
    if now - known.at > USED_FOR:
        return LOW
    return HIGH if known.times > 1 or known.source == OWNER else MEDIUM


def usable(found: Relationship, now: Moment) -> dict[str, Known]:
    """What counts as known now; the rest has to be asked for again (A2ACP-192)."""
    return {key: one for key, one in found.cache.items() if confidence(one, now) != LOW}


def to_verify(found: Relationship, now: Moment) -> tuple[str, ...]:
    """What was known and is too old to be used."""
    return tuple(key for key, one in found.cache.items() if confidence(one, now) == LOW)


def learned(
    before: Relationship, told: Iterable[tuple[str, Any, Moment]], thread_id: str
) -> tuple[Relationship, tuple[str, ...]]:
    """After what a counterpart told of itself, in the order in which it did; the keys that contradicted."""
    cache, changes = dict(before.cache), list(before.changes)
    contradicted: list[str] = []
    for key, value, at in told:
        if not is_small(value) or at <= _not_before(before, key):
            continue
        known = cache.get(key)
        if known is None:
            if len(cache) < MOST_VALUES:
                cache[key] = Known(value, at, thread_id=thread_id)
        elif at < known.at:
            # Older than what is known, as the owner's own word may be.
            continue
        elif _same(known.value, value):
            more = known.thread_id != thread_id and known.source == TOLD
            cache[key] = Known(value, at, thread_id=thread_id, times=known.times + more)
        else:
            cache[key] = Known(value, at, thread_id=thread_id)
            changes.append(Change(key, known.value, value, at))
            contradicted.append(key)
    after = msgspec.structs.replace(before, cache=cache, changes=tuple(changes[-MOST_CHANGES:]))
    return after, tuple(dict.fromkeys(contradicted))


def with_episode(before: Relationship, episode: Episode) -> Relationship:
    """After one more thread."""
    others = tuple(one for one in before.episodes if one.thread_id != episode.thread_id)
    return msgspec.structs.replace(before, episodes=(*others, episode)[-MOST_EPISODES:])


def corrected(before: Relationship, key: str, value: Any, now: Moment) -> Relationship:
    """After a correction of the owner's: it stands, and what it was before is noted."""
    known = before.cache.get(key)
    changes = before.changes
    if known is not None and not _same(known.value, value):
        changes = (*changes, Change(key, known.value, value, now, OWNER))[-MOST_CHANGES:]
    cache = {**before.cache, key: Known(value, now, OWNER)}
    return msgspec.structs.replace(before, cache=cache, changes=changes)


def without(before: Relationship, key: str, now: Moment) -> Relationship:
    """After the owner had one value forgotten, with all that it ever was."""
    return msgspec.structs.replace(
        before,
        cache={name: one for name, one in before.cache.items() if name != key},
        changes=tuple(one for one in before.changes if one.key != key),
        forgotten={**before.forgotten, key: now},
    )


def values_of(found: Relationship, key: str) -> tuple[Any, ...]:
    """Every value that is or was remembered, under a key or under any."""
    now = [one.value for name, one in found.cache.items() if key in ("", name)]
    before = [value for one in found.changes if key in ("", one.key) for value in (one.old, one.new)]
    return (*now, *before)


def shown_cache(found: Relationship, now: Moment, written: Callable[[Moment], str]) -> Mapping[str, Any]:
    """The values as an owner sees them, each with its date and how sure it is (A2ACP-189, A2ACP-190)."""
    return {
        key: {
            "value": one.value,
            "last_updated": written(one.at),
            "confidence": confidence(one, now),
            "source": one.source,
            "thread_id": one.thread_id or None,
        }
        for key, one in sorted(found.cache.items())
    }


def _not_before(found: Relationship, key: str) -> Moment:
    return max(found.forgotten.get(key, Moment(0)), found.forgotten.get(EVERYTHING, Moment(0)))


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()
    return bytes_of(one) == bytes_of(other)
