"""The ways of a message and of a packet through the house: whole, and not longer than is allowed."""

from __future__ import annotations

from typing import Any

from tools.places import ROOT
from tools.walk import of_message, of_packet

MESSAGE_FILES, MESSAGE_HOPS = 94, 360
PACKET_FILES = 126
"""What each way may cross at most; only ever lowered. A few more than were counted: beside a busy machine a way also
crosses what happens to be due just then."""


def hops(walked: dict[str, Any]) -> int:
    return sum(count for _, _, count in walked["hops"])


def test_a_message_goes_from_the_hubs_door_over_the_ledger_to_a_prompt():
    walked = of_message(ROOT)
    parts = {name.partition("/")[0] for name in walked["files"]}
    assert {"hub", "ledger", "attention", "c2a", "harness"} <= parts
    assert walked["files"][-1] == "harness/prompt.py"
    assert len(walked["files"]) <= MESSAGE_FILES
    assert hops(walked) <= MESSAGE_HOPS


def test_a_packet_goes_from_the_connection_over_seal_decision_and_consent_to_the_outbox():
    walked = of_packet(ROOT)
    assert walked["files"][0] == "wire/frames.py"
    parts = {name.partition("/")[0] for name in walked["files"]}
    assert {"wire", "seal", "a2acp", "agent", "ledger"} <= parts
    assert any(name.startswith("a2acp/consent/") for name in walked["files"])
    assert any(step.endswith("a2acp/post/io/outbox.py: Outbox.post") for step in walked["steps"][-1:])
    assert not any(name.startswith("relay/") for name in walked["files"])
    assert len(walked["files"]) <= PACKET_FILES
