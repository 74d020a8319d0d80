"""Finding people: one's own card, somebody else's, an address book, and a domain that knows a name.

A2ACP-022, A2ACP-023, A2ACP-024. A card is pinned to the fingerprint that it shows: a relay that hands out
another key is refused before anything of it is kept. An address book is matched here and asked of nobody. A
domain is asked by TLS alone, for one small answer, follows no redirect to another host, and is no way to
reach what only this device can reach.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import aiohttp

from tacit.agent.contacts import uri as contact_uri
from tacit.agent.contacts import vcards, webfinger
from tacit.agent.contacts.uri import ContactUri
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.io.public_sockets import public_sockets
from tacit.seal import identity

if TYPE_CHECKING:
    import ssl

    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.post import Post
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.kernel.io.core import AgentCore

_TIMEOUT: Final = aiohttp.ClientTimeout(total=20, connect=10)
_MOST_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 307, 308})


# One's own card, and somebody else's.


def own_card(post: Post) -> Fields:
    """Our address and fingerprint, as text and as a QR code (A2ACP-022)."""
    me = post.store.me()
    number = identity.fingerprint(me.address, me.identity.signing_public)
    uri = contact_uri.written(ContactUri(me.address, contact_uri.digits(number)))
    return {
        "address": me.address,
        "fingerprint": number,
        "uri": uri,
        "svg": qr_svg(uri),
    }


def qr_svg(text: str) -> str:
    """A text as a QR code for a page."""
    import segno

    drawn = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        drawn, kind="svg", xmldecl=False, svgns=True, scale=4, border=4, light="#fff"
    )
    return drawn.getvalue().decode()


async def add(agent: AgentCore, text: str) -> Fields:
    """Add the contact of a pasted card, pinned to its fingerprint; what to compare with them."""
    one = contact_uri.read(text)
    post = agent.post
    if one.address == agent.me:
        raise Refused("own_address", "this is your own address", row="A2ACP-022")
    if not one.fingerprint:
        raise Refused(
            "no_fingerprint",
            "this text names no fingerprint, so nothing says whose key it is; to add the address by its"
            " relay's word alone: `tacit agent contact NAME@RELAY add`",
            row="A2ACP-022",
        )
    _check_held(post, one)
    await post.directory.refresh(one.address, fingerprint=one.fingerprint)
    _check_held(post, one)
    post.inbox.welcome(one.address)
    return {
        "address": one.address,
        "fingerprint": contact_uri.grouped(one.fingerprint),
        "safety_number": post.safety_number(one.address),
        "welcome": True,
    }


def _check_held(post: Post, one: ContactUri) -> None:
    """Whether the key that is held for a contact, if there is any, is the one of the card."""
    known = post.store.contact(one.address)
    if known is None or known.pin is None:
        return
    held = contact_uri.digits(identity.fingerprint(one.address, known.pin.keys.signing))
    if held != one.fingerprint or not known.pin.usable:
        who = one.address.removeprefix("agent:")
        raise Refused(
            "wrong_fingerprint",
            f"the key that you hold for {who} is not the one of this text: somebody stands between you, or"
            f" the key was replaced. Nothing was changed; look with `tacit agent contact {who} show`",
            row="A2ACP-022",
        )


# An address book.


def match(store: AgentStore | None, data: bytes) -> Fields:
    """Who of an address book has an agent; nothing of it leaves this device (A2ACP-023).

    Without a store nobody is known yet.
    """
    return {"found": [_line(store, entry.name, card) for entry in vcards.read(data) for card in entry.agents]}


def _line(store: AgentStore | None, name: str, card: ContactUri) -> Fields:
    known = store.contact(card.address) if store is not None else None
    return {
        "name": name,
        "address": card.address,
        "fingerprint": contact_uri.grouped(card.fingerprint) or None,
        "uri": contact_uri.written(card),
        "known": known is not None and known.welcome,
    }


async def match_text(agent: AgentCore, text: str) -> Fields:
    """The same for a face that has the file's text."""
    return match(agent.post.store, text.encode())


# A domain that knows a name.


async def find(agent: AgentCore, text: str, *, private: bool = False) -> Fields:
    """Which agent an e-mail address or a handle names; shown, not added (A2ACP-024)."""
    asked = webfinger.account(text)
    host = urlsplit(f"https://{asked.domain}").hostname or ""
    if not private and not webfinger.is_public(host):
        raise Refused(
            "private_host", "a domain of this device or its own network is not asked", row="A2ACP-024"
        )
    raw = await _asked(agent.post.trust, asked, private=private)
    cards = webfinger.agents(raw, asked)
    if not cards:
        raise Refused("no_agent", "this account names no agent that we can read", row="A2ACP-024")
    return {"found": [_line(agent.post.store, f"{asked.name}@{asked.domain}", card) for card in cards]}


async def _asked(trust: ssl.SSLContext | None, asked: webfinger.Account, *, private: bool) -> bytes:
    sockets = None if private else public_sockets()
    connector = aiohttp.TCPConnector(ssl=trust if trust is not None else True, socket_factory=sockets)
    async with aiohttp.ClientSession(connector=connector, trust_env=False) as http:
        url = webfinger.url(asked)
        for _ in range(_MOST_REDIRECTS + 1):
            status, said = await _get(http, url)
            if status not in _REDIRECTS:
                return _body(status, said)
            url = _redirected(url, said.decode("ascii", "replace"))
    raise PeerFault("the domain redirects without end")


async def _get(http: aiohttp.ClientSession, url: str) -> tuple[int, bytes]:
    """A status and a body; for a redirect the place it names."""
    accepts = {"Accept": "application/jrd+json, application/json"}
    try:
        async with http.get(url, timeout=_TIMEOUT, allow_redirects=False, headers=accepts) as response:
            if response.status in _REDIRECTS:
                return response.status, response.headers.get("Location", "").encode("ascii", "replace")
            answer = bytearray()
            async for part in response.content.iter_any():
                answer += part
                if len(answer) > webfinger.MOST_BYTES:
                    raise PeerFault("the domain's answer is too long")
            return response.status, bytes(answer)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise Unavailable(f"the domain does not answer: {type(error).__name__}") from None


def _redirected(before: str, to: str) -> str:
    """Where a domain sends us on to: only to itself, as another host would answer in its name."""
    after = urljoin(before, to)
    old, new = urlsplit(before), urlsplit(after)
    if not to or (new.scheme, new.netloc) != (old.scheme, old.netloc):
        raise PeerFault("the domain sends us to another host, which is not asked")
    return after


def _body(status: int, raw: bytes) -> bytes:
    if status in {404, 410}:
        raise Refused("unknown_account", "the domain knows no such account", row="A2ACP-024")
    if status != 200:
        raise Unavailable(f"the domain answered {status}")
    return raw
