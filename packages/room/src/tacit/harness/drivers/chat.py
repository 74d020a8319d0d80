"""Chat Completions: how a request is put together, how a streamed answer is gathered, what is remembered.

Pure. The standing rules are the one system message, the prompts are user messages, and a session is the
list of turns that were finished; the oldest whole turns are forgotten when it grows beyond its measure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.harness.drivers.port import TokenUsage
from tacit.harness.drivers.reading import Message, count, part, parts, text
from tacit.harness.drivers.schema import is_strict

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]")
_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_NAME_LIMIT: Final = 64
_BAD_REQUEST: Final = 400
ANSWER: Final = "answer"
"""What the schema of an answer is called: these endpoints want a name."""
MEMORY: Final = 200_000
"""Characters of earlier turns that are sent along."""

ChatTurn = list[Message]


def wire_name(server: str, tool: str) -> str:
    """A tool's name as these endpoints take it."""
    return _NOT_IN_NAMES.sub("_", f"{server}__{tool}")[:_NAME_LIMIT]


def definition(name: str, description: str, schema: Message) -> Message:
    """A tool as it is offered to the model."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": schema},
    }


def request(
    *,
    model: str,
    rules: str,
    earlier: list[ChatTurn],
    current: ChatTurn,
    tools: list[Message],
    schema: Mapping[str, Any] | None = None,
) -> Message:
    """The body of a model call. With a schema the answer is to be one JSON object by it."""
    messages = [{"role": "system", "content": rules}] if rules else []
    messages += [message for turn in earlier for message in turn]
    body: Message = {"model": model, "messages": [*messages, *current], "stream": True}
    body["stream_options"] = {"include_usage": True}
    if schema is not None:
        shape = {"name": ANSWER, "schema": dict(schema), "strict": is_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return body | ({"tools": tools} if tools else {})


def user_message(words: str, pictures: list[str]) -> Message:
    """A message in the user role, with pictures behind its words, each by an address that holds it."""
    if not pictures:
        return {"role": "user", "content": words}
    shown = [{"type": "image_url", "image_url": {"url": address}} for address in pictures]
    return {"role": "user", "content": [{"type": "text", "text": words}, *shown]}


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A call the model asks for."""

    call_id: str
    name: str
    arguments: str

    def parsed(self) -> Message | None:
        """The arguments; None when they are not a JSON object."""
        try:
            return msgspec.json.decode(self.arguments or "{}", type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return None

    def readable(self) -> str:
        """The arguments as servers take them back: some refuse a session that holds what is no JSON."""
        return self.arguments if self.arguments and self.parsed() is not None else "{}"


@dataclass(slots=True)
class ModelAnswer:
    """A model's answer while it comes in. A refusal is an answer: what is said in it is said."""

    said: str = ""
    stopped: str = ""
    """Why the server said that it ended; empty while it has not."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    error: Message | None = None
    _calls: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def take(self, chunk: Message) -> str:
        """Add a chunk of the stream; the text in it."""
        if chunk.get("error"):
            self.error = part(chunk, "error")
        if counts := part(chunk, "usage"):
            self.usage = _usage(counts)
        piece = ""
        for choice in parts(chunk, "choices")[:1]:
            delta = part(choice, "delta") or part(choice, "message")
            piece += text(delta, "content") + text(delta, "refusal")
            for position, call in enumerate(parts(delta, "tool_calls")):
                self._call(call, position)
            self.stopped = text(choice, "finish_reason") or self.stopped
        self.said += piece
        return piece

    def _call(self, call: Message, position: int) -> None:
        number = count(call, "index") if "index" in call else position
        found = self._calls.setdefault(number, ["", "", ""])
        function = part(call, "function")
        found[0] = text(call, "id") or found[0]
        found[1] += text(function, "name")
        found[2] += text(function, "arguments")

    @property
    def last_word(self) -> str:
        """What is said aloud in the end; with a mark where the server cut it off."""
        words = spoken(self.said)
        return f"{words} {CUT_OFF}" if words and self.stopped in _CUT else words

    @property
    def calls(self) -> list[ModelToolCall]:
        """The tool calls asked for, in order."""
        ordered = (self._calls[number] for number in sorted(self._calls))
        return [
            ModelToolCall(call_id or f"call_{at}", name, words)
            for at, (call_id, name, words) in enumerate(ordered)
        ]

    def message(self) -> Message:
        """The answer as a message to remember."""
        found: Message = {"role": "assistant", "content": self.said or (None if self.calls else "")}
        if calls := self.calls:
            found["tool_calls"] = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.readable()},
                }
                for call in calls
            ]
        return found


CUT_OFF: Final = "[cut off here: the model's server ended the answer]"
_CUT: Final = frozenset({"length", "content_filter"})
_TOO_LONG: Final = (b"context_length_exceeded", b"maximum context length", b"exceed_context_size")


def is_too_long(status: int, body: bytes) -> bool:
    """Does a server say that the session no longer fits its model?"""
    return status == _BAD_REQUEST and any(words in body for words in _TOO_LONG)


def spoken(said: str) -> str:
    """What a model says aloud: local models may put their thinking before it, between marks of their own."""
    return _THINKING.sub("", said).strip()


def _usage(counts: Message) -> TokenUsage:
    cached = count(part(counts, "prompt_tokens_details"), "cached_tokens")
    return TokenUsage(count(counts, "prompt_tokens"), count(counts, "completion_tokens"), cached)


def done_so_far(turn: ChatTurn) -> ChatTurn:
    """What a turn that was ended early leaves behind: the calls that were answered, and else nothing.

    A turn without effects is as if it had never been, so that the merged turn that follows is not told twice.
    """
    last = max((at for at, message in enumerate(turn) if message.get("role") == "tool"), default=-1)
    answered = {
        text(message, "tool_call_id") for message in turn[: last + 1] if message.get("role") == "tool"
    }
    for message in turn[: last + 1]:
        if any(text(call, "id") not in answered for call in parts(message, "tool_calls")):
            return []
    return turn[: last + 1]


def without_pictures(turn: ChatTurn) -> ChatTurn:
    """A turn as it is remembered: a picture in every later request would push out all that was said."""
    return [
        {**message, "content": [_noted(piece) for piece in parts(message, "content")]}
        if isinstance(message.get("content"), list)
        else message
        for message in turn
    ]


def _noted(piece: Message) -> Message:
    return {"type": "text", "text": "[a picture was here]"} if "image_url" in piece else piece


def remembered(earlier: list[ChatTurn], limit: int = MEMORY) -> list[ChatTurn]:
    """The latest turns that fit."""
    kept: list[ChatTurn] = []
    room = limit
    for turn in reversed(earlier):
        room -= len(msgspec.json.encode(turn))
        if room < 0:
            break
        kept.insert(0, turn)
    return kept
