"""The process that runs a hub's crew: it is told whom to start and stop, and tells how they are.

A line of JSON each way, on standard input and output. It ends with its hub: when standard input does, every
agent leaves. So an agent of the crew never outlives its hub for longer than a farewell takes, and the next
one cannot run beside it, since both would need the lock of the agent's state folder. One agent's fault is
none of the others' concern.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from tacit.base.errors import Refused, TacitError
from tacit.harness.crew import CrewKey
from tacit.harness.io import sharing
from tacit.harness.io.agent_setup import ReadyAgent, ready
from tacit.harness.io.supervisor import KeptAgent, SupervisedAgent
from tacit.harness.team import TeamMember, member_of

log: Final = logging.getLogger("tacit.harness")
LINE_BYTES: Final = 1 << 22


class CrewLife:
    """One agent of the crew, from an order to start it to one to stop it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.is_stopped = False
        self._kept: KeptAgent | None = None

    async def keep(self, kept: KeptAgent) -> None:
        """Run it, unless it was asked to stop while it was made ready."""
        if not self.is_stopped:
            self._kept = kept
            await kept.run()

    async def stop(self) -> None:
        """Ask it to leave, and wait until it has."""
        self.is_stopped = True
        if self._kept is not None:
            self._kept.stop()
        if self.task is not None:
            await asyncio.wait({self.task})


class CrewProcess:
    """The agents of one crew, and the two ends of the line to their hub."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._lives: dict[CrewKey, CrewLife] = {}
        self._orders: dict[CrewKey, asyncio.Task[None]] = {}

    def tell(self, key: CrewKey, what: str, **data: object) -> None:
        """Tell the hub; one that is gone is told nothing more."""
        line = {"group_id": key.group_id, "name": key.name, "what": what, "data": data}
        try:
            os.write(self._out, msgspec.json.encode(line, enc_hook=str) + b"\n")
        except BrokenPipeError:
            return

    async def run(self, lines: asyncio.StreamReader) -> None:
        """Until the hub has nothing more to say."""
        while line := await lines.readline():
            order = cast("dict[str, Any]", msgspec.json.decode(line))
            key = CrewKey(order["group_id"], order["name"])
            # In order for each agent; nobody waits for another's farewell.
            obeying = self._obey(key, order, self._orders.get(key))
            self._orders[key] = asyncio.create_task(obeying, name=f"order for {key.name}")
        await asyncio.gather(*self._orders.values())
        await asyncio.gather(*(life.stop() for life in self._lives.values()))

    async def _obey(self, key: CrewKey, order: dict[str, Any], before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        if (life := self._lives.pop(key, None)) is not None:
            await life.stop()
        if order["op"] == "start":
            self._lives[key] = life = CrewLife()
            life.task = asyncio.create_task(self._live(key, order, life), name=f"crew {key.name}")

    async def _live(self, key: CrewKey, order: dict[str, Any], life: CrewLife) -> None:
        try:
            await self._whole_life(key, order, life)
        except Exception as error:
            # A fault of ours costs this agent and no other.
            log.exception("an agent of the crew failed")
            self.tell(key, "given_up", reason=f"a fault of Tacit's own ({type(error).__name__})")

    async def _whole_life(self, key: CrewKey, order: dict[str, Any], life: CrewLife) -> None:
        """One agent, from what it needs to its end."""
        self.tell(key, "starting")
        try:
            agent = await asyncio.to_thread(_prepared, member_of(order["agent"]), order)
        except Refused as refused:
            self.tell(key, "given_up", reason=refused.message)
            return
        except TacitError as error:
            self.tell(key, "given_up", reason=str(error))
            return
        except OSError as error:
            self.tell(key, "given_up", reason=f"its folder cannot be used: {error.strerror}")
            return
        others = await asyncio.to_thread(sharing.sharers, agent.state, agent.others)
        if words := sharing.warning(key.name, agent.options.directory, others):
            self.tell(key, "warning", message=words)
        make = SupervisedAgent(
            key.name,
            lambda tell: agent.harness(str(order["url"]), str(order["token"]), tell),
            agent.state / "agent.log",
        )
        one = KeptAgent(make, lambda what, **data: self.tell(key, what, **data))
        await life.keep(one)
        self.tell(key, "ended")


def _prepared(member: TeamMember, order: dict[str, Any]) -> ReadyAgent:
    state = Path(str(order["state"]))
    others = [Path(str(one)) for one in order["others"]]
    return ready(member, state, base=Path.home(), environment=os.environ, others=others)


async def _main(out: int) -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin.buffer)
    for one in (signal.SIGINT, signal.SIGTERM):
        # Ctrl-C reaches the whole terminal: the hub says when to end.
        loop.add_signal_handler(one, lambda: None)
    await CrewProcess(out).run(lines)


def main() -> None:
    """The process's own main: what anybody prints goes to the log, and not into the line to the hub."""
    out = os.dup(1)
    os.dup2(2, 1)
    os.set_inheritable(out, False)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_main(out))


if __name__ == "__main__":
    main()
