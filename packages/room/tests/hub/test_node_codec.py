"""What nodes say to each other fits into what servers carry, and is repeated only where that changes nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tacit.attention.commands import CallTool, EditMessage, SetPresence, TimerDue, ToolAnswer
from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment
from tacit.hub.nodes import codec
from tacit.ledger.commands import (
    Append,
    AppendTogether,
    Committed,
    Decided,
    IssueCredential,
    Ping,
    RecordBlob,
    Recorded,
    RevokeCredential,
    SetWebhook,
)
from tacit.ledger.envelope import StoredEvent
from tests.ledger.world import submission

ROOM = 10_000


def said(**data: Any) -> Any:
    return submission("g_a", "ann", "chat.message", {"text": "hello", **data})


def event(seq: int, size: int = 10) -> StoredEvent:
    return StoredEvent(seq, f"e{seq}", "chat.message", "ann", b"." * size)


@pytest.mark.parametrize(
    "command",
    [
        Append(said(client_id="k")),
        AppendTogether((said(client_id="k"), said(client_id="l"))),
        EditMessage("g_a", "ann", "e1", "words", client_id="k"),
        RecordBlob("g_a", "00", 1, "text/plain", "ann"),
        SetWebhook("g_a", "ann", "https://example.org", "s", "v"),
        SetPresence("g_a", ("ann",)),
        Ping(writes=True),
    ],
)
def test_what_is_the_same_done_twice_is_repeated(command: Any) -> None:
    assert codec.is_repeatable(codec.command_of(codec.command_bytes(command)))


@pytest.mark.parametrize(
    "command",
    [
        Append(said()),
        Append(submission("g_a", "user", "group.create", {"title": "A", "client_id": "k"}), creates=True),
        AppendTogether((said(client_id="k"), said())),
        EditMessage("g_a", "ann", "e1", "words"),
        CallTool("g_a", "ann", "chat.send", {}, "v"),
        IssueCredential(b"0", "tok", "ann"),
        RevokeCredential("tok"),
    ],
)
def test_what_would_be_done_twice_is_not_repeated(command: Any) -> None:
    assert not codec.is_repeatable(codec.command_of(codec.command_bytes(command)))


def test_commands_and_answers_come_as_they_went() -> None:
    asked = codec.CommandsAsked("a", [(1, codec.command_bytes(Append(said(client_id="k"))))])
    assert codec.decode(codec.encode(asked)) == asked
    assert codec.command_of(asked.commands[0][1]) == Append(said(client_id="k"))
    for outcome in (Committed("g_a", event(1)), Recorded("ann"), Decided(ToolAnswer({"a": 1}))):
        assert codec.outcome_of(codec.outcome_bytes(outcome, ROOM)) == outcome
    refused = codec.outcome_of(codec.outcome_bytes(Refused("no", "not so", row="CCCS-020"), ROOM))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.row) == ("no", "CCCS-020")


def test_effects_stay_with_the_node_that_writes() -> None:
    then = Committed("g_a", event(2), effects=(TimerDue(Moment(1)),))
    outcome = Committed("g_a", event(1), (then,), (TimerDue(Moment(1)),))
    told = codec.outcome_of(codec.outcome_bytes(outcome, ROOM))
    assert told == Committed("g_a", event(1), (Committed("g_a", event(2)),))


def test_an_outcome_that_is_too_large_loses_what_followed_and_then_its_word() -> None:
    follows = tuple(Committed("g_a", event(seq, 900)) for seq in range(2, 20))
    assert codec.outcome_of(codec.outcome_bytes(Committed("g_a", event(1), follows), ROOM)) == Committed(
        "g_a", event(1)
    )
    told = codec.outcome_of(codec.outcome_bytes(Committed("g_a", event(1, 20_000)), ROOM))
    assert isinstance(told, Unavailable)
    assert told.unknown


def test_messages_are_cut_where_one_ends_and_each_fits() -> None:
    numbered = [(number, b"." * size) for number, size in enumerate([10, 5_000, 5_000, 8_900, 1, 1])]
    parts = list(codec.cut(numbered, ROOM))
    assert [one for part in parts for one in part] == numbered
    assert [len(part) for part in parts] == [2, 1, 3]
    for part in parts:
        assert len(codec.encode(codec.CommandsAsked("a" * 32, part))) <= ROOM
    assert list(codec.cut([], ROOM)) == []


def test_what_is_of_another_version_is_not_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        codec.decode(msgspec.msgpack.encode(["something new", 1]))
