"""WebFinger, read and written: which agent an e-mail address or a handle names (A2ACP-024, RFC 7033).

Pure: the question's URL and what an answer says. What it says is a proposal: it is shown before anything is
added.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from tacit.agent.contacts import uri as contact_uri
from tacit.base import strict_json
from tacit.base.callers import address_of
from tacit.base.errors import PeerFault, Refused
from tacit.base.public_addresses import may_reach
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.agent.contacts.uri import ContactUri

REL: Final = "urn:a2acp:agent"
MOST_BYTES: Final = 65_536
MOST_LINKS: Final = 100
_LOCAL: Final = re.compile(r"[A-Za-z0-9._+~-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Account:
    """`name@domain`, as people give it."""

    name: str
    domain: str

    def __str__(self) -> str:
        return f"acct:{self.name}@{self.domain}"


def account(text: str) -> Account:
    """An e-mail address or a handle (`@anna@social.example`); `Refused` with `bad_account`."""
    cleaned = text.strip().removeprefix("acct:").removeprefix("@")
    name, _, domain = cleaned.rpartition("@")
    domain = domain.lower()
    if _LOCAL.fullmatch(name) is None or not address.is_domain(domain):
        raise Refused("bad_account", "an account looks like anna@example.org", row="A2ACP-024")
    return Account(name, domain)


def url(one: Account) -> str:
    """Where a domain is asked; always by TLS."""
    query = urlencode({"resource": str(one), "rel": REL})
    return f"https://{one.domain}/.well-known/webfinger?{query}"


def is_public(host: str) -> bool:
    """Whether a host is a name, or an address that is neither this device's nor of a network behind it."""
    return address_of(host) is None or may_reach(host)


def agents(raw: bytes, asked: Account) -> list[ContactUri]:
    """The agents that an answer names; `PeerFault` for what is no answer to this question."""
    try:
        answer = strict_json.parse(raw)
    except (ValueError, Refused):
        raise PeerFault("the domain's answer is not JSON") from None
    if not isinstance(answer, dict):
        raise PeerFault("the domain's answer is not a JSON object")
    subject = answer.get("subject")
    if subject is not None and str(subject).lower() != str(asked).lower():
        raise PeerFault("the domain's answer is about another account")
    links = answer.get("links")
    found: list[ContactUri] = []
    for link in links[:MOST_LINKS] if isinstance(links, list) else ():
        match link:
            case {"rel": "urn:a2acp:agent", "href": str(href)}:
                try:
                    found.append(contact_uri.read(href))
                except Refused:
                    # Another program's way to write it; there may be a link that we can read.
                    continue
            case _:
                continue
    return found
