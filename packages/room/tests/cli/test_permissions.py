"""`tacit approve`, `tacit permissions`: a bare command only looks, and a card is drawn as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.test_attention import Harness

if TYPE_CHECKING:
    from tests.shell import Shell


@pytest.fixture
def room(shell: Shell) -> Shell:
    shell.start()
    shell.run("group", "new", "Lab")
    shell.run("actor", "add", "Lab", "bea")
    return shell


@pytest.mark.spec("C2A-207")
def test_a_request_is_shown_as_it_is_and_answered_only_when_an_answer_is_given(room: Shell) -> None:
    assert "No open requests." in room.run("approve", "Lab")
    assert "No permanent permissions." in room.run("permissions", "Lab")
    assert "No open request 00000000. `tacit approve Lab` lists them." in room.run(
        "approve", "Lab", "00000000", code=1
    )
    bea = Harness(room, "Lab", "bea")
    try:
        bea.hello()
        sent = room.json("send", "Lab", "@bea please tidy up \u202eon")["event"]
        delivered = bea.next()
        bea.send(id=delivered["id"], result={"accepted": True, "eventId": sent["id"]})
        wish = {
            "key": "k1",
            "eventId": sent["id"],
            "kind": "command",
            "title": "ls \u202e# fr- mr\u202c ; rm -rf ~",
            "worktree": "bea",
            "pattern": {"kind": "command"},
            "covers": "exactly this",
        }
        bea.send(id=9, method="chat/permission", params=wish)
        while (answer := bea.next()).get("id") != 9:
            pass
        short = answer["result"]["approvalId"][-8:]
        for words in ((), (short,)):
            card = room.run("approve", "Lab", *words)
            assert f"The owner asked bea (#{sent['seq']}: “@bea please tidy up ⟨U+202E⟩on”)." in card
            assert "bea wants to run, in worktree bea:" in card
            assert "ls ⟨U+202E⟩# fr- mr⟨U+202C⟩ ; rm -rf ~" in card
            assert "\u202e" not in card
        [row] = room.json("approve", "Lab")
        assert (row["asked_by"], row["request"]["seq"], row["may_allow"]) == (["user"], sent["seq"], True)
        for wrong in (("--once", "--no"), ("--reason", "why")):
            room.run("approve", "Lab", short, *wrong, code=2)
        room.run("approve", "Lab", "--once", code=2)
        assert len(room.json("approve", "Lab")) == 1, "nothing so far was an answer"
        assert room.run("approve", "Lab", short, "--always") == "Allowed.\n"
        assert room.json("approve", "Lab") == []
        assert "asked by The owner, allowed by The owner" in room.run("permissions", "Lab")
        assert room.run("permissions", "Lab", "--revoke", short) == "Taken back.\n"
    finally:
        bea.end()
