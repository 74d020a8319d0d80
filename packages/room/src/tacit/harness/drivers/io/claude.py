"""The `claude` driver: Claude Code's own program, through its official Python package.

The package speaks the program's control language: hooks, interruption, results. The process is ours, so
that its environment, its group and its end are (`CliTransport`). Hooks hold the agent at every tool boundary
until the watch has answered. Text for a boundary halts the turn there and continues the same session with a
user message.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base.errors import Unavailable
from tacit.harness.drivers import claude
from tacit.harness.drivers.environment import agent_environment
from tacit.harness.drivers.failures import cancelled
from tacit.harness.drivers.io.child import Child
from tacit.harness.drivers.io.missing import needs
from tacit.harness.drivers.io.one_process import OneProcess, places, scratch
from tacit.harness.drivers.io.placing import handed
from tacit.harness.drivers.io.turns import CALLED_OFF
from tacit.harness.drivers.port import (
    Insert,
    NotPermitted,
    ObservedActivity,
    Proceed,
    TextDelta,
    ToolEnded,
    ToolStarted,
    Traits,
    TurnOutcome,
)
from tacit.harness.drivers.reading import Message, part, text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from claude_agent_sdk import AssistantMessage, ClaudeSDKClient, ResultMessage

    from tacit.harness.drivers.io.placing import FilePlace, Handed
    from tacit.harness.drivers.io.turns import LiveTurn
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions

_TRAITS: Final = Traits("claude", steers=False, inserts=True, boundaries=True, resumes=True)
_LOOK_AGAIN: Final = 0.05


class Claude(OneProcess):
    """The backend: one Claude Code process, one session in it."""

    def __init__(self, options: DriverOptions) -> None:
        super().__init__(options, _TRAITS)
        self._client: ClaudeSDKClient | None = None
        self._messages: AsyncIterator[Any] | None = None
        self._spent = 0.0
        self._live: LiveTurn | None = None
        self._insert: list[Handed] = []
        self._place: FilePlace | None = None
        self._word: str | None = None
        self._halted = False
        self._directory = ""

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Start the process, connect to it, and wait for the tools."""
        try:
            async with asyncio.timeout(self._options.start_limit):
                try:
                    await self._connect(standing, session_id)
                except Unavailable:
                    if session_id is None:
                        raise
                    await self.kill()  # the session is no longer there: a new one begins
                    await self._connect(standing, None)
        except TimeoutError as error:
            raise Unavailable("Claude Code was not ready in time") from error

    async def _connect(self, standing: StandingInstructions, session_id: str | None) -> None:
        try:
            from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher
        except ImportError as error:
            raise needs("claude") from error
        self._child = child = await self._start(standing, session_id)
        watch = [HookMatcher(hooks=[self._hook])]
        hooks = {"PreToolUse": watch, "PostToolUse": watch, "PostToolUseFailure": watch}
        fresh: Any = {"type": "preset", "preset": "claude_code", "snapshot": False}  # rules may change
        options = ClaudeAgentOptions(
            can_use_tool=self._may,
            hooks=hooks,  # pyright: ignore[reportArgumentType]
            system_prompt=fresh,
            verbatim_prompts=True,  # or an `@/path` in somebody's chat would put that file before the model
        )
        self._client = client = ClaudeSDKClient(options, transport=_transport(child))
        self._session, self._spent = session_id, self._recall_spent(session_id)
        with _faults("Claude Code did not start"):
            await client.connect()
            self._messages = client.receive_messages()
            await self._tools_ready(client, {server.name for server in standing.tools})

    async def _start(self, standing: StandingInstructions, session_id: str | None) -> Child:
        options = self._options
        state = Path(options.state)
        home, directory = places(options, standing)
        self._directory = directory
        tools, key = state / "tools.json", state / "key"
        _write_private(tools, msgspec.json.encode(claude.tools_file(standing)))
        _write_private(key, options.key.encode())
        rules = ""
        if options.forgets:
            rules = str(state / "rules")
            _write_private(state / "rules", standing.rules.encode())
        line = claude.arguments(
            standing,
            model=options.model,
            access=options.access,
            session_id=session_id,
            tools_file=str(tools),
            key_file=str(key) if options.key and not options.use_my_config else "",
            use_my_config=options.use_my_config,
            rules_file=rules,
        )
        settings = claude.settings(
            base_url=options.base_url,
            retries=options.model_retries,
            config=str(home / ".claude"),
            use_my_config=options.use_my_config,
        )
        settings |= scratch(options)
        return await Child.start(
            [*(options.command or (_binary(),)), *line],
            environment=agent_environment(
                os.environ, home=str(home), use_my_config=options.use_my_config, settings=settings
            ),
            directory=directory,
            state=state,
            secrets=(options.key,),
        )

    async def _tools_ready(self, client: ClaudeSDKClient, names: set[str]) -> None:
        while names:
            status = await client.get_mcp_status()
            states = {server["name"]: server["status"] for server in status["mcpServers"]}
            if any(states.get(name) not in {"pending", "connected"} for name in names):
                raise Unavailable("the chat tools did not start inside Claude Code")
            if all(states[name] == "connected" for name in names):
                return
            await asyncio.sleep(_LOOK_AGAIN)

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Run a turn, continued after every text that was put in at a boundary."""
        self._live, self._insert = live, []
        try:
            with handed(live.request, self._options, pictures=True) as place:
                self._place = place
                said = claude.user_message(place.given.prompt, place.given.pictures)
                while True:
                    outcome = await self._ask(live, said)
                    if not self._insert or outcome.failure is not None or live.shut:
                        return outcome
                    inserted, self._insert = self._insert, []
                    said = claude.user_message(
                        "\n\n".join(one.prompt for one in inserted),
                        [file for one in inserted for file in one.pictures],
                    )
        finally:
            self._live = self._place = None

    async def _ask(self, live: LiveTurn, said: Message) -> TurnOutcome:
        from claude_agent_sdk import AssistantMessage, ResultMessage, StreamEvent

        client, messages = self._client, self._messages
        if client is None or messages is None:
            raise Unavailable("Claude Code is not running")
        self._word, self._halted = None, False
        with _faults("Claude Code's process ended"):
            await client.query(_one(said))
            async for message in messages:
                await self._know_session(live, message)
                if isinstance(message, StreamEvent):
                    if (seen := claude.seen_usage(message.event)) is not None:
                        live.saw_usage(seen)
                    if message.parent_tool_use_id is not None:
                        continue
                    delta = part(message.event, "delta")
                    if piece := text(delta, "text"):
                        await live.saw(TextDelta(piece))
                elif isinstance(message, AssistantMessage):
                    self._note(message)
                elif isinstance(message, ResultMessage) and _is_ours(message):
                    return self._result(live, message)
        raise Unavailable("Claude Code's process ended")

    async def _know_session(self, live: LiveTurn, message: object) -> None:
        """Claude names its session in what it says, not when it starts: a turn that dies is in it already."""
        named = getattr(message, "session_id", None)
        if isinstance(named, str) and named and named != self._session:
            self._session = named
            await live.in_session(named)

    def _note(self, message: AssistantMessage) -> None:
        if message.error is not None:
            self._word = message.error

    def _result(self, live: LiveTurn, result: ResultMessage) -> TurnOutcome:
        self._session = result.session_id or self._session
        live.usage += claude.usage(result.usage)
        if result.total_cost_usd is not None:  # a running total of the session
            live.cost_usd = (live.cost_usd or 0.0) + max(0.0, result.total_cost_usd - self._spent)
            self._note_spent(result.total_cost_usd)
        # What was said before a tool that may not run any more is no answer.
        if self._halted or (result.terminal_reason or "").startswith("aborted"):
            return live.outcome(session_id=self._session, failure=cancelled())
        if result.is_error:
            failure = claude.failure(self._word, result.api_error_status, result.subtype, result.result or "")
            return live.outcome(session_id=self._session, failure=failure)
        return live.outcome(text=result.result or "", session_id=self._session)

    @property
    def _spent_file(self) -> Path:
        return Path(self._options.state) / "spent.json"

    def _recall_spent(self, session_id: str | None) -> float:
        """What the session had cost when it was last seen: a resumed one goes on counting from there."""
        try:
            session, spent = msgspec.json.decode(self._spent_file.read_bytes(), type=tuple[str, float])
        except (OSError, msgspec.DecodeError):
            return 0.0
        return spent if session == session_id else 0.0

    def _note_spent(self, total: float) -> None:
        self._spent = total
        _write_private(self._spent_file, msgspec.json.encode((self._session or "", total)))

    async def _hook(self, event: Any, tool_use_id: str | None, context: Any) -> Any:
        """A tool is about to run, or has run. Claude waits for what is returned."""
        del context
        live, call_id = self._live, tool_use_id or ""
        called = text(event, "tool_name")
        name = claude.tool_name(called)
        if live is None or live.shut:
            self._halted = True
            return {"continue_": False, "stopReason": claude.HALTED}
        if event["hook_event_name"] == "PreToolUse":
            await live.did(claude.began(called, part(event, "tool_input"), call_id))
            await live.saw(ToolStarted(call_id, name))
            return {}
        ok = event["hook_event_name"] == "PostToolUse"
        if (shown := claude.finished(called, event.get("tool_response"), call_id, ok=ok)) is not None:
            await live.did(shown)
        ended = ToolEnded(call_id, name, ok=ok)
        if text(event, "agent_id"):  # inside a helper of the agent's own, which has no ear for the room
            await live.saw(ended)
            return {}
        order = await live.boundary(ended)
        if isinstance(order, Insert) and self._place is not None:
            self._insert.append(self._place.hand_more(order.text, order.files))
        return {} if isinstance(order, Proceed) else {"continue_": False, "stopReason": claude.HALTED}

    async def _may(self, name: str, given: dict[str, Any], context: Any) -> Any:
        """Claude asks whether it may use a tool. The reason of a no is what the model reads."""
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        live, call_id = self._live, context.tool_use_id or ""
        if live is None or live.shut:
            return PermissionResultDeny(message=CALLED_OFF, interrupt=True)
        reason = context.decision_reason or ""
        wanted = claude.asks(name, given, directory=self._directory, reason=reason, call_id=call_id)
        answer = await live.permission(wanted)
        if isinstance(answer, NotPermitted):
            await live.did(ObservedActivity(call_id, "tool", "refused"))
            await live.saw(ToolEnded(call_id, claude.tool_name(name), ok=False))
            return PermissionResultDeny(message=f"not allowed: {answer.reason}", interrupt=live.shut)
        return PermissionResultAllow(updated_input=given)

    async def interrupt(self, live: LiveTurn) -> None:
        """Ask for the turn's end."""
        del live
        if self._client is not None:
            with _faults("Claude Code does not listen"):
                await self._client.interrupt()

    async def kill(self, *, politely: bool = True) -> None:
        """End the process and the tools it started."""
        client, child = self._client, self._child
        self._client = self._child = self._messages = None
        if child is not None:
            await child.end(politely=politely)
            for secret in ("tools.json", "key"):
                (Path(self._options.state) / secret).unlink(missing_ok=True)
        if client is not None:
            await client.disconnect()


async def _one(message: Message) -> AsyncIterator[Message]:
    yield message


def _is_ours(result: ResultMessage) -> bool:
    """Whether this ends what we asked for, and not a task that the agent had left running."""
    return part(result.origin).get("kind", "human") == "human"


@contextmanager
def _faults(what: str) -> Generator[None]:
    """The package's errors as `Unavailable`. Some of them are bare exceptions."""
    from claude_agent_sdk import ClaudeSDKError

    try:
        yield
    except (ClaudeSDKError, OSError) as error:
        raise Unavailable(what) from error
    except Exception as error:
        if type(error) is Exception:
            raise Unavailable(what) from error
        raise


def _write_private(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)


def _binary() -> str:
    import claude_agent_sdk

    found = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    if not found.exists():
        raise needs("claude")
    return str(found)


def _transport(child: Child) -> Any:
    """The package's own idea of a transport to the program, over our process."""
    from claude_agent_sdk import ProcessError, Transport

    class CliTransport(Transport):
        async def connect(self) -> None:
            return

        async def write(self, data: str) -> None:
            await child.send(data.encode())

        async def read_messages(self) -> AsyncIterator[Message]:
            while line := await child.line():
                with suppress(msgspec.DecodeError):
                    yield msgspec.json.decode(line, type=dict[str, Any])
            if not child.ending:
                raise ProcessError("the process ended", exit_code=child.exit_code)

        async def close(self) -> None:
            await child.end()

        def is_ready(self) -> bool:
            return child.alive

        async def end_input(self) -> None:
            child.stdin.close()

    return CliTransport()
