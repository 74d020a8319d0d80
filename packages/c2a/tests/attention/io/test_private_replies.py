"""Who hears a reply to a private message: exactly those to whom the ledger shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import decisions_view
from tacit.attention.io.work_view import AgentsNow
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def obliged(house: House, event_id: str) -> set[str]:
    """The agents that get a message pushed, as it was decided."""
    found = house.store.read(
        lambda reader: decisions_view(
            Archive.on(reader, reader.group(GROUP)), event_id, AgentsNow(house.clock.now())
        )
    )
    assert found is not None
    return {one["agent"] for one in found["decisions"] if one["mode"] in {"buffered", "immediate", "notify"}}


@pytest.mark.spec("C2A-203", "C2A-209", "CCCS-110")
@pytest.mark.parametrize(
    ("text", "more", "heard"),
    [
        ("please look at this, @ann and @ben", {"to": ["ben"]}, {"ben"}),
        ("@ann please look at this", {"to": ["ben"], "conversation": {"kind": "dm"}}, {"ben"}),
        ("@ann please look at this", {"to": ["ben"], "conversation": {"kind": "thread"}}, {"ben"}),
        ("@ann and @ben please look at this", {}, {"ann"}),
        ("@ann and @ben please look at this", {"to": ["@all"]}, {"ann", "ben"}),
    ],
)
def test_a_reply_to_a_private_message_reaches_whom_it_is_for(
    house: House, text: str, more: dict[str, Any], heard: set[str]
) -> None:
    private = house.say(GROUP, "user", "my salary is five", to=["ann"], conversation={"kind": "dm"})
    reply = house.say(GROUP, "user", text, reply_to=private.id, **more)
    stored = house.store.read(lambda reader: reader.event(reader.group(GROUP), reply.id, "user"))
    assert obliged(house, reply.id) == heard
    assert all(stored.visible_to(agent) for agent in heard)
    house.assert_rebuilds()


@pytest.mark.spec("C2A-203")
def test_who_was_passed_over_by_a_private_reply_hears_nothing_of_what_follows(house: House) -> None:
    private = house.say(GROUP, "user", "my salary is five", to=["ann"], conversation={"kind": "dm"})
    reply = house.say(GROUP, "user", "please look at this", reply_to=private.id, to=["ben"])
    after = house.say(GROUP, "user", "@ann @ben and this too, please", reply_to=reply.id)
    assert obliged(house, after.id) == {"ben"}
