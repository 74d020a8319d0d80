"""Signatures under lists: what holds, what is of another list, and who stands under one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.agent.groups import vouching
from tacit.agent.groups.vouching import ToldList
from tests.agent.scheduling.desk import identity_of

ME, ANNA, BEN, CLEO, ERIN = (f"agent:{name}@relay.example" for name in ("me", "anna", "ben", "cleo", "erin"))
TOLD = ToldList("thr_night0000", ANNA, (ANNA, ME, BEN, CLEO))
KNOWN = {one: identity_of(one).signing_public for one in (ME, ANNA, BEN, CLEO)}


def word(member: str, told: ToldList = TOLD, by: str = "") -> str:
    keys = identity_of(by or member)
    return vouching.signature(keys.sign, keys.signing_public, told, member)


def compared(handed: dict[str, str], known: dict[str, bytes] = KNOWN) -> vouching.Compared:
    return vouching.compared(TOLD, handed, TOLD.members, known, ME)


@pytest.mark.spec("A2ACP-174")
def test_the_same_list_in_any_order_is_signed_and_nobody_is_named():
    turned = ToldList(TOLD.group_id, TOLD.coordinator, TOLD.members[::-1])
    assert compared({BEN: word(BEN), CLEO: word(CLEO, turned)}) == vouching.Compared()


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "other",
    [
        ToldList(TOLD.group_id, ANNA, (ANNA, ME, BEN, ERIN)),
        ToldList(TOLD.group_id, ANNA, (ANNA, ME, BEN)),
        ToldList("thr_another00", ANNA, TOLD.members),
        ToldList(TOLD.group_id, BEN, TOLD.members),
    ],
    ids=["somebody else", "one less", "another group", "another coordinator"],
)
def test_a_known_key_under_another_list_is_of_another_list(other):
    assert compared({BEN: word(BEN, other), CLEO: word(CLEO)}).another == (BEN,)


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "handed",
    [
        {},
        {BEN: word(BEN, by=ERIN)},
        {BEN: word(BEN, ToldList(TOLD.group_id, ANNA, (ANNA, ME, ERIN)), by=ERIN)},
        {BEN: "no signature"},
        {BEN: "a" * 154},
        {BEN: word(BEN)[:-1] + "!"},
    ],
    ids=["none", "a key made up", "another list under it", "a word", "letters", "bad letters"],
)
def test_what_is_missing_made_up_or_under_an_unknown_key_is_unsigned_and_no_accusation(handed):
    assert compared({**handed, CLEO: word(CLEO)}) == vouching.Compared(unsigned=(BEN,))


@pytest.mark.spec("A2ACP-174")
def test_one_members_signature_is_not_anothers():
    # Cleo's own word, handed on as Ben's: under her key it is of nobody's list, under none it is unsigned.
    assert compared({BEN: word(CLEO), CLEO: word(CLEO)}).unsigned == (BEN,)


@pytest.mark.spec("A2ACP-142")
def test_two_members_under_one_key_are_found_by_pinned_keys_and_by_signatures():
    one_key = {**KNOWN, CLEO: KNOWN[BEN]}
    assert compared({}, one_key).doubled == (CLEO,)
    strangers = {one: KNOWN[one] for one in (ME, ANNA)}
    handed = {BEN: word(BEN, by=ERIN), CLEO: word(CLEO, by=ERIN)}
    assert compared(handed, strangers).doubled == (CLEO,)
    assert vouching.doubled(TOLD.members, {**KNOWN, BEN: KNOWN[ME]}) == (BEN,)
    assert vouching.doubled(TOLD.members, {BEN: b"", CLEO: b""}) == ()


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.dictionaries(st.text(), st.text()))))
def test_whatever_a_proposal_carries_is_read_without_fault(found):
    assert all(isinstance(one, str) for one in vouching.handed_on(found).values())
    assert vouching.read(found) is None
