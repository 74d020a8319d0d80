"""A follow that loses its hub: it asks again, later each time, and in the hub's own terms."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.base.errors import Unavailable
from tacit.client import following
from tacit.client.following import FollowState


class Away:
    """A hub that nobody reaches."""

    async def capabilities(self) -> dict[str, Any]:
        raise Unavailable("away")


class Enough(Exception):
    """What ends the wait of a test."""


@pytest.mark.spec("CCCS-109")
async def test_each_try_that_fails_waits_by_a_higher_number(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def pause(attempt: int) -> float:
        tries.append(attempt)
        if len(tries) == 4:
            raise Enough
        return 0.0

    monkeypatch.setattr(following, "pause", pause)
    with pytest.raises(Enough):
        async for _event in FollowState(Away(), "g_one", 0, ()).events():  # pyright: ignore[reportArgumentType]
            pass
    assert tries == [0, 1, 2, 3]


@pytest.mark.spec("CCCS-109", "CCCS-010")
@pytest.mark.parametrize(
    ("offered", "asked"),
    [
        ({}, {"since_seq": 7}),
        ({"cursors": ["since_event_id"]}, {}),
        ({"filters": ["kinds"]}, {"since_seq": 7, "kinds": ["chat.message"]}),
        ({"filters": ["by"]}, {"since_seq": 7}),
        ({"cursors": ["since_ts", "since_seq"]}, {"since_seq": 7}),
    ],
)
def test_a_hub_is_asked_for_what_it_offers(offered: dict[str, Any], asked: dict[str, Any]) -> None:
    one = FollowState(Away(), "g_one", 7, ("chat.message",))  # pyright: ignore[reportArgumentType]
    assert one._params(offered) == {"group_id": "g_one"} | asked
