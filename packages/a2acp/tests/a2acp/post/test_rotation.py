"""A contact's rotations, followed one by one; numbers that nobody can take away."""

import json

import pytest

from tacit.a2acp.post import rotation
from tacit.base.errors import PeerFault, Refused
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.settings import DAY
from tacit.seal import identity
from tacit.wire import records
from tacit.wire.encoding import b64, canonical
from tests.agent_support import Person, people_on
from tests.post_support import BOB, Repeatable
from tests.relay.test_accounts_http import account, enrolment_code
from tests.relay_support import Relay, until

CEILING = 2**53 - 1


def keys(number):
    return identity.generate(Repeatable(f"key {number}"))


def signed(me, serial, before=None, *, who=BOB, reset=False):
    raw = records.statement_bytes(
        records.Statement(
            address=who,
            signing_key=b64(me.signing_public),
            agreement_key=b64(me.agreement_public),
            serial=serial,
            previous_signing_key=b64(before.signing_public) if before else None,
            reset=reset,
        )
    )
    record = {"statement": json.loads(raw), "sig": b64(me.sign(records.statement_signed_bytes(raw)))}
    if before is not None:
        record["rotation_sig"] = b64(before.sign(records.rotation_signed_bytes(raw)))
    return record


def record(present, *rotations):
    return records.read_record(canonical({**present, "rotations": list(rotations)}))


def chain(count):
    """Rotations from key 0 to key `count`."""
    return [signed(keys(n), n, keys(n - 1)) for n in range(1, count + 1)]


def pinned(number=0, serial=0):
    return identity.Pin(keys(number).public, serial)


def seen(pin, offered):
    offer = rotation.read_offer(BOB, offered, pin)
    return identity.sighting(
        pin, offer.keys, offer.statement.serial, rotation_proven=offer.rotation_proven, reset=offer.reset
    )


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
@pytest.mark.parametrize("slept", [1, 2, 3, 31])
def test_a_chain_of_signed_rotations_is_followed_from_any_of_its_keys(slept):
    links = chain(slept)
    for known in range(slept):
        assert seen(pinned(known, known), record(links[-1], *links)) is identity.Sighting.ROTATED
    again = signed(keys(slept), slept + 1)
    assert seen(pinned(), record(again, *links)) is identity.Sighting.ROTATED


@pytest.mark.spec("A2ACP-247", "A2ACP-251")
@pytest.mark.parametrize(
    "twist", ["gap", "other signer", "other address", "unsigned", "only the last", "no self-signature"]
)
def test_a_chain_that_does_not_lead_from_our_key_proves_nothing(twist):
    links, mallory = chain(3), identity.generate(Repeatable("mallory"))
    match twist:
        case "gap":
            del links[1]
        case "other signer":
            links[1] = signed(keys(2), 2, mallory)
        case "other address":
            links[1] = signed(keys(2), 2, keys(1), who="agent:eve@b.example")
        case "unsigned":
            del links[1]["rotation_sig"]
        case "only the last":
            links = links[2:]
        case _:
            links[1]["sig"] = b64(bytes(64))
    assert seen(pinned(), record(links[-1], *links)) is identity.Sighting.DIFFERENT
    assert seen(pinned(2, 2), record(links[-1], *links)) is identity.Sighting.ROTATED


@pytest.mark.spec("A2ACP-247")
def test_the_chain_is_bounded_and_whoever_slept_longer_asks_a_person():
    links = chain(records.MOST_ROTATIONS + 2)
    assert seen(pinned(), record(links[-1], *links)) is identity.Sighting.DIFFERENT
    kept = records.bounded_rotations(record(links[-1], *links).rotations)
    assert len(kept) == records.MOST_ROTATIONS
    large = [{**link, "sig": link["sig"], "rotation_sig": "A" * 5_000} for link in links]
    assert 0 < len(records.bounded_rotations(record(large[-1], *large).rotations)) < 6


@pytest.mark.spec("A2ACP-015", "A2ACP-251")
def test_a_serial_that_leaps_is_not_pinned_whoever_signed_it():
    pin = pinned(0, 5)
    for present in (signed(keys(0), CEILING), signed(keys(1), CEILING, keys(0))):
        with pytest.raises(PeerFault, match="leaps"):
            rotation.read_offer(BOB, record(present), pin)
    assert seen(pin, record(signed(keys(2), CEILING))) is identity.Sighting.DIFFERENT
    most = signed(keys(0), 5 + records.LARGEST_LEAP)
    assert seen(pin, record(most)) is identity.Sighting.SAME


@pytest.mark.spec("A2ACP-015")
def test_numbers_that_began_anew_are_followed_through_later_rotations():
    begun = signed(keys(1), 1, keys(0), reset=True)
    later = signed(keys(2), 2, keys(1))
    stuck = pinned(0, CEILING)
    assert seen(stuck, record(begun, begun)) is identity.Sighting.ROTATED
    assert seen(stuck, record(later, begun, later)) is identity.Sighting.ROTATED
    lost = signed(keys(1), 1, reset=True)
    assert seen(stuck, record(later, lost, later)) is identity.Sighting.DIFFERENT
    assert seen(stuck, record(signed(keys(2), 2, keys(1)))) is identity.Sighting.OLDER


async def code_for(relay, person, *, may_reset=False):
    code = f"code-{relay.clock.now()}"
    await relay.mailboxes.store.write(
        lambda file: registry.add_code(
            file, code=code, purpose="enrol", username=person.username, expires=2**60, may_reset=may_reset
        )
    )
    return code


async def register(relay, person, **more):
    code = await code_for(relay, person, may_reset=more.get("reset", False))
    return await person.post.directory.register(person.address, relay.url, code, **more)


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
async def test_two_rotations_while_a_contact_slept_are_followed_without_asking(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob") as (alice, bob),
    ):
        await bob.online()
        await alice.online()
        alice.say(bob, "first key")
        await bob.has("first key")
        await alice.offline()
        await bob.offline()
        for _ in range(2):
            await register(relay, alice, rotate=True)
        await register(relay, alice)
        await alice.online()
        alice.say(bob, "third key")
        await alice.sent()
        await bob.online()
        await bob.has("first key", "third key")
        pin = bob.post.store.contact(alice.address).pin
        assert (pin.keys, pin.trust) == (alice.post.store.me().identity.public, identity.Trust.PINNED)
        assert "has changed" not in bob.notes()


@pytest.mark.spec("A2ACP-015")
async def test_an_intruders_moment_does_not_take_the_last_number_from_its_owner(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        intruder = Person(tmp_path / "intruder", relay, "alice")
        async with intruder.post:
            directory = intruder.post.directory
            for serial, code in ((CEILING, "serial_step"), (1 + records.LARGEST_STEP + 1, "serial_step")):
                stolen = identity.generate(Repeatable("intruder"))
                me = directory._statement(alice.address, relay.url, stolen, serial, None)
                with pytest.raises(Refused) as refused:
                    await directory._enrol(me, await code_for(relay, alice), keep=False)
                assert refused.value.code == code
            me = directory._statement(alice.address, relay.url, stolen, 1 + records.LARGEST_STEP, None)
            await directory._enrol(me, await code_for(relay, alice), keep=False)
        intruder.post.store.close()
        assert relay.mailboxes.agent("alice").serial == 1 + records.LARGEST_STEP
        back = await register(relay, alice)
        assert relay.mailboxes.agent("alice").signing_key == back.identity.signing_public
        await alice.online()


async def recovered(relay, username, email):
    """A session of a recovered account; the relay's http session is in it."""
    relay.http.cookie_jar.clear()
    await relay.post("/v1/accounts/recovery", {"username": username, "email": email})
    code = relay.mail.last_code()
    relay.clock.ahead += 3 * DAY + SECOND
    assert (await relay.post("/v1/accounts/recovery/confirm", {"code": code}))[0] == 200


async def stuck(relay, person):
    """As it was when any number was taken: the last one is registered, and nothing can follow it."""
    me = person.post.directory._statement(
        person.address, relay.url, person.post.store.me().identity, CEILING, None
    )
    await relay.mailboxes.store.write(
        lambda file: (
            file.execute(
                "UPDATE agents SET serial=?, record=? WHERE account=(SELECT id FROM accounts WHERE username=?)",
                (CEILING, me.record, person.username),
            )
            and None
        )
    )
    relay.mailboxes.forget_agent(person.username)


@pytest.mark.spec("A2ACP-015", "A2ACP-019")
@pytest.mark.parametrize("device", ["kept", "lost"])
async def test_a_recovery_begins_the_numbers_anew_and_contacts_follow_by_proof_or_ask(tmp_path, device):
    async with Relay(tmp_path / "relay") as relay:
        await account(relay, "alice")
        alice, fresh = Person(tmp_path / "alice", relay, "alice"), Person(tmp_path / "fresh", relay, "alice")
        async with alice.post, fresh.post, people_on(relay, tmp_path, "bob") as (bob,):
            code = await enrolment_code(relay)
            await alice.post.directory.register(alice.address, relay.url, code)
            await stuck(relay, alice)
            await bob.post.directory.refresh(alice.address)
            with pytest.raises(Refused) as refused:
                await register(relay, alice)
            assert refused.value.code == "serial_out_of_reach"
            with pytest.raises(Refused) as refused:
                await alice.post.directory.register(
                    alice.address, relay.url, await code_for(relay, alice), reset=True
                )
            assert refused.value.code == "reset_refused"
            await recovered(relay, "alice", "alice@mail.example")
            owner = alice if device == "kept" else fresh
            code = await enrolment_code(relay)
            me = await owner.post.directory.register(alice.address, relay.url, code, reset=True)
            assert relay.mailboxes.agent("alice").serial == me.serial == 1
            await register(relay, owner)
            pin = await bob.post.directory.refresh(alice.address)
            if device == "kept":
                assert (pin.keys, pin.serial, pin.usable) == (me.identity.public, 2, True)
            else:
                assert (pin.offered, pin.offered_serial, pin.usable) == (me.identity.public, 2, False)
                assert "has changed" in bob.notes()
        alice.post.store.close()
        fresh.post.store.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-015")
async def test_an_older_copy_of_a_folder_registers_after_what_the_relay_holds(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        before = alice.post.store.me()
        for _ in range(3):
            await register(relay, alice)
        with alice.post.store.transaction():
            alice.post.store.set_identity(before)
        me = await register(relay, alice)
        assert (me.serial, relay.mailboxes.agent("alice").serial) == (5, 5)
        await alice.online()
        await until(alice.connection.connected.is_set)
