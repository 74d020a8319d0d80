"""How many nodes, NATS servers and ledgers so many agents need, and what hurts first: a simulated day.

python -m bench.sizing [--agents 10000000] [--nodes N] [--ledgers N] [--replicas 3] [--seed 1] [--calibrated FILE]

The population and its day are simulated group by group (`bench.sizing_model`, where each assumption is a named constant
with its reason). What one append, one message that is applied or noted, one word about presence and one subject cost is
measured first, in some minutes, with real hubs and servers on this machine (`bench.sizing_costs`); `--calibrated` takes
the costs of an earlier run instead, `--keep FILE` writes them down, `--validate` compares what the simulation says of
three small nodes with what they use. Without `--nodes` and `--ledgers` the fewest nodes that do are looked for, on a
sample of the groups; what is printed comes from all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from pathlib import Path
from time import perf_counter as now
from typing import TYPE_CHECKING, Final

import msgspec
import uvloop

from bench.nodes import Servers, load_on, nodes, say, with_actors
from bench.sizing_costs import commits, measured
from bench.sizing_model import (
    CONNECTED,
    CORES,
    HEADROOM,
    Costs,
    Day,
    Load,
    Population,
    after_death,
    as_numbers,
    by_cause,
    fits,
    hours,
    placed,
    populated,
    processor,
    rolled,
    said,
    shared,
)
from bench.spine.appends import press
from bench.spine.machine import describe
from bench.spine.processes import raise_open_files, scratch
from tests.ledger.io.jetstream.servers import opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from bench.spine.appends import Appender

OF_AGENTS: Final = {"agents", "awake", "present"}
"""What a node has in proportion to agents; the rest goes with what they say."""
SAMPLE: Final = 3_000
"""Groups that the search looks at."""
MARGIN: Final = 0.9
"""Of the headroom: the fullest of many nodes has more than the average, which the search goes by."""
COUNTS: Final = (3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
"""Of nodes of a ledger: a third one, so that the death of one leaves two."""
LEDGERS: Final = (
    1,
    2,
    3,
    4,
    6,
    8,
    12,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
    768,
    1024,
    1536,
    2048,
)
VALID_CLIENTS: Final = 8
VALID_IN_FLIGHT: Final = 4
VALID_RATE: Final = 6.0
"""Appends a second of each of the clients, where they are paced."""


def sampled(population: Population, count: int, costs: Costs, groups: Sequence[int], ledger: float) -> Day:
    """A part of all as a ledger, from some groups that stand for the rest: what its nodes have on average.

    The rest have other sizes and rates than these, and what all have together is known: by that they are weighed.
    """
    day = placed(population, count, random.Random(count), costs, only=groups)
    agents = sum(population.connected) * ledger / max(1, sum(population.connected[one] for one in groups))
    rates = sum(population.rates) * ledger / sum(population.rates[one] for one in groups)
    means = as_numbers(day.nodes)
    by = {name: agents if name in OF_AGENTS else rates for name in means}
    day.nodes = [Load(**{name: mean * by[name] for name, (mean, _most) in means.items()})]
    day.nodes[0].heard = said(day.nodes[0]) * (count - 1)
    day.messages, day.events = day.messages * rates, day.events * rates
    return day


def stream_fits(day: Day, costs: Costs) -> bool:
    """Has its one stream room for all that a ledger writes?"""
    return day.messages <= HEADROOM * costs.stream_rate


def search(population: Population, costs: Costs) -> list[tuple[int, int]]:
    """The numbers of ledgers, and of nodes of each, that do; of each number of ledgers the fewest nodes."""
    total = len(population.sizes)
    groups = random.Random(0).sample(range(total), min(SAMPLE, total))
    found: list[tuple[int, int]] = []
    for ledgers in LEDGERS:
        for count in COUNTS:
            day = sampled(population, count, costs, groups, 1 / ledgers)
            if stream_fits(day, costs) and fits(day.nodes, costs, MARGIN * HEADROOM):
                found.append((ledgers, count))
                break
        if len(found) > 4 and found[-1][0] * found[-1][1] > 2 * min(one * other for one, other in found):
            break
    return found


def enough(population: Population, costs: Costs) -> int:
    """Up to how many agents one ledger is enough, whatever its nodes."""
    total = len(population.sizes)
    groups = random.Random(0).sample(range(total), min(SAMPLE, total))
    least, most = 0.0, 100_000_000 / population.agents
    for _ in range(14):
        middle = (least + most) / 2
        days = (sampled(population, count, costs, groups, middle) for count in COUNTS)
        if any(stream_fits(day, costs) and fits(day.nodes, costs, MARGIN * HEADROOM) for day in days):
            least = middle
        else:
            most = middle
    return int(least * population.agents)


def fullest(loads: Sequence[Load], costs: Costs) -> Load:
    """The node that uses most of what it has."""

    def share(load: Load) -> float:
        whole, thread = processor(load, costs)
        return max(whole / CORES, thread)

    return max(loads, key=share)


def run(population: Population, costs: Costs, ledgers: int, count: int, seed: int) -> list[Day]:
    """Every ledger's busiest hour, all groups in full."""
    total = len(population.sizes)
    return [
        placed(
            population, count, random.Random(seed * 1_000 + number), costs, only=range(number, total, ledgers)
        )
        for number in range(ledgers)
    ]


def report(population: Population, days: list[Day], costs: Costs, seed: int) -> None:
    """The table."""
    ledgers, count = len(days), len(days[0].nodes)
    loads = [load for day in days for load in day.nodes]
    groups = len(population.sizes)
    events, messages = sum(day.events for day in days), sum(day.messages for day in days)
    a_day = events / max(hours()) * 3600
    most = fullest(loads, costs)
    whole, thread = processor(most, costs)
    say("agents", f"{population.agents:,} in {groups:,} groups, {sum(population.connected):,} connected")
    say("needs", f"{ledgers} ledger(s) of {count} nodes: {ledgers * count} nodes of {CORES} cores, on average at most "
        f"{MARGIN * HEADROOM:.0%} of them used; {ledgers * costs.replicas} NATS servers if no two ledgers share any")  # fmt: skip
    say("busiest hour", f"{events:,.0f} events a second in {messages:,.0f} messages; a stream takes "
        f"{costs.stream_rate:,.0f}, the fullest gets {max(day.messages for day in days):,.0f}")  # fmt: skip
    say(
        "NATS servers",
        f"{messages / ledgers * costs.server_message / 1e6:.3f} cores for one stream, all its servers together; "
        "what nodes say to each other is not counted",
    )
    say("fullest node", f"{whole:.2f} of {CORES} cores, its writer's thread {thread:.2f} of one")
    for what, cores in by_cause(most, costs).items():
        say(f"  {what}", f"{cores:.3f} cores")
    awake = sum(load.awake for load in loads) / len(loads)
    say("awake at a node", f"{awake:,.0f} of its ledger's {groups / ledgers:,.0f} groups, {awake * ledgers / groups:.1%}; "
        f"{most.agents:,.0f} agents at the fullest, {most.agents * costs.session_bytes / 1e6:,.0f} MB for them")  # fmt: skip
    say(
        "messages a second at it",
        f"{most.written:,.1f} written, {most.applied:,.1f} applied, {most.noted:,.1f} noted",
    )
    say("a stream grows", f"{a_day * costs.event_bytes / ledgers / 1e9:,.2f} GB a day, "
        f"{a_day * costs.event_bytes / ledgers * 365 / 1e12:,.2f} TB a year on each server that keeps it")  # fmt: skip
    say("a node's folder", f"up to {a_day * costs.cache_bytes / ledgers / 1e9:,.2f} GB a day")
    subjects = groups / ledgers * (costs.subject_bytes + costs.lease_bytes) / 1e6
    say("memory of a server for subjects", f"{subjects:,.0f} MB for a ledger's groups")
    say("a node joins", f"{a_day / ledgers * 30 * costs.join_seconds / 60:,.0f} minutes from a snapshot of 30 days, "
        f"{a_day / ledgers * 30 * costs.read_seconds / 60:,.0f} without one")  # fmt: skip
    died(days[0], costs, seed, a_day / ledgers)
    hot = max(day.hottest for day in days)
    say(
        "hottest group",
        f"{hot:.1f} commands a second in its busiest minute; its one writer takes {costs.hot_group:,.0f}",
    )
    skew = rolled([load.written for load in days[0].nodes])
    say("after a rolling update", f"the node that writes most has {max(skew) * count / sum(skew):.2f} of its share, "
        f"the one that writes least {min(skew) * count / sum(skew):.2f}")  # fmt: skip


def died(day: Day, costs: Costs, seed: int, a_day: float) -> None:
    """What the death of a node in the busiest hour does."""
    before = fullest(day.nodes[1:], costs)
    after = fullest(after_death(day, random.Random(seed)), costs)
    moved = [group for group in day.affected if group.written_there]
    taken = sum(min(1.0, group.commands * 15) for group in moved)
    dead = day.nodes[0]
    say("a node dies", f"{len(moved):,} groups wait for up to a lease, of these {taken:,.0f} are written to within it; "
        f"{dead.agents:,.0f} agents connect anew")  # fmt: skip
    say(
        "then the fullest uses",
        f"{processor(after, costs)[0]:.2f} of {CORES} cores ({processor(before, costs)[0]:.2f} before)",
    )
    behind = a_day * dead.noted / max(day.messages, 1e-9) * costs.brought_up_event / 1e6
    say(
        "to bring up",
        f"{behind:,.0f} s of a writer's time for a day of what it has only noted, where that is asked for as a whole",
    )


async def validate(replicas: int, costs: Costs, seconds: float, folder: Path) -> None:
    """Three small nodes, each with groups of its own: what is used beside what the simulation says.

    Paced, as agents write: all is the simulation's. Pressed, always with some under way: how many share a message and
    a commit is then a matter of the clients, and is counted; the unit costs are what is compared.
    """
    servers = Servers(folder / "nats", replicas)
    try:
        plan = servers.plan()
        async with nodes(folder, plan, 3) as running:
            load = []
            for node in running:
                made = await with_actors(node, VALID_CLIENTS, VALID_CLIENTS)
                load += await load_on([node], made, VALID_CLIENTS)
            await press(load, 1.0, VALID_IN_FLIGHT)
            stream = await asyncio.to_thread(opened, servers.urls, plan.stream, replicas)
            spent = [0.0, 0.0, 0.0]

            async def counted(what: Awaitable[float]) -> float:
                marks: list[list[float]] = []
                appends = 0.0
                for number in range(2):
                    made = sum([await commits(node) for node in running])
                    end = await asyncio.to_thread(stream.end)
                    marks.append([sum(node.cpu() for node in running), end, made])
                    appends = appends or (await what if not number else 0.0)
                spent[:] = [(after - before) / appends for before, after in zip(*marks, strict=True)]
                return appends

            appends = await counted(paced(load, 2 * seconds))
            rate = appends / (2 * seconds) / 3
            written = rate / shared(rate / VALID_CLIENTS, costs.commit_seconds)
            node_load = Load(written=written, events=rate, commands=rate, noted=2 * written)
            _compared("paced", rate, spent[0] * 1e6, processor(node_load, costs)[0] / rate * 1e6)
            appends = await counted(_pressed(load, seconds))
            used, messages, batches = spent
            said = (
                costs.append_event
                + messages * (costs.append_message + 2 * costs.noted_message)
                + batches * costs.append_commit
            )
            _compared("pressed", appends / seconds / 3, used * 1e6, said)
            stream.close()
    finally:
        servers.end()


def _compared(how: str, rate: float, used: float, said: float) -> None:
    say(f"validation, {how}", f"{rate:,.0f} appends a second at each of three nodes: {used:,.0f} us of processor time an append, "
        f"the simulation says {said:,.0f}: {said / used:.2f} of it")  # fmt: skip


async def _pressed(load: list[Appender], seconds: float) -> float:
    await press(load, seconds, VALID_IN_FLIGHT)
    return sum(len(one.took) for one in load)


async def paced(load: list[Appender], seconds: float) -> float:
    """Each sends now and then, whether the last one was answered or not; how many there were."""

    async def one(client: Appender, dice: random.Random) -> int:
        sent, end = 0, now() + seconds
        while now() < end:
            client.begin(1, 0.0)
            sent += 1
            await asyncio.sleep(dice.expovariate(VALID_RATE))
        await client.idle.wait()
        return sent

    return sum(await asyncio.gather(*(one(each, random.Random(number)) for number, each in enumerate(load))))


def _costs(given: argparse.Namespace) -> Costs:
    if given.calibrated is not None:
        costs = msgspec.json.decode(given.calibrated.read_bytes(), type=Costs)
        say(
            "costs",
            f"of {given.calibrated.name}, measured {costs.measured} with {costs.replicas} replicas on {costs.machine}",
        )
        return costs
    machine = ", ".join(f"{name} {value}" for name, value in describe().items())
    with scratch() as folder:
        costs = uvloop.run(measured(folder, given.replicas, given.seconds, machine))
    say("costs", f"measured in this run with {costs.replicas} replicas on {machine}")
    if given.keep is not None:
        given.keep.write_bytes(msgspec.json.format(msgspec.json.encode(costs), indent=1) + b"\n")
    return costs


def main() -> None:
    """Measure, simulate and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.sizing", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--agents", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, help="of each ledger; looked for if not given")
    parser.add_argument("--ledgers", type=int, help="how many; looked for if not given")
    parser.add_argument("--replicas", type=int, choices=(1, 3), default=3)
    parser.add_argument(
        "--connected", type=float, default=CONNECTED, help="share of agents in the busiest hour"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a measurement")
    parser.add_argument("--calibrated", type=Path, help="unit costs of an earlier run")
    parser.add_argument("--keep", type=Path, help="where to write the unit costs")
    parser.add_argument("--validate", action="store_true", help="compare with three small nodes")
    given = parser.parse_args()
    raise_open_files()
    costs = _costs(given)
    if given.validate:
        with scratch() as folder:
            uvloop.run(validate(given.replicas, costs, given.seconds, folder))
    begun = now()
    population = populated(given.agents, random.Random(given.seed), given.connected)
    ledgers, count = given.ledgers, given.nodes
    if ledgers is None or count is None:
        found = search(population, costs)
        if not found:
            raise SystemExit("no number of ledgers and nodes does: give --ledgers and --nodes to see why")
        say("one ledger is enough", f"up to some {enough(population, costs):,} agents of this sort")
        best = min(found, key=lambda one: (one[0] * one[1], one[0]))
        ledgers, count = ledgers or best[0], count or best[1]
    report(population, run(population, costs, ledgers, count, given.seed), costs, given.seed)
    say("simulated in", f"{now() - begun:.0f} s, seed {given.seed}")


if __name__ == "__main__":
    main()
