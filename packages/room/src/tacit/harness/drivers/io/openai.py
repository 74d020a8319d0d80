"""The `openai` driver: any endpoint that speaks Chat Completions, with a tool loop of our own.

There is no agent behind it but the model: this driver calls the chat tools itself and remembers the session
in a file of its own. So boundaries are exact here: the watch is asked after each tool, before the model
hears of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers import chat
from tacit.harness.drivers.failures import cancelled, from_status, permanent, retryable
from tacit.harness.drivers.files import data_url
from tacit.harness.drivers.io.placing import handed
from tacit.harness.drivers.io.tool_box import ToolBox
from tacit.harness.drivers.io.turns import NoSteering
from tacit.harness.drivers.port import (
    Failure,
    FailureKind,
    Insert,
    Stop,
    TextDelta,
    ToolEnded,
    ToolStarted,
    Traits,
    TurnOutcome,
)
from tacit.harness.drivers.reading import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.harness.drivers.io.placing import FilePlace, Handed
    from tacit.harness.drivers.io.turns import LiveTurn
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions

log: Final = logging.getLogger("tacit.harness")
_TRAITS: Final = Traits("openai", steers=False, inserts=True, boundaries=True, resumes=True)
_ROUNDS: Final = 50
_LONGEST_WAIT: Final = 8.0
_ERROR_BYTES: Final = 16_384
_LINE: Final = 2**20
"""Bytes read ahead: an endpoint may stream a long answer in a single line."""


class OpenAi(NoSteering):
    """The backend: a client of the model's endpoint and of the chat tools."""

    def __init__(self, options: DriverOptions) -> None:
        if not options.model:
            raise Refused("driver_unusable", "the openai driver needs a model: --model NAME")
        self._options = options
        self._base = (options.base_url or "https://api.openai.com/v1").rstrip("/")
        self._http: aiohttp.ClientSession | None = None
        self._tools: ToolBox | None = None
        self._session: str | None = None
        self._earlier: list[chat.ChatTurn] = []
        self._rules = ""
        self._takes_schema = True
        """Until the endpoint refuses a request for what it asks of the answer's form."""
        self._asking: asyncio.Task[chat.ModelAnswer | Failure] | None = None

    @property
    def traits(self) -> Traits:
        """What it can do."""
        return _TRAITS

    @property
    def alive(self) -> bool:
        """Whether it is open and its tools are within reach."""
        return self._http is not None and self._tools is not None and not self._tools.broken

    @property
    def session_id(self) -> str | None:
        """Our own name for the session."""
        return self._session

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Connect to the tools and recall the session."""
        state = Path(self._options.state)
        (state / "sessions").mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            async with asyncio.timeout(self._options.start_limit):
                self._tools = await ToolBox.opened(
                    standing.tools, extra="openai", stderr=state / "stderr.log"
                )
        except TimeoutError as error:
            raise Unavailable("the chat tools were not ready in time") from error
        self._http = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None), trust_env=True, read_bufsize=_LINE
        )
        self._rules = standing.rules
        self._recall(session_id)

    def _recall(self, session_id: str | None) -> None:
        self._session, self._earlier = uuid.uuid4().hex, []
        if session_id is not None and session_id.isalnum():
            try:
                data = self._file(session_id).read_bytes()
                self._earlier = msgspec.json.decode(data, type=list[list[Message]])
            except (OSError, msgspec.DecodeError, RecursionError):
                return  # no longer there: a new one begins
            self._session = session_id

    def _file(self, session_id: str) -> Path:
        return Path(self._options.state) / "sessions" / f"{session_id}.json"

    def _remember(self, turn: chat.ChatTurn) -> None:
        if not turn or self._session is None or self._options.forgets:
            return
        self._earlier = chat.remembered([*self._earlier, chat.without_pictures(turn)])
        file = self._file(self._session)
        fresh = file.with_suffix(".new")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.write(msgspec.json.encode(self._earlier))
            fresh.replace(file)
        except OSError as error:  # the answer is worth more than what a next process would remember
            log.warning("the session could not be kept", extra={"reason": error.strerror})

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Ask the model, call what it asks for, and again, until it has said its last word."""
        with handed(live.request, self._options, pictures=True, on_disk=False) as place:
            return await self._perform(live, place)

    async def _perform(self, live: LiveTurn, place: FilePlace) -> TurnOutcome:
        turn: chat.ChatTurn = [_said(place.given)]
        for _ in range(_ROUNDS):
            answer = await self._ask(live, turn)
            if isinstance(answer, Failure):
                self._remember(chat.done_so_far(turn))
                return live.outcome(session_id=self._session, failure=answer)
            turn.append(answer.message())
            if not answer.calls:
                self._remember(turn)
                return live.outcome(text=answer.last_word, session_id=self._session)
            if not live.shut:  # else its allowance is used up: no tool is called for it any more
                await self._use_tools(live, answer.calls, turn, place)
            if live.shut:
                self._remember(chat.done_so_far(turn))
                return live.outcome(session_id=self._session, failure=cancelled())
        self._remember(chat.done_so_far(turn))
        stuck = permanent("agent_error", hint=f"the model called tools {_ROUNDS} times without an answer")
        return live.outcome(session_id=self._session, failure=stuck)

    async def _use_tools(
        self, live: LiveTurn, calls: list[chat.ModelToolCall], turn: chat.ChatTurn, place: FilePlace
    ) -> None:
        tools = self._tools
        if tools is None:
            raise Unavailable("the chat tools are closed")
        inserted: list[Message] = []
        for call in calls:
            name = tools.name(call.name)
            await live.saw(ToolStarted(call.call_id, name))
            said, ok = await tools.call(call.name, call.parsed())
            turn.append({"role": "tool", "tool_call_id": call.call_id, "content": said})
            order = await live.boundary(ToolEnded(call.call_id, name, ok))
            if isinstance(order, Stop):
                return
            if isinstance(order, Insert):
                inserted.append(_said(place.hand_more(order.text, order.files)))
        turn += inserted

    async def _ask(self, live: LiveTurn, turn: chat.ChatTurn) -> chat.ModelAnswer | Failure:
        """One model call with its repeats, which `interrupt` can end at any moment."""
        self._asking = asking = asyncio.create_task(self._with_retries(live, turn))
        try:
            await asyncio.wait({asking})
            return cancelled() if asking.cancelled() else asking.result()
        finally:
            asking.cancel()
            self._asking = None

    async def _with_retries(self, live: LiveTurn, turn: chat.ChatTurn) -> chat.ModelAnswer | Failure:
        tried = 0
        while True:
            answer = await self._once(live, turn)
            if not isinstance(answer, Failure):
                return answer
            wait = answer.retry_after if answer.retry_after is not None else 0.5 * 2**tried
            final = answer.kind is not FailureKind.RETRYABLE or tried >= self._options.model_retries
            if final or wait > _LONGEST_WAIT:
                return answer
            tried += 1
            await asyncio.sleep(wait)

    async def _once(self, live: LiveTurn, turn: chat.ChatTurn) -> chat.ModelAnswer | Failure:
        """One model call, and at once another without the answer's form where the endpoint takes none."""
        schema = live.request.schema if self._takes_schema else None
        answer = await self._call(live, turn, schema)
        if schema is None or not isinstance(answer, Failure) or answer.code != "model_refused":
            return answer
        plain = await self._call(live, turn, None)
        self._takes_schema = isinstance(plain, Failure)
        return plain

    async def _call(
        self, live: LiveTurn, turn: chat.ChatTurn, schema: Mapping[str, Any] | None
    ) -> chat.ModelAnswer | Failure:
        if self._http is None or self._tools is None:
            raise Unavailable("the driver is closed")
        body = chat.request(
            model=self._options.model,
            rules=self._rules,
            earlier=self._earlier,
            current=turn,
            tools=self._tools.definitions,
            schema=schema,
        )
        headers = {"Content-Type": "application/json"}
        if self._options.key:
            headers["Authorization"] = f"Bearer {self._options.key}"
        address = f"{self._base}/chat/completions"
        try:
            async with self._http.post(address, data=msgspec.json.encode(body), headers=headers) as response:
                if response.status != 200:
                    if chat.is_too_long(response.status, await response.content.read(_ERROR_BYTES)):
                        return permanent("context_full")
                    return from_status(
                        response.status, retry_after=_seconds(response.headers.get("Retry-After"))
                    )
                answer = await self._gather(response, live)
        except (aiohttp.ClientError, OSError):
            return retryable("model_unavailable")
        except (ValueError, RecursionError):
            return retryable("rubbish")
        live.usage += answer.usage
        return _judged(answer)

    async def _gather(self, response: aiohttp.ClientResponse, live: LiveTurn) -> chat.ModelAnswer:
        answer = chat.ModelAnswer()
        if response.content_type == "application/json":
            answer.take(msgspec.json.decode(await response.read(), type=dict[str, object]))
            return answer
        async for line in response.content:
            data = line.strip().removeprefix(b"data:").strip()
            if not line.startswith(b"data:") or data == b"[DONE]":
                continue
            piece = answer.take(msgspec.json.decode(data, type=dict[str, object]))
            if piece:
                await live.saw(TextDelta(piece))
        return answer

    async def interrupt(self, live: LiveTurn) -> None:
        """Hang up on the model. A tool that runs is let finish; its boundary then ends the turn."""
        del live
        if self._asking is not None:
            self._asking.cancel()

    async def kill(self, *, politely: bool = True) -> None:
        """Let go of the tools and the line."""
        del politely
        http, tools = self._http, self._tools
        self._http = self._tools = None
        if http is not None:
            await http.close()
        if tools is not None:
            await tools.close()


def _said(given: Handed) -> Message:
    return chat.user_message(given.prompt, [data_url(file) for file in given.pictures])


def _judged(answer: chat.ModelAnswer) -> chat.ModelAnswer | Failure:
    if answer.error is not None:
        code = answer.error.get("code")
        return from_status(code if isinstance(code, int) else None)
    return answer if answer.stopped else retryable("rubbish")


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isdigit() else None
