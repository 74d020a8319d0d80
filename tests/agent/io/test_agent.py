"""The agent's process: what its parts must not do to each other while one of them waits."""

from __future__ import annotations

import asyncio

import pytest
from tests.agent.arrangements import registered
from tests.relay_support import Relay

from tacit.agent.io import calls
from tacit.agent.io.agent import Agent
from tacit.base.errors import Refused


async def test_tidying_up_leaves_alone_what_a_decision_is_about_to_name(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        # The decision has kept its value and waits for the journal when the tidying would begin.
        await asyncio.gather(anna.profile({"dietary": "vegetarian"}), anna.tidy())
        assert anna.outside.profile() == {"dietary": "vegetarian"}
        await anna.profile({"dietary": "vegan"})
        await anna.tidy()
        assert anna.outside.profile() == {"dietary": "vegan"}


async def test_calendars_say_whether_they_can_be_read(tmp_path):
    (tmp_path / "mine.ics").write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        await anna.add_calendar("mine", {"kind": "ics", "path": str(tmp_path / "mine.ics"), "write": True})
        await anna.add_calendar("gone", {"kind": "ics", "path": str(tmp_path / "gone.ics")})
        found = {one["name"]: one for one in (await anna.calendars())["calendars"]}
        assert found["mine"] == {
            "name": "mine",
            "kind": "ics",
            "write": True,
            "readable": True,
            "notices": [],
        }
        assert not found["gone"]["readable"]
        assert found["gone"]["notices"]
        assert found["calendar.ics"]["readable"]


NONSENSE = [
    ("add_calendar", {"kind": "ics"}, "bad_calendar"),
    ("add_calendar", {"kind": "exchange", "url": "https://example.com"}, "bad_calendar"),
    ("add_handler", {"kind": "command", "command": ["/bin/true"]}, "bad_action"),
    ("add_handler", {"kind": "command", "argv": []}, "bad_action"),
    ("add_handler", {"kind": "webhook"}, "bad_action"),
    ("add_handler", {}, "bad_action"),
    ("add_handler", {"kind": "calendar", "calendar": "nowhere"}, "unknown_calendar"),
]


async def test_a_calendar_or_an_action_that_could_never_work_is_refused_when_it_is_added(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    async with Agent(tmp_path / "anna") as anna:
        for command, definition, code in NONSENSE:
            with pytest.raises(Refused) as refused:
                await calls.call(anna, command, {"name": "mine", "definition": definition})
            assert refused.value.code == code
        assert anna.outside.handlers() == {}
        assert anna.outside.calendar_definitions() == {}
