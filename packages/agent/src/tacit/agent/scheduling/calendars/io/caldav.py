"""A calendar on a CalDAV server (RFC 4791): REPORT to read, PUT and DELETE for entries of our own.

Each entry is put once: its name is the action's id, and the server is told to refuse a second one of that
name (A2ACP-167). The password comes from a file, goes to the calendar's own origin and nowhere else, and in
the clear to this machine alone. Answers are limited in size and time. A server that is down, slow or garbled
is `Unavailable`; one that does not want us is `Refused`.

A report about an address that is no calendar, such as a server's or an account's, is answered by many servers
with an empty list. So each reading first asks whether there is a calendar, and where there is none says which
calendars there are instead, as far as the server tells. Knows nothing of what an entry says.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin, urlsplit

import aiohttp

from tacit.a2acp.packets.dates import wall
from tacit.agent.scheduling.calendars.addresses import at_same_origin, caldav_url
from tacit.agent.scheduling.calendars.entry import checked_name
from tacit.agent.scheduling.calendars.ics import read_all
from tacit.agent.scheduling.calendars.multistatus import calendar_texts, collection_at, collections
from tacit.agent.scheduling.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.base.quoting import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.calendars.multistatus import Collection
    from tacit.base.moment import Span

LARGEST_ANSWER: Final = 16 * 2**20
_PATIENCE: Final = aiohttp.ClientTimeout(total=20, connect=10)
_SEARCH_SECONDS: Final = 20
_MOST_LISTED: Final = 10
_MOVED: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3
_AROUND: Final = timedelta(days=2)
"""Asked for on both sides: days and times without a zone are the owner's, which the server does not know."""
MISSING: Final = "calendar_missing"
NOT_A_CALENDAR: Final = "not_a_calendar"
_COPY: Final = "copy the calendar's own address from its settings"

_XML: Final = {"Content-Type": "application/xml; charset=utf-8"}
_QUERY: Final = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
 <D:prop><C:calendar-data/></D:prop>
 <C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
  <C:time-range start="{start}" end="{end}"/>
 </C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>"""
_WHAT_IS_IT: Final = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>
 <D:resourcetype/><D:displayname/><C:supported-calendar-component-set/>
 <D:current-user-principal/><C:calendar-home-set/>
</D:prop></D:propfind>"""


class CalDav:
    """One calendar on a server."""

    def __init__(
        self,
        url: str,
        user: str,
        password_file: Path,
        *,
        zone: str,
        owners: frozenset[str] = frozenset(),
        patience: aiohttp.ClientTimeout = _PATIENCE,
    ) -> None:
        if not user or ":" in user:
            raise Refused("bad_calendar_user", "the user name must not be empty or have a colon")
        self._url = caldav_url(url)
        self._user = user
        self._password_file = password_file
        self._zone = zone
        self._owners = owners
        self._patience = patience

    async def busy(self, asked: Span) -> Busy:
        """When the owner is busy; what one event has unclear is told in a notice."""
        await self.check()
        query = _QUERY.format(
            start=f"{wall(asked.start, UTC) - _AROUND:%Y%m%dT%H%M%SZ}",
            end=f"{wall(asked.end, UTC) + _AROUND:%Y%m%dT%H%M%SZ}",
        )
        status, body, _ = await self._ask("REPORT", self._url, query.encode(), _XML | {"Depth": "1"})
        if status != 207:
            raise _fault(status)
        return await asyncio.to_thread(self._read, body, asked)

    def _read(self, body: bytes, asked: Span) -> Busy:
        return read_all(
            calendar_texts(body), asked, self._zone, owners=self._owners, what="an event on the server"
        )

    async def check(self) -> None:
        """Whether there is a calendar with events at the address; `Refused` when there is none."""
        body, url = await self._properties(self._url, "0")
        there = await asyncio.to_thread(collection_at, body, url)
        if there is None or not there.is_calendar:
            raise Refused(NOT_A_CALENDAR, f"there is no calendar at this address: {_COPY}")
        if not there.has_events:
            raise Refused(NOT_A_CALENDAR, "this is a list of tasks, which has no events: add a calendar")

    async def first_read(self, asked: Span) -> Busy:
        """The same as `busy`; where there is no calendar, `Refused` names those that the account has."""
        try:
            return await self.busy(asked)
        except Refused as refused:
            if refused.code not in {MISSING, NOT_A_CALENDAR}:
                raise
            try:
                async with asyncio.timeout(_SEARCH_SECONDS):
                    instead = await self._instead()
            except TimeoutError:
                instead = ""
            raise Refused(refused.code, instead or refused.message) from None

    async def _instead(self) -> str:
        """What to add where the address is a server's or an account's; empty when the server does not say."""
        for url in (self._url, urljoin(self._url, "/.well-known/caldav")):
            account = await self._described(url)
            if account is not None and not account.homes and account.principals:
                account = await self._described(urljoin(account.url, account.principals[0]))
            homes = account.homes if account is not None else ()
            for home in (urljoin(url, one) for one in homes):
                same = at_same_origin(self._url, home)
                if same is None:
                    return (
                        "this is the address of an account, whose calendars are on another server: "
                        f"add {_shown_url(home)} to see their addresses"
                    )
                if listed := await self._calendars_in(same):
                    return f"this is not a calendar. Add one of these: {', '.join(listed)}"
        listed = await self._calendars_in(self._url)
        return f"this is not a calendar. Add one of these: {', '.join(listed)}" if listed else ""

    async def _described(self, url: str) -> Collection | None:
        same = at_same_origin(self._url, url)
        if same is None:
            return None
        try:
            body, there = await self._properties(same, "0")
            return await asyncio.to_thread(collection_at, body, there)
        except TacitError:
            return None

    async def _calendars_in(self, url: str) -> list[str]:
        """The calendars right below an address, each as its name and its address."""
        try:
            body, there = await self._properties(url, "1")
            listed = await asyncio.to_thread(collections, body, there)
        except TacitError:
            return []
        calendars = [
            (one.name, same)
            for one in listed
            if one.is_calendar and one.has_events and (same := at_same_origin(self._url, one.url))
        ]
        return [f"{shown(name)} {_shown_url(there)}".strip() for name, there in calendars[:_MOST_LISTED]]

    async def _properties(self, url: str, depth: str) -> tuple[bytes, str]:
        """What the server says of an address, and where that is after redirects."""
        status, body, there = await self._ask("PROPFIND", url, _WHAT_IS_IT, _XML | {"Depth": depth})
        if status != 207:
            raise _fault(status)
        return body, there

    async def put(self, name: str, data: bytes) -> str:
        """Have an entry there once; a repeat finds it."""
        headers = {"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
        status, _, _ = await self._ask("PUT", self._at(name), data, headers)
        if status in {200, 201, 204}:
            return CREATED
        if status == 412:
            return EXISTED
        raise _fault(status)

    async def remove(self, name: str) -> str:
        """Have it gone; a repeat finds nothing."""
        status, _, _ = await self._ask("DELETE", self._at(name), b"", {})
        if status in {200, 202, 204}:
            return REMOVED
        if status in {404, 410}:
            return ABSENT
        raise _fault(status)

    def _at(self, name: str) -> str:
        return f"{self._url}{checked_name(name)}.ics"

    async def _ask(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes, str]:
        """The status and the body of the answer and where it is from, after redirects within the origin."""
        password = await asyncio.to_thread(self._password)
        token = aiohttp.encode_basic_auth(self._user, password, encoding="utf-8")
        try:
            async with aiohttp.ClientSession(
                headers={"Authorization": token}, timeout=self._patience
            ) as http:
                for _ in range(_MOST_REDIRECTS + 1):
                    async with http.request(
                        method, url, data=body or None, headers=headers, allow_redirects=False
                    ) as answer:
                        if answer.status not in _MOVED:
                            return answer.status, await _limited(answer), url
                        url = _followed(url, answer.headers.get("Location", ""))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as fault:
            raise Unavailable(_why(fault)) from None
        raise Unavailable("the server redirects in circles")

    def _password(self) -> str:
        try:
            return self._password_file.read_text("utf-8").strip("\r\n")
        except (OSError, ValueError):
            raise Refused("calendar_password", "the file with its password cannot be read") from None


async def _limited(answer: aiohttp.ClientResponse) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in answer.content.iter_chunked(2**16):
        size += len(piece)
        if size > LARGEST_ANSWER:
            raise Unavailable(f"the server's answer is larger than {LARGEST_ANSWER // 2**20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def _followed(url: str, location: str) -> str:
    there = at_same_origin(url, location)
    if there is not None:
        return there
    if urlsplit(url).scheme == "http" and location.startswith("https://"):
        raise Refused("calendar_moved", "the server wants an address that begins with https://")
    raise Refused(
        "calendar_moved",
        f"the server redirects to another one, where your password is not sent: {_COPY}",
    )


def _shown_url(url: str) -> str:
    """An address as a line can show it: a server may write anything."""
    return shown(quote(url, safe="/:%@&=+$,;~!*'()-._[]"))


def _why(fault: Exception) -> str:
    """What kept a server from answering, in plain words."""
    match fault:
        case aiohttp.ClientConnectorDNSError():
            return "there is no server of this name, or this machine is offline"
        case aiohttp.ClientSSLError():
            return "the server's certificate is not valid for this address"
        case TimeoutError():
            return "the server does not answer in time"
        case aiohttp.ClientConnectorError():
            return "the server cannot be reached"
        case _:
            return "the server does not answer as a web server should"


def _fault(status: int) -> Exception:
    """What a status that we did not want means."""
    details = {"status": status}
    if status == 401:
        message = (
            "the server does not accept the user name or the password: check both; "
            "some providers want an app password"
        )
        return Refused("calendar_denied", message, details=details)
    if status == 403:
        message = "the server does not give this account access to this address (403)"
        return Refused("calendar_denied", message, details=details)
    if status in {404, 410}:
        return Refused(MISSING, f"there is nothing at this address: {_COPY}", details=details)
    if status < 400 or status in {405, 501}:
        message = f"what answers at this address is not a CalDAV server: {_COPY}"
        return Refused(NOT_A_CALENDAR, message, details=details)
    if status in {408, 423, 425, 429} or status >= 500:
        return Unavailable(f"the server has a problem of its own now (HTTP {status})")
    message = f"the server refuses this (HTTP {status}): {_COPY}"
    return Refused("calendar_refused", message, details=details)
