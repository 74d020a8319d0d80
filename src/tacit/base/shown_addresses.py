"""Addresses of hubs and relays, as people give them.

They are shown in errors, lists and links, so that no name or password of a caller may stand in them.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tacit.base.errors import Refused


def without_login(url: str, what: str) -> str:
    """The address itself; `Refused`, without quoting it, when somebody's name or password stands in it."""
    try:
        holds_login = "@" in urlsplit(url).netloc
    except ValueError:
        holds_login = "@" in url
    if holds_login:
        raise Refused(
            "invalid_request", f"leave the user name and the password out of {what}: it is shown to others"
        )
    return url
