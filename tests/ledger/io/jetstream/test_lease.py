"""One node at a time writes to a ledger on a stream; a dead one is followed by the next, a live one is not."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.system import SystemClock
from tacit.base.moment import SECOND, Moment
from tacit.ledger.io.jetstream.cache import NODE, ServedStream
from tacit.ledger.io.store import Options
from tests.ledger.io.jetstream.servers import PATIENT, new_name
from tests.ledger.io.jetstream.test_traps import until
from tests.ledger.world import HandClock, SeededEntropy, submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.ledger.io.store import Store
    from tests.ledger.io.jetstream.servers import Server

LONG = 3_600.0


class OffClock:
    """A machine's clock, so many seconds ahead."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def now(self) -> Moment:
        return Moment(SystemClock().now() + int(self.seconds * SECOND))


class Machine:
    """One machine that may serve the ledger."""

    def __init__(self, folder: Path, server: Server, name: str) -> None:
        self.folder = folder
        self._server = server
        self._name = name
        self.served: ServedStream | None = None
        self.clock = OffClock()

    def serve(self, seconds: float = LONG, *, alone: bool = False) -> Store:
        entropy = SeededEntropy(hash(self.folder))
        self.served = ServedStream(
            [self._server.url],
            self._name,
            self.folder,
            entropy,
            replicas=1,
            patience=PATIENT,
            lease_seconds=seconds,
            alone=alone,
            clock=self.clock,
        )
        store, self.node = self.served.open(self.folder, Options(clock=HandClock(), entropy=entropy))
        store.start()
        return store

    def die(self, store: Store) -> None:
        """End without giving the lease back."""
        assert self.served is not None
        self.served.stream.connection.stop(self.served.lease._renewing)
        store.close()


@pytest.fixture
def one(tmp_path: Path, server: Server) -> Machine:
    return Machine(tmp_path / "one", server, new_name())


@pytest.fixture
def two(tmp_path: Path, server: Server, one: Machine) -> Machine:
    return Machine(tmp_path / "two", server, one._name)


def say(store: Store, text: str) -> None:
    store.append(submission("g_a", "user", "chat.message", {"text": text}))


def create(store: Store) -> None:
    store.append(submission("g_a", "user", "group.create", {"title": "A"}), creates=True)


def last(store: Store) -> int:
    return store.read(lambda reader: reader.group("g_a").last_seq)


def test_who_wants_a_ledger_alone_is_refused_while_a_node_lives(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first:
        create(first)
        with pytest.raises(Refused, match="served_elsewhere"):
            two.serve(alone=True)
        say(first, "one")
    with closing(two.serve(alone=True)) as second:
        say(second, "two")
        assert last(second) == 3


def test_a_second_node_follows_writes_nothing_and_is_the_next_when_the_first_lets_go(
    one: Machine, two: Machine
) -> None:
    with closing(one.serve()) as first, closing(two.serve()) as second:
        create(first)
        until(lambda: bool(second.read(lambda reader: reader.groups())) and last(second) == 1)
        with pytest.raises(Unavailable, match="another hub may serve"):
            say(second, "not yet")
        say(first, "one")
        until(lambda: last(second) == 2)
        one.node.give_up()
        until(lambda: two.node.holds)
        say(second, "two")
        assert last(second) == 3
        with pytest.raises(Unavailable, match="another hub may serve"):
            say(first, "no more")


def test_a_second_hub_on_the_same_folder_takes_nothing_from_the_first(one: Machine, server: Server) -> None:
    with closing(one.serve()) as first:
        create(first)
        with pytest.raises(Unavailable, match="in use"):
            Machine(one.folder, server, one._name).serve()
        assert one.served is not None
        assert one.served.lease.is_held
        say(first, "one")


def test_the_lease_of_a_hub_that_died_is_had_back_by_its_folder_at_once(one: Machine) -> None:
    store = one.serve()
    create(store)
    one.die(store)
    with closing(one.serve()) as again:
        say(again, "on")


def test_the_lease_of_a_hub_that_died_expires_for_another(one: Machine, two: Machine) -> None:
    store = one.serve(seconds=1.0)
    until(lambda: is_done(lambda: create(store)))
    one.die(store)
    with closing(two.serve(seconds=1.0)) as second:
        until(lambda: is_done(lambda: say(second, "on")))
        assert last(second) == 2


def is_done(write: Callable[[], None]) -> bool:
    """So short a lease may be lost for a moment on a slow machine."""
    try:
        write()
    except Unavailable:
        return False
    return True


def test_a_hub_that_lost_its_lease_writes_nothing(one: Machine) -> None:
    store = one.serve()
    create(store)
    assert one.served is not None
    one.served.lease._until = 0.0
    with pytest.raises(Unavailable, match="another hub may serve"):
        say(store, "too late")
    assert store.read(lambda reader: reader.group("g_a").last_seq) == 1
    one.die(store)


def test_a_lease_that_is_gone_and_that_nobody_took_is_taken_again(one: Machine) -> None:
    store = one.serve(seconds=1.0)
    assert one.served is not None
    lease = one.served.lease
    connection = one.served.stream.connection
    _holder, sequence = connection.wait(lease._found())
    connection.wait(connection.overwrite(lease._name, sequence))
    until(lambda: connection.wait(lease._found())[1] > sequence)
    until(lambda: lease.is_held)
    store.close()


def test_a_copied_folder_takes_no_lease_from_a_node_that_lives(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first:
        create(first)
        two.folder.mkdir()
        (two.folder / NODE).write_bytes((one.folder / NODE).read_bytes())
        with closing(two.serve()):
            assert one.node.holds
            assert not two.node.holds


@pytest.mark.parametrize("seconds", [600.0, -600.0])
def test_a_machine_whose_clock_is_off_takes_no_lease_until_it_is_set(one: Machine, seconds: float) -> None:
    one.clock.seconds = seconds
    with pytest.raises(Refused, match=r"600\.\d s (ahead of|behind)") as refused:
        one.serve(seconds=1.0, alone=True)
    assert refused.value.code == "clock_off"
    with closing(one.serve(seconds=1.0)) as store:
        assert one.served is not None
        with pytest.raises(Unavailable, match="another hub may serve"):
            create(store)
        assert one.node.standing is not None
        assert abs(one.node.standing().clock_off - seconds) < 60
        one.clock.seconds = 0.0
        until(lambda: is_done(lambda: create(store)))
        assert one.node.standing().clock_off == 0


def test_a_node_whose_clock_is_set_wrong_lets_the_next_one_write(one: Machine, two: Machine) -> None:
    """The lease lasts an hour: it is given back, it does not expire."""
    with closing(one.serve()) as first, closing(two.serve()) as second:
        create(first)
        one.clock.seconds = 600.0
        assert one.served is not None
        one.served.stream.connection.wait(one.served.lease._take_or_retake())
        with pytest.raises(Unavailable, match="another hub may serve"):
            say(first, "in ten minutes")
        until(lambda: two.node.holds)
        say(second, "now")
        assert last(second) == 2


def test_a_node_that_writes_sees_what_lands_late_from_one_that_did_before(one: Machine, two: Machine) -> None:
    """Held back by the network until the next one had read the stream to its end. Nobody writes to that group again."""
    with closing(one.serve()) as first, closing(two.serve()) as second:
        create(first)
        until(lambda: bool(second.read(lambda reader: reader.groups())) and last(second) == 1)
        assert two.served is not None
        two.served.lease._until = float("inf")
        say(second, "landed late")
        until(lambda: last(first) == 2)
