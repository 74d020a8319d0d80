"""Agents in an address book: a vCard file read on this device, nothing of it asked anywhere (A2ACP-023).

vCard 3.0 and 4.0 (and 2.1 with quoted-printable, as phones still write it): lines are unfolded, groups
(`item1.IMPP`) and parameters ignored but for the encoding, values unescaped. An entry counts if it names an
agent: `X-A2ACP`, `IMPP`, `URL` or `SOCIALPROFILE` with `a2acp:NAME@RELAY`, with or without a fingerprint.
What cannot be read is left out; what is too large is refused before it is read. Pure.
"""

from __future__ import annotations

import binascii
import quopri
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.agent.contacts import uri as contact_uri
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.agent.contacts.uri import ContactUri

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_CARDS: Final = 20_000
MOST_AGENTS: Final = 20
"""Of one entry."""
LONGEST_NAME: Final = 120
LONGEST_LINE: Final = 8192
"""Longer lines hold pictures, and no address."""
_AGENTS: Final = frozenset({"X-A2ACP", "IMPP", "URL", "SOCIALPROFILE", "X-SOCIALPROFILE"})
_ESCAPED: Final = re.compile(r"\\([\\,;:nN])")
_CHARSETS: Final = frozenset({"utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "utf-16"})


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody in an address book who has an agent."""

    name: str
    agents: tuple[ContactUri, ...]


def read(data: bytes) -> list[Entry]:
    """The entries that name an agent, in the order of the file."""
    if len(data) > MOST_BYTES:
        raise Refused("too_large", f"an address book has {MOST_BYTES // 2**20} MB at most", row="A2ACP-023")
    found: list[Entry] = []
    cards = 0
    name: str | None = None
    agents: list[ContactUri] = []
    for key, value in _lines(data):
        if key == "BEGIN" and value.upper() == "VCARD":
            cards += 1
            if cards > MOST_CARDS:
                raise Refused(
                    "too_large", f"an address book has {MOST_CARDS} entries at most", row="A2ACP-023"
                )
            name, agents = None, []
        elif key == "END" and agents:
            found.append(Entry(name or "", tuple(agents)))
            agents = []
        elif key == "FN" and name is None:
            name = _name(value)
        elif key in _AGENTS and len(agents) < MOST_AGENTS:
            agents += [one for one in _agents(value) if one not in agents]
    if not cards:
        raise Refused("bad_vcard", "this file holds no vCard", row="A2ACP-023")
    return found


def _name(value: str) -> str:
    plain = "".join(one if one.isprintable() else " " for one in value)
    return " ".join(plain.split())[:LONGEST_NAME]


def _agents(value: str) -> list[ContactUri]:
    try:
        return [contact_uri.read(value)]
    except Refused:
        # Most links of an address book name something else.
        return []


def _lines(data: bytes) -> Iterator[tuple[str, str]]:
    """Each property's name in capitals, and its value."""
    for raw in _unfolded(data):
        head, marked, value = raw.partition(b":")
        if not marked or len(raw) > LONGEST_LINE:
            continue
        key, *parameters = head.decode("ascii", "replace").upper().split(";")
        yield key.rpartition(".")[2].strip(), _decoded(value, parameters)


def _unfolded(data: bytes) -> Iterator[bytes]:
    """Whole lines: one that begins with a blank goes on from the one before, or ends in a soft break."""
    held = b""
    soft = False
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        if soft:
            held = held[:-1] + line if len(held) <= LONGEST_LINE else held
        elif line[:1] in {b" ", b"\t"}:
            held = held + line[1:] if len(held) <= LONGEST_LINE else held
            continue
        else:
            if held:
                yield held
            held = line
        soft = line.endswith(b"=") and b"QUOTED-PRINTABLE" in held[:200].upper()
    if held:
        yield held


def _decoded(value: bytes, parameters: list[str]) -> str:
    named: dict[str, str] = {}
    for one in parameters:
        name, _, text = one.partition("=")
        named[name] = text
    if named.get("ENCODING") == "QUOTED-PRINTABLE" or "QUOTED-PRINTABLE" in named:
        try:
            value = quopri.decodestring(value)
        except (ValueError, binascii.Error):
            return ""
    charset = named.get("CHARSET", "utf-8").lower()
    decoded = value.decode(charset if charset in _CHARSETS else "utf-8", "replace")
    return _ESCAPED.sub(lambda one: " " if one[1] in "nN" else one[1], decoded).strip()
