"""A calendar counts once it was read: one that cannot be read is not added, and never taken for an empty one."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tacit.agent.features import NOTICES
from tacit.agent.scheduling.calendars.busy import CalendarUnreadable
from tacit.agent.scheduling.io.outside import OWN_CALENDAR
from tacit.agent.scheduling.io.unreadable import CODE
from tacit.agent.shell.io import calls, carrying, programs
from tacit.agent.shell.io.agent import PAUSE, Agent
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.moment import Moment, Span
from tacit.base.strict_json import parse
from tests.agent.arrangements import pair, people, registered, share
from tests.agent.scenarios.booking import YES, checkpoint, proposed, until
from tests.agent.scheduling.calendars import radicale
from tests.agent.scheduling.calendars.texts import calendar, event
from tests.relay_support import Relay

WEDDING = calendar(event("DTSTART:20260327T160000Z", "DTEND:20260327T235900Z", uid="wedding"))
EMPTY = calendar()
DINNER = "dinner with ben on Friday evening"


async def alone(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
    return Agent(tmp_path / "anna")


def add(agent, definition, name="home"):
    return calls.call(agent, "add_calendar", {"name": name, "definition": definition})


@pytest.mark.spec("A2ACP-077")
async def test_what_says_nothing_of_its_owners_time_is_not_added(tmp_path):
    dav = tmp_path / "dav"
    dav.mkdir()
    (tmp_path / "wrong").write_text("guess\n")
    (tmp_path / "empty.ics").write_bytes(b"")
    with radicale.running(dav) as server:
        url = server.calendar("home", wedding=WEDDING)

        def caldav(place: str, password=server.password_file):
            return {"kind": "caldav", "url": place, "user": radicale.USER, "password_file": str(password)}

        rows = [
            (caldav(server.url), "not_a_calendar", url),
            (caldav(f"{server.url}/{radicale.USER}/"), "not_a_calendar", url),
            (caldav(f"{server.url}/{radicale.USER}/other/"), "calendar_missing", url),
            (caldav(url, tmp_path / "wrong"), "calendar_denied", "password"),
            (caldav(url, tmp_path / "none"), "calendar_password", "password"),
            (caldav("cal.example/"), "bad_calendar_url", "https://"),
            ({"kind": "ics", "path": str(tmp_path / "none.ics")}, "calendar_unreadable", "no file"),
            ({"kind": "ics", "path": str(tmp_path / "empty.ics")}, "calendar_unreadable", "empty"),
            ({"kind": "ics", "path": str(tmp_path)}, "calendar_unreadable", "folder"),
            ({"kind": "ics", "path": "https://cal.example/a.ics"}, "bad_calendar_path", "caldav"),
        ]
        async with await alone(tmp_path) as anna:
            added = await add(anna, caldav(url))
            before = dict(anna.outside.calendar_definitions())
            assert added["calendars"] == ["home"]
            for definition, code, says in rows:
                for name in ("home", "other"):
                    with pytest.raises(Refused) as refused:
                        await add(anna, definition, name)
                    assert (refused.value.code, says in refused.value.message) == (code, True), definition
            assert anna.outside.calendar_definitions() == before, "what was there stays"
            server.stop()
            with pytest.raises(Unavailable):
                await add(anna, caldav(url), "other")
            assert anna.outside.calendar_definitions() == before


async def test_a_calendar_that_is_added_says_what_is_in_it_and_one_that_is_removed_counts_no_more(tmp_path):
    from datetime import UTC, datetime, timedelta

    soon = datetime.now(UTC) + timedelta(days=3)
    path = tmp_path / "mine.ics"
    path.write_bytes(calendar(event(f"DTSTART:{soon:%Y%m%dT%H%M%SZ}", "DURATION:PT1H")))
    async with await alone(tmp_path) as anna:
        assert await add(anna, {"kind": "ics", "path": f' "{path}" '}) == {
            "calendars": ["home"], "days": 30, "busy_times": 1, "notices": [],
        }  # fmt: skip
        for name in ("calendar.ics", "", "two\nlines", "x" * 300):
            with pytest.raises(Refused, match="bad_calendar_name"):
                await add(anna, {"kind": "ics", "path": str(path)}, name)
        await calls.call(
            anna, "add_handler", {"name": "entry", "definition": {"kind": "calendar", "calendar": "home"}}
        )
        for name, code in (
            ("work", "unknown_calendar"),
            ("calendar.ics", "own_calendar"),
            ("home", "calendar_in_use"),
        ):
            with pytest.raises(Refused) as refused:
                await calls.call(anna, "remove_calendar", {"name": name})
            assert refused.value.code == code
        await add(anna, {"kind": "ics", "path": str(path)}, "other")
        await calls.call(
            anna, "add_handler", {"name": "entry", "definition": {"kind": "calendar", "calendar": "other"}}
        )
        assert await calls.call(anna, "remove_calendar", {"name": "home"}) == {"calendars": ["other"]}
        assert [one["name"] for one in (await anna.calendars())["calendars"]] == ["calendar.ics", "other"]
        # An older program let an action stand whose calendar is gone: it has nobody to carry it out.
        await anna.set_to("calendars", {})
        assert anna.outside.handler("entry") is None


def told(agent, thread_id):
    return [one["text"] for one in agent if one["thread_id"] == thread_id and one["code"] == CODE]


@pytest.mark.spec("A2ACP-077")
async def test_a_matter_waits_for_a_calendar_that_cannot_be_read_and_goes_on_when_it_can(tmp_path, caplog):
    """Both sides: nothing is offered, nobody hears "no common time", and the owner hears which one and why."""
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "ben.ics"
    path.write_bytes(WEDDING)
    async with pair(tmp_path) as (both, anna, ben):
        await add(ben, {"kind": "ics", "path": str(path)}, "Weddings")
        path.unlink()
        thread = (await anna.ask(DINNER, [ben.me]))["thread_id"]
        asked = await both.question(anna, "consent")
        await anna.answer(asked["question_id"], share(asked))
        for _ in range(3):
            both.relay.clock.ahead += PAUSE + 1
            await both.settled()
        assert (await ben.pending())["questions"] == []
        assert (await anna.pending())["questions"] == []
        notices = (await ben.notices())["notices"]
        (text,) = told(notices, thread)
        assert 'calendar "Weddings" cannot be read: there is no file' in text
        # Another reason is told too, each once.
        path.write_bytes(b"")
        both.relay.clock.ahead += PAUSE + 1
        await both.settled()
        assert (
            'calendar "Weddings" cannot be read: the file is empty'
            in told((await ben.notices())["notices"], thread)[1]
        )
        assert len(told((await ben.notices())["notices"], thread)) == 2

        path.write_bytes(EMPTY)
        both.relay.clock.ahead += PAUSE + 1
        asked = await both.question(ben, "consent")
        assert asked["thread_id"] == thread
        assert "time_windows" in [field["field"] for field in asked["fields"]]
    assert "Weddings" not in caplog.text


async def test_a_wish_of_the_owners_own_says_at_once_what_it_waits_for(tmp_path):
    path = tmp_path / "anna.ics"
    path.write_bytes(EMPTY)
    async with pair(tmp_path) as (both, anna, ben):
        await add(anna, {"kind": "ics", "path": str(path)})
        path.write_bytes(b"<html>")
        begun = await anna.ask(DINNER, [ben.me])
        assert "web page" in begun["notices"][0]
        assert (await anna.pending())["questions"] == []
        # The owner gives up on this calendar: the matter goes on at once.
        await calls.call(anna, "remove_calendar", {"name": "home"})
        assert (await both.question(anna, "consent"))["thread_id"] == begun["thread_id"]


async def test_a_group_hears_once_of_a_calendar_that_cannot_be_read(tmp_path):
    path = tmp_path / "anna.ics"
    path.write_bytes(EMPTY)
    async with people(tmp_path, "anna", "ben", "cleo") as (both, anna, ben, cleo):
        await add(anna, {"kind": "ics", "path": str(path)})
        path.unlink()
        begun = await anna.ask("dinner on Friday evening", [ben.me, cleo.me])
        await both.settled()
        notices = [one for one in (await anna.notices())["notices"] if one["code"] == CODE]
        assert [one["thread_id"] for one in notices] == [begun["thread_id"]]
        assert begun["notices"] == [notices[0]["text"]]
        path.write_bytes(EMPTY)
        both.relay.clock.ahead += PAUSE + 1
        assert await both.question(ben, "consent")


async def test_a_yes_is_not_taken_while_a_calendar_cannot_be_read(tmp_path):
    path = tmp_path / "ben.ics"
    path.write_bytes(EMPTY)
    async with pair(tmp_path) as (both, anna, ben):
        await add(ben, {"kind": "ics", "path": str(path)})
        thread = (await anna.ask(DINNER, [ben.me]))["thread_id"]
        for one in (anna, ben):
            asked = await both.question(one, "consent")
            await one.answer(asked["question_id"], share(asked))
        question = await checkpoint(both, ben, thread)
        path.unlink()
        with pytest.raises(Unavailable, match='calendar "home" cannot be read: there is no file'):
            await ben.answer(question["question_id"], YES)
        path.write_bytes(EMPTY)
        await ben.answer(question["question_id"], YES)


@pytest.mark.spec("A2ACP-077", "A2ACP-224")
async def test_the_agents_own_calendar_once_written_is_not_empty_when_its_file_is_gone(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        thread = await proposed(both, anna, ben, DINNER)
        for who in (anna, ben):
            asked = await checkpoint(both, who, thread)
            await who.answer(asked["question_id"], YES)
        await until(both, thread, "COMPLETED")
        path = tmp_path / "anna" / OWN_CALENDAR
        written = path.read_bytes()
        assert written.count(b"BEGIN:VEVENT") == 1
        assert carrying.saved(tmp_path / "anna")[OWN_CALENDAR] == written

        path.unlink()
        [own] = (await anna.calendars())["calendars"]
        assert (own["name"], own["readable"]) == (OWN_CALENDAR, False)
        with pytest.raises(CalendarUnreadable):
            await anna.slot_free(Span(anna.clock.now(), Moment(anna.clock.now() + PAUSE)), thread)
        path.write_bytes(written)
        assert (await anna.calendars())["calendars"][0]["readable"]


async def test_a_program_hears_that_a_calendar_cannot_be_read_and_not_which(tmp_path):
    path = tmp_path / "anna.ics"
    path.write_bytes(EMPTY)
    async with pair(tmp_path) as (_, anna, ben):
        await add(anna, {"kind": "ics", "path": str(path)}, "Weddings")
        intent = {"category": "scheduling", "summary": "A call on Friday", "urgency": "normal"}
        need = {"field": "topic", "reason": "To prepare", "priority": "helpful"}
        given = {"to": ben.me, "intent": intent, "needs": [need]}
        begun = await programs.call(anna, "request_context", given)
        path.unlink()
        details = {"event_type": "call", "date": "2026-03-27", "time": "15:00+00:00/15:30+00:00"}
        given = {"thread_id": begun["thread_id"], "proposal": {"summary": "A call", "details": details}}
        with pytest.raises(TacitError) as fault:
            await programs.call(anna, "propose_resolution", given)
        assert isinstance(fault.value, Unavailable)
        assert "Weddings" not in str(fault.value)


OLD = [
    {"kind": "caldav", "url": "http://cal.example/", "user": "ann", "password_file": "/none"},
    {"kind": "caldav", "url": "https://127.0.0.1:1/"},
    {"kind": "ics", "path": "/nowhere/https:/cal.example/a.ics"},
    {"path": "/none"},
]


@pytest.mark.parametrize("definition", OLD)
async def test_a_calendar_that_an_older_program_took_is_one_that_cannot_be_read(tmp_path, definition):
    async with await alone(tmp_path) as anna:
        await anna.set_to("calendars", {"old": definition})
        listed = {one["name"]: one for one in (await anna.calendars())["calendars"]}
        assert not listed["old"]["readable"]
        assert listed["old"]["notices"][0].startswith('calendar "old" cannot be read: ')
        begun = await anna.ask(DINNER, ["ben@" + anna.me.partition("@")[2]])
        assert 'calendar "old"' in begun["notices"][0]
        await calls.call(anna, "remove_calendar", {"name": "old"})


async def test_a_setting_is_never_taken_for_unset_while_it_is_replaced_or_when_it_is_lost(tmp_path):
    path = tmp_path / "mine.ics"
    path.write_bytes(EMPTY)
    async with await alone(tmp_path) as anna:
        await add(anna, {"kind": "ics", "path": str(path)})
        seen: list[bool] = []

        async def looks() -> None:
            while not done.is_set():
                seen.append("home" in anna.outside.calendar_definitions())
                await asyncio.sleep(0)

        done = asyncio.Event()
        looking = asyncio.ensure_future(looks())
        for number in range(20):
            await add(anna, {"kind": "ics", "path": str(path)}, f"more{number}")
        done.set()
        await looking
        assert all(seen)
        value_id = anna.journal.book.settings["calendars"]
        assert parse(anna.vault.raw(value_id) or b"")["home"]
        anna.vault.let_go([value_id])
        anna._setting._last.clear()
        with pytest.raises(Corrupt):
            anna.outside.calendar_definitions()
        with pytest.raises(Corrupt):
            await add(anna, {"kind": "ics", "path": str(path)}, "fresh")


def test_the_notice_says_something_when_its_reasons_are_gone():
    assert "calendar list" in NOTICES[CODE]
