"""The `acp` driver: any agent that speaks the Agent Client Protocol over stdio, by the official package.

The protocol has no place for system text: the standing rules go before the first prompt of every opened
session, as a block of their own in the user role. It takes no text into a running turn, and a second prompt
must wait: the driver port sees to that. Boundaries are seen, but the agent does not wait at them. The agent's
own requests for permission are answered by the access a person granted, and beyond it by the room; calls to
the chat tools are always allowed. The protocol's no has no words: the reason travels in `_meta`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from base64 import b64encode
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers import acp as reading
from tacit.harness.drivers.environment import agent_environment
from tacit.harness.drivers.failures import cancelled, permanent
from tacit.harness.drivers.io.child import Child, bounded
from tacit.harness.drivers.io.missing import needs
from tacit.harness.drivers.io.one_process import OneProcess, places, scratch
from tacit.harness.drivers.io.placing import handed
from tacit.harness.drivers.port import (
    NotPermitted,
    PermissionAnswer,
    Permitted,
    TextDelta,
    TokenUsage,
    ToolAddress,
    ToolEnded,
    Traits,
    TurnOutcome,
)
from tacit.harness.drivers.reading import counted

if TYPE_CHECKING:
    from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse

    from tacit.harness.drivers.io.placing import Handed
    from tacit.harness.drivers.io.turns import LiveTurn
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions, ToolServer

_TRAITS: Final = Traits("acp", steers=False, inserts=False, boundaries=True, resumes=True)


class _Discreet(logging.Filter):
    """The package logs errors to the root logger with what the agent said in them: only names pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record through without its content."""
        if Path(record.pathname).parent.name == "acp" and record.exc_info and record.exc_info[0] is not None:
            record.msg, record.args = f"{record.getMessage()} ({record.exc_info[0].__name__})", ()
            record.exc_info = record.exc_text = None
        return True


_DISCREET: Final = _Discreet()


class AcpConnection(Protocol):
    """The part of the package's connection that we use; its own types are lost behind decorators."""

    async def initialize(self, **params: Any) -> InitializeResponse:
        """Greet."""
        ...

    async def new_session(self, **params: Any) -> NewSessionResponse:
        """Open a session."""
        ...

    async def load_session(self, **params: Any) -> object:
        """Open an earlier session."""
        ...

    async def prompt(self, **params: Any) -> PromptResponse:
        """Run a turn."""
        ...

    async def cancel(self, **params: Any) -> None:
        """End a turn."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...


class Acp(OneProcess):
    """The backend: one agent process, one session in it."""

    def __init__(self, options: DriverOptions) -> None:
        if not options.command:
            raise Refused("driver_unusable", "the acp driver needs an agent's command after `--`")
        super().__init__(options, _TRAITS)
        self._connection: AcpConnection | None = None
        self._rules: str | None = None
        self._telling: Telling | None = None
        self._sees = False
        """Does the agent take pictures in a prompt?"""

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Start the agent and open or load a session."""
        try:
            from acp import RequestError, connect_to_agent
        except ImportError as error:
            raise needs("acp") from error
        logging.getLogger().addFilter(_DISCREET)
        options = self._options
        home, directory = places(options, standing)
        self._child = child = await Child.start(
            options.command,
            environment=agent_environment(
                os.environ,
                home=str(home),
                use_my_config=options.use_my_config,
                settings=scratch(options),
            ),
            directory=directory,
            state=Path(options.state),
            secrets=(options.key,),
        )
        self._telling = Telling(options, {server.name for server in standing.tools}, directory)
        made: Any = connect_to_agent(cast("Any", self._telling), child.stdin, child.stdout)
        self._connection = connection = cast("AcpConnection", made)
        self._rules = standing.rules
        try:
            async with asyncio.timeout(options.start_limit):
                self._session, self._sees = await _session(connection, standing, directory, session_id)
        except TimeoutError as error:
            raise Unavailable("the agent was not ready in time") from error
        except RequestError as error:
            if error.code == reading.SIGN_IN:
                raise Refused("driver_unusable", reading.SIGN_IN_HINT) from error
            raise Unavailable("the agent did not open a session") from error
        except (ConnectionError, ValueError) as error:
            raise Unavailable("the agent did not open a session") from error

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Send the prompt and wait for the end of the turn."""
        with handed(live.request, self._options, pictures=self._sees) as place:
            return await self._perform(live, place.given)

    async def _perform(self, live: LiveTurn, given: Handed) -> TurnOutcome:
        from acp import RequestError, image_block, text_block

        connection, telling, session = self._connection, self._telling, self._session
        if connection is None or telling is None or session is None:
            raise Unavailable("the agent is not running")
        blocks: list[Any] = [text_block(part) for part in (self._rules, given.prompt) if part]
        blocks += [
            image_block(b64encode(file.data).decode(), mime_type=file.mime_type) for file in given.pictures
        ]
        telling.begin(live)
        try:
            result = await connection.prompt(session_id=session, prompt=list(blocks))
            self._rules = None
            said = await telling.finish()
        except RequestError as error:
            failure = replace(reading.failure(error.code), cause=await self._cause(error))
            return live.outcome(session_id=session, failure=failure)
        except (ConnectionError, ValueError) as error:
            raise Unavailable("the agent's process ended") from error
        finally:
            await telling.stop()
        return _outcome(live, result, said, session)

    async def _cause(self, error: Exception) -> str:
        """Why, for the owner: what the agent wrote to stderr, else what its answer said."""
        return await self.last_words() or bounded(str(error), (self._options.key,))

    async def interrupt(self, live: LiveTurn) -> None:
        """Ask for the turn's end."""
        del live
        if self._connection is not None and self._session is not None:
            with suppress(ConnectionError):
                await self._connection.cancel(session_id=self._session)

    async def kill(self, *, politely: bool = True) -> None:
        """End the agent and what it started."""
        child, connection = self._child, self._connection
        self._child = self._connection = None
        if child is not None:
            await child.end(politely=politely)
        if connection is not None:
            with suppress(OSError):  # the package may still have had something to say
                await connection.close()


async def _session(
    connection: AcpConnection, standing: StandingInstructions, directory: str, session_id: str | None
) -> tuple[str, bool]:
    """The session's id, and whether the agent takes pictures."""
    from acp import PROTOCOL_VERSION, RequestError
    from acp.schema import ClientCapabilities, Implementation

    hello = await connection.initialize(
        protocol_version=PROTOCOL_VERSION,
        client_capabilities=ClientCapabilities(),
        client_info=Implementation(name="tacit", version="1"),
    )
    servers: list[Any] = [_server(server) for server in standing.tools]
    abilities = hello.agent_capabilities
    prompts = abilities.prompt_capabilities if abilities is not None else None
    sees = prompts is not None and bool(prompts.image)
    if session_id is not None and abilities is not None and abilities.load_session:
        try:
            await connection.load_session(cwd=directory, session_id=session_id, mcp_servers=servers)
        except RequestError:
            pass  # no longer there: a new one begins
        else:
            return session_id, sees
    return (await connection.new_session(cwd=directory, mcp_servers=servers)).session_id, sees


def _server(server: ToolServer) -> Any:
    from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio

    if isinstance(server, ToolAddress):
        headers = [HttpHeader(name="Authorization", value=f"Bearer {server.token}")] if server.token else []
        return HttpMcpServer(type="http", name=server.name, url=server.url, headers=headers)
    program, *rest = server.command
    environment = [EnvVariable(name=name, value=value) for name, value in server.environment.items()]
    return McpServerStdio(name=server.name, command=program, args=rest, env=environment)


def _outcome(live: LiveTurn, result: PromptResponse, said: str, session: str) -> TurnOutcome:
    if (counts := result.usage) is not None:
        given = (counts.input_tokens, counts.output_tokens, counts.cached_read_tokens)
        live.usage += TokenUsage(*map(counted, given))
    match result.stop_reason:
        case "cancelled":
            return live.outcome(session_id=session, failure=cancelled())
        case "refusal":
            return live.outcome(session_id=session, failure=permanent("model_refused"))
        case "max_tokens" if not said:
            return live.outcome(session_id=session, failure=permanent("context_full"))
        case _:
            return live.outcome(text=said, session_id=session)


class Telling:
    """What the agent tells us during a turn, passed on in the order in which it came.

    The package runs each message as a task of its own; here they enter a queue at once and leave it one by
    one.
    """

    def __init__(self, options: DriverOptions, servers: set[str], directory: str) -> None:
        self._options = options
        self._directory = directory
        self._live: LiveTurn | None = None
        self._servers = servers
        self._news: asyncio.Queue[Any] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None
        self._calls: dict[str, str] = {}
        self._said: list[str] = []

    def begin(self, live: LiveTurn) -> None:
        """Listen for this turn."""
        self._news, self._said, self._calls, self._live = asyncio.Queue(), [], {}, live
        self._reader = asyncio.create_task(self._read(live))

    async def finish(self) -> str:
        """Wait until all that was told has been passed on; the text after the last tool call."""
        self._news.put_nowait(None)
        if self._reader is not None:
            await self._reader
        return "".join(self._said)

    async def stop(self) -> None:
        """Listen no more."""
        reader, self._reader, self._live = self._reader, None, None
        if reader is not None:
            reader.cancel()
            await asyncio.wait({reader})

    async def _read(self, live: LiveTurn) -> None:
        while (update := await self._news.get()) is not None:
            if (activity := reading.activity(update)) is not None:
                await live.did(activity)
            event = reading.event(update, self._calls)
            if isinstance(event, TextDelta):
                self._said.append(event.text)
            elif event is not None:
                self._said.clear()
            if isinstance(event, ToolEnded):
                await live.boundary(event)
            elif event is not None:
                await live.saw(event)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """The agent says something."""
        del session_id
        if self._reader is not None:
            self._news.put_nowait(update.model_dump(by_alias=True, exclude_none=True, mode="json"))

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        """The agent asks whether it may."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        del session_id
        call = tool_call.model_dump(by_alias=True, exclude_none=True, mode="json")
        answer = await self._answer(call)
        wanted = reading.YES if isinstance(answer, Permitted) else reading.NO
        said = (
            {"field_meta": {"tacit": {"reason": answer.reason}}} if isinstance(answer, NotPermitted) else {}
        )
        for kind in wanted:  # once comes first: how long a yes holds is kept by the harness
            for option in options:
                if option.kind == kind:
                    chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return RequestPermissionResponse(outcome=chosen, **said)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"), **said)

    async def _answer(self, call: dict[str, Any]) -> PermissionAnswer:
        if not self._options.forgets and reading.allowed(call, self._servers, self._options.access):
            return Permitted()
        if self._live is None:
            return NotPermitted("no turn runs")
        return await self._live.permission(reading.asks(call, self._directory))
