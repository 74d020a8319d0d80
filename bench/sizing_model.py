"""A day of many agents on hubs that share ledgers, simulated: groups one by one, their members as counts.

Pure but for the dice, which are an argument: the same seed gives the same day. A group has a size and a rate that are
drawn from heavy-tailed distributions, members at the nodes that a proxy gave them, one node that writes to it (the
first that did), and is awake where somebody is connected or has just read (`tacit.hub.store.wakefulness`). What follows for
each node is added up group by group; unit costs (`Costs`; measured by `bench.sizing_costs`) turn it into processor time. Knows nothing of
servers and sockets.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.hub.nodes.neighbours import ROUND
from tacit.hub.store.wakefulness import AWAKE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

SIZE_EXPONENT: Final = 2.2
"""Of the Zipf-like sizes of groups: most are a few agents and a person, some are hundreds (rooms of chats are so)."""
SMALLEST: Final = 2
LARGEST: Final = 2_000
"""No room is useful beyond; without an end the mean of such sizes would be drawn by a single one."""
QUESTIONS_A_DAY: Final = 6.0
"""To each agent on average: what a person asks of agents that they work with on a day."""
RATE_SIGMA: Final = 1.5
"""Of the lognormal rates of groups: one in six has 4.5 times the median, one in forty 20 times."""
CONNECTED: Final = 0.5
"""Of all agents in the busiest hour: agents run where somebody works, and their machines sleep at night."""
READS_A_QUESTION: Final = 0.2
"""By tools without a connection (HTTP, MCP): each at any node, which then has the group awake for a while."""
ZONES: Final = ((0, 0.45), (8, 0.35), (16, 0.20))
"""Hours by which the days of three parts of the world are apart, and who lives there."""
NIGHT: Final = 0.1
"""Of the rate at noon: what goes on at four in the morning."""
PEAK: Final = 10.0
"""The busiest minute of a group beside its busiest hour: questions come in bursts, and agents answer at once."""
HEADROOM: Final = 0.6
"""Of its cores a node may use this much in the busiest hour: the rest is for bursts and for a neighbour's death."""
CORES: Final = 2
"""Of a node: one for its writer's thread, one for the hub."""
MEMORY: Final = 8e9
"""Bytes of a node, of which as much may be taken by those who are connected: a small machine with two cores has it."""
SIGNS_A_QUESTION: Final = 30.0
"""Beats with which a node tells others that an agent gave a sign of life: a minute of work, a beat every two seconds."""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What one of each costs. Times in microseconds of processor time unless they say otherwise."""

    measured: str
    machine: str
    replicas: int
    idle: float
    """Of a core, of a node where nothing happens."""
    append_event: float
    """At the node that writes: for each event, each message of the stream, each commit."""
    append_message: float
    append_commit: float
    writer_event: float
    """Of these what the writer's process takes."""
    writer_message: float
    writer_commit: float
    commit_seconds: float
    """How long a commit is under way, by the clock: what comes meanwhile shares the next."""
    applied_event: float
    """At another node where somebody follows the group: a message with one event."""
    noted_message: float
    """At another node where nobody reads the group."""
    brought_up_event: float
    """Of what was noted, when somebody asks; by the clock."""
    forwarded: float
    """At the node that a command comes in at and another decides: beside what applying it costs."""
    here_said: float
    """To say who is connected in one group, and to hear it at another node: many groups share a message."""
    here_heard: float
    hot_group: float
    """Appends a second into one group, by the clock."""
    server_message: float
    """All NATS servers together, for each message of the stream."""
    event_bytes: float
    """In the stream, on each server that keeps it."""
    cache_bytes: float
    """In the folder of a node."""
    join_seconds: float
    """For each event of a ledger, from a snapshot, and without one; by the clock."""
    read_seconds: float
    subject_bytes: float
    """Of memory in a server, for a subject of the ledger's stream, and for one of its leases."""
    lease_bytes: float
    session_bytes: float
    """Of memory in a hub for an agent that is connected, with its group."""
    agent_events: float
    """What the ledger gains by a question to one agent who answers it; and in how many messages of the stream."""
    agent_messages: float
    stream_rate: float
    """Messages a second that one stream takes, by the clock, of as many subjects, each synced on each server."""


@dataclass(frozen=True, slots=True)
class Population:
    """Groups: how many agents each has, how many of these are connected, and its questions in the busiest hour."""

    sizes: array[int]
    connected: array[int]
    rates: array[float]

    @property
    def agents(self) -> int:
        """In all groups."""
        return sum(self.sizes)


def curve(hour: float) -> float:
    """How active people are at an hour of their day, of the most that they are."""
    return NIGHT + (1 - NIGHT) * max(0.0, math.cos((hour - 14) * math.pi / 12)) ** 1.5


def hours() -> list[float]:
    """What each hour of the world's day has of it all; the sum is one."""
    raw = [sum(share * curve((hour + apart) % 24) for apart, share in ZONES) for hour in range(24)]
    return [one / sum(raw) for one in raw]


def size(dice: Random) -> int:
    """Of a group."""
    return min(LARGEST, int(SMALLEST * (1 - dice.random()) ** (-1 / (SIZE_EXPONENT - 1))))


def some(mean: float, dice: Random) -> int:
    """How often something happens that does so by itself, this often on average (Poisson)."""
    if mean > 50:
        return max(0, round(dice.gauss(mean, math.sqrt(mean))))
    left, found = math.exp(-mean), 0
    passed = dice.random()
    while passed > left:
        passed *= dice.random()
        found += 1
    return found


def populated(agents: int, dice: Random, connected: float = CONNECTED) -> Population:
    """Groups until there are so many agents."""
    made = Population(array("l"), array("l"), array("d"))
    hourly, left = QUESTIONS_A_DAY * max(hours()), agents
    middle = math.exp(-(RATE_SIGMA**2) / 2)  # so that the mean of the lognormal is one
    while left > 0:
        found = min(size(dice), left)
        left -= found
        made.sizes.append(found)
        there = (
            sum(dice.random() < connected for _ in range(found)) if found < 50 else round(found * connected)
        )
        made.connected.append(there)
        made.rates.append(found * hourly * middle * math.exp(dice.gauss(0, RATE_SIGMA)))
    return made


@dataclass(slots=True)
class Load:
    """Of one node in one second of the busiest hour."""

    agents: float = 0.0
    """Connected."""
    awake: float = 0.0
    """Groups with somebody connected, or just read."""
    present: float = 0.0
    """Groups with somebody connected: of each of these it speaks once in a round."""
    signs: float = 0.0
    """Of agents that are connected: with each it speaks of their group."""
    written: float = 0.0
    """Messages of the stream that it writes, a group's batch each."""
    events: float = 0.0
    """In them."""
    commands: float = 0.0
    """That came to its writer."""
    applied: float = 0.0
    """Messages that others wrote, of groups that are awake here."""
    noted: float = 0.0
    """Of groups that sleep here."""
    forwarded: float = 0.0
    """Commands that came in here and are decided elsewhere."""
    heard: float = 0.0
    """Words about who is connected in a group, from all nodes of the ledger."""


@dataclass(frozen=True, slots=True)
class Affected:
    """A group that the death of a node concerns."""

    written_there: bool
    messages: float
    events: float
    commands: float
    others: tuple[int, ...]
    """Where else it is awake."""
    lost: int
    """Agents whose connection ends."""
    signs: float
    """Of these."""


@dataclass(slots=True)
class Day:
    """What was found of one ledger's nodes, and of the groups that the death of the first concerns."""

    nodes: list[Load]
    groups: int = 0
    messages: float = 0.0
    """Of the stream, in a second."""
    events: float = 0.0
    hottest: float = 0.0
    """Commands a second into the busiest group, in its busiest minute."""
    affected: list[Affected] = field(default_factory=list)


def placed(
    population: Population, nodes: int, dice: Random, costs: Costs, *, only: Sequence[int] | None = None
) -> Day:
    """Groups, all or some, on the nodes of one ledger: the busiest hour, by the second."""
    day = Day([Load() for _ in range(nodes)])
    every = range(nodes)
    for number in range(len(population.sizes)) if only is None else only:
        day.groups += 1
        at = dice.choices(every, k=population.connected[number])
        _place(day, at, population.rates[number], dice, costs)
    for load in day.nodes:
        load.noted = max(0.0, day.messages - load.written - load.applied)
    _hear(day.nodes)
    return day


def said(load: Load) -> float:
    """Words a second of a node about who is connected in a group."""
    return load.present / ROUND + load.signs


def _hear(loads: Sequence[Load]) -> None:
    """Each node hears what all others say."""
    words = sum(map(said, loads))
    for load in loads:
        load.heard = words - said(load)


def _place(day: Day, at: list[int], hourly: float, dice: Random, costs: Costs) -> None:
    """One group, whose connected agents are at these nodes."""
    nodes = day.nodes
    present = set(at)
    # Who wrote first need not be connected any more: the group stays where it was then.
    writer = dice.randrange(len(nodes))
    questions = some(hourly, dice)
    reads = some(hourly * READS_A_QUESTION * AWAKE_SECONDS / 3600, dice) if hourly > 0.05 else 0
    awake = present | {dice.randrange(len(nodes)) for _ in range(reads)}
    commands = 2 * questions / 3600  # a question and an answer
    events = questions * costs.agent_events / 3600
    messages = questions * costs.agent_messages / 3600 / shared(commands, costs.commit_seconds)
    day.hottest = max(day.hottest, commands * PEAK)
    day.messages += messages
    day.events += events
    for node in at:
        nodes[node].agents += 1
        nodes[node].signs += questions * SIGNS_A_QUESTION / 3600 / len(at)
    for node in awake:
        load = nodes[node]
        load.awake += 1
        if node in present:
            load.present += 1
        if node != writer:
            load.applied += messages
    writes = nodes[writer]
    if writer not in awake:
        writes.awake += 1 if questions else 0
    writes.written += messages
    writes.events += events
    writes.commands += commands
    # Whoever sends sits at one of the nodes where somebody is; where nobody is, at any.
    senders = at or [dice.randrange(len(nodes))]
    for node in senders:
        if node != writer:
            nodes[node].forwarded += commands / len(senders)
    if writer == 0 or 0 in awake:
        others = tuple(node for node in awake if node != 0)
        lost = at.count(0)
        signs = questions * SIGNS_A_QUESTION / 3600 * lost / len(at) if at else 0.0
        day.affected.append(Affected(writer == 0, messages, events, commands, others, lost, signs))


def shared(commands: float, commit: float) -> float:
    """How many commands of a group share a message of the stream: one, and what comes while it is under way."""
    return 1 + commands * commit


def processor(load: Load, costs: Costs) -> tuple[float, float]:
    """The processor time that a node needs in a second, all of it and that of its writer's thread."""
    commits = load.written / (1 + load.written * costs.commit_seconds)
    follows = load.applied * costs.applied_event + load.noted * costs.noted_message
    says = said(load) * costs.here_said
    whole = (
        costs.idle * 1e6
        + load.events * costs.append_event
        + load.written * costs.append_message
        + commits * costs.append_commit
        + follows
        + load.forwarded * costs.forwarded
        + says
        + load.heard * costs.here_heard
    )
    thread = (
        load.events * costs.writer_event
        + load.written * costs.writer_message
        + commits * costs.writer_commit
        + follows
    )
    return whole / 1e6, thread / 1e6


def by_cause(load: Load, costs: Costs) -> dict[str, float]:
    """The same, by what it is for, in cores."""
    nothing = Load()
    causes = {
        "writes": ("written", "events", "commands"),
        "applies what others wrote": ("applied",),
        "notes what others wrote": ("noted",),
        "hands on": ("forwarded",),
        "says who is here": ("present", "signs"),
        "hears who is where": ("heard",),
    }
    return {
        what: processor(Load(**{name: getattr(load, name) for name in names}), costs)[0]
        - processor(nothing, costs)[0]
        for what, names in causes.items()
    }


def fits(loads: Iterable[Load], costs: Costs, most: float = HEADROOM) -> bool:
    """Has every node its headroom?"""
    for load in loads:
        whole, thread = processor(load, costs)
        if max(whole / CORES, thread, load.agents * costs.session_bytes / MEMORY) > most:
            return False
    return True


def scaled(load: Load, by: float) -> Load:
    """The load of so many times as many groups of the same sort on the same nodes."""
    return Load(**{one.name: getattr(load, one.name) * by for one in fields(load)})


def after_death(day: Day, dice: Random) -> list[Load]:
    """The loads of the others when the first node has died and its groups and agents are with them."""
    left = [scaled(load, 1.0) for load in day.nodes]
    dead, rest = left[0], range(1, len(left))
    for group in day.affected:
        there = set(group.others)
        come = dice.choices(rest, k=group.lost) if group.lost else []
        for node in come:
            left[node].agents += 1
            left[node].signs += group.signs / group.lost
        new = set(come) - there
        for node in new:
            left[node].awake += 1
            left[node].present += 1
            left[node].applied += group.messages
            left[node].noted -= group.messages
        if group.written_there:
            # The first who writes takes it: somebody who is connected, or a tool at any node.
            writer = dice.choice(sorted(there | new)) if there | new else dice.choice(rest)
            takes = left[writer]
            takes.written += group.messages
            takes.events += group.events
            takes.commands += group.commands
            if writer in there | new:
                takes.applied -= group.messages
            else:
                takes.noted -= group.messages
    # What came in at the dead node comes in elsewhere.
    for node in rest:
        left[node].forwarded += dead.forwarded / len(rest)
    found = [left[node] for node in rest]
    _hear(found)
    return found


def rolled(loads: Sequence[float]) -> list[float]:
    """What each node writes after all were started anew one after the other: groups stay where they were taken."""
    found = list(loads)
    if len(found) < 2:
        return found
    for node in range(len(found)):
        gone, found[node] = found[node] / (len(found) - 1), 0.0
        for other in range(len(found)):
            if other != node:
                found[other] += gone
    return found


def as_numbers(loads: Sequence[Load]) -> dict[str, Any]:
    """The mean and the most of each figure."""
    return {
        one.name: (
            sum(getattr(load, one.name) for load in loads) / len(loads),
            max(getattr(load, one.name) for load in loads),
        )
        for one in fields(Load)
    }
