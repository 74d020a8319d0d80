"""The session layer as a machine: two owners, their devices, and a relay that does what it likes.

What holds at every step:

- a packet reaches its owner once, and is one that the other owner wrote, word for word;
- no message key is used twice: no two different texts are sealed under one key and nonce;
- no stored state opens what was read before (a first packet under the last-resort key is the documented exception).

What holds when the relay has become honest again and both are there for some minutes (`settle`): what was said is
handed on, or its sender can see that it was not. Two things weaken this: a folder that was set back no longer knows
what it said since (`Memory` goes back with it), and of two who never talked nobody can ask what the relay has lost
(`acquainted`, `lossy`).
"""

import pathlib
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.seal import primitives
from tacit.wire import records
from tests.a2acp.post.session_model import Agent, Clock, MemoryRelay, altered, swapped
from tests.post_support import Repeatable

WHO = st.sampled_from(["alice", "bob"])
THREADS = st.sampled_from(["thr_first", "thr_second"])
SMALL = st.integers(0, 40)


class Nonces:
    """Every key and nonce that sealed anything, and what it sealed."""

    def __init__(self) -> None:
        self._used: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
        self._encrypt = primitives.encrypt
        primitives.encrypt = self.encrypt
        self.repeated: list[bytes] = []

    def encrypt(self, key, nonce, plaintext, associated):
        before = self._used.setdefault((key, nonce), (plaintext, associated))
        if before != (plaintext, associated):
            self.repeated.append(nonce)
        return self._encrypt(key, nonce, plaintext, associated)

    def close(self) -> None:
        primitives.encrypt = self._encrypt


class SessionMachine(RuleBasedStateMachine):
    """Two agents, one relay."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.nonces = Nonces()
        self.clock, self.relay = Clock(), MemoryRelay()
        self.agents = {name: Agent(name, self.folder, self.relay, self.clock) for name in ("alice", "bob")}
        alice, bob = self.agents.values()
        alice.peer, bob.peer = bob, alice
        for agent in self.agents.values():
            agent.enrol()
            agent.connect()
            agent.post.inbox.welcome(agent.peer.address)
        self.ever_said: dict[str, str] = {}
        self.snapshots: dict[str, object] = {}
        self.relay_copy = None
        self.lossy = False
        self.count = 0
        self.rogue = Repeatable("rogue")

    @initialize(acquainted=st.booleans())
    def meet(self, acquainted):
        """Either they have talked before, or everything is a first contact."""
        self.acquainted = acquainted
        if acquainted:
            for agent in self.agents.values():
                self.say(agent.address[6:].partition("@")[0], "thr_first")
                self.say(agent.address[6:].partition("@")[0], "thr_second")
            self.settle()

    # Owners.

    @rule(who=WHO, thread=THREADS)
    def say(self, who, thread):
        self.count += 1
        text = f"text {self.count}"
        agent = self.agents[who]
        if not agent.trusts():
            with pytest.raises(Refused, match="key_changed"):
                agent.say(text, thread)
            return
        packet_id = agent.say(text, thread)
        self.ever_said[packet_id] = text

    @rule(who=WHO)
    def read(self, who):
        agent = self.agents[who]
        before = set(agent.memory.handed)
        for packet_id, text in agent.read():
            assert packet_id not in before, "handed on twice"
            assert self.ever_said.get(packet_id) == text, "nobody said this"
            before.add(packet_id)

    @rule(who=WHO)
    def decide_for_the_old_key(self, who):
        agent = self.agents[who]
        if not agent.trusts():
            agent.post.decide(agent.peer.address, "reject")

    # An honest way.

    @rule(who=WHO, one_time=st.booleans())
    def flush(self, who, one_time):
        self.agents[who].flush(one_time=one_time)

    @rule(who=WHO)
    def drain(self, who):
        self.agents[who].drain()

    @rule(who=WHO)
    def connect(self, who):
        self.agents[who].connect()

    @rule(seconds=st.sampled_from([1, 31, 61, 3600]))
    def wait(self, seconds):
        self.clock.at += seconds * SECOND
        for agent in self.agents.values():
            agent.post.inbox.release_overdue()

    # A bad one.

    @rule(who=WHO, told=st.booleans())
    def flush_into_a_broken_connection(self, who, told):
        self.agents[who].flush(arrives=told, told=False)

    @rule(who=WHO, which=SMALL, acknowledged=st.booleans())
    def hand_out_of_order(self, who, which, acknowledged):
        agent, mailbox = self.agents[who], self.relay.mailbox[self.agents[who].address]
        if mailbox:
            sealed = mailbox[which % len(mailbox)]
            if agent.hand(sealed) and acknowledged:
                mailbox.remove(sealed)

    @rule(which=SMALL)
    def repeat(self, which):
        if self.relay.ever:
            sealed = self.relay.ever[which % len(self.relay.ever)]
            self.agents[sealed.to[6:].partition("@")[0]].hand(sealed)

    @rule(who=WHO, which=SMALL)
    def drop(self, who, which):
        mailbox = self.relay.mailbox[self.agents[who].address]
        if mailbox:
            self.lossy = True
            del mailbox[which % len(mailbox)]

    @rule(who=WHO, thread=THREADS)
    def lose_what_was_accepted(self, who, thread):
        """The relay says that it has a packet, and has not."""
        agent = self.agents[who]
        self.say(who, thread)
        agent.flush()
        self.lossy = True
        self.relay.mailbox[agent.peer.address].clear()

    @rule(which=SMALL, at=st.integers(0, 5_000))
    def alter(self, which, at):
        if self.relay.ever:
            sealed = self.relay.ever[which % len(self.relay.ever)]
            self.agents[sealed.to[6:].partition("@")[0]].hand(altered(sealed, at))

    @rule(who=WHO, which=SMALL)
    def hand_to_the_wrong_one(self, who, which):
        if self.relay.ever:
            self.agents[who].hand(self.relay.ever[which % len(self.relay.ever)])

    @rule(who=WHO)
    def offer_another_key(self, who):
        agent = self.agents[who]
        record = swapped(self.relay, agent.peer.address, self.rogue)
        agent.directory._observe(agent.peer.address, records.read_record(record))

    @rule(who=WHO, which=SMALL)
    def offer_an_old_record(self, who, which):
        agent = self.agents[who]
        kept = self.relay.records[agent.peer.address]
        agent.directory._observe(agent.peer.address, records.read_record(kept[which % len(kept)]))

    @rule()
    def copy_the_relay(self):
        self.relay_copy = self.relay.snapshot()

    @precondition(lambda self: self.relay_copy is not None)
    @rule()
    def set_the_relay_back(self):
        self.lossy = True
        self.relay.set_back(self.relay_copy)

    # Devices.

    @rule(who=WHO)
    def restart(self, who):
        self.agents[who].restart()

    @rule(who=WHO)
    def copy_a_device(self, who):
        self.snapshots[who] = self.agents[who].snapshot(self.folder / f"{who}.snapshot")

    @rule(who=WHO)
    def set_a_device_back(self, who):
        if who in self.snapshots:
            agent = self.agents[who]
            agent.set_back(self.snapshots[who])

    @rule(who=WHO, thread=THREADS)
    def speak_on_after_being_set_back(self, who, thread):
        """The worst moment for it: the next words are sealed from a state that has sealed others."""
        self.copy_a_device(who)
        for _ in range(2):
            self.say(who, thread)
            self.agents[who].flush()
            self.set_a_device_back(who)
        self.say(who, thread)

    @rule(who=WHO)
    def move_to_a_new_device(self, who):
        self.agents[who].move()

    @rule(who=WHO)
    def rotate(self, who):
        self.agents[who].enrol(rotate=True)

    # What holds.

    @invariant()
    def no_key_seals_twice(self):
        assert self.nonces.repeated == []

    @rule(who=WHO)
    def nothing_stored_opens_what_was_read(self, who):
        agent = self.agents[who]
        for raw, last_resort in agent.memory.opened:
            if not last_resort:
                assert not agent.opens_again(raw), "a stored state opens what was read before"

    def settle(self):
        """The relay is honest, both are there, minutes pass."""
        for _ in range(8):
            for who, agent in self.agents.items():
                self.decide_for_the_old_key(who)
                agent.connect()
                agent.look_up(agent.peer.address)
            for _ in range(3):
                for agent in self.agents.values():
                    agent.flush()
                for who, agent in self.agents.items():
                    agent.drain()
                    self.read(who)
            self.wait(61)

    def check_delivery(self):
        for agent in self.agents.values():
            handed = set(agent.peer.memory.handed)
            if not agent.peer.trusts() or not agent.peer.knows(agent):
                # Its owner was told that the sender's key has changed, and has said no to it: nothing is taken.
                # Or the relay lied at the first contact of all: that key is believed, and no other.
                continue
            for packet_id in agent.memory.said:
                assert packet_id in handed or agent.told(packet_id), "neither delivered nor told"

    def teardown(self):
        try:
            for who in self.agents:
                self.nothing_stored_opens_what_was_read(who)
            self.settle()
            if getattr(self, "acquainted", False) or not self.lossy:
                self.check_delivery()
            self.no_key_seals_twice()
            for who in self.agents:
                self.nothing_stored_opens_what_was_read(who)
        finally:
            self.nonces.close()
            for agent in self.agents.values():
                agent.store.close()
            shutil.rmtree(self.folder)


def explore(examples: int, steps: int, *, repeatable: bool = True) -> None:
    """Run the machine; a failure is shrunk and printed as the steps that lead to it."""
    run_state_machine_as_test(
        SessionMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=repeatable,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.spec("A2ACP-213", "A2ACP-215", "A2ACP-219", "A2ACP-243", "A2ACP-245", "A2ACP-251")
def test_whatever_relay_and_devices_do_a_packet_arrives_once_or_is_told_and_no_key_serves_twice():
    explore(examples=10, steps=30)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_same_for_an_hour_of_other_days():
    explore(examples=400, steps=60, repeatable=False)
