"""A person answers before the agent does, and whoever asked thanks: the turn is called off; and repeats."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention import Roster, RosterPerson
from tacit.attention.settings import Settings
from tacit.attention.state import records
from tacit.attention.state.asking import REMEMBERED
from tacit.attention.state.consequences import Around, consequences
from tacit.attention.state.fold import Attention
from tacit.attention.state.records import Notice, moment_of
from tacit.attention.state.sessions import SessionAgreement
from tacit.c2a.vocabulary import Mode
from tests.attention.world import ROSTER, START, event

ASKED = "@lead why is staging slow?"
ROOM = Roster.of(
    ROSTER.agents.values(), [RosterPerson("usr:ann", ("Ann",)), RosterPerson("usr:carl", ("Carl",))]
)


class Talk:
    """A room with harnesses: what the house writes is folded at once."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.attention = Attention(settings or Settings())
        for name in ("lead", "worker", "tester"):
            self.attention.sessions[name] = SessionAgreement(name, "2026-06-24", frozenset(Mode))
        self.count = 0

    def line(self, at_s: float, by: str, text: str, **data: Any) -> list[tuple[str, str | None]]:
        """Somebody says something; who was called off by it, and why."""
        self.count += 1
        said = event(text, by=by, event_id=f"m{self.count}", at_s=at_s, seq=self.count, **data)
        decisions, stopped = self.attention.take(said, moment_of(said), ROOM)
        written = consequences(said, decisions, self.attention, Around(ROOM, START, {}), stopped=stopped)
        for number, one in enumerate(written):
            if not isinstance(one, Notice):
                made = event(
                    by="system", kind=records.kind_of(one), event_id=f"r{self.count}.{number}", at_s=at_s
                )
                made.data.update(records.data_of(one))
                self.attention.apply(made, moment_of(made))
        ended = [one for one in written if isinstance(one, records.DispositionRecord) and one.closes]
        return [(one.session, one.reason) for one in ended if one.disposition == "superseded"]

    @property
    def owes(self) -> bool:
        obligation = self.attention.obligations.get("m1", "lead")
        return obligation is not None and obligation.owed


def asked(settings: Settings | None = None) -> Talk:
    talk = Talk(settings)
    talk.line(0, "usr:ann", ASKED)
    assert talk.owes
    return talk


@pytest.mark.spec("C2A-180")
@pytest.mark.parametrize(
    "thanks", ["thanks!", "thank you", "@user thanks", "danke", "merci beaucoup", "gracias", "obrigado", "grazie", "bedankt",
               "спасибо", "谢谢", "ありがとう"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("answer", "data"),
    [
        ("the index is missing, I am rebuilding it", {}),
        ("@Ann the index is missing", {}),
        ("the index is missing", {"reply_to": "m1"}),
    ],
)
def test_a_person_answers_and_the_asker_thanks_so_the_turn_is_called_off(
    answer: str, data: dict[str, str], thanks: str
) -> None:
    talk = asked()
    assert talk.line(20, "user", answer, **data) == []
    assert talk.owes
    where = {"reply_to": "m1"} if data else {}
    assert talk.line(40, "usr:ann", thanks, **where) == [("lead", "Answered by user")]
    assert not talk.owes


@pytest.mark.parametrize(
    ("answer", "by", "thanks"),
    [
        ("the index is missing", "usr:ann", "@lead thanks"),
        ("the index is missing", "usr:carl", "thanks"),
        ("the index is missing", "usr:ann", "thanks in advance"),
        ("the index is missing", "usr:ann", "thanks, but which index?"),
        ("the index is missing", "usr:ann", "ok"),
        ("why do you ask?", "usr:ann", "thanks"),
        ("@worker the build is red", "usr:ann", "thanks"),
        ("lol", "usr:ann", "thanks"),
    ],
)
def test_it_takes_an_answer_of_a_person_and_the_asker_s_thanks_to_no_agent(
    answer: str, by: str, thanks: str
) -> None:
    talk = asked()
    talk.line(20, "user", answer)
    assert talk.line(40, by, thanks) == []
    assert talk.owes


def test_thanks_to_nobody_without_an_answer_and_an_agent_s_word_call_nothing_off() -> None:
    talk = asked()
    assert talk.line(20, "usr:ann", "thanks") == []
    talk.line(30, "worker", "the index is missing")
    assert talk.line(40, "usr:ann", "thanks") == []
    assert talk.owes


def test_a_plain_line_counts_only_until_a_third_one_speaks_a_reply_longer() -> None:
    talk = asked()
    talk.line(20, "user", "the index is missing")
    talk.line(30, "usr:carl", "lunch is at noon")
    assert talk.line(40, "usr:ann", "thanks") == []
    pointed = asked()
    pointed.line(20, "user", "@Ann the index is missing")
    pointed.line(30, "usr:carl", "lunch is at noon")
    assert pointed.line(40, "usr:ann", "thanks") == [("lead", "Answered by user")]


@pytest.mark.spec("C2A-180")
def test_a_later_question_in_a_thread_does_not_take_a_plain_line_from_the_one_in_the_open() -> None:
    talk = Talk()
    talk.line(0, "user", "the build is red")
    talk.line(1, "usr:ann", ASKED)
    talk.line(2, "user", "@worker how red is it?", reply_to="m1")
    talk.line(20, "usr:carl", "the index is missing")
    assert talk.line(40, "usr:ann", "thanks") == [("lead", "Answered by usr:carl")]


def test_whoever_is_in_another_talk_or_late_did_not_answer_by_a_plain_line() -> None:
    talk = Talk()
    talk.line(0, "user", "@worker is the build red?")
    talk.line(1, "worker", "it is", reply_to="m1")
    talk.line(2, "usr:ann", ASKED)
    talk.line(20, "user", "the old one was red too")
    assert talk.line(40, "usr:ann", "thanks") == []
    late = asked()
    late.line(6 * 60, "user", "the index is missing")
    assert late.line(6 * 60 + 10, "usr:ann", "thanks") == []
    assert late.owes


def test_by_names_only_a_plain_line_says_nothing_about_whom_it_is_for() -> None:
    talk = asked(Settings(dialogue=False))
    talk.line(20, "user", "the index is missing")
    assert talk.line(40, "usr:ann", "thanks") == []
    talk.line(50, "user", "@Ann the index is missing")
    assert talk.line(60, "usr:ann", "thanks") == [("lead", "Answered by user")]


def test_thanks_name_whom_they_are_for() -> None:
    talk = asked()
    talk.line(20, "user", "@Ann the index is missing")
    assert talk.line(30, "usr:ann", "@Carl thanks") == []
    assert talk.line(40, "usr:ann", "@user thanks") == [("lead", "Answered by user")]


def test_what_is_remembered_of_a_channel_is_bounded() -> None:
    talk = Talk()
    for number in range(REMEMBERED + 3):
        talk.line(number, "usr:ann", ASKED)
    assert [one.event_id for one in talk.attention.asking.questions.by_channel["main"]] == [
        f"m{number}" for number in range(4, REMEMBERED + 4)
    ]
