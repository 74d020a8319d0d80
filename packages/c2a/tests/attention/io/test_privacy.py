"""Whom each record of attention concerns: what is private stays so, for every kind and for kinds to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tacit.attention.state import records
from tacit.ledger.kinds import CONCERNS, About
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

SECRET = "SECRET"
"""Stands for the id of a private message until there is one."""
ABOUT_AN_EVENT: dict[str, dict[str, Any]] = {
    "x.c2a.delivery": {
        "event_id": SECRET,
        "session": "ann",
        "policy": "must_respond",
        "mode": "buffered",
        "directedness": "to_me",
        "reason": "direct_message",
    },
    "x.c2a.claim": {"target": f"event:{SECRET}", "session": "ann", "action": "take", "expires_at": 1},
    "x.c2a.disposition": {"event_id": SECRET, "session": "ann", "disposition": "claimed"},
    "x.c2a.membership": {"session": "ann", "conversation": "c", "action": "leave", "thread": SECRET},
    "x.c2a.progress": {"session": "ann", "token": "t", "progress": 1, "event_id": SECRET},
    "x.c2a.audit": {"what": "cancel", "event_id": SECRET},
    "x.c2a.turn": {"session": "ann", "event_id": SECRET, "files": ["salary.py"]},
    "x.c2a.edit": {"supersedes": SECRET, "text": "@ann the other salary", "by": "user"},
    "x.c2a.delete": {"event_id": SECRET, "by": "user"},
    "x.c2a.work": {"event_id": SECRET, "session": "ann", "state": "working"},
    "x.c2a.withdrawal": {"notice_id": SECRET, "actor_id": "user", "event_id": SECRET},
}
FOR_SOMEBODY: dict[str, dict[str, Any]] = {
    "x.c2a.accepted": {"session": "ann", "event_ids": []},
    "x.c2a.digest": {"session": "ann", "scope": "s", "policy": "must_not_respond", "text": ""},
    "x.c2a.approval": {"approval_id": "a", "session": "ann", "state": "asked", "what": "w"},
    "x.c2a.usage": {"session": "ann"},
    "x.c2a.progress": {"session": "ann", "token": "t", "progress": 1},
    "x.c2a.audit": {"what": "chat.search"},
    "x.c2a.ephemeral": {"session": "ann", "key": "k", "where": "dm:ann+user", "sha256": "0", "length": 1},
}
FOR_EVERYONE: dict[str, dict[str, Any]] = {
    "x.c2a.session": {"session": "ann", "version": "2026-06-24", "modes": ["notify"]},
    "x.c2a.rules": {"values": {"similarity": 0.8}},
    "x.c2a.membership": {"session": "ann", "conversation": "main", "action": "leave"},
}


def written(house: House, kind: str, data: dict[str, Any]) -> dict[str, bool]:
    """Append a record as the house does; who sees it: the owner, and an agent that has no part in it."""
    before = house.state(GROUP).last_seq
    house.store.append(Submission(GROUP, SYSTEM, kind, data, msgspec.json.encode(data)))
    return {
        who: any(one.seq > before and one.kind == kind for one in house.page(GROUP, who))
        for who in ("user", "ann", "ben")
    }


def secret(house: House) -> str:
    return house.say(GROUP, "user", "@ann what is my salary?", to=["ann"], conversation={"kind": "dm"}).id


def test_every_record_of_attention_says_whom_it_concerns() -> None:
    special = {"x.c2a.edit", "x.c2a.delete", "x.c2a.withdrawal"}
    assert {kind for kind in CONCERNS if kind.startswith("x.c2a.")} == set(records.KINDS) - special
    assert ABOUT_AN_EVENT.keys() | FOR_SOMEBODY.keys() | FOR_EVERYONE.keys() == set(records.KINDS)
    for kind, concerns in CONCERNS.items():
        model = records.KINDS.get(kind)
        members = {one.encode_name for one in msgspec.structs.fields(model)} if model is not None else set()
        assert {one.member for one in concerns if one.about is not About.EVERYONE} <= members, kind


@pytest.mark.spec("C2A-203", "C2A-214")
@pytest.mark.parametrize("kind", ABOUT_AN_EVENT)
def test_a_record_about_a_private_message_is_as_private_as_it(house: House, kind: str) -> None:
    about = secret(house)
    data = {
        name: value.replace(SECRET, about) if isinstance(value, str) else value
        for name, value in ABOUT_AN_EVENT[kind].items()
    }
    assert written(house, kind, data) == {"user": True, "ann": True, "ben": False}


@pytest.mark.spec("C2A-203")
@pytest.mark.parametrize("kind", ABOUT_AN_EVENT)
def test_a_record_about_an_event_that_is_not_here_is_for_nobody(house: House, kind: str) -> None:
    assert written(house, kind, ABOUT_AN_EVENT[kind]) == {"user": True, "ann": False, "ben": False}


@pytest.mark.spec("C2A-203")
@pytest.mark.parametrize("kind", FOR_SOMEBODY)
def test_a_record_for_somebody_is_for_nobody_else_and_without_a_name_for_nobody(
    house: House, kind: str
) -> None:
    data = FOR_SOMEBODY[kind]
    assert written(house, kind, {**data, "for": ["ann"]}) == {"user": True, "ann": True, "ben": False}
    for nobody in (data, {**data, "for": []}):
        assert written(house, kind, nobody) == {"user": True, "ann": False, "ben": False}


@pytest.mark.parametrize("kind", FOR_EVERYONE)
def test_what_concerns_the_group_is_seen_by_the_group(house: House, kind: str) -> None:
    assert written(house, kind, FOR_EVERYONE[kind]) == {"user": True, "ann": True, "ben": True}


@pytest.mark.spec("C2A-203")
@pytest.mark.parametrize("prefix", ["x.c2a.", "x.tacit.", "x.a2acp."])
def test_a_kind_that_nobody_has_thought_about_is_private(house: House, prefix: str) -> None:
    about = house.say(GROUP, "user", "the office moved").id
    for data in ({}, {"event_id": about}, {"for": ["ann"]}, {"target": f"event:{about}"}):
        assert written(house, f"{prefix}novel", data) == {"user": True, "ann": False, "ben": False}
