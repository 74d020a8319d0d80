"""Guests in a group: a yes counts toward the quorum, and nothing else of a guest counts anywhere (A2ACP-277)."""

from __future__ import annotations

import json

import pytest

from tacit.agent.guests import hearing, inviting
from tacit.agent.guests.answers import GuestReply
from tacit.agent.guests.fold import GuestTables
from tacit.base.errors import Refused
from tests.agent.groups.circle import FRIDAY, circle, own_thread

pytestmark = pytest.mark.spec("A2ACP-277")
GUEST = "g" * 26


def asked(people, group_id, guest=GUEST):
    wish = inviting.guest_wish("Grandma", "Do you come too?", (), (), "", 7, group_id)
    people["anna"].decide(lambda ws: inviting.invite(ws, wish, "Europe/London", guest, bytes(32)))
    people["anna"].decide(lambda ws: hearing.kept(ws, guest))


def heard(people, choice, number, guest=GUEST):
    said = {"v": 1, "choice": choice, "suggestion": "later" if choice == "suggest" else ""}
    raw = json.dumps(said).encode()
    people["anna"].decide(lambda ws: hearing.heard(ws, guest, number, bytes([number]), raw))
    people.settle()


def three(**how):
    people = circle({"anna": [FRIDAY], "bob": [FRIDAY], "charlie": [FRIDAY]})
    return people, people.ask(**how)


def test_a_guests_yes_meets_the_quorum_once_and_nothing_is_done_for_the_guest():
    people, group_id = three(quorum=3)
    asked(people, group_id)
    question = hearing.question_of(
        people["anna"].workspace(), people["anna"].book.part(GuestTables).guests[GUEST]
    )
    assert question.proposal.when.startswith("Friday 27 March 2026")
    assert "BEGIN:VEVENT" in question.ics
    people.confirm("anna", "bob")
    anna = people["anna"]
    assert own_thread(anna, group_id).state == "PROPOSED"
    heard(people, "confirm", 1)
    assert own_thread(anna, group_id).state == "COMPLETED"
    assert anna.done == people["bob"].done == [("do", "calendar")]
    assert people["charlie"].done == []
    # No list names a guest, and no packet does.
    assert not any("guest:" in name for name in people.group(group_id).members)
    assert not any("guest:" in json.dumps(one.fields) for _, one in people.carried)
    heard(people, "decline", 2)
    assert own_thread(anna, group_id).state == "COMPLETED"


def test_a_suggestion_a_no_and_a_revoked_yes_do_not_count():
    people, group_id = three(quorum=3)
    asked(people, group_id)
    people.confirm("anna")
    heard(people, "confirm", 1)
    heard(people, "suggest", 2)
    people.confirm("bob")
    assert own_thread(people["anna"], group_id).state == "PROPOSED"
    people["anna"].decide(lambda ws: hearing.revoked(ws, GUEST))
    heard(people, "confirm", 3)
    assert own_thread(people["anna"], group_id).state == "PROPOSED"
    # The owner's own word of what Grandma said does.
    people["anna"].decide(lambda ws: hearing.pasted(ws, GUEST, GuestReply("confirm")))
    people.settle()
    assert own_thread(people["anna"], group_id).state == "COMPLETED"


def test_while_a_guest_can_still_say_yes_a_quorum_is_not_out_of_reach_and_then_it_is():
    people, group_id = three(quorum=3)
    asked(people, group_id)
    people.confirm("anna", "bob")
    charlie = people["charlie"]
    charlie.answer(charlie.question("checkpoint"), refuse=True)
    people.settle()
    assert own_thread(people["anna"], group_id).state == "PROPOSED"
    heard(people, "decline", 1)
    assert own_thread(people["anna"], group_id).state == "DECLINED"


def test_where_all_must_agree_or_nothing_stands_no_guest_is_asked():
    people, group_id = three()
    for wrong in (group_id, "thr_unknown"):
        with pytest.raises(Refused):
            asked(people, wrong)
    with pytest.raises(Refused):
        people["bob"].decide(
            lambda ws: inviting.invite(
                ws,
                inviting.guest_wish("X", "Y", (), (), "", 7, group_id),
                "Europe/London",
                GUEST,
                bytes(32),
            )
        )


@pytest.mark.parametrize(("kept", "ended"), [(False, "revoked"), (True, "")])
def test_a_link_that_nobody_had_is_over_once_it_is_taken_back(kept, ended):
    people, group_id = three(quorum=3)
    anna = people["anna"]
    wish = inviting.guest_wish("Grandma", "Do you come too?", (), (), "", 7, group_id)
    anna.decide(lambda ws: inviting.invite(ws, wish, "Europe/London", GUEST, bytes(32)))
    if kept:
        anna.decide(lambda ws: hearing.kept(ws, GUEST))
    anna.decide(lambda ws: hearing.revoked(ws, GUEST))
    guest = anna.book.part(GuestTables).guests[GUEST]
    assert (guest.revoked, guest.ended) == (True, ended)
    said = len(anna.log)
    anna.decide(lambda ws: hearing.revoked(ws, GUEST))
    assert len(anna.log) == said, "once is enough"
