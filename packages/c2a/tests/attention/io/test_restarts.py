"""Attention over restarts: whatever people, agents and time do, a reopened or rebuilt store goes on exactly."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tacit.attention.state import records
from tacit.base.errors import Refused
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import Disposition
from tacit.ledger.commands import Committed
from tests.attention.io.house import GROUP, MODES, House

AGENTS = ("ann", "ben", "cyd", "lead")
SAID = (
    "@ann can you check the build?",
    "@ben please deploy the site",
    "@ops who looks at the disk?",
    "@ops please restart the relay",
    "@all which port is it?",
    "@ann and @ben what do you think?",
    "@dora could you help with the parser?",
    "can anybody look at the flaky test?",
    "thanks!",
    "nice weather",
    "@ann approve the release?",
    "@cyd please leave this channel",
    "status: all green",
    "@lead the deploy is blocked",
    "ok",
    "no, that is wrong. why?",
)
REPLIES = (
    "Done, it was a typo.",
    "Which one do you mean?",
    "It is port 7434.",
    "I will look tomorrow.",
    "No.",
)
SIGNALS = ("seen", "agree", "working", "queued", "claimed", "done", "declined", "blocked", "unclear")


class Declined(Exception):
    """The hub said no, for a reason."""


class Restarts(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="restarts-"))
        self.house = House(self.folder / "data")
        self.said: list[str] = []
        self.roled: set[str] = set()
        self.obliged: dict[str, int] = {}
        self.count = 0

    def teardown(self) -> None:
        try:
            if self.said:
                self.look()
                self.house.assert_rebuilds()
                self.house.reopen()
                self.look()
        finally:
            self.house.close()
            shutil.rmtree(self.folder)

    @initialize(seed=st.integers(0, 2**32))
    def room_opens(self, seed: int) -> None:
        self.house.group(GROUP, lead="foreman")
        for name in ("ann", "ben", "cyd"):
            self.house.do(GROUP, "user", "actor.add", actor_id=name, roles=["ops"])
        for name in ("ann", "ben", "lead"):
            self.house.connect(name)
        self.busy_hour(seed)

    @rule(seed=st.integers(0, 2**32))
    def busy_hour(self, seed: int) -> None:
        """Forty likely things in a row, with restarts in between."""
        random = Random(seed)
        for _ in range(40):
            self.something(random)
        self.look()

    @rule()
    def the_store_is_closed_and_opened(self) -> None:
        self.house.restart()
        self.look()

    def something(self, random: Random) -> None:
        choices: list[tuple[int, Any]] = [
            (10, self.somebody_speaks),
            (12, self.an_agent_acts),
            (6, self.time_passes),
            (8, self.a_harness_reports),
            (2, self.a_message_changes),
            (2, self.someone_comes_or_goes),
            (1, self.the_room_changes),
            (2, self.a_person_steers),
            (2, lambda _random: self.house.restart()),
        ]
        act = random.choices([one for _, one in choices], [weight for weight, _ in choices])[0]
        with suppress(Declined):
            try:
                act(random)
            except Refused as refused:
                raise (AssertionError if refused.code == "internal" else Declined)(refused) from refused
        # What goes out at once is what goes out after a restart: the ledger's own word.
        for draft, read in self.house.sent():
            assert read is None or draft.delivered == read

    def say(self, by: str, text: str, **data: Any) -> None:
        outcome = self.house.try_(GROUP, by, "chat.message", text=text, **data)
        if isinstance(outcome, Committed):
            event_id = outcome.event.event_id
            self.said.append(event_id)
            if "@ops" in text and "to" not in data and "reply_to" not in data:
                self.roled.add(event_id)

    def a_past(self, random: Random) -> str | None:
        return self.said[-1 - min(random.randrange(8), len(self.said) - 1)] if self.said else None

    def somebody_speaks(self, random: Random) -> None:
        by = random.choice(["user", "user", "user", "ann", "ben"])
        data: dict[str, Any] = {}
        if random.random() < 0.3:
            data["to"] = random.choice([["ann"], ["ben"], ["cyd"], ["ann", "ben"], ["@all"]])
        if random.random() < 0.3 and (above := self.a_past(random)):
            data["reply_to"] = above
        if random.random() < 0.15:
            data["priority"] = "attention"
        self.say(by, random.choice(SAID), **data)

    def an_agent_acts(self, random: Random) -> None:
        agent, event_id = random.choice(AGENTS), self.a_past(random)
        if event_id is None:
            return
        owed = [obligation for obligation in self.house.attention.obligations if obligation.owed]
        if owed and random.random() < 0.5:
            obligation = random.choice(sorted(owed, key=lambda one: (one.event_id, one.session)))
            agent, event_id = obligation.session, obligation.event_id
        self.count += 1
        name, arguments = random.choice(
            [
                ("chat.send_message", None),
                ("chat.send_message", None),
                ("chat.claim", {"eventId": event_id}),
                ("chat.claim", {"eventId": event_id, "ttlMs": 60_000}),
                ("chat.claim", {"threadId": event_id}),
                ("chat.claim", {"eventId": event_id, "release": True}),
                ("chat.react", {"inReplyTo": event_id, "signal": random.choice(SIGNALS)}),
                ("chat.react", {"inReplyTo": event_id, "signal": random.choice(SIGNALS)}),
                (
                    "chat.defer",
                    {"eventId": event_id, "reason": "later", "eta": random.choice([None, "in 5 minutes"])},
                ),
                ("chat.resolve", {"eventId": event_id}),
                ("chat.progress", {"eventId": event_id, "progress": self.count}),
                ("chat.leave", {"conversationId": "main"}),
                (
                    "chat/disposition",
                    {"eventId": event_id, "disposition": random.choice(["ignored", "failed"])},
                ),
            ]
        )
        if arguments is None:
            arguments = {
                "target": random.choice([f"thread:{event_id}", "channel:main", "dm:user", "dm:ben"]),
                "content": f"{random.choice(REPLIES)} ({self.count})",
                "inReplyTo": random.choice([event_id, event_id, None]),
                "idempotencyKey": f"k{self.count}",
                "directedness": random.choice(["to_me", "ambient"]),
                "visibility": "thread",
            }
            if arguments["target"] == "channel:main":
                arguments["visibility"] = "channel"
            if arguments["target"].startswith("dm:"):
                arguments["visibility"] = "dm"
        if random.random() < 0.3:
            self.house.record(records.AcceptedRecord(session=agent, event_ids=[event_id], for_=[agent]))
        answer = self.house.call(agent, name, **arguments)
        if not isinstance(answer, Refusal) and answer.get("eventId"):
            self.said.append(answer["eventId"])

    def a_harness_reports(self, random: Random) -> None:
        owed = sorted(self.house.attention.obligations, key=lambda one: (one.event_id, one.session))
        if not owed:
            return
        one = random.choice(owed)
        self.count += 1
        state = random.choice(["queued", "working", "working", "waiting", "failed", "called_off"])
        retry_at = self.house.clock.now() + 60_000_000 if random.random() < 0.5 else 0
        more = (
            {"code": "down", "message": "The model is down.", "retry_at": retry_at}
            if state == "failed"
            else {}
        )
        wrote = self.house.report(one.session, one.event_id, state, turn=f"t{self.count}", **more)
        again = self.house.report(one.session, one.event_id, state, turn=f"t{self.count}", position=2, **more)
        assert (wrote, again) in {(0, 0), (1, 0)}, "a sign of life is no event"
        if random.random() < 0.3:
            usage = records.UsageRecord(session=one.session, event_ids=[one.event_id], tokens_in=7, cost=0.5)
            self.house.record(usage)

    def time_passes(self, random: Random) -> None:
        for session in random.sample(sorted(self.house.lives), k=random.randint(0, len(self.house.lives))):
            self.house.hear(session)
        self.house.clock.move(random.choice([1, 10, 31, 100, 151, 301, 601, 3601]))
        self.house.tick()

    def a_message_changes(self, random: Random) -> None:
        event_id = self.a_past(random)
        if event_id is None:
            return
        if random.random() < 0.6:
            latest = self.house.attention.versions.latest(event_id)
            if self.house.attention.versions.is_deleted(event_id):
                return
            self.house.record(records.EditRecord(supersedes=latest, text=random.choice(SAID), by="user"))
            newest = self.house.attention.versions.latest(event_id)
            self.said.append(newest)
        else:
            self.house.record(records.DeleteRecord(event_id=event_id, by="user"))

    def someone_comes_or_goes(self, random: Random) -> None:
        name = random.choice(AGENTS)
        if name in self.house.present and random.random() < 0.5:
            self.house.present.discard(name)
        else:
            self.house.connect(name, random.choice([None, None, MODES, ["notify", "tool_mailbox", "silent"]]))

    def the_room_changes(self, random: Random) -> None:
        match random.randrange(4):
            case 0:
                self.house.do(GROUP, "user", "actor.add", actor_id="dora", roles=random.choice([[], ["ops"]]))
                self.house.connect("dora")
            case 1:
                values = {
                    "assign_after_ms": random.choice([10_000, 30_000]),
                    "exchange_limit": random.choice([3, 6]),
                }
                self.house.record(records.RulesRecord(values=values, by="user"))
            case 2:
                self.house.do(
                    GROUP, "user", "actor.update", actor_id="ben",
                    title=random.choice(["Dora", "Benny"]), roles=random.choice([[], ["ops"]]),
                )  # fmt: skip
            case _:
                op = {"op": "set", "store": "context", "key": "channel:main",
                      "value": {"owner": random.choice(["ann", "ben"]), "digest": ["lead"]}}  # fmt: skip
                self.house.do(GROUP, "user", "context.sync", ops=[op])

    def a_person_steers(self, random: Random) -> None:
        event_id = self.a_past(random)
        if event_id is None:
            return
        op = random.choice(["cancel", "reassign", "reassign", "leave"])
        given = {"cancel": {"event_id": event_id}, "reassign": {"event_id": event_id, "to": random.choice(AGENTS)},
                 "leave": {"agent": random.choice(AGENTS)}}[op]  # fmt: skip
        self.house.steer(op, **given)

    # -- what must hold

    def look(self) -> None:
        attention, now = self.house.attention, self.house.clock.now()
        live = [held for held in attention.claims if held.expires_at > now]
        threads = {
            held.target.removeprefix("thread:"): held for held in live if held.target.startswith("thread:")
        }
        for held in live:
            rival = threads.get(held.thread or held.target.removeprefix("event:"))
            assert rival is None or rival.session == held.session, (held, rival)
        notices = {
            event.data.get("related_event_id") for event in self.house.events(GROUP, kinds=["system.notify"])
        }
        obligations = defaultdict(list)
        for event_id in {*self.said, *(obligation.event_id for obligation in attention.obligations)}:
            obligations[event_id] = attention.obligations.of_event(event_id)
        for piece in attention.work:
            obligation = attention.obligations.get(piece.event_id, piece.session)
            assert obligation is None or not obligation.closed, (piece, obligation)
        for event_id, found in obligations.items():
            for obligation in found:
                piece = attention.work.get(event_id, obligation.session)
                assert not obligation.owed or (piece is not None and (piece.is_open or piece.reported)), found
            owed = [obligation for obligation in found if obligation.owed]
            if event_id in self.roled:
                assert len(owed) <= 1, found
            first = sum(
                1 for event in self.house.events(GROUP, kinds=["x.c2a.delivery"])
                if event.data["event_id"] == event_id and event.data["policy"] == "must_respond"
                and event.data["reason"] not in {"escalation", "assignment"} and event.data.get("attempt", 1) == 1
            ) if len(owed) > 1 else 1  # fmt: skip
            assert len(owed) <= max(1, first), (event_id, found)
            if any(obligation.held for obligation in found) and not owed:
                ended = [
                    obligation
                    for obligation in found
                    if obligation.held and obligation.closed and _has_reason(obligation)
                ]
                assert ended or event_id in notices, (event_id, found)


def _has_reason(obligation: Any) -> bool:
    """Did the session, a person or an edit end it, in the record's own words?"""
    if obligation.disposition in {Disposition.RESPONDED, Disposition.ACKNOWLEDGED, Disposition.FAILED}:
        return True
    return obligation.disposition is Disposition.SUPERSEDED and bool(obligation.note)


@pytest.mark.spec("C2A-027", "C2A-116", "C2A-154", "C2A-159", "C2A-177", "C2A-214")
@pytest.mark.parametrize("examples", [12, pytest.param(100, marks=pytest.mark.soak)])
def test_attention_goes_on_exactly_after_any_restart_and_loses_no_obligation(examples: int) -> None:
    class Machine(Restarts):
        pass

    Machine.TestCase.settings = settings(max_examples=examples, stateful_step_count=4)
    Machine.TestCase("runTest").runTest()
