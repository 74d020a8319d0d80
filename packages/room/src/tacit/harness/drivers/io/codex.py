"""The `codex` driver: Codex's own app-server, steered and interrupted over stdio.

Codex takes text into a running turn (`turn/steer`): it drops what it was generating, or waits for the tool
that runs, and asks the model again with the text added in the user role. So both `steer` and `Insert` at a
boundary are real here. The official Python package is used for the binary it brings; its client is not,
since it passes the whole environment on and reads each turn on a thread of its own.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import PeerFault, Unavailable
from tacit.harness.drivers import codex
from tacit.harness.drivers.environment import agent_environment
from tacit.harness.drivers.failures import cancelled, retryable
from tacit.harness.drivers.files import data_url
from tacit.harness.drivers.io.child import Child
from tacit.harness.drivers.io.json_rpc import RpcPeer
from tacit.harness.drivers.io.missing import needs
from tacit.harness.drivers.io.one_process import places, scratch
from tacit.harness.drivers.io.placing import handed
from tacit.harness.drivers.port import Insert, NotPermitted, ToolEnded, Traits, TurnOutcome
from tacit.harness.drivers.reading import Message, part, text
from tacit.harness.drivers.schema import is_strict

if TYPE_CHECKING:
    from tacit.harness.drivers.io.placing import FilePlace, Handed
    from tacit.harness.drivers.io.turns import LiveTurn
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions, TurnFile

_TRAITS: Final = Traits("codex", steers=True, inserts=True, boundaries=True, resumes=True)


class Codex:
    """The backend: one app-server process, one thread in it."""

    def __init__(self, options: DriverOptions) -> None:
        self._options = options
        self._peer: RpcPeer | None = None
        self._thread = ""
        self._turn = ""
        self._counted = codex.usage({})
        self._offered: dict[str, list[Message]] = {}
        self._place: FilePlace | None = None
        self._unheard = False
        self._steering = asyncio.Lock()
        self._live: LiveTurn | None = None
        self._edits: dict[str, Message] = {}

    @property
    def traits(self) -> Traits:
        """What it can do."""
        return _TRAITS

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._peer is not None and self._peer.child.alive

    async def last_words(self) -> str:
        """What the process said last to nobody."""
        return await self._peer.child.last_words() if self._peer is not None else ""

    @property
    def session_id(self) -> str | None:
        """The thread's id."""
        return self._thread or None

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Start the process, open or resume the thread, and wait for the tools."""
        options = self._options
        home, directory = places(options, standing)
        program = options.command or (_binary(),)
        child = await Child.start(
            [*program, *self._arguments(program[0])],
            environment=self._environment(home),
            directory=directory,
            state=Path(options.state),
            # A sandbox that was being set up when Codex ended waits for its parent for ever.
            strays=(program[0], "codex-linux-sandbox", _real(directory)),
            secrets=(options.key,),
        )
        self._peer = RpcPeer(child, self._answer, self._remember)
        self._counted = codex.usage({})  # a thread that begins counts from nothing
        try:
            async with asyncio.timeout(options.start_limit):
                await self._open_thread(self._peer, standing, directory, session_id)
        except TimeoutError as error:
            raise Unavailable("Codex was not ready in time") from error
        except PeerFault as error:
            raise Unavailable("Codex refused to open a session") from error

    def _arguments(self, binary: str) -> list[str]:
        options = self._options
        lines = codex.settings(
            model=options.model,
            base_url=options.base_url,
            retries=options.model_retries,
            access=options.access,
            binary=str(Path(binary).resolve().parent),
            use_my_config=options.use_my_config,
            forgets=options.forgets,
        )
        return [part for line in lines for part in ("-c", line)] + ["app-server", "--listen", "stdio://"]

    def _environment(self, home: Path) -> dict[str, str]:
        options = self._options
        settings = {codex.KEY: options.key or "none", **scratch(options)}
        if not options.use_my_config:
            settings["CODEX_HOME"] = str(home)
        return agent_environment(
            os.environ, home=str(home), use_my_config=options.use_my_config, settings=settings
        )

    async def _open_thread(
        self, peer: RpcPeer, standing: StandingInstructions, directory: str, session_id: str | None
    ) -> None:
        client = {"name": "tacit", "title": "Tacit", "version": "1"}
        await peer.request("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        await peer.notify("initialized")
        params = codex.opening(
            standing,
            directory=directory,
            access=self._options.access,
            use_my_config=self._options.use_my_config,
            forgets=self._options.forgets,
            unwanted=_own_servers(self._options),
        )
        result = await self._resumed(peer, params, session_id)
        if result is None:
            result = await peer.request("thread/start", params)
        else:
            await peer.request("thread/inject_items", codex.reminder(session_id or "", standing.rules))
        self._thread = text(part(result, "thread"), "id")
        waiting = {server.name for server in standing.tools}
        while waiting:
            notice = await peer.notice()
            if notice.method == "mcpServer/startupStatus/updated":
                _ready_tool(part(notice.params), waiting)

    async def _resumed(self, peer: RpcPeer, params: Message, session_id: str | None) -> Message | None:
        if session_id is None:
            return None
        try:
            return await peer.request("thread/resume", {"threadId": session_id, **params})
        except PeerFault:
            return None  # no longer there: a new thread begins

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Run a turn in the thread, and another for text that came too late for the first."""
        self._offered, self._live = {}, live
        try:
            with handed(live.request, self._options, pictures=True) as place:
                self._place = place
                return await self._perform(live, _input(place.given))
        finally:
            self._live = self._place = None
            self._edits.clear()

    async def _perform(self, live: LiveTurn, words: list[Message]) -> TurnOutcome:
        while True:
            outcome = await self._ask(live, words)
            async with self._steering:  # whoever is offering text right now has its answer first
                missed, self._offered = list(self._offered.values()), {}
            if outcome.failure is not None or live.shut or not (missed or self._unheard):
                return outcome
            words = [part for said in missed for part in said]

    async def _ask(self, live: LiveTurn, words: list[Message]) -> TurnOutcome:
        """One turn of Codex's. Without words it goes on from what stands in the thread."""
        peer = self._peer
        if peer is None:
            raise Unavailable("Codex is not running")
        self._unheard = False
        wanted: Message = {"threadId": self._thread, "input": words}
        if (schema := live.request.schema) is not None and is_strict(schema):  # it asks for no other form
            wanted["outputSchema"] = dict(schema)
        try:
            started = await peer.request("turn/start", wanted)
        except PeerFault:
            return live.outcome(session_id=self.session_id, failure=retryable("agent_error"))
        self._turn = text(part(started, "turn"), "id")
        try:
            return await self._follow(peer, live)
        finally:
            self._turn = ""

    async def _follow(self, peer: RpcPeer, live: LiveTurn) -> TurnOutcome:
        said: list[Message] = []
        while True:
            notice = await peer.notice()
            method, params = notice.method, part(notice.params)
            if (text(params, "turnId") or text(part(params, "turn"), "id")) != self._turn:
                continue
            item = part(params, "item")
            if method == "turn/completed":
                return self._completed(live, part(params, "turn"), said)
            if method == "thread/tokenUsage/updated":
                self._count(live, part(params, "tokenUsage"))
            elif method == "item/completed" and text(item, "type") == "agentMessage":
                said.append(item)
            elif method == "item/completed" and text(item, "type") == "userMessage":
                self._unheard = self._offered.pop(text(item, "clientId"), None) is not None
            elif method == "item/started" and text(item, "type") != "userMessage":
                self._unheard = False
            await self._tell(live, method, params)

    def _remember(self, method: str, params: Message) -> None:
        """Keep what an edit is about until it is asked for: the question names it by its id alone."""
        item = part(params, "item")
        if method == "item/started" and text(item, "type") == "fileChange":
            self._edits[text(item, "id")] = item

    async def _answer(self, method: str, params: Message) -> Message | None:
        """What Codex asks a person is asked of the room; the reason of a no is told to the model."""
        wanted = codex.asks(method, params, self._edits.get(text(params, "itemId"), {}))
        live = self._live
        if wanted is None or live is None:
            return codex.decision(method, params, NotPermitted("nobody is asked this"))
        answer = await live.permission(wanted)
        if isinstance(answer, NotPermitted) and not live.shut:
            await self._offer(codex.user_input(codex.refusal_note(wanted, answer.reason)))
        return codex.decision(method, params, answer)

    async def _tell(self, live: LiveTurn, method: str, params: Message) -> None:
        if (activity := codex.activity(method, params)) is not None:
            await live.did(activity)
        event = codex.event(method, params)
        if isinstance(event, ToolEnded):
            order = await live.boundary(event)
            if isinstance(order, Insert):
                await self._offer(self._handed(order.text, order.files))
        elif event is not None:
            await live.saw(event)

    def _count(self, live: LiveTurn, counts: Message) -> None:
        total = codex.usage(part(counts, "total"))
        if total != self._counted:  # Codex repeats its count after a call that failed
            live.usage += codex.usage(part(counts, "last"))
            self._counted = total

    def _completed(self, live: LiveTurn, turn: Message, said: list[Message]) -> TurnOutcome:
        if turn.get("status") == "completed":
            return live.outcome(text=codex.final_text(said), session_id=self.session_id)
        failed = turn.get("status") == "failed"
        failure = codex.failure(part(turn, "error")) if failed else cancelled()
        return live.outcome(session_id=self.session_id, failure=failure)

    def _handed(self, words: str, files: tuple[TurnFile, ...]) -> list[Message]:
        """More words of the running turn, with their files."""
        place = self._place
        return _input(place.hand_more(words, files)) if place is not None else codex.user_input(words)

    async def steer(self, live: LiveTurn, text: str, files: tuple[TurnFile, ...] = ()) -> bool:
        """Merge text into the running turn."""
        async with self._steering:
            if not self._turn or live.shut:
                return False
            name = await self._offer(self._handed(text, files))
            if name is None:
                return True
            del self._offered[name]
            return False  # it was just ending

    async def _offer(self, words: list[Message]) -> str | None:
        """Offer words to the turn. None when Codex took it, else the name under which it still waits here.

        Text that comes at the very end may be taken, or even be written into the thread, without the model
        being asked again. So it is kept until it is an item of the turn and the model has done something
        since; else another turn follows.
        """
        name = uuid.uuid4().hex
        self._offered[name] = words
        params = {
            "threadId": self._thread,
            "expectedTurnId": self._turn,
            "input": words,
            "clientUserMessageId": name,
        }
        try:
            if self._peer is None:
                return name
            await self._peer.request("turn/steer", params)
        except PeerFault:
            return name
        return None

    async def interrupt(self, live: LiveTurn) -> None:
        """Ask for the turn's end."""
        del live
        if self._peer is not None and self._turn:
            try:
                await self._peer.request("turn/interrupt", {"threadId": self._thread, "turnId": self._turn})
            except PeerFault:
                return  # it ended by itself

    async def kill(self, *, politely: bool = True) -> None:
        """End the process and the tools it started."""
        peer, self._peer = self._peer, None
        if peer is not None:
            await peer.close(politely=politely)


def _input(given: Handed) -> list[Message]:
    return [*codex.user_input(given.prompt), *(codex.picture(data_url(file)) for file in given.pictures)]


def _real(directory: str) -> str:
    return str(Path(directory).resolve())


def _own_servers(options: DriverOptions) -> list[str]:
    """The person's own tool servers, where a turn is to have none: Codex itself can only leave out each."""
    if not (options.forgets and options.use_my_config):
        return []
    home = os.environ.get("CODEX_HOME") or Path.home() / ".codex"
    try:
        return codex.own_servers((Path(home) / "config.toml").read_text("utf-8", "replace"))
    except OSError:
        return []


def _ready_tool(params: Message, waiting: set[str]) -> None:
    if params.get("status") in {"failed", "cancelled"} and params.get("name") in waiting:
        raise Unavailable("the chat tools did not start inside Codex")
    if params.get("status") == "ready":
        waiting.discard(str(params.get("name")))


def _binary() -> str:
    try:
        from codex_cli_bin import bundled_codex_path
    except ImportError as error:
        raise needs("codex") from error
    return str(bundled_codex_path())
