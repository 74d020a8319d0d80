"""A line without a name goes on with the dialogue of its author: whose, how surely, and what ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.settings import Settings
from tests.attention.world import Room, event

if TYPE_CHECKING:
    from tacit.attention.decide.decide import Decisions

MINUTES = 60


class Talk(Room):
    """A room in which each line says when it is said."""

    def line(self, at_s: float, text: str, *, by: str = "usr:ann", **data: Any) -> Decisions:
        self.count += 1
        return self.put(event(text, by=by, event_id=f"m{self.count}", at_s=at_s, seq=self.count, **data))


def gets(decisions: Decisions, agent: str = "lead") -> tuple[str, str]:
    return decisions[agent].policy.value, decisions[agent].mode.value


def begun(room: Talk | None = None) -> Talk:
    """Ann asks lead, and lead answers her."""
    room = room or Talk()
    room.line(0, "@lead which port does staging use?")
    room.line(10, "8443", by="lead", reply_to="m1")
    return room


@pytest.mark.spec("C2A-070", "C2A-072")
def test_the_next_line_of_whom_an_agent_answered_is_that_agent_s_and_nobody_else_s() -> None:
    asked = begun().line(40, "and which certificate does it show?")
    assert gets(asked) == ("must_respond", "buffered")
    assert gets(asked, "worker") == ("must_not_respond", "tool_mailbox")
    assert asked["worker"].directedness == "to_other"
    assert gets(begun().line(40, "the old one has expired")) == ("may_respond", "buffered")


@pytest.mark.spec("C2A-075")
@pytest.mark.parametrize(
    ("at_s", "by", "expected"),
    [
        (10 + 6 * MINUTES, "usr:ann", ("may_respond", "notify")),
        (10 + 11 * MINUTES, "usr:ann", ("must_not_respond", "tool_mailbox")),
        (40, "user", ("must_not_respond", "tool_mailbox")),
    ],
)
def test_it_gets_less_sure_with_time_and_is_nobody_else_s(
    at_s: float, by: str, expected: tuple[str, str]
) -> None:
    assert gets(begun().line(at_s, "the old one has expired", by=by)) == expected


@pytest.mark.spec("C2A-083")
def test_what_an_author_adds_to_their_own_words_is_no_second_question() -> None:
    room = Talk()
    room.line(0, "@lead staging is odd")
    # A piece of the first one: it obliges nobody anew, and is read with it.
    assert gets(room.line(5, "it shows an old certificate")) == ("may_respond", "buffered")


@pytest.mark.spec("C2A-083")
@pytest.mark.parametrize(
    ("call", "then", "policy"),
    [
        ("@lead good morning", "the importer is slow since noon", "must_respond"),
        ("@lead hey", "can you look at the importer", "must_respond"),
        ("@lead ok great", "and what about the logs", "must_respond"),
        ("@lead nice work", "now translate it to german", "must_respond"),
        ("@lead thanks!", "could you also bump the version", "must_respond"),
        ("@lead ok great", "the old one took an hour", "may_respond"),
        # Whoever has thanked is done: of such lines every other is for somebody else.
        ("@lead thanks!", "lunch was good", "must_not_respond"),
        ("@lead ok great", "works now, thanks", "must_not_respond"),
        ("@lead ok great", "does anyone want coffee?", "may_respond"),
    ],
)
def test_what_follows_small_talk_decides_also_as_a_line_of_its_own(call: str, then: str, policy: str) -> None:
    room = begun()
    room.line(20, call)
    found = room.line(24, then)
    assert found["lead"].policy == policy
    assert (found["worker"].policy == "may_respond") is ("anyone" in then)


def test_after_a_minute_small_talk_calls_nobody_any_more() -> None:
    room = Talk()
    room.line(0, "@lead good morning")
    assert gets(room.line(61, "lunch was good"))[0] != "must_respond"


def test_whoever_turns_to_somebody_else_has_left_the_dialogue() -> None:
    room = begun()
    room.line(20, "@user have you seen that?")
    assert gets(room.line(30, "it is odd")) == ("must_not_respond", "tool_mailbox")


def test_whoever_has_thanked_makes_no_turn_until_the_other_speaks() -> None:
    room = begun()
    assert gets(room.line(20, "thanks!")) == ("must_not_respond", "silent")
    assert room.line(30, "lunch anyone")["lead"].mode == "tool_mailbox"


@pytest.mark.spec("C2A-081")
def test_what_was_asked_is_taken_back_without_a_name_and_nobody_is_sent_away_without_one() -> None:
    room = Talk()
    room.line(0, "@lead why is staging slow?")
    assert room.line(20, "never mind, found it")["lead"].reason == "cancellation"
    assert begun().line(20, "never mind, found it")["lead"].mode not in {"immediate", "buffered"}
    assert begun().line(20, "please leave this channel")["lead"].reason != "leave_request"


def test_an_agent_s_own_line_goes_on_with_nothing_and_names_only_is_a_setting() -> None:
    room = begun()
    assert gets(room.line(20, "and the tests pass", by="worker"))[0] == "must_not_respond"
    names_only = begun(Talk(settings=Settings(dialogue=False)))
    assert gets(names_only.line(20, "and which branch?"))[1] == "tool_mailbox"


@pytest.mark.spec("C2A-070", "C2A-180")
@pytest.mark.parametrize("text", ["never mind, found it", "wait", "hold on"])
def test_never_mind_after_the_answer_is_a_remark(text: str) -> None:
    assert begun().line(40, text)["lead"].rule("policy").name == "matrix.ambient"


TO_THE_ROOM = [
    "does anyone know why staging is slow?", "anyone?", "can somebody have a look at staging?", "who knows the port?",
    "do any of you use zsh?", "weiß jemand, warum das so langsam ist?", "quelqu'un sait pourquoi c'est lent ?",
    "¿alguien sabe por qué va tan lento?", "alguém sabe porque está tão lento?", "qualcuno sa perché è così lento?",
    "weet iemand waarom het zo traag is?", "кто-нибудь знает, почему всё тормозит?", "有人知道为什么这么慢吗?",
    "どなたか分かりますか?",
]  # fmt: skip
TO_THE_PARTNER = [
    "did you see anyone?", "do you know someone who can help?", "and who else is here?", "hast du jemanden gesehen?", "why is staging slow?",
]  # fmt: skip


@pytest.mark.spec("C2A-077", "C2A-070")
@pytest.mark.parametrize("text", TO_THE_ROOM)
def test_a_question_to_whoever_knows_is_the_rooms_also_in_a_dialogue(text: str) -> None:
    asked = begun().line(40, text)
    assert {asked[one].rule("policy").name for one in ("lead", "worker")} == {"matrix.open_request"}


@pytest.mark.parametrize("text", TO_THE_PARTNER)
def test_a_question_that_only_speaks_of_somebody_is_the_partners(text: str) -> None:
    assert begun().line(40, text)["lead"].rule("policy").name == "matrix.continued_question"


@pytest.mark.spec("C2A-083")
def test_a_question_to_whoever_knows_ends_what_its_author_was_saying() -> None:
    room = begun()
    room.line(20, "does anyone know why staging is slow?")
    # What follows is more of that question, and lead's no longer; nor is it a piece of an earlier call.
    assert room.line(25, "it takes a minute to load")["lead"].mode == "tool_mailbox"
    called = Talk()
    called.line(0, "@lead hey")
    assert called.line(5, "does anyone know why?")["lead"].rule("policy").name == "matrix.open_request"


@pytest.mark.spec("C2A-077")
def test_a_question_to_whoever_knows_answers_no_agent_that_had_asked() -> None:
    room = Talk()
    room.line(0, "@lead please restart staging")
    room.line(5, "@ann which of the two?", by="lead", mentions=["usr:ann"])
    assert (
        room.line(20, "does anyone know which is ours?")["lead"].rule("policy").name == "matrix.open_request"
    )
