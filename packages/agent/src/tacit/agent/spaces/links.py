"""Links to things outside of a space, and which tool opens one (A2ACP-206).

A link is a field with an address of the web in it, alone or beside a name. It is opened by a tool of the
owner's that was configured for addresses that begin so; without one it is text. Opens nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.strict_json import Json

SCHEMES: Final = frozenset({"https", "http", "file", "drive", "github", "notion"})
LONGEST: Final = 2000


def checked(url: str) -> str:
    """The address, or `Refused`."""
    if not is_url(url):
        raise Refused("bad_link", "a link is an address such as https://…", row="A2ACP-206")
    return url


def is_url(text: object) -> bool:
    """Whether a text is an address that a link may have."""
    if not isinstance(text, str) or len(text) > LONGEST or not text.isascii() or not text.isprintable():
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return " " not in text and parts.scheme in SCHEMES and bool(parts.netloc or parts.path)


def url_of(value: Json) -> str | None:
    """The address in a field; None when it holds no link."""
    if isinstance(value, dict):
        value = value.get("link")
    return value if isinstance(value, str) and is_url(value) else None


def opener(url: str, tools: Mapping[str, Any]) -> str | None:
    """The name of the tool whose addresses begin as this one does, the longest beginning first."""
    fitting = [
        (len(str(one["prefix"])), name)
        for name, one in tools.items()
        if url.startswith(str(one["prefix"])) and not _climbs(url)
    ]
    return max(fitting)[1] if fitting else None


def _climbs(url: str) -> bool:
    """Whether an address leaves the folder that it names: a tool would read beside what it was given."""
    return ".." in urlsplit(url).path.split("/") or "%2e" in url.casefold()


def check_tool(definition: Mapping[str, Any]) -> None:
    """Refuse a tool that could open nothing."""
    match definition:
        case {"prefix": str(prefix), "argv": [str(), *_], "tool": str(), "argument": str()} if prefix:
            return
        case _:
            raise Refused(
                "bad_tool",
                "a tool has the beginning of its addresses, a command, its name and its argument",
                row="A2ACP-206",
            )
