"""CalDAV against a real Radicale, and against servers that misbehave."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from tacit.agent.scheduling.calendars import ics
from tacit.agent.scheduling.calendars.busy import Busy
from tacit.agent.scheduling.calendars.entry import entry
from tacit.agent.scheduling.calendars.io import caldav
from tacit.agent.scheduling.calendars.io.caldav import CalDav
from tacit.agent.scheduling.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.base.errors import Refused, Unavailable
from tests.agent.scheduling.calendars import radicale
from tests.agent.scheduling.calendars.texts import at, calendar, event, shown, span

MARCH = span("2026-03-01", "2026-04-01")
DINNER = {"summary": "Dinner", "date": "2026-03-27", "time": "19:00+00:00/21:00+00:00"}
ENTRY = entry("act_1", DINNER, at("2026-03-21"))
WEEKLY = ("DTSTART;TZID=Europe/London:20260302T190000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with radicale.running(tmp_path_factory.mktemp("radicale")) as running:
        yield running


def client(server, url: str, **more) -> CalDav:
    return CalDav(url, radicale.USER, server.password_file, zone="Europe/London", **more)


@pytest.mark.spec("A2ACP-077")
async def test_a_weekly_event_with_a_moved_and_a_removed_instance_is_busy_where_it_is(server):
    series = calendar(
        event(*WEEKLY, "EXDATE;TZID=Europe/London:20260309T190000"),
        event(
            "RECURRENCE-ID;TZID=Europe/London:20260316T190000", "DTSTART:20260318T120000Z", "DURATION:PT1H"
        ),
    )
    found = await client(server, server.calendar("weekly", series=series)).busy(MARCH)
    assert found.complete
    assert shown(found.spans) == [
        "2026-03-02T19:00/2026-03-02T21:00",
        "2026-03-18T12:00/2026-03-18T13:00",
        "2026-03-23T19:00/2026-03-23T21:00",
        "2026-03-30T18:00/2026-03-30T20:00",
    ]


async def test_an_instance_moved_into_the_stretch_from_far_away_is_seen(server):
    series = calendar(
        event(*WEEKLY[:2], "RRULE:FREQ=WEEKLY;COUNT=2"),
        event(
            "RECURRENCE-ID;TZID=Europe/London:20260302T190000", "DTSTART:20260718T120000Z", "DURATION:PT1H"
        ),
    )
    found = await client(server, server.calendar("moved", series=series)).busy(
        span("2026-07-01", "2026-08-01")
    )
    assert shown(found.spans) == ["2026-07-18T12:00/2026-07-18T13:00"]


async def test_days_and_times_without_a_zone_are_the_owners(server):
    url = server.calendar(
        "owner",
        day=calendar(event("DTSTART;VALUE=DATE:20260327", "DTEND;VALUE=DATE:20260328", uid="day")),
        free=calendar(event("DTSTART:20260329T100000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT", uid="free")),
    )
    new_york = CalDav(url, radicale.USER, server.password_file, zone="America/New_York")
    found = await new_york.busy(span("2026-03-28T00:00", "2026-03-30T00:00"))
    assert shown(found.spans) == ["2026-03-28T00:00/2026-03-28T04:00"]


async def test_notices_come_from_events_on_the_server_too(server):
    long = calendar(event("DTSTART:20200101T000000Z", "DTEND:20300101T000000Z", "SUMMARY:secret"))
    found = await client(server, server.calendar("long", long=long)).busy(MARCH)
    assert found.notices == (ics.LONG,)
    assert found.spans == (MARCH,)


async def test_an_entry_is_put_once_and_taken_out_once(server):
    url = server.calendar("entries")
    ours = client(server, url)
    await ours.check()
    assert await ours.put("act_1", ENTRY) == CREATED
    assert await ours.put("act_1", ENTRY) == EXISTED
    assert server.stored("entries") == ["act_1"]
    assert shown((await ours.busy(MARCH)).spans) == ["2026-03-27T19:00/2026-03-27T21:00"]
    assert await ours.remove("act_1") == REMOVED
    assert await ours.remove("act_1") == ABSENT
    assert server.stored("entries") == []
    assert (await ours.busy(MARCH)).spans == ()


async def every_call(one: CalDav):
    yield one.busy(MARCH)
    yield one.put("act_1", ENTRY)
    yield one.remove("act_1")
    yield one.check()


async def test_a_wrong_password_is_refused_as_such(server, tmp_path):
    url = server.calendar("locked")
    (tmp_path / "wrong").write_text("guess")
    stranger = CalDav(url, radicale.USER, tmp_path / "wrong", zone="UTC")
    async for call in every_call(stranger):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.code == "calendar_denied"
    assert server.stored("locked") == []


async def test_a_password_that_cannot_be_read_is_refused(server, tmp_path):
    nobody = CalDav(server.url, radicale.USER, tmp_path / "none", zone="UTC")
    async for call in every_call(nobody):
        with pytest.raises(Refused, match="calendar_password"):
            await call


async def test_an_address_without_a_calendar_is_missing(server):
    nothing = client(server, f"{server.url}/{radicale.USER}/nothing/")
    with pytest.raises(Refused, match="calendar_missing"):
        await nothing.busy(MARCH)


WEDDING = calendar(event("DTSTART:20260328T120000Z", "DTEND:20260328T235900Z", uid="wedding"))


@pytest.mark.spec("A2ACP-077")
@pytest.mark.parametrize("path", ["/", "", f"/{radicale.USER}/", f"/{radicale.USER}"])
async def test_the_address_of_a_server_or_an_account_is_no_empty_calendar(server, path):
    """A report about one of these is answered with an empty list, while a wedding stands in a calendar below."""
    url = server.calendar(f"account{len(path)}", wedding=WEDDING)
    account = client(server, server.url + path)
    with pytest.raises(Refused, match="not_a_calendar"):
        await account.busy(MARCH)
    with pytest.raises(Refused) as refused:
        await account.first_read(MARCH)
    assert refused.value.code == "not_a_calendar"
    assert url in refused.value.message, "what to add instead is said"
    assert (await client(server, url).first_read(MARCH)).spans


async def test_a_wrong_address_on_a_server_is_told_which_calendars_there_are(server):
    url = server.calendar("known", wedding=WEDDING)
    for path in (f"/{radicale.USER}/nothing/", f"/{radicale.USER}/known/wedding.ics"):
        with pytest.raises(Refused) as refused:
            await client(server, server.url + path).first_read(MARCH)
        assert refused.value.code in {"calendar_missing", "not_a_calendar"}
        assert url in refused.value.message


async def test_a_list_of_tasks_is_no_calendar_without_events(server):
    url = f"{server.url}/{radicale.USER}/tasks/"
    tasks = (
        '<C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop>'
        '<C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set>'
        "</prop></set></C:mkcalendar>"
    )
    server._request("MKCALENDAR", url, tasks.encode())
    with pytest.raises(Refused, match="not_a_calendar"):
        await client(server, url).busy(MARCH)
    with pytest.raises(Refused) as refused:
        await client(server, f"{server.url}/{radicale.USER}/").first_read(MARCH)
    assert "/tasks/" not in refused.value.message


async def test_a_server_that_is_down_is_unavailable_until_it_is_back(tmp_path):
    with radicale.running(tmp_path) as own:
        ours = client(own, own.calendar("down"))
        assert await ours.put("act_1", ENTRY) == CREATED
        own.stop()
        async for call in every_call(ours):
            with pytest.raises(Unavailable):
                await call
        own.start()
        assert await ours.put("act_1", ENTRY) == EXISTED


@pytest.mark.parametrize(
    "url",
    [
        "http://calendar.example/a/", "ftp://127.0.0.1/", "calendar.example", "", "https://", "https://u:p@x.example/",
        "http://127.0.0.1.evil.example/", "http://localhost@evil.example/",
    ],
)  # fmt: skip
def test_an_address_that_would_tell_the_password_is_refused(url, tmp_path):
    with pytest.raises(Refused, match="bad_calendar_url"):
        CalDav(url, "u", tmp_path / "p", zone="UTC")


@pytest.mark.parametrize("name", ["../other", "a/b", "", "a\r\nX: y", "a?b", "a#b", "%2e%2e"])
async def test_a_name_leads_nowhere_else(name, tmp_path):
    (tmp_path / "p").write_text("x")
    one = CalDav("http://127.0.0.1:1/", "u", tmp_path / "p", zone="UTC")
    for call in (one.put(name, ENTRY), one.remove(name)):
        with pytest.raises(Refused, match="bad_action_id"):
            await call


@asynccontextmanager
async def answering(answer, tmp_path, **more):
    """A client of a server that answers everything with `answer`, and what it was asked."""
    asked: list[web.Request] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(request)
        return await answer(request)

    application = web.Application()
    application.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    (tmp_path / "p").write_text("secret")
    try:
        yield CalDav(f"http://127.0.0.1:{port}/cal", "u", tmp_path / "p", zone="UTC", **more), asked
    finally:
        await runner.cleanup()


def fixed(status: int, text: str = "", **headers: str):
    """A calendar whose report is answered so; what is no answer to a report is the answer to everything."""

    async def answer(request: web.Request) -> web.Response:
        if status == 207 and request.method == "PROPFIND":
            return web.Response(status=207, text=CALENDAR)
        return web.Response(status=status, text=text, headers=headers)

    return answer


def multi(*responses: str) -> str:
    return f'<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">{"".join(responses)}</multistatus>'


GOOD = (
    "<response><href>/a.ics</href><propstat><prop><C:calendar-data>"
    + calendar(event("DTSTART:20260327T180000Z", "DURATION:PT1H")).decode()
    + "</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
)
CALENDAR = multi(
    "<response><href>/cal/</href><propstat><prop><resourcetype><collection/><C:calendar/></resourcetype></prop>"
    "<status>HTTP/1.1 200 OK</status></propstat></response>"
)
FOLDER = CALENDAR.replace("<C:calendar/>", "")
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><multistatus xmlns="DAV:">&b;</multistatus>'

ANSWERS = [
    (fixed(500), Unavailable, ""), (fixed(503), Unavailable, ""), (fixed(429), Unavailable, ""),
    (fixed(423), Unavailable, ""), (fixed(401), Refused, "calendar_denied"), (fixed(403), Refused, "calendar_denied"),
    (fixed(404), Refused, "calendar_missing"), (fixed(400), Refused, "calendar_refused"),
    (fixed(405), Refused, "not_a_calendar"), (fixed(501), Refused, "not_a_calendar"),
    (fixed(200, "<html>Log in</html>"), Refused, "not_a_calendar"), (fixed(303, Location="/login"), Refused, "not_a_calendar"),
    (fixed(207, "<html/>"), Unavailable, ""), (fixed(207, multi()[:-5]), Unavailable, ""),
    (fixed(207, '<multistatus xmlns="http://example.org/"/>'), Unavailable, ""),
    (fixed(207, "hello"), Unavailable, ""), (fixed(207, BOMB), Unavailable, ""), (fixed(207, ""), Unavailable, ""),
    (fixed(207, multi(GOOD, "<response><href>/</href><status>HTTP/1.1 507 Full</status></response>")), Unavailable, ""),
    (fixed(207, multi("<response><href>/b.ics</href></response>")), Unavailable, ""),
    (fixed(207, multi(GOOD.replace("200 OK", "403 No"))), Unavailable, ""),
    (fixed(302, Location="http://127.0.0.1:1/cal/"), Refused, "calendar_moved"),
    (fixed(308, Location="https://evil.example/"), Refused, "calendar_moved"),
    (fixed(307, Location="/again/"), Unavailable, ""),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "kind", "code"), ANSWERS)
async def test_an_answer_that_tells_no_calendar_gives_no_free_time(answer, kind, code, tmp_path):
    async with answering(answer, tmp_path) as (one, asked):
        with pytest.raises(kind) as fault:
            await one.busy(MARCH)
        assert getattr(fault.value, "code", "") == code
        assert 1 <= len(asked) <= 4


@pytest.mark.parametrize(
    "described",
    [
        FOLDER,
        multi(),
        multi("<response><href>/cal/</href><status>HTTP/1.1 404 Not Found</status></response>"),
    ],
)
async def test_an_empty_report_about_what_is_no_calendar_is_not_read(described, tmp_path):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=207, text=described if request.method == "PROPFIND" else multi())

    async with answering(answer, tmp_path) as (one, asked):
        for read in (one.busy, one.first_read):
            with pytest.raises(Refused, match="not_a_calendar"):
                await read(MARCH)
        assert "REPORT" not in {request.method for request in asked}


async def test_a_calendar_without_events_is_free(tmp_path):
    async with answering(fixed(207, multi()), tmp_path) as (one, _):
        assert await one.first_read(MARCH) == Busy()


async def test_a_server_that_ignores_what_time_was_asked_about_changes_nothing(tmp_path):
    other = GOOD.replace("20260327", "20310101")
    async with answering(fixed(207, multi(GOOD, other)), tmp_path) as (one, _):
        assert shown((await one.busy(MARCH)).spans) == ["2026-03-27T18:00/2026-03-27T19:00"]


async def test_an_account_whose_calendars_are_on_another_server_is_told_where(tmp_path):
    home = "https://p42.cal.example:443/12/calendars/"
    account = FOLDER.replace(
        "</resourcetype>", f"</resourcetype><C:calendar-home-set><href>{home}</href></C:calendar-home-set>"
    )
    async with answering(lambda _: _answered(207, account), tmp_path) as (one, asked):
        with pytest.raises(Refused) as refused:
            await one.first_read(MARCH)
        assert home in refused.value.message
        assert all(request.host.startswith("127.0.0.1") for request in asked)


async def _answered(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text)


async def test_a_search_for_calendars_that_leads_nowhere_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(caldav, "_SEARCH_SECONDS", 0.2)

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(asked) > 1:
            await asyncio.Event().wait()
        return await _answered(207, FOLDER)

    async with answering(answer, tmp_path) as (one, asked):
        with pytest.raises(Refused, match="there is no calendar at this address"):
            await one.first_read(MARCH)


async def test_what_went_away_meanwhile_is_gone_and_the_rest_counts(tmp_path):
    gone = "<response><href>/b.ics</href><status>HTTP/1.1 404 Not Found</status></response>"
    async with answering(fixed(207, multi(GOOD, gone)), tmp_path) as (one, _):
        assert shown((await one.busy(MARCH)).spans) == ["2026-03-27T18:00/2026-03-27T19:00"]


async def test_an_event_on_the_server_that_is_none_makes_everything_unknown(tmp_path):
    broken = GOOD.replace("END:VEVENT", "")
    async with answering(fixed(207, multi(GOOD, broken)), tmp_path) as (one, _):
        found = await one.busy(MARCH)
    assert not found.complete
    assert found.spans == (MARCH,)


async def test_a_redirect_within_the_server_is_followed_with_the_same_request(tmp_path):
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/cal/act_1.ics":
            return web.Response(status=308, headers={"Location": "/new/act_1.ics"})
        assert await request.read() == ENTRY
        assert request.headers["If-None-Match"] == "*"
        return web.Response(status=201)

    async with answering(answer, tmp_path) as (one, asked):
        assert await one.put("act_1", ENTRY) == CREATED
        assert [(request.method, request.path) for request in asked] == [
            ("PUT", "/cal/act_1.ics"),
            ("PUT", "/new/act_1.ics"),
        ]


async def test_an_answer_without_end_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(caldav, "LARGEST_ANSWER", 2**18)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.method == "PROPFIND":
            return await _answered(207, CALENDAR)
        response = web.StreamResponse(status=207)
        await response.prepare(request)
        try:
            while True:
                await response.write(b" " * 2**14)
        except ConnectionError:
            return response

    async with answering(answer, tmp_path) as (one, _):
        with pytest.raises(Unavailable, match="larger"):
            await one.busy(MARCH)


async def test_a_server_that_does_not_finish_is_unavailable(tmp_path):
    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with answering(answer, tmp_path, patience=aiohttp.ClientTimeout(total=0.2)) as (one, _):
        async for call in every_call(one):
            with pytest.raises(Unavailable):
                await call


@pytest.mark.parametrize(
    ("status", "kind"), [(409, Refused), (415, Refused), (507, Unavailable), (404, Refused)]
)
async def test_an_entry_that_the_server_does_not_take_is_told(status, kind, tmp_path):
    async with answering(fixed(status), tmp_path) as (one, _):
        with pytest.raises(kind):
            await one.put("act_1", ENTRY)
