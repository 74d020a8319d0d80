"""@names in an agent's words: whom they mean, and whom they do not reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.c2a.messages import read_delivered
from tacit.harness import chat_tools
from tacit.harness.effects import ModelTurn
from tacit.harness.naming import (
    NOBODY,
    OUTSIDE,
    WHOLE_ROOM,
    NamedAddressees,
    company,
    declared,
    may_name,
    named_in,
)
from tests.c2a_peer import delivery

MEMBERS = [
    {"id": "user", "kind": "human", "names": []},
    {"id": "usr:bea", "kind": "human", "names": ["Bea"]},
    {"id": "ada", "kind": "agent", "names": [], "roles": ["backend"], "you": True},
    {"id": "kit", "kind": "agent", "names": ["Kit Carson"], "roles": ["reviewer"]},
]
ASKED = read_delivered(delivery("e1", "How is the build?", author={"id": "user", "kind": "human"}))


def read(body: str, event=ASKED, **more) -> NamedAddressees:
    return named_in(body, company(MEMBERS), me="ada", about=event, **more)


@pytest.mark.spec("C2A-034", "C2A-111")
@pytest.mark.parametrize(
    ("body", "mentions"),
    [
        ("@kit can you look?", ("agent:kit",)),
        ("Ask @Kit Carson, or @bea.", ("agent:kit", "human:usr:bea")),
        ("somebody of @reviewer please", ("role:reviewer",)),
        ("@user it is green; I am @ada", ()),
        ("see `@kit` and kit@example.org", ()),
        ("> @kit said so", ()),
        ("nobody is named", ()),
    ],
)
def test_names_are_read_as_in_a_persons_text(body: str, mentions: tuple[str, ...]) -> None:
    assert read(body) == NamedAddressees(mentions)


@pytest.mark.spec("C2A-114")
@pytest.mark.parametrize(
    ("body", "unreached"),
    [
        ("@zoe do you know?", (("zoe", NOBODY),)),
        ("@all listen", (("all", WHOLE_ROOM),)),
        ("@kit and @zoe", (("zoe", NOBODY),)),
    ],
)
def test_a_name_that_reaches_nobody_is_told(body: str, unreached: tuple[tuple[str, str], ...]) -> None:
    assert read(body).unreached == unreached


def test_in_private_only_those_who_read_it_are_reached() -> None:
    private = replace(ASKED, parties=("ada", "user"))
    assert read("@kit can you look?", private) == NamedAddressees((), (("kit", OUTSIDE),))
    assert read("@kit can you look?", private, elsewhere=True) == NamedAddressees(("agent:kit",))


def test_names_stand_beside_those_that_were_declared() -> None:
    arguments = {"content": "@kit?", "mentions": ["agent:rio"]}
    assert declared(arguments, NamedAddressees(("agent:kit",)))["mentions"] == ["agent:rio", "agent:kit"]
    assert "mentions" not in declared({"content": "hm"}, NamedAddressees())
    assert may_name({"content": "@kit"})
    assert not may_name({"content": "@kit", "directedness": "ambient"})
    assert not may_name({"content": "kit"})


@pytest.mark.spec("C2A-112", "C2A-148")
def test_a_message_that_asks_a_teammate_is_not_the_answer() -> None:
    turn = ModelTurn("e1.1", (ASKED,), series="e1.0")
    asks = chat_tools.filled(
        chat_tools.SEND, {"content": "@kit can you look?", "mentions": ["agent:kit"]}, turn, None
    )
    assert not {"inReplyTo", "startedBy"} & asks.keys()
    assert (asks["target"], asks["visibility"], asks["directedness"]) == ("thread:e1", "thread", "to_me")
    answers = chat_tools.filled(
        chat_tools.SEND, {"content": "@user green", "mentions": ["human:user"]}, turn, None
    )
    assert answers["inReplyTo"] == "e1"
    meant = {"content": "@kit has it", "mentions": ["agent:kit"], "inReplyTo": "e1"}
    assert chat_tools.filled(chat_tools.SEND, meant, turn, ASKED)["inReplyTo"] == "e1"
