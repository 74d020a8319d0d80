"""Where a calendar is, as people paste it: taken when it can work, else refused with the one next step."""

from __future__ import annotations

import pytest

from tacit.agent.scheduling.calendars.addresses import at_same_origin, caldav_url, file_path, is_url, pasted
from tacit.base.errors import Refused

URLS = [
    ("https://cal.example/dav/ann/", "https://cal.example/dav/ann/"),
    ("https://cal.example/dav/ann", "https://cal.example/dav/ann/"),
    (" <https://cal.example/dav/ann/>\n", "https://cal.example/dav/ann/"),
    ("\u201chttps://cal.example/dav/ann/\u201d", "https://cal.example/dav/ann/"),
    ("HTTPS://Cal.Example/dav/ann/", "https://Cal.Example/dav/ann/"),
    ("https://cal.example:8443", "https://cal.example:8443/"),
    ("https://cal.example/dav/ann%40mail.example/#today", "https://cal.example/dav/ann%40mail.example/"),
    ("https://cal.example/dav/ann@mail.example/", "https://cal.example/dav/ann@mail.example/"),
    ("http://localhost:5232", "http://localhost:5232/"),
    ("http://[::1]:5232/ann/", "http://[::1]:5232/ann/"),
]
BAD_URLS = [
    ("cloud.example/remote.php/dav", "write https:// before"),
    ("cal.example:8443/dav", "write https:// before"),
    ("", "write https:// before"),
    ("webcal://cal.example/a.ics", "begins with https://"),
    ("caldavs://cal.example/", "begins with https://"),
    ("https:///dav/", "begins with https://"),
    ("https://ann:s3cret@cal.example/", "leave the user name"),
    ("http://cal.example/", "https:// instead"),
    ("http://localhost.evil.example/", "https:// instead"),
    ("https://cal.example/public/x?export", "question mark"),
    ("https://cal.example:port/", "no web address"),
    ("https://[cal.example/", "no web address"),
]
BAD_PATHS = [
    ("https://cal.example/holidays.ics", "caldav"),
    ("\u201chttps://cal.example/holidays.ics\u201d", "caldav"),
    ("webcal://cal.example/holidays.ics", "caldav"),
    ("webcal:cal.example/holidays.ics", "caldav"),
    ("HTTPS:/cal.example/holidays.ics", "caldav"),
    ("file:///home/ann/a.ics", "without file://"),
    ("calendar.ics", "whole path"),
    ("C:\\Users\\Ann\\calendar.ics", "whole path"),
    ("", "whole path"),
    ("/home/ann/a\0.ics", "whole path"),
]


@pytest.mark.parametrize(("written", "used"), URLS)
def test_an_address_that_can_work_is_used(written, used):
    assert caldav_url(written) == used


@pytest.mark.parametrize(("written", "says"), BAD_URLS)
def test_an_address_that_cannot_work_is_refused_with_what_to_do_and_not_repeated(written, says):
    with pytest.raises(Refused, match=says) as refused:
        caldav_url(written)
    assert refused.value.code == "bad_calendar_url"
    assert "cal.example" not in refused.value.message
    assert "s3cret" not in refused.value.message


@pytest.mark.parametrize(("written", "says"), BAD_PATHS)
def test_what_is_no_path_is_refused_with_what_to_do(written, says):
    with pytest.raises(Refused, match=says) as refused:
        file_path(written)
    assert refused.value.code == "bad_calendar_path"


def test_a_path_is_used_without_the_quotation_marks_around_it():
    assert file_path(' "/home/ann/My Calendar.ics"') == "/home/ann/My Calendar.ics"
    assert pasted("'~/a.ics' ") == "~/a.ics"
    assert not is_url("/home/https/a.ics")


SAME = [
    ("/dav/ann/", "https://cal.example/dav/ann/"),
    (" ann/ ", "https://cal.example/dav/ann/"),
    ("https://cal.example:443/x/", "https://cal.example:443/x/"),
    ("https://CAL.example/x/", "https://CAL.example/x/"),
    ("https://other.example/", None), ("http://cal.example/", None), ("https://cal.example:444/", None),
    ("//other.example/", None), ("https://ann@cal.example/", None), ("https://[cal.example/", None),
]  # fmt: skip


@pytest.mark.parametrize(("href", "address"), SAME)
def test_a_server_leads_to_itself_alone(href, address):
    assert at_same_origin("https://cal.example/dav/", href) == address
