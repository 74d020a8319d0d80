"""A knock never shows four words of the body: ten thousand generated bodies, and some through the socket."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from tacit.attention import Roster, RosterAgent, decide
from tacit.attention.decide.delivery import delivered
from tacit.attention.decide.knock import TOPICS
from tacit.attention.read.context import ConversationState
from tacit.attention.read.conversation import Conversation
from tacit.c2a.messages import encode
from tacit.c2a.vocabulary import NEWER, OLDER, ConversationKind, Mode
from tacit.ledger.envelope import Event

ROSTER = Roster.of([RosterAgent(name, roles=frozenset({"ops"})) for name in ("ann", "ben", "cyd")])
LABELS = (
    "",
    "site",
    "release planning for june",
    "what is the plan for the site",
    "https://intern.example.org/secret/plan",
    "room 12345678",
    "`rm -rf /`",
    "der große Umzug nach Köln",
    "東京の引っ越し計画を相談する場所",
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
)
WORDS = [
    "the",
    "plan",
    "for",
    "the",
    "site",
    "is",
    "late",
    "and",
    "nobody",
    "knows",
    "which",
    "port",
    "does",
    "what",
    "when",
    "the",
    "disk",
    "fills",
    "up",
    "again",
    "we",
    "need",
    "a",
    "second",
    "key",
    "so",
    "please",
    "deploy",
    "restart",
    "check",
    "review",
    "approve",
    "question",
    "request",
    "asks",
    "in",
    "about",
    "release",
    "planning",
    "june",
    "großer",
    "Umzug",
    "nach",
    "Köln",
    "東京の引っ越し計画",
    "zebra",
    "4711",
    "hunter2",
    "thanks",
    "can",
    "could",
    "would",
    "you",
    "who",
    "how",
    "why",
]
SHAPES = (
    "@ops {}",
    "@ops {}?",
    "@ops please {}",
    "@all {}",
    "@ops can you approve {}?",
    "@ops {} is blocked",
    "@ops question in {}",
    "@ops\n{}",
    "@ops **{}**",
    "@ops `{}`",
)
IGNORED = {"eventId", "idempotencyKey", "workspaceId", "createdAt", "threadId"}
_WORD = re.compile(r"\w+")


def texts(value: Any, name: str = "") -> list[str]:
    """Every string of a delivery that somebody's words could be in."""
    if isinstance(value, dict):
        return [text for key, one in value.items() if key not in IGNORED for text in texts(one, key)]
    if isinstance(value, list):
        return [text for one in value for text in texts(one, name)]
    return [value] if isinstance(value, str) else []


def shows(delivered: dict[str, Any], body: str) -> bool:
    """Do four consecutive words of the body stand anywhere in the delivery?"""
    said = [word.casefold() for word in _WORD.findall(body)]
    runs = {tuple(said[at : at + 4]) for at in range(len(said) - 3)}
    for text in texts(delivered):
        words = [word.casefold() for word in _WORD.findall(text.replace("_", " "))]
        if any(tuple(words[at : at + 4]) in runs for at in range(len(words) - 3)):
            return True
    return False


def bodies(random: Random, count: int) -> list[tuple[str, str]]:
    """Bodies with the label of the place that they are said in, which they often repeat."""
    found = []
    for _ in range(count):
        label = random.choice(LABELS)
        words = random.choices(WORDS, k=random.randrange(1, 40))
        if label and random.random() < 0.5:
            words.insert(random.randrange(len(words)), label)
        if random.random() < 0.2:
            words += list(TOPICS.values())[: random.randrange(5)]
        found.append((random.choice(SHAPES).format(" ".join(words)), label))
    return found


@pytest.mark.spec("C2A-089", "C2A-224", "C2A-036")
def test_ten_thousand_bodies_stay_behind_their_knocks() -> None:
    knocks = 0
    for number, (body, label) in enumerate(bodies(Random(20260624), 10_000)):
        place = Conversation("main", ConversationKind.CHANNEL, stream="site", title=label)
        event = Event(
            v=1, id=f"e{number}", ts="2026-06-24T10:00:00.000000Z", seq=number + 1, kind="chat.message",
            group_id="g", scope_key="", by="user", data={"text": body},
        )  # fmt: skip
        decisions = decide(event, ROSTER, ConversationState(place))
        assert decisions.parsed is not None
        for agent, decision in decisions.items():
            if decision.mode is not Mode.NOTIFY:
                continue
            made = encode(delivered(event, decisions.parsed, decision, agent), (NEWER, OLDER)[number % 2])
            knocks += 1
            assert "content" not in made
            assert set(made["knock"]) == {
                "from", "where", "directedness", "policy", "priority", "topic", "pullWith",
            }  # fmt: skip
            assert len(made["knock"]["topic"]) <= 80
            assert not re.search(r"\d{3}|://|`|@", made["knock"]["topic"])
            assert not shows(made, body), (body, made["knock"])
    assert knocks > 10_000


@pytest.mark.spec("C2A-088", "C2A-089", "C2A-224")
async def test_the_same_holds_for_what_leaves_by_the_socket(stage):
    assert (await stage.settings(injected_per_minute=10_000)).status == 200
    ann, ben = await stage.cast("ann", "ben", roles=["ops"])
    sync = {"op": "set", "store": "context", "key": "channel:main", "value": {"title": LABELS[2]}}
    await stage.append(stage.group_id, "context.sync", {"ops": [sync]})
    said = []
    for number, (body, _) in enumerate(bodies(Random(7), 60)):
        text = body if number % 3 else f"{body} {LABELS[2]}"
        said.append((await stage.tell(text), text))
    last = await stage.tell("@ann @ben are you there?")
    knocks = 0
    for agent in (ann, ben):
        await agent.delivery(last)
        for event, text in said:
            for heard in agent.got(event):
                if heard["injection"]["mode"] == "notify":
                    knocks += 1
                    assert "content" not in heard
                    assert "threadWindow" not in heard
                    assert not shows(heard, text), (text, heard)
    assert knocks > 60
