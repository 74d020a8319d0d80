"""Content that an operator takes out while the hub is stopped; what attention keeps is as a rebuild has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io.redacting import Redacting
from tacit.attention.state import records
from tacit.base.errors import Refused
from tacit.ledger.envelope import decode
from tacit.ledger.io import upkeep, verification
from tests.attention.io.house import GROUP, House
from tests.ledger.older import before_salts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORD = "xylographquartz"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "data")
    made.group(GROUP, ann="peer", ben="peer")
    made.connect("ann")
    yield made
    made.close()


def redacting(house: House) -> Redacting:
    return Redacting(house.folder, house.clock, house.entropy)


def found(house: House, event_id: str) -> Any:
    return next(one for one in map(decode, upkeep.export(house.folder)) if one.id == event_id)


def has_word(house: House) -> bool:
    files = [path for path in house.folder.rglob("*") if path.is_file()]
    return any(WORD.encode() in path.read_bytes() for path in files)


@pytest.mark.spec("C2A-187")
def test_a_message_goes_and_whoever_owed_an_answer_owes_none(house: House) -> None:
    asked = house.say(GROUP, "user", f"@ann what is a {WORD}?")
    house.say(GROUP, "user", "@ben or you?", reply_to=asked.id)
    assert [one.event_id for one in house.attention.obligations] == [asked.id]
    house.close()
    assert has_word(house)
    with redacting(house) as operator:
        assert operator.one(f"Group {GROUP}", f"#{asked.seq}", "asked by its author") == 1
    assert not has_word(house)
    left = found(house, asked.id)
    assert left.redacted.by == "user"
    assert left.data == {"mentions": ["ann"], "text": "", "deleted": True}
    (record,) = [one for one in map(decode, upkeep.export(house.folder)) if one.kind == "x.c2a.delete"]
    assert record.data == {"event_id": asked.id, "by": "user", "reason": "asked by its author"}
    with pytest.raises(Refused, match="gone already"), redacting(house) as operator:
        operator.one(GROUP, asked.id, "")
    with pytest.raises(Refused, match="no such event"), redacting(house) as operator:
        operator.one(GROUP, "#4000", "")
    with pytest.raises(Refused, match="only a message"), redacting(house) as operator:
        operator.one(GROUP, "#1", "")
    house.reopen()
    assert [one for one in house.attention.obligations if one.owed] == []
    house.assert_rebuilds()


def test_what_was_taken_back_before_content_went_along_goes_when_asked(house: House) -> None:
    said = house.say(GROUP, "user", f"a {WORD}")
    house.close()
    before_salts(house.folder / "ledger.db")
    house.reopen()
    # An older hub wrote the record and left the content.
    house.store.writer._erase = lambda *_given: None
    house.record(records.DeleteRecord(event_id=said.id, by="user"))
    house.close()
    assert has_word(house)
    with redacting(house) as operator:
        assert operator.taken_back("") == 1
        assert operator.taken_back("") == 0
    assert not has_word(house)
    assert not found(house, said.id).redacted.salted
    assert verification.verify(house.folder, house.entropy).redacted == 1


@pytest.mark.spec("C2A-214")
def test_a_digest_that_quotes_a_message_loses_its_words_with_it(house: House) -> None:
    said = house.say(GROUP, "user", f"status: the {WORD} is green")
    digest = records.DigestRecord(
        session="ann", scope="channel:main", policy="must_not_respond", text=f"- user: {WORD}",
        event_ids=[said.id], for_=["ann"],
    )  # fmt: skip
    house.record(digest)
    house.record(records.DeleteRecord(event_id=said.id, by="user"))
    house.close()
    assert not has_word(house)
    (left,) = [one for one in map(decode, upkeep.export(house.folder)) if one.kind == "x.c2a.digest"]
    assert left.redacted is not None
    assert left.data["event_ids"] == [said.id]
    house.reopen()
    house.assert_rebuilds()


@pytest.mark.spec("C2A-214")
def test_a_line_of_a_dialogue_goes_and_the_dialogue_is_rebuilt_as_it_was(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann which port does staging use?")
    house.clock.move(10)
    house.say(GROUP, "ann", "8443", reply_to=asked.id)
    house.clock.move(20)
    middle = house.say(GROUP, "user", f"did ben say whether your {WORD} shows an old certificate there?")
    house.clock.move(20)
    house.say(GROUP, "user", "it has expired")
    open_to_all = house.say(GROUP, "user", f"does anyone know who renews {WORD}?")
    house.clock.move(5)
    house.say(GROUP, "user", "it was due last week")
    house.clock.move(5)
    nearly = house.say(GROUP, "user", f"ann_: is {WORD} yours?")
    assert house.attention.decided[middle.id].follows["ann"].confidence > 0
    for one in (middle, open_to_all, nearly):
        house.record(records.DeleteRecord(event_id=one.id, by="user"))
    house.clock.move(20)
    after = house.say(GROUP, "user", "and who renews it?")
    assert after.id in house.attention.decided
    house.close()
    assert not has_word(house)
    assert found(house, middle.id).redacted.heard["inside"] == ["ben"]
    assert found(house, open_to_all.id).redacted.heard["room"] is True
    assert found(house, nearly.id).redacted.heard["nearly"] == ["ann"]
    house.reopen()
    house.assert_rebuilds()


@pytest.mark.parametrize("nonsense", [[], {"a": 1}, 7, None])
def test_a_message_whose_members_are_nonsense_can_go(house: House, nonsense: object) -> None:
    said = house.say(GROUP, "user", WORD, urgency=nonsense, directedness=nonsense, c2a=nonsense)
    house.close()
    with redacting(house) as operator:
        assert operator.one(GROUP, said.id, "") == 1
    assert not has_word(house)
    assert verification.verify(house.folder, house.entropy).sound
