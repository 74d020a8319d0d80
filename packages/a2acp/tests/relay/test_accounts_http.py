import json

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io.time_service import time_of
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.settings import DAY, MINUTE
from tacit.wire import frames, version
from tacit.wire.encoding import canonical
from tests.relay_support import Bare, Relay, relay_with
from tests.soft_passkey import SoftPasskey
from tests.two_clocks import TwoClocks


async def account(
    relay: Relay, username: str, passkey: SoftPasskey | None = None, email: str | None = None
) -> SoftPasskey:
    """A new account by email code and passkey; the relay's http session is then signed in."""
    passkey = passkey or SoftPasskey(relay.url)
    status, begun = await relay.post(
        "/v1/accounts", {"username": username, "email": email or f"{username}@mail.example"}
    )
    assert status == 202, begun
    token = begun["registration"]
    status, options = await relay.post(
        "/v1/accounts/confirm", {"registration": token, "code": relay.mail.last_code()}
    )
    assert status == 200, options
    status, answer = await relay.post(
        "/v1/accounts/passkey", {"registration": token, "credential": passkey.create(options)}
    )
    assert status == 201, answer
    assert answer == {"address": f"agent:{username}@{relay.domain}"}
    return passkey


async def login(relay: Relay, passkey: SoftPasskey):
    _, begun = await relay.post("/v1/sessions/options", {})
    return await relay.post(
        "/v1/sessions", {"login": begun["login"], "credential": passkey.get(begun["options"])}
    )


async def enrolment_code(relay: Relay) -> str:
    status, answer = await relay.post("/v1/enrolment-codes", {})
    assert status == 201, answer
    return answer["code"]


@pytest.mark.spec("A2ACP-011", "A2ACP-012", "A2ACP-018")
async def test_email_code_then_passkey_then_enrolment_code_then_the_agent_is_reachable(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        await account(relay, "bob")
        bob = Bare(relay, "bob")
        async with alice:
            await alice.send(bob.address)
            assert (await alice.hear_a(frames.ErrorFrame)).code == "unknown_recipient"
            status, _ = await relay.post("/v1/agents", bob.enrolment(await enrolment_code(relay)))
            assert status == 201
            sent = await alice.sent(bob.address)
        async with bob:
            assert await bob.take() == [sent]


@pytest.mark.spec("A2ACP-011")
async def test_nothing_in_the_relay_asks_for_or_keeps_a_password_or_an_email_address(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob", email="bob.secretive@mail.example")
        _, page = await relay.get("/join")
        assert b'type="password"' not in page
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secretive" not in stored
    assert b"password" not in stored


@pytest.mark.spec("A2ACP-019")
async def test_until_code_and_passkey_are_in_there_is_no_account(tmp_path):
    async with Relay(tmp_path) as relay:
        _, begun = await relay.post("/v1/accounts", {"username": "bob", "email": "bob@mail.example"})
        passkey = SoftPasskey(relay.url)
        options = {"challenge": "AAAA", "user": {"id": "AAAA"}}
        status, answer = await relay.post(
            "/v1/accounts/passkey",
            {"registration": begun["registration"], "credential": passkey.create(options)},
        )
        assert (status, answer["code"]) == (400, "bad_code")
        assert relay.mailboxes.agent("bob") is None


@pytest.mark.spec("A2ACP-019")
async def test_a_mailed_code_has_five_tries_and_fifteen_minutes(tmp_path):
    async with Relay(tmp_path) as relay:
        for late in (False, True):
            _, begun = await relay.post("/v1/accounts", {"username": "bob", "email": "bob@mail.example"})
            good = relay.mail.last_code()
            if late:
                relay.clock.ahead += 16 * MINUTE
            else:
                for _ in range(5):
                    wrong = {"registration": begun["registration"], "code": "00000000"}
                    assert (await relay.post("/v1/accounts/confirm", wrong))[0] == 400
            body = {"registration": begun["registration"], "code": good}
            assert (await relay.post("/v1/accounts/confirm", body))[1]["code"] == "bad_code"


@pytest.mark.spec("A2ACP-012")
async def test_an_enrolment_code_works_once_for_ten_minutes_and_for_its_own_name(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, _):
        await account(relay, "bob")
        code = await enrolment_code(relay)
        mallory = Bare(relay, "mallory")
        assert (await relay.post("/v1/agents", mallory.enrolment(code)))[1]["code"] == "bad_code"
        bob = Bare(relay, "bob")
        # The wrong name has not used it up: nothing was registered, and the code is still bob's.
        assert (await relay.post("/v1/agents", bob.enrolment(code)))[0] == 201
        assert (await relay.post("/v1/agents", bob.enrolment(code, serial=2)))[1]["code"] == "bad_code"
        late = await enrolment_code(relay)
        relay.clock.ahead += 11 * MINUTE
        assert (await relay.post("/v1/agents", bob.enrolment(late, serial=3)))[1]["code"] == "bad_code"
        assert relay.mailboxes.agent("bob").serial == 1
        assert relay.mailboxes.agent("mallory") is None


@pytest.mark.spec("A2ACP-014")
async def test_a_taken_name_is_refused_and_its_key_stays(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        thief = Bare(relay, "alice")
        invited = await relay.post("/v1/agents", thief.enrolment(await relay.invite("alice")))
        assert invited[1]["code"] == "bad_code"
        _, begun = await relay.post("/v1/accounts", {"username": "alice", "email": "thief@mail.example"})
        body = {"registration": begun["registration"], "code": relay.mail.last_code()}
        _, options = await relay.post("/v1/accounts/confirm", body)
        passkey = SoftPasskey(relay.url)
        status, answer = await relay.post(
            "/v1/accounts/passkey",
            {"registration": begun["registration"], "credential": passkey.create(options)},
        )
        assert (status, answer["code"]) == (409, "username_taken")
        assert relay.mailboxes.agent("alice").signing_key == alice.me.signing_public


@pytest.mark.spec("A2ACP-014")
async def test_without_a_session_there_is_no_enrolment_code(tmp_path):
    async with Relay(tmp_path) as relay:
        status, answer = await relay.post("/v1/enrolment-codes", {})
        assert (status, answer["code"]) == (401, "not_signed_in")


@pytest.mark.spec("A2ACP-015")
async def test_a_signed_in_person_may_register_new_keys_and_an_older_statement_never_returns(tmp_path):
    async with Relay(tmp_path) as relay:
        passkey = await account(relay, "bob")
        old = Bare(relay, "bob")
        assert (await relay.post("/v1/agents", old.enrolment(await enrolment_code(relay), serial=5)))[
            0
        ] == 201
        relay.http.cookie_jar.clear()
        assert (await login(relay, passkey))[0] == 200
        new = Bare(relay, "bob")
        stale = await relay.post("/v1/agents", new.enrolment(await enrolment_code(relay), serial=5))
        assert stale[1]["code"] == "stale_record"
        assert (await relay.post("/v1/agents", new.enrolment(await enrolment_code(relay), serial=6)))[
            0
        ] == 201
        _, record = await relay.get("/v1/agents/bob")
        assert json.loads(record)["statement"] == json.loads(new.statement(6))


@pytest.mark.spec("A2ACP-011")
@pytest.mark.parametrize(
    "twist", ["other origin", "other site", "no verification", "old challenge", "other key"]
)
async def test_a_passkey_login_that_does_not_hold_is_refused(tmp_path, twist):
    async with Relay(tmp_path) as relay:
        passkey = await account(relay, "bob")
        relay.http.cookie_jar.clear()
        _, begun = await relay.post("/v1/sessions/options", {})
        match twist:
            case "other origin":
                passkey.origin = "https://evil.example"
            case "other site":
                passkey.rp_id = "evil.example"
            case "no verification":
                passkey._flags = 0x01
            case "old challenge":
                begun["options"]["challenge"] = "AAAA"
            case _:
                other = SoftPasskey(relay.url)
                other.id = passkey.id
                passkey = other
        credential = passkey.get(begun["options"])
        status, answer = await relay.post("/v1/sessions", {"login": begun["login"], "credential": credential})
        assert (status, answer["code"]) == (400, "passkey_refused")
        assert (await relay.post("/v1/enrolment-codes", {}))[0] == 401


@pytest.mark.spec("A2ACP-011")
async def test_a_login_challenge_is_used_once(tmp_path):
    async with Relay(tmp_path) as relay:
        passkey = await account(relay, "bob")
        _, begun = await relay.post("/v1/sessions/options", {})
        body = {"login": begun["login"], "credential": passkey.get(begun["options"])}
        assert (await relay.post("/v1/sessions", body))[0] == 200
        assert (await relay.post("/v1/sessions", body))[1]["code"] == "passkey_refused"


@pytest.mark.spec("A2ACP-019")
async def test_recovery_waits_three_days_and_is_announced_to_the_connected_agent(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob")
        bob = Bare(relay, "bob")
        await relay.post("/v1/agents", bob.enrolment(await enrolment_code(relay)))
        relay.http.cookie_jar.clear()
        async with bob:
            body = {"username": "bob", "email": "bob@mail.example"}
            status, same = await relay.post("/v1/accounts/recovery", body)
            notice = await bob.hear_a(frames.NoticeFrame)
            assert (status, notice.kind) == (202, "recovery_started")
        code, mails = relay.mail.last_code(), len(relay.mail.sent)
        wrong = await relay.post("/v1/accounts/recovery", {"username": "bob", "email": "eve@mail.example"})
        assert wrong == (202, same)
        assert len(relay.mail.sent) == mails
        assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[1]["code"] == "bad_code"
        relay.clock.ahead += 3 * DAY + SECOND
        assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[0] == 200
        fresh = SoftPasskey(relay.url)
        _, begun = await relay.post("/v1/passkeys/options", {})
        body = {"login": begun["login"], "credential": fresh.create(begun["options"])}
        assert (await relay.post("/v1/passkeys", body))[0] == 201
        relay.http.cookie_jar.clear()
        assert (await login(relay, fresh))[0] == 200


@pytest.mark.spec("A2ACP-019")
async def test_a_recovery_does_not_open_by_a_clock_that_leapt(tmp_path):
    clock = TwoClocks()
    async with Relay(tmp_path) as relay:
        store, begun = relay.mailboxes.store, clock.now()
        relay.mailboxes.clock = time_of(clock)
        code, opens = "a" * 26, begun + 3 * DAY

        def kept(file):
            registry.add_code(
                file, code=code, purpose="recovery", username="bob", expires=opens + 9 * DAY, not_before=opens
            )

        await store.write(kept)
        relay.mailboxes.clock.look()
        clock.leap(4 * DAY)
        assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[1]["code"] == "bad_code"
        clock.leap(-4 * DAY)
        clock.watch(3 * DAY)
        known = await relay.post("/v1/accounts/recovery/confirm", {"code": code})
        assert known[1]["code"] == "bad_code", "there is no such account"
        assert store.reader.execute("SELECT count(*) FROM codes").get == 0, "and yet it had opened"


@pytest.mark.spec("A2ACP-019")
async def test_deletion_erases_key_and_queue_and_the_name_is_never_given_again(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        await account(relay, "bob")
        bob = Bare(relay, "bob")
        await relay.post("/v1/agents", bob.enrolment(await enrolment_code(relay)))
        async with alice:
            await alice.sent(bob.address)
            async with relay.http.delete(relay.url + "/v1/accounts") as response:
                assert response.status == 200
            await alice.send(bob.address)
            assert (await alice.hear_a(frames.ErrorFrame)).code == "unknown_recipient"
        assert (await relay.get("/v1/agents/bob"))[0] == 404
        assert relay.mailboxes.store.reader.execute("SELECT count(*) FROM queue").get == 0
        again = await relay.post("/v1/agents", bob.enrolment(await relay.invite("bob"), serial=9))
        assert again[1]["code"] == "username_taken"


@pytest.mark.spec("A2ACP-010")
@pytest.mark.parametrize(
    "name", ["admin", "relay", "system", "postmaster", "abuse", "adm1n", "re1ay", "Bad Name", "-x", "x" * 33]
)
async def test_reserved_and_misshapen_names_are_refused_at_once(tmp_path, name):
    async with Relay(tmp_path) as relay:
        status, answer = await relay.post("/v1/accounts", {"username": name, "email": "a@mail.example"})
        assert (status, answer["code"]) == (400, "bad_username")


@pytest.mark.spec("A2ACP-014")
@pytest.mark.parametrize("twist", ["possession", "statement", "other relay", "small key"])
async def test_a_record_that_does_not_hold_registers_nothing_and_uses_up_nothing(tmp_path, twist):
    async with Relay(tmp_path) as relay:
        bob, code = Bare(relay, "bob"), await relay.invite("bob")
        body = bob.enrolment(code)
        match twist:
            case "possession":
                body["possession"] = bob.enrolment("other")["possession"]
            case "statement":
                body["record"]["statement"]["serial"] = 99
            case "other relay":
                body = bob.enrolment(code, relay="elsewhere.example")
            case _:
                body = bob.enrolment(code, signing=bytes([1]) + bytes(31))
        assert (await relay.post("/v1/agents", body))[1]["code"] == "bad_record"
        assert relay.mailboxes.agent("bob") is None
        assert (await relay.post("/v1/agents", bob.enrolment(code)))[0] == 201


async def test_only_json_is_taken_so_no_other_sites_form_can_speak(tmp_path):
    async with Relay(tmp_path) as relay:
        async with relay.http.post(relay.url + "/v1/sessions/options", data="{}") as response:
            assert response.status == 200
        async with relay.http.post(relay.url + "/v1/accounts", data='{"username":"x"}') as response:
            assert response.status == 400
            assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.spec("A2ACP-245")
async def test_a_one_time_prekey_is_handed_out_once_then_the_last_resort_remains(tmp_path):
    from tacit.wire import records
    from tacit.wire.encoding import b64

    async with relay_with(tmp_path, "bob") as (_, bob):

        def prekey(kind, identifier):
            key = b64(bytes([identifier]) * 32)
            return {
                "id": identifier,
                "key": key,
                "sig": b64(bob.me.sign(records.prekey_signed_bytes(bob.address, kind, identifier, key))),
            }

        async with bob:
            frame = frames.PrekeysFrame(
                prekey("signed", 1), prekey("last_resort", 2), [prekey("one_time", 3), prekey("one_time", 4)]
            )
            await bob.say(frame)
            assert (await bob.hear_a(frames.PrekeysOkFrame)).one_time == 2
            await bob.say(frames.PrekeysFrame(one_time=[prekey("signed", 5)]))
            assert (await bob.hear_a(frames.ErrorFrame)).code == "bad_signature"
            await bob.sent(bob.address)
        given = [(await bob.prekeys_of(bob))[1].get("one_time", {}).get("id") for _ in range(3)]
        assert given == [3, 4, None]
        _, bundle = await bob.prekeys_of(bob)
        assert (bundle["signed"]["id"], bundle["last_resort"]["id"]) == (1, 2)


@pytest.mark.spec("A2ACP-015", "A2ACP-249")
async def test_new_keys_end_the_connection_that_spoke_with_the_old(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob")
        old = Bare(relay, "bob")
        await relay.post("/v1/agents", old.enrolment(await enrolment_code(relay)))
        async with old:
            new = Bare(relay, "bob")
            await relay.post("/v1/agents", new.enrolment(await enrolment_code(relay), serial=2))
            assert await old.hear() == 4003
        async with new:
            assert new.welcome.address == new.address


async def test_behind_a_proxy_each_caller_has_its_own_allowance(tmp_path):
    from tacit.relay.settings import RelayLimits

    limits = RelayLimits(lookups_per_minute=3)
    for believed in (True, False):
        proxies = ("127.0.0.1",) if believed else ()
        async with Relay(tmp_path / str(believed), limits=limits, trusted_proxies=proxies) as relay:
            statuses = []
            for caller in range(6):
                headers = {"X-Forwarded-For": f"6.6.6.6, 10.0.0.{caller}"}
                async with relay.http.get(relay.url + "/v1/agents/nobody", headers=headers) as response:
                    statuses.append(response.status)
            assert (429 in statuses) != believed


@pytest.mark.spec("A2ACP-261")
async def test_scores_outlive_a_restart(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, _):
        relay.mailboxes.reputation.change("agent:x@y.example", -40)
    async with Relay(tmp_path, port=relay.port) as again:
        assert again.mailboxes.reputation.score("agent:x@y.example") == 10


@pytest.mark.spec("A2ACP-245")
async def test_a_connected_agent_is_told_when_its_prekeys_run_low(tmp_path):
    async with relay_with(tmp_path, "bob") as (_, bob), bob:
        await bob.prekeys_of(bob)
        assert (await bob.hear_a(frames.PrekeysOkFrame)).one_time == 0


@pytest.mark.spec("A2ACP-015", "A2ACP-021")
@pytest.mark.parametrize("serial", [2**63, 2**53, -1])
async def test_a_serial_that_no_reader_can_hold_registers_nothing(tmp_path, serial):
    async with Relay(tmp_path) as relay:
        mal = Bare(relay, "mal")
        code = await relay.invite("mal")
        status, answer = await relay.post("/v1/agents", mal.enrolment(code, serial=serial))
        assert (status, answer["code"]) == (400, "bad_envelope")
        assert (await relay.post("/v1/agents", mal.enrolment(code, serial=1)))[0] == 201


@pytest.mark.spec("A2ACP-019")
async def test_a_recovery_that_runs_is_not_put_off_by_asking_again(tmp_path):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob")
        relay.http.cookie_jar.clear()
        body = {"username": "bob", "email": "bob@mail.example"}
        first = await relay.post("/v1/accounts/recovery", body)
        code = relay.mail.last_code()
        relay.clock.ahead += 3 * DAY - MINUTE
        assert await relay.post("/v1/accounts/recovery", body) == first
        assert "works from" in relay.mail.sent[-1][2]
        relay.clock.ahead += 2 * MINUTE
        assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[0] == 200
        # It was used: the next one begins anew, and so does one after it has expired.
        await relay.post("/v1/accounts/recovery", body)
        second = relay.mail.last_code()
        relay.clock.ahead += 11 * DAY
        await relay.post("/v1/accounts/recovery", body)
        assert len({code, second, relay.mail.last_code()}) == 3


@pytest.mark.spec("A2ACP-019")
async def test_a_recovery_code_that_could_not_be_mailed_stands_in_nobodys_way(tmp_path, monkeypatch):
    async with Relay(tmp_path) as relay:
        await account(relay, "bob")
        body = {"username": "bob", "email": "bob@mail.example"}

        async def down(*_):
            raise Unavailable("the mail server does not answer")

        with monkeypatch.context() as broken:
            broken.setattr(relay.mail, "send", down)
            assert (await relay.post("/v1/accounts/recovery", body))[0] == 503
        await relay.post("/v1/accounts/recovery", body)
        assert "this code works" in relay.mail.sent[-1][2]


@pytest.mark.spec("A2ACP-014", "A2ACP-245")
@pytest.mark.parametrize(
    "point",
    [
        "00" * 32,
        "01" + "00" * 31,
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "ec" + "ff" * 30 + "7f",
    ],
)
async def test_an_agreement_key_of_small_order_cannot_register(tmp_path, point):
    async with Relay(tmp_path) as relay:
        mal = Bare(relay, "mal")
        body = mal.enrolment(await relay.invite("mal"), agreement=bytes.fromhex(point))
        assert (await relay.post("/v1/agents", body))[1]["code"] == "bad_record"
        assert relay.mailboxes.agent("mal") is None


@pytest.mark.spec("A2ACP-021")
@pytest.mark.parametrize(("size", "status"), [(16_384, 201), (16_385, 413)])
async def test_a_key_record_has_at_most_sixteen_kilobytes(tmp_path, monkeypatch, size, status):
    async with Relay(tmp_path) as relay:
        ann, code = Bare(relay, "ann"), await relay.invite("ann")

        def enrolment(*longer):
            with monkeypatch.context() as verbose:
                verbose.setattr(version, "SUPPORTED", ("0.2", *longer))
                return ann.enrolment(code)

        missing = size - len(canonical(enrolment("")["record"]))
        body = enrolment("9" * missing)
        assert len(canonical(body["record"])) == size
        assert (await relay.post("/v1/agents", body))[0] == status


@pytest.mark.spec("A2ACP-021")
async def test_a_key_record_that_no_directory_would_read_cannot_register(tmp_path, monkeypatch):
    async with Relay(tmp_path) as relay:
        mal, code = Bare(relay, "mal"), await relay.invite("mal")
        with monkeypatch.context() as verbose:
            verbose.setattr(version, "SUPPORTED", ("0.2",) * 4_000)
            body = mal.enrolment(code)
        status, answer = await relay.post("/v1/agents", body)
        assert (status, answer["code"]) == (413, "too_large")
        assert (await relay.post("/v1/agents", mal.enrolment(code)))[0] == 201
