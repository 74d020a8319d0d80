"""A calendar on a CalDAV server (RFC 4791): REPORT to read, PUT and DELETE for entries of our own.

Each entry is put once: its name is the action's id, and the server is told to refuse a second one of that
name (A2ACP-167). The password comes from a file, goes to the calendar's own origin and nowhere else, and in
the clear to this machine alone. Answers are limited in size and time, XML without DTD or entities. A server
that is down, slow or garbled is `Unavailable`; one that does not want us is `Refused`. Knows nothing of what
an entry says.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import ParseError

import aiohttp
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from tacit.agent.calendars.entry import checked_name
from tacit.agent.calendars.ics import read_all
from tacit.agent.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.agent.zones import wall
from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from tacit.agent.calendars.busy import Busy
    from tacit.agent.spans import Span

LARGEST_ANSWER: Final = 16 * 2**20
_PATIENCE: Final = aiohttp.ClientTimeout(total=20, connect=10)
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_MOVED: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3
_AROUND: Final = timedelta(days=2)
"""Asked for on both sides: days and times without a zone are the owner's, which the server does not know."""
_DAV: Final = "{DAV:}"
_CALDAV: Final = "{urn:ietf:params:xml:ns:caldav}"

_QUERY: Final = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
 <D:prop><C:calendar-data/></D:prop>
 <C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
  <C:time-range start="{start}" end="{end}"/>
 </C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>"""
_WHAT_IS_IT: Final = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/></D:prop></D:propfind>"""


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
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            raise Refused("bad_calendar_url", "a CalDAV address begins with https:// and names no user")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise Refused("bad_calendar_url", "a password goes over https, or stays on this machine")
        if not user or ":" in user:
            raise Refused("bad_calendar_user", "a user's name has no colon")
        self._url = url if url.endswith("/") else url + "/"
        self._user = user
        self._password_file = password_file
        self._zone = zone
        self._owners = owners
        self._patience = patience

    async def busy(self, asked: Span) -> Busy:
        """When the owner is busy; what one event has unclear is told in a notice."""
        query = _QUERY.format(
            start=f"{wall(asked.start, UTC) - _AROUND:%Y%m%dT%H%M%SZ}",
            end=f"{wall(asked.end, UTC) + _AROUND:%Y%m%dT%H%M%SZ}",
        )
        status, body = await self._ask("REPORT", self._url, query.encode(), _XML | {"Depth": "1"})
        if status != 207:
            raise _fault(status)
        return await asyncio.to_thread(self._read, body, asked)

    def _read(self, body: bytes, asked: Span) -> Busy:
        texts = [text for one in _parsed(body).iter(_DAV + "response") if (text := _text_of(one)) is not None]
        return read_all(texts, asked, self._zone, owners=self._owners)

    async def check(self) -> None:
        """Whether there is a calendar at the address; `calendar_missing` when there is none."""
        status, body = await self._ask("PROPFIND", self._url, _WHAT_IS_IT, _XML | {"Depth": "0"})
        if status != 207:
            raise _fault(status)
        root = await asyncio.to_thread(_parsed, body)
        if root.find(f".//{_DAV}resourcetype/{_CALDAV}calendar") is None:
            raise Refused("calendar_missing", "there is no calendar at this address")

    async def put(self, name: str, data: bytes) -> str:
        """Have an entry there once; a repeat finds it."""
        headers = {"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
        status, _ = await self._ask("PUT", self._at(name), data, headers)
        if status in {200, 201, 204}:
            return CREATED
        if status == 412:
            return EXISTED
        raise _fault(status)

    async def remove(self, name: str) -> str:
        """Have it gone; a repeat finds nothing."""
        status, _ = await self._ask("DELETE", self._at(name), b"", {})
        if status in {200, 202, 204}:
            return REMOVED
        if status in {404, 410}:
            return ABSENT
        raise _fault(status)

    def _at(self, name: str) -> str:
        return f"{self._url}{checked_name(name)}.ics"

    async def _ask(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """The status and the body of the answer, after redirects within the origin."""
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
                            return answer.status, await _limited(answer)
                        url = _same_origin(url, answer.headers.get("Location", ""))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            raise Unavailable("the calendar's server does not answer, or not in HTTP") from None
        raise Unavailable("the calendar's server sends us in circles")

    def _password(self) -> str:
        try:
            return self._password_file.read_text("utf-8").strip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise Refused(
                "calendar_password", "the file with the calendar's password cannot be read"
            ) from None


_XML: Final = {"Content-Type": "application/xml; charset=utf-8"}


async def _limited(answer: aiohttp.ClientResponse) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in answer.content.iter_chunked(2**16):
        size += len(piece)
        if size > LARGEST_ANSWER:
            raise Unavailable("the calendar's answer is larger than we take")
        pieces.append(piece)
    return b"".join(pieces)


def _same_origin(url: str, location: str) -> str:
    there = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(there)
    if (old.scheme, old.hostname, old.port) != (new.scheme, new.hostname, new.port) or "@" in new.netloc:
        raise Refused("calendar_moved", "the calendar's server sends us to another one; the password stays")
    return there


def _fault(status: int) -> Exception:
    """What a status that we did not want means."""
    if status in {401, 403}:
        return Refused("calendar_denied", "the calendar's server does not accept user and password")
    if status in {404, 410}:
        return Refused("calendar_missing", "there is no calendar at this address")
    if status in {408, 423, 425, 429} or status >= 500:
        return Unavailable(f"the calendar's server cannot now (HTTP {status})")
    return Refused("calendar_refused", f"the calendar's server does not want this (HTTP {status})")


def _parsed(body: bytes) -> Element:
    try:
        return fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        raise Unavailable("the calendar's server does not answer in XML that we take") from None


def _text_of(response: Element) -> bytes | None:
    """The calendar in one part of a multi-status answer; None when it went away meanwhile.

    Anything else that lacks its calendar may be an event that we do not see: then nothing is known.
    """
    for one in response.iter(_DAV + "propstat"):
        text = one.findtext(f"{_DAV}prop/{_CALDAV}calendar-data")
        if text is not None and _status(one.findtext(_DAV + "status")) in {0, 200}:
            return text.encode("utf-8", "surrogatepass")
    if _status(response.findtext(_DAV + "status")) == 404:
        return None
    raise Unavailable("the calendar's server tells only a part")


def _status(line: str | None) -> int:
    words = (line or "").split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0
