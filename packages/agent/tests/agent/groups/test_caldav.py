"""The game night of four people whose calendars lie on one CalDAV server, each under an account of its own."""

from __future__ import annotations

import pytest

from tacit.agent.consent.answering import Answer
from tests.agent.arrangements import people, share
from tests.agent.scheduling.calendars import radicale
from tests.agent.scheduling.calendars.texts import calendar, event

NAMES = ("anna", "ben", "cleo", "dora")
TAKEN = calendar(event("DTSTART:20260328T120000Z", "DTEND:20260328T235900Z", uid="wedding"))


@pytest.mark.spec("A2ACP-176", "A2ACP-173")
async def test_four_people_on_one_caldav_server_meet_on_the_evening_that_suits_all(tmp_path):
    (tmp_path / "dav").mkdir()
    with radicale.running(tmp_path / "dav", *NAMES) as server:
        async with people(tmp_path, *NAMES) as (all_four, anna, *others):
            cleo = others[1]
            for name, agent in zip(NAMES, (anna, *others), strict=True):
                events = {"wedding": TAKEN} if agent is cleo else {}
                definition = {
                    "kind": "caldav",
                    "url": server.calendar("private", name, **events),
                    "user": name,
                    "password_file": str(server.password_file),
                    "write": True,
                }
                await agent.add_calendar("private", definition)
            begun = await anna.ask("game night on Friday or Saturday evening", [one.me for one in others])
            for one in (*others, anna):
                asked = await all_four.question(one, "consent")
                await one.answer(asked["question_id"], share(asked))
            for one in (anna, *others):
                proposed = await all_four.question(one, "checkpoint")
                assert proposed["proposal"]["details"]["date"] == "2026-03-27"
                await one.answer(proposed["question_id"], Answer(confirm=True))
            for one in (anna, *others):
                await all_four.state(one, begun["thread_id"], "COMPLETED")
            # All four on Friday beat three on Saturday; each has one entry, under its own account.
            windows = (await anna.group(begun["thread_id"]))["windows"]
            assert [one["available_count"] for one in windows[:2]] == [4, 3]
            for name in NAMES:
                kept = server.text("private", name)
                assert kept.count("BEGIN:VEVENT") == 1 + (name == "cleo"), name
                assert "20260327" in kept, name
