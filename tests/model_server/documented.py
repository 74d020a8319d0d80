"""The three formats as their documentation has them, in full, for a `Step`.

Written from the providers' descriptions of their streams (OpenAI: "Streaming events" of Responses and "The chat
completion chunk object"; Anthropic: "Streaming messages", "Handling stop reasons"), and not from what any of our
drivers reads. `dialects` is the other script's, and says the least that works; neither knows the other.
A stream is a list of frames; a `Hush` in it is a silence.
"""

import json
from itertools import count
from typing import ClassVar

from .steps import Hush, Refusal, Step, Thought, Use, Words

CREATED = 1_767_225_600


def _sse(data: dict | str, named: bool = True) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {data['type']}\n" if named else "").encode() + f"data: {text}\n\n".encode()


def _pieces(text: str) -> list[str]:
    """As tokens come: words with their spaces, never empty."""
    found, word = [], ""
    for letter in text:
        word += letter
        if letter in " \n" or len(word) >= 12:
            found.append(word)
            word = ""
    return [*found, word] if word else found


class DocumentedResponses:
    """OpenAI Responses: every event has its `sequence_number`; items and parts are opened and closed."""

    def __init__(self, seen, number: int):
        self.seen, self.id, self._sequence = seen, f"resp_{number:032x}", count()

    def _event(self, kind: str, **data) -> bytes:
        return _sse({"type": kind, "sequence_number": next(self._sequence), **data})

    def stream(self, step: Step) -> list[bytes | Hush]:
        frames: list[bytes | Hush] = [
            self._event("response.created", response=self._response("in_progress")),
            self._event("response.in_progress", response=self._response("in_progress")),
        ]
        output: list[dict] = []
        for part in step.parts:
            if isinstance(part, Hush):
                frames.append(part)
                continue
            place = {"output_index": len(output)}
            item = self._item(part, len(output))
            empty, inner = item | {"status": "in_progress"}, self._content
            match part:
                case Thought():
                    empty, inner = empty | {"summary": []}, self._summary
                case Use():
                    empty, inner = empty | {"arguments": ""}, self._arguments
                case _:
                    empty |= {"content": []}
            frames.append(self._event("response.output_item.added", **place, item=empty))
            frames += inner(part, item, place)
            frames.append(self._event("response.output_item.done", **place, item=item))
            output.append(item)
        status = "incomplete" if step.stop == "length" else "completed"
        return [*frames, self._event(f"response.{status}", response=self._response(status, output, step))]

    def plain(self, step: Step) -> dict:
        parts = [part for part in step.parts if not isinstance(part, Hush)]
        output = [self._item(part, at) for at, part in enumerate(parts)]
        return self._response("incomplete" if step.stop == "length" else "completed", output, step)

    def _summary(self, part: Thought, item: dict, place: dict) -> list[bytes]:
        at = {"item_id": item["id"], **place, "summary_index": 0}
        whole = {"type": "summary_text", "text": part.text}
        return [
            self._event("response.reasoning_summary_part.added", **at, part=whole | {"text": ""}),
            *(
                self._event("response.reasoning_summary_text.delta", **at, delta=one)
                for one in _pieces(part.text)
            ),
            self._event("response.reasoning_summary_text.done", **at, text=part.text),
            self._event("response.reasoning_summary_part.done", **at, part=whole),
        ]

    def _arguments(self, _part: Use, item: dict, place: dict) -> list[bytes]:
        at = {"item_id": item["id"], **place}
        return [
            *(
                self._event("response.function_call_arguments.delta", **at, delta=one)
                for one in _pieces(item["arguments"])
            ),
            self._event(
                "response.function_call_arguments.done",
                **at,
                name=item["name"],
                arguments=item["arguments"],
            ),
        ]

    def _content(self, part: Words | Refusal, item: dict, place: dict) -> list[bytes]:
        at = {"item_id": item["id"], **place, "content_index": 0}
        [whole] = item["content"]
        member = "refusal" if isinstance(part, Refusal) else "text"
        kind = "response.refusal" if member == "refusal" else "response.output_text"
        more = {} if member == "refusal" else {"logprobs": []}
        return [
            self._event("response.content_part.added", **at, part=whole | {member: ""}),
            *(self._event(f"{kind}.delta", **at, delta=one, **more) for one in _pieces(part.text)),
            self._event(f"{kind}.done", **at, **{member: part.text}, **more),
            self._event("response.content_part.done", **at, part=whole),
        ]

    def _item(self, part, at: int) -> dict:
        tail = f"{self.id[5:]}{at}"
        match part:
            case Thought():
                summary = [{"type": "summary_text", "text": part.text}]
                return {
                    "id": f"rs_{tail}",
                    "type": "reasoning",
                    "summary": summary,
                    "encrypted_content": "gAAA",
                }
            case Use():
                namespace, _, name = _named(self.seen, part.tool).rpartition("/")
                call = {"id": f"fc_{tail}", "type": "function_call", "status": "completed", "name": name}
                call |= {"call_id": f"call_{tail}", "arguments": json.dumps(part.arguments)}
                return call | ({"namespace": namespace} if namespace else {})
            case Refusal():
                content = {"type": "refusal", "refusal": part.text}
            case _:
                content = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
        return {
            "id": f"msg_{tail}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [content],
        }

    def _response(self, status: str, output: list | None = None, step: Step | None = None) -> dict:
        found = {
            "id": self.id,
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": None,
            "metadata": {},
            "model": self.seen.body.get("model"),
            "output": output or [],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": "medium", "summary": None},
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": None,
        }
        if step is not None:
            cost = step.tokens
            found["usage"] = {
                "input_tokens": cost.input,
                "input_tokens_details": {"cached_tokens": cost.cached},
                "output_tokens": cost.output,
                "output_tokens_details": {"reasoning_tokens": 3 if step.of(Thought) else 0},
                "total_tokens": cost.input + cost.output,
            }
        return found


class DocumentedChat:
    """OpenAI Chat Completions: chunks of one id, a refusal in a member of its own, and `[DONE]`."""

    STOPS: ClassVar = {"done": "stop", "tools": "tool_calls", "refused": "stop", "length": "length"}

    def __init__(self, seen, number: int):
        self.seen, self.id = seen, f"chatcmpl-{number:x}"

    def _chunk(self, delta: dict | None, finish: str | None = None, usage: dict | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        body = {"id": self.id, "object": "chat.completion.chunk", "created": CREATED}
        body |= {
            "model": self.seen.body.get("model"),
            "service_tier": "default",
            "system_fingerprint": "fp_1",
        }
        choices = [] if delta is None else [choice]
        return _sse(body | {"choices": choices, "usage": usage, "obfuscation": "aXk"}, named=False)

    def stream(self, step: Step) -> list[bytes | Hush]:
        frames: list[bytes | Hush] = [self._chunk({"role": "assistant", "content": "", "refusal": None})]
        calls = count()
        for part in step.parts:
            match part:
                case Hush():
                    frames.append(part)
                case Thought():
                    frames += [self._chunk({"reasoning_content": one}) for one in _pieces(part.text)]
                case Words():
                    frames += [self._chunk({"content": one}) for one in _pieces(part.text)]
                case Refusal():
                    frames += [self._chunk({"refusal": one}) for one in _pieces(part.text)]
                case Use():
                    frames += self._call_frames(part, next(calls))
        frames.append(self._chunk({}, self.STOPS[step.stop]))
        if (self.seen.body.get("stream_options") or {}).get("include_usage"):
            frames.append(self._chunk(None, usage=self._usage(step)))
        return [*frames, b"data: [DONE]\n\n"]

    def _call_frames(self, part: Use, at: int) -> list[bytes]:
        call = self._call(part, at)
        words = call["function"]["arguments"]
        head = call | {"index": at, "function": call["function"] | {"arguments": ""}}
        rest = [{"index": at, "function": {"arguments": one}} for one in _pieces(words)]
        return [self._chunk({"tool_calls": [one]}) for one in (head, *rest)]

    def _call(self, part: Use, at: int) -> dict:
        function = {"name": _named(self.seen, part.tool), "arguments": json.dumps(part.arguments)}
        return {"id": f"call_{self.id[9:]}_{at}", "type": "function", "function": function}

    def _usage(self, step: Step) -> dict:
        cost = step.tokens
        return {
            "prompt_tokens": cost.input,
            "completion_tokens": cost.output,
            "total_tokens": cost.input + cost.output,
            "prompt_tokens_details": {"cached_tokens": cost.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0},
        }

    def plain(self, step: Step) -> dict:
        said = "".join(part.text for part in step.of(Words))
        declined = "".join(part.text for part in step.of(Refusal))
        message: dict = {"role": "assistant", "content": said or None, "refusal": declined or None}
        if calls := [self._call(part, at) for at, part in enumerate(step.of(Use))]:
            message["tool_calls"] = calls
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self.STOPS[step.stop],
        }
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": CREATED,
            "model": self.seen.body.get("model"),
            "choices": [choice],
            "usage": self._usage(step),
        }


class DocumentedMessages:
    """Anthropic Messages: blocks by index, pings anywhere, `stop_reason` in the last delta."""

    STOPS: ClassVar = {"done": "end_turn", "tools": "tool_use", "refused": "refusal", "length": "max_tokens"}

    def __init__(self, seen, number: int):
        self.seen, self.id = seen, f"msg_01{number:022x}"

    def stream(self, step: Step) -> list[bytes | Hush]:
        opened = self._message(step) | {"usage": self._usage(step, output=1)}
        frames: list[bytes | Hush] = [
            _sse({"type": "message_start", "message": opened}),
            _sse({"type": "ping"}),
        ]
        at = 0
        for part in step.parts:
            if isinstance(part, Hush):
                frames += [_sse({"type": "ping"}), part, _sse({"type": "ping"})]
                continue
            if isinstance(part, Refusal) and not part.text:
                continue  # a refusal may come before any word
            start, deltas = self._opened(part, at)
            frames.append(_sse({"type": "content_block_start", "index": at, "content_block": start}))
            frames += [_sse({"type": "content_block_delta", "index": at, "delta": delta}) for delta in deltas]
            frames.append(_sse({"type": "content_block_stop", "index": at}))
            at += 1
        ending = {"stop_reason": self.STOPS[step.stop], "stop_sequence": None}
        told = {"output_tokens": step.tokens.output}
        return [
            *frames,
            _sse({"type": "message_delta", "delta": ending, "usage": told}),
            _sse({"type": "message_stop"}),
        ]

    def _opened(self, part, at: int) -> tuple[dict, list[dict]]:
        match part:
            case Thought():
                deltas = [{"type": "thinking_delta", "thinking": one} for one in _pieces(part.text)]
                signed = {"type": "signature_delta", "signature": "EqQBCgIYAhIM"}
                return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
            case Use():
                words = ["", *_pieces(json.dumps(part.arguments))]
                deltas = [{"type": "input_json_delta", "partial_json": one} for one in words]
                return self._block(part, at) | {"input": {}}, deltas
            case _:
                deltas = [{"type": "text_delta", "text": one} for one in _pieces(part.text)]
                return {"type": "text", "text": ""}, deltas

    def _block(self, part, at: int) -> dict:
        match part:
            case Thought():
                return {"type": "thinking", "thinking": part.text, "signature": "EqQBCgIYAhIM"}
            case Use():
                name = _named(self.seen, part.tool)
                tail = f"{self.id[4:]}{at}"
                return {"type": "tool_use", "id": f"toolu_{tail}", "name": name, "input": part.arguments}
            case _:
                return {"type": "text", "text": part.text}

    def _usage(self, step: Step, output: int) -> dict:
        cost = step.tokens
        return {
            "input_tokens": cost.input - cost.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cost.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output,
            "service_tier": "standard",
        }

    def _message(self, step: Step) -> dict:
        return {
            "model": self.seen.body.get("model"),
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage(step, step.tokens.output),
        }

    def plain(self, step: Step) -> dict:
        parts = [part for part in step.parts if not isinstance(part, Hush)]
        blocks = [self._block(part, at) for at, part in enumerate(parts)]
        return self._message(step) | {"content": blocks, "stop_reason": self.STOPS[step.stop]}


DOCUMENTED = {"responses": DocumentedResponses, "chat": DocumentedChat, "messages": DocumentedMessages}
SIGN_OF_LIFE = b": keep-alive\n\n"


def _named(seen, tool: str) -> str:
    """The name under which it was offered; a model may also call what nobody offered."""
    try:
        return seen.offered(tool)
    except LookupError:
        return tool
