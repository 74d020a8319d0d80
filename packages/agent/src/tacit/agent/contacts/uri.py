"""An agent's address and fingerprint as one text: what a QR code holds, and what is pasted back (A2ACP-022).

`a2acp:anna@relay.example?fp=30 digits`. The fingerprint is of the address and its signing key, so that a
relay that hands out another key is found out. Read strictly: what is pinned must be what was shown. Knows
nothing of keys, contacts or pictures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from tacit.base.errors import Refused
from tacit.wire import address

SCHEME: Final = "a2acp"
LONGEST: Final = 500
_DIGITS: Final = re.compile(r"[0-9]{30}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ContactUri:
    """Whom to write to, and by which key to know them; without a fingerprint by the relay's word alone."""

    address: str
    fingerprint: str = ""
    """Thirty digits, without spaces."""


def digits(fingerprint: str) -> str:
    """A fingerprint without the spaces that people read it with."""
    return "".join(fingerprint.split())


def grouped(fingerprint: str) -> str:
    """A fingerprint as people read it."""
    return " ".join(fingerprint[index : index + 5] for index in range(0, len(fingerprint), 5))


def written(one: ContactUri) -> str:
    """The text of a QR code."""
    who = one.address.removeprefix("agent:")
    return f"{SCHEME}:{who}?fp={one.fingerprint}" if one.fingerprint else f"{SCHEME}:{who}"


def read(text: str) -> ContactUri:
    """What a text names, however it was broken over lines; `Refused` with `bad_contact_uri`."""
    joined = "".join(text.split())
    scheme, marked, rest = joined.partition(":")
    if not marked or scheme.lower() != SCHEME or len(joined) > LONGEST:
        raise Refused(
            "bad_contact_uri",
            f"a contact's text looks like {SCHEME}:anna@relay.example?fp=…; an address alone is added with"
            " `tacit agent contact NAME@RELAY add`",
            row="A2ACP-022",
        )
    who, _, query = rest.partition("?")
    try:
        given = parse_qs(query, strict_parsing=bool(query), max_num_fields=10)
    except ValueError:
        raise Refused("bad_contact_uri", "the part behind ? cannot be read", row="A2ACP-022") from None
    found = given.get("fp", [])
    if len(found) > 1 or any(_DIGITS.fullmatch(one) is None for one in found):
        raise Refused("bad_contact_uri", "a fingerprint has thirty digits", row="A2ACP-022")
    return ContactUri(str(address.parse_typed(who)), found[0] if found else "")
