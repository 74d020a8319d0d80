"""One send: its grammar, its parser, its filler, and the same send at every door."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tacit.c2a.tools import (
    HOUR,
    INPUTS,
    SEND,
    Destination,
    Mentions,
    Send,
    TurnOccasion,
    fill_send,
    read_destination,
    read_mentions,
    read_send,
)
from tacit.c2a.vocabulary import ConversationKind

NOON = Moment(1_800_000_000_000_000)
TEXT = some.text(min_size=1, max_size=40)


@pytest.mark.spec("C2A-147")
@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [
        ("thread:e1", "thread", "e1"),
        ("channel:main", "channel", "main"),
        ("conversation:design", "channel", "design"),
        ("dm:user", "dm", "user"),
        ("dm:ada+user", "dm", "ada+user"),
        ("conversation:dm:ada+user", "dm", "ada+user"),
        ("channel:dm:ada+user", "dm", "ada+user"),
        ("channel:a:b", "channel", "a:b"),
    ],
)
def test_a_target_is_a_thread_a_channel_or_a_dm(target: str, kind: str, name: str) -> None:
    found = read_destination(target)
    assert found == Destination(ConversationKind(kind), name)
    assert found.is_private == (kind == "dm")
    assert found.parties == (frozenset(name.split("+")) if kind == "dm" else frozenset())


@pytest.mark.spec("C2A-147")
@pytest.mark.parametrize(
    "target", ["", "main", "thread:", "dm:", "dm:a+", "conversation:dm:", "room:x", ":x", "Thread:e1"]
)
def test_what_is_no_target_goes_nowhere(target: str) -> None:
    assert read_destination(target) is None


@pytest.mark.spec("C2A-114")
@pytest.mark.parametrize(
    ("written", "names", "wide"),
    [
        ([], (), False),
        (["bob", "agent:kit", "@lead", "role:ops", "human:ann"], ("bob", "kit", "lead", "ops", "ann"), False),
        (["@all"], (), True),
        (["all"], (), True),
        (["role:ALL", "bob"], ("bob",), True),
        (["@everyone"], (), True),
        (["agent:@kit"], ("kit",), False),
    ],
)
def test_mentions_are_bare_names_and_a_word_for_everybody(
    written: list[str], names: tuple[str, ...], wide: bool
) -> None:
    assert read_mentions(written) == Mentions(names, wide)


WHOLE: dict[str, Any] = {
    "target": "thread:e1",
    "content": "hello",
    "idempotencyKey": "k",
    "visibility": "thread",
    "directedness": "to_me",
}


@pytest.mark.spec("C2A-142")
def test_every_member_has_its_place_in_a_send() -> None:
    more = {
        "inReplyTo": "e1", "mentions": ["role:ops", "@all"], "justification": "owner", "turn": "t",
        "attempt": 2, "startedBy": "e0", "during": "e0", "attachments": [{}], "format": "plain",
    }  # fmt: skip
    assert set(WHOLE) | set(more) == set(INPUTS[SEND]["properties"])
    assert read_send({**WHOLE, **more}, "ada") == Send(
        "ada", "thread:e1", "hello", "k", "thread", "to_me", "e1", ("ops",), channel_wide=True,
        attachments=True, turn="t", attempt=2, started_by="e0", during="e0", justification="owner",
    )  # fmt: skip


@pytest.mark.spec("C2A-142")
@pytest.mark.parametrize(
    ("odd", "where"),
    [
        ({"target": 7}, "wrong"),
        ({"inReplyTo": ["e1"]}, "wrong"),
        ({"mentions": "bob"}, "wrong"),
        ({"mentions": [{"id": "bob"}]}, "wrong"),
        ({"visibility": {}}, "wrong"),
        ({"content": "  "}, "missing"),
        ({"content": 7}, "missing"),
        ({"sender": "eve"}, "unknown"),
    ],
)
def test_a_member_of_another_type_or_name_is_refused_by_its_name(odd: dict[str, Any], where: str) -> None:
    refused = read_send({**WHOLE, **odd}, "ada")
    assert isinstance(refused, Refusal)
    assert refused.code == "invalid_request"
    assert refused.details[where] == list(odd)


def whole(now: Moment = NOON, **given: Any) -> dict[str, Any]:
    found = fill_send(given, now=now)
    assert isinstance(found, dict)
    return found


@pytest.mark.spec("C2A-147", "C2A-149", "C2A-150", "C2A-151")
@pytest.mark.parametrize(
    ("said", "target", "visibility", "directedness"),
    [
        ({"inReplyTo": "e1"}, "thread:e1", "thread", "to_me"),
        ({"target": "channel:main"}, "channel:main", "channel", "ambient"),
        ({"target": "conversation:design"}, "conversation:design", "channel", "ambient"),
        ({"target": "channel:main", "mentions": ["role:qa"]}, "channel:main", "channel", "to_me"),
        ({"target": "dm:user"}, "dm:user", "dm", "to_me"),
        ({"target": "conversation:dm:ada+user"}, "conversation:dm:ada+user", "dm", "to_me"),
        ({"target": "thread:e1"}, "thread:e1", "thread", "to_my_role"),
        ({"target": "channel:main", "inReplyTo": "e1"}, "channel:main", "channel", "to_me"),
    ],
)
def test_a_send_is_completed_from_what_it_answers_or_where_it_goes(
    said: dict[str, Any], target: str, visibility: str, directedness: str
) -> None:
    found = whole(content="hello", **said)
    assert (found["target"], found["visibility"], found["directedness"]) == (target, visibility, directedness)
    jsonschema.validate(found, INPUTS[SEND])


def test_what_the_caller_says_itself_stays() -> None:
    said = {
        "content": "hello", "target": "channel:main", "visibility": "ephemeral", "directedness": "to_other",
        "idempotencyKey": "mine",
    }  # fmt: skip
    assert fill_send(said, now=NOON) == said


@pytest.mark.spec("C2A-147")
def test_a_send_to_nowhere_is_refused_with_the_way_out() -> None:
    refused = fill_send({"content": "hello", "target": None}, now=NOON)
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.row) == ("invalid_request", "C2A-147")
    assert "inReplyTo" in refused.remedy


@pytest.mark.spec("C2A-149", "C2A-159")
@given(TEXT, TEXT, some.integers(0, 10**9))
def test_an_answer_keeps_its_key_for_good_and_any_difference_makes_another(
    text: str, event: str, later: int
) -> None:
    key = whole(content=text, inReplyTo=event)["idempotencyKey"]
    assert key == whole(Moment(NOON + later * HOUR), content=text, inReplyTo=event)["idempotencyKey"]
    assert len(key) <= 128
    others = [
        whole(content=text + "!", inReplyTo=event),
        whole(content=text, inReplyTo=event + "0"),
        whole(content=text, inReplyTo=event, mentions=["bob"]),
        whole(content=text, target=f"thread:{event}"),
    ]
    assert key not in {other["idempotencyKey"] for other in others}


def test_a_fresh_post_may_say_the_same_again_when_the_hour_has_passed() -> None:
    first, soon, tomorrow = (
        whole(Moment(NOON + later), content="Nothing to report.", target="channel:main")["idempotencyKey"]
        for later in (0, 1_000_000, 24 * HOUR)
    )
    assert first == soon
    assert first != tomorrow


EVENT = TurnOccasion("e1", "thread:e1")


@pytest.mark.spec("C2A-064", "C2A-148", "C2A-150", "C2A-151")
@pytest.mark.parametrize(
    ("said", "occasion", "expected"),
    [
        ({}, EVENT, ("thread:e1", "e1", "thread", "to_me")),
        ({"target": "thread:e1"}, EVENT, ("thread:e1", "e1", "thread", "to_me")),
        ({"target": "channel:main"}, EVENT, ("channel:main", None, "channel", "ambient")),
        ({"target": "dm:bob"}, EVENT, ("dm:bob", None, "dm", "to_me")),
        ({"target": "conversation:dm:bob+ada"}, EVENT, ("conversation:dm:bob+ada", None, "dm", "to_me")),
        ({}, TurnOccasion("e1", "thread:e1", private=True), ("thread:e1", "e1", "dm", "to_me")),
        ({}, TurnOccasion("e1", "conversation:main"), ("conversation:main", "e1", "channel", "to_me")),
        (
            {"target": "channel:main"},
            TurnOccasion("e1", "thread:e1", private=True),
            ("channel:main", None, "channel", "ambient"),
        ),
    ],
)
def test_on_an_occasion_a_send_answers_it_unless_it_goes_elsewhere(
    said: dict[str, Any], occasion: TurnOccasion, expected: tuple[str, ...]
) -> None:
    found = fill_send({"content": "hi", **said}, occasion=occasion)
    assert isinstance(found, dict)
    names = ("target", "inReplyTo", "visibility", "directedness")
    assert tuple(found.get(name) for name in names) == expected
    assert "idempotencyKey" not in found
