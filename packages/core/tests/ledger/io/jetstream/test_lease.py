"""One node at a time writes to a group; a dead one is followed by the next, a live one is not."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tacit.ledger.commands import AppendedTogether, AppendTogether, Awaken
from tacit.ledger.io.jetstream.cache import NODE, ServedStream
from tacit.ledger.io.store import StoreOptions
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
        return Moment(TimeService().now() + int(self.seconds * SECOND))


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
        store, self.node = self.served.open(self.folder, StoreOptions(clock=HandClock(), entropy=entropy))
        store.start()
        self.take()
        return store

    def take(self, group: str = "g_a") -> bool:
        """Take a group, if nobody has it; whether it is this machine's now."""
        assert self.served is not None
        assert self.served._groups is not None
        self.served.stream.connection.wait(self.served._groups.find([group]))
        return self.node.holds(group)

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


def say(store: Store, text: str, group: str = "g_a") -> None:
    store.append(submission(group, "user", "chat.message", {"text": text}))


def create(store: Store, group: str = "g_a") -> None:
    store.append(submission(group, "user", "group.create", {"title": "A"}), creates=True)


def last(store: Store, group: str = "g_a") -> int:
    return store.read(lambda reader: reader.group(group).last_seq)


def has(store: Store, seq: int, group: str = "g_a") -> bool:
    """Has it come so far in a group? Who asks awakens it, as a hub does."""
    store.execute(Awaken((group,)))
    return [seq] == [one.last_seq for one in store.read(lambda reader: reader.groups([group]))]


def test_who_wants_a_ledger_alone_is_refused_while_a_node_lives(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first:
        assert one.take()
        create(first)
        with pytest.raises(Refused, match="served_elsewhere"):
            two.serve(alone=True)
        say(first, "one")
    with closing(two.serve()) as second:
        assert two.take()
        say(second, "two")
        assert last(second) == 3


def test_a_node_does_not_start_while_somebody_has_the_ledger_alone(one: Machine, two: Machine) -> None:
    with closing(one.serve(alone=True)), pytest.raises(Refused, match="served_elsewhere"):
        two.serve()
    two.serve().close()


def test_a_group_is_written_by_one_node_and_by_the_next_when_that_lets_go(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first, closing(two.serve()) as second:
        assert one.take()
        create(first)
        until(lambda: has(second, 1))
        assert not two.take()
        with pytest.raises(Unavailable, match="another hub may serve"):
            say(second, "not yet")
        say(first, "one")
        until(lambda: has(second, 2))
        one.node.give_up()
        until(two.take)
        say(second, "two")
        assert last(second) == 3
        with pytest.raises(Unavailable, match="another hub may serve"):
            say(first, "no more")


def test_two_nodes_write_at_once_each_to_its_groups_and_both_have_all(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first, closing(two.serve()) as second:
        assert one.take("g_a")
        assert two.take("g_b")
        create(first, "g_a")
        create(second, "g_b")
        for number in range(20):
            say(first, f"{number}", "g_a")
            say(second, f"{number}", "g_b")
        for store in (first, second):
            until(lambda store=store: has(store, 21, "g_a") and has(store, 21, "g_b"))
    # None was overtaken: they are in nobody's way.
    for machine in (one, two):
        assert machine.served is not None
        assert machine.served.stream.counts.stale == 0


def test_of_two_nodes_that_want_a_new_group_at_once_one_has_it_and_both_know_which(
    one: Machine, two: Machine
) -> None:
    with closing(one.serve()), closing(two.serve()):
        leases = [machine.served._groups for machine in (one, two) if machine.served is not None]
        assert None not in leases
        groups = [f"g_{number}" for number in range(50)]
        wanted = [
            asyncio.run_coroutine_threadsafe(lease.find(groups), machine.served.stream.connection._loop)  # type: ignore[union-attr]
            for machine, lease in zip((one, two), leases, strict=True)
        ]
        for found in wanted:
            found.result(60)
        for machine in (one, two):
            machine.take()

        def agreed() -> bool:
            answers = [
                machine.served.stream.connection.wait(lease.find(groups))  # type: ignore[union-attr]
                for machine, lease in zip((one, two), leases, strict=True)
            ]
            return answers[0] == answers[1] and None not in answers[0].values()

        until(agreed)
        assert all(one.node.holds(group) != two.node.holds(group) for group in groups)


def test_what_one_node_writes_to_a_group_of_another_is_guarded_and_known_there(
    one: Machine, two: Machine
) -> None:
    """A command over two groups of two nodes: whoever holds one of them decides it, and overtakes the other."""
    with closing(one.serve()) as first, closing(two.serve()) as second:
        assert one.take("g_a")
        assert two.take("g_b")
        create(first, "g_a")
        create(second, "g_b")
        until(lambda: has(first, 1, "g_b"))
        for number in range(5):
            both = AppendTogether(
                tuple(
                    submission(group, "user", "chat.message", {"text": f"{number}"})
                    for group in ("g_a", "g_b")
                )
            )
            done = threading.Event()
            outcomes: list[object] = []

            def heard(outcome: object, done: threading.Event = done, kept: list[object] = outcomes) -> None:
                kept.append(outcome)
                done.set()

            first.transport.submit(both, heard)
            say(second, "beside", "g_b")
            assert done.wait(60)
            assert isinstance(outcomes[0], AppendedTogether), outcomes
        for store in (first, second):
            until(lambda store=store: has(store, 6, "g_a") and has(store, 11, "g_b"))


def test_a_second_hub_on_the_same_folder_takes_nothing_from_the_first(one: Machine, server: Server) -> None:
    with closing(one.serve()) as first:
        assert one.take()
        create(first)
        with pytest.raises(Unavailable, match="in use"):
            Machine(one.folder, server, one._name).serve()
        assert one.take()
        say(first, "one")


def test_the_groups_of_a_hub_that_died_are_had_back_by_its_folder_at_once(one: Machine) -> None:
    store = one.serve()
    assert one.take()
    create(store)
    one.die(store)
    with closing(one.serve()) as again:
        assert one.take()
        say(again, "on")


def test_the_groups_of_a_hub_that_died_are_another_ones_when_its_lease_expires(
    one: Machine, two: Machine
) -> None:
    store = one.serve(seconds=1.0)
    until(lambda: one.take() and is_done(lambda: create(store)))
    one.die(store)
    with closing(two.serve(seconds=1.0)) as second:
        until(lambda: two.take() and is_done(lambda: say(second, "on")))
        assert last(second) == 2


def is_done(write: Callable[[], None]) -> bool:
    """So short a lease may be lost for a moment on a slow machine."""
    try:
        write()
    except Unavailable:
        return False
    return True


def test_a_hub_that_lost_its_lease_writes_nothing_and_has_none_of_its_groups_when_it_has_it_again(
    one: Machine,
) -> None:
    store = one.serve()
    assert one.take()
    create(store)
    assert one.served is not None
    lease = one.served.lease
    before, lease._until = lease.term, 0.0
    with pytest.raises(Unavailable, match="another hub may serve"):
        say(store, "too late")
    lease._connection._loop.call_soon_threadsafe(lease._hurry.set)
    until(lambda: lease.is_held)
    assert lease.term != before
    assert not one.node.holds("g_a")
    assert last(store) == 1
    assert one.take()
    say(store, "in time")
    store.close()


def test_a_group_whose_term_ended_before_it_was_told_of_is_not_told_of(one: Machine) -> None:
    with closing(one.serve()):
        assert one.served is not None
        groups, lease, told = one.served._groups, one.served.lease, list[tuple[frozenset[str], bool]]()
        assert groups is not None
        one.node.watch(lambda changed, held: told.append((changed, held)), lambda: None)

        async def taken_and_lost() -> None:
            await groups.find(["g_b"])
            groups._gained.clear()
            groups._take("g_lost", "a term that is over")
            groups._take("g_c", lease.term)
            await asyncio.sleep(0)  # what was taken is told of in the next go of the loop

        one.served.stream.connection.wait(taken_and_lost())
        assert (frozenset({"g_c"}), True) in told
        assert not any("g_lost" in changed for changed, held in told if held)


def test_a_lease_that_is_gone_and_that_nobody_took_is_taken_again(one: Machine) -> None:
    store = one.serve(seconds=1.0)
    assert one.served is not None
    lease = one.served.lease
    connection = one.served.stream.connection
    _holder, sequence = connection.wait(lease.found(lease._key))
    connection.wait(connection.overwrite(lease._name, sequence))
    until(lambda: connection.wait(lease.found(lease._key))[1] > sequence)
    until(lambda: lease.is_held)
    store.close()


def test_a_copied_folder_takes_no_group_from_a_node_that_lives(one: Machine, two: Machine) -> None:
    with closing(one.serve()) as first:
        assert one.take()
        create(first)
        two.folder.mkdir()
        (two.folder / NODE).write_bytes((one.folder / NODE).read_bytes())
        with closing(two.serve()):
            assert not two.take("g_a")
            assert one.node.holds("g_a")
            assert two.take("g_b")


@pytest.mark.parametrize("seconds", [600.0, -600.0])
def test_a_machine_whose_clock_is_off_takes_no_lease_until_it_is_set(one: Machine, seconds: float) -> None:
    one.clock.seconds = seconds
    with pytest.raises(Refused, match=r"600\.\d s (ahead of|behind)") as refused:
        one.serve(seconds=1.0, alone=True)
    assert refused.value.code == "clock_off"
    with closing(one.serve(seconds=1.0)) as store:
        assert one.served is not None
        assert not one.take()
        with pytest.raises(Unavailable, match="another hub may serve"):
            create(store)
        assert one.node.standing is not None
        assert abs(one.node.standing().clock_off - seconds) < 60
        one.clock.seconds = 0.0
        until(lambda: one.take() and is_done(lambda: create(store)))
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
        until(two.take)
        say(second, "now")
        assert last(second) == 2


def test_a_node_that_writes_sees_what_lands_late_from_one_that_did_before(one: Machine, two: Machine) -> None:
    """Held back by the network until the next one had read the stream to its end. Nobody writes to that group again."""
    with closing(one.serve()) as first, closing(two.serve()) as second:
        create(first)
        until(lambda: has(second, 1))
        assert two.served is not None
        assert two.served._groups is not None
        two.served._groups._held["g_a"] = two.served.lease.term
        say(second, "landed late")
        until(lambda: last(first) == 2)
