"""What a CalDAV server answers: an answer without events is an empty calendar only when it is one of a calendar."""

from __future__ import annotations

import pytest

from tacit.agent.scheduling.calendars.multistatus import calendar_texts, collection_at, collections
from tacit.base.errors import Unavailable


def multistatus(*responses: str) -> bytes:
    names = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
    return f"<multistatus {names}>{''.join(responses)}</multistatus>".encode()


def properties(href: str, *found: str, status: str = "200 OK") -> str:
    inner = f"<prop>{''.join(found)}</prop><status>HTTP/1.1 {status}</status>"
    return f"<response><href>{href}</href><propstat>{inner}</propstat></response>"


CALENDAR = "<resourcetype><collection/><C:calendar/></resourcetype>"
FOLDER = "<resourcetype><collection/></resourcetype>"
URL = "https://cal.example/ann/diary/"

NO_ANSWERS = [
    b"", b"hello", b"<html><body>Log in</body></html>", b'<html xmlns="http://www.w3.org/1999/xhtml"/>',
    b"<multistatus><response/></multistatus>", multistatus(properties("/", CALENDAR))[:-20],
    b'<error xmlns="DAV:"/>', b'<prop xmlns="DAV:"><multistatus/></prop>',
    b'<!DOCTYPE x [<!ENTITY a "aa">]><multistatus xmlns="DAV:">&a;</multistatus>',
]  # fmt: skip


@pytest.mark.parametrize("body", NO_ANSWERS)
def test_what_is_no_answer_of_a_calendar_server_is_not_an_empty_one(body):
    for read in (calendar_texts, lambda given: collections(given, URL)):
        with pytest.raises(Unavailable):
            read(body)


KINDS = [
    ("a calendar", (CALENDAR,), True, True),
    ("a folder", (FOLDER,), False, True),
    ("a subscription", ("<resourcetype><collection/><S:subscribed/></resourcetype>",), False, True),
    ("an inbox", ("<resourcetype><collection/><C:schedule-inbox/></resourcetype>",), False, True),
    ("of events", (CALENDAR, '<C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>'), True, True),
    ("of tasks", (CALENDAR, '<C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set>'), True, False),
    ("of both", (CALENDAR, '<C:supported-calendar-component-set><C:comp name="VTODO"/><C:comp name="vevent"/></C:supported-calendar-component-set>'), True, True),
    ("nothing", (), False, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "is_calendar", "has_events"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS]
)
def test_what_stands_at_an_address_is_what_the_server_says(found, is_calendar, has_events):
    there = collection_at(multistatus(properties("/ann/diary/", *found)), URL)
    assert there is not None
    assert (there.is_calendar, there.has_events) == (is_calendar, has_events)


def test_what_the_server_does_not_have_is_no_property():
    there = collection_at(multistatus(properties("/ann/diary/", CALENDAR, status="404 Not Found")), URL)
    assert there is not None
    assert not there.is_calendar


def test_a_server_that_answers_for_what_is_below_an_address_makes_no_calendar_of_it():
    account = [properties("/ann/", FOLDER), properties("/ann/diary/", CALENDAR)]
    there = collection_at(multistatus(*account), "https://cal.example/ann")
    assert there is not None
    assert not there.is_calendar
    assert collection_at(multistatus(*account), "https://cal.example/other/") is None


def test_an_address_is_the_same_however_it_is_written():
    answers = [properties("/a%6En/diary", CALENDAR), properties("/", FOLDER)]
    there = collection_at(multistatus(*answers), URL)
    assert there is not None
    assert there.is_calendar
    # Behind a proxy a server may not know its own address; of one answer it is clear what it is about.
    assert collection_at(multistatus(properties("/inside/", CALENDAR)), URL) is not None


def test_the_ways_to_an_accounts_calendars_are_read():
    found = (
        "<current-user-principal><href>/me/</href></current-user-principal>",
        "<C:calendar-home-set><href> /home/ </href><href/></C:calendar-home-set>",
        "<displayname>Ann</displayname>",
    )
    there = collection_at(multistatus(properties("/ann/diary/", *found)), URL)
    assert there is not None
    assert (there.principals, there.homes, there.name) == (("/me/",), ("/home/",), "Ann")


def test_a_place_that_is_none_leads_nowhere():
    (there,) = collections(multistatus(properties("https://[x/", CALENDAR)), URL)
    assert there.url == ""
