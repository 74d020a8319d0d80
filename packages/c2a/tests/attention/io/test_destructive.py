"""Nothing destructive by pattern: each sentence of the issue, from the words to what the hub and a harness do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.c2a.messages import read_delivered
from tacit.harness.effects import Abort, Report
from tests.attention.decide.test_plain_forms import TAKEN_BACK
from tests.attention.io.house import GROUP
from tests.c2a_peer import delivery
from tests.harness.one_turn import OneTurn
from tests.harness.test_conduct import PLAIN, at, begin, event, kinds, settled

if TYPE_CHECKING:
    from tacit.harness.effects import Effect
    from tests.attention.io.house import House

HARMLESS = [
    "@ann how do I get this warning to go away?",
    "@ann cancel my lunch reminder",
    "@ann stop?",
    "@ann why did you stop the deploy?",
    "@ann please leave the door open",
    "@ann can you cancel the meeting at three?",
    "@ann wie bekomme ich diese Warnung weg?",
    "@ann storniere bitte meine Tischreservierung",
    "@ann comment faire partir cet avertissement ?",
    "@ann annule ma réservation de midi",
    "@ann ¿cómo hago que se vaya este aviso?",
    "@ann cancela mi recordatorio de la comida",
    "@ann como faço este aviso sumir?",
    "@ann cancela o meu lembrete do almoço",
    "@ann come faccio a far sparire questo avviso?",
    "@ann annulla il mio promemoria del pranzo",
    "@ann hoe krijg ik deze waarschuwing weg?",
    "@ann annuleer mijn lunchherinnering",
    "@ann как убрать это предупреждение?",
    "@ann отмени моё напоминание про обед",
    "@ann 怎么让这个警告消失?",
    "@ann 取消我的午餐提醒",
    "@ann この警告を消すにはどうすればいいですか?",
    "@ann ランチのリマインダーをキャンセルして",
]
"""Words of an order in a question, or about a third thing."""


@pytest.fixture(autouse=True)
def _people(house: House) -> None:
    for name in ("Eve", "Bob"):
        house.do(GROUP, "user", "x.tacit.person.add", principal=f"usr:{name.lower()}", title=name)


def gone(house: House) -> list[str]:
    return [
        one.data["session"]
        for one in house.events(GROUP)
        if one.kind == "x.c2a.membership" and one.data["action"] == "leave"
    ]


def reason_of(house: House, event_id: str) -> str:
    records = [one.data for one in house.events(GROUP) if one.kind == "x.c2a.delivery"]
    return next(one["reason"] for one in records if one["event_id"] == event_id)


def told(text: str, reason: str, by: str, thread: str | None = None) -> list[Effect]:
    """What a harness does that works for Eve when somebody says this."""
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "rebuild the index", author={"id": "usr:eve", "kind": "human"}))
    where = {"conversation__threadId": thread} if thread else {}
    made = delivery("s1", text, author={"id": by, "kind": "human"}, attention__reason=reason, **where)
    return conduct.heard(read_delivered(made), at(9))


@pytest.mark.spec("C2A-054", "C2A-190")
def test_no_agent_goes_and_nobody_s_work_ends_by_words_about_something_else(house: House) -> None:
    work = house.say(GROUP, "usr:eve", "@ann please rebuild the index")
    for text in HARMLESS:
        asked = house.say(GROUP, "usr:bob", text)
        assert house.attention.obligations.get(asked.id, "ann").owed, f"{text} is an ordinary request"
        reason = reason_of(house, asked.id)
        assert reason not in {"cancellation", "leave_request", "hold", "safety"}, text
        assert kinds(told(text, reason, "usr:bob"), Abort, Report) == []
    assert gone(house) == []
    assert house.attention.obligations.get(work.id, "ann").owed


@pytest.mark.spec("C2A-082")
@pytest.mark.parametrize(
    ("by", "thread", "ends"),
    [("usr:eve", None, True), ("usr:eve", "e1", True), ("user", "e1", True), ("usr:bob", "e1", False), ("usr:bob", None, False)],
)  # fmt: skip
def test_a_piece_of_work_is_called_off_by_whoever_asked_or_the_owner_in_reply(
    by: str, thread: str | None, ends: bool
) -> None:
    effects = told("stop", "cancellation", by, thread)
    assert (settled(effects).get("e1") == "superseded") is ends


@pytest.mark.spec("C2A-081")
def test_the_plain_forms_work_for_the_asker(house: House) -> None:
    for text in TAKEN_BACK:
        house.say(GROUP, "usr:eve", "@ann please rebuild the index")
        said = house.say(GROUP, "usr:eve", text)
        assert reason_of(house, said.id) == "cancellation", text


@pytest.mark.spec("C2A-190", "C2A-194")
def test_leaving_takes_an_order_by_name_or_the_owner_s_tap(house: House) -> None:
    house.say(GROUP, "usr:eve", "@ann please leave this channel")
    assert gone(house) == ["ann"]
    house.say(GROUP, "usr:eve", "please leave this channel")
    assert gone(house) == ["ann"]
    house.steer("leave", agent="ben")
    assert gone(house) == ["ann", "ben"]
