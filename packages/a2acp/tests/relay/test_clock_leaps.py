"""No relay lets go of mail or of a guest's box because its machine's clock was set to another time."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from tacit.a2acp.commands.relay_parts import SealSignatures
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import Moment
from tacit.relay.io import store as relay_store
from tacit.relay.io.federation_http import Federation
from tacit.relay.io.mailboxes import Mailboxes
from tacit.relay.io.store import RelayStore
from tacit.relay.settings import RelayLimits
from tests.two_clocks import DAY, LEAPS, START, TwoClocks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

KEPT = ("queue", "outgoing", "guests", "guest_answers")
DOMAIN = "other.test"


@asynccontextmanager
async def opened(folder: Path, clock: TwoClocks) -> AsyncIterator[Mailboxes]:
    store = RelayStore(folder, now=clock.now())
    store.start()
    try:
        yield Mailboxes(
            domain="relay.test",
            relay_store=store,
            signatures=SealSignatures(b"s" * 32),
            clock=clock,
            entropy=SystemEntropy(),
            limits=RelayLimits(),
            correspondence_key=b"k" * 32,
        )
    finally:
        await store.close()


async def filled(mailboxes: Mailboxes) -> None:
    at = int(mailboxes.clock.now())
    packet = ("ben@relay.test", "pkt_1", "tag", 10, at, b"{}", "sig")

    def fill(file: Any) -> None:
        file.execute("INSERT INTO queue VALUES (1,7,?,?,?,?,?,?,?,x'')", packet)
        file.execute(
            "INSERT INTO outgoing VALUES (2,?,'ben@relay.test','pkt_2','eve@other.test','tag',?,x'7b7d','sig')",
            (DOMAIN, at),
        )
        file.execute("INSERT INTO guests VALUES ('guest_1',7,x'01',x'02',?,?,0,1)", (at, at + 7 * DAY))
        file.execute("INSERT INTO guest_answers VALUES ('guest_1',1,x'01',?,x'03')", (at,))

    await mailboxes.store.write(fill)


def held(mailboxes: Mailboxes) -> dict[str, object]:
    rows = mailboxes.store.reader.execute
    found: dict[str, object] = {table: rows(f"SELECT count(*) FROM {table}").get for table in KEPT}
    return {**found, "question": rows("SELECT question FROM guests").get}


async def kept_house(mailboxes: Mailboxes) -> None:
    await mailboxes.expire()
    federation = Federation(mailboxes, cast("Any", None))
    await federation._give_up(relay_store.outgoing(mailboxes.store.reader, DOMAIN, 10, []))


@pytest.mark.spec("A2ACP-222")
@pytest.mark.parametrize("by", LEAPS.values(), ids=LEAPS)
@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "with a restart"])
async def test_nothing_goes_when_the_clock_leapt_and_the_operator_is_told_once(
    tmp_path: Path, by: int, *, restarts: bool
) -> None:
    clock = TwoClocks()
    async with opened(tmp_path, clock) as mailboxes:
        await filled(mailboxes)
        await kept_house(mailboxes)
        before = held(mailboxes)
        assert all(before.values())
        if not restarts:
            clock.leap(by)
            await kept_house(mailboxes)
            assert held(mailboxes) == before
    if restarts:
        clock.leap(by)
    async with opened(tmp_path, clock) as mailboxes:
        await kept_house(mailboxes)
        assert held(mailboxes) == before
        told = [mailboxes.clock.news(), mailboxes.clock.news()]
        assert [bool(one) for one in told] == [abs(by) > DAY, False]
        # A relay whose own clock is in doubt is no witness for others.
        assert (mailboxes.clock.said() is None) is (abs(by) > DAY)


async def test_after_a_day_that_was_watched_old_mail_goes(tmp_path: Path) -> None:
    clock = TwoClocks()
    async with opened(tmp_path, clock) as mailboxes:
        await filled(mailboxes)
        await kept_house(mailboxes)
    clock.leap(91 * DAY)
    async with opened(tmp_path, clock) as mailboxes:
        await kept_house(mailboxes)
        assert all(held(mailboxes).values())
        clock.watch(DAY)
        await kept_house(mailboxes)
        assert not any(held(mailboxes).values())


async def test_a_folder_of_an_older_program_goes_by_the_newest_that_came(tmp_path: Path) -> None:
    clock = TwoClocks()
    async with opened(tmp_path, clock) as mailboxes:
        await filled(mailboxes)
    clock = TwoClocks(Moment(START + 91 * DAY))
    async with opened(tmp_path, clock) as mailboxes:
        await kept_house(mailboxes)
        assert all(held(mailboxes).values())
