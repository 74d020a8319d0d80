"""Whom a relay looks up for others: public addresses alone, so many in a day, and only signers are pinned."""

import contextlib
import json

import msgspec
import pytest
from aiohttp import web

from tacit.a2acp.commands.relay import _settings
from tacit.a2acp.commands.relay import relay as relay_command
from tacit.base.errors import Refused, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import SECOND, Moment
from tacit.relay.io import registry
from tacit.relay.io.federation_http import DeliveryBody
from tacit.relay.io.schema import SCHEMA
from tacit.relay.settings import DAY, RelayLimits
from tacit.seal import http_signature
from tacit.wire import frames
from tests.relay.test_federation_http import carry, seed_of, two_relays
from tests.relay_support import Relay, relay_with, until

NOW = Moment(10**15)
PROXIES = ("127.0.0.1",)
FEW = RelayLimits(lookups_per_minute=1000, new_relays_a_day=3)
pytestmark = pytest.mark.spec("A2ACP-256")


async def claimed(relay, domain, *, path="packets", source="6.6.6.6", nonce="n" * 22):
    """The answer to a request that says it comes from a relay, and is signed with some key."""
    body = msgspec.json.encode(DeliveryBody([]))
    target = f"{relay.url}/v1/federation/{path}"
    headers = http_signature.sign_request(
        method="POST", url=target, body=body, content_type="application/json", key_id=domain,
        seed=SystemEntropy().draw(32), now=relay.clock.now(), nonce=nonce,
    )  # fmt: skip
    headers["X-Forwarded-For"] = source
    async with relay.http.post(target, data=body, headers=headers) as response:
        return response.status, json.loads(await response.read())


@contextlib.asynccontextmanager
async def site():
    """A server on this machine: its port, and what was asked of it."""
    asked = []

    async def answer(request):
        asked.append(request.path)
        raise web.HTTPNotFound

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1], asked
    finally:
        await runner.cleanup()


def unanswered(relay, monkeypatch):
    """No relay is really asked; which ones would be."""
    asked = []

    async def get(url):
        asked.append(url.split("/")[2])
        raise Unavailable("nobody is there")

    monkeypatch.setattr(relay.server._federation, "_get", get)
    return asked


def pinned(relay):
    rows = relay.mailboxes.store.reader.execute("SELECT domain FROM peers WHERE relay_key IS NOT NULL")
    return {row[0] for row in rows.fetchall()}


async def everything_that_makes_a_relay_ask(relay, place):
    """A claim at each door, a request for prekeys and a packet, all naming one place."""
    bob = await relay.person("bob")
    await claimed(relay, place)
    await claimed(relay, place, path="agents", nonce="m" * 22)
    asked = bob.prekey_request(bob.address, requester=f"agent:eve@{place}")
    await relay.post("/v1/agents/bob/prekeys", asked)
    async with bob:
        await bob.sent(f"agent:eve@{place}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nobody_has_an_open_relay_look_at_its_own_machine_by_any_door(tmp_path, host, caplog):
    async with site() as (port, asked):
        async with Relay(tmp_path, domain="relay.example", open_federation=True) as relay:
            await everything_that_makes_a_relay_ask(relay, f"{host}:{port}")
            await until(lambda: "--federation-network" in caplog.text)
            assert pinned(relay) == set()
        assert asked == []


async def test_a_network_that_the_operator_lists_is_looked_at(tmp_path):
    listed = ("127.0.0.0/8", "::1")
    async with site() as (port, asked):
        async with Relay(
            tmp_path, domain="relay.example", open_federation=True, federation_networks=listed
        ) as relay:
            await everything_that_makes_a_relay_ask(relay, f"localhost:{port}")
            await until(lambda: len(asked) >= 5)
        card = "/.well-known/a2acp"
        assert set(asked) == {card, "/v1/federation/agents", "/v1/agents/eve"}
        assert asked.count(card) >= 3


def test_a_relay_that_is_named_after_this_machine_meets_others_of_it_wherever_it_listens(tmp_path):
    for domain, networks in (("localhost:7434", 2), ("127.0.0.1:1", 2), ("relay.example", 0)):
        relay = Relay(tmp_path / domain, domain=domain)
        assert len(relay._settings.reachable_networks) == networks
    listed = Relay(tmp_path / "l", domain="relay.example", federation_networks=("10.1.0.0/16",))
    assert [str(network) for network in listed._settings.reachable_networks] == ["10.1.0.0/16"]


async def test_only_a_relay_that_has_signed_is_pinned(tmp_path):
    async with (
        Relay(tmp_path / "one", open_federation=True) as one,
        Relay(tmp_path / "two", host="127.0.0.1", open_federation=True) as two,
    ):
        status, answer = await carry(two, one.domain, SystemEntropy().draw(32), [])
        assert (status, answer["code"]) == (401, "bad_signature")
        assert pinned(two) == set()
        assert (await carry(two, one.domain, seed_of(one), []))[0] == 200
        assert pinned(two) == {one.domain}


async def test_a_source_has_so_many_unknown_relays_looked_up_in_a_day(tmp_path, monkeypatch):
    async def looked_up(relay, number, **more):
        status, _ = await claimed(relay, f"x{number}.example", nonce=f"{number:022d}", **more)
        return status

    async with Relay(tmp_path, limits=FEW, open_federation=True, trusted_proxies=PROXIES) as relay:
        asked = unanswered(relay, monkeypatch)
        assert [await looked_up(relay, number) for number in range(5)] == [401, 401, 401, 429, 429]
        assert asked == ["x0.example", "x1.example", "x2.example"]
        port = relay.port
    async with Relay(tmp_path, port=port, limits=FEW, open_federation=True, trusted_proxies=PROXIES) as again:
        asked = unanswered(again, monkeypatch)
        status, answer = await claimed(again, "x6.example")
        assert (status, answer["code"]) == (429, "rate_limited")
        bob = await again.person("bob")
        question = bob.prekey_request(bob.address, requester="agent:eve@x7.example")
        source = {"headers": {"X-Forwarded-For": "6.6.6.6"}}
        assert (await again.post("/v1/agents/bob/prekeys", question, **source))[0] == 429
        assert asked == []
        # Others are looked up for, and so are relays that the operator has named.
        assert await looked_up(again, 8, source="192.0.2.7") == 401
        await again.mailboxes.store.write(lambda file: registry.set_peer(file, "x9.example", "allowed"))
        again.mailboxes.reload()
        assert await looked_up(again, 9) == 401
        again.clock.ahead += answer["details"]["retry_after"] * SECOND
        assert await looked_up(again, 10) == 401


async def test_an_agent_has_so_many_unknown_relays_looked_up_in_a_day(tmp_path, monkeypatch):
    async with relay_with(tmp_path, "alice", "carol", limits=FEW, open_federation=True) as (
        relay,
        alice,
        carol,
    ):
        unanswered(relay, monkeypatch)
        await relay.mailboxes.store.write(lambda file: registry.set_peer(file, "named.example", "allowed"))
        relay.mailboxes.reload()
        async with alice, carol:
            for number in (0, 0, 1, 2, 2):
                assert await alice.sent(f"agent:bob@x{number}.example")
            await alice.send("agent:bob@x3.example")
            refused = await alice.hear_a(frames.ErrorFrame)
            assert (refused.code, refused.retry_after > 3600) == ("rate_limited", True)
            assert await alice.sent("agent:bob@named.example")
            assert await alice.sent("agent:bob@x0.example")
            assert await carol.sent("agent:bob@x3.example")


@pytest.fixture
def file(tmp_path):
    with contextlib.closing(sqlite.connect(tmp_path / "relay.sqlite")) as connection:
        SCHEMA.migrate(connection, tmp_path / "relay.sqlite")
        yield connection


def held(file):
    return {row[0] for row in file.execute("SELECT domain FROM peers").fetchall()}


def test_of_too_many_pins_those_that_were_used_and_those_that_the_operator_named_stay(file):
    registry.set_peer(file, "named.example", "allowed", bytes(32))
    registry.set_peer(file, "denied.example", "denied")
    for number in range(3):
        registry.pin_peer(file, f"used{number}.example", bytes(32), NOW, 10)
        registry.use_peer(file, f"used{number}.example", Moment(NOW + number * DAY))
    for number in range(3_000):
        registry.pin_peer(file, f"x{number}.example", bytes(32), Moment(NOW + number), 10)
    used = {f"used{number}.example" for number in range(3)}
    newest = {f"x{number}.example" for number in range(2_993, 3_000)}
    assert held(file) == {"named.example", "denied.example", *used, *newest}


def test_when_all_pins_were_used_the_one_that_was_longest_ago_goes_and_the_new_one_comes_in(file):
    for number in (3, 1, 2):
        registry.pin_peer(file, f"used{number}.example", bytes(32), NOW, 3)
        registry.use_peer(file, f"used{number}.example", Moment(NOW + number))
    registry.pin_peer(file, "new.example", bytes(32), NOW, 3)
    assert held(file) == {"used2.example", "used3.example", "new.example"}
    registry.pin_peer(file, "newer.example", bytes(32), NOW, 3)
    assert held(file) == {"used2.example", "used3.example", "newer.example"}


async def test_a_relay_with_which_packets_are_exchanged_counts_as_used_at_both_ends(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob), alice, bob:
        await alice.sent(bob.address)
        await bob.take()

        def used(relay, domain):
            row = "SELECT used_at IS NOT NULL FROM peers WHERE domain=?"
            return relay.mailboxes.store.reader.execute(row, (domain,)).get == 1

        await until(lambda: used(one, two.domain) and used(two, one.domain))


@pytest.mark.spec("A2ACP-256")
def test_a_network_for_other_relays_is_listed_on_the_command_line_and_has_to_be_one(tmp_path):
    options = {parameter.name: parameter.default for parameter in relay_command.params}
    options = {**options, "data": tmp_path, "domain": "relay.example", "public_url": "https://relay.example"}
    options |= {"trusted_proxies": (), "tls_cert": None, "trust": None}
    settings = _settings(**{**options, "federation_networks": ("10.1.0.0/16",)})
    assert [str(network) for network in settings.reachable_networks] == ["10.1.0.0/16"]
    with pytest.raises(Refused, match="--federation-network takes an address or a network"):
        _settings(**{**options, "federation_networks": ("relay.lan",)})
