"""The three wire formats, as events of a stream and as plain bodies. Pure: a reply in, frames out."""

import json

from .replies import Call, Say


def frame(kind: str | None, data: dict | str) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {kind}\n" if kind else "").encode() + f"data: {text}\n\n".encode()


def error(dialect: str, status: int, kind: str) -> dict:
    """An error body in the format's own shape."""
    if dialect == "messages":
        named = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}
        named |= {404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}
        return {"type": "error", "error": {"type": kind or named.get(status, "api_error"), "message": "scripted"}}
    return {"error": {"message": "scripted", "type": kind or "server_error", "code": kind or None}}


class Responses:
    """OpenAI Responses."""

    def __init__(self, seen, number: int):
        self.seen = seen
        self.id = f"resp_{number}"

    def opening(self) -> list[bytes]:
        return [frame("response.created", {"type": "response.created", "response": {"id": self.id}})]

    def some(self, text: str) -> list[bytes]:
        item = {"type": "message", "id": f"msg_{self.id}", "role": "assistant", "content": []}
        return [
            frame("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
            frame(
                "response.output_text.delta",
                {"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": text},
            ),
        ]

    def rest(self, reply: Say | Call) -> list[bytes]:
        item = self._item(reply)
        frames = self.some(reply.text) if isinstance(reply, Say) else []
        frames.append(frame("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}))
        done = {"type": "response.completed", "response": self.plain(reply)}
        return [*frames, frame("response.completed", done)]

    def plain(self, reply: Say | Call) -> dict:
        cost = reply.tokens
        return {
            "id": self.id,
            "object": "response",
            "status": "completed",
            "output": [self._item(reply)],
            "usage": {
                "input_tokens": cost.input,
                "input_tokens_details": {"cached_tokens": cost.cached},
                "output_tokens": cost.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": cost.input + cost.output,
            },
        }

    def _item(self, reply: Say | Call) -> dict:
        if isinstance(reply, Say):
            content = [{"type": "output_text", "text": reply.text, "annotations": []}]
            return {"type": "message", "id": f"msg_{self.id}", "role": "assistant", "status": "completed", "content": content}
        namespace, _, name = self.seen.offered(reply.tool).rpartition("/")
        call = {"type": "function_call", "id": f"fc_{self.id}", "call_id": f"call_{self.id}", "name": name}
        call |= {"arguments": json.dumps(reply.arguments), "status": "completed"}
        return call | ({"namespace": namespace} if namespace else {})


class Chat:
    """OpenAI Chat Completions."""

    def __init__(self, seen, number: int):
        self.seen = seen
        self.id = f"chatcmpl_{number}"

    def _chunk(self, delta: dict, finish: str | None = None, usage: dict | None = None) -> bytes:
        body = {"id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.seen.body.get("model")}
        if usage is not None:
            return frame(None, body | {"choices": [], "usage": usage})
        return frame(None, body | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def opening(self) -> list[bytes]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def some(self, text: str) -> list[bytes]:
        return [self._chunk({"content": text})]

    def rest(self, reply: Say | Call) -> list[bytes]:
        usage = self.plain(reply)["usage"]
        if isinstance(reply, Say):
            half = len(reply.text) // 2
            frames = [*self.some(reply.text[:half]), *self.some(reply.text[half:]), self._chunk({}, "stop")]
        else:
            call = self._call(reply)
            text = call["function"]["arguments"]
            head = {"index": 0, "id": call["id"], "type": "function", "function": call["function"] | {"arguments": ""}}
            parts = [{"index": 0, "function": {"arguments": piece}} for piece in (text[:3], text[3:]) if piece]
            frames = [self._chunk({"tool_calls": [part]}) for part in (head, *parts)]
            frames.append(self._chunk({}, "tool_calls"))
        if (self.seen.body.get("stream_options") or {}).get("include_usage"):
            frames.append(self._chunk({}, usage=usage))
        return [*frames, frame(None, "[DONE]")]

    def plain(self, reply: Say | Call) -> dict:
        message: dict = {"role": "assistant", "content": reply.text if isinstance(reply, Say) else None}
        if isinstance(reply, Call):
            message["tool_calls"] = [self._call(reply)]
        cost = reply.tokens
        return {
            "id": self.id,
            "object": "chat.completion",
            "model": self.seen.body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop" if isinstance(reply, Say) else "tool_calls"}],
            "usage": {
                "prompt_tokens": cost.input,
                "completion_tokens": cost.output,
                "total_tokens": cost.input + cost.output,
                "prompt_tokens_details": {"cached_tokens": cost.cached},
            },
        }

    def _call(self, reply: Call) -> dict:
        function = {"name": self.seen.offered(reply.tool), "arguments": json.dumps(reply.arguments)}
        return {"id": f"call_{self.id}", "type": "function", "function": function}


class Messages:
    """Anthropic Messages. `input_tokens` leaves out what was cached, as theirs does."""

    def __init__(self, seen, number: int):
        self.seen = seen
        self.id = f"msg_{number}"

    def _usage(self, cost) -> dict:
        return {
            "input_tokens": cost.input - cost.cached,
            "cache_read_input_tokens": cost.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": cost.output,
        }

    def _message(self, cost) -> dict:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.seen.body.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage(cost),
        }

    def opening(self, cost=None) -> list[bytes]:
        cost = cost or Say("").tokens
        return [frame("message_start", {"type": "message_start", "message": self._message(cost)})]

    def some(self, text: str) -> list[bytes]:
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return [frame(block["type"], block), frame(delta["type"], delta)]

    def rest(self, reply: Say | Call) -> list[bytes]:
        if isinstance(reply, Say):
            frames = self.some(reply.text)
        else:
            block = self._block(reply)
            start = {"type": "content_block_start", "index": 0, "content_block": block | {"input": {}}}
            piece = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
            delta = {"type": "content_block_delta", "index": 0, "delta": piece}
            frames = [frame(start["type"], start), frame(delta["type"], delta)]
        stop = "end_turn" if isinstance(reply, Say) else "tool_use"
        tail = [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": self._usage(reply.tokens)},
            {"type": "message_stop"},
        ]
        return frames + [frame(event["type"], event) for event in tail]

    def plain(self, reply: Say | Call) -> dict:
        block = {"type": "text", "text": reply.text} if isinstance(reply, Say) else self._block(reply)
        stop = "end_turn" if isinstance(reply, Say) else "tool_use"
        return self._message(reply.tokens) | {"content": [block], "stop_reason": stop}

    def _block(self, reply: Call) -> dict:
        return {"type": "tool_use", "id": f"toolu_{self.id}", "name": self.seen.offered(reply.tool), "input": reply.arguments}


DIALECTS = {"responses": Responses, "chat": Chat, "messages": Messages}
