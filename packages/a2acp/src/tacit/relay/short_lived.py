"""Short-lived things: registrations on their way, challenges, sessions, each in its source's share.

A2ACP-011, A2ACP-012, A2ACP-019.

Whoever begins very many makes room at its own cost: beyond its share the oldest of its own goes, and when all
places are taken, the oldest of whoever holds the most for its share. What was abandoned (begun, and its email
not yet proved) goes before what was not. So no number of others shuts anybody out, and nobody is refused.
In memory only: after a restart people begin again. Knows no clock: `now` is an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from tacit.relay.accounts import AccountSession, PendingRegistration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.base.callers import Bound
    from tacit.base.moment import Moment

_MOST: Final = 10_000
_MOST_EACH: Final = 40

T = TypeVar("T", PendingRegistration, AccountSession)


class _Source(NamedTuple):
    """Whose they are: its share, and their ids, the oldest first."""

    share: float
    identifiers: dict[str, None]


class ShortLived(Generic[T]):
    """Short-lived things by an unguessable id."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[T, tuple[Bound, ...]]] = {}
        self._sources: dict[str, _Source] = {}

    def put(self, identifier: str, item: T, bounds: tuple[Bound, ...], now: Moment) -> None:
        """Keep `item`, which counts by these bounds on whoever it comes from."""
        self._drop_expired(now)
        self._items[identifier] = item, bounds
        for bound in bounds:
            source = self._sources.setdefault(bound.key, _Source(bound.share, {}))
            source.identifiers[identifier] = None
            if len(source.identifiers) > _MOST_EACH * bound.share:
                self.drop(self._first_to_go(source.identifiers, identifier))
        if len(self._items) > _MOST:
            heaviest = max(self._sources.values(), key=lambda source: len(source.identifiers) / source.share)
            alone = len(heaviest.identifiers) <= heaviest.share
            self.drop(self._first_to_go(self._items if alone else heaviest.identifiers, identifier))

    def _first_to_go(self, identifiers: Iterable[str], new: str) -> str:
        abandoned = (known for known in identifiers if known != new and self._is_abandoned(known))
        return next(abandoned, next(iter(identifiers)))

    def _is_abandoned(self, identifier: str) -> bool:
        item, _ = self._items[identifier]
        return isinstance(item, PendingRegistration) and not item.confirmed

    def _drop_expired(self, now: Moment) -> None:
        """Those of one kind live equally long, so the oldest stand first."""
        while self._items:
            first = next(iter(self._items))
            if self._items[first][0].expires > now:
                return
            self.drop(first)

    def get(self, identifier: str, now: Moment) -> T | None:
        """The item, unless it has expired."""
        item, _ = self._items.get(identifier, (None, ()))
        if item is not None and item.expires <= now:
            self.drop(identifier)
            return None
        return item

    def drop(self, identifier: str) -> None:
        """Forget it."""
        _, bounds = self._items.pop(identifier, (None, ()))
        for bound in bounds:
            source = self._sources.get(bound.key)
            if source is not None:
                source.identifiers.pop(identifier, None)
                if not source.identifiers:
                    del self._sources[bound.key]

    def of_account(self, account: int, now: Moment) -> list[T]:
        """What belongs to one account and has not expired, oldest first."""
        return [item for item, _ in self._items.values() if _account(item) == account and item.expires > now]

    def drop_items(self, ends: Callable[[T], bool]) -> None:
        """Forget those of which `ends` says so."""
        for identifier in [identifier for identifier, (item, _) in self._items.items() if ends(item)]:
            self.drop(identifier)

    def drop_account(self, account: int) -> None:
        """Forget all sessions of one account."""
        self.drop_items(lambda item: _account(item) == account)


def _account(item: PendingRegistration | AccountSession) -> int | None:
    return item.account if isinstance(item, AccountSession) else None
