"""The plain forms in which people take something back, ask to wait, or greet: named or not, as a reply or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.attention.world import Room, event

if TYPE_CHECKING:
    from tacit.attention.decide.decide import Decisions

TAKEN_BACK = [
    "nvm", "nvm I got it", "nvm figured it out thanks", "found it nvm", "never mind, found it", "please don't bother", "don't bother, thanks", "hat sich erledigt", "laisse tomber, j'ai trouvé",
    "déjalo, ya lo encontré", "deixa pra lá, já achei", "lascia stare, l'ho trovato", "laat maar, al gevonden", "не надо, уже нашёл",
    "算了,找到了", "もう大丈夫です、見つかりました",
]  # fmt: skip
WAITING = [
    "wait", "hold on", "hang on a sec", "warte mal", "attends", "espera un momento", "peraí", "aspetta un attimo", "wacht even",
    "подожди", "等一下", "ちょっと待って",
]  # fmt: skip
GREETINGS = [
    "hello all", "good morning", "guten Morgen", "bonjour à tous", "hola a todos", "bom dia", "ciao a tutti", "hoi", "всем привет",
    "大家好", "おはようございます",
]  # fmt: skip


def asked(text: str, *, by: str = "usr:ann", **data: Any) -> Decisions:
    """Ann asked the lead why staging is slow; twenty seconds later somebody says something."""
    room = Room()
    room.put(event("@lead why is staging slow?", by="usr:ann", event_id="m1", at_s=0, seq=1))
    return room.put(event(text, by=by, event_id="m2", at_s=20, seq=2, **data))


@pytest.mark.spec("C2A-081")
@pytest.mark.parametrize("text", TAKEN_BACK)
def test_the_asker_takes_it_back_named_or_not_as_a_reply_or_not(text: str) -> None:
    for said, data in (
        (text, {}),
        (f"@lead {text}", {}),
        (text, {"reply_to": "m1"}),
        (f"@lead {text}", {"reply_to": "m1"}),
    ):
        assert asked(said, **data)["lead"].reason == "cancellation", (said, data)


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_nobody_else_s_line_takes_it_back_unnamed(text: str) -> None:
    assert asked(text, by="usr:bob")["lead"].reason != "cancellation"


@pytest.mark.parametrize("text", WAITING)
def test_the_asker_asks_to_wait_which_ends_nothing_and_obliges_to_nothing(text: str) -> None:
    for said, data in ((text, {}), (f"@lead {text}", {}), (text, {"reply_to": "m1"})):
        got = asked(said, **data)["lead"]
        assert (got.policy, got.mode) == ("may_respond", "buffered"), (said, data)
        assert got.reason != "cancellation"


@pytest.mark.parametrize("text", GREETINGS)
def test_a_greeting_to_all_obliges_nobody_and_wakes_nobody(text: str) -> None:
    for decision in asked(f"@all {text}").values():
        assert (decision.policy, decision.mode) == ("must_not_respond", "silent")
    for decision in asked(text, by="usr:bob").values():
        assert not decision.obliges


@pytest.mark.spec("C2A-054")
@pytest.mark.parametrize("data", [{}, {"to": ["lead"]}])
def test_a_greeting_to_one_by_name_may_be_answered_and_is_not_owed(data: dict[str, Any]) -> None:
    found = asked("@lead good morning", **data)["lead"]
    assert (found.directedness, found.policy, found.mode) == ("to_me", "may_respond", "buffered")


@pytest.mark.spec("C2A-054", "C2A-196")
def test_agents_do_not_greet_each_other_for_ever() -> None:
    found = asked("good morning", by="worker", to=["lead"])["lead"]
    assert (found.policy, found.mode) == ("must_not_respond", "silent")
