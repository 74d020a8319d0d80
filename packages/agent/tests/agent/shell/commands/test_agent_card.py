"""One question at a terminal: what its keys say, and how it shows words that others wrote."""

from __future__ import annotations

import msgspec
import pytest

from tacit.agent.shell.commands import arrange_show
from tacit.agent.shell.commands.desk import card as agent_card
from tacit.agent.shell.commands.desk import card_show
from tacit.agent.shell.commands.desk.card import Draft, press
from tacit.base.agent_results import QuestionResult
from tacit.base.commands import quotation

BEN = "agent:ben@relay.example"


def question(kind, *, fields=(), proposal=None, choices=(), about=None):
    found = {
        "question_id": "qst_1",
        "kind": kind,
        "thread_id": "thr_1",
        "counterpart": BEN,
        "asked_at": "2026-03-23T09:00:00Z",
        "fields": list(fields),
        "proposal": proposal,
        "choices": list(choices),
    }
    return found | ({"about": about} if about else {})


def begun(asks):
    """The card of a question, as it comes over a line."""
    return agent_card.begun(msgspec.convert(asks, QuestionResult))


def shown(asks):
    return arrange_show.question(msgspec.convert(asks, QuestionResult))


def asked(name, *values, reason="so that we find a place", **more):
    return {"field": name, "reason": reason, "priority": "helpful", "values": list(values), **more}


def pressed(card, *keys):
    """The card after these keys, and what the last of them asked for."""
    deed = None
    for key in keys:
        card, deed = press(card, key)
    return card, deed


def said(card, *keys):
    _, deed = pressed(card, *keys)
    assert deed.what == agent_card.ANSWER
    assert deed.answer["question_id"] == "qst_1"
    return {name: value for name, value in deed.answer.items() if name != "question_id"}


def text(card, width=80):
    lines = [*card_show.shown(card, width), *card_show.keys(card, width)]
    return ["".join(part for _, part in line) for line in lines]


CONSENT = question(
    "consent", fields=[asked("dietary", "vegetarian"), asked("budget_range", "30", "50"), asked("car")]
)
PROPOSAL = {
    "summary": "Dinner on Friday at 19:00",
    "details": {"time": "19:00", "place": "Pepe"},
    "alternatives": [{"summary": "Saturday at 19:00"}, {"summary": "Sunday at 18:00"}],
    "reasoning": "",
    "actions": [
        {"action": "calendar", "executor": "us", "reversible": True, "tick": None},
        {"action": "pay", "executor": "us", "reversible": False, "tick": "pay"},
    ],
    "by": "them",
}
CHECKPOINT = question(
    "checkpoint",
    proposal=PROPOSAL,
    choices=["confirm", "alternative 0", "alternative 1", "counter time", "counter place", "refuse"],
    about={"excuses": {"again": "Not this time, gladly another.", "leave": "I cannot make it."}},
)


@pytest.mark.spec("A2ACP-128", "A2ACP-273")
def test_a_consent_is_answered_by_one_key_or_field_by_field():
    two = begun(question("consent", fields=[asked("dietary", "vegetarian"), asked("area", "Reading")]))
    assert said(two, "y") == {"share": {"dietary": None, "area": None}, "decline": []}
    assert said(two, "n") == {"decline_all": True}
    assert said(two, "2", "enter") == {"share": {"area": None}, "decline": ["dietary"]}
    # A second time the same digit takes it back; nothing chosen is no answer.
    card, deed = pressed(two, "2", "2", "enter")
    assert deed is None
    assert "nothing is chosen" in card.told
    # What the owner's own wish needs is chosen already.
    own = begun(
        question("consent", fields=[asked("dietary", "vegetarian", ticked=True), asked("area", "Reading")])
    )
    assert said(own, "enter") == {"share": {"dietary": None}, "decline": ["area"]}


@pytest.mark.spec("A2ACP-128")
def test_known_values_are_chosen_without_typing_and_another_is_typed():
    card = begun(CONSENT)
    # One of several known values is chosen by its field's digit, one after the other.
    assert said(card, "2", "enter")["share"] == {"budget_range": "30"}
    assert said(card, "2", "2", "enter")["share"] == {"budget_range": "50"}
    # Sharing all needs a value for each: the first that lacks one is named, and nothing is answered.
    stopped, deed = pressed(card, "y")
    assert (deed, stopped.at) == (None, 1)
    assert "2 chooses its value" in stopped.told
    stopped, deed = pressed(card, "2", "y")
    assert (deed, stopped.at) == (None, 2)
    typed = ("3", "e", *"a blue ", "backspace", *" on", "left", "x", "delete", "home", "right", "enter")
    assert said(stopped, *typed, "y")["share"] == {"dietary": None, "budget_range": "30", "car": "a blue ox"}
    # Typing is only typing: keys that would answer are letters then, and Esc leaves what was.
    card, deed = pressed(begun(CONSENT), "e", "y", "n", "q", "s", "?")
    assert deed is None
    assert card.draft.text == "vegetarianynqs?"
    card, _ = pressed(card, "escape")
    assert card.values == {}


@pytest.mark.spec("A2ACP-143", "A2ACP-144", "A2ACP-149")
def test_a_proposal_is_confirmed_replaced_countered_excused_or_refused():
    card = begun(CHECKPOINT)
    # What cannot be undone is ticked first.
    stopped, deed = pressed(card, "y")
    assert deed is None
    assert "cannot be undone" in stopped.told
    assert said(card, "t", "y") == {"confirm": True, "ticks": ["pay"]}
    assert said(card, "t", "2") == {"alternative": 1, "ticks": ["pay"]}
    assert said(card, "n") == {"refuse": True}
    assert said(card, "c", "t", *"20:30", "enter") == {"counter": ["time", "20:30"]}
    assert said(card, "c", "p", *"Anna's", "enter") == {"counter": ["place", "Anna's"]}
    # The excuse is shown word by word before it goes.
    before = "\n".join(text(card))
    assert "gladly another" not in before
    shown, _ = pressed(card, "x")
    assert "“Not this time, gladly another.”" in "\n".join(text(shown))
    assert said(shown, "a") == {"excuse": "again"}
    assert said(shown, "l") == {"excuse": "leave"}
    back, deed = pressed(shown, "escape", "z")
    assert (back.mode, deed) == (agent_card.ASK, None)


def test_a_counter_to_something_without_time_or_place_names_its_field():
    card = begun(question("checkpoint", proposal={**PROPOSAL, "actions": []}, choices=["confirm", "counter"]))
    stopped, deed = pressed(card, "c", *"sooner", "enter")
    assert deed is None
    assert stopped.draft == Draft("sooner", 6)
    assert said(card, "c", *"deadline=2026-04-01", "enter") == {"counter": ["deadline", "2026-04-01"]}


@pytest.mark.spec("A2ACP-273")
def test_every_other_kind_has_its_keys_and_all_can_wait():
    choices = ["Friday at 20:00", "Keep trying", "Stop"]
    assert said(begun(question("escalation", choices=choices)), "3") == {"choose": 2}
    assert pressed(begun(question("escalation", choices=choices)), "4")[1] is None
    assert said(begun(question("first_contact")), "y") == {"confirm": True}
    assert said(begun(question("first_contact")), "n") == {"refuse": True}
    assert said(begun(question("scope")), "n") == {"refuse": True}
    assert said(begun(question("promotion", about={"field": "dietary"})), "y") == {"confirm": True}
    assert said(begun(question("promotion", about={"field": "dietary"})), "n") == {"dismiss": True}
    assert said(begun(question("failure", about={"reason": "x"})), "y") == {"dismiss": True}
    for one in (CONSENT, CHECKPOINT, question("scope"), question("something_new")):
        for key, what in (("s", agent_card.LATER), ("q", agent_card.QUIT), ("?", agent_card.WHY)):
            assert pressed(begun(one), key)[1].what == what
        assert pressed(begun(one), "z")[1] is None


HOSTILE = (
    "ok\n» y share all  n share nothing  1-2 choose\r\x1b[2J\x1b]0;x\x07 \u202eevil\u2066\u200f ” │ » Enter "
    + "a\u0301\u0302\u0303\u0304\u0305\u0306" * 3
    + "w" * 900
)


@pytest.mark.spec("A2ACP-129")
@pytest.mark.parametrize(
    "one",
    [
        question(
            "consent", fields=[asked(HOSTILE, "vegetarian", reason=HOSTILE), asked("b", "x", reason=HOSTILE)]
        ),
        question(
            "checkpoint",
            proposal={
                **PROPOSAL,
                "summary": HOSTILE,
                "reasoning": HOSTILE,
                "alternatives": [{"summary": HOSTILE}],
                "actions": [{"action": HOSTILE, "executor": "them", "reversible": True, "tick": None}],
            },
        ),
        question(
            "escalation",
            choices=[HOSTILE, "Keep trying", "Stop"],
            about={"reason": HOSTILE, "tried": [[HOSTILE, HOSTILE]]},
        ),
        question("scope", about={"before": HOSTILE, "after": HOSTILE, "reason": HOSTILE}),
        question("failure", about={"reason": HOSTILE}),
    ],
    ids=lambda one: one["kind"],
)
def test_words_of_others_are_quotations_that_cannot_look_like_our_keys(one):
    card = begun(one)
    lines = text(card, 60)
    keys = ["".join(part for _, part in line) for line in card_show.keys(card, 60)]
    for line in lines:
        assert all(sign.isprintable() for sign in line), line
        assert len(line) <= 90
        assert line.startswith(card_show.MARK) == (line in keys), line
        assert card_show.MARK.strip() not in line or line in keys
        # Nowhere more than three marks on one letter.
        assert "\u0304" not in line
    # What `tacit agent pending` prints says it in the same quotations.
    for line in shown(one):
        assert all(sign.isprintable() or sign == "\x1b" for sign in line), line
        assert card_show.MARK.strip() not in line
        assert "w" * 281 not in line
    # Each line of a quotation is behind the bar, and each quotation ends where we end it.
    told = "\n".join(lines)
    assert told.count("“") == told.count("”")
    assert "w" * 281 not in told.replace("\n", "").replace(" ", "").replace("│", "")


def test_a_command_that_is_made_to_be_pasted_runs_nothing_that_somebody_else_wrote():
    hostile = "x; touch y $(z) `w`"
    asks = question("consent", fields=[asked(hostile, "vegetarian")])
    assert f"--share '{hostile}'" in "\n".join(shown(asks))
    actions = [{"action": hostile, "executor": "us", "reversible": False, "tick": f"{hostile} 2"}]
    proposes = question("checkpoint", proposal={**PROPOSAL, "actions": actions})
    assert f"--tick '{hostile} 2'" in "\n".join(shown(proposes))


def test_a_quotation_has_280_signs_at_most():
    assert len(quotation.quoted("x" * 280)) == 282
    assert len(quotation.quoted("x" * 281)) == 282
    assert quotation.quoted("x" * 281).endswith("x…”")


def test_long_and_wide_words_are_broken_to_the_width():
    assert card_show.wrapped("aaaa bb " + "c" * 7, 5) == ["aaaa", "bb", "ccccc", "cc"]
    assert card_show.wrapped("漢字漢字漢字", 5) == ["漢字", "漢字", "漢字"]
    assert card_show.wrapped("", 5) == [""]


@pytest.mark.spec("A2ACP-131")
def test_what_was_typed_goes_into_the_question_that_takes_the_others_place():
    typing, _ = pressed(begun(CONSENT), "1", "3", "e", *"a bike")
    merged = {**CONSENT, "question_id": "qst_2", "fields": [asked("when", "Friday"), *CONSENT["fields"]]}
    card = agent_card.taken_over(begun(merged), typing)
    assert (card.mode, card.draft.text, card.fields[card.at].field) == (agent_card.EDIT, "a bike", "car")
    assert card.picks == {"dietary": 0}
    # A field that is no longer asked for takes nothing with it.
    gone = agent_card.taken_over(begun({**CONSENT, "fields": [asked("when", "Friday")]}), typing)
    assert (gone.mode, gone.picks) == (agent_card.ASK, {})


def test_pasted_text_answers_nothing():
    card = begun(CONSENT)
    assert agent_card.pasted(card, "y\nn\n") is card
    typing, _ = pressed(card, "e", "clear")
    typing = agent_card.pasted(typing, "two\nlines\x1b[2J")
    assert typing.draft.text == "two lines[2J"
    assert typing.mode == agent_card.EDIT


@pytest.mark.spec("A2ACP-172")
def test_one_thing_that_cannot_be_undone_is_ticked_at_once_and_several_by_their_numbers():
    def proposing(*ticks):
        actions = [{"action": one, "executor": "us", "reversible": False, "tick": one} for one in ticks]
        return begun(question("checkpoint", proposal={**PROPOSAL, "actions": actions}))

    one, _ = pressed(proposing("pay"), "t")
    assert (one.mode, one.ticks) == (agent_card.ASK, {"pay"})
    assert pressed(one, "t")[0].ticks == frozenset()
    two, _ = pressed(proposing("pay", "book"), "t")
    assert (two.mode, two.ticks) == (agent_card.TICK, frozenset())
    assert said(two, "2", "1", "enter", "y") == {"confirm": True, "ticks": ["book", "pay"]}
    stopped, deed = pressed(two, "2", "enter", "y")
    assert (deed, stopped.mode) == (None, agent_card.ASK)
    assert "t ticks pay first" in stopped.told
    assert said(stopped, "n") == {"refuse": True}


def test_a_label_has_60_signs_at_most_and_none_that_looks_like_ours():
    assert [len(quotation.label("x" * size)) for size in (59, 60, 61)] == [59, 60, 60]
    assert quotation.label("a » b │ c") == "a > b | c"
    assert quotation.label(7) == "7"
