"""The inbound limit counts what the ledger says was delivered, over a restart and at a node that takes over."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.commands import ChangeRules
from tacit.attention.decide.decision import MINUTE
from tacit.attention.io.recent_lines import LOOKED_AT, pushes_of
from tacit.base.moment import SECOND, Moment
from tests.attention.io.house import GROUP, House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 3


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "data")
    made.group(GROUP, ann="peer", ben="peer")
    made.store.decide(ChangeRules(GROUP, "user", {"injected_per_minute": LIMIT}))
    made.connect("ann")
    yield made
    made.close()


def ask(house: House, count: int) -> None:
    for number in range(count):
        house.say(GROUP, "user", f"fyi @ann the port is {number}")
        house.clock.move(1)


def reaches(house: House, name: str) -> bool:
    """Is what names somebody, and obliges nobody, pushed? Else it lies in the mailbox."""
    said = house.say(GROUP, "user", f"the port is 80, says {name}")
    found = [event.data for event in house.events(GROUP, kinds=["x.c2a.delivery"])]
    return any(
        (one["session"], one["event_id"]) == (name, said.id) for one in found if one["mode"] == "notify"
    )


@pytest.mark.spec("C2A-205")
@pytest.mark.parametrize("how", ["on", "restart", "again"])
def test_a_minute_allows_no_more_because_the_hub_was_restarted(house: House, how: str) -> None:
    ask(house, LIMIT - 1)
    assert reaches(house, "ann")
    if how == "restart":
        house.restart()
        house.connect("ann")
    elif how == "again":
        house.store.writer._roll_back()  # what a batch that failed leaves behind
    assert not reaches(house, "ann")
    house.clock.move(61)
    ask(house, 1)
    assert reaches(house, "ann")


def test_the_ledger_is_looked_through_no_further_than_a_minute_and_so_many_events(house: House) -> None:
    ask(house, 2)
    house.clock.move(61)
    ask(house, 2)
    group = house.store.writer._group(GROUP)
    view, asked = house.store.writer.views[group.number], list[int]()

    class Watched:
        def at(self, seq: int) -> Any:
            asked.append(seq)
            return view.at(seq)

    now = house.clock.now()
    found = pushes_of(Watched(), group.last_seq, now)
    assert [len(times) for times in found.values()] == [2]
    assert all(now - MINUTE < at <= now for times in found.values() for at in times)
    assert min(asked) > group.last_seq // 2
    asked.clear()
    assert pushes_of(Watched(), group.last_seq, Moment(now + 61 * SECOND)) == defaultdict()
    assert len(asked) == 1
    assert LOOKED_AT == 1_000
