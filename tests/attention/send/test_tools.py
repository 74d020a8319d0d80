"""The tools that write, through the writer: what is kept of a call, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.c2a.errors import Refusal
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

SEND = {"target": "channel:main", "visibility": "channel", "directedness": "ambient"}


def send(house: House, content: str, key: str, **more: Any) -> Any:
    return house.call("ann", "chat.send_message", content=content, idempotencyKey=key, **{**SEND, **more})


def refused(answer: Any) -> tuple[str, str]:
    assert isinstance(answer, Refusal), answer
    return answer.code, answer.row


@pytest.mark.spec("C2A-010", "C2A-149", "C2A-213")
@pytest.mark.parametrize("length", [1, 41, 64, 128])
def test_a_key_is_kept_to_its_last_letter_and_tells_one_send_from_another(house: House, length: int) -> None:
    one, other = "k" * (length - 1) + "1", "k" * (length - 1) + "2"
    first = send(house, "The index is rebuilt.", one)
    again = send(house, "The index is rebuilt.", one)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    second = send(house, "The disk was full all along.", other)
    assert not second["duplicate"]
    stored = [event for event in house.events(GROUP) if event.kind == "chat.message"]
    assert [event.data["client_id"] for event in stored] == [one, other]
    assert again["eventId"] == stored[0].id
    assert refused(send(house, "Something else entirely.", one)) == ("idempotency_conflict", "C2A-149")


@pytest.mark.spec("C2A-148")
def test_a_turn_that_an_event_started_says_what_it_answers(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann which port is it?")
    place = {"target": f"thread:{asked.id}", "visibility": "thread"}
    assert refused(send(house, "It is 7434.", "k1", startedBy=asked.id, **place)) == (
        "invalid_request",
        "C2A-148",
    )
    assert refused(send(house, "It is 7434.", "k2", inReplyTo="nothing", **place)) == (
        "event_not_found",
        "C2A-148",
    )
    said = send(house, "It is 7434.", "k3", startedBy=asked.id, inReplyTo=asked.id, **place)
    assert said["ok"]
    assert house.events(GROUP)[-1].kind != "chat.message"
    [answer] = [one for one in house.events(GROUP) if one.by == "ann" and one.kind == "chat.message"]
    assert (answer.data["reply_to"], answer.data["c2a"]["in_reply_to"]) == (asked.id, asked.id)
    assert house.attention.obligations.get(asked.id, "ann").disposition == "responded"


@pytest.mark.spec("C2A-150", "C2A-147")
@pytest.mark.parametrize(
    ("target", "visibility", "expected"),
    [
        ("channel:main", "channel", None),
        ("channel:main", "thread", ("invalid_request", "C2A-150")),
        ("channel:main", "dm", ("invalid_request", "C2A-150")),
        ("dm:user", "dm", None),
        ("dm:user", "channel", ("invalid_request", "C2A-150")),
        ("thread:ROOT", "thread", None),
        ("thread:ROOT", "channel", ("invalid_request", "C2A-150")),
        ("channel:nowhere", "channel", ("event_not_found", "C2A-147")),
        ("thread:nowhere", "thread", ("event_not_found", "C2A-147")),
    ],
)
def test_what_a_send_is_to_be_seen_by_fits_where_it_goes(
    house: House, target: str, visibility: str, expected: tuple[str, str] | None
) -> None:
    root = house.say(GROUP, "user", "the index is slow")
    answer = send(
        house, "It is the disk.", "k", target=target.replace("ROOT", root.id), visibility=visibility
    )
    if expected is None:
        assert answer["ok"]
    else:
        assert refused(answer) == expected
