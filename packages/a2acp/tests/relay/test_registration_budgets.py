"""Registrations and the mails they cause: counted by source and mailbox, on disk, and shutting nobody out."""

import pytest

from tacit.base.moment import SECOND
from tacit.relay import short_lived
from tacit.relay.settings import DAY, RelayLimits
from tests.relay.test_accounts_http import account
from tests.relay_support import Relay

PROXIES = ("127.0.0.1",)
pytestmark = pytest.mark.spec("A2ACP-019")


def by(source):
    return {"headers": {"X-Forwarded-For": source}}


async def begun(relay, username, *, email=None, source="192.0.2.7"):
    body = {"username": username, "email": email or f"{username}@mail.example"}
    return await relay.post("/v1/accounts", body, **by(source))


async def test_a_flood_of_begun_registrations_costs_whoever_made_it_and_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setattr(short_lived, "_MOST", 5)
    async with Relay(tmp_path, trusted_proxies=PROXIES) as relay:
        _, honest = await begun(relay, "bob")
        code = relay.mail.last_code()
        for number in range(12):
            status, _ = await begun(relay, f"m{number}", source="6.6.6.6")
            assert status == 202
        confirmed = {"registration": honest["registration"], "code": code}
        assert (await relay.post("/v1/accounts/confirm", confirmed, **by("192.0.2.7")))[0] == 200


async def test_challenges_of_others_keep_nobody_from_signing_in(tmp_path, monkeypatch):
    async with Relay(tmp_path, trusted_proxies=PROXIES) as relay:
        passkey = await account(relay, "bob")
        monkeypatch.setattr(short_lived, "_MOST", 5)
        _, mine = await relay.post("/v1/sessions/options", {}, **by("192.0.2.7"))
        for _ in range(12):
            await relay.post("/v1/sessions/options", {}, **by("6.6.6.6"))
        body = {"login": mine["login"], "credential": passkey.get(mine["options"])}
        assert (await relay.post("/v1/sessions", body, **by("192.0.2.7")))[0] == 200


async def test_a_source_begins_so_many_registrations_in_a_day_and_a_restart_forgives_none(tmp_path):
    limits = RelayLimits(registrations_a_day=3)
    async with Relay(tmp_path, limits=limits, trusted_proxies=PROXIES) as relay:
        statuses = [(await begun(relay, f"m{number}", source="6.6.6.6"))[0] for number in range(4)]
        assert statuses == [202, 202, 202, 429]
        port, sent = relay.port, len(relay.mail.sent)
    assert sent == 3
    async with Relay(tmp_path, port=port, limits=limits, trusted_proxies=PROXIES) as again:
        status, answer = await begun(again, "m5", source="6.6.6.6")
        assert (status, answer["code"]) == (429, "rate_limited")
        assert not again.mail.sent
        assert (await begun(again, "bob"))[0] == 202
        assert (await begun(again, "m6", source="2001:db8:6::1"))[0] == 202
        again.clock.ahead += answer["details"]["retry_after"] * SECOND
        assert (await begun(again, "m7", source="6.6.6.6"))[0] == 202


async def test_a_network_of_ipv6_counts_as_one_source_and_its_site_as_a_few(tmp_path):
    limits = RelayLimits(registrations_a_day=1)
    async with Relay(tmp_path, limits=limits, trusted_proxies=PROXIES) as relay:
        assert (await begun(relay, "m0", source="2001:db8:6::1"))[0] == 202
        assert (await begun(relay, "m1", source="2001:db8:6::2"))[0] == 429
        networks = [f"2001:db8:6:{number:x}::1" for number in range(1, 18)]
        statuses = [
            (await begun(relay, f"s{number}", source=source))[0] for number, source in enumerate(networks)
        ]
        assert statuses.count(202) == 15


async def test_a_mailbox_gets_so_many_codes_in_a_day_and_a_quarter_of_them_by_one_source(tmp_path):
    limits = RelayLimits(codes_to_a_mailbox_a_day=8)
    async with Relay(tmp_path, limits=limits, trusted_proxies=PROXIES) as relay:

        async def asked(number):
            return (await begun(relay, f"m{number}", email="ann@mail.example", source=f"6.6.6.{number % 5}"))[
                0
            ]

        assert [await asked(0), await asked(5), await asked(10)] == [202, 202, 429]
        assert [await asked(number) for number in (1, 6, 2, 7, 3, 8)] == [202] * 6
        assert await asked(4) == 429
        assert len(relay.mail.sent) == 8
        assert (await begun(relay, "bob"))[0] == 202


async def test_a_mailbox_gets_few_mails_about_a_recovery_and_the_answer_stays_the_same(tmp_path):
    async with Relay(tmp_path, limits=RelayLimits(recovery_mails_a_day=2)) as relay:
        await account(relay, "bob")
        body = {"username": "bob", "email": "bob@mail.example"}
        before = len(relay.mail.sent)
        answers = [await relay.post("/v1/accounts/recovery", body) for _ in range(5)]
        assert len({str(answer) for answer in answers}) == 1
        assert len(relay.mail.sent) - before == 2
        relay.clock.ahead += 2 * DAY
        await relay.post("/v1/accounts/recovery", body)
        assert len(relay.mail.sent) - before == 3
