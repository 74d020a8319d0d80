"""Where a calendar is, as its owner writes it: without what pasting adds, and refused where it cannot work.

No message repeats the address: it may hold a password. Knows nothing of what answers there.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from tacit.base.errors import Refused

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
BAD_URL: Final = "bad_calendar_url"
_QUOTES: Final = " \t\r\n\"'<>\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def pasted(text: str) -> str:
    """An address or a path without the blanks and the quotation marks around it."""
    return text.strip(_QUOTES)


def is_url(text: str) -> bool:
    """Whether this is an address rather than a path."""
    return "://" in text or text.lower().startswith(("webcal:", "http:", "https:", "file:"))


def file_path(text: str) -> str:
    """The path of a calendar's file; `Refused` when it is something else."""
    path = pasted(text)
    if path.lower().startswith("file:"):
        raise Refused("bad_calendar_path", "write the path of the file by itself, without file://")
    if is_url(path):
        raise Refused(
            "bad_calendar_path",
            "a calendar on the web cannot be read from its .ics address: "
            "add it with `caldav`, or download the .ics file and add that",
        )
    if not path.startswith("/") or "\0" in path:
        raise Refused("bad_calendar_path", "write the whole path of the .ics file, from / on")
    return path


def caldav_url(text: str) -> str:
    """The address of a CalDAV calendar, ending with a slash; `Refused` when no password may go there."""
    url = pasted(text)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise Refused(
            BAD_URL, "this is no web address: copy it again from your calendar's settings"
        ) from None
    if "://" not in url:
        raise Refused(BAD_URL, "write https:// before the address")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Refused(BAD_URL, "write an address that begins with https://")
    if "@" in parts.netloc:
        raise Refused(BAD_URL, "leave the user name and the password out of the address")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise Refused(BAD_URL, "write https:// instead of http://, which would show your password to others")
    if parts.query:
        raise Refused(BAD_URL, "leave out the question mark in the address and what follows it")
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    return SplitResult(parts.scheme, parts.netloc, path, "", "").geturl()


def at_same_origin(url: str, href: str) -> str | None:
    """The address that a server names, or None when it is on another server: a password does not go there."""
    try:
        there = urljoin(url, href.strip())
        same = "@" not in urlsplit(there).netloc and _origin(url) == _origin(there)
    except ValueError:
        return None
    return there if same else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
