"""Digests count and keep the last report of each author."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention.decide.digest import DigestItem, digest_of, next_at, scope_of
from tacit.c2a.vocabulary import Intent
from tests.attention.world import START


def item(number: int, **more: Any) -> DigestItem:
    return DigestItem(
        **{
            "event_id": f"e{number}",
            "scope": "channel:main",
            "author": "ci",
            "intent": Intent.STATUS,
            "text": f"build {number} passed",
            **more,
        }
    )


@pytest.mark.spec("C2A-092", "C2A-227")
def test_a_digest_counts_and_keeps_the_last_report_of_each_author() -> None:
    found = digest_of([item(1), item(2), item(3, author="bob", intent=Intent.QUESTION, text="secret words")])
    assert found is not None
    assert found.scope == "channel:main"
    assert found.text == "channel:main: 3 messages by 2 (2 status, 1 question)\n- ci: build 2 passed"
    assert "secret" not in found.text
    many = digest_of([item(n, author=f"a{n}", text="x" * 300, scope=f"stream:{n % 3}") for n in range(90)])
    assert many is not None
    assert many.scope == "streams"
    assert len(many.text) <= 2000
    assert all(f"stream:{n}: 30 messages" in many.text for n in range(3))
    line = many.text.splitlines()[1].partition(": ")[2]
    assert line == "x" * 119 + "…"
    whole = digest_of([item(1, text="x" * 120)])
    assert whole is not None
    assert whole.text.endswith(": " + "x" * 120)
    assert digest_of([]) is None
    assert next_at(START) == START + 900_000_000
    assert (scope_of("C1", None), scope_of("C1", "s")) == ("channel:C1", "stream:s")
