"""What people see of a turn is bounded, coalesced, without secrets, and summed up."""

from hypothesis import given
from hypothesis import strategies as st

from tacit.c2a.activity import read_activity, read_items, read_summary
from tacit.harness.activity import (
    ITEM_BYTES,
    MOST_ITEMS,
    STRUCK,
    TURN_BYTES,
    UPDATE_BYTES,
    TurnActivity,
)
from tacit.harness.drivers.port import ObservedActivity, TextDelta, ToolEnded, ToolStarted


def whole(turn):
    return {item["id"]: item for item in turn.snapshot()}


def test_words_and_calls_of_any_driver_become_things_in_order():
    turn = TurnActivity()
    turn.saw(TextDelta("Let me "))
    turn.saw(TextDelta("look."))
    turn.saw(ToolStarted("c1", "room.chat_search"))
    turn.saw(ToolEnded("c1", "room.chat_search", ok=False))
    turn.saw(TextDelta("Nothing."))
    turn.ended("done")
    assert [(one["kind"], one["state"], one.get("title"), one.get("text")) for one in turn.snapshot()] == [
        ("text", "done", None, "Let me look."),
        ("tool", "failed", "room.chat_search", None),
        ("text", "done", None, "Nothing."),
    ]


def test_a_call_that_says_more_is_shown_as_what_it_is():
    turn = TurnActivity()
    turn.saw(ToolStarted("c1", "shell"))
    turn.did(ObservedActivity("c1", "command", title="make"))
    turn.did(ObservedActivity("c1", "command", text="one\n", appends=True))
    turn.did(ObservedActivity("c1", "command", text="two\n", appends=True))
    turn.did(ObservedActivity("c1", "command", "done", exit_code=0))
    turn.saw(ToolEnded("c1", "shell", ok=True))
    assert turn.snapshot() == [
        {"id": "c1", "kind": "command", "state": "done", "title": "make", "text": "one\ntwo\n", "exitCode": 0}
    ]


def test_a_turn_that_is_over_leaves_nothing_running():
    turn = TurnActivity()
    turn.did(ObservedActivity("c1", "command", title="sleep 1000"))
    turn.ended("failed")
    assert whole(turn)["c1"]["state"] == "failed"


@given(
    st.lists(
        st.tuples(st.integers(0, 300), st.sampled_from(["command", "edit", "text"]), st.integers(0, 60_000)),
        max_size=60,
    )
)
def test_whatever_is_told_the_bounds_hold(told):
    turn = TurnActivity()
    for number, kind, size in told:
        turn.did(ObservedActivity(f"i{number}", kind, text="ä" * (size // 2), appends=bool(size % 2)))
        items = turn.update()
        assert len(items) <= 1 or sum(len(one.get("text", "").encode()) for one in items) <= UPDATE_BYTES
    shown = turn.snapshot()
    sizes = [len(one.get("text", "").encode()) for one in shown]
    assert len(shown) <= MOST_ITEMS
    assert all(size <= ITEM_BYTES for size in sizes)
    assert sum(sizes) <= TURN_BYTES
    # Nothing that a hub would cut again: what is sent is what is shown.
    assert read_items(shown) == shown


def test_a_flood_becomes_a_few_updates():
    turn = TurnActivity()
    turn.did(ObservedActivity("c1", "command", title="make"))
    for number in range(5_000):
        turn.did(ObservedActivity("c1", "command", text=f"line {number}\n", appends=True))
    updates = []
    while turn.has_news:
        updates.append(turn.update())
    assert len(updates) == 1
    assert updates[0][0]["text"].endswith("line 4999\n")
    assert updates[0][0]["cut"] is True


def test_secrets_are_struck_out_wherever_they_stand_also_in_two_pieces():
    turn = TurnActivity(("s3cret-token-of-ada",))
    turn.did(ObservedActivity("c1", "command", title="echo s3cret-token-of-ada"))
    turn.did(ObservedActivity("c1", "command", text="s3cret-tok", appends=True))
    turn.did(ObservedActivity("c1", "command", text="en-of-ada\n", appends=True))
    assert "s3cret" not in str(turn.snapshot())
    assert whole(turn)["c1"]["title"] == f"echo {STRUCK}"


def test_the_summary_says_what_was_done_and_nothing_that_was_said():
    turn = TurnActivity()
    turn.saw(TextDelta("a private thought"))
    diff = "--- a.py\n+++ a.py\n@@\n-old\n+new\n+more"
    turn.did(ObservedActivity("e1", "edit", "done", title="a.py", text=diff, files=("a.py",)))
    turn.did(ObservedActivity("e2", "edit", "refused", title="b.py", text="+x", files=("b.py",)))
    turn.did(ObservedActivity("c1", "command", "done", title="pytest -q", text="1 failed", exit_code=1))
    turn.did(ObservedActivity("c2", "command", "done", title="ls", exit_code=0))
    summary = turn.summary()
    assert summary == {
        "files": ["a.py"],
        "file_count": 1,
        "added": 2,
        "removed": 1,
        "commands": [{"command": "pytest -q", "ok": False}, {"command": "ls", "ok": True}],
        "command_count": 2,
        "tests": [{"command": "pytest -q", "ok": False}],
        "tools": 0,
    }
    assert "private" not in str(summary)
    assert read_summary(summary)["commands"] == summary["commands"]


def test_a_receiver_takes_no_more_than_the_bounds_whatever_it_is_sent():
    item = {
        "id": "x" * 900,
        "kind": "command",
        "state": "done",
        "text": "y" * 99_999,
        "files": ["f" * 900] * 99,
    }
    told = read_activity({"eventId": "e", "items": [item] * 999, "cards": [{"items": [item] * 999}] * 99})
    assert len(told.items) == 200
    assert len(told.cards) == 5
    assert (len(told.items[0]["id"]), len(told.items[0]["text"]), len(told.items[0]["files"])) == (
        500,
        16_000,
        50,
    )
    odd = [None, 7, {}, {"id": "a"}, {"id": "a", "kind": "virus", "state": "done"}]
    assert read_items(odd) == []
    assert read_activity({"items": []}) is None
