"""The guests' rules alone: what a reply seems to say, what a sentence becomes, which answer counts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.packets import schemas
from tacit.agent.guests import answers
from tacit.agent.guests import fold as guest_fold
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.fold import BY_LINK, BY_OWNER, Guest
from tacit.agent.guests.replies import read_reply
from tacit.base.errors import PeerFault
from tacit.base.moment import Moment


@pytest.mark.spec("A2ACP-275")
@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Yes!", "confirm"),
        ("That works, see you on Friday", "confirm"),
        ("No problem, looking forward to it", "confirm"),
        ("I\u2019ll be there", "confirm"),
        ("No, sorry, I am in Leeds", "decline"),
        ("Unfortunately I can't make it", "decline"),
        ("How about Saturday instead?", "suggest"),
        ("Yes, but could we make it 8?", "suggest"),
        ("Not sure yet, I'll let you know", ""),
        ("Maybe", ""),
        ("yes no yes no", ""),
        ("The cat is well.", ""),
        ("> Yes\nWho is this?", ""),
    ],
)
def test_a_reply_is_read_or_left_open(text, choice):
    assert read_reply(text, [], proposed=True).choice == choice


@pytest.mark.spec("A2ACP-275")
@given(st.text(max_size=300), st.lists(st.text(max_size=20), max_size=5), st.booleans())
def test_whatever_is_pasted_is_read_into_an_answer_within_bounds_or_one_that_is_not_kept(
    text, asked, proposed
):
    reply = read_reply(text, asked, proposed=proposed)
    assert reply.choice in ("", *answers.CHOICES)
    try:
        checked = answers.checked(reply.fields())
    except PeerFault:
        return
    assert checked.choice == reply.choice


@pytest.mark.spec("A2ACP-276")
@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["v", "choice", "answers", "suggestion", "x"]), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_whatever_comes_by_a_link_is_an_answer_or_a_peers_fault_and_fits_the_packets_of_everybody(raw):
    try:
        reply = answers.read(raw)
    except PeerFault:
        return
    guest = Guest("a" * 26, "thr_x", "pkt_" + "a" * 26, "", "", Moment(0), Moment(1))
    for proposed in (True, False):
        for one in answers.packets(reply, guest, ["?"] * 5, proposed=proposed, source=BY_LINK):
            schemas.check_in(one["type"], one)
            assert one["from"] == guest.address


@pytest.mark.spec("A2ACP-277")
def test_the_last_readable_answer_counts_and_of_a_revoked_link_only_the_owners_word():
    guests, still, asked_about = {}, {}, {}

    def say(*records):
        for record in records:
            guest_fold.apply(guests, still, asked_about, record, Moment(5))
        return guests["g"]

    def heard(choice, source=BY_LINK, *, readable=True, number=0):
        return guest_records.GuestHeard("g", choice, source, choice, choice, number, readable=readable)

    asked = guest_records.GuestAsked("g", "t", "p", "c", "s", Moment(9))
    assert say(asked).counted is None
    assert say(heard("confirm", number=1)).counted.choice == "confirm"
    assert say(heard("decline", number=2)).counted.choice == "decline"
    assert say(heard("", readable=False, number=3)).counted.choice == "decline"
    assert say(guest_records.GuestRevoked("g")).counted is None
    assert say(heard("confirm", number=4)).counted is None
    assert say(heard("suggest", BY_OWNER)).counted.choice == "suggest"
    assert still == {"g": Moment(9)}
    assert say(guest_records.GuestEnded("g", "revoked")).number == 4
    assert still == {}
