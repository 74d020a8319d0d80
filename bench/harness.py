"""What a harness costs and saves.

python -m bench.harness                          all three
python -m bench.harness --only turn|crowd|replay

turn    a question becomes a reply through a real hub process, a real harness and the `command` driver; beside it the
        bare program, started in the same way in the same run. What is left is the harness's (and the hub's) own.
crowd   100 harnesses under one supervisor in one process: memory each, processor time while nothing happens.
replay  the generated busy channel of `bench/attention.py` through the conduct of each agent, in virtual time: turns,
        prompt bytes and cost against a harness that gives every message to every agent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.attention import START, busy_roster, event_of, generated
from tacit.attention import decide
from tacit.attention.decide.delivery import delivered
from tacit.attention.settings import DEFAULTS
from tacit.attention.state.fold import Attention
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Mode
from tacit.client import Hub
from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.drivers.port import Failure, FailureKind, TurnOutcome
from tacit.harness.effects import Abort, Begin, Claim
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tacit.harness.prompt import event_block, standing_rules, turn_prompt

WORD = "5f3a9c1e"
TACIT = str(Path(sys.executable).parent / "tacit")
FREE = {
    "sends_per_minute": 1_000, "sends_per_conversation": 1_000, "similarity": 1.0, "injected_per_minute": 100_000,
    "compose_quiet_ms": 2000,
}  # fmt: skip
TOKEN_BYTES, DOLLARS_PER_MILLION = 4, 3.0


# ------------------------------------------------------------------ a hub of its own


class HubProcess:
    def __init__(self, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        self.process = subprocess.Popen(
            [TACIT, "--json", "up", "--port", "0"], env=self.environment, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.token = (folder / "data" / "tacit" / "owner.token").read_text().strip()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


# ------------------------------------------------------------------ one turn


async def bare(command: list[str], rounds: int) -> list[float]:
    """The same program, started and read in the same way, without anything around it."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        child = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True
        )
        await child.communicate(b"hello")
        times.append(time.perf_counter() - began)
    return times


async def one_turn(rounds: int) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "answer.sh"
        program.write_text('#!/bin/sh\nread -r first\necho "answer $$"\n')
        program.chmod(0o755)
        process = HubProcess(folder)
        try:
            async with Hub(process.url, process.token) as hub:
                group = (await hub.create_group("Bench"))["group_id"]
                await hub.call("change_rules", {"group_id": group, "settings": FREE})
                token = (await hub.add_actor(group, "ada"))["token"]
                driver = catalogue.build(
                    "command", DriverOptions(str(folder / "driver"), command=(str(program),), plain_text=True)
                )
                harness = Harness(AgentConfig(process.url, token, "ada", folder / "state"), driver)
                running = asyncio.create_task(harness.run())
                replies = follow_replies(hub, group)
                await asyncio.sleep(1.0)
                for _ in range(5):
                    await question(hub, group, replies)
                around, alone = [], []
                cpu = time.process_time()
                for _ in range(rounds):
                    around.append(await question(hub, group, replies))
                    alone += await bare([str(program)], 1)
                spent = time.process_time() - cpu
                harness.stop()
                await running
        finally:
            process.close()
    whole, child = statistics.median(around), statistics.median(alone)
    return {
        "turns": rounds, "question_to_reply_p50_ms": round(whole * 1000, 2),
        "question_to_reply_p99_ms": round(sorted(around)[int(len(around) * 0.99) - 1] * 1000, 2),
        "bare_program_p50_ms": round(child * 1000, 2), "overhead_p50_ms": round((whole - child) * 1000, 2),
        "processor_ms_a_turn_harness_and_bench": round(spent / rounds * 1000, 2),
    }  # fmt: skip


def follow_replies(hub: Hub, group: str):
    return hub.follow(group, kinds=["chat.message"]).__aiter__()


async def question(hub: Hub, group: str, replies) -> float:
    """An approval enters at once, without a compose window: what is measured is not the waiting."""
    began = time.perf_counter()
    asked = (await hub.send(group, "@ada ok to merge the change?")).id
    async with asyncio.timeout(30):
        while (await anext(replies)).data.get("reply_to") != asked:
            pass
    return time.perf_counter() - began


# ------------------------------------------------------------------ a hundred at once

CROWD = """
import asyncio, json, resource, sys, time
from pathlib import Path
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import Options
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tacit.harness.io.supervisor import SupervisedAgent, Supervisor

url, folder, tokens = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])

def resident():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    return int(fields["Pss"].split()[0])

def post(name, token):
    options = Options(str(folder / name / "driver"), command=("true",), plain_text=True)
    config = AgentConfig(url, token, name, folder / name / "state")
    make = lambda tell: Harness(config, catalogue.build("command", options), tell=tell)
    return SupervisedAgent(name, make, folder / name / "log")

async def main():
    up, connected = asyncio.Event(), set()
    def tell(name):
        def told(what, **data):
            if what == "connected":
                connected.add(name)
                if len(connected) == len(tokens):
                    up.set()
        return told
    supervisor = Supervisor([post(*one) for one in tokens.items()], tell)
    running = asyncio.create_task(supervisor.run())
    await up.wait()
    await asyncio.sleep(3)
    before, began = time.process_time(), time.monotonic()
    await asyncio.sleep(float(sys.argv[4]))
    idle = (time.process_time() - before) / (time.monotonic() - began)
    print(json.dumps({"pss_kib": resident(), "idle": idle}))
    supervisor.stop()
    await running

asyncio.run(main())
"""


async def crowd(count: int, seconds: float) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = HubProcess(folder)
        try:
            async with Hub(process.url, process.token) as hub:
                group = (await hub.create_group("Bench"))["group_id"]
                tokens = {
                    f"a{number}": (await hub.add_actor(group, f"a{number}"))["token"]
                    for number in range(count)
                }
            one = await measured(process.url, folder / "one", dict(list(tokens.items())[:1]), 1.0)
            many = await measured(process.url, folder / "many", tokens, seconds)
        finally:
            process.close()
    return {
        "harnesses": count, "process_with_one_mib": round(one["pss_kib"] / 1024, 1),
        "process_with_all_mib": round(many["pss_kib"] / 1024, 1),
        "each_kib": round((many["pss_kib"] - one["pss_kib"]) / (count - 1), 1),
        "idle_processor_percent_for_all": round(many["idle"] * 100, 2),
    }  # fmt: skip


async def measured(url: str, folder: Path, tokens: dict, seconds: float) -> dict:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CROWD,
        url,
        str(folder),
        json.dumps(tokens),
        str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await child.communicate()
    return json.loads(out)


# ------------------------------------------------------------------ savings


class Simulated:
    """One agent's conduct in virtual time; a model turn takes as long as it is said to."""

    def __init__(self, name: str, thinks: float) -> None:
        self.conduct = Conduct(ConductOptions(inserts=True, boundaries=True))
        self.rules = standing_rules(name)
        self.thinks = int(thinks * SECOND)
        self.turns = self.bytes = self.aborted = self.claims = 0
        self.ends: Moment | None = None

    def carry_out(self, effects, now: Moment) -> None:
        for effect in effects:
            if isinstance(effect, Begin):
                self.turns += 1
                turn = effect.turn
                self.bytes += turn_prompt(
                    self.rules,
                    turn.events,
                    boundary=WORD,
                    knocks=turn.knocks,
                    digests=turn.digests,
                ).size
                self.ends = Moment(now + self.thinks)
            elif isinstance(effect, Abort):
                self.aborted += 1
                self.ends = now
            elif isinstance(effect, Claim):
                self.claims += 1

    def until(self, now: Moment) -> None:
        """Let the time pass."""
        while True:
            times = [one for one in (self.ends, self.conduct.next_due) if one is not None and one <= now]
            if not times:
                return
            at = min(times)
            if self.ends == at:
                self.ends = None
                running = self.conduct.turns.get(0)
                ending = running is not None and running.is_ending
                failure = Failure(FailureKind.CANCELLED, "cancelled") if ending else None
                name = running.turn.id if running is not None else ""
                self.carry_out(self.conduct.ended(TurnOutcome(name, "An answer.", failure=failure), at), at)
            else:
                self.carry_out(self.conduct.due(at), at)


def replay(count: int, seed: int, thinks: float) -> dict:
    roster, state = busy_roster(), Attention(DEFAULTS)
    agents = {name: Simulated(name, thinks) for name in roster.agents}
    naive_turns = naive_bytes = 0
    for number, line in enumerate(generated(count, seed)):
        event, now = event_of(line, number), Moment(START + int(line.at_s * 1e6))
        decisions = decide(event, roster, state.state_for(event, now), DEFAULTS)
        state.apply(event, now, decisions.parsed)
        for name, agent in agents.items():
            agent.until(now)
            if name == line.by:
                continue
            decision = decisions[name]
            given = delivered(event, decisions.parsed, decision, name)
            plain = replace(given.with_text(line.text), mode=Mode.BUFFERED, knock=None)
            naive_turns += 1
            naive_bytes += len(event_block([plain], WORD).encode()) + len(agent.rules)
            if decision.mode in {Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY}:
                agent.carry_out(agent.conduct.heard(given, now), now)
    for agent in agents.values():
        agent.until(Moment(now + 3600 * SECOND))
    turns, size = sum(one.turns for one in agents.values()), sum(one.bytes for one in agents.values())
    cost = DOLLARS_PER_MILLION / 1e6 / TOKEN_BYTES
    return {
        "messages": count, "agents": len(agents), "seed": seed, "seconds_a_turn": thinks,
        "ways": {
            "this harness": {
                "turns": turns, "prompt_bytes": size, "input_dollars": round(size * cost, 2),
                "turns_cut_short_for_a_fragment": sum(one.aborted for one in agents.values()),
                "claims_without_a_model": sum(one.claims for one in agents.values()),
            },
            "every message to every agent": {
                "turns": naive_turns, "prompt_bytes": naive_bytes, "input_dollars": round(naive_bytes * cost, 2),
            },
        },
        "turns_saved": f"{100 * (1 - turns / naive_turns):.1f} %", "bytes_saved": f"{100 * (1 - size / naive_bytes):.1f} %",
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["turn", "crowd", "replay"])
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--crowd", type=int, default=100)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--thinks", type=float, default=15.0, help="seconds of a model turn in the replay")
    given = parser.parse_args()
    parts = {
        "turn": lambda: asyncio.run(one_turn(given.turns)),
        "crowd": lambda: asyncio.run(crowd(given.crowd, given.idle)),
        "replay": lambda: replay(given.messages, given.seed, given.thinks),
    }
    for name, run in parts.items():
        if given.only in {None, name}:
            print(json.dumps({name: run()}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
