import asyncio
import contextlib
import json
import ssl

import msgspec
import pytest
from aiohttp import web

from tacit.base.errors import PeerFault, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import SECOND
from tacit.relay.federation import (
    read_card,
)
from tacit.relay.io import registry
from tacit.relay.io.federation_http import Carried, DeliveryBody
from tacit.relay.settings import HOUR, MINUTE, RelayLimits
from tacit.seal import http_signature, identity
from tacit.wire import frames
from tests.processes import AGENT, RELAY, RelayProcess, certificate, run
from tests.relay_support import Bare, Relay, free_port, relay_with, until


@contextlib.asynccontextmanager
async def two_relays(tmp_path, **more):
    """Two relays that allow each other, with alice on the first and bob on the second."""
    async with (
        Relay(tmp_path / "one", host="localhost", **more) as one,
        Relay(tmp_path / "two", host="127.0.0.1", **more) as two,
    ):
        await allow(one, two.domain)
        await allow(two, one.domain)
        yield one, two, await one.person("alice"), await two.person("bob")


async def allow(relay: Relay, domain: str, policy: str = "allowed") -> None:
    await relay.mailboxes.store.write(lambda file: registry.set_peer(file, domain, policy))
    relay.mailboxes.reload()


async def carry(relay: Relay, signer: str, seed: bytes, packets, *, nonce="n" * 22, url=None, spoil=False):
    body = msgspec.json.encode(DeliveryBody([Carried(packet.envelope, packet.sig) for packet in packets]))
    target = f"{relay.url}/v1/federation/packets"
    headers = http_signature.sign_request(
        method="POST", url=url or target, body=body, content_type="application/json", key_id=signer,
        seed=seed, now=relay.clock.now(), nonce=nonce,
    )  # fmt: skip
    async with relay.http.post(target, data=body + b" " if spoil else body, headers=headers) as response:
        return response.status, json.loads(await response.read())


def seed_of(relay: Relay) -> bytes:
    return bytes.fromhex((relay.folder / "relay.key").read_text().strip())


@pytest.mark.spec("A2ACP-254")
async def test_agents_on_two_relays_hold_a_whole_conversation(tmp_path):
    async with two_relays(tmp_path) as (_, _, alice, bob), alice, bob:
        sent = [await alice.sent(bob.address) for _ in range(5)]
        assert await bob.take(5) == sent
        back = await bob.sent(alice.address)
        assert await alice.take() == [back]


@pytest.mark.spec("A2ACP-255")
async def test_the_card_names_domain_key_and_doors(tmp_path):
    async with Relay(tmp_path) as relay:
        status, raw = await relay.get("/.well-known/a2acp")
        card = read_card(raw, relay.domain)
        assert status == 200
        assert card.websocket == f"ws://{relay.domain}/a2acp"
        with pytest.raises(PeerFault):
            read_card(raw, "elsewhere.example")


@pytest.mark.spec("A2ACP-256")
async def test_without_an_allowance_packets_neither_leave_nor_enter(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        await allow(two, one.domain, "denied")
        async with alice:
            packet = alice.packet(bob.address)
            assert (await carry(two, one.domain, seed_of(one), [packet]))[0] == 403
            await allow(one, two.domain, "denied")
            await alice.send(bob.address)
            assert (await alice.hear_a(frames.ErrorFrame)).code == "federation_failed"
        assert two.mailboxes.quota.total() == (0, 0)


@pytest.mark.spec("A2ACP-255")
@pytest.mark.parametrize("twist", ["other key", "replay", "body", "other target"])
async def test_a_request_that_does_not_hold_is_refused_whole(tmp_path, twist):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        packet = alice.packet(bob.address)
        seed, more = seed_of(one), {}
        if twist == "other key":
            seed = SystemEntropy().draw(32)
        elif twist == "replay":
            assert (await carry(two, one.domain, seed, [packet]))[0] == 200
        elif twist == "body":
            more["spoil"] = True
        else:
            more["url"] = "http://elsewhere.example/v1/federation/packets"
        status, answer = await carry(two, one.domain, seed, [packet], **more)
        assert (status, answer["code"]) == (401, "bad_signature")
        assert two.mailboxes.quota.total()[0] == (1 if twist == "replay" else 0)


@pytest.mark.spec("A2ACP-255")
async def test_a_relay_cannot_speak_for_another_domain_nor_hand_on_what_is_not_for_us(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        forged = alice.packet(bob.address, **{"from": "agent:carol@bank.example"})
        # The name exists here too: only its domain says that it is not for us.
        second_hop = alice.packet("agent:bob@third.example")
        _, outcomes = await carry(two, one.domain, seed_of(one), [forged, second_hop])
        assert [outcome["code"] for outcome in outcomes] == ["from_mismatch", "unknown_recipient"]
        assert two.mailboxes.quota.total() == (0, 0)


@pytest.mark.spec("A2ACP-255", "A2ACP-249")
async def test_the_agents_own_signature_is_still_verified(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        packet = alice.packet(bob.address)
        forged = frames.PacketFrame(packet.envelope, alice.packet(bob.address).sig)
        mallory = Bare(one, "alice")
        signed_by_relay = mallory.packet(bob.address)
        _, outcomes = await carry(two, one.domain, seed_of(one), [forged, signed_by_relay])
        assert {outcome["code"] for outcome in outcomes} == {"bad_signature"}


@pytest.mark.spec("A2ACP-255")
async def test_new_keys_of_an_agent_are_fetched_once_before_refusing(tmp_path):
    async with two_relays(tmp_path) as (one, _, alice, bob):
        async with alice, bob:
            await alice.sent(bob.address)
            await bob.take()
        alice.me = identity.generate(SystemEntropy())
        code = "some-code-for-a-renewal"
        await one.mailboxes.store.write(
            lambda file: registry.add_code(file, code=code, purpose="enrol", username="alice", expires=2**60)
        )
        assert (await one.post("/v1/agents", alice.enrolment(code, serial=2)))[0] == 201
        async with alice, bob:
            sent = await alice.sent(bob.address)
            assert await bob.take() == [sent]


@pytest.mark.spec("A2ACP-255")
async def test_an_agents_key_is_asked_for_again_after_an_hour_and_not_before(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        asked = []
        for minutes in (0, 59, 2):
            for relay in (one, two):
                relay.clock.ahead += minutes * 60 * SECOND
            async with alice, bob:
                sent = await alice.sent(bob.address)
                assert await bob.take() == [sent]
                await until(lambda: two.mailboxes.quota.total() == (0, 0))
            asked.append(one.mailboxes.counts.lookups)
        assert asked == [1, 1, 2]


@pytest.mark.spec("A2ACP-255")
async def test_a_relays_key_is_pinned_and_another_one_stops_the_traffic(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        await one.mailboxes.store.write(
            lambda file: registry.set_peer(file, two.domain, "allowed", b"k" * 32)
        )
        async with alice:
            await alice.sent(bob.address)
            with pytest.raises(PeerFault):
                await one.server._federation.card(two.domain)
        assert two.mailboxes.quota.total() == (0, 0)


@pytest.mark.spec("A2ACP-256")
async def test_a_peer_that_was_away_gets_everything_in_order_when_it_is_back(tmp_path):
    port = free_port()
    async with Relay(tmp_path / "one") as one:
        async with Relay(tmp_path / "two", host="127.0.0.1", port=port) as two:
            await allow(one, two.domain)
            await allow(two, one.domain)
            alice, bob = await one.person("alice"), await two.person("bob")
        async with alice:
            sent = [await alice.sent(bob.address) for _ in range(7)]
        async with Relay(tmp_path / "two", host="127.0.0.1", port=port) as again:
            bob.relay = again
            async with bob:
                assert await bob.take(7) == sent


@pytest.mark.spec("A2ACP-256")
async def test_after_two_days_the_sender_is_told_that_it_failed(tmp_path):
    async with Relay(tmp_path / "one") as one:
        gone = f"127.0.0.1:{free_port()}"
        await allow(one, gone)
        alice = await one.person("alice")
        async with alice:
            sent = await alice.sent(f"agent:bob@{gone}")
            one.clock.ahead += 49 * HOUR
            async with alice2(one, alice) as again:
                error = await again.hear_a(frames.ErrorFrame)
                assert (error.code, error.packet_id) == ("federation_failed", sent)


@contextlib.asynccontextmanager
async def alice2(relay, alice):
    """The same person after a new login: the old connection fell silent when the clock moved."""
    again = Bare(relay, "alice")
    again.me = alice.me
    async with again:
        yield again


@pytest.mark.spec("A2ACP-256")
async def test_a_peer_relay_has_a_rate_of_its_own(tmp_path):
    limits = RelayLimits(
        packets_per_minute=1000, burst=1000, peer_packets_per_minute=3, lookups_per_minute=1000
    )
    async with two_relays(tmp_path, limits=limits) as (one, two, alice, bob):
        packets = [alice.packet(bob.address) for _ in range(5)]
        _, outcomes = await carry(two, one.domain, seed_of(one), packets)
        assert [outcome["code"] for outcome in outcomes] == ["accepted"] * 3 + ["rate_limited"] * 2


@pytest.mark.spec("A2ACP-220", "A2ACP-254")
async def test_a_full_queue_abroad_is_told_to_the_sender_at_home(tmp_path):
    limits = RelayLimits(packets_per_minute=1000, burst=1000, per_tag=3, lookups_per_minute=1000)
    async with two_relays(tmp_path, limits=limits) as (_, two, alice, bob), alice:
        for count in range(3):
            await alice.sent(bob.address)
            await until(lambda count=count: two.mailboxes.quota.total()[0] == count + 1)
        over = await alice.send(bob.address)
        overflow = await alice.hear_a(frames.QueueOverflowFrame)
        assert (overflow.packet_id, overflow.to) == (over, bob.address)


@pytest.mark.spec("A2ACP-254", "A2ACP-255")
def test_two_real_relays_with_certificates_carry_a_sealed_packet(tmp_path):
    cert, key = certificate(tmp_path)
    context = ssl.create_default_context(cafile=cert)
    options = ("--tls-cert", cert, "--tls-key", key, "--trust", cert)
    one = RelayProcess(tmp_path / "one", free_port(), *options, scheme="https")
    two = RelayProcess(tmp_path / "two", free_port(), *options, host="127.0.0.1", scheme="https")
    try:
        for relay, other in ((one, two), (two, one)):
            relay.start(context=context)
            run(RELAY, "--data", relay.folder, "peer", other.domain)
        agents = {}
        for name, relay in (("alice", one), ("bob", two)):
            agents[name] = ("--data", tmp_path / name, "--trust", cert)
            run(
                AGENT,
                *agents[name],
                "register",
                f"{name}@{relay.domain}",
                "--relay",
                relay.url,
                "--code",
                relay.invite(name),
                "--plain-keys",
            )
        run(AGENT, *agents["bob"], "contact", f"alice@{one.domain}", "add")
        run(AGENT, *agents["alice"], "contact", f"bob@{two.domain}", "add")
        sent = run(AGENT, *agents["alice"], "send", f"bob@{two.domain}", "over two relays")
        assert sent["status"] == "accepted"
        heard = run(AGENT, *agents["bob"], "listen", "--count", "1")
        assert heard["packet"]["context"] == {"text": "over two relays"}
    finally:
        one.stop()
        two.stop()


async def test_a_mistake_of_our_own_costs_its_caller_an_answer_not_everyone_the_writer(tmp_path):
    from tacit.base.errors import Bug

    async with Relay(tmp_path) as relay:
        with pytest.raises(Bug):
            await relay.mailboxes.store.write(
                lambda file: file.execute("INSERT INTO accounts (id) VALUES (1)")
            )
        assert await relay.invite("bob")


@pytest.mark.spec("A2ACP-255", "A2ACP-256")
async def test_of_the_deliveries_that_only_claim_a_name_few_are_read_at_once(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        head = (
            "POST /v1/federation/packets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f'Signature-Input: relay=();keyid="{one.domain}"\r\nContent-Length: 33000000\r\n\r\n'
        )
        held = []
        for _ in range(2):
            _, writer = await asyncio.open_connection("127.0.0.1", two.port)
            writer.write(head.encode())
            held.append(writer)
        await until(lambda: deliveries_read(two) == 2)
        packet = alice.packet(bob.address)
        status, answer = await carry(two, one.domain, seed_of(one), [packet])
        assert (status, answer["code"]) == (429, "rate_limited")
        for writer in held:
            writer.close()
        await until(lambda: deliveries_read(two) == 0)
        assert (await carry(two, one.domain, seed_of(one), [packet]))[1][0]["code"] == "accepted"


def deliveries_read(relay: Relay) -> int:
    (found,) = {
        route.handler.__self__
        for route in relay.server._runner.app.router.routes()
        if route.resource.canonical == "/v1/federation/packets"
    }
    return found._deliveries._taken.total()


def waiting_at(relay: Relay) -> list[str]:
    rows = relay.mailboxes.store.reader.execute("SELECT packet_id FROM outgoing ORDER BY position")
    return [row[0] for row in rows]


@pytest.mark.spec("A2ACP-254", "A2ACP-256")
async def test_one_senders_packets_that_must_come_again_hold_up_nobody_else_and_keep_their_order(
    tmp_path, monkeypatch
):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        mal = await one.person("mal")
        abroad, failing = two.server._federation, {"pkt_mal000001"}
        check = abroad._check_agent

        async def sometimes(found, sig):
            if found.packet_id in failing:
                raise Unavailable("not now")
            await check(found, sig)

        monkeypatch.setattr(abroad, "_check_agent", sometimes)
        async with mal, alice, bob:
            late = [await mal.sent(bob.address, tag="AB"[n % 2]) for n in range(4)]
            prompt = [await alice.sent(bob.address) for _ in range(2)]
            assert await bob.take(2) == prompt
            await until(lambda: waiting_at(one) == late)
            failing.clear()
            # Mal's rest of five seconds is over by the clock; the next packet wakes the worker.
            one.clock.ahead += 6 * SECOND
            last = await alice.sent(bob.address)
            assert await bob.take(5) == [*late, last]


@pytest.mark.spec("A2ACP-255")
@pytest.mark.parametrize("answer", ["404", "no record", "another's record"])
async def test_a_sender_without_a_key_that_holds_is_refused_for_good(tmp_path, monkeypatch, answer):
    async with two_relays(tmp_path) as (one, two, _, bob):
        ghost = Bare(one, "ghost")
        if answer != "404":
            body = b"{}" if answer == "no record" else (await one.get("/v1/agents/alice"))[1]

            await two.server._federation.card(one.domain)

            async def get(_url):
                return body

            monkeypatch.setattr(two.server._federation, "_get", get)
        packets = [ghost.packet(bob.address) for _ in range(3)]
        lookups = one.mailboxes.counts.lookups
        _, outcomes = await carry(two, one.domain, seed_of(one), packets)
        assert [outcome["code"] for outcome in outcomes] == ["bad_signature"] * 3
        assert one.mailboxes.counts.lookups - lookups <= 1


@pytest.mark.spec("A2ACP-222", "A2ACP-254")
async def test_one_sender_gets_no_more_room_for_a_remote_recipient_than_for_a_local_one(tmp_path):
    limits = RelayLimits(packets_per_minute=1000, burst=1000, per_sender=5)
    async with relay_with(tmp_path, "alice", limits=limits) as (one, alice), alice:
        gone = f"127.0.0.1:{free_port()}"
        await allow(one, gone)
        for number in range(5):
            await alice.sent(f"agent:bob@{gone}", tag=f"q_{number:022d}")
        await alice.send(f"agent:bob@{gone}", tag="q_" + "x" * 22)
        assert (await alice.hear_a(frames.QueueOverflowFrame)).limit == 5
        assert await alice.sent(f"agent:carol@{gone}")


@pytest.mark.spec("A2ACP-019")
async def test_what_a_deleted_account_sent_abroad_goes_with_it(tmp_path):
    async with relay_with(tmp_path, "alice", "mal") as (one, alice, mal):
        gone = f"127.0.0.1:{free_port()}"
        await allow(one, gone)
        async with alice, mal:
            await mal.sent(f"agent:bob@{gone}")
            kept = await alice.sent(f"agent:bob@{gone}")
        account = one.mailboxes.agent("mal").account
        await one.mailboxes.store.write(lambda file: registry.delete_account(file, account, mal.address))
        assert waiting_at(one) == [kept]


@pytest.mark.spec("A2ACP-256")
async def test_whatever_a_relays_card_does_to_us_its_packets_are_tried_again(tmp_path, monkeypatch):
    async with two_relays(tmp_path) as (one, _, alice, bob):
        abroad, asked = one.server._federation, []
        card = abroad.card

        async def strange(domain):
            asked.append(domain)
            if len(asked) == 1:
                raise ValueError
            return await card(domain)

        monkeypatch.setattr(abroad, "card", strange)
        async with alice, bob:
            sent = await alice.sent(bob.address)
            assert await bob.take() == [sent]
        assert len(asked) == 2


@pytest.mark.spec("A2ACP-256", "A2ACP-257")
async def test_an_agent_of_another_relay_has_the_rate_of_an_agent(tmp_path):
    limits = RelayLimits(packets_per_minute=1, burst=3, lookups_per_minute=1000)
    async with two_relays(tmp_path, limits=limits) as (one, two, alice, bob):
        carol = await one.person("carol")
        packets = [alice.packet(bob.address) for _ in range(5)] + [carol.packet(bob.address)]
        _, outcomes = await carry(two, one.domain, seed_of(one), packets)
        codes = [outcome["code"] for outcome in outcomes]
        assert codes == ["accepted"] * 3 + ["rate_limited"] * 2 + ["accepted"]
        assert outcomes[3]["retry_after"] >= 1


@pytest.mark.spec("A2ACP-255")
async def test_no_redirect_of_another_relay_is_followed(tmp_path):
    followed = []

    async def answer(request):
        followed.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        async with Relay(tmp_path) as one:
            with pytest.raises(Unavailable):
                await one.server._federation.card(f"localhost:{runner.addresses[0][1]}")
        assert followed == ["/.well-known/a2acp"]
    finally:
        await runner.cleanup()


@pytest.mark.spec("A2ACP-255")
async def test_a_delivery_that_was_recorded_is_refused_after_a_restart_as_well(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        packet = alice.packet(bob.address)
        assert (await carry(two, one.domain, seed_of(one), [packet]))[0] == 200
        await two.server.stop()
        again = Relay(two.folder, port=two.port, host="127.0.0.1")
        async with again:
            status, answer = await carry(again, one.domain, seed_of(one), [packet])
            assert (status, answer["code"]) == (401, "bad_signature")
            assert (await carry(again, one.domain, seed_of(one), [packet], nonce="m" * 22))[0] == 200
            again.clock.ahead += HOUR
            nonces = again.mailboxes.store.reader.execute("SELECT count(*) FROM nonces")
            assert nonces.get == 2
            await carry(again, one.domain, seed_of(one), [], nonce="o" * 22)
            assert again.mailboxes.store.reader.execute("SELECT nonce FROM nonces").fetchall() == [
                ("o" * 22,)
            ]
        await two.start()


@pytest.mark.spec("A2ACP-255", "A2ACP-256")
async def test_a_relay_asks_for_its_packets_senders_under_a_limit_of_its_own(tmp_path):
    limits = RelayLimits(lookups_per_minute=3)
    async with two_relays(tmp_path, limits=limits) as (one, two, alice, bob):
        senders = [alice, *[await one.person(f"sender{letter}") for letter in "abcdefgh"]]
        packets = [
            sender.packet(bob.address, tag=f"q_{number:022d}") for number, sender in enumerate(senders)
        ]
        _, outcomes = await carry(two, one.domain, seed_of(one), packets)
        assert [outcome["code"] for outcome in outcomes] == ["accepted"] * 9
        # As anyone, this machine may ask three times a minute.
        statuses = [(await one.get("/v1/agents/alice"))[0] for _ in range(5)]
        assert 429 in statuses


@pytest.mark.spec("A2ACP-255")
async def test_nobody_asks_for_records_as_a_relay_without_its_key(tmp_path):
    async with two_relays(tmp_path) as (one, two, _, _):
        for signer, seed in ((two.domain, SystemEntropy().draw(32)), ("elsewhere.example", seed_of(two))):
            body, url = b'{"username":"alice"}', f"{one.url}/v1/federation/agents"
            headers = http_signature.sign_request(
                method="POST", url=url, body=body, content_type="application/json", key_id=signer,
                seed=seed, now=one.clock.now(), nonce="n" * 22,
            )  # fmt: skip
            async with one.http.post(url, data=body, headers=headers) as response:
                assert response.status in {401, 403}
        headers = http_signature.sign_request(
            method="POST", url=url, body=body, content_type="application/json", key_id=two.domain,
            seed=seed_of(two), now=one.clock.now(), nonce="m" * 22,
        )  # fmt: skip
        async with one.http.post(url, data=body, headers=headers) as response:
            assert (response.status, response.content_type) == (200, "application/json")


@pytest.mark.spec("A2ACP-245", "A2ACP-256")
async def test_an_agent_of_an_allowed_relay_gets_prekeys_and_another_does_not(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        assert (await alice.prekeys_of(bob))[0] == 200
        await allow(two, one.domain, "denied")
        status, answer = await alice.prekeys_of(bob)
        assert (status, answer["code"]) == (403, "federation_failed")


@pytest.mark.spec("A2ACP-245", "A2ACP-255")
async def test_an_agent_of_another_relay_that_has_new_keys_need_not_wait_for_prekeys(tmp_path):
    async with two_relays(tmp_path) as (one, two, alice, bob):
        assert (await alice.prekeys_of(bob))[0] == 200
        alice.me = identity.generate(SystemEntropy())
        code = "some-code-for-a-renewal"
        await one.mailboxes.store.write(
            lambda file: registry.add_code(file, code=code, purpose="enrol", username="alice", expires=2**60)
        )
        assert (await one.post("/v1/agents", alice.enrolment(code, serial=2)))[0] == 201
        # Looked up again, but not for every bad signature.
        status, answer = await alice.prekeys_of(bob)
        assert (status, answer["code"]) == (401, "bad_signature")
        two.clock.ahead = one.clock.ahead = 2 * MINUTE
        assert (await alice.prekeys_of(bob))[0] == 200
        stranger = Bare(one, "alice")
        looked_up = one.mailboxes.counts.lookups
        for _ in range(5):
            assert (await stranger.prekeys_of(bob))[0] == 401
        assert one.mailboxes.counts.lookups == looked_up


@pytest.mark.spec("A2ACP-255", "A2ACP-256")
async def test_a_relay_to_which_we_do_not_talk_is_told_so_whatever_it_has_sent(tmp_path):
    async with Relay(tmp_path) as relay:
        too_long = b"x" * 5_000
        for headers in ({}, {"Signature-Input": f'sig1=();keyid="{relay.domain}"'}):
            async with relay.http.post(
                f"{relay.url}/v1/federation/agents", data=too_long, headers=headers
            ) as told:
                assert (told.status, (await told.json())["code"]) == (403, "federation_failed")
