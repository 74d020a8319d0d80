"""The processes of a run: the hub, and the bare counterparts; each started for a case and ended with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bench.spine.wire import WebSocket, websocket
from tacit.hub.config import default_writer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tacit.base.stream_plan import StreamPlan

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / "bench" / ".cache"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the project's own disk, gone afterwards: a memory disk would make every sync free."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.asynccontextmanager
async def started(
    module: str, *arguments: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    """A helper process; yields it with the JSON line that it prints when it is ready."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            line = await process.stdout.readline()
        yield process, json.loads(line)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(30):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def output_of(module: str, *arguments: str) -> Any:
    """The JSON that a helper process prints before it ends by itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{module} ended with {process.returncode}")
    return json.loads(out)


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """A process's resident memory in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("a process has no resident memory")


@dataclass(slots=True)
class RunningHub:
    """A hub of its own process, seen from outside."""

    port: int
    pid: int
    token: str
    tokens: dict[str, str] = field(default_factory=dict)

    def rss(self) -> int:
        """Resident memory in bytes."""
        return resident(self.pid)

    def cpu(self) -> float:
        """Seconds of processor time used so far: steadier than the clock on a machine that others use too."""
        return sum(cpu_seconds(pid) for pid in (self.pid, *self.children()))

    def children(self) -> list[int]:
        """The hub's own processes: its writer, if that has one."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]

    async def connect(self, on_text: Any, token: str | None = None) -> WebSocket:
        """A WebSocket of the hub's fast path."""
        return await websocket(self.port, "/v1/ws", token or self.token, on_text)

    async def call(self, method: str, params: dict[str, Any], token: str | None = None) -> Any:
        """One JSON-RPC call on a connection of its own."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        socket = await self.connect(lambda text: answer.done() or answer.set_result(text), token)
        try:
            return await ask(socket, answer, method, params)
        finally:
            socket.close()

    async def open_group(self, title: str, actors: int) -> str:
        """A group with actors `a0`, `a1`, ...; their tokens are kept."""
        group = await self.call("create_group", {"title": title})
        for number in range(actors):
            name = f"a{number}"
            added = await self.call("add_actor", {"group_id": group["group_id"], "actor_id": name})
            self.tokens[name] = added["token"]
        return str(group["group_id"])


async def ask(socket: WebSocket, answer: asyncio.Future[bytes], method: str, params: dict[str, Any]) -> Any:
    """Send a call whose answer arrives in `answer`."""
    socket.send(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    async with asyncio.timeout(60):
        reply = msgspec.json.decode(await answer)
    if "error" in reply:
        raise RuntimeError(f"{method}: {reply['error']}")
    return reply["result"]


@contextlib.asynccontextmanager
async def hub(
    data: Path, writer: str | None = None, stream: StreamPlan | None = None
) -> AsyncIterator[RunningHub]:
    """A hub on a data folder, or a node of a stream; its writer where it stands by default or is told to."""
    told = [writer] if writer is not None else []
    if stream is not None:
        numbers = (str(stream.replicas), str(stream.lease_seconds))
        told = [writer or default_writer(), stream.stream, *numbers, *stream.servers]
    async with started("bench.spine.hub_process", str(data), *told) as (process, ready):
        yield RunningHub(ready["port"], process.pid, ready["token"])


@contextlib.asynccontextmanager
async def bare_server() -> AsyncIterator[int]:
    """The bare aiohttp server; yields its port."""
    async with started("bench.spine.bare_server") as (_process, ready):
        yield ready["port"]


def raise_open_files() -> None:
    """A thousand connections need as many handles here."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 8192:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))
