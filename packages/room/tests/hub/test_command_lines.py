"""The lines before the writer: fair between members, small before large, each member's own in order."""

from __future__ import annotations

import pytest

from tacit.attention.commands import CallTool, SetPresence
from tacit.base.errors import Refused
from tacit.hub.store.async_ledger import (
    AT_THE_WRITER,
    HEAVY_BYTES,
    MOST_BYTES,
    OF_ONE_MEMBER,
    CommandLines,
    QueuedCommand,
    owner_of,
)
from tacit.ledger.commands import Append, AppendTogether, Command, Ping, RecordBlob
from tacit.ledger.submission import Submission


def said(by: str, size: int = 10, group_id: str = "g1") -> Append:
    return Append(Submission(group_id, by, "chat.message", {}, b"x" * size))


def handed(lines: CommandLines) -> list[QueuedCommand]:
    return list(lines.next())


def ask(lines: CommandLines, *commands: Command) -> None:
    for command in commands:
        lines.ask(command, lambda _outcome: None)


@pytest.mark.parametrize(
    ("command", "owner"),
    [
        (said("usr:ann"), "usr:ann"),
        (said("usr:ann", group_id="g2"), "usr:ann"),
        (said("bob"), "g1 bob"),
        (said("bob", group_id="g2"), "g2 bob"),
        (said("system"), ""),
        (AppendTogether((said("svc:mail").submission, said("system").submission)), "svc:mail"),
        (CallTool("g1", "bob", "chat.send", {}, "1"), "g1 bob"),
        (RecordBlob("g1", "0" * 64, 1, "text/plain", "usr:ann"), "usr:ann"),
        (SetPresence("g1", ()), ""),
        (Ping(), ""),
    ],
)
def test_a_command_stands_in_the_line_of_whoever_wants_it(command: Command, owner: str) -> None:
    assert owner_of(command) == owner


def test_one_member_never_has_every_place_at_the_writer() -> None:
    lines = CommandLines()
    ask(lines, *(said("usr:loud") for _ in range(AT_THE_WRITER * 2)))
    assert len(handed(lines)) == OF_ONE_MEMBER < AT_THE_WRITER
    ask(lines, said("usr:ann"))
    assert [waiting.owner for waiting in handed(lines)] == ["usr:ann"]


def test_a_small_command_passes_the_large_ones_of_others_and_none_of_its_own() -> None:
    lines = CommandLines()
    large = said("usr:loud", HEAVY_BYTES)
    ask(lines, large, large, said("usr:loud"), said("usr:ann"))
    first, small = handed(lines)
    assert (first.owner, first.is_heavy, small.owner) == ("usr:loud", True, "usr:ann")
    lines.over(small)
    assert handed(lines) == []
    lines.over(first)
    assert [waiting.is_heavy for waiting in handed(lines)] == [True, False]


def test_a_text_in_a_tool_call_weighs_what_it_is_long() -> None:
    lines = CommandLines()
    ask(lines, CallTool("g1", "bob", "chat.send", {"text": "x" * HEAVY_BYTES}, "1"))
    assert [waiting.is_heavy for waiting in handed(lines)] == [True]


def test_what_waits_of_one_member_is_bounded_in_bytes_and_its_end_makes_room() -> None:
    lines = CommandLines()
    quarter = MOST_BYTES // 4
    ask(lines, *(said("usr:loud", quarter) for _ in range(4)))
    with pytest.raises(Refused, match="slow down"):
        ask(lines, said("usr:loud"))
    ask(lines, said("usr:ann"))
    lines.over(handed(lines)[0])
    ask(lines, said("usr:loud"))


def test_without_bounds_nobody_waits() -> None:
    lines = CommandLines(bounded=False)
    ask(lines, *(said("usr:loud", HEAVY_BYTES) for _ in range(AT_THE_WRITER * 2)))
    assert len(handed(lines)) == AT_THE_WRITER * 2


def test_commands_that_weigh_nothing_end_one_after_the_other() -> None:
    lines = CommandLines()
    ask(lines, Ping(), Ping(), said("usr:ann", 0), said("usr:ann"))
    for waiting in handed(lines):
        lines.over(waiting)
    assert lines.waiting == 0
