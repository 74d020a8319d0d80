"""Titles at a hub's doors: what the ledger refuses is refused by each, as a wrong request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.hub.room import Room


@pytest.mark.parametrize("title", ["@all", "two\nlines"])
async def test_every_door_that_takes_a_title_refuses_a_bad_one(room: Room, title: str) -> None:
    group = await room.group()
    base = f"/v1/groups/{group}"
    for path, body in (
        ("/v1/groups", {"title": title}),
        (f"{base}/actors", {"actor_id": "zoe", "title": title}),
        (f"{base}/people", {"principal": "usr:eve", "title": title}),
        (f"{base}/events", {"kind": "group.update", "data": {"title": title}}),
    ):
        answer = await room.post(path, body)
        assert (answer.status, answer.code) == (400, "invalid_request"), path
        assert answer.body["details"]["reason"] == "bad_title", path
