"""The answer to an agent's question: by name, as a receipt, or just the next line, in the thread or around it."""

from __future__ import annotations

import pytest

from tacit.attention.settings import Settings
from tests.attention.read.test_dialogue import Talk, gets

ANSWERED = ("must_respond", "buffered")
YES = [
    "yep", "ok", "sure", "yes please", "staging", "the second one", "no", "ja", "klar", "genau", "oui", "d'accord", "ok vas-y",
    "sí", "claro", "vale", "sim", "pode ser", "beleza", "sì", "certo", "va bene", "ja hoor", "prima", "goed", "да", "хорошо",
    "давай", "好的", "可以", "行", "はい", "了解です", "お願いします", "👍",
]  # fmt: skip


def asked(talk: Talk | None = None, **data: str) -> Talk:
    """Ann wants a deploy; the lead asks her back in the thread of her request."""
    room = talk or Talk()
    room.line(0, "@lead please deploy the fix")
    room.line(10, "Shall I take staging first?", by="lead", **(data or {"reply_to": "m1"}))
    return room


@pytest.mark.spec("C2A-070")
@pytest.mark.parametrize("text", YES)
def test_a_plain_yes_in_any_language_is_the_answer_named_or_not_in_the_thread_or_around_it(text: str) -> None:
    for said, data in (
        (f"@lead {text}", {}),
        (text, {}),
        (text, {"reply_to": "m1"}),
        (text, {"reply_to": "m2"}),
        (f"@lead {text}", {"reply_to": "m2"}),
    ):
        found = asked().line(40, said, **data)
        assert gets(found) == ANSWERED, (said, data)
        assert not found["worker"].obliges


@pytest.mark.parametrize("text", YES)
def test_what_nobody_had_asked_for_is_no_answer(text: str) -> None:
    room = Talk()
    room.line(0, "@lead please deploy the fix")
    room.line(10, "It is deployed.", by="lead", reply_to="m1")
    assert room.line(40, text)["lead"].rule("policy").name != "matrix.answer"


def test_it_is_the_next_line_of_the_person_asked_and_of_nobody_else() -> None:
    room = asked()
    assert gets(room.line(20, "lunch was good", by="user"))[0] == "must_not_respond"
    assert gets(room.line(40, "staging")) == ANSWERED
    later = room.line(50, "by the way, lunch was good")
    assert later["lead"].rule("policy").name != "matrix.answer"


def test_a_word_in_the_thread_of_the_question_is_the_answer_and_the_next_line_is_none() -> None:
    for above in ("m1", "m2"):
        room = asked()
        assert gets(room.line(40, "staging", reply_to=above)) == ANSWERED
        assert room.line(50, "by the way, lunch was good")["lead"].rule("policy").name != "matrix.answer"


def test_others_lines_in_between_do_not_take_it_away_and_minutes_later_it_still_is_the_answer() -> None:
    room = asked()
    for second in range(20, 30):
        room.line(second, "who has the slides?", by="user")
    found = room.line(10 + 9 * 60, "yes")
    assert gets(found) == ANSWERED
    assert found["worker"].directedness == "to_other"
    assert gets(asked().line(10 + 11 * 60, "yes"))[0] == "must_not_respond"
    assert gets(asked().line(10 + 11 * 60, "@lead yes")) == ANSWERED


def test_whoever_was_spoken_to_by_somebody_else_since_answers_that() -> None:
    room = asked()
    room.line(30, "@Ann are you coming to lunch?", by="user")
    # A knock at most: it is not its answer.
    assert gets(room.line(40, "yes")) == ("may_respond", "notify")
    assert gets(room.line(50, "@lead yes")) == ANSWERED


def test_in_another_thread_or_as_a_reply_to_somebody_else_it_is_something_else() -> None:
    room = asked()
    room.line(20, "the slides are done", by="user")
    assert room.line(30, "yes", reply_to="m3")["lead"].policy == "must_not_respond"
    assert gets(room.line(40, "@lead yes")) == ANSWERED


def test_an_agent_that_asks_a_person_by_name_in_the_channel_is_answered_by_that_person() -> None:
    room = Talk()
    room.line(0, "Which branch is it?", by="lead", mentions=["usr:ann"])
    assert gets(room.line(20, "main", by="user"))[0] == "must_not_respond"
    assert gets(room.line(30, "main")) == ANSWERED


@pytest.mark.parametrize(
    ("text", "rule"), [("thanks", "gratitude"), ("hold on", "hold"), ("never mind", "cancellation")]
)
def test_thanks_and_steering_are_what_they_are(text: str, rule: str) -> None:
    room = asked()
    assert room.line(40, text)["lead"].rule("policy").name == f"matrix.{rule}"


@pytest.mark.spec("C2A-070")
@pytest.mark.parametrize(
    "text",
    [
        "yes, thanks", "ok thanks", "no thanks", "sounds good, thank you!", "ja danke", "nein danke", "oui merci", "sí gracias",
        "sim, obrigado", "sì grazie", "ja, dankjewel", "да, спасибо", "好的，谢谢", "はい、ありがとうございます",
    ],
)  # fmt: skip
def test_thanks_that_also_say_yes_or_no_are_the_answer_when_one_is_waited_for(text: str) -> None:
    for said, data in ((f"@lead {text}", {}), (text, {}), (text, {"reply_to": "m2"})):
        assert gets(asked().line(40, said, **data)) == ANSWERED, (said, data)
    answered = Talk()
    answered.line(0, "@lead please deploy the fix")
    answered.line(10, "It is deployed.", by="lead", reply_to="m1")
    assert gets(answered.line(40, f"@lead {text}"))[0] == "must_not_respond"


def test_who_asked_to_wait_has_not_answered_yet() -> None:
    room = asked()
    room.line(20, "hold on")
    assert gets(room.line(60, "staging")) == ANSWERED


def test_by_names_only_a_line_without_one_answers_nothing() -> None:
    room = asked(Talk(settings=Settings(dialogue=False)))
    assert gets(room.line(40, "yep"))[0] == "must_not_respond"
    assert gets(room.line(50, "@lead yep")) == ANSWERED


@pytest.mark.spec("C2A-070")
def test_an_agent_that_went_on_without_an_answer_no_longer_waits_and_only_so_many_do() -> None:
    room = asked()
    room.line(20, "I have taken staging.", by="lead", reply_to="m1")
    assert room.attention.asking.awaited.of("main", "usr:ann") == ()
    for number in range(6):
        room.line(30 + number, "Which one?", by=f"agent{number}", mentions=["usr:ann"])
    waiting = {one.agent for one in room.attention.asking.awaited.of("main", "usr:ann")}
    assert waiting == {"agent2", "agent3", "agent4", "agent5"}
