"""Addresses of hubs and relays, as people give them.

They are shown in errors, lists and links, so that nothing secret may stand in them.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tacit.base.errors import Refused


def without_secret(url: str, what: str) -> str:
    """The address itself; `Refused`, without quoting it, when it holds more than where something is.

    That is a name with a password, and what stands behind `#` or `?`: of a link that signs in, its code.
    """
    try:
        parts = urlsplit(url)
        holds_more = "@" in parts.netloc or bool(parts.query or parts.fragment)
    except ValueError:
        holds_more = True
    if holds_more:
        raise Refused(
            "invalid_request",
            f"leave the user name, the password and what follows # or ? out of {what}: it is shown to others",
        )
    return url
