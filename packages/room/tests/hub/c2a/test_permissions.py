"""What an agent's own program asks of people: the answer reaches the harness that waits for it."""

import pytest


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize(
    ("op", "reason", "told"),
    [
        ("approve", "", {"state": "granted", "scope": "once", "by": "user"}),
        ("refuse", "not today", {"state": "denied", "by": "user", "reason": "not today"}),
    ],
)
async def test_a_persons_answer_is_told_to_the_harness_that_asked(stage, op, reason, told):
    await stage.member("ann")
    async with stage.wire("ann") as ann:
        event = await stage.tell("@ann deploy it")
        await ann.accept(await ann.delivery())
        question = {"key": "k1", "eventId": event["id"], "kind": "command", "title": "make deploy"}
        asked = await ann.call("chat/permission", **question)
        assert asked["state"] == "asked"
        early = await stage.steer("revoke", approval_id=asked["approvalId"])
        assert (early.status, early.code) == (404, "event_not_found"), "nothing is allowed for good yet"
        answered = await stage.steer(op, approval_id=asked["approvalId"], reason=reason)
        assert answered.status == 200, answered.body
        note = await ann.note("notifications/permission")
        said = {name: note["params"].get(name) for name in told}
        assert (note["params"]["approvalId"], said) == (asked["approvalId"], told)
