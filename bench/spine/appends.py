"""Durable appends: many in flight over the WebSocket (a), over HTTP (c), and one at a time (d)."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from time import perf_counter as now  # uvloop keeps its own time in whole milliseconds
from typing import TYPE_CHECKING, Final

from bench.spine.plan import Case, Plan, Row, in_turn, middle, percentile, ratio
from bench.spine.processes import RunningHub, bare_server, hub, output_of, scratch
from bench.spine.texts import ClientIds, messages
from bench.spine.wire import Http, WebSocket, masked, websocket

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

CLIENTS: Final = 8
IN_FLIGHT: Final = 16
CONNECTIONS: Final = 64
_ANSWER: Final = b'{"jsonrpc":"2.0","id":'


def calls(group_id: str, seed: int) -> Iterator[Callable[[int], bytes]]:
    """Endless append calls; each still wants its id."""
    client_id = ClientIds(seed)
    pool = itertools.cycle(messages(seed))
    form = (
        '{"jsonrpc":"2.0","id":%d,"method":"append","params":{"group_id":"' + group_id + '",'
        '"kind":"chat.message","data":{"text":"%s","client_id":"%s"}}}'
    )
    for text in pool:
        key = client_id()
        yield lambda number, text=text, key=key: (form % (number, text, key)).encode()


class Appender:
    """A connection that always has the same number of appends under way."""

    def __init__(self, group_id: str, seed: int) -> None:
        self._calls = calls(group_id, seed)
        self._numbers = itertools.count(1)
        self._sent: dict[bytes, float] = {}
        self._loop = asyncio.get_running_loop()
        self._out: list[bytes] = []
        self.took: list[float] = []
        self.failures = 0
        self.end = 0.0
        self.idle = asyncio.Event()
        self.socket: WebSocket | None = None

    def begin(self, in_flight: int, end: float) -> None:
        """Fill the pipe; every answer sends the next call until `end`."""
        self.idle.clear()
        self.took, self.end = [], end
        for _ in range(in_flight):
            self._send()

    def _send(self) -> None:
        number = next(self._numbers)
        self._sent[b"%d" % number] = now()
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(masked(next(self._calls)(number)))

    def _flush(self) -> None:
        assert self.socket is not None
        self.socket.transport.write(b"".join(self._out))
        self._out.clear()

    def answered(self, text: bytes) -> None:
        """Take an answer."""
        number = text[len(_ANSWER) : text.index(b",", len(_ANSWER))]
        at = now()
        self.took.append(at - self._sent.pop(number))
        if b'"error":' in text[: len(_ANSWER) + 32]:
            self.failures += 1
        if at < self.end:
            self._send()
        elif not self._sent:
            self.idle.set()


async def appenders(running: RunningHub, group_id: str, count: int) -> list[Appender]:
    """Connected appenders, each with its own actor's token."""
    found: list[Appender] = []
    for number in range(count):
        one = Appender(group_id, number)
        one.socket = await running.connect(one.answered, running.tokens[f"a{number}"])
        found.append(one)
    return found


async def press(load: list[Appender], seconds: float, in_flight: int) -> dict[str, float]:
    """Events a second, and how long each append took."""
    started = now()
    for one in load:
        one.begin(in_flight, started + seconds)
    await asyncio.gather(*(one.idle.wait() for one in load))
    took = [each for one in load for each in one.took]
    if failures := sum(one.failures for one in load):
        raise RuntimeError(f"{failures} appends were refused")
    return {
        "per_second": len(took) / (now() - started),
        "p50_ms": statistics.median(took) * 1e3,
        "p99_ms": percentile(took, 0.99) * 1e3,
    }


async def pipelined(plan: Plan) -> Case:
    """(a) 8 clients with 16 appends in flight each, beside the bare writer."""

    async def bare() -> dict[str, float]:
        with scratch() as folder:
            seconds, waiting = str(plan.seconds), str(CLIENTS * IN_FLIGHT)
            return await output_of(
                "bench.spine.bare_writer", "group", str(folder), "--seconds", seconds, "--in-flight", waiting
            )

    async def prepared(running: RunningHub) -> Callable[[], Awaitable[dict[str, float]]]:
        load = await appenders(running, await running.open_group("append", CLIENTS), CLIENTS)
        await press(load, min(1.0, plan.seconds), IN_FLIGHT)

        async def ours() -> dict[str, float]:
            before = running.cpu()
            found = await press(load, plan.seconds, IN_FLIGHT)
            found["cpu_us"] = (running.cpu() - before) / sum(len(one.took) for one in load) * 1e6
            return found

        return ours

    with scratch() as folder:
        async with hub(folder / "thread", "thread") as one, hub(folder / "process", "process") as other:
            thread, process = await prepared(one), await prepared(other)
            found = await in_turn(plan.rounds, {"process": process, "thread": thread, "bare": bare})
    rows = [
        Row(
            f"Durable append over `/v1/ws`, 8 clients, 16 in flight each, writer in {where}",
            middle(found[name], "per_second"),
            "events/s",
            "bare writer thread, same rows",
            middle(found["bare"], "per_second"),
            ratio(found, (name, "per_second"), ("bare", "per_second")),
            at_least=0.50,
            note=f"p50 {middle(found[name], 'p50_ms'):.1f} ms, p99 {middle(found[name], 'p99_ms'):.1f} ms, "
            f"{middle(found[name], 'cpu_us'):.0f} µs of processor time an append",
        )
        for name, where in (("process", "a process of its own"), ("thread", "a thread of the hub"))
    ]
    return Case("Durable append", rows, found)


class Poster:
    """64 connections with one POST under way each."""

    def __init__(self, path: str, tokens: list[str], group_id: str) -> None:
        self._path = path
        self._tokens = tokens
        self._calls = calls(group_id, 99)
        self._loop = asyncio.get_running_loop()
        self._sent: dict[Http, tuple[str, float]] = {}
        self.connections: list[Http] = []
        self._took: list[float] = []
        self._failures = 0
        self._end = 0.0
        self._idle = asyncio.Event()

    async def connect(self, port: int) -> None:
        """Open all connections."""
        for _ in range(CONNECTIONS):
            _, one = await self._loop.create_connection(lambda: Http(self._answered), "127.0.0.1", port)
            self.connections.append(one)

    def _post(self, one: Http, token: str) -> None:
        call = next(self._calls)(0)
        # The same body as over the WebSocket, without the call around it.
        body = b'{"kind":"chat.message","data":' + call[call.index(b'"data":') + 7 : -1]
        self._sent[one] = (token, now())
        one.post(self._path, token, body)

    def _answered(self, one: Http, status: int, _body: bytes) -> None:
        token, sent = self._sent.pop(one)
        at = now()
        self._took.append(at - sent)
        self._failures += status != 201
        if at < self._end:
            self._post(one, token)
        elif not self._sent:
            self._idle.set()

    async def press(self, seconds: float) -> dict[str, float]:
        """Requests a second."""
        self._idle.clear()
        self._took = []
        started = now()
        self._end = started + seconds
        for number, one in enumerate(self.connections):
            self._post(one, self._tokens[number % len(self._tokens)])
        await self._idle.wait()
        if self._failures:
            raise RuntimeError(f"{self._failures} posts failed")
        return {
            "per_second": len(self._took) / (now() - started),
            "p50_ms": statistics.median(self._took) * 1e3,
            "p99_ms": percentile(self._took, 0.99) * 1e3,
        }

    def close(self) -> None:
        """Hang up."""
        for one in self.connections:
            one.transport.close()


async def over_http(plan: Plan) -> Case:
    """(c) POST .../events with 64 connections, beside a bare aiohttp handler."""
    with scratch() as folder:
        async with hub(folder / "hub") as running, bare_server() as port:
            group_id = await running.open_group("http", CLIENTS)
            tokens = list(running.tokens.values())
            ours = Poster(f"/v1/groups/{group_id}/events", tokens, group_id)
            bare = Poster("/events", tokens, group_id)
            await ours.connect(running.port)
            await bare.connect(port)
            await ours.press(min(1.0, plan.seconds))
            found = await in_turn(
                plan.rounds,
                {"hub": lambda: ours.press(plan.seconds), "bare": lambda: bare.press(plan.seconds)},
            )
            ours.close()
            bare.close()
    row = Row(
        "Durable append over HTTP `POST …/events`, 64 connections",
        middle(found["hub"], "per_second"),
        "requests/s",
        "bare aiohttp handler, nothing stored",
        middle(found["bare"], "per_second"),
        ratio(found, ("hub", "per_second"), ("bare", "per_second")),
        note=f"p50 {middle(found['hub'], 'p50_ms'):.1f} ms, p99 {middle(found['hub'], 'p99_ms'):.1f} ms a request",
    )
    return Case("HTTP", [row], found)


async def echoes(port: int, count: int) -> list[float]:
    """Round trips of a bare WebSocket echo, one at a time, in microseconds."""
    back = asyncio.Event()
    socket = await websocket(port, "/echo", None, lambda _text: back.set())
    call = calls("g_019200000000000000000000", 5)
    took: list[float] = []
    for number in range(count):
        back.clear()
        before = now()
        socket.send(next(call)(number))
        await back.wait()
        took.append((now() - before) * 1e6)
    socket.close()
    return took


async def one_by_one(plan: Plan) -> Case:
    """(d) One client that waits for each answer, beside a bare commit plus a bare echo."""
    count = plan.samples(1500)

    async def prepared(running: RunningHub) -> Callable[[], Awaitable[dict[str, float]]]:
        load = await appenders(running, await running.open_group("sequential", 1), 1)

        async def ours() -> dict[str, float]:
            one = load[0]
            one.begin(1, now() + min(plan.seconds, count / 500))
            await one.idle.wait()
            return {
                "p50_us": statistics.median(one.took) * 1e6,
                "p99_us": percentile(one.took, 0.99) * 1e6,
            }

        await ours()
        return ours

    with scratch() as folder:
        async with (
            hub(folder / "thread", "thread") as one,
            hub(folder / "process", "process") as other,
            bare_server() as port,
        ):

            async def bare() -> dict[str, float]:
                commit: dict[str, float] = {}
                for what in ("single", "whole"):
                    with scratch() as place:
                        measured = await output_of(
                            "bench.spine.bare_writer", what, str(place), "--count", str(count)
                        )
                    commit[what] = measured["p50_us"]
                echo = statistics.median(await echoes(port, count))
                return {
                    "commit_us": commit["single"],
                    "whole_commit_us": commit["whole"],
                    "echo_us": echo,
                    "p50_us": commit["single"] + echo,
                    "whole_us": commit["whole"] + echo,
                }

            thread, process = await prepared(one), await prepared(other)
            found = await in_turn(plan.rounds, {"process": process, "thread": thread, "bare": bare})
    rows = [
        Row(
            f"One client, one append at a time, writer in {where}: p50",
            middle(found[name], "p50_us"),
            "µs",
            f"bare commit of {rows_of} plus WebSocket echo",
            middle(found["bare"], beside),
            ratio(found, (name, "p50_us"), ("bare", beside)),
            at_most=3.0,
            note=f"commit {middle(found['bare'], commit):.0f} µs, echo {middle(found['bare'], 'echo_us'):.0f} µs",
        )
        for rows_of, beside, commit in (
            ("one row", "p50_us", "commit_us"),
            ("all rows of an event", "whole_us", "whole_commit_us"),
        )
        for name, where in (("process", "a process of its own"), ("thread", "a thread of the hub"))
    ]
    return Case("One at a time", rows, found)
