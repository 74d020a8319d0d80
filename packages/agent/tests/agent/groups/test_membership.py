"""Lists of people: which are lists, which look alike, how they are compared."""

from __future__ import annotations

import pytest

from tacit.agent.groups import membership
from tacit.base.errors import Refused

ME, BEN, CLEO = (f"agent:{name}@relay.example" for name in ("anna", "ben", "cleo"))


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "others",
    [
        [BEN],
        [BEN, BEN],
        [BEN, ME],
        [BEN, "cleo"],
        [BEN, "agent:be-n@relay.example"],
        ["agent:bob@relay.example", "agent:b0b@relay.example"],
        [BEN, *(f"agent:p{number}q@relay.example" for number in range(60))],
    ],
)
def test_a_list_that_is_none_is_refused_to_its_owner(others):
    with pytest.raises(Refused) as refused:
        membership.chosen(ME, others)
    assert refused.value.code == "bad_group"


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "listed",
    [
        None,
        "agent:anna@relay.example",
        [BEN, CLEO],
        [ME, CLEO, "agent:dora@relay.example"],
        [ME, BEN, CLEO, CLEO],
        [ME, BEN, 3],
        [ME, BEN, {"agent": CLEO}],
        [ME, BEN, CLEO, "agent:c1eo@relay.example"],
    ],
)
def test_a_list_that_leaves_us_or_its_sender_out_or_is_misshapen_is_none(listed):
    assert membership.told(listed, me=ME, sender=BEN) is None


@pytest.mark.spec("A2ACP-174")
def test_the_digest_is_of_the_people_in_any_order():
    assert membership.digest([ME, BEN, CLEO]) == membership.digest([CLEO, ME, BEN])
    assert membership.digest([ME, BEN, CLEO]) != membership.digest([ME, BEN])
    assert membership.told([CLEO, BEN, ME], me=ME, sender=BEN) == (CLEO, BEN, ME)
