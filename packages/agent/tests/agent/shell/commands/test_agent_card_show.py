"""Which keys a card names, in every mode and for every kind of question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.agent.shell.commands.desk import card, card_show
from tests.agent.shell.commands.test_agent_card import CHECKPOINT, CONSENT, PROPOSAL, asked, begun, question

ALWAYS = [("s", "later"), ("?", "why"), ("q", "quit")]


def consent(count: int):
    return question("consent", fields=[asked(f"f{number}", "x") for number in range(count)])


def shared(all_of_them: str, digits: str):
    return [
        ("y", all_of_them), ("n", "share nothing"), (digits, "choose"), ("e", "edit"), ("Enter", "share chosen")
    ]  # fmt: skip


CHANGES = [("c", "suggest a change"), ("x", "excuse"), ("n", "refuse")]
KEYS = {
    "one field": (consent(1), shared("share", "1")),
    "two fields": (consent(2), shared("share all", "1-2")),
    "many fields": (consent(12), shared("share all", "1-9")),
    "a proposal": (CHECKPOINT, [("y", "confirm"), ("1-2", "instead"), ("t", "tick"), *CHANGES]),
    "a plain proposal": (
        question("checkpoint", proposal={**PROPOSAL, "actions": [], "alternatives": []}),
        [("y", "confirm"), *CHANGES],
    ),
    "an escalation": (question("escalation", choices=["a", "b", "c"]), [("1-3", "choose")]),
    "somebody new": (question("first_contact"), [("y", "let them in"), ("n", "block")]),
    "a promotion": (question("promotion"), [("y", "always share"), ("n", "keep asking")]),
    "a scope": (question("scope"), [("y", "go on with it"), ("n", "end it")]),
    "a failure": (question("failure"), [("y", "seen to it")]),
    "a space": (question("space_invite"), [("y", "join"), ("n", "decline")]),
    "a value": (question("space_write"), [("y", "write it"), ("n", "do not")]),
    "a member": (question("space_member"), [("y", "tell them"), ("n", "do not")]),
    "something newer": (question("something_new"), [("y", "yes"), ("n", "no")]),
}


@pytest.mark.spec("A2ACP-143", "A2ACP-273")
@pytest.mark.parametrize("kind", KEYS)
def test_every_kind_of_question_names_its_keys_and_those_of_all(kind):
    asks, named = KEYS[kind]
    assert card_show.named_keys(begun(asks)) == [*named, *ALWAYS]


@pytest.mark.spec("A2ACP-143", "A2ACP-273")
@pytest.mark.parametrize(
    ("mode", "named"),
    [
        (card.EDIT, [("Enter", "take it"), ("Esc", "leave it")]),
        ("counter", [("Enter", "take it"), ("Esc", "leave it")]),
        ("counter_what", [("t", "time"), ("p", "place"), ("Esc", "back")]),
        (
            card.EXCUSE,
            [("a", "say this, try another time"), ("l", "say this, leave it"), ("Esc", "back")],
        ),
        (card.TICK, [("1-9", "tick"), ("Enter", "back")]),
    ],
)
def test_while_something_is_chosen_or_typed_only_its_keys_are_named(mode, named):
    assert card_show.named_keys(replace(begun(CHECKPOINT), mode=mode)) == named


@pytest.mark.spec("A2ACP-129")
def test_keys_go_on_in_a_line_that_has_the_mark_too():
    mark = card_show.MARK
    whole = "".join(part for _, part in card_show.keys(begun(question("scope")), 80)[0])
    assert whole == f"{mark}y go on with it  n end it  s later  ? why  q quit  "
    narrow = card_show.keys(begun(CONSENT), len(mark) + len("y share all  n share nothing  "))
    lines = ["".join(part for _, part in line) for line in narrow]
    assert lines[0] == f"{mark}y share all  n share nothing  "
    assert all(line.startswith(mark) for line in lines)
    # One cell less, and the second key begins a line of its own.
    narrower = card_show.keys(begun(CONSENT), len(lines[0]) - 1)
    assert [part for _, part in narrower[0]] == [mark, "y", " share all  "]
