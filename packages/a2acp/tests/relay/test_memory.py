"""What strangers can make a relay remember has an end: the oldest goes, and not one before that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tacit.base.callers import Bound
from tacit.base.moment import Moment
from tacit.relay.accounts import AccountSession
from tacit.relay.login import LoginFailures
from tacit.relay.rate import PerMinute, Reputation
from tacit.relay.settings import HOUR, RelayLimits
from tacit.relay.short_lived import ShortLived

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = Moment(10**15)


def of(account: int) -> tuple[Bound, ...]:
    return (Bound(str(account), 1.0),)


class Memory(Protocol):
    def learn(self, name: str) -> None: ...
    def knows(self, name: str) -> bool: ...


class Failures:
    def __init__(self) -> None:
        self.failures = LoginFailures(RelayLimits(login_failures=1))

    def learn(self, name: str) -> None:
        self.failures.failed("here", name, NOW)

    def knows(self, name: str) -> bool:
        return self.failures.locked("here", name, NOW)


class Sessions:
    def __init__(self) -> None:
        self.sessions: ShortLived[AccountSession] = ShortLived()

    def learn(self, name: str) -> None:
        account = int(name.removeprefix("n")) if name.startswith("n") else -1
        self.sessions.put(name, AccountSession(account, name, Moment(NOW + 1)), of(account), NOW)

    def knows(self, name: str) -> bool:
        return self.sessions.get(name, NOW) is not None


class Scores:
    def __init__(self) -> None:
        self.reputation = Reputation()

    def learn(self, name: str) -> None:
        self.reputation.change(name, Reputation.BAD_SIGNATURE)

    def knows(self, name: str) -> bool:
        return self.reputation.score(name) == 40


class Reports:
    def __init__(self) -> None:
        self.reputation = Reputation()

    def learn(self, name: str) -> None:
        assert self.reputation.report(name, "a", NOW)

    def knows(self, name: str) -> bool:
        return not self.reputation.report(name, "a", NOW)


class Rates:
    def __init__(self) -> None:
        self.rates = PerMinute(1, 1)

    def learn(self, name: str) -> None:
        assert self.rates.take(name, NOW) == 0

    def knows(self, name: str) -> bool:
        bucket = self.rates._buckets._buckets
        return name in bucket


@pytest.mark.parametrize(
    ("row", "make", "most"),
    [
        ("A2ACP-017", Failures, 100_000),
        ("A2ACP-011", Sessions, 10_000),
        ("A2ACP-261", Scores, 100_000),
        ("A2ACP-261", Reports, 100_000),
        ("A2ACP-258", Rates, 100_000),
    ],
)
def test_the_oldest_is_forgotten_when_there_are_too_many_and_not_before(
    row: str, make: Callable[[], Memory], most: int
) -> None:
    memory = make()
    for number in range(most):
        memory.learn(f"n{number}")
    assert memory.knows("n0")
    memory.learn("one more")
    assert not memory.knows("n0")
    assert memory.knows("one more")


@pytest.mark.spec("A2ACP-011", "A2ACP-012")
def test_what_is_short_lived_is_gone_at_its_end_and_with_its_account() -> None:
    sessions: ShortLived[AccountSession] = ShortLived()
    for name, account, expires in (("a", 1, NOW), ("b", 1, NOW + 1), ("c", 2, NOW + 1)):
        sessions.put(name, AccountSession(account, name, Moment(expires)), of(account), Moment(0))
    assert sessions.get("a", NOW) is None
    assert [sessions.get(name, NOW) is not None for name in "bc"] == [True, True]
    sessions.drop_account(1)
    assert [sessions.get(name, NOW) is not None for name in "bc"] == [False, True]
    sessions.drop("c")
    assert sessions.get("c", NOW) is None


@pytest.mark.spec("A2ACP-261")
def test_a_score_stays_within_its_limits_and_twenty_is_not_yet_poor() -> None:
    reputation = Reputation()
    for score, share in ((21, 1.0), (20, 1.0), (19, 0.5), (0, 0.5), (100, 1.0)):
        reputation.change("a", score - reputation.score("a"))
        assert (reputation.score("a"), reputation.share("a")) == (score, share)
    reputation.change("a", 1)
    assert reputation.score("a") == 100
    reputation.change("a", -101)
    assert reputation.score("a") == 0
    assert reputation.report("r", "b", NOW)
    assert not reputation.report("r", "b", Moment(NOW + HOUR - 1))
    assert reputation.report("r", "b", Moment(NOW + HOUR))
    assert reputation.score("b") == 40
