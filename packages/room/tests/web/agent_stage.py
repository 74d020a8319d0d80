"""Two personal agents on a relay and the page of one, beside a browser: in a thread of their own.

While Playwright is open no other event loop may run in its thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, Self

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.io import page
from tests.agent.arrangements import pair, people, registered, share
from tests.relay_support import Relay

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future
    from pathlib import Path

PATIENCE = 60.0


class _Aside:
    """Something with an event loop of its own, in a thread of its own; a context."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="agents", daemon=True)

    async def _play(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(PATIENCE)
        if self._fault is not None:
            raise self._fault
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(PATIENCE)
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        try:
            asyncio.run(self._begun())
        except BaseException as fault:
            self._fault = fault
        finally:
            self._ready.set()

    async def _begun(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        await self._play()

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Something in that thread, and its outcome."""
        done: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return done.result(PATIENCE)


class RelayStage(_Aside):
    """A relay that knows Anna, whose agent runs elsewhere, and Ben, whose runs here."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    async def _play(self) -> None:
        async with Relay(self.folder / "relay") as self.relay:
            for name, friend in (("anna", "ben"), ("ben", "anna")):
                await registered(self.relay, self.folder / name, name, friend)
            async with Agent(self.folder / "anna") as anna:
                await anna.profile({"timezone": "Europe/London", "dietary": "no meat"})
            async with Agent(self.folder / "ben") as self.ben, asyncio.TaskGroup() as running:
                await self.ben.profile({"timezone": "Europe/London", "dietary": "no shellfish"})
                stopped = asyncio.Event()
                running.create_task(self.ben.run(stopped))
                self._ready.set()
                await self._over.wait()
                stopped.set()

    def answer(self, kind: str, **said: Any) -> None:
        """Ben's answer to the one question of a kind, once it is asked; for consent, all of it is shared."""

        async def say() -> None:
            async with asyncio.timeout(PATIENCE):
                while True:
                    for one in (await self.ben.pending())["questions"]:
                        if one["kind"] == kind:
                            given = Answer(**said) if said else share(one)
                            await self.ben.answer(one["question_id"], given)
                            return
                    await asyncio.sleep(0.05)

        self.do(say())


class AgentStage(_Aside):
    """Anna, whose page is open, and Ben; with names, friends of hers beside."""

    def __init__(self, folder: Path, *names: str, **given: Any) -> None:
        super().__init__()
        self._folder = folder
        self._names = names
        self._given = given

    async def _play(self) -> None:
        playing = (
            people(self._folder, "anna", "ben", *self._names)
            if self._names
            else pair(self._folder, **self._given)
        )
        async with playing as (self.both, self.anna, self.ben, *self.friends):
            stopped = asyncio.Event()
            async with asyncio.TaskGroup() as running, contextlib.AsyncExitStack() as self._pages:
                for one in (self.anna, self.ben, *self.friends):
                    running.create_task(one.run(stopped))
                await self._serve(0)
                self._ready.set()
                await self._over.wait()
                stopped.set()

    async def _serve(self, port: int) -> None:
        self.page = await self._pages.enter_async_context(page.served(self.anna, port))

    async def _serve_again(self) -> None:
        port = self.page.port
        await self._pages.aclose()
        await self._serve(port)

    def served_anew(self) -> None:
        """As after a restart: the same port, and nobody is known any more."""
        self.do(self._serve_again())

    def link(self, question_id: str = "") -> str:
        return self.page.link(question_id)

    def stranger(self, name: str, wish: str) -> None:
        """Somebody whom Anna does not know wants something of her."""

        async def write() -> None:
            relay = self.both.relay
            await registered(relay, self._folder / name, name, "anna")
            async with Agent(self._folder / name, clock=relay.clock) as stranger:
                stranger.connect()
                await stranger.ask(wish, [self.anna.me])
                for one in (await stranger.pending())["questions"]:
                    await stranger.answer(one["question_id"], share(one))
                await stranger.carried(PATIENCE)

        self.do(write())

    def question(self, who: Agent, kind: str) -> dict[str, Any]:
        """The one open question of this kind, once it is asked."""
        return self.do(self.both.question(who, kind))

    def thread_in(self, who: Agent, thread_id: str, *states: str) -> dict[str, Any]:
        """The thread, once it is in one of these states."""
        return self.do(self.both.state(who, thread_id, *states))
