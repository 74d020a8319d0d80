"""What a relay's node does about the news of another: the news as values, the rest of the node real."""

from __future__ import annotations

import pytest

from tacit.relay.followed import BatchNews, RemovedElsewhere, StoredElsewhere
from tacit.relay.io.following import Following
from tacit.wire import frames
from tests.relay.test_guests import EASY, GUEST, opening, told
from tests.relay_support import relay_with


def following(relay, woken: list[str] | None = None) -> Following:
    return Following(relay.mailboxes, [].append if woken is None else woken.append)


@pytest.mark.spec("A2ACP-276")
async def test_an_answer_that_came_in_elsewhere_is_told_to_whoever_made_the_link_and_is_here(tmp_path):
    async with relay_with(tmp_path, "anna", "ben", limits=EASY) as (relay, anna, ben), anna, ben:
        assert (await told(relay, opening(anna)))[0] == 200
        for guests in ({"z" * 26}, {GUEST}):
            following(relay).follow(BatchNews(answered=guests))
        await anna.sent(anna.address)
        await ben.sent(ben.address)
        notices = [
            [one.kind for one in who.heard if isinstance(one, frames.NoticeFrame)] for who in (anna, ben)
        ]
        assert [kinds.count(frames.GUEST_ANSWERED) for kinds in notices] == [1, 0]


@pytest.mark.spec("A2ACP-002", "A2ACP-218")
async def test_what_is_stored_and_removed_elsewhere_counts_here(tmp_path):
    async with relay_with(tmp_path, "anna", "ben") as (relay, anna, ben):
        account = relay.mailboxes.agent("ben").account
        stored = StoredElsewhere(account, 7, anna.address, "q_" + "A" * 22, 1_000, b"{}", "sig")
        follow = following(relay).follow
        follow(BatchNews(stored=[stored]))
        assert relay.mailboxes.quota.total() == (1, 1_000)
        gone = RemovedElsewhere(account, 7, anna.address, stored.tag, 1_000)
        follow(BatchNews(removed=[gone]))
        assert relay.mailboxes.quota.total() == (0, 0)
        async with ben:
            await anna.connect()
            await anna.sent(ben.address)
            (queued,) = relay.mailboxes.store.fetch(account, 0, 10)
            # Removed elsewhere while it is on its way here: it is waited for no longer.
            await ben.hear_a(frames.PacketFrame)
            connection = relay.mailboxes.connected[account]
            assert queued.position in connection.inflight
            follow(
                BatchNews(removed=[RemovedElsewhere(account, queued.position, anna.address, stored.tag, 1)])
            )
            assert queued.position not in connection.inflight
            await anna.close()


@pytest.mark.spec("A2ACP-018", "A2ACP-258")
async def test_who_connected_elsewhere_has_left_here_and_who_was_met_there_is_known_here(tmp_path):
    woken: list[str] = []
    async with relay_with(tmp_path, "anna", "ben") as (relay, anna, ben):
        accounts = [relay.mailboxes.agent(name).account for name in ("anna", "ben")]
        knows, digest = relay.mailboxes.correspondence.knows, relay.mailboxes.correspondence.digest
        assert not knows(accounts[0], ben.address)
        row = "INSERT INTO written VALUES (?,?,?)"
        await relay.mailboxes.store.write(
            lambda file: file.execute(row, (accounts[0], digest(ben.address), 5))
        )
        assert not knows(accounts[0], ben.address), "what was found is remembered"
        met: list[tuple[int, str]] = []
        relay.mailboxes.correspondence._met = lambda *pair: met.append(pair)
        waiting = StoredElsewhere(accounts[0], 7, ben.address, "q_" + "A" * 22, 1, b"{}", "sig")
        other = StoredElsewhere(accounts[0], 8, anna.address, "q_" + "B" * 22, 1, b"{}", "sig")
        follow = following(relay, woken).follow
        follow(BatchNews(stored=[waiting, other]))
        follow(BatchNews(written=[(accounts[0], digest(ben.address))], domains={"far.example"}))
        assert knows(accounts[0], ben.address)
        assert met == [(accounts[0], ben.address)]
        assert woken == ["far.example"]
        async with ben:
            follow(BatchNews(claimed=[accounts[1]], scores={anna.address: 45}))
            assert isinstance(await ben.hear_a(frames.SupersededFrame), frames.SupersededFrame)
        assert relay.mailboxes.reputation.score(anna.address) == 45
