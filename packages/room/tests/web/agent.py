"""A harness without a model: says hello on `/c2a`, takes deliveries in, calls tools when the test says so."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from websockets.sync.client import connect

from tacit.c2a.negotiation import CAPABILITIES

if TYPE_CHECKING:
    from tests.web.stage import HubProcess

WAIT = 60.0


class Agent:
    """One session on the C2A door."""

    def __init__(self, hub: HubProcess, token: str) -> None:
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(
                hub.url.replace("http", "ws") + "/c2a",
                additional_headers={"Authorization": f"Bearer {token}"},
            )
        )
        self._count = 0
        self.heard: list[dict[str, Any]] = []
        everything = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
        self.ask(
            "initialize",
            protocolVersion="2026-06-24",
            clientInfo={"name": "stage", "version": "1"},
            capabilities=everything,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    def _take(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv(timeout=WAIT))
        if message.get("method") == "chat/deliver":
            self.heard.append(message["params"])
            self._send(
                {"id": message["id"], "result": {"accepted": True, "eventId": message["params"]["eventId"]}}
            )
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One request; deliveries that come meanwhile are taken in."""
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def note(self, method: str, **params: Any) -> None:
        """A notification."""
        self._send({"method": method, "params": params})

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """One tool call; what the hub refuses is returned as it came."""
        self._count += 1
        number = self._count
        self._send({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                return message

    def delivery(self) -> dict[str, Any]:
        """The next delivery."""
        seen = len(self.heard)
        while len(self.heard) == seen:
            self._take()
        return self.heard[-1]

    def reply(self, delivery: dict[str, Any], text: str) -> dict[str, Any]:
        """Answer a delivery."""
        return self.call(
            "chat.send_message",
            target=delivery["replyTarget"],
            inReplyTo=delivery["eventId"],
            content=text,
            idempotencyKey=f"reply:{delivery['eventId']}",
            visibility="thread" if delivery["replyTarget"].startswith("thread:") else "channel",
            directedness="to_other",
        )
