"""An account in its owner's hands: passkeys, sessions, a recovery; by the API and by the operator's command."""

import asyncio
import json

import aiohttp
import pytest
from click.testing import CliRunner

from tacit.a2acp.commands.relay import relay as relay_command
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.settings import DAY
from tacit.wire import frames
from tacit.wire.encoding import b64
from tests.relay.test_accounts_http import account, enrolment_code, login
from tests.relay_support import Bare, Relay, relay_with
from tests.soft_passkey import SoftPasskey


async def ask(relay, method, path, *, http=None):
    async with (http or relay.http).request(method, relay.url + path) as response:
        return response.status, json.loads(await response.read() or b"null")


async def another(relay):
    """A second passkey for whoever is signed in."""
    passkey = SoftPasskey(relay.url)
    _, begun = await relay.post("/v1/passkeys/options", {})
    body = {"login": begun["login"], "credential": passkey.create(begun["options"])}
    status, answer = await relay.post("/v1/passkeys", body)
    assert status == 201, answer
    return passkey


async def agent_of(relay, username):
    agent = Bare(relay, username)
    assert (await relay.post("/v1/agents", agent.enrolment(await enrolment_code(relay))))[0] == 201
    return agent


def browser():
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


async def signed_in(relay, passkey, http):
    """Sign in with another browser."""
    mine, relay.http = relay.http, http
    try:
        assert (await login(relay, passkey))[0] == 200
    finally:
        relay.http = mine


async def operate(relay, *words):
    """The operator's command, beside the running relay."""
    result = await asyncio.to_thread(
        CliRunner().invoke, relay_command, [*relay.operated, "account", *words, "--json"]
    )
    found = json.loads(result.stdout) if result.exit_code == 0 else None
    return result.exit_code, found, result.output


@pytest.mark.spec("A2ACP-011", "A2ACP-014")
async def test_an_owner_sees_their_passkeys_and_sessions_and_nobody_elses(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "alice")
        relay.http.cookie_jar.clear()
        first = await account(relay, "bob")
        second = await another(relay)
        _, found = await ask(relay, "GET", "/v1/account")
        assert found["address"] == f"agent:bob@{relay.domain}"
        assert [(one["id"], one["present"]) for one in found["passkeys"]] == [
            (b64(first.id), True),
            (b64(second.id), False),
        ]
        assert all(one["made_at"] and one["used_at"] is None for one in found["passkeys"])
        assert ([one["present"] for one in found["sessions"]], found["recovery"]) == ([True], None)
        relay.http.cookie_jar.clear()
        assert (await ask(relay, "GET", "/v1/account"))[1]["code"] == "not_signed_in"
        await login(relay, second)
        _, found = await ask(relay, "GET", "/v1/account")
        assert [one["used_at"] is not None for one in found["passkeys"]] == [False, True]
        assert len(found["sessions"]) == 2


@pytest.mark.spec("A2ACP-011", "A2ACP-014")
async def test_a_revoked_passkey_opens_nothing_its_sessions_are_over_and_the_agent_is_told(tmp_path):
    async with Relay(tmp_path) as relay, browser() as thief:
        first = await account(relay, "bob")
        bob = await agent_of(relay, "bob")
        second = await another(relay)
        await signed_in(relay, second, thief)
        assert (await ask(relay, "GET", "/v1/account", http=thief))[0] == 200
        async with bob:
            status, _ = await ask(relay, "DELETE", f"/v1/account/passkeys/{b64(second.id)}")
            assert (status, (await bob.hear_a(frames.NoticeFrame)).kind) == (200, "passkey_added")
            assert (await bob.hear_a(frames.NoticeFrame)).kind == "passkey_revoked"
        assert (await ask(relay, "GET", "/v1/account", http=thief))[1]["code"] == "not_signed_in"
        assert (await login(relay, second))[1]["code"] == "passkey_refused"
        status, answer = await ask(relay, "DELETE", f"/v1/account/passkeys/{b64(first.id)}")
        assert (status, answer["code"]) == (409, "last_passkey")
        assert (await ask(relay, "DELETE", f"/v1/account/passkeys/{b64(second.id)}"))[0] == 404
        assert (await login(relay, first))[0] == 200


@pytest.mark.spec("A2ACP-011")
async def test_nobody_revokes_anothers_passkey_and_an_account_has_not_endless_many(tmp_path):
    async with Relay(tmp_path) as relay:
        alice = await account(relay, "alice")
        relay.http.cookie_jar.clear()
        await account(relay, "bob")
        await another(relay)
        assert (await ask(relay, "DELETE", f"/v1/account/passkeys/{b64(alice.id)}"))[0] == 404
        assert (await login(relay, alice))[0] == 200
        known = registry.account_of(relay.mailboxes.store.reader, "alice")[0]

        def fill(file):
            for number in range(registry.MOST_PASSKEYS - 1):
                registry.add_passkey(file, known, (bytes([number]) * 8, b"", 0), relay.clock.now())

        await relay.mailboxes.store.write(fill)
        _, begun = await relay.post("/v1/passkeys/options", {})
        body = {"login": begun["login"], "credential": SoftPasskey(relay.url).create(begun["options"])}
        assert (await relay.post("/v1/passkeys", body))[1]["code"] == "passkey_refused"


@pytest.mark.spec("A2ACP-019")
async def test_an_owner_cancels_a_recovery_and_its_code_is_worth_nothing(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob")
        bob = await agent_of(relay, "bob")
        await relay.post("/v1/accounts/recovery", {"username": "bob", "email": "bob@mail.example"})
        code = relay.mail.last_code()
        assert (await ask(relay, "GET", "/v1/account"))[1]["recovery"]["opens_at"]
        assert (await ask(relay, "DELETE", "/v1/account/recovery"))[0] == 200
        assert (await ask(relay, "DELETE", "/v1/account/recovery"))[0] == 404
        assert (await ask(relay, "GET", "/v1/account"))[1]["recovery"] is None
        async with bob:
            kinds = [(await bob.hear_a(frames.NoticeFrame)).kind for _ in range(2)]
            assert kinds == ["recovery_started", "recovery_cancelled"]
        relay.clock.ahead += 3 * DAY + SECOND
        assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[1]["code"] == "bad_code"
        again = await relay.post("/v1/accounts/recovery", {"username": "bob", "email": "bob@mail.example"})
        assert (again[0], relay.mail.last_code() != code) == (202, True)


@pytest.mark.spec("A2ACP-014")
async def test_sessions_end_here_elsewhere_and_by_signing_out(tmp_path):
    async with Relay(tmp_path) as relay, browser() as elsewhere:
        passkey = await account(relay, "bob")
        await signed_in(relay, passkey, elsewhere)
        assert await ask(relay, "DELETE", "/v1/account/sessions") == (200, {"ended": 1})
        assert (await ask(relay, "GET", "/v1/account", http=elsewhere))[0] == 401
        assert (await ask(relay, "GET", "/v1/account"))[0] == 200
        assert (await ask(relay, "DELETE", "/v1/account/session"))[0] == 200
        assert (await ask(relay, "GET", "/v1/account"))[0] == 401
        assert (await relay.post("/v1/enrolment-codes", {}))[0] == 401


@pytest.mark.spec("A2ACP-011", "A2ACP-014", "A2ACP-019")
async def test_the_operator_shows_an_account_revokes_cancels_and_signs_out_beside_the_running_relay(tmp_path):
    async with Relay(tmp_path) as relay:
        first = await account(relay, "bob")
        second = await another(relay)
        bob = await agent_of(relay, "bob")
        await relay.post("/v1/accounts/recovery", {"username": "bob", "email": "bob@mail.example"})
        _, found, _ = await operate(relay, "bob")
        assert [one["id"] for one in found["passkeys"]] == [b64(first.id), b64(second.id)]
        assert (found["recovery_opens_at"] is not None, found["done"]) == (True, [])
        _, found, _ = await operate(
            relay, "bob", f"--revoke-passkey={b64(second.id)[:12]}", "--cancel-recovery", "--end-sessions"
        )
        assert found["done"] == ["passkey_revoked", "recovery_cancelled", "sessions_ended"]
        assert ([one["id"] for one in found["passkeys"]], found["recovery_opens_at"]) == (
            [b64(first.id)],
            None,
        )
        assert (await ask(relay, "GET", "/v1/account"))[0] == 401
        assert (await login(relay, second))[1]["code"] == "passkey_refused"
        assert (await login(relay, first))[0] == 200
        assert (await ask(relay, "GET", "/v1/account"))[0] == 200
        async with bob:
            kinds = [(await bob.hear_a(frames.NoticeFrame)).kind for _ in range(4)]
            assert kinds == ["recovery_started", *found["done"]]
        assert (await operate(relay, "nobody"))[0] == 1
        assert "no such passkey" in (await operate(relay, "bob", "--revoke-passkey=zzzz"))[2]
        assert "no recovery runs" in (await operate(relay, "bob", "--cancel-recovery"))[2]


@pytest.mark.spec("A2ACP-015")
async def test_the_operators_code_lets_an_invited_agent_begin_its_numbers_anew(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob):
        for words, may_reset in (((), False), (("--reset",), True)):
            result = await asyncio.to_thread(
                CliRunner().invoke,
                relay_command,
                [*relay.operated, "invite", "bob", "--renew", *words, "--json"],
            )
            taken = await relay.mailboxes.store.write(
                lambda file, result=result: registry.take_code(
                    file,
                    json.loads(result.stdout)["code"],
                    relay.clock.now(),
                    relay.mailboxes.clock.confirmed(),
                    "enrol",
                )
            )
            assert taken == registry.TakenCode("enrol", bob.username, may_reset)
