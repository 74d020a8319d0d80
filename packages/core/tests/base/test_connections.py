"""Who is connected: how many may wait unknown, from where, and for how long."""

from __future__ import annotations

from tacit.base.callers import Connections, ConnectionView, SocketLimits

LIMITS = SocketLimits(
    guests=4,
    guests_per_address=2,
    guest_seconds=10,
    guest_request_seconds=20,
    idle_seconds=100,
    stalled_seconds=30,
    connections_per_credential=2,
)
QUIET = ConnectionView(0, busy=False, unsent=0)
FAR = "192.0.2.7"


def entered(*names: str, address: str = "127.0.0.1") -> Connections[str]:
    connections: Connections[str] = Connections(LIMITS)
    for name in names:
        assert connections.enter(name, address, 0.0) is None
    return connections


def test_for_one_guest_too_many_from_an_address_its_oldest_goes() -> None:
    connections = entered("a", "b", address=FAR)
    assert connections.enter("c", FAR, 1.0) == "a"
    assert connections.enter("d", "192.0.2.8", 1.0) is None


def test_for_one_guest_too_many_in_all_the_busiest_address_loses_its_oldest() -> None:
    connections = entered("a", "b", "c")
    assert connections.enter("far", FAR, 1.0) is None
    assert connections.enter("other", "192.0.2.8", 2.0) == "a"
    assert connections.cut == 1


def test_whoever_is_known_is_no_guest() -> None:
    connections = entered("a", "b", "c", "d")
    assert connections.proved("a", "token")
    assert connections.guests == 3
    assert connections.enter("e", "127.0.0.1", 1.0) is None
    assert connections.enter("f", "127.0.0.1", 1.0) == "b"


def test_a_credential_has_so_many_connections() -> None:
    connections = entered("a", "b", "c")
    assert [connections.proved(one, "token") for one in "abc"] == [True, True, False]
    assert connections.proved("a", "token")
    connections.leave("a")
    connections.leave("a")
    assert connections.proved("c", "token")
    assert connections.guests == 0


def test_a_silent_guest_is_overdue_and_a_known_one_later() -> None:
    connections = entered("guest", "known")
    connections.proved("known", "token")
    assert connections.overdue(10.0, lambda _: QUIET) == []
    assert connections.overdue(10.1, lambda _: QUIET) == ["guest"]
    connections.leave("guest")
    assert connections.overdue(100.0, lambda _: QUIET) == []
    assert connections.overdue(100.1, lambda _: QUIET) == ["known"]


def test_each_request_gives_a_guest_new_time() -> None:
    connections = entered("guest")
    assert connections.overdue(9.0, lambda _: ConnectionView(1, busy=False, unsent=0)) == []
    assert connections.overdue(19.0, lambda _: ConnectionView(1, busy=False, unsent=0)) == []
    assert connections.overdue(19.1, lambda _: ConnectionView(1, busy=False, unsent=0)) == ["guest"]


def test_a_guests_request_takes_only_so_long_and_a_known_ones_as_long_as_it_likes() -> None:
    connections = entered("guest", "known")
    connections.proved("known", "token")
    busy = ConnectionView(1, busy=True, unsent=0)
    assert connections.overdue(1.0, lambda _: busy) == []
    assert connections.overdue(21.0, lambda _: busy) == []
    assert connections.overdue(21.1, lambda _: busy) == ["guest"]
    connections.leave("guest")
    assert connections.overdue(9999.0, lambda _: busy) == []


def test_whoever_reads_nothing_is_overdue_and_whoever_reads_slowly_is_not() -> None:
    connections = entered("known")
    connections.proved("known", "token")

    def unread(size: int) -> ConnectionView:
        return ConnectionView(1, busy=True, unsent=size)

    assert connections.overdue(1.0, lambda _: unread(500)) == []
    assert connections.overdue(31.0, lambda _: unread(600)) == []
    assert connections.overdue(32.0, lambda _: unread(599)) == []
    assert connections.overdue(33.0, lambda _: unread(599)) == []
    assert connections.overdue(63.1, lambda _: unread(599)) == ["known"]


def test_what_a_credential_leaves_unread_on_all_its_connections_is_bounded() -> None:
    connections: Connections[str] = Connections(SocketLimits(bytes_per_credential=1000))
    for name, owner in (("a", "one"), ("b", "one"), ("c", "one"), ("d", "other")):
        connections.enter(name, "127.0.0.1", 0.0)
        connections.proved(name, owner)
    assert connections.overdue(1.0, lambda _: ConnectionView(1, busy=True, unsent=400)) == ["c"]
