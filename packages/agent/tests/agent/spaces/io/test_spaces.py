"""What of a space's change list is still kept, and read."""

from __future__ import annotations

import pytest

from tacit.agent.spaces.io import operations as spaces
from tacit.agent.spaces.levels import FULL_WRITE
from tacit.agent.spaces.sending import VAULT
from tacit.agent.spaces.state import KEPT_CHANGES
from tests.agent.guests.host import host
from tests.agent.spaces.test_receiving import Replica


@pytest.mark.spec("A2ACP-201")
@pytest.mark.parametrize(
    ("changes", "after", "places"),
    [
        (3, 0, [1, 2, 3]),
        (3, 1, [2, 3]),
        (3, 3, []),
        (KEPT_CHANGES, 0, [*range(1, KEPT_CHANGES + 1)]),
        (KEPT_CHANGES + 2, 0, [*range(3, KEPT_CHANGES + 3)]),
        (KEPT_CHANGES + 2, KEPT_CHANGES, [KEPT_CHANGES + 1, KEPT_CHANGES + 2]),
    ],
)
def test_the_last_changes_are_read_each_once(changes: int, after: int, places: list[int]) -> None:
    anna = Replica()
    for number in range(changes):
        anna.write(f"status{number}", number)
    assert anna.space.changes == changes
    assert [one["n"] for one in spaces._kept(anna.workspace(), anna.space, after)] == places


@pytest.mark.parametrize(
    ("kept", "does"), [([], False), (["pkt_1"], False), ([VAULT + "x"], True), (["pkt_1", VAULT + "x"], True)]
)
def test_values_of_a_space_take_the_place_of_others(kept: list[str], does: bool) -> None:
    assert spaces.replaces(kept) is does


@pytest.mark.spec("A2ACP-197", "A2ACP-201")
async def test_who_wrote_into_a_space_is_told_of_which_and_a_turn_tells_whether_there_was_something_to_do(
    tmp_path,
):
    async with host(tmp_path) as (relay, anna):
        space_id = (await anna.space("new", title="Walks"))["space_id"]
        written = await anna.space("set", space_id=space_id, field="status", value="active")
        assert written == {"space_id": space_id, "status": "written"}
        await anna.decide(
            lambda ws: spaces._send_invitation(ws, space_id, f"agent:ben@{relay.domain}", FULL_WRITE)
        )
        assert [await spaces.turn(anna), await spaces.turn(anna)] == [True, False]
