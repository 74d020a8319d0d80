"""What a CalDAV server answers: the calendars of a report, what stands at an address (RFC 4918, RFC 4791).

An answer that is not what was asked for is never an empty calendar: another document than a `multistatus`,
one that is cut off, or one that leaves an event out is `Unavailable`. No DTD and no entity is read. Knows
nothing of connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DAV: Final = "{DAV:}"
_CALDAV: Final = "{urn:ietf:params:xml:ns:caldav}"


@dataclass(frozen=True, slots=True)
class Collection:
    """What a server says of one address."""

    url: str
    name: str
    is_calendar: bool
    has_events: bool
    """False for a list of tasks, which is a calendar too and never has an event."""
    principals: tuple[str, ...] = ()
    """Where its account is described, as the server writes it."""
    homes: tuple[str, ...] = ()
    """Where its account's calendars are, as the server writes it."""


def calendar_texts(body: bytes) -> list[bytes]:
    """The calendars in the answer to a report."""
    texts = [_text_of(response) for response in _responses(body)]
    return [text for text in texts if text is not None]


def collections(body: bytes, url: str) -> list[Collection]:
    """What stands at the addresses of an answer to PROPFIND at `url`."""
    return [_collection(response, url) for response in _responses(body)]


def collection_at(body: bytes, url: str) -> Collection | None:
    """What stands at `url` itself: some servers answer for what is below it as well."""
    listed = collections(body, url)
    same = [one for one in listed if _path(one.url) == _path(url)]
    return same[0] if same else listed[0] if len(listed) == 1 else None


def _path(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/")


def _responses(body: bytes) -> list[Element]:
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        root = None
    if root is None or root.tag != _DAV + "multistatus":
        raise Unavailable("the server's answer is not one of a calendar server, or is cut off")
    return root.findall(_DAV + "response")


def _text_of(response: Element) -> bytes | None:
    """The calendar in one part of the answer; None when it was deleted meanwhile.

    Anything else that lacks its calendar may be an event that we do not see: then nothing is known.
    """
    for propstat in response.iter(_DAV + "propstat"):
        text = propstat.findtext(f"{_DAV}prop/{_CALDAV}calendar-data")
        if text is not None and _status(propstat) in {0, 200}:
            return text.encode("utf-8", "surrogatepass")
    if _status(response) == 404:
        return None
    raise Unavailable("the server shows only some of the events")


def _collection(response: Element, url: str) -> Collection:
    known = [part for part in response.iter(_DAV + "propstat") if _status(part) in {0, 200}]
    properties = [element for part in known for element in part.findall(f"{_DAV}prop/*")]

    def named(tag: str) -> list[Element]:
        return [element for element in properties if element.tag == tag]

    kinds = [kind.tag for element in named(_DAV + "resourcetype") for kind in element]
    parts = named(_CALDAV + "supported-calendar-component-set")
    components = {str(part.get("name")).upper() for element in parts for part in element}
    return Collection(
        _joined(url, response.findtext(_DAV + "href") or ""),
        next((element.text or "" for element in named(_DAV + "displayname")), ""),
        is_calendar=_CALDAV + "calendar" in kinds,
        has_events=not components or "VEVENT" in components,
        principals=_hrefs(named(_DAV + "current-user-principal")),
        homes=_hrefs(named(_CALDAV + "calendar-home-set")),
    )


def _joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href.strip())
    except ValueError:
        return ""


def _hrefs(elements: list[Element]) -> tuple[str, ...]:
    texts = [href.text or "" for element in elements for href in element.iter(_DAV + "href")]
    return tuple(text.strip() for text in texts if text.strip())


def _status(element: Element) -> int:
    words = (element.findtext(_DAV + "status") or "").split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0
