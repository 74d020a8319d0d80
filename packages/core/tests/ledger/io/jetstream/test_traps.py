"""What the network and the servers do to a batch: every acknowledged event is there once, in order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import Patience
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.shipping import BatchStored, Elsewhere, Nobody, ShippingStep, Silence
from tacit.ledger.commands import Append, AppendTogether, Committed
from tacit.ledger.io.jetstream.journal import JetStreamJournal
from tacit.ledger.io.jetstream.stream import JetStream
from tacit.ledger.shipment import Shipment, ShipmentPart
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import AT_MOST, free_port, new_name, opened
from tests.ledger.world import World, submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

LONG = Patience(answer=0.5, tries=120, pause=0.02)
"""Of this, only what was eaten is waited for in vain; the rest bounds a stuck machine."""
SHORT = Patience(answer=0.2, tries=3, pause=0.02)
"""For what never gets an answer."""


class Node:
    """A ledger on a stream, with a network in between that does as it is told."""

    def __init__(self, folder: Path, server: Server, replicas: int) -> None:
        self.name = new_name()
        self.direct = opened([server.url], self.name, replicas)
        self.proxy = Proxy(server.port, self.name)
        self.stream = opened([self.proxy.url], self.name, replicas, LONG)
        self.world = World(folder, journal=lambda connection: JetStreamJournal(connection, self.stream))
        self.world.group("g_a")
        self.world.group("g_b")

    def commit(self, *commands: Any) -> list[Any]:
        return list(self.world.store.writer.commit(list(commands)))

    def say(self, text: str, group: str = "g_a") -> Any:
        return self.commit(self.said(text, group))[0]

    def said(self, text: str, group: str = "g_a") -> Append:
        return Append(submission(group, "user", "chat.message", {"text": text}))

    def texts(self, group: str = "g_a") -> list[str]:
        self.world.store.writer.catch_up()
        return [event.data["text"][:20] for event in self.world.events(group, kinds=["chat.message"])]

    def close(self) -> None:
        self.world.close()
        self.stream.close()
        self.proxy.close()
        self.direct.close()


@pytest.fixture(params=[1, 3], ids=["R1", "R3"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    server = (
        request.getfixturevalue("server") if request.param == 1 else request.getfixturevalue("cluster")[0]
    )
    made = Node(tmp_path / "data", server, request.param)
    yield made
    made.close()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + AT_MOST
    while not holds():
        assert time.monotonic() < end


@pytest.mark.parametrize("deed", ["eat the answer", "eat", "hold"])
def test_what_is_lost_on_the_way_is_sent_again_and_stands_once(node: Node, deed: Any) -> None:
    before = node.direct.end()
    sent = node.proxy.published
    node.proxy.plan.append(deed)
    assert isinstance(node.say("one"), Committed)
    assert node.proxy.published >= sent + 2
    assert isinstance(node.say("two"), Committed)
    node.proxy.release()
    assert isinstance(node.say("three"), Committed)
    assert node.direct.end() == before + 3
    assert node.texts() == ["one", "two", "three"]
    node.world.assert_rebuilds()


def test_a_repeat_is_answered_by_the_guard_or_by_the_id(node: Node, request: pytest.FixtureRequest) -> None:
    """Why "wrong last sequence" says nothing about a batch that was sent before."""
    alone = "R1" in request.node.callspec.id

    def twice(number: int) -> tuple[Any, Any]:
        shipment = Shipment(f"id{number}", (ShipmentPart("g_new", f"g_new{number}", 0, b"x"),))
        return tuple(
            node.direct.connection.wait(node.direct._step(shipment, ShippingStep.PUBLISH)) for _ in range(2)
        )

    # A cluster may be without a leader for a moment: only a pair that was answered says anything.
    answered = (pair for pair in map(twice, range(100)) if not {Silence(), Nobody()} & {*pair})
    first, second = next(answered)
    assert isinstance(first, BatchStored)
    assert second == (Elsewhere() if alone else first)


def test_the_pair_of_two_groups_goes_as_one(node: Node) -> None:
    pair = AppendTogether(
        tuple(submission(name, "user", "chat.message", {"text": "pair"}) for name in ("g_a", "g_b"))
    )
    node.proxy.plan.extend(["pass", "eat the answer"])
    (outcome,) = node.commit(pair)
    assert [type(one) for one in outcome.outcomes] == [Committed, Committed]
    assert node.texts("g_a") == node.texts("g_b") == ["pair"]


def test_a_batch_that_nobody_can_tell_of_is_fenced_and_never_lands(node: Node) -> None:
    node.stream.connection.patience, node.proxy.always = SHORT, "hold"
    lost = node.say("lost")
    assert isinstance(lost, Unavailable)
    assert "not known" in str(lost)
    first = node.proxy.held[0]
    waits = node.say("waits")
    assert isinstance(waits, Unavailable)
    assert "nothing was appended" in str(waits)
    node.stream.connection.patience, node.proxy.always = LONG, "pass"
    assert isinstance(node.say("after"), Committed)
    node.proxy.held = [first]
    node.proxy.release()
    assert isinstance(node.say("later"), Committed)
    assert node.texts() == ["after", "later"]
    node.world.assert_rebuilds()


def test_a_batch_that_nobody_could_tell_of_and_that_landed_is_there_once(node: Node) -> None:
    """It landed after the node had given up: what was held back is let go before anything moves the subject."""
    node.stream.connection.patience, node.proxy.always = SHORT, "hold"
    assert isinstance(node.say("landed"), Unavailable)
    node.stream.connection.patience, node.proxy.always = LONG, "pass"
    node.proxy.held, before = node.proxy.held[:1], node.direct.end()
    node.proxy.release()
    until(lambda: node.direct.end() == before + 1)
    assert isinstance(node.say("after"), Committed)
    assert node.texts() == ["landed", "after"]
    node.world.assert_rebuilds()


def test_a_group_whose_write_is_unknown_holds_up_no_other(node: Node) -> None:
    node.stream.connection.patience, node.proxy.always = SHORT, "hold"
    assert isinstance(node.say("lost"), Unavailable)
    node.stream.connection.patience = LONG
    node.proxy.always = "pass"
    outcomes = node.commit(node.said("a"), node.said("b", "g_b"))
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed]
    assert (node.texts("g_a"), node.texts("g_b")) == (["a"], ["b"])


def test_a_stream_that_nobody_serves_has_taken_nothing(tmp_path: Path, server: Server) -> None:
    node = Node(tmp_path / "data", server, 1)
    node.direct.connection.wait(node.direct.connection.ask(node.direct.name, "DELETE", {}))
    node.stream.connection.patience = Patience(answer=60.0, tries=3, pause=0.02)
    outcome = node.say("nobody")
    assert isinstance(outcome, Unavailable)
    assert "nothing was appended" in str(outcome)
    node.close()


def test_what_one_message_cannot_carry_goes_in_several(node: Node) -> None:
    if node.direct.room > 2_000_000:
        pytest.fail("the server takes more than this test sends")
    large = [f"{number}{'x' * 200_000}" for number in range(8)]
    before = node.direct.end()
    outcomes = node.commit(*(node.said(text) for text in large))
    assert [type(outcome) for outcome in outcomes] == [Committed] * 8
    assert node.direct.end() > before + 1
    assert node.texts() == [text[:20] for text in large]
    too_much = AppendTogether(
        tuple(submission("g_a", "user", "chat.message", {"text": text}) for text in large)
    )
    (refused,) = node.commit(too_much)
    assert isinstance(refused, Refused)
    assert refused.code == "too_large"
    assert isinstance(node.say("small"), Committed)


@pytest.mark.parametrize(
    "change",
    [
        {"discard": "old"},
        {"deny_delete": True},
        {"deny_purge": False},
        {"allow_atomic": False},
        {"storage": "memory"},
        {"max_age": 3_600_000_000_000},
        {"max_msgs_per_subject": 5},
        {"allow_rollup_hdrs": True, "deny_purge": False},
    ],
    ids="-".join,
)
def test_an_unsafe_stream_is_refused(server: Server, change: dict[str, Any]) -> None:
    safe = opened([server.url], new_name(), 1)
    name = new_name()
    try:
        wanted = {**wanted_config(name, 1), **change}
        assert safe.connection.wait(safe.connection.ask(name, "CREATE", wanted)).error is None
    finally:
        safe.close()
    with pytest.raises(Refused, match=next(iter(change))):
        JetStream([server.url], name, replicas=1)


def test_fewer_replicas_than_wanted_are_refused(server: Server) -> None:
    opened([server.url], name := new_name(), 1).close()
    with pytest.raises(Refused, match="replicas"):
        JetStream([server.url], name)


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    with pytest.raises(Unavailable, match="no NATS server"):
        JetStream([f"nats://127.0.0.1:{free_port()}"], patience=Patience(connection=0.3))


def test_an_old_server_is_refused(server: Server) -> None:
    opened([server.url], name := new_name(), 1).close()
    proxy = Proxy(server.port, name)
    try:
        for version in (b"2.9.10", b"2.14.9", b"1.4.1"):
            proxy.version = version
            with pytest.raises(Refused, match="old_server"):
                JetStream([proxy.url], name, replicas=1)
        proxy.version = b"2.15.0"
        JetStream([proxy.url], name, replicas=1).close()
    finally:
        proxy.close()
