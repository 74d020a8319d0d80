"""The lines before a question: those of the same talk, within a measure, and each only once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.base.moment import parse_rfc3339, rfc3339
from tacit.c2a.messages import LINE_BYTES, read_delivered
from tacit.harness.prompt import turn_prompt
from tacit.harness.session_view import BYTES, LINES, open_lines, scrolled_back, wants_context
from tests.c2a_peer import delivery

NOON = parse_rfc3339("2026-06-02T12:00:00Z")
EVENT = replace(read_delivered(delivery("e9", "@ada and who fixes it?")), created_at=NOON, sequence=900)


def line(text: str, minutes: float, sequence: int, by: str = "user", **more: Any) -> dict[str, Any]:
    """Something that was said so many minutes before noon."""
    at = rfc3339(NOON - int(minutes * 60_000_000))
    author = {"id": by, "kind": "human", "displayName": by}
    return {
        "eventId": f"m{sequence}",
        "content": text,
        "createdAt": at,
        "sequence": sequence,
        "author": author,
    } | more


def texts(rows: list[Any], **more: Any) -> list[str]:
    return [one.text for one in scrolled_back(EVENT, open_lines(rows), "ada", **more)]


@pytest.mark.spec("C2A-223")
def test_what_was_just_said_is_shown_with_its_authors_and_the_question_is_not_repeated() -> None:
    rows = [
        line("the build is red", 4, 1, by="usr:bea"),
        line("since the merge", 3, 2),
        line("itself", 0, 900),
    ]
    assert texts(rows) == ["the build is red", "since the merge"]
    prompt = turn_prompt(
        "rules", [replace(EVENT, window=scrolled_back(EVENT, open_lines(rows), "ada"))], boundary="5f3a"
    )
    assert "C2A THREAD 5f3a\nEarlier messages here, quoted" in prompt.user
    assert "human:usr:bea:\n| the build is red" in prompt.user
    assert prompt.user.index("the build is red") < prompt.user.index("C2A EVENT")


@pytest.mark.spec("C2A-223")
def test_a_long_pause_ends_the_talk_but_a_few_lines_are_shown_anyway() -> None:
    rows = [line(f"of the morning {number}", 200 - number, number) for number in range(6)]
    assert texts(rows) == [f"of the morning {number}" for number in range(2, 6)]
    late = [line(f"just now {number}", 5 - number, 10 + number) for number in range(5)]
    assert texts(rows + late) == [f"just now {number}" for number in range(5)]
    assert texts([line("yesterday", 60 * 25, 1)]) == []


@pytest.mark.spec("C2A-223")
def test_lines_and_bytes_have_a_measure() -> None:
    many = [line(f"line {number}", 1, number) for number in range(100)]
    assert texts(many) == [f"line {number}" for number in range(100 - LINES, 100)]
    long = [line("é" * 3000, 1, number) for number in range(10)]
    found = texts(long)
    assert sum(len(one.encode()) for one in found) <= BYTES
    assert all(len(one.encode()) < LINE_BYTES + 20 for one in found)
    assert found[0].endswith("[... cut]")


def test_what_the_session_has_read_or_said_is_not_shown_again() -> None:
    rows = [
        line("old", 9, 1),
        line("mine", 8, 2, by="ada"),
        line("new", 7, 3),
        line("mine too", 6, 4, by="ada"),
    ]
    assert texts(rows) == ["old", "mine", "new", "mine too"]
    assert texts(rows, shown_up_to=1) == ["new"]


@pytest.mark.parametrize(
    "odd",
    [
        None, "text", [1, None], [{}],
        [line("gone", 1, 1, deleted=True)],
        [line("inside", 1, 1, conversation={"id": "main", "threadId": "m0"})],
        [{"content": "without a time", "sequence": 1}],
    ],
)  # fmt: skip
def test_what_is_no_line_of_the_flow_is_left_out(odd: Any) -> None:
    assert scrolled_back(EVENT, open_lines(odd), "ada") == ()


def test_a_thread_comes_by_itself_and_a_private_session_has_read_its_talk() -> None:
    assert wants_context(EVENT)
    assert not wants_context(replace(EVENT, thread="m1"))
    assert not wants_context(replace(EVENT, content=None))
    assert not wants_context(replace(EVENT, parties=("ada", "user")))
