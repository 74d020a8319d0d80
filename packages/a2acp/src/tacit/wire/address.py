"""Agent addresses: `agent:<username>@<relay-domain>` (A2ACP-009, A2ACP-010).

On the wire an address has one spelling, lower-case ASCII; another spelling is another shape and is refused.
Knows nothing of which names exist.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

from tacit.base.errors import Refused
from tacit.wire import codes

RESERVED: Final = frozenset({"admin", "relay", "system", "postmaster", "abuse"})

_USERNAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?", re.ASCII)
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(
    rf"(?=[^:]{{1,253}}(?::|$)){_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?", re.ASCII
)
_LOOKS_LIKE: Final = str.maketrans(
    {"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "2": "z", ".": "", "_": "", "-": ""}
)


@dataclass(frozen=True, slots=True)
class Address:
    """A well-formed agent address."""

    username: str
    domain: str

    def __str__(self) -> str:
        return f"agent:{self.username}@{self.domain}"


def is_username(text: str) -> bool:
    """Whether `text` fits the grammar of usernames; reserved names fit it too."""
    return _USERNAME.fullmatch(text) is not None


def is_domain(text: str) -> bool:
    """Whether `text` is a lower-case DNS name with an optional port."""
    if _DOMAIN.fullmatch(text) is None:
        return False
    _, _, port = text.partition(":")
    return not port or int(port) <= 65_535


@functools.lru_cache(maxsize=65_536)
def parse(text: str) -> Address:
    """The address in `text`, or `Refused` with `bad_address`."""
    scheme, _, rest = text.partition(":")
    username, at, domain = rest.partition("@")
    if scheme != "agent" or not at or not is_username(username) or not is_domain(domain):
        raise Refused(
            codes.BAD_ADDRESS, "an address has the form agent:<username>@<relay-domain>", row="A2ACP-009"
        )
    return Address(username, domain)


def parse_typed(text: str) -> Address:
    """What a person typed: surrounding space and capitals are forgiven, the scheme may be left out."""
    cleaned = text.strip()
    if cleaned.isascii():
        cleaned = cleaned.lower()
    return parse(cleaned if cleaned.startswith("agent:") else f"agent:{cleaned}")


def skeleton(username: str) -> str:
    """Names that a hurried eye takes for one another have one skeleton; a relay gives each away once."""
    return username.translate(_LOOKS_LIKE).replace("rn", "m").replace("vv", "w").replace("cl", "d")
