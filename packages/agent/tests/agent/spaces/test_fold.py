"""What each record of a space leaves in the fold, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.agent.spaces import fold as space_fold
from tacit.agent.spaces import records as said
from tacit.agent.spaces.state import HOUR, JOINED, LEFT, Cell, Member, Space
from tacit.base.moment import Moment

ANN, BEN = "agent:ann@relay.example", "agent:ben@relay.example"
NOW = Moment(7 * HOUR + 5)


class Spaces:
    """Two spaces with two fields each, and records applied to them."""

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}
        self.cells: dict[tuple[str, str], Cell] = {}
        self.leaving: dict[str, Any] = {}
        for space in ("one", "two"):
            members = {ANN: Member("full-write", status=JOINED), BEN: Member("read-all", status=JOINED)}
            self.take(said.SpaceBegan(space, ANN, Moment(1), "title", JOINED, members))
            for number, field in enumerate("ab", 1):
                self.take(self.written(space, field, entry=number))

    def take(self, record: Any, at: Moment = NOW) -> None:
        space_fold.apply(self.spaces, self.cells, self.leaving, record, at)

    def written(self, space: str, field: str, **more: Any) -> said.SpaceWritten:
        return said.SpaceWritten(space, field, 1, NOW, ANN, ANN, pending=True, **more)

    @property
    def kept(self) -> list[str]:
        return sorted("/".join(key) for key in self.cells)


@pytest.mark.spec("A2ACP-197", "A2ACP-203")
@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (said.SpaceDropped("one", ("a",)), ["one/b", "two/a", "two/b"]),
        (said.SpaceDropped("one", ("a", "b", "unknown")), ["two/a", "two/b"]),
        (said.SpaceJoined("one", LEFT), ["two/a", "two/b"]),
        (said.SpaceJoined("one", JOINED), ["one/a", "one/b", "two/a", "two/b"]),
    ],
)
def test_what_is_dropped_or_left_is_gone_and_nothing_else(record: Any, kept: list[str]) -> None:
    found = Spaces()
    found.take(record)
    assert found.kept == kept
    assert found.spaces["two"].status == JOINED


@pytest.mark.spec("A2ACP-200", "A2ACP-201")
def test_a_change_is_counted_in_its_list_and_in_its_authors_hour() -> None:
    found = Spaces()
    assert (found.spaces["one"].changes, found.spaces["one"].members[BEN].taken) == (2, 0)
    theirs = said.SpaceWritten("one", "a", 2, NOW, BEN, ANN, entry=3)
    found.take(theirs)
    assert found.cells["one", "a"] == Cell(2, NOW, BEN, ANN)
    found.take(said.SpaceLost("one", BEN, 4))
    assert found.spaces["one"].changes == 4
    assert (found.spaces["one"].members[BEN].hour, found.spaces["one"].members[BEN].taken) == (7, 2)
    # A version that only changes place has no entry; a new hour begins at one.
    found.take(said.SpaceWritten("one", "a", 3, NOW, BEN, ANN), Moment(8 * HOUR))
    assert found.spaces["one"].changes == 4
    assert (found.spaces["one"].members[BEN].hour, found.spaces["one"].members[BEN].taken) == (8, 1)
    # What is written here waits, and is nobody's hour; whoever is no member has none.
    assert found.spaces["one"].members[ANN].taken == 0
    found.take(said.SpaceLost("one", "agent:nobody@relay.example", 5))
    assert sorted(found.spaces["one"].members) == [ANN, BEN]
    assert found.spaces["two"].changes == 2


@pytest.mark.spec("A2ACP-201", "A2ACP-204", "A2ACP-205")
def test_what_was_published_released_set_and_sent_is_known() -> None:
    found = Spaces()
    found.take(said.SpacePublished("one", ("a",)))
    assert [found.cells["one", field].pending for field in "ab"] == [False, True]
    for names in (("x",), ("y", "x")):
        found.take(said.SpaceReleased("one", (BEN,), names))
    assert found.spaces["one"].released == {BEN: ("x", "y")}
    found.take(said.SpaceSet("one", notify="all"))
    found.take(said.SpaceSet("one", seen=2))
    assert (found.spaces["one"].notify, found.spaces["one"].seen) == ("all", 2)
    found.take(said.SpaceMember("one", BEN, Member("write-own", 2, LEFT)))
    assert found.spaces["one"].present() == (ANN,)
    found.take(said.SpaceSent("one", "thr", BEN, "pkt", "space_update", "mac"))
    assert [(one.to, one.type, one.thread_id, one.at, one.mac) for one in found.leaving.values()] == [
        (BEN, "space_update", "thr", NOW, "mac")
    ]
    assert found.spaces["two"].released == {}
