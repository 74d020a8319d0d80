"""Lines that an author adds without naming the agent again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.messages import read_delivered
from tacit.c2a.vocabulary import ConversationKind, Mode
from tacit.harness.orders import may_go_on, went_on

EVENT = replace(
    read_delivered(
        {
            "eventId": "e1",
            "conversation": {"id": "main", "kind": "channel"},
            "author": {"id": "user", "kind": "human", "displayName": "user"},
            "target": {"directedness": "to_me"},
            "policy": "must_respond",
            "attention": {"policy": "must_respond", "reason": "direct_mention", "priority": "normal"},
            "injection": {"mode": "buffered", "role": "user"},
            "reliability": {"attempt": 1, "idempotencyKey": "e1:ada"},
            "timing": {"createdAt": "2026-06-02T19:10:00.000000Z", "sequence": 5},
            "content": "@ada",
        }
    )
)


def line(text: str, second: int, by: str = "user", **more: Any) -> dict[str, Any]:
    at = f"2026-06-02T19:10:{second:02d}.000000Z"
    shown = {"content": text, "createdAt": at, "sequence": 5 + second, "author": {"id": by}}
    return {"directedness": "ambient", **shown, **more}


@pytest.mark.spec("C2A-083", "C2A-086")
def test_what_the_same_author_says_next_belongs_to_the_question() -> None:
    said = [line("@ada", 0, sequence=5), line("which branch", 1), line("do we release from?", 3)]
    found = went_on(EVENT, said, 30_000)
    assert [text for _, text in found] == ["which branch", "do we release from?"]
    assert found[-1][0] == (parse_rfc3339("2026-06-02T19:10:03Z") or Moment(0))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([line("one", 1), line("hm", 2, by="bob"), line("two", 3)], ["one"]),
        ([line("one", 1), line("@bob you too", 2, directedness="to_other"), line("two", 3)], ["one"]),
        ([line("one", 1), line("gone", 2, deleted=True), line("two", 3)], ["one", "two"]),
        ([line("one", 1), line("too late", 31)], ["one"]),
        ([line("aimed by itself", 1, directedness="to_me")], []),
        ([{"nonsense": 1}, "text", None], []),
    ],
)
def test_it_ends_with_another_voice_another_name_or_the_cap(said: list[Any], expected: list[str]) -> None:
    assert [text for _, text in went_on(EVENT, said, 30_000)] == expected


def test_only_a_persons_words_in_the_open_can_go_on_without_a_name() -> None:
    assert may_go_on(EVENT)
    assert not may_go_on(replace(EVENT, kind=ConversationKind.DM))
    assert not may_go_on(replace(EVENT, mode=Mode.IMMEDIATE))
    assert not may_go_on(replace(EVENT, author=replace(EVENT.author, kind="agent")))
