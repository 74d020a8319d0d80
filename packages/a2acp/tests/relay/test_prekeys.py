"""A relay keeps the prekeys of one epoch alone, and lets no older device in."""

import pytest

from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.wire import codes, frames, records
from tacit.wire.encoding import b64
from tests.relay_support import relay_with

_KINDS = {"signed": 1, "last_resort": 2, "one_time": 3}


def prekey(person, kind: str, number: int, epoch: int) -> dict:
    key = b64((number * 10 + _KINDS[kind]).to_bytes(32, "big"))
    signed = records.prekey_signed_bytes(person.address, kind, number, key, epoch)
    return {"id": number, "key": key, "sig": b64(person.me.sign(signed)), "epoch": epoch}


def whole(person, epoch: int, number: int = 1) -> frames.PrekeysFrame:
    return frames.PrekeysFrame(
        signed=prekey(person, "signed", number, epoch),
        last_resort=prekey(person, "last_resort", number, epoch),
        one_time=[prekey(person, "one_time", number + one, epoch) for one in range(3)],
        epoch=epoch,
    )


async def answer(person, frame):
    await person.say(frame)
    found = await person.hear_a((frames.PrekeysOkFrame, frames.ErrorFrame))
    return found.code if isinstance(found, frames.ErrorFrame) else found.one_time


def held(relay):
    file, account = relay.mailboxes.store.reader, relay.mailboxes.agent("bob").account
    return registry.prekey_epoch(file, account), sorted(registry.one_time_ids(file, account))


@pytest.mark.spec("A2ACP-245")
async def test_a_relay_takes_no_prekey_of_an_earlier_epoch_and_replaces_all_with_a_later_one(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob), bob:
        assert await answer(bob, whole(bob, 100)) == 3
        assert (
            await answer(bob, frames.PrekeysFrame(one_time=[prekey(bob, "one_time", 9, 100)], epoch=100)) == 4
        )
        before = held(relay)
        assert before == (100, [1, 2, 3, 9])
        for refused in (
            whole(bob, 99, 50),
            whole(bob, 0, 50),
            frames.PrekeysFrame(one_time=[prekey(bob, "one_time", 50, 99)], epoch=99),
            frames.PrekeysFrame(one_time=[prekey(bob, "one_time", 50, 99)], epoch=100),
            frames.PrekeysFrame(one_time=[prekey(bob, "one_time", 50, 200)], epoch=200),
            frames.PrekeysFrame(signed=prekey(bob, "signed", 50, 200), epoch=200),
        ):
            assert await answer(bob, refused) == codes.OTHER_DEVICE
            assert held(relay) == before
        posing = {**prekey(bob, "one_time", 50, 99), "epoch": 100}
        assert await answer(bob, frames.PrekeysFrame(one_time=[posing], epoch=100)) == codes.BAD_SIGNATURE
        assert held(relay) == before
        assert await answer(bob, whole(bob, 200, 60)) == 3
        assert held(relay) == (200, [60, 61, 62])


@pytest.mark.spec("A2ACP-245")
async def test_no_epoch_is_so_far_ahead_that_none_could_follow(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob), bob:
        assert await answer(bob, whole(bob, 100)) == 3
        for number in (2**53 - 1, int(relay.clock.now()) + 3 * 24 * 3600 * SECOND):
            assert await answer(bob, whole(bob, number)) == codes.BAD_ENVELOPE
        assert held(relay)[0] == 100
        near = int(relay.clock.now()) + 24 * 3600 * SECOND
        assert await answer(bob, whole(bob, near)) == 3
        assert await answer(bob, whole(bob, near + 1)) == 3


@pytest.mark.spec("A2ACP-223")
async def test_a_login_of_an_earlier_epoch_is_refused_before_it_takes_anothers_place(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob):
        await bob.connect()
        assert await answer(bob, whole(bob, 100)) == 3
        old = type(bob)(relay, "bob")
        old.me = bob.me
        challenge = await old.open()
        proof = old.signed(challenge.challenge)
        await old.say(frames.AuthFrame(proof.address, proof.challenge, proof.signature, epoch=99))
        refused = await old.hear()
        assert isinstance(refused, frames.ErrorFrame)
        assert refused.code == codes.OTHER_DEVICE
        assert await old.hear() == codes.CLOSE_OTHER_DEVICE
        await old.close()
        # The one that was there is there still, and its mail is its own.
        assert await bob.sent(bob.address)
        assert await bob.take()
        await bob.close()
