"""Finding people: cards pinned to their key, an address book that stays here, domains that are asked with care."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import json
import socket
import ssl

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tacit.agent import Agent
from tacit.agent.contacts import uri as contact_uri
from tacit.agent.contacts import webfinger
from tacit.agent.shell.io import calls
from tacit.base.errors import PeerFault, Refused, Unavailable
from tests.agent.arrangements import registered
from tests.relay_support import Relay

DIGITS = "123451234512345123451234512345"


@contextlib.asynccontextmanager
async def _people(folder, *names):
    async with Relay(folder / "relay") as relay, contextlib.AsyncExitStack() as stack:
        agents = []
        for name in names:
            await registered(relay, folder / name, name)
            agents.append(await stack.enter_async_context(Agent(folder / name, clock=relay.clock)))
        yield agents


@pytest.mark.spec("A2ACP-022")
async def test_a_card_from_one_agent_pasted_into_the_other_gives_both_the_same_safety_number(tmp_path):
    async with _people(tmp_path, "anna", "ben") as (anna, ben):
        cards = [await calls.call(one, "me", {}) for one in (anna, ben)]
        assert cards[0]["address"] == anna.me
        assert cards[0]["uri"].startswith(f"a2acp:{anna.me.removeprefix('agent:')}?fp=")
        assert cards[0]["svg"].startswith("<svg")
        left = await calls.call(anna, "add", {"uri": cards[1]["uri"]})
        right = await calls.call(ben, "add", {"uri": cards[0]["uri"]})
        assert left["address"] == ben.me
        assert left["fingerprint"] == cards[1]["fingerprint"]
        assert left["safety_number"] == right["safety_number"]
        assert len(left["safety_number"].replace(" ", "")) == 60
        known = anna.post.store.contact(ben.me)
        assert known.welcome
        assert known.pin.usable
        # Once more is the same.
        assert await calls.call(anna, "add", {"uri": cards[1]["uri"]}) == left


@pytest.mark.spec("A2ACP-022")
async def test_a_card_with_another_key_than_the_relays_is_refused_and_nothing_of_it_is_kept(tmp_path):
    async with _people(tmp_path, "anna", "ben") as (anna, ben):
        wrong = contact_uri.written(contact_uri.ContactUri(ben.me, DIGITS))
        with pytest.raises(Refused) as refused:
            await calls.call(anna, "add", {"uri": wrong})
        assert refused.value.code == "wrong_fingerprint"
        assert anna.post.store.contact(ben.me) is None
        # Nor is a key that is held already replaced or welcomed by a card that names another.
        await anna.post.directory.refresh(ben.me)
        before = anna.post.store.contact(ben.me)
        with pytest.raises(Refused) as refused:
            await calls.call(anna, "add", {"uri": wrong})
        assert refused.value.code == "wrong_fingerprint"
        assert anna.post.store.contact(ben.me) == before
        assert not before.welcome


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("a2acp:{ben}", "no_fingerprint"),
        ("a2acp:{anna}?fp=" + DIGITS, "own_address"),
        ("a2acp:nobody@{domain}?fp=" + DIGITS, "unknown_recipient"),
        ("ben", "bad_contact_uri"),
    ],
)
async def test_a_card_that_names_nobody_to_add_is_refused(tmp_path, uri, code):
    async with _people(tmp_path, "anna", "ben") as (anna, ben):
        names = {"anna": anna.me[6:], "ben": ben.me[6:], "domain": ben.me.partition("@")[2]}
        with pytest.raises(Refused) as refused:
            await calls.call(anna, "add", {"uri": uri.format(**names)})
        assert refused.value.code == code
        assert anna.post.store.rows("SELECT address FROM contacts WHERE welcome=1") == []


@pytest.mark.spec("A2ACP-023")
async def test_an_address_book_is_matched_without_any_connection(tmp_path, monkeypatch):
    async with _people(tmp_path, "anna", "ben") as (anna, ben):
        await calls.call(anna, "add", {"uri": (await calls.call(ben, "me", {}))["uri"]})
        book = (
            f"BEGIN:VCARD\nFN:Ben\nIMPP:a2acp:{ben.me[6:]}\nEND:VCARD\n"
            f"BEGIN:VCARD\nFN:Cara\nX-A2ACP:a2acp:cara@relay.example?fp={DIGITS}\nEND:VCARD\n"
        )

        def none(*_args, **_more):
            raise AssertionError("nothing is to be asked")

        for name in ("connect", "connect_ex", "sendto"):
            monkeypatch.setattr(socket.socket, name, none)
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", none, raising=False)
        found = (await calls.call(anna, "match", {"text": book}))["found"]
        assert [(one["name"], one["known"]) for one in found] == [("Ben", True), ("Cara", False)]
        assert found[1]["fingerprint"] == contact_uri.grouped(DIGITS)


# WebFinger.


def certificate(folder):
    """A self-signed certificate for this device, by its address and by its name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "domain")])
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(7).not_valid_before(now - dt.timedelta(days=1))
    made = made.not_valid_after(now + dt.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName(names), critical=False).sign(key, hashes.SHA256())
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return folder / "cert.pem", folder / "key.pem"


@contextlib.asynccontextmanager
async def _domain(folder, answer):
    """A real server under a certificate of its own, and an agent that trusts it."""
    cert, key = certificate(folder)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(cert, key)
    asked = []

    async def here(request: web.Request) -> web.StreamResponse:
        asked.append(request)
        return answer(request)

    app = web.Application()
    app.router.add_get("/{path:.*}", here)
    runner = web.AppRunner(app)
    await runner.setup()
    async with Relay(folder / "relay") as relay:
        await registered(relay, folder / "anna", "anna")
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served).start()
        domain = f"127.0.0.1:{runner.addresses[0][1]}"
        async with Agent(folder / "anna", trust=ssl.create_default_context(cafile=cert)) as anna:
            yield anna, domain, asked
    finally:
        await runner.cleanup()


def _jrd(request, **more):
    links = [
        {"rel": "http://webfinger.net/rel/avatar", "href": "https://example.org/x.png"},
        {"rel": webfinger.REL, "href": "https://example.org/not-readable"},
        {"rel": webfinger.REL, "href": f"a2acp:ben@relay.example?fp={DIGITS}"},
    ]
    return web.json_response({"subject": request.query["resource"], "links": links, **more})


@pytest.mark.spec("A2ACP-024")
async def test_a_domain_says_which_agent_a_name_has_and_nothing_is_added(tmp_path):
    async with _domain(tmp_path, _jrd) as (anna, domain, asked):
        found = await calls.call(anna, "find", {"account": f"@Ben.O@{domain}", "private": True})
        assert found["found"] == [
            {
                "name": f"Ben.O@{domain}",
                "address": "agent:ben@relay.example",
                "fingerprint": contact_uri.grouped(DIGITS),
                "uri": f"a2acp:ben@relay.example?fp={DIGITS}",
                "known": False,
            }
        ]
        assert anna.post.store.rows("SELECT * FROM contacts") == []
        (request,) = asked
        assert request.path == "/.well-known/webfinger"
        assert dict(request.query) == {"resource": f"acct:Ben.O@{domain}", "rel": webfinger.REL}
        # Nothing says who asks.
        assert "Cookie" not in request.headers
        assert "anna" not in str(request.headers)


@pytest.mark.spec("A2ACP-024")
async def test_what_only_this_device_can_reach_is_not_asked_unless_its_owner_says_so(tmp_path):
    async with _domain(tmp_path, _jrd) as (anna, domain, asked):
        port = domain.partition(":")[2]
        with pytest.raises(Refused) as refused:
            await calls.call(anna, "find", {"account": f"ben@{domain}"})
        assert refused.value.code == "private_host"
        # A name that leads here is found out when it is resolved.
        with pytest.raises(Unavailable):
            await calls.call(anna, "find", {"account": f"ben@localhost:{port}"})
        assert asked == []
        await calls.call(anna, "find", {"account": f"ben@localhost:{port}", "private": True})
        assert len(asked) == 1


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("127.0.0.1", False),
        ("10.0.0.7", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("0.0.0.0", False),
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("example.org", True),
    ],
)
def test_addresses_of_this_device_and_its_network_are_not_public(host, public):
    assert webfinger.is_public(host) is public


def _redirect(to):
    return lambda request: web.Response(status=302, headers={"Location": to})


def _endless(request):
    return web.Response(status=302, headers={"Location": str(request.rel_url)})


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda _request: web.Response(status=404), "unknown_account"),
        (lambda _request: web.Response(status=500), "answered 500"),
        (lambda _request: web.Response(text="<html>"), "not JSON"),
        (lambda _request: web.Response(text="[]"), "not a JSON object"),
        (lambda _request: web.Response(text='{"links": 7}'), "no_agent"),
        (lambda _request: web.Response(text="x" * 70_000), "too long"),
        (lambda request: _jrd(request, subject="acct:eve@example.org"), "another account"),
        (_redirect("https://relay.example/.well-known/webfinger"), "another host"),
        (_redirect("http://127.0.0.1/x"), "another host"),
        (_redirect("//169.254.169.254/latest"), "another host"),
        (_redirect(""), "another host"),
        (_endless, "without end"),
    ],
)
async def test_a_domain_that_answers_badly_is_a_clear_error(tmp_path, answer, fault):
    async with _domain(tmp_path, answer) as (anna, domain, asked):
        with pytest.raises((Refused, Unavailable, PeerFault)) as refused:
            await calls.call(anna, "find", {"account": f"ben@{domain}", "private": True})
        assert fault in f"{getattr(refused.value, 'code', '')} {refused.value}"
        assert len(asked) <= 4


async def test_a_redirect_within_the_domain_is_followed(tmp_path):
    def answer(request):
        if request.path == "/.well-known/webfinger":
            return web.Response(status=307, headers={"Location": f"/finger?{request.query_string}"})
        return _jrd(request)

    async with _domain(tmp_path, answer) as (anna, domain, asked):
        found = await calls.call(anna, "find", {"account": f"ben@{domain}", "private": True})
        assert len(found["found"]) == 1
        assert len(asked) == 2


async def test_a_domain_under_a_certificate_that_nobody_trusts_is_not_believed(tmp_path):
    async with _domain(tmp_path, _jrd) as (anna, domain, asked):
        anna.post.trust = None
        with pytest.raises(Unavailable):
            await calls.call(anna, "find", {"account": f"ben@{domain}", "private": True})
        assert asked == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ben",
        "@ben",
        "ben@",
        "ben@exa mple.org",
        "ben@example.org/x",
        "b/../@e.org",
        "ben@example.org:99999",
    ],
)
def test_what_is_no_account_is_refused(text):
    with pytest.raises(Refused) as refused:
        webfinger.account(text)
    assert refused.value.code == "bad_account"


def test_an_answer_is_json_read_strictly():
    with pytest.raises(PeerFault):
        webfinger.agents(json.dumps({"a": 1}).encode()[:-1], webfinger.account("ben@example.org"))
    with pytest.raises(PeerFault):
        webfinger.agents(
            b'{"subject": "x", "subject": "acct:ben@example.org"}', webfinger.account("ben@example.org")
        )
